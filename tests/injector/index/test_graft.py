"""The graft in the tables that the docs page of dbt 2 reads."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbt_graft.injector import artifacts
from dbt_graft.injector.graft import graft
from dbt_graft.injector.options import GraftOptions
from dbt_graft.lineage.dataset import parse_dataset_id
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import ColumnEdge, Subtype
from tests.injector.conftest import Log, Project
from tests.injector.index.index_of_dbt import AT, ask, write_index
from tests.notation import column_edge

SAMPLES = Path(__file__).parents[4] / "shared/samples/dbt-v2"
KEYS = ("parent_unique_id", "child_unique_id")


LANDED, ORDERS = (parse_dataset_id(name) for name in ("landing/orders", "spark/raw.orders"))


def edge(source: str, target: str, subtype: Subtype = Subtype.IDENTITY) -> ColumnEdge:
    return column_edge(ORDERS, target, LANDED, source, subtype, task="land_shop_files")


@pytest.fixture
def lineage(log: Log) -> Lineage:
    """The lineage of the night, with columns of a task."""
    edges = (
        edge("id", "id"),
        edge("price", "amount", Subtype.TRANSFORMATION),
        edge("state", "*", Subtype.FILTER),
    )
    return replace(log.lineage(), column_edges=edges)


@pytest.fixture
def target(project: Project, tmp_path: Path) -> Path:
    """A target folder of dbt 2: a manifest and an index, and no catalog.json."""
    write_index(tmp_path / "target", project.manifest, project.catalog)
    return tmp_path / "target"


@pytest.fixture
def index(target: Path, lineage: Lineage) -> Path:
    """The grafted index."""
    return write_graft(target, lineage)


def write_graft(target: Path, lineage: Lineage) -> Path:
    read = artifacts.read(target)
    out = target.parent / "artifacts"
    artifacts.write(graft(read, lineage, GraftOptions("spark")), out)
    return out / "index"


def test_a_source_that_a_task_writes_is_a_model(index: Path) -> None:
    rows = ask(
        index,
        "SELECT unique_id, resource_type, node_language, list_contains(tags, 'python_task') "
        "FROM dbt.nodes WHERE name = 'raw_orders'",
    )
    assert rows == [("model.python_tasks.raw_orders", "model", "python", True)]
    gone = "SELECT count(*) FROM dbt.nodes WHERE unique_id = 'source.shop.raw.orders'"
    assert ask(index, gone) == [(0,)]


def test_no_row_names_a_source_that_became_a_model(index: Path) -> None:
    replaced = "source.shop.raw.orders"
    for path in index.glob("*.parquet"):
        text = str(
            [
                {key: value for key, value in row.items() if key not in ("meta", "config")}
                for row in pq.read_table(path).to_pylist()
            ]
        )
        assert replaced not in text.replace("promoted from", ""), path.name


def test_every_edge_has_both_ends(index: Path) -> None:
    nodes = {row[0] for row in ask(index, "SELECT unique_id FROM dbt.nodes")}
    nodes |= {row[0] for row in ask(index, "SELECT unique_id FROM dbt.exposures")}
    edges = ask(index, f"SELECT {', '.join(KEYS)} FROM dbt.edges")
    unit_tests = {end for edge in edges for end in edge if end.startswith("unit_test.")}
    assert {end for edge in edges for end in edge} - unit_tests <= nodes
    assert len(edges) == len({*edges})


def test_tests_of_a_source_are_attached_to_the_model(index: Path) -> None:
    attached = {row[0] for row in ask(index, "SELECT attached_node FROM dbt.test_metadata")}
    assert "model.python_tasks.raw_orders" in attached


def test_dbts_own_values_stay(target: Path, index: Path) -> None:
    own = "unique_id, name, resource_type, schema_name, materialized, description, fqn, tags"
    ids = "SELECT unique_id FROM dbt.nodes WHERE unique_id LIKE 'model.shop.%' ORDER BY 1"
    assert ask(index, ids) == ask(target / "index", ids)
    values = f"SELECT {own} FROM dbt.nodes WHERE unique_id LIKE 'model.shop.%' ORDER BY 1"
    assert ask(index, values) == ask(target / "index", values)


def test_files_have_the_schema_as_found(target: Path, index: Path) -> None:
    for path in sorted((target / "index").glob("*.parquet")):
        assert pq.read_schema(index / path.name).equals(pq.read_schema(path)), path.name
        metadata = pq.ParquetFile(index / path.name).metadata
        assert metadata.num_row_groups == 1 or not metadata.num_rows


@pytest.mark.parametrize("lacking", ["fqn", "search_text", "node_language", "tags"])
def test_a_column_that_another_version_lacks_is_not_written(
    target: Path, lineage: Lineage, lacking: str
) -> None:
    path = target / "index/dbt.nodes.parquet"
    pq.write_table(pq.read_table(path).drop_columns([lacking]), path)
    assert lacking not in pq.read_schema(write_graft(target, lineage) / path.name).names


def test_a_column_that_only_another_version_has_is_null(target: Path, lineage: Lineage) -> None:
    path = target / "index/dbt.nodes.parquet"
    table = pq.read_table(path)
    new = pa.array(["x"] * table.num_rows)
    pq.write_table(table.append_column("of_tomorrow", new), path)
    rows = ask(
        write_graft(target, lineage),
        "SELECT DISTINCT of_tomorrow FROM dbt.nodes WHERE package_name = 'python_tasks'",
    )
    assert rows == [(None,)]


def test_column_lineage_has_dbts_kinds(index: Path) -> None:
    rows = ask(
        index,
        "SELECT from_column_name, to_column_name, lineage_kind FROM dbt.column_lineage "
        "WHERE to_node_unique_id = 'model.python_tasks.raw_orders' ORDER BY ALL",
    )
    assert rows == [
        ("id", "id", "copy"),
        ("price", "amount", "mod"),
        ("state", "amount", "scan"),
        ("state", "id", "scan"),
    ]


def test_columns_at_ends_of_edges_are_listed(
    target: Path, project: Project, lineage: Lineage
) -> None:
    """dbt lists no column that neither YAML nor the warehouse has, and its page shows no other."""
    write_index(target, project.manifest, project.catalog, dbt__node_columns=[])
    out = write_graft(target, lineage)
    ends = (
        "SELECT from_node_unique_id, from_column_name FROM dbt.column_lineage UNION "
        "SELECT to_node_unique_id, to_column_name FROM dbt.column_lineage"
    )
    listed = "SELECT unique_id, column_name FROM dbt.node_columns"
    assert ask(out, f"({ends}) EXCEPT {listed}") == []
    assert ask(out, f"SELECT count(*) = count(DISTINCT (unique_id, column_name)) FROM ({listed})")


def test_types_of_catalog_json_are_in_the_index(
    target: Path, project: Project, lineage: Lineage
) -> None:
    column = {"unique_id": "model.shop.stg_orders", "column_name": "ID", "column_index": 0}
    write_index(target, project.manifest, project.catalog, dbt__node_columns=[column])
    (target / "catalog.json").write_text(json.dumps(project.catalog))
    rows = ask(
        write_graft(target, lineage),
        "SELECT column_name, catalog_type, data_type FROM dbt.node_columns "
        "WHERE unique_id = 'model.shop.stg_orders' ORDER BY column_index",
    )
    assert rows[:2] == [("ID", "int", "int"), ("amount", "decimal(10,2)", "decimal(10,2)")]


def test_what_dbt_says_of_a_column_stays(target: Path, project: Project, lineage: Lineage) -> None:
    first = write_graft(target, lineage)
    source, column, node, to = ask(
        first,
        "SELECT from_node_unique_id, from_column_name, to_node_unique_id, to_column_name "
        "FROM dbt.column_lineage ORDER BY ALL LIMIT 1",
    )[0]
    theirs = {
        "from_node_unique_id": source,
        "from_column_name": f"{column}_by_dbt",
        "to_node_unique_id": node,
        "to_column_name": to.upper(),
        "lineage_kind": "mod",
    }
    write_index(target, project.manifest, project.catalog, dbt__column_lineage=[theirs])
    rows = ask(
        write_graft(target, lineage),
        "SELECT from_column_name, lineage_kind FROM dbt.column_lineage WHERE "
        f"to_node_unique_id = '{node}' AND lower(to_column_name) = lower('{to}')",
    )
    assert rows == [(f"{column}_by_dbt", "mod")]


def test_the_last_run_of_a_task_stands_where_dbts_do(index: Path) -> None:
    rows = ask(
        index,
        "SELECT status, created_at IS NOT NULL FROM dbt_rt.run_results "
        "WHERE unique_id = 'model.python_tasks.raw_orders'",
    )
    assert rows == [("success", True)]


def test_the_overview_says_what_was_grafted(index: Path) -> None:
    ((text,),) = ask(
        index,
        "SELECT block_contents FROM dbt.docs WHERE name = '__overview__' "
        "AND unique_id <> 'doc.dbt.__overview__'",
    )
    assert "sources became models" in text


def test_a_projects_own_overview_stays_alone(
    target: Path, project: Project, lineage: Lineage
) -> None:
    own = {"unique_id": "doc.shop.__overview__", "name": "__overview__", "block_contents": "Ours"}
    write_index(target, project.manifest, project.catalog, dbt__docs=[own])
    rows = ask(write_graft(target, lineage), "SELECT block_contents FROM dbt.docs")
    assert rows == [("Ours",)]


def test_the_same_inputs_give_the_same_bytes(target: Path, lineage: Lineage) -> None:
    first = {path.name: path.read_bytes() for path in write_graft(target, lineage).iterdir()}
    second = {path.name: path.read_bytes() for path in write_graft(target, lineage).iterdir()}
    assert first == second


def test_types_come_from_the_index_where_there_is_no_catalog(target: Path) -> None:
    read = artifacts.read(target)
    assert not read.has_catalog
    columns = read.catalog["sources"]["source.shop.raw.orders"]["columns"]
    assert columns["id"]["type"] == "int"
    assert not read.notices


COLUMNS = ("column_name", "declared_type", "inferred_type", "catalog_type")


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([("id", "", "", "int"), ("note", "", "", "text")], {"id": "int", "note": "text"}),
        ([("id", "int", "", "int"), ("at", "", "", "date"), ("gone", "int", "", "")], {"id", "at"}),
        ([("id", "", "Int64", ""), ("note", "", "Utf8", "")], {"id": "Int64", "note": "Utf8"}),
        ([("id", "int", "int", ""), ("note", "text", "text", "")], {}),  # a source's YAML
        ([("id", "int", "int", ""), ("note", "", "", "")], {}),
        ([("id", "", "", "int")], {}),  # the first column of each relation
    ],
)
def test_types_of_an_index_are_known_or_not_there(
    target: Path, project: Project, columns: list[tuple[str, ...]], expected: Collection[str]
) -> None:
    node_id = "source.shop.raw.orders"
    rows = [
        {"unique_id": node_id, **dict(zip(COLUMNS, [text or None for text in row], strict=True))}
        for row in columns
    ]
    write_index(target, project.manifest, project.catalog, dbt__node_columns=rows)
    entry = artifacts.read(target).catalog["sources"].get(node_id, {"columns": {}})
    types = {name: column["type"] for name, column in entry["columns"].items()}
    assert (types if isinstance(expected, dict) else types.keys()) == expected


def test_the_first_columns_alone_are_said(target: Path, project: Project) -> None:
    row = {"unique_id": "source.shop.raw.orders", "column_name": "id", "catalog_type": "int"}
    write_index(target, project.manifest, project.catalog, dbt__node_columns=[row])
    (notice,) = artifacts.read(target).notices
    assert "dbt compile --write-catalog" in notice


def test_an_index_older_than_its_manifest_is_said(target: Path, project: Project) -> None:
    project.manifest["metadata"]["generated_at"] = "2026-11-20T02:00:00.123456789Z"
    write_index(target, project.manifest, project.catalog)
    (notice,) = artifacts.read(target).notices
    assert "older than manifest.json (2026-11-20T01:00:00 and 2026-11-20T02:00:00)" in notice


def test_freshness_comes_from_the_index(target: Path, project: Project) -> None:
    late = {"unique_id": "source.shop.raw.orders", "status": "error", "snapshotted_at": AT}
    write_index(target, project.manifest, project.catalog, dbt__source_freshness=[late])
    assert artifacts.read(target).freshness["source.shop.raw.orders"]["status"] == "error"


def test_an_index_of_another_compile_is_said(target: Path, project: Project) -> None:
    project.model("new_one", [])
    write_index(target.parent / "other", project.manifest, project.catalog)
    shutil.copy(target.parent / "other/manifest.json", target / "manifest.json")
    (notice,) = artifacts.read(target).notices
    assert "another compile" in notice
    assert "model.shop.new_one" in notice
    assert "dbt compile --write-index" in notice


def test_disabled_nodes_of_an_index_are_no_other_compile(target: Path) -> None:
    path = target / "index/dbt.nodes.parquet"
    table = pq.read_table(path)
    off = table.to_pylist()[0] | {"unique_id": "model.shop.off", "enabled": False}
    pq.write_table(pa.concat_tables([table, pa.Table.from_pylist([off], table.schema)]), path)
    entry = {"unique_id": "model.shop.off", "table_type": "table"}
    pq.write_table(pa.Table.from_pylist([entry]), target / "index/dbt.catalog_tables.parquet")
    read = artifacts.read(target)
    assert not read.notices
    assert "model.shop.off" not in read.catalog["nodes"]


@pytest.mark.parametrize("name", ["dbt.edges", "dbt.project", "dbt.macros"])
def test_a_damaged_file_is_named(target: Path, name: str) -> None:
    path = target / f"index/{name}.parquet"
    if not path.exists():
        pq.write_table(pa.table({"unique_id": ["macro.shop.cents"] * 99}), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(GraftError, match=rf"{re.escape(name)}\.parquet.*damaged"):
        artifacts.read(target)


def test_a_table_without_a_column_that_we_need_is_named(target: Path) -> None:
    path = target / "index/dbt.edges.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["child_unique_id"]), path)
    with pytest.raises(GraftError, match=r"dbt\.edges\.parquet.*no column child_unique_id"):
        artifacts.read(target)


def test_a_later_index_replaces_all_files(target: Path, lineage: Lineage) -> None:
    out = write_graft(target, lineage)
    (target / "index/dbt.groups.parquet").unlink()
    write_graft(target, lineage)
    assert not (out / "dbt.groups.parquet").exists()


@pytest.mark.skipif(not SAMPLES.exists(), reason="the samples of dbt 2 are not here")
@pytest.mark.parametrize("sample", ["demo", "small"])
def test_an_index_that_dbt_wrote_answers_by_dbts_own_views(sample: str, tmp_path: Path) -> None:
    target = tmp_path / "target"
    shutil.copytree(SAMPLES / sample, target / "index")
    packed = target / "index/manifest.json.gz"
    (target / "manifest.json").write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    out = write_graft(target, Lineage())
    counts = "SELECT resource_type, count(*) FROM dbt.nodes GROUP BY ALL ORDER BY ALL"
    assert ask(out, counts) == ask(target / "index", counts)
    assert (out / "views.sql").read_bytes() == (target / "index/views.sql").read_bytes()


def test_a_statistic_of_a_node_is_there_once(index: Path) -> None:
    sql = "SELECT unique_id, stat_label FROM dbt.catalog_stats GROUP BY ALL HAVING count(*) > 1"
    assert ask(index, sql) == []
    shown = ask(index, "SELECT stat_label FROM dbt.catalog_stats WHERE stat_id = 'row_count'")
    assert set(shown) == {("Rows written",)}
