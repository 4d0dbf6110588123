"""Column edges in a row, and temporary tables seen through."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from dbt_graft.lineage.building.lasting_columns import lasting_columns
from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.graphs.columns import compose
from dbt_graft.lineage.records import Access, Column, ColumnEdge, Dataset, Status, Subtype
from tests.cases import for_each
from tests.notation import access, edge

TEMPORARY = {DatasetId("db", "#x"), DatasetId("db", "#y")}
FLOWED = {(task, DatasetId("db", "t"), DatasetId("db", "n")) for task in ("load", "other")}


def resolved(
    edges: Iterable[ColumnEdge],
    temporaries: Collection[DatasetId] = TEMPORARY,
    columns: Mapping[DatasetId, Sequence[str]] | None = None,
    flowed: Collection[tuple[str, DatasetId, DatasetId]] = FLOWED,
) -> Sequence[ColumnEdge]:
    """The lasting edges of some."""
    return lasting_columns(
        ColumnEdges.of(edges),
        [access("SELECT INTO", temporary, kind=Kind.TEMPORARY) for temporary in temporaries],
        [Dataset(key, columns=(*map(Column, names),)) for key, names in (columns or {}).items()],
        [Flow(source, target, task) for task, source, target in flowed],
        {},
    ).edges


def written(edges: Iterable[ColumnEdge]) -> list[str]:
    """Edges as the cases write them."""
    return [
        f"{e.to_dataset.name}.{e.to_column} < {e.from_dataset.name}.{e.from_column} "
        f"{e.subtype}{'!' if e.masking else ''}"
        for e in edges
    ]


@for_each(
    "first, last, both",
    [
        ("IDENTITY", "IDENTITY", "IDENTITY"),
        ("IDENTITY", "TRANSFORMATION", "TRANSFORMATION"),
        ("TRANSFORMATION", "IDENTITY", "TRANSFORMATION"),
        ("AGGREGATION", "TRANSFORMATION", "AGGREGATION"),
        ("TRANSFORMATION", "AGGREGATION", "AGGREGATION"),
        ("AGGREGATION", "IDENTITY", "AGGREGATION"),
        ("IDENTITY", "FILTER", "FILTER"),
        ("CONDITIONAL", "IDENTITY", "CONDITIONAL"),
        ("WINDOW", "AGGREGATION", "WINDOW"),
        ("CONDITIONAL", "SORT", "SORT"),
    ],
)
def test_two_steps_make_one(first: str, last: str, both: str) -> None:
    assert compose(Subtype(last), Subtype(first)) is Subtype(both)


RESOLVED = {
    "an edge between lasting tables stays": (["n.p < t.a IDENTITY"], ["n.p < t.a IDENTITY"]),
    "equal edges are one": (["n.p < t.a IDENTITY"] * 2, ["n.p < t.a IDENTITY"]),
    "a temporary table is seen through": (
        ["#x.m < t.a IDENTITY", "n.p < #x.m IDENTITY"],
        ["n.p < t.a IDENTITY"],
    ),
    "names are compared without case": (
        ["#x.M < t.a IDENTITY", "n.p < #x.m IDENTITY"],
        ["n.p < t.a IDENTITY"],
    ),
    "subtypes and masking are composed over both steps": (
        ["#x.m < t.a AGGREGATION", "#x.k < t.b TRANSFORMATION!", "n.p < #x.m TRANSFORMATION",
         "n.q < #x.k IDENTITY"],
        ["n.p < t.a AGGREGATION", "n.q < t.b TRANSFORMATION!"],
    ),
    "two in a row are too": (
        ["n.p < #y.k IDENTITY", "#y.k < #x.m IDENTITY", "#x.m < t.a TRANSFORMATION"],
        ["n.p < t.a TRANSFORMATION"],
    ),
    "what filled it decides on what it fills": (
        ["#x.m < t.a IDENTITY", "#x.* < t.day FILTER", "n.p < #x.m IDENTITY"],
        ["n.* < t.day FILTER", "n.p < t.a IDENTITY"],
    ),
    "its columns decide too": (
        ["#x.m < t.a IDENTITY", "n.* < #x.m JOIN"],
        ["n.* < t.a JOIN"],
    ),
    "its * is spelled out by what filled it": (
        ["#x.m < t.a IDENTITY", "#x.k < t.b IDENTITY", "n.* < #x.* IDENTITY"],
        ["n.k < t.b IDENTITY", "n.m < t.a IDENTITY"],
    ),
    "filled with *, a column keeps its name": (
        ["#x.* < t.* IDENTITY", "n.p < #x.m IDENTITY"],
        ["n.p < t.m IDENTITY"],
    ),
    "a temporary table that feeds itself ends": (
        ["#x.m < #x.m TRANSFORMATION", "#x.m < t.a IDENTITY", "n.p < #x.m IDENTITY"],
        ["n.p < t.a IDENTITY", "n.p < t.a TRANSFORMATION"],
    ),
    "without what filled it, nothing is known": (["n.p < #x.m IDENTITY"], []),
    "a column's edge to itself goes": (["n.p < n.p TRANSFORMATION"], []),
    "one column of a table feeds another": (
        ["n.p < n.q TRANSFORMATION"],
        ["n.p < n.q TRANSFORMATION"],
    ),
    "what decides on its own table's rows goes": (["n.* < n.p FILTER"], []),
    "what decides on a value of its own table stays": (
        ["n.p < n.q CONDITIONAL", "n.p < n.p CONDITIONAL", "n.p < n.i FILTER"],
        ["n.p < n.q CONDITIONAL"],
    ),
    "what decides on the rows that a temporary table keeps decides on what it fills": (
        ["#x.m < t.a IDENTITY", "#x.k < t.b IDENTITY", "#x.* < #x.m FILTER", "n.p < #x.k IDENTITY"],
        ["n.* < t.a FILTER", "n.p < t.b IDENTITY"],
    ),
}  # fmt: skip


@for_each("claim", RESOLVED)
def test_resolved(claim: str) -> None:
    edges, expected = RESOLVED[claim]
    assert written(resolved(map(edge, edges))) == expected


@for_each("edges", [["n.p < t.a IDENTITY"], ["#x.m < t.a IDENTITY", "n.p < #x.m IDENTITY"]])
def test_logs_that_repeat_an_edge_show_it_once(edges: list[str]) -> None:
    repeated = [replace(edge(text), origin=log) for log in ("a.log", "b.log") for text in edges]
    assert written(resolved(repeated)) == ["n.p < t.a IDENTITY"]


def test_a_temporary_table_belongs_to_its_task() -> None:
    edges = [edge("#x.m < t.a IDENTITY", "one"), edge("n.p < #x.m IDENTITY", "other")]
    assert resolved(edges) == ()


def test_a_global_temporary_table_hands_columns_from_task_to_task() -> None:
    edges = [edge("##x.m < t.a IDENTITY", "one"), edge("n.p < ##x.m IDENTITY", "other")]
    (found,) = resolved(edges, {DatasetId("db", "##x")})
    assert written((found,)) == ["n.p < t.a IDENTITY"]
    assert found.task == "other"


def test_no_column_comes_through_a_temporary_table_that_held_other_content_then() -> None:
    edges = [edge("#x.m < t.a IDENTITY"), edge("n.p < #x.m IDENTITY")]
    assert resolved(edges, flowed=()) == ()


def test_a_star_is_spelled_out_where_columns_are_known() -> None:
    known = {DatasetId("db", "t"): ["a", "b"], DatasetId("db", "m"): ["B", "c"]}
    edges = [edge("n.* < t.* IDENTITY"), edge("m.* < t.* IDENTITY"), edge("k.* < w.* IDENTITY")]
    assert written(resolved(edges, columns=known)) == [
        "k.* < w.* IDENTITY",
        "m.b < t.b IDENTITY",
        "n.a < t.a IDENTITY",
        "n.b < t.b IDENTITY",
    ]


@for_each(
    "edges, expected",
    [
        (["n.* < t.* IDENTITY"], ["n.b < t.b IDENTITY"]),
        (["#x.* < t.*", "n.A < #x.A", "n.b < #x.b"], ["n.b < t.b IDENTITY"]),
        (["#x.a < t.a", "#x.b < t.b", "n.* < #x.*"], ["n.b < t.b IDENTITY"]),
    ],
)
def test_a_star_of_code_leaves_columns_out(edges: list[str], expected: list[str]) -> None:
    of_code = [replace(e, without=("a",)) if e.to_column == "*" else e for e in map(edge, edges)]
    columns = {DatasetId("db", "t"): ["a", "b"]} if len(edges) == 1 else {}

    assert written(resolved(of_code, columns=columns)) == expected


N = DatasetId("db", "n")
UPDATE = [access("UPDATE", N, shape_id="s")]


@for_each(
    "edges, accesses, expected",
    [
        (["n.p < n.p TRANSFORMATION"], [], ["load n"]),
        (["#x.p < n.p", "#x.p < t.p", "n.p < #x.p"], [], ["load n"]),
        (["n.p < t.p", "n.* < n.p FILTER"], [], []),
        (["#x.p < n.p", "t.p < #x.p"], [], []),
        # An UPDATE changes rows where they are, unless it reads the table as well.
        (["n.p < n.q"], UPDATE, []),
        (["n.p < n.q"], [*UPDATE, access("SELECT", N, shape_id="s")], ["load n"]),
        (["n.p < n.q"], [*UPDATE, access("SELECT", N, shape_id="other")], []),
    ],
)
def test_a_task_puts_values_of_a_table_into_it_again(
    edges: list[str], accesses: list[Access], expected: list[str]
) -> None:
    temporary = access("SELECT INTO", DatasetId("db", "#x"), kind=Kind.TEMPORARY)
    column_edges = [edge(text, shape_id="s") for text in edges]
    columns = lasting_columns(ColumnEdges.of(column_edges), [temporary, *accesses], (), (), {})

    assert [f"{task} {dataset.name}" for task, dataset in columns.fed_again] == expected


SELECT = access("SELECT", N, shape_id="s")


@for_each(
    "edges, accesses, expected",
    [
        (["#x.p < n.p"], [SELECT], ["load n"]),
        ([], [SELECT], []),  # it counts rows, perhaps of a condition
        (["n.p < t.p", "#x.* < n.p FILTER"], [SELECT], ["load n"]),
        (["#x.* < n.*"], [SELECT], []),
        (["t.* < n.* IDENTITY"], [SELECT], []),
        # All statements that read it count, but not those that failed.
        (["#x.p < n.p"], [SELECT, access("SELECT", N, shape_id="not followed")], []),
        (
            ["#x.p < n.p"],
            [SELECT, access("SELECT", N, shape_id="not followed", status=Status.FAILED)],
            ["load n"],
        ),
        (["n.p < t.p"], UPDATE, []),
    ],
)
def test_all_columns_are_known_that_a_task_reads(
    edges: list[str], accesses: list[Access], expected: list[str]
) -> None:
    temporary = access("SELECT INTO", DatasetId("db", "#x"), kind=Kind.TEMPORARY)
    column_edges = [edge(text, shape_id="s") for text in edges]
    columns = lasting_columns(
        ColumnEdges.of(column_edges), [temporary, *accesses], (), (), {}, followed={"s", "x"}
    )

    assert [f"{task} {dataset.name}" for task, dataset in columns.known_reads] == expected
