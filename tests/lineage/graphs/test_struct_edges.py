"""Fields of structs in the graphs: a struct reaches what takes a field of it."""

from __future__ import annotations

import pytest

from dbt_graft.analysis.impact.change import ImpactEffect
from dbt_graft.analysis.impact.graph import ImpactGraph, Need
from dbt_graft.analysis.impact.spread import Spread
from dbt_graft.lineage.graphs.column_graph import ColumnGraph
from dbt_graft.lineage.graphs.column_path import ColumnId
from dbt_graft.lineage.records import Column, ColumnEdge, Dataset, Subtype
from tests.notation import column_edge, table

EDGES = tuple(
    column_edge(table("m"), to, table("t"), source, subtype)
    for to, source, subtype in (
        ("city", "address.city", Subtype.IDENTITY),
        ("lat", "address.geo.lat", Subtype.IDENTITY),
        ("*", "address.zip", Subtype.FILTER),
        ("total", "a.b", Subtype.IDENTITY),
        ("copy", "address", Subtype.IDENTITY),
    )
)
TABLE = Dataset(table("t"), columns=(Column("Address"), Column("a.b")))
GRAPH = ColumnGraph(EDGES, [TABLE])


@pytest.mark.parametrize(
    ("column", "reached"),
    [
        ("address", {"city", "lat", "copy"}),
        ("address.city", {"city", "copy"}),
        ("a.b", {"total"}),
    ],
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
    assert targets == {"city", "lat", "*", "copy"}


def test_what_takes_a_struct_does_not_fail_without_a_field() -> None:
    graph = ImpactGraph(EDGES, (), [TABLE])
    field = graph.find_column(graph.dataset(TABLE.id), "address.city")
    assert field is not None
    needs = {
        graph.column_names[graph.edge_target[at]]: graph.edge_need[at]
        for at in graph.edges_from(field)
    }
    assert needs == {"city": Need.NAMED, "copy": Need.NONE}


def test_a_field_that_nothing_fills_comes_with_its_struct() -> None:
    edges = (
        column_edge(table("m"), "o", table("t"), "a", Subtype.TRANSFORMATION),
        column_edge(table("n"), "x", table("m"), "o.x"),
    )
    found = ColumnGraph(edges).upstream(ColumnId(table("n"), "x"))
    assert [str(one.column) for one in found] == ["db/m.o.x", "db/t.a"]


# A field is written and its struct read, a struct is written and its field read.
PARTS = [
    (
        column_edge(table("m"), written, table("t"), "a"),
        column_edge(table("n"), "c", table("m"), read),
    )
    for written, read in (("o.x", "o"), ("o", "o.x"))
]


@pytest.mark.parametrize("edges", PARTS)
def test_a_value_goes_on_from_the_part_into_all_and_from_all_into_the_part(
    edges: tuple[ColumnEdge, ...],
) -> None:
    graph = ColumnGraph(edges)
    first, last = ColumnId(table("t"), "a"), ColumnId(table("n"), "c")
    assert last in {reached.column for reached in graph.downstream(first)}
    assert first in {reached.column for reached in graph.upstream(last)}
    assert len(graph.paths(first, last).paths) == 1
    impact = ImpactGraph(edges, ())
    start = impact.find_column(impact.dataset(first.dataset), "a")
    assert start is not None
    reach = Spread(impact, ImpactEffect.SENSITIVE, start)
    datasets = {impact.dataset_of[column] for column in reach.reached[ImpactEffect.SENSITIVE]}
    assert impact.find_dataset(last.dataset) in datasets
