"""The graph of columns: ends, depth, kinds, and the paths between two columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.graphs.column_graph import ColumnGraph
from dbt_graft.lineage.graphs.column_path import ColumnId, Effect
from dbt_graft.lineage.records import Column, ColumnEdge, Dataset, Evidence, Subtype
from tests.cases import for_each
from tests.notation import edge


def graph(
    *edges: str, schemas: Iterable[str] = (), consumers: Sequence[Consumer] = ()
) -> ColumnGraph:
    """A graph of edges as `edge` takes them, and schemas: `t a b`."""
    datasets = []
    for text in schemas:
        name, *columns = text.split()
        datasets.append(Dataset(DatasetId("db", name), columns=tuple(map(Column, columns))))
    return ColumnGraph(map(edge, edges), datasets, consumers)


def column(text: str) -> ColumnId:
    table, _, name = text.rpartition(".")
    return ColumnId(DatasetId("db", table), name)


def written(columns: Iterable[ColumnId]) -> list[str]:
    return [f"{one.dataset.name}.{one.name}" for one in columns]


def reached(of: ColumnGraph, start: str, direction: str, *, indirect: bool = False) -> list[str]:
    """`n.p 1 IDENTITY` for each column, masked with a `!` behind."""
    ask = of.upstream if direction == "up" else of.downstream
    return [
        f"{one.column.dataset.name}.{one.column.name} {one.depth} {one.effect.subtype}"
        f"{'!' if one.effect.masking else ''}"
        for one in ask(column(start), indirect=indirect)
    ]


LINE = ("b.x < a.x IDENTITY", "c.sum < b.x AGGREGATION", "d.out < c.sum TRANSFORMATION!")
FILTER = ("b.x < a.x IDENTITY", "b.* < a.day FILTER", "c.y < b.x IDENTITY", "c.z < b.k IDENTITY")
STAR = ("a.x < o.x IDENTITY", "b.* < a.* IDENTITY", "c.y < b.x AGGREGATION")
# Claim -> edges, schemas, column and direction, only values, and what decides too.
REACHED: dict[str, tuple[Sequence[str], Sequence[str], str, list[str], list[str]]] = {
    "a line is followed to its end": (
        LINE, (), "a.x down",
        ["b.x 1 IDENTITY", "c.sum 2 AGGREGATION", "d.out 3 AGGREGATION!"],
        ["b.x 1 IDENTITY", "c.sum 2 AGGREGATION", "d.out 3 AGGREGATION!"],
    ),
    "and to its beginning, where the change over all steps is the same": (
        LINE, (), "d.out up",
        ["c.sum 1 TRANSFORMATION!", "b.x 2 AGGREGATION!", "a.x 3 AGGREGATION!"],
        ["c.sum 1 TRANSFORMATION!", "b.x 2 AGGREGATION!", "a.x 3 AGGREGATION!"],
    ),
    "names compare without case": (
        ("b.X < a.Amount IDENTITY", "C.y < B.x IDENTITY"), (), "A.AMOUNT down",
        ["b.X 1 IDENTITY", "C.y 2 IDENTITY"], ["b.X 1 IDENTITY", "C.y 2 IDENTITY"],
    ),
    "a filter decides on rows, and so on all that their columns feed": (
        FILTER, (), "a.day down",
        [], ["b.* 1 FILTER", "c.y 2 FILTER", "c.z 2 FILTER"],
    ),
    "a column depends on the filter of its rows, and of those that it comes from": (
        FILTER, (), "c.y up",
        ["b.x 1 IDENTITY", "a.x 2 IDENTITY"],
        ["b.x 1 IDENTITY", "a.x 2 IDENTITY", "a.day 2 FILTER"],
    ),
    "a value that also decides is a value": (
        ("b.x < a.x IDENTITY", "b.* < a.x FILTER"), (), "b.x up",
        ["a.x 1 IDENTITY"], ["a.x 1 IDENTITY"],
    ),
    "a longer path of values counts, not the shorter one that decides": (
        ("c.y < a.x CONDITIONAL", "b.x < a.x IDENTITY", "c.y < b.x IDENTITY"), (), "a.x down",
        ["b.x 1 IDENTITY", "c.y 2 IDENTITY"], ["b.x 1 IDENTITY", "c.y 2 IDENTITY"],
    ),
    "through `*` a column keeps its name where both have it": (
        STAR, (), "o.x down",
        ["a.x 1 IDENTITY", "b.x 2 IDENTITY", "c.y 3 AGGREGATION"],
        ["a.x 1 IDENTITY", "b.x 2 IDENTITY", "c.y 3 AGGREGATION"],
    ),
    "and backwards": (
        STAR, (), "c.y up",
        ["b.x 1 AGGREGATION", "a.x 2 AGGREGATION", "o.x 3 AGGREGATION"],
        ["b.x 1 AGGREGATION", "a.x 2 AGGREGATION", "o.x 3 AGGREGATION"],
    ),
    "a name that the other does not have goes to one of its columns, not known which": (
        ("b.* < a.* TRANSFORMATION", "a.x < o.x IDENTITY"), ("b p q",), "o.x down",
        ["a.x 1 IDENTITY", "b.* 2 TRANSFORMATION"], ["a.x 1 IDENTITY", "b.* 2 TRANSFORMATION"],
    ),
    "a copy into other columns does not carry it": (
        ("b.* < a.* IDENTITY", "a.x < o.x IDENTITY"), ("b p q",), "o.x down",
        ["a.x 1 IDENTITY"], ["a.x 1 IDENTITY"],
    ),
    "an unknown column is none of the known ones": (
        ("b.* < a.x TRANSFORMATION", "c.y < b.q IDENTITY", "d.* < b.* IDENTITY"), (), "a.x down",
        ["b.* 1 TRANSFORMATION", "d.* 2 TRANSFORMATION"],
        ["b.* 1 TRANSFORMATION", "d.* 2 TRANSFORMATION"],
    ),
    "rows that were copied as they are depend on what decided on them": (
        ("a.* < o.day FILTER", "b.* < a.* IDENTITY", "c.y < b.q IDENTITY"), ("a q", "b q"),
        "c.y up", ["b.q 1 IDENTITY", "a.q 2 IDENTITY"],
        ["b.q 1 IDENTITY", "a.q 2 IDENTITY", "o.day 3 FILTER"],
    ),
    "also where the column itself was not in the copy": (
        ("a.* < o.day FILTER", "b.* < a.* IDENTITY"), ("a q", "b p q"),
        "b.p up", [], ["a.* 1 IDENTITY", "o.day 2 FILTER"],
    ),
    "a cycle ends": (
        ("b.x < a.x IDENTITY", "c.x < b.x IDENTITY", "a.x < c.x IDENTITY"), (), "a.x down",
        ["b.x 1 IDENTITY", "c.x 2 IDENTITY"], ["b.x 1 IDENTITY", "c.x 2 IDENTITY"],
    ),
    "a column that nothing names has no line": (LINE, (), "a.nothing down", [], []),
    "nor has a table that nothing names": (LINE, (), "nowhere.x up", [], []),
}  # fmt: skip


@for_each("claim", REACHED)
def test_reach(claim: str) -> None:
    edges, schemas, asked, direct, all_ = REACHED[claim]
    of = graph(*edges, schemas=schemas)
    start, direction = asked.split()
    assert reached(of, start, direction) == direct
    assert reached(of, start, direction, indirect=True) == all_


def test_depth_limits_the_steps() -> None:
    assert written(one.column for one in graph(*LINE).downstream(column("a.x"), 2)) == [
        "b.x",
        "c.sum",
    ]


def test_what_is_downstream_of_a_column_has_it_upstream() -> None:
    of = graph(*LINE, *FILTER, *STAR, "a.x < d.out CONDITIONAL", "d.* < c.y JOIN")
    names = ["a.x", "a.day", "b.x", "b.k", "c.sum", "c.y", "c.z", "d.out", "o.x"]
    for indirect in (False, True):
        down = {
            (start, far)
            for start in names
            for far in written(r.column for r in of.downstream(column(start), indirect=indirect))
        }
        up = {
            (far, start)
            for start in names
            for far in written(r.column for r in of.upstream(column(start), indirect=indirect))
        }
        assert {text for text in down if "*" not in text[1]} <= up
        # `b.*` downstream is each column of b upstream.
        rows = {(start, name) for start, far in down for name in names if far == f"{name[0]}.*"}
        assert {one for one in up if "*" not in one[0]} <= down | rows


def test_the_evidence_of_a_path_is_that_of_its_weakest_step() -> None:
    first, second = map(edge, LINE[:2])
    of = ColumnGraph([replace(first, evidence=Evidence.INFERRED), second])
    (path,) = of.paths(column("a.x"), column("c.sum")).paths
    assert path.effect == Effect(Subtype.AGGREGATION, False, Evidence.INFERRED)
    assert of.downstream(column("a.x"))[-1].effect == path.effect


def test_a_step_has_all_its_edges_values_first() -> None:
    of = graph("b.x < a.x CONDITIONAL", "b.x < a.x AGGREGATION", "b.x < a.x IDENTITY")
    (step,) = of.parents(column("b.x"), indirect=True)
    assert [str(one.subtype) for one in step.edges] == ["IDENTITY", "AGGREGATION", "CONDITIONAL"]
    (step,) = of.children(column("a.x"))
    assert [str(one.subtype) for one in step.edges] == ["IDENTITY", "AGGREGATION"]


def test_what_decides_on_rows_is_a_step_into_all_columns() -> None:
    steps = graph(*FILTER).parents(column("b.x"), indirect=True)
    assert [written([step.source, step.target]) for step in steps] == [
        ["a.x", "b.x"],
        ["a.day", "b.*"],
    ]


def test_columns_are_those_of_the_schema_and_then_those_of_edges() -> None:
    of = graph(*FILTER, schemas=["b Z X"])
    assert written(of.columns(DatasetId("db", "B"))) == ["b.Z", "b.X", "b.k"]
    assert of.find(DatasetId("db", "b"), "x") == column("b.X")
    assert of.find(DatasetId("db", "b"), "nothing") is None


def test_a_line_ends_in_the_columns_that_feed_no_other() -> None:
    of = graph("b.x < a.x IDENTITY", "c.x < b.x IDENTITY", "d.y < b.x AGGREGATION")
    assert written(of.ends(column("a.x"))) == ["c.x", "d.y"]
    assert of.ends(column("c.x")) == []


def test_a_line_ends_at_the_consumers_of_its_datasets() -> None:
    mart, raw, other = (
        Consumer(f"exposure.{name}", name, "dashboard", (DatasetId("db", name),))
        for name in ("c", "a", "z")
    )
    of = graph(*LINE, consumers=[mart, raw, other])
    assert of.consumers(column("a.x")) == [raw, mart]
    assert of.consumers(column("d.out")) == []
    assert of.consumers(column("z.unknown")) == [other]


def test_a_line_ends_at_no_consumer_that_reads_other_columns() -> None:
    mart = DatasetId("db", "c")
    other, own, partly = (
        Consumer(
            *(f"exposure.{name}", name, "dashboard", (mart,)),
            columns=((mart, name),),
            known_reads=known,
        )
        for name, known in (("other", (mart,)), ("SUM", (mart,)), ("some", ()))
    )
    of = graph(*LINE, consumers=[other, own, partly])
    assert of.consumers(column("a.x")) == [own, partly]


def test_edges_of_unknown_columns_are_there_to_be_shown() -> None:
    of = graph("b.* < a.x TRANSFORMATION", "b.* < a.day FILTER", "c.y < b.* TRANSFORMATION")
    into, out = of.unmatched(DatasetId("db", "b"))
    assert [one.from_column for one in into] == ["x"]
    assert [one.to_column for one in out] == ["y"]
    assert of.unmatched(DatasetId("db", "c")) == ([], [])


def paths(of: ColumnGraph, start: str, end: str, limit: int = 100, **how: bool) -> list[str]:
    found = of.paths(column(start), column(end), limit, **how)
    return [
        " ".join(written([path.steps[0].source, *(step.target for step in path.steps)]))
        for path in found.paths
    ] + ["…"] * (not found.is_complete)


DIAMOND = ("b.x < a.x IDENTITY", "d.x < b.x IDENTITY", "c.x < b.x IDENTITY", "d.x < c.x IDENTITY")


@for_each(
    "edges, ends, direct, all_",
    [
        (DIAMOND, "a.x d.x", ["a.x b.x d.x", "a.x b.x c.x d.x"],
         ["a.x b.x d.x", "a.x b.x c.x d.x"]),
        (DIAMOND, "d.x a.x", [], []),
        (DIAMOND, "a.x a.x", [], []),
        (FILTER, "a.day c.y", [], ["a.day b.* c.y"]),
        (STAR, "o.x c.y", ["o.x a.x b.x c.y"], ["o.x a.x b.x c.y"]),
        (("b.x < a.x IDENTITY", "a.x < b.x IDENTITY", "c.x < b.x IDENTITY"), "a.x c.x",
         ["a.x b.x c.x"], ["a.x b.x c.x"]),
    ],
)  # fmt: skip
def test_paths_are_found_shortest_first(
    edges: Sequence[str], ends: str, direct: list[str], all_: list[str]
) -> None:
    of = graph(*edges)
    assert paths(of, *ends.split()) == direct
    assert paths(of, *ends.split(), indirect=True) == all_


def test_a_limit_of_paths_is_said() -> None:
    assert paths(graph(*DIAMOND), "a.x", "d.x", 1) == ["a.x b.x d.x", "…"]
    assert paths(graph(*DIAMOND), "a.x", "d.x", 2)[-1] != "…"


def test_more_paths_than_can_be_counted_end_soon() -> None:
    ladder = [
        f"t{n + 1}.{to} < t{n}.{of} IDENTITY" for n in range(300) for to in "ab" for of in "ab"
    ]
    found = graph(*ladder).paths(column("t0.a"), column("t300.a"), 10)
    assert [len(path.steps) for path in found.paths] == [300] * 10
    assert not found.is_complete


def test_a_knot_without_end_is_left_after_some_work() -> None:
    knot = [f"t{n}.a < t{m}.a IDENTITY" for n in range(12) for m in range(12) if n != m]
    found = graph(*knot).paths(column("t0.a"), column("t1.a"), 10**9)
    assert not found.is_complete
    assert len(found.paths[0].steps) == 1


def test_depth_has_no_limit() -> None:
    line = [replace(LONG, to_dataset=_table(n + 1), from_dataset=_table(n)) for n in range(20_000)]
    of = ColumnGraph(line)
    start, end = ColumnId(_table(0), "x"), ColumnId(_table(20_000), "x")
    assert of.downstream(start)[-1].depth == 20_000
    assert len(of.paths(start, end).paths[0].steps) == 20_000


LONG: ColumnEdge = edge("n.x < t.x IDENTITY")


def _table(number: int) -> DatasetId:
    return DatasetId("db", f"t{number}")
