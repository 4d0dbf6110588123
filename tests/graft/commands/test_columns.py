"""`graft columns`: trees, paths, tables and events, on a store and artifacts that lie there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.questions.show.column_answers import ColumnLine, PathListing, TableListing
from dbt_graft.graft.questions.show.column_tree import ColumnView, tree
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.graphs.column_graph import ColumnGraph
from dbt_graft.lineage.graphs.column_path import ColumnId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Column, Dataset, Outcome, Shape
from tests.graft.test_inject import folder  # noqa: F401 (a fixture)
from tests.notation import edge

# ruff: noqa: F811 (a fixture of another module)

LINE = (
    "raw.b.x < raw.a.x IDENTITY",
    "raw.b.* < raw.a.day FILTER",
    "raw.c.total < raw.b.x AGGREGATION",
    "raw.d.total < raw.b.x TRANSFORMATION!",
    "raw.d.share < raw.c.total IDENTITY",
)


def view(*edges: str, lineage: Lineage | None = None, **options: Any) -> ColumnView:
    found = tuple(map(edge, edges))
    lineage = lineage or Lineage(column_edges=found)
    return ColumnView(ColumnGraph(found, lineage.datasets.values()), lineage, **options)


def column(text: str) -> ColumnId:
    table, _, name = text.rpartition(".")
    return ColumnId(DatasetId("db", table), name)


def drawn(of: ColumnView, start: str, *, upstream: bool = False) -> list[str]:
    return [click.unstyle(line) for line in tree(of, column(start), upstream=upstream)]


def test_a_tree_says_what_each_step_does_to_the_value() -> None:
    assert drawn(view(*LINE), "raw.a.x") == [
        "└─ raw.b.x  copied, by load",
        "   ├─ raw.d.total  masked, by load",
        "   └─ raw.c.total  aggregated, by load",
        "      └─ raw.d.share  copied, by load",
    ]


def test_upstream_what_decides_is_a_leaf_unless_it_is_to_be_followed() -> None:
    edges = (*LINE, "raw.a.day < raw.z.day IDENTITY")
    assert drawn(view(*edges), "raw.c.total", upstream=True) == [
        "└─ raw.b.x  aggregated, by load",
        "   ├─ raw.a.x  copied, by load",
        "   └─ raw.a.day  filter, by load",
    ]
    assert drawn(view(*edges, indirect=True), "raw.c.total", upstream=True)[-1] == (
        "      └─ raw.z.day  copied, by load"
    )


def test_a_sub_tree_is_drawn_once_and_a_cycle_ends() -> None:
    edges = ("b.x < a.x IDENTITY", "c.x < a.x IDENTITY", "d.x < b.x IDENTITY")
    edges = (*edges, "d.x < c.x IDENTITY", "e.x < d.x IDENTITY", "a.x < e.x IDENTITY")
    assert drawn(view(*edges), "a.x") == [
        "├─ db/b.x  copied, by load",
        "│  └─ db/d.x  copied, by load",
        "│     └─ db/e.x  copied, by load",
        "│        └─ db/a.x  copied, by load  (see above)",
        "└─ db/c.x  copied, by load",
        "   └─ db/d.x  copied, by load  (see above)",
    ]


def test_depth_cuts_a_tree_and_shows_that_it_goes_on() -> None:
    assert drawn(view(*LINE, depth=1), "raw.a.x") == ["└─ raw.b.x  copied, by load  …"]


def test_a_wide_fan_is_cut_unless_everything_is_wanted() -> None:
    fan = [f"raw.t{n:02}.x < raw.a.x IDENTITY" for n in range(40)]
    lines = drawn(view(*fan), "raw.a.x")
    assert (len(lines), lines[-1]) == (13, "└─ … and 28 more (--all)")
    assert len(drawn(view(*fan, everything=True), "raw.a.x")) == 40


def test_a_long_tree_is_cut_too_and_depth_has_no_limit() -> None:
    line = [f"raw.t{n + 1}.x < raw.t{n}.x IDENTITY" for n in range(3_000)]
    assert drawn(view(*line), "raw.t0.x")[-1].strip() == "└─ … and 1 more (--all)"
    assert len(drawn(view(*line, everything=True), "raw.t0.x")) == 3_000


def test_datasets_whose_names_end_alike_have_their_identity() -> None:
    names = [DatasetId("db", "x.raw.b"), DatasetId("db", "y.raw.b")]
    lineage = Lineage(datasets={name: Dataset(name) for name in names})
    found = drawn(view("x.raw.b.x < x.raw.a.x IDENTITY", lineage=lineage), "x.raw.a.x")
    assert found == ["└─ db/x.raw.b.x  copied, by load"]


def test_a_control_character_commands_no_terminal() -> None:
    assert "\x1b" not in drawn(view("raw.b.\x1b[31mx < raw.a.x IDENTITY"), "raw.a.x")[0]


def test_paths_are_those_of_the_other_direction_where_there_is_none() -> None:
    answer = PathListing(column("raw.d.share"), column("raw.a.x"), view(*LINE))
    assert [click.unstyle(line) for line in answer.lines()] == [
        "raw.a.x to raw.d.share: 1 path",
        "  3 steps",
        "    raw.a.x",
        "    → raw.b.x  copied, by load",
        "    → raw.c.total  aggregated, by load",
        "    → raw.d.share  copied, by load",
    ]
    assert answer.to_json()["paths"][0]["subtype"] == "AGGREGATION"


def test_without_a_path_the_other_kind_is_named() -> None:
    answer = PathListing(column("raw.a.day"), column("raw.d.share"), view(*LINE))
    assert "--kind all" in list(answer.lines())[-1]
    followed = PathListing(column("raw.a.day"), column("raw.d.share"), view(*LINE, indirect=True))
    assert [path["type"] for path in followed.to_json()["paths"]] == ["INDIRECT"]


def test_a_column_that_only_decides_is_said_to() -> None:
    lines = map(click.unstyle, ColumnLine(column("raw.a.day"), view(*LINE), [False]).lines())
    assert "decides on raw.b.* (--kind all)" in lines


def test_a_table_lists_its_columns_with_counts() -> None:
    answer = TableListing(DatasetId("db", "raw.b"), view(*LINE))
    assert answer.to_json()["columns"] == [{"name": "x", "upstream": 1, "downstream": 3}]


TABLE, SOURCE = DatasetId("db", "raw.b"), DatasetId("db", "raw.a")


@pytest.mark.parametrize(
    ("flow", "edges", "reason"),
    [
        (None, (), "nothing that was read writes it"),
        (Flow(SOURCE, TABLE, "load", through_memory=True), (), "in its memory"),
        (Flow(SOURCE, TABLE, "load", shapes=("s",)), (), "only in part: UNPIVOT"),
        (
            Flow(SOURCE, TABLE, "model.shop.b"),
            (),
            "columns of model b could not all be followed: g",
        ),
        (Flow(SOURCE, TABLE, "load"), (), "no statement that was read shows their columns"),
        (Flow(SOURCE, TABLE, "load"), ("raw.b.y < raw.a.y IDENTITY",), "a constant"),
        (Flow(SOURCE, TABLE, "load"), ("raw.b.* < raw.a.y TRANSFORMATION",), "not known which"),
    ],
)
def test_where_nothing_is_known_the_reason_is_said(
    flow: Flow | None, edges: tuple[str, ...], reason: str
) -> None:
    lineage = Lineage(
        datasets={TABLE: Dataset(TABLE, columns=(Column("x"), Column("y")))},
        flows=(flow,) if flow else (),
        shapes={"s": Shape("s", "tsql", "SELECT", "1", Outcome.PARTIAL, "UNPIVOT")},
        definitions={
            "model.shop.b": Definition("model.shop.b", DefinitionKind.DBT, TABLE, gap="g")
        },
    )
    answer = ColumnLine(column("raw.b.x"), view(*edges, lineage=lineage), [True])
    assert reason in " ".join(answer.to_json()["reasons"])
    assert any(reason in line for line in answer.lines())


Columns = Callable[..., Any]


@pytest.fixture
def columns(folder: Path, capfd: pytest.CaptureFixture[str]) -> Columns:
    """Run `graft columns` in a project where `load_orders` fills `raw.orders`."""
    rows = [
        ("amount", "net", "DIRECT", "AGGREGATION"),
        ("amount", "tax.eur", "DIRECT", "AGGREGATION"),
        ("*", "day", "INDIRECT", "FILTER"),
    ]
    edges = [
        {
            "task": "load_orders",
            "shape_id": "load_orders-s",
            "origin": "log",
            "to_namespace": "mssql",
            "to_name": "raw.orders",
            "to_column": to,
            "from_namespace": "mssql",
            "from_name": "Shop.crm.orders",
            "from_column": source,
            "type": type_,
            "subtype": subtype,
            "masking": False,
        }
        for to, source, type_, subtype in rows
    ]
    place = folder / ".graft/store/column_edges/batch_id=1"
    place.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(edges), place / "part.parquet")

    def run(*arguments: str) -> Any:
        with pytest.raises(SystemExit) as ended:
            main(["columns", *arguments, "-c", str(folder / "graft.yml")])
        output = capfd.readouterr().out
        return ended.value.code or 0, output

    return run


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("raw.orders.amount", "mssql/Shop.raw.orders.amount"),
        ("RAW.Orders.AMOUNT", "mssql/Shop.raw.orders.amount"),
        ("mssql/Shop.raw.orders.amount", "mssql/Shop.raw.orders.amount"),
        ("crm.orders.tax.eur", "mssql/Shop.crm.orders.tax.eur"),
        ("orders.day", "mssql/Shop.crm.orders.day"),
        ("crm.orders", "mssql/Shop.crm.orders"),
    ],
)
def test_names_are_found_as_people_write_them(columns: Columns, name: str, found: str) -> None:
    code, output = columns(name)
    assert (code, output.splitlines()[0]) == (0, found)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("orders", "write one of: mssql/Shop.crm.orders, mssql/Shop.raw.orders"),
        ("raw.orders.amuont", "did you mean mssql/Shop.raw.orders.amount?"),
        ("raw.ordres.amount", "did you mean mssql/Shop"),
        ("nothing", "write TABLE.COLUMN"),
    ],
)
def test_other_names_are_an_error_with_the_nearest(
    columns: Columns, name: str, remedy: str
) -> None:
    code, output = columns(name, "--json")
    assert code == 1
    assert remedy in orjson.loads(output)["error"]["remedy"]


def test_a_name_of_the_logs_is_found_too(columns: Columns, folder: Path) -> None:
    with (folder / "graft.yml").open("a") as config:
        config.write("names: [{from: mssql/raw.*, to: mssql/Shop.renamed.*}]\n")
    assert columns("raw.orders.amount")[1].splitlines()[0] == "mssql/Shop.renamed.orders.amount"


def test_both_directions_are_in_the_json(columns: Columns) -> None:
    _, output = columns("raw.orders.amount", "--json", "--kind", "all")
    found = orjson.loads(output)
    assert [(one["column"], one["type"]) for one in found["upstream"]] == [
        ("net", "DIRECT"),
        ("tax.eur", "DIRECT"),
        ("day", "INDIRECT"),
    ]
    assert found["downstream"] == []
    _, output = columns("raw.orders.amount", "--json", "--upstream")
    assert orjson.loads(output).keys() == {"dataset", "column", "upstream"}


def test_a_pipe_gets_no_colours(columns: Columns) -> None:
    assert "\x1b" not in columns("raw.orders.amount")[1]


def test_all_columns_are_events_of_openlineage_one_a_line(columns: Columns) -> None:
    code, output = columns("--all", "--format", "openlineage")
    (event,) = map(orjson.loads, output.splitlines())
    assert code == 0
    assert event["dataset"]["name"] == "Shop.raw.orders"
    assert event["dataset"]["facets"]["columnLineage"]["fields"].keys() == {"amount"}
    assert columns("crm.orders", "--format", "openlineage") == (0, "")


def test_without_dbts_artifacts_the_logs_are_asked_alone(columns: Columns, folder: Path) -> None:
    (folder / "target/manifest.json").unlink()
    assert columns("raw.orders.amount")[1].splitlines()[:2] == [
        "mssql/raw.orders.amount",
        "comes from",
    ]


def test_no_name_is_a_wrong_command_line(columns: Columns) -> None:
    assert columns()[0] == 2
    assert columns("--all")[0] == 2
