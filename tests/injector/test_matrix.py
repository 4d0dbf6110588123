"""Projects of any shape with tasks drawn at random: what holds after every graft.

Projects are written by dbt itself for two adapters, one without and one with databases, and made
by hand for the versions before v12. Tasks read and write relations of the project, by name or short
name, and tables that dbt does not know.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbt_graft.injector import integrity
from dbt_graft.injector.artifacts import Artifacts, dump
from dbt_graft.injector.graft import graft
from dbt_graft.injector.integrity import faults
from dbt_graft.injector.manifest import PARTS, all_nodes, parents
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.relations import relations, short_names
from dbt_graft.injector.report import Grafted
from dbt_graft.injector.undo import restore
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, ColumnEdge, Direction, Records, Run, Status, Subtype
from tests.dbt_artifacts import dbt_class
from tests.dbt_process import run_dbt

pytestmark = pytest.mark.slow

Json = dict[str, Any]
SHAPES = ("spark", "duckdb", "v9", "v10", "v11")
FILES: dict[str, str] = {
    "models/sources.yml": """
version: 2
sources:
  - name: raw
    description: Everything that lands.
    meta: {domain: sales}
    tags: [landed]
    freshness: {warn_after: {count: 12, period: hour}}
    loaded_at_field: loaded_at
    tables:
      - name: orders
        identifier: Orders_V2
        description: Orders as they arrive.
        columns:
          - {name: id, data_tests: [unique, not_null]}
          - name: customer_id
            data_tests:
              - relationships:
                  arguments: {to: "source('raw', 'customers')", field: id}
      - {name: customers}
      - {name: rates, config: {enabled: false}}
  - name: crm
    schema: RAW
    tables: [{name: customers}, {name: accounts, identifier: all accounts}]
  - {name: lookup, schema: "{{ target.schema }}", tables: [{name: countries}]}
""",
    "models/schema.yml": """
version: 2
groups: [{name: finance, owner: {name: Finance, email: f@example.com}}]
models:
  - name: stg_orders
    columns: [{name: id, data_tests: [not_null]}]
  - {name: orders, access: public, group: finance}
  - name: rated
    latest_version: 2
    versions: [{v: 1}, {v: 2}]
unit_tests:
  - name: keeps_rows
    model: stg_orders
    given: [{input: "source('raw', 'orders')", rows: [{id: 1}]}]
    expect: {rows: [{id: 1}]}
exposures:
  - name: board
    type: dashboard
    owner: {name: Ana}
    depends_on: [ref('orders'), "source('crm', 'accounts')"]
semantic_models:
  - name: sales
    model: ref('orders')
    defaults: {agg_time_dimension: sold_on}
    entities: [{name: id, type: primary}]
    dimensions: [{name: sold_on, type: time, type_params: {time_granularity: day}}]
    measures: [{name: total, agg: sum, expr: id, create_metric: true}]
""",
    "models/metricflow_time_spine.sql": "select 1 as date_day",
    "models/time.yml": """
version: 2
models:
  - name: metricflow_time_spine
    time_spine: {standard_granularity_column: date_day}
    columns: [{name: date_day, granularity: day}]
""",
    "models/stg_orders.sql": "select * from {{ source('raw', 'orders') }}",
    "models/stg_customers.sql": """
{{ config(materialized='ephemeral') }} select * from {{ source('raw', 'customers') }}
union all select * from {{ source(var('crm'), 'customers') }}
""",
    "models/orders.sql": "select * from {{ ref('stg_orders') }}, {{ ref('stg_customers') }}",
    "models/rated_v1.sql": "select * from {{ ref('orders') }}",
    "models/rated_v2.sql": "select * from {{ ref('orders') }}, {{ source('crm', 'accounts') }}",
    "models/off.sql": "{{ config(enabled=false) }} select * from {{ source('raw', 'orders') }}",
    "seeds/countries.csv": "id,name\n1,Chad\n",
    "snapshots/history.yml": """
snapshots:
  - name: history
    relation: source('raw', 'orders')
    config: {unique_key: id, strategy: check, check_cols: all}
""",
    "tests/adds_up.sql": "select * from {{ source('raw', 'orders') }}, {{ ref('orders') }}",
    "selectors.yml": """
selectors:
  - {name: landed, definition: {union: ["source:raw.orders+", {method: source, value: crm}]}}
""",
}
PROFILES: dict[str, Json] = {
    "spark": {"type": "spark", "method": "session", "host": "none", "schema": "analytics"},
    "duckdb": {"type": "duckdb", "path": "Shop.duckdb", "schema": "Analytics"},
}


@cache
def _written(adapter: str, folder: Path) -> tuple[Json, Json]:
    """The manifest and catalog that dbt writes of the project; only duckdb has a warehouse here."""
    project = folder / adapter
    named = {"name": "shop", "version": "1.0", "profile": "shop", "vars": {"crm": "crm"}}
    named |= {"flags": {"send_anonymous_usage_stats": False}}
    profile = {"shop": {"target": "dev", "outputs": {"dev": PROFILES[adapter]}}}
    files = {
        **FILES,
        "dbt_project.yml": yaml.safe_dump(named),
        "profiles.yml": yaml.safe_dump(profile),
    }
    for name, text in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if adapter == "spark":
        run_dbt(project, "parse")
    else:
        with duckdb.connect(str(project / "Shop.duckdb")) as warehouse:
            warehouse.execute("create schema raw")
            for table in ("Orders_V2", "customers", '"all accounts"'):
                warehouse.execute(f"create table raw.{table} as select 1 as id, 2 as customer_id")
        run_dbt(project, "build", "--exclude-resource-type", "test", "unit_test", "snapshot")
        run_dbt(project, "docs", "generate")
    target = project / "target"
    manifest: Json = orjson.loads((target / "manifest.json").read_bytes())
    if adapter == "spark":
        return manifest, _catalog(manifest)
    return manifest, orjson.loads((target / "catalog.json").read_bytes())


# Keys missing in dbt's older manifests, beside missing parts.
_NEWER_PARTS = {
    "v9": ("semantic_models", "saved_queries", "unit_tests", "functions", "group_map"),
    "v10": ("saved_queries", "unit_tests", "functions", "group_map"),
    "v11": ("unit_tests", "functions"),
}
_METADATA = {"v9": ("project_name", "quoting", "run_started_at", "invocation_started_at")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("projects")


def _artifacts(shape: str, folder: Path, project: Any) -> Artifacts:
    if shape in PROFILES:
        return Artifacts(*_written(shape, folder), shape, "1.11")
    manifest = copy.deepcopy(project.manifest)
    url = f"https://schemas.getdbt.com/dbt/manifest/{shape}.json"
    manifest["metadata"]["dbt_schema_version"] = url
    for part in _NEWER_PARTS[shape]:
        for node_id in manifest.pop(part, None) or {}:
            manifest["parent_map"].pop(node_id, None)
            for edges in manifest["child_map"].values():
                while node_id in edges:
                    edges.remove(node_id)
            manifest["child_map"].pop(node_id, None)
    for key in _METADATA.get(shape, ()):
        manifest["metadata"].pop(key, None)
    return Artifacts(manifest, project.catalog, "spark", "1.5")


def _catalog(manifest: Json) -> Json:
    """A catalog of every other relation, names in upper case as some warehouses have them."""
    document: Json = {"nodes": {}, "sources": {}}
    for part in ("nodes", "sources"):
        for node_id, node in list(manifest[part].items())[::2]:
            if node["resource_type"] in ("model", "seed", "source"):
                document[part][node_id] = {
                    "metadata": {
                        "type": "BASE TABLE",
                        "schema": node["schema"],
                        "name": node["name"].upper(),
                        "database": node["database"],
                    },
                    "columns": {"ID": {"type": "INTEGER", "index": 1, "name": "ID"}},
                    "stats": {},
                    "unique_id": node_id,
                }
    url = "https://schemas.getdbt.com/dbt/catalog/v1.json"
    metadata = {"dbt_schema_version": url, "generated_at": "2026-11-20T01:00:00Z"}
    return {"metadata": metadata, **document, "errors": None}


def _datasets(manifest: Json) -> list[DatasetId]:
    datasets = sorted(set(relations(manifest, "spark").datasets.values()))
    short = [DatasetId("spark", ".".join(dataset.parts[-2:])) for dataset in datasets]
    new = [DatasetId("spark", f"new.t{n}") for n in range(3)]
    return [*datasets, *short, *new, DatasetId("file", "/landing/new files")]


@st.composite
def _lineages(draw: st.DrawFn, datasets: list[DatasetId], manifest: Json) -> Lineage:
    lists = st.lists(st.sampled_from(datasets), max_size=3, unique=True)
    accesses, edges, runs = [], [], []
    for n in range(draw(st.integers(0, 5))):
        task = f"task {n}"
        runs.append(Run(f"{task}-1", task, draw(st.sampled_from(["spark", "sqlserver"]))))
        reads, writes = draw(lists), draw(lists)
        for direction, used in ((Direction.READ, reads), (Direction.WRITE, writes)):
            for dataset in used:
                kind = Kind.PATH if "/" in dataset.name else Kind.TABLE
                operation = Operation.SELECT if direction is Direction.READ else Operation.INSERT
                status = draw(st.sampled_from([Status.OK, Status.OK, Status.FAILED]))
                accesses.append(
                    Access(
                        task, f"{task}-1", dataset, kind, direction, operation, "s", status=status
                    )
                )
        for to, source in zip(writes, reads, strict=False):
            how = draw(st.sampled_from(Subtype))
            edges.append(ColumnEdge(task, to, "id", source, "id", how.type, how, False, "s"))
    records = Records(tuple(accesses), tuple(runs), column_edges=tuple(edges))
    return build(records, short_names(manifest, relations(manifest, "spark")))


@pytest.mark.parametrize("shape", SHAPES)
@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_what_holds_after_every_graft(
    shape: str, data: st.DataObject, folder: Path, project: Any
) -> None:
    artifacts = _artifacts(shape, folder, project)
    manifest = artifacts.manifest
    lineage = data.draw(_lineages(_datasets(manifest), manifest), label="lineage")
    before = dump(manifest), dump(artifacts.catalog)

    grafted = graft(artifacts, lineage, GraftOptions("spark"))

    assert _dangling(grafted.manifest) <= _dangling(manifest)
    _names_no_promoted_source(grafted)
    _maps_agree(grafted.manifest)
    after = integrity.check(grafted.manifest, grafted.catalog)
    found = integrity.check(manifest, artifacts.catalog)
    # Among them cycles and names that two nodes share.
    assert integrity.new_defects(found, after, grafted.redirects) == []
    again = graft(artifacts, lineage, GraftOptions("spark"))
    assert dump(again.manifest) == dump(grafted.manifest)
    assert dump(again.catalog) == dump(grafted.catalog)
    assert (dump(manifest), dump(artifacts.catalog)) == before
    assert _undone(grafted) == before


@pytest.mark.parametrize("shape", SHAPES)
def test_dbt_and_its_parsers_read_a_graft(shape: str, folder: Path, project: Any, log: Any) -> None:
    artifacts = _artifacts(shape, folder, project)
    names = [str(dataset) for dataset in _datasets(artifacts.manifest)]
    for n, (read, written) in enumerate(pairwise(names)):
        log.statement(f"task_{n}", [read], [written])
    log.statement("only_reads", names[:3])

    grafted = graft(artifacts, log.lineage(), GraftOptions("spark"))

    assert grafted.report.promoted
    assert grafted.report.added
    assert grafted.report.exposures
    assert faults(artifacts, grafted)[0] == []
    out = folder / f"out-{shape}.json"
    # dbt does not load all the macros that it writes.
    out.write_bytes(dump({**grafted.manifest, "macros": {}}))
    dbt_class("manifest").read_and_check_versions(str(out))
    _parser().parse_catalog(grafted.catalog)
    _parser_reads_what_is_ours(artifacts.manifest, grafted.manifest)


def _parser() -> Any:
    """The parser of artifacts: its import takes seconds, of which each process of tests has two."""
    return importlib.import_module("dbt_artifacts_parser.parser")


def _parser_reads_what_is_ours(before: Json, after: Json) -> None:
    """Its models forbid unknown keys: errors about dbt's own newer fields are not ours."""
    ours = {
        part: {
            key: node
            for key, node in (after.get(part) or {}).items()
            if key not in (before.get(part) or {})
        }
        for part in (*PARTS, "groups")
        if part in after
    }
    empty = {
        key: {} if isinstance(value, dict) and key != "metadata" else value
        for key, value in after.items()
    }
    known = {key: after["metadata"][key] for key in ("dbt_schema_version", "env", "adapter_type")}
    _parser().parse_manifest({**empty, **ours, "metadata": known})


def _dangling(manifest: Json) -> set[tuple[str, str]]:
    everything = all_nodes(manifest)
    return {
        (node_id, parent)
        for node_id, node in everything.items()
        for parent in parents(node)
        if parent not in everything
    } | {
        (key, node_id)
        for part in ("parent_map", "child_map")
        for key, ids in manifest[part].items()
        for node_id in (key, *ids)
        if node_id not in everything
    }


def _names_no_promoted_source(grafted: Grafted) -> None:
    """By id nowhere but in `meta.graft`."""
    for part in PARTS:
        for node in (grafted.manifest.get(part) or {}).values():
            for holder in (node, node.get("config") or {}):
                assert "promoted_from" not in (holder.get("meta") or {})
    ids = [f'"{source}"'.encode() for source in grafted.redirects]
    documents = [_without_graft_meta(grafted.manifest), grafted.catalog]
    content = b"".join(map(dump, documents))
    assert [one for one in ids if one in content] == []


def _without_graft_meta(manifest: Json) -> Json:
    def cleaned(node: Json) -> Json:
        meta = {key: value for key, value in (node.get("meta") or {}).items() if key != "graft"}
        config = {**(node.get("config") or {}), "meta": {}}
        return {**node, "meta": meta, "config": config}

    return {
        **manifest,
        **{
            part: {key: cleaned(node) for key, node in manifest[part].items()}
            for part in ("nodes", "sources", "exposures")
        },
    }


def _maps_agree(manifest: Json) -> None:
    """`parent_map`, `child_map` and `depends_on` hold the same edges."""
    edges = {(parent, key) for key, node in all_nodes(manifest).items() for parent in parents(node)}
    assert set(_edges(manifest["parent_map"])) == edges
    assert {(b, a) for a, b in _edges(manifest["child_map"])} == edges


def _edges(edges: Json) -> Iterator[tuple[str, str]]:
    for key, ids in edges.items():
        for node_id in ids:
            yield node_id, key


def _undone(grafted: Grafted) -> tuple[bytes, bytes]:
    manifest, catalog = orjson.loads(dump(grafted.manifest)), orjson.loads(dump(grafted.catalog))
    for document, name in ((manifest, "manifest.json"), (catalog, "catalog.json")):
        restore(document, orjson.loads(orjson.dumps(grafted.undo[name])))
    return dump(manifest), dump(catalog)
