"""A small dbt project, as dbt 1.11 writes it, and the lineage of its tasks from logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.injector.graft import graft
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind, parse_dataset_id
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnMetadata,
    Dataset,
    DatasetMetadata,
    Direction,
    Outcome,
    Records,
    Run,
    Shape,
    Status,
    TaskInfo,
    TaskMetadata,
)
from dbt_graft.lineage.settings import LineageSettings

START = datetime(2026, 11, 20, 2, 15, tzinfo=UTC)
Json = dict[str, Any]


class Project:
    """Builds manifest and catalog node by node, maps and catalog following the nodes."""

    def __init__(self, name: str = "shop") -> None:
        self.name = name
        self.manifest: Json = {
            "metadata": {
                "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
                "dbt_version": "1.11.16",
                "generated_at": "2026-11-20T01:00:00.000000Z",
                "invocation_id": "5a1f8a40-0000-4000-8000-000000000000",
                "invocation_started_at": "2026-11-20T01:00:00.000000Z",
                "env": {},
                "project_name": name,
                "project_id": "0123456789abcdef0123456789abcdef",
                "user_id": None,
                "send_anonymous_usage_stats": True,
                "adapter_type": "spark",
                "quoting": {"database": False, "schema": True, "identifier": True, "column": None},
                "run_started_at": "2026-11-20T01:00:00.000000+00:00",
            },
            "nodes": {},
            "sources": {},
            "macros": {},
            "docs": {
                "doc.dbt.__overview__": {
                    "name": "__overview__",
                    "resource_type": "doc",
                    "package_name": "dbt",
                    "path": "overview.md",
                    "original_file_path": "docs/overview.md",
                    "unique_id": "doc.dbt.__overview__",
                    "block_contents": "### Welcome!",
                }
            },
            "exposures": {},
            "metrics": {},
            "groups": {},
            "selectors": {},
            "disabled": {},
            "parent_map": {},
            "child_map": {},
            "group_map": {},
            "saved_queries": {},
            "semantic_models": {},
            "unit_tests": {},
            "functions": {},
        }
        self.catalog: Json = {
            "metadata": {
                "dbt_schema_version": "https://schemas.getdbt.com/dbt/catalog/v1.json",
                "dbt_version": "1.11.16",
                "generated_at": "2026-11-20T01:00:00.000000Z",
                "invocation_id": "5a1f8a40-0000-4000-8000-000000000000",
                "env": {},
            },
            "nodes": {},
            "sources": {},
            "errors": None,
        }

    def source(self, group: str, table: str, schema: str = "raw", **more: Any) -> str:
        unique_id = f"source.{self.name}.{group}.{table}"
        path = "models/staging/_sources.yml"
        self._add(
            "sources",
            {
                "database": None,
                "schema": schema,
                "name": table,
                "resource_type": "source",
                "package_name": self.name,
                "path": path,
                "original_file_path": path,
                "unique_id": unique_id,
                "fqn": [self.name, "staging", group, table],
                "source_name": group,
                "source_description": f"What lands in {group}.",
                "loader": "",
                "identifier": table,
                "quoting": {},
                "loaded_at_field": None,
                "freshness": {"warn_after": {}, "error_after": {}, "filter": None},
                "external": None,
                "description": f"{table} as they arrive.",
                "columns": {},
                "meta": {},
                "source_meta": {},
                "tags": [],
                "config": {"enabled": True},
                "patch_path": None,
                "unrendered_config": {},
                "relation_name": f"{schema}.{table}",
                "created_at": 1.5,
                **more,
            },
        )
        node = self.manifest["sources"][unique_id]
        self._catalogue("sources", unique_id, node["schema"], node["identifier"])
        return unique_id

    def model(self, name: str, parents: Iterable[str] = (), **more: Any) -> str:
        unique_id = f"model.{self.name}.{name}"
        self._add("nodes", self._built(unique_id, name, parents, f"models/{name}.sql", **more))
        if self.manifest["nodes"][unique_id]["config"]["materialized"] != "ephemeral":
            self._catalogue("nodes", unique_id, "analytics", name)
        return unique_id

    def seed(self, name: str, **more: Any) -> str:
        unique_id = f"seed.{self.name}.{name}"
        node = self._built(unique_id, name, (), f"seeds/{name}.csv", **more)
        for key in ("refs", "sources", "metrics", "language", "contract", "access", "version"):
            node.pop(key, None)
        node["config"]["materialized"] = "seed"
        node["depends_on"] = {"macros": []}
        self._add("nodes", node)
        self._catalogue("nodes", unique_id, "analytics", name)
        return unique_id

    def snapshot(self, name: str, parents: Iterable[str], **more: Any) -> str:
        unique_id = f"snapshot.{self.name}.{name}"
        node = self._built(unique_id, name, parents, f"snapshots/{name}.sql", **more)
        node.pop("access")
        node.pop("version")
        node["config"] |= {
            "materialized": "snapshot",
            "strategy": "check",
            "unique_key": "id",
            "check_cols": "all",
        }
        self._add("nodes", node)
        self._catalogue("nodes", unique_id, "analytics", name)
        return unique_id

    def test(
        self,
        name: str,
        parents: Iterable[str],
        kind: str | None = "not_null",
        column: str | None = "id",
        attached: str | None = None,
        yaml_key: str | None = None,
        **kwargs: Any,
    ) -> str:
        unique_id = f"test.{self.name}.{name}"
        node = self._built(unique_id, name, parents, "models/_tests.yml")
        node.pop("access")
        node.pop("version")
        node["config"] = {"enabled": True, "severity": "ERROR", "materialized": "test"}
        if kind:
            node |= {
                "column_name": column,
                "file_key_name": yaml_key,
                "attached_node": attached,
                "test_metadata": {
                    "name": kind,
                    "kwargs": {"column_name": column, **kwargs},
                    "namespace": None,
                },
            }
        self._add("nodes", node)
        return unique_id

    def unit_test(self, name: str, model: str, documents: list[Json]) -> str:
        unique_id = f"unit_test.{self.name}.{model}.{name}"
        path = "models/_unit.yml"
        self._add(
            "unit_tests",
            {
                "model": model,
                "given": documents,
                "expect": {"rows": [{"id": 1}], "format": "dict", "fixture": None},
                "name": name,
                "resource_type": "unit_test",
                "package_name": self.name,
                "path": path,
                "original_file_path": path,
                "unique_id": unique_id,
                "fqn": [self.name, model, name],
                "description": "",
                "overrides": None,
                "depends_on": {"macros": [], "nodes": [f"model.{self.name}.{model}"]},
                "config": {"tags": [], "meta": {}, "enabled": True},
                "checksum": "abc",
                "schema": "analytics",
                "created_at": 1.5,
                "versions": None,
                "version": None,
            },
        )
        return unique_id

    def exposure(self, name: str, parents: Iterable[str], **more: Any) -> str:
        unique_id = f"exposure.{self.name}.{name}"
        path = "models/_exposures.yml"
        refs, sources = self._references(parents)
        self._add(
            "exposures",
            {
                "name": name,
                "resource_type": "exposure",
                "package_name": self.name,
                "path": path,
                "original_file_path": path,
                "unique_id": unique_id,
                "fqn": [self.name, name],
                "type": "dashboard",
                "owner": {"email": "ana@shop.example", "name": "Ana"},
                "description": "Money.",
                "label": None,
                "maturity": "high",
                "meta": {},
                "tags": [],
                "config": {"enabled": True, "tags": [], "meta": {}},
                "unrendered_config": {},
                "url": "https://bi.example/revenue",
                "depends_on": {"macros": [], "nodes": list(parents)},
                "refs": refs,
                "sources": sources,
                "metrics": [],
                "created_at": 1.5,
                **more,
            },
        )
        return unique_id

    def group(self, name: str, owner: str) -> None:
        unique_id = f"group.{self.name}.{name}"
        self.manifest["groups"][unique_id] = {
            "name": name,
            "resource_type": "group",
            "package_name": self.name,
            "path": "models/_groups.yml",
            "original_file_path": "models/_groups.yml",
            "unique_id": unique_id,
            "owner": {"email": None, "name": owner},
            "description": None,
            "config": {"meta": {}},
        }

    def artifacts(self) -> Artifacts:
        return Artifacts(self.manifest, self.catalog, "spark", "1.11.16")

    def _built(
        self, unique_id: str, name: str, parents: Iterable[str], path: str, **more: Any
    ) -> Json:
        refs, sources = self._references(parents)
        calls = [
            *(f"{{{{ source('{group}', '{table}') }}}}" for group, table in sources),
            *(f"{{{{ ref('{ref['name']}') }}}}" for ref in refs),
        ]
        materialized = more.pop("materialized", "table")
        tags = more.get("tags", [])
        return {
            "database": None,
            "schema": "analytics",
            "name": name,
            "resource_type": unique_id.partition(".")[0],
            "package_name": self.name,
            "path": path.partition("/")[2],
            "original_file_path": path,
            "unique_id": unique_id,
            "fqn": [self.name, name],
            "alias": name,
            "checksum": {"name": "sha256", "checksum": "abc"},
            "config": {
                "enabled": True,
                "materialized": materialized,
                "tags": tags,
                "meta": {},
                "docs": {"show": True, "node_color": None},
            },
            "tags": tags,
            "description": f"{name}, by dbt.",
            "columns": {},
            "meta": {},
            "group": None,
            "docs": {"show": True, "node_color": None},
            "patch_path": None,
            "unrendered_config": {},
            "created_at": 1.5,
            "relation_name": f"analytics.{name}",
            "raw_code": "select * from " + " join ".join(calls),
            "language": "sql",
            "refs": refs,
            "sources": sources,
            "metrics": [],
            "depends_on": {"macros": [], "nodes": list(parents)},
            "contract": {"enforced": False, "alias_types": True, "checksum": None},
            "access": "protected",
            "version": None,
            **more,
        }

    def _references(self, parents: Iterable[str]) -> tuple[list[Json], list[list[str]]]:
        nodes = self.manifest["nodes"]
        sources = self.manifest["sources"]
        return (
            [
                {"name": nodes[p]["name"], "package": None, "version": None}
                for p in parents
                if p in nodes
            ],
            [[sources[p]["source_name"], sources[p]["name"]] for p in parents if p in sources],
        )

    def _add(self, part: str, node: Json) -> None:
        unique_id = node["unique_id"]
        self.manifest[part][unique_id] = node
        upstream = (node.get("depends_on") or {}).get("nodes") or []
        self.manifest["parent_map"][unique_id] = list(upstream)
        self.manifest["child_map"].setdefault(unique_id, [])
        for parent in upstream:
            self.manifest["child_map"].setdefault(parent, []).append(unique_id)

    def _catalogue(self, part: str, unique_id: str, schema: str, name: str) -> None:
        self.catalog[part][unique_id] = {
            "metadata": {
                "type": "MANAGED",
                "schema": schema,
                "name": name,
                "database": None,
                "comment": None,
                "owner": "root",
            },
            "columns": {
                "id": {"type": "int", "index": 0, "name": "id", "comment": None},
                "amount": {"type": "decimal(10,2)", "index": 1, "name": "amount", "comment": None},
            },
            "stats": {
                "has_stats": {
                    "id": "has_stats",
                    "label": "Has Stats?",
                    "value": False,
                    "include": False,
                    "description": "Whether there are statistics",
                }
            },
            "unique_id": unique_id,
        }


def shop() -> Project:
    """The project of the demo, smaller."""
    project = Project()
    project.group("finance", "Finance team")
    id_column = {"id": {"name": "id", "description": "The **key**.", "meta": {}, "tags": []}}
    orders = project.source("raw", "orders", columns=id_column, tags=["landed"], meta={"pii": "no"})
    customers = project.source("raw", "customers")
    rates = project.source("raw", "exchange_rates")
    suppliers = project.source("erp", "suppliers", identifier="Suppliers")
    scores = project.source("ml", "customer_scores", schema="ml")
    project.source("lookup", "product_categories", schema="analytics")
    project.seed("product_categories")
    stg_orders = project.model("stg_orders", [orders], materialized="view")
    stg_customers = project.model("stg_customers", [customers], materialized="ephemeral")
    mart = project.model("orders", [stg_orders, stg_customers], group="finance")
    customers_mart = project.model("customers", [stg_customers])
    segments = project.model("customer_segments", [scores, customers_mart])
    project.model(
        "supplier_margins",
        [suppliers],
        raw_code="select * from {{ source(var('erp'), 'suppliers') }}",
    )
    snapshot = project.snapshot("orders_snapshot", [orders])
    project.manifest["nodes"][snapshot]["config"]["relation"] = "source('raw', 'orders')"
    project.test(
        "source_not_null_raw_orders_id",
        [orders],
        yaml_key="sources.raw",
        model="{{ get_where_subquery(source('raw', 'orders')) }}",
    )
    project.test(
        "source_relationships_raw_orders_customer",
        [customers, orders],
        kind="relationships",
        column="customer_id",
        yaml_key="sources.raw",
        to="source('raw', 'customers')",
        field="id",
        model="{{ get_where_subquery(source('raw', 'orders')) }}",
    )
    project.test(
        "relationships_stg_orders_rate",
        [rates, stg_orders],
        kind="relationships",
        attached=stg_orders,
        yaml_key="models.stg_orders",
        to="source('raw', 'exchange_rates')",
        field="id",
        model="{{ get_where_subquery(ref('stg_orders')) }}",
    )
    project.test("not_null_orders_id", [mart], attached=mart, yaml_key="models.orders")
    project.test("orders_add_up", [orders, mart], kind=None)
    project.unit_test(
        "sums",
        "stg_orders",
        [
            {
                "input": "source('raw', 'orders')",
                "rows": [{"id": 1}],
                "format": "dict",
                "fixture": None,
            }
        ],
    )
    project.exposure("revenue_dashboard", [mart, segments, orders, rates])
    project.manifest["selectors"] = {
        "landed": {
            "name": "landed",
            "description": "",
            "definition": {
                "union": [
                    {"method": "source", "value": "raw.orders", "children": True},
                    "source:raw.customers+",
                    "source:raw.exchange_rates",
                ]
            },
        }
    }
    return project


class Log:
    """Accesses of tasks, statement by statement, each a minute after the one before."""

    def __init__(self) -> None:
        self._accesses: list[Access] = []
        self._runs: dict[str, Run] = {}
        self._shapes: dict[str, Shape] = {}
        self._datasets: dict[DatasetId, Dataset] = {}
        self._infos: dict[str, TaskInfo] = {}
        self._metadata: list[DatasetMetadata] = []
        self._task_metadata: list[TaskMetadata] = []
        self._minutes = 0

    def task(self, name: str, engine: str = "spark", **info: Any) -> None:
        self._runs[name] = Run(f"{name}-1", name, engine, START, None, Status.OK)
        self._infos[name] = TaskInfo(**info)

    def statement(
        self,
        task: str,
        reads: Iterable[str] = (),
        writes: Iterable[str] = (),
        operation: str = "INSERT",
        status: Status = Status.OK,
        text: str | None = None,
        procedure: str | None = None,
    ) -> None:
        if task not in self._runs:
            self.task(task)
        self._minutes += 1
        at = START + timedelta(minutes=self._minutes)
        shape = f"{self._minutes:04}"
        written = ", ".join(writes) or "nothing"
        text = text if text is not None else f"{operation} INTO {written} SELECT ?"
        self._shapes[shape] = Shape(shape, "spark", text, "sqlglot", Outcome.PARSED)
        for names, direction in ((reads, Direction.READ), (writes, Direction.WRITE)):
            for name in names:
                dataset = parse_dataset_id(name)
                self._accesses.append(
                    Access(
                        task=task,
                        run_id=f"{task}-1",
                        dataset=dataset,
                        kind=Kind.PATH if name.startswith("landing/") else Kind.TABLE,
                        direction=direction,
                        operation=Operation.SELECT
                        if direction is Direction.READ
                        else Operation(operation),
                        shape_id=shape,
                        rows=1234,
                        first_at=at,
                        last_at=at,
                        status=status,
                        procedure=procedure,
                    )
                )

    def columns(self, name: str, **types: str) -> None:
        dataset = parse_dataset_id(name)
        self._datasets[dataset] = Dataset(
            dataset, columns=tuple(Column(key, value) for key, value in types.items())
        )

    def metadata(self, name: str, **metadata: Any) -> None:
        """An event describes a dataset; `columns` are name -> description and tags."""
        columns = metadata.pop("columns", {})
        self._metadata.append(
            DatasetMetadata(
                parse_dataset_id(name),
                START,
                columns=tuple(ColumnMetadata(key, *value) for key, value in columns.items()),
                **metadata,
            )
        )

    def task_metadata(self, task: str, **metadata: Any) -> None:
        """An event describes a task."""
        self._task_metadata.append(TaskMetadata(task, START, **metadata))

    def lineage(self, rename: Rename | None = None) -> Lineage:
        records = Records(
            accesses=tuple(self._accesses),
            runs=tuple(self._runs.values()),
            shapes=self._shapes,
            datasets=tuple(self._datasets.values()),
            dataset_metadata=tuple(self._metadata),
            task_metadata=tuple(self._task_metadata),
        )
        return build(records, rename, LineageSettings(self._infos))


def night() -> Log:
    """One night of the demo's tasks."""
    log = Log()
    log.task("land_shop_files", owner="platform", tags=("daily",), repo="https://git.example/shop")
    log.statement("land_shop_files", ["landing/orders"], ["spark/RAW.Orders"])
    log.statement("land_shop_files", ["landing/customers"], ["spark/raw.customers"])
    log.task("load_suppliers", engine="sqlserver")
    log.statement(
        "load_suppliers",
        ["mssql://sql01:1433/Crm.dbo.SupplierFeed"],
        ["spark/raw.suppliers"],
        operation="MERGE",
        text="MERGE ShopDW.dbo.suppliers USING #incoming ON s.id = ?",
    )
    log.statement("score_customers", ["spark/analytics.customers"], ["spark/ml.customer_scores"])
    log.statement("export_finance_report", ["spark/analytics.orders"])
    log.statement("export_finance_report", ["spark/analytics.customer_segments"])
    log.statement("rebuild_returns", ["landing/returns"], ["spark/raw.returns"])
    log.columns("spark/raw.returns", id="int", reason="string")
    log.statement(
        "rebuild_returns",
        ["spark/raw.returns", "spark/analytics.orders"],
        ["spark/ml.return_risk"],
        status=Status.FAILED,
    )
    return log


@pytest.fixture
def project() -> Project:
    return shop()


@pytest.fixture
def log() -> Log:
    return night()


@pytest.fixture
def grafted(project: Project, log: Log) -> Grafted:
    return graft_all(project, log)


def graft_all(project: Project, log: Log) -> Grafted:
    return graft(project.artifacts(), log.lineage(), GraftOptions("spark", "../"))


@pytest.fixture
def run() -> Callable[[Project, Log], Grafted]:
    """Graft a project that a test has changed."""
    return graft_all


@pytest.fixture
def empty_log() -> Log:
    return Log()


@pytest.fixture
def empty_project() -> Project:
    return Project()
