"""A small lineage with one of each: promoted source, task between models, failed run, view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dbt_graft.catalog.build import build
from dbt_graft.catalog.dbt_docs import DbtDocs
from dbt_graft.catalog.settings import SiteExtras, SiteSettings
from dbt_graft.lineage.building.build import build as build_lineage
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Consumer, Description, NodeTest, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Evidence,
    Outcome,
    Records,
    Reject,
    Run,
    Shape,
    Status,
    Subtype,
    TaskInfo,
)
from dbt_graft.lineage.settings import LineageSettings

NOW = datetime(2026, 11, 21, 2, 15, tzinfo=UTC)
CRM = "mssql://sql01:1433"


def spark_table(name: str) -> DatasetId:
    """A table of the metastore."""
    return DatasetId("spark", name)


@dataclass(frozen=True)
class Sample:
    """The arguments of `catalog.build`."""

    lineage: Lineage
    descriptions: dict[DatasetId, Description]
    consumers: list[Consumer]


def _access(
    task: str,
    dataset: DatasetId,
    direction: Direction,
    operation: str,
    shape: str,
    at: int,
    rows: int | None = None,
    kind: Kind = Kind.TABLE,
    status: Status = Status.OK,
) -> Access:
    moment = NOW + timedelta(seconds=at)
    return Access(
        task=task,
        run_id=f"{task}-0",
        dataset=dataset,
        kind=kind,
        direction=direction,
        operation=Operation(operation),
        shape_id=shape,
        rows=rows,
        first_at=moment,
        last_at=moment,
        status=status,
        origin="logs/sample",
    )


def _records() -> Records:
    read, write = Direction.READ, Direction.WRITE
    table, path, view, temporary = Kind.TABLE, Kind.PATH, Kind.VIEW, Kind.TEMPORARY
    failed = Status.FAILED
    feed = DatasetId(CRM, "Crm.dbo.SupplierFeed")
    active = DatasetId(CRM, "Crm.dbo.vw_active_suppliers")
    incoming = DatasetId(CRM, "tempdb.dbo.#incoming")
    prices = DatasetId(CRM, "Crm.dbo.PriceList")
    suppliers, products = spark_table("raw.suppliers"), spark_table("raw.products")
    orders, customers = spark_table("raw.orders"), spark_table("raw.customers")
    land, score, report = "land_shop_files", "score_customers", "export_finance_report"
    returns, load, pricing = "rebuild_returns", "load_suppliers", "load_products"
    marts_orders, marts_customers = (
        spark_table("analytics.orders"),
        spark_table("analytics.customers"),
    )
    accesses = (
        _access(land, DatasetId("file", "landing/orders"), read, "SELECT", "l1", 1, 17812, path),
        _access(land, orders, write, "CREATE TABLE AS", "l1", 2, 17812, table),
        _access(
            land, DatasetId("file", "landing/customers.json"), read, "SELECT", "l2", 3, 935, path
        ),
        _access(land, customers, write, "CREATE TABLE AS", "l2", 4, 935, table),
        _access(load, feed, read, "SELECT", "s1", 1, None, table),
        _access(load, active, write, "CREATE VIEW", "s1", 1, None, view),
        _access(load, active, read, "SELECT", "s2", 2, 412, view),
        _access(load, incoming, write, "SELECT INTO", "s2", 2, 412, temporary),
        _access(load, incoming, read, "MERGE", "s3", 3, None, temporary),
        _access(load, suppliers, write, "MERGE", "s3", 3, 412, table),
        _access(pricing, prices, read, "SELECT", "p1", 1, 2048, table),
        _access(pricing, products, write, "INSERT", "p2", 2, 2048, table),
        _access(pricing, suppliers, read, "UPDATE", "p3", 3, None, table),
        _access(pricing, products, read, "UPDATE", "p3", 3, None, table),
        _access(pricing, products, write, "UPDATE", "p3", 3, 96, table),
        _access(score, marts_customers, read, "SELECT", "c1", 1, 935, table),
        _access(score, spark_table("ml.customer_scores"), write, "INSERT", "c1", 1, 935, table),
        _access(report, marts_orders, read, "SELECT", "e1", 1, 17812, table),
        _access(report, spark_table("analytics.customer_segments"), read, "SELECT", "e1", 1, 935),
        _access(returns, DatasetId("file", "landing/returns"), read, "SELECT", "r1", 1, 77, path),
        _access(returns, spark_table("raw.returns"), write, "CREATE TABLE AS", "r1", 1, 77, table),
        _access(returns, spark_table("raw.returns"), read, "INSERT", "r2", 2, None, table, failed),
        _access(returns, marts_orders, read, "INSERT", "r2", 2, None, table, failed),
        _access(
            returns, spark_table("ml.return_risk"), write, "INSERT", "r2", 2, None, table, failed
        ),
    )
    engines = {load: "sqlserver", pricing: "sqlserver"}
    names = (land, load, pricing, score, report, returns)
    broken = {(returns, 0), (returns, 1), (land, 4)}
    runs = tuple(
        Run(
            run_id=f"{name}-{age}",
            task=name,
            engine=engines.get(name, "spark"),
            engine_version=None if name in engines else f"4.0.{12 - age}",
            started_at=NOW - timedelta(days=age),
            ended_at=NOW - timedelta(days=age) + timedelta(seconds=30 + 7 * (age * age % 11)),
            status=failed if (name, age) in broken else Status.OK,
            error="ArithmeticException: / by zero" if (name, age) in broken else None,
            origin="logs/sample",
        )
        for name in names
        for age in range(12)
    )
    merge = (
        "MERGE ShopDW.dbo.suppliers AS t\nUSING #incoming AS s ON t.supplier_id = s.supplier_id\n"
        "WHEN MATCHED AND s.changed_at > @P1 THEN UPDATE SET name = s.name, country = s.country\n"
        "WHEN NOT MATCHED THEN INSERT (supplier_id, name, country) "
        "VALUES (s.supplier_id, s.name, s.country)"
    )
    texts = {
        "s1": "CREATE OR ALTER VIEW dbo.vw_active_suppliers AS "
        "SELECT * FROM dbo.SupplierFeed WHERE active = ?",
        "s2": "SELECT supplier_id, name, country INTO #incoming FROM Crm.dbo.vw_active_suppliers",
        "s3": merge,
        "p1": "SELECT product_id, price FROM Crm.dbo.PriceList WHERE valid_from <= ?",
        "p2": "INSERT INTO ShopDW.dbo.products (product_id, price) VALUES (?, ?)",
        "p3": "UPDATE p SET supplier = s.name FROM ShopDW.dbo.products p "
        "JOIN ShopDW.dbo.suppliers s ON s.id = p.supplier_id",
        "c1": "INSERT OVERWRITE ml.customer_scores SELECT customer_id, score FROM scored",
        "x1": "EXEC sys.sp_something @P1",
    }
    reasons = {
        "p3": "columns: a column's table is not known",
        "x1": "the procedure's text is in no log",
    }
    outcomes = {"p3": Outcome.PARTIAL, "x1": Outcome.FAILED}
    return Records(
        accesses=accesses,
        runs=runs,
        shapes={
            key: Shape(
                key,
                "tsql" if key[0] in "spx" else "spark",
                text,
                "sqlglot 30.12",
                outcomes.get(key, Outcome.PARSED),
                reasons.get(key),
            )
            for key, text in texts.items()
        },
        datasets=(
            Dataset(
                orders,
                columns=(
                    Column("order_id", "bigint"),
                    Column("customer_id", "bigint"),
                    Column("ordered_at", "timestamp"),
                    Column("amount", "decimal(12,2)"),
                ),
                symlinks=(DatasetId("file", "/warehouse/raw.db/orders"),),
            ),
        ),
        column_edges=_column_edges(),
        rejects=(
            Reject("logs/xe/shop.xml", "event 17", "the event is cut off", '<event name="rpc_comp'),
            Reject("logs/xe/shop.xml", "event 23", "the event is cut off", "<event name="),
        ),
    )


def _column_edges() -> tuple[ColumnEdge, ...]:
    """The column edges of `load_suppliers`."""
    feed = DatasetId(CRM, "Crm.dbo.SupplierFeed")
    active = DatasetId(CRM, "Crm.dbo.vw_active_suppliers")
    incoming = DatasetId(CRM, "tempdb.dbo.#incoming")
    suppliers = spark_table("raw.suppliers")
    edges = (
        (active, "supplier_id", feed, "SupplierNo", Subtype.IDENTITY, False),
        (active, "contact", feed, "Email", Subtype.TRANSFORMATION, True),
        (active, "*", feed, "Active", Subtype.FILTER, False),
        (incoming, "supplier_id", active, "supplier_id", Subtype.IDENTITY, False),
        (suppliers, "supplier_id", incoming, "supplier_id", Subtype.IDENTITY, False),
        (suppliers, "*", incoming, "supplier_id", Subtype.JOIN, False),
        (spark_table("raw.products"), "*", suppliers, "*", Subtype.IDENTITY, False),
    )
    return tuple(
        ColumnEdge("load_suppliers", to, column, source, name, kind.type, kind, masking, "s1")
        for to, column, source, name, kind, masking in edges
    )


def _dbt() -> tuple[Lineage, dict[DatasetId, Description]]:
    """The lineage in dbt: models, what they read, and sources."""
    models = {
        "stg_orders": ["raw.orders"],
        "stg_customers": ["raw.customers"],
        "stg_suppliers": ["raw.suppliers"],
        "stg_products": ["raw.products", "analytics.product_categories"],
        "orders": ["analytics.stg_orders", "raw.exchange_rates"],
        "customers": ["analytics.stg_customers", "analytics.orders"],
        "supplier_margins": ["analytics.stg_suppliers", "analytics.stg_products"],
        "customer_segments": ["ml.customer_scores", "analytics.customers"],
    }
    dbt = DefinitionKind.DBT
    made, flows, datasets = {}, [], {}
    descriptions: dict[DatasetId, Description] = {}
    for name, parents in models.items():
        target, task = spark_table(f"analytics.{name}"), f"model.shop.{name}"
        sources = [spark_table(parent) for parent in parents]
        gap = "it is not compiled (run `dbt compile`)" if name == "customers" else None
        made[task] = Definition(
            task, dbt, target, tuple(sources), Operation.CREATE_TABLE_AS, gap=gap
        )
        kind = Kind.VIEW if name.startswith("stg_") else Kind.TABLE
        datasets |= {d: Dataset(d) for d in sources} | {target: Dataset(target, kind)}
        flows += [
            Flow(s, target, task, evidence=Evidence.DECLARED, definition=dbt) for s in sources
        ]
        descriptions[target] = Description(
            target,
            task,
            name,
            Role.MODEL,
            text=f"The `{name}` of the shop, one row each.",
            owner="analytics",
            tags=("staging",) if name.startswith("stg_") else ("marts", "nightly"),
            columns={"order_id": "Primary key of an order."},
            tests=tuple(NodeTest(f"test.shop.{n}", n) for n in ("a", "b", "c")),
        )
    for name, role, group in (
        ("raw.orders", Role.PROMOTED, "raw"),
        ("raw.customers", Role.PROMOTED, "raw"),
        ("raw.suppliers", Role.PROMOTED, "erp"),
        ("raw.products", Role.PROMOTED, "erp"),
        ("ml.customer_scores", Role.PROMOTED, "ml"),
        ("raw.exchange_rates", Role.SOURCE, "raw"),
        ("raw.returns", Role.ADDED, ""),
    ):
        dataset, short = spark_table(name), name.partition(".")[2]
        prefix = f"source.shop.{group}" if role is Role.SOURCE else "model.python_tasks"
        descriptions[dataset] = Description(
            dataset,
            f"{prefix}.{short}",
            short,
            role,
            text=(
                "Orders as the shop hands them over, **one row an order**. See "
                "[the mart](#!/model/model.shop.orders) for what analysts use.\n\n"
                "- loaded every night\n- `amount` is in the currency of the order"
                if name == "raw.orders"
                else ""
            ),
            owner="data-platform",
            tags=("python_task", "nightly"),
            columns={"order_id": "Primary key.", "AMOUNT": "Amount in the order's *own* currency."},
            tests=tuple(NodeTest(f"test.shop.{n}", n) for n in ("d", "e")),
        )
    seed = spark_table("analytics.product_categories")
    datasets[seed] = Dataset(seed)
    descriptions[seed] = Description(
        seed, "seed.shop.product_categories", "product_categories", Role.SEED, owner="analytics"
    )
    return Lineage(datasets, flows=tuple(flows), definitions=made), descriptions


def sample_lineage() -> Sample:
    """The sample lineage, with dbt's part merged in."""
    dbt, descriptions = _dbt()
    infos = {
        "land_shop_files": TaskInfo(
            description="Lands the shop's nightly export.",
            owner="data-platform",
            repo="https://git.example.com/shop/tasks",
            path="dbt_project/tasks/land_shop_files.py",
            runbook="https://wiki.example.com/runbooks/land",
            schedule="0 2 * * *",
            tags=("nightly",),
        ),
        "load_suppliers": TaskInfo(owner="erp-team", tags=("hourly",)),
    }
    consumers = [
        Consumer(
            "exposure.shop.revenue_dashboard",
            "revenue_dashboard",
            "dashboard",
            (spark_table("analytics.orders"), spark_table("analytics.supplier_margins")),
            text="What the board looks at on Mondays.",
            owner="finance",
            url="https://bi.example.com/revenue",
        ),
        Consumer(
            "exposure.python_tasks.export_finance_report",
            "export_finance_report",
            "application",
            (spark_table("analytics.orders"), spark_table("analytics.customer_segments")),
        ),
    ]
    lineage = build_lineage(_records(), settings=LineageSettings(infos)).merge(dbt)
    return Sample(lineage, descriptions, consumers)


def sample_site(out: Path) -> None:
    """Build the sample's site."""
    sample = sample_lineage()
    settings = SiteSettings("Shop data", "https://docs.example.com/shop/")
    page = b"<!doctype html><title>dbt docs</title>"
    extra = {"task_metadata.json": b"{}", "dbt/index.html": page}
    docs = DbtDocs.DBT_1
    build(
        DescribedLineage(sample.lineage, sample.descriptions, sample.consumers),
        settings,
        out,
        extras=SiteExtras(dbt_docs=docs, files=extra),
    )


@pytest.fixture(scope="session")
def sample() -> Sample:
    """The sample lineage."""
    return sample_lineage()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample's site, built once; read-only."""
    out = tmp_path_factory.mktemp("catalog") / "site"
    sample_site(out)
    return out


@pytest.fixture(scope="session")
def page(site: Path) -> Callable[[str], str]:
    """The HTML at an address of the sample's site."""
    return lambda path: (site / path / "index.html").read_text(encoding="utf-8")
