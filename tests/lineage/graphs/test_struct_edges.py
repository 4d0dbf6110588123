"""Fields of structs in the graphs: a struct reaches what takes a field of it."""

from __future__ import annotations

import pytest

from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.lineage.graphs.column_graph import ColumnGraph
from dbt_graft.lineage.graphs.column_path import ColumnId
from dbt_graft.lineage.records import Column, Dataset, Subtype
from tests.notation import column_edge, table

EDGES = tuple(
    column_edge(table("m"), to, table("t"), source, subtype)
    for to, source, subtype in (
        ("city", "address.city", Subtype.IDENTITY),
        ("lat", "address.geo.lat", Subtype.IDENTITY),
        ("*", "address.zip", Subtype.FILTER),
        ("total", "a.b", Subtype.IDENTITY),
    )
)
TABLE = Dataset(table("t"), columns=(Column("Address"), Column("a.b")))
GRAPH = ColumnGraph(EDGES, [TABLE])


@pytest.mark.parametrize(
    ("column", "reached"),
    [("address", {"city", "lat"}), ("address.city", {"city"}), ("a.b", {"total"})],
)
def test_a_struct_reaches_what_takes_a_field_of_it(column: str, reached: set[str]) -> None:
    found = GRAPH.downstream(ColumnId(TABLE.id, column))
    assert {one.column.name for one in found} == reached


def test_what_takes_a_field_comes_from_the_field_alone() -> None:
    found = GRAPH.upstream(ColumnId(table("m"), "city"))
    assert [one.column.name for one in found] == ["address.city"]


def test_what_a_field_decides_on_its_struct_does_too() -> None:
    steps = GRAPH.children(ColumnId(TABLE.id, "address"), indirect=True)
    assert Subtype.FILTER in {edge.subtype for step in steps for edge in step.edges}


def test_the_impact_of_a_struct_is_that_of_its_fields() -> None:
    graph = ImpactGraph(EDGES, (), [TABLE])
    number = graph.find_dataset(TABLE.id)
    assert number is not None
    struct = graph.find_column(number, "address")
    assert struct is not None
    targets = {graph.column_names[graph.edge_target[at]] for at in graph.edges_from(struct)}
    assert targets == {"city", "lat", "*"}


def test_a_field_that_nothing_fills_comes_with_its_struct() -> None:
    edges = (
        column_edge(table("m"), "o", table("t"), "a", Subtype.TRANSFORMATION),
        column_edge(table("n"), "x", table("m"), "o.x"),
    )
    found = ColumnGraph(edges).upstream(ColumnId(table("n"), "x"))
    assert [str(one.column) for one in found] == ["db/m.o.x", "db/t.a"]
