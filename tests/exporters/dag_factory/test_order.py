"""The order that lineage demands of tasks and of dbt's nodes."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dbt_graft.exporters.dag_factory.order import DemandedOrder, Reach, demanded_order, reduce_edges
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Description, Role
from dbt_graft.lineage.graph import Graph
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Records, Run, Status

READ, WRITE = Direction.READ, Direction.WRITE
EDGES = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=40)


def dataset(name: str) -> DatasetId:
    return DatasetId("spark", name)


def lineage(*used: tuple[str, Direction, str], failed: str = "") -> Lineage:
    accesses = tuple(
        Access(
            *(task, f"{task}-1", dataset(name), Kind.TABLE, direction, Operation.INSERT, "shape"),
            status=Status.FAILED if name == failed else Status.OK,
        )
        for task, direction, name in used
    )
    runs = tuple(Run(f"{task}-1", task, "spark") for task in {one[0] for one in used})
    return build(Records(accesses=accesses, runs=runs))


def edges(order: DemandedOrder) -> dict[tuple[str, str], list[str]]:
    return {edge: [one.name for one in found] for edge, found in order.edges.items()}


def test_who_writes_a_dataset_comes_before_those_who_read_it() -> None:
    order = demanded_order(
        lineage(
            ("load", WRITE, "raw.orders"),
            ("clean", READ, "raw.orders"),
            ("clean", WRITE, "raw.clean"),
            ("report", READ, "raw.clean"),
            ("report", READ, "raw.orders"),
        )
    )
    assert edges(order) == {
        ("load", "clean"): ["raw.orders"],
        ("load", "report"): ["raw.orders"],
        ("clean", "report"): ["raw.clean"],
    }


def test_a_task_does_not_wait_for_itself_nor_for_a_write_that_failed() -> None:
    used = (("load", WRITE, "a"), ("load", READ, "a"), ("load", WRITE, "b"), ("use", READ, "b"))
    assert edges(demanded_order(lineage(*used, failed="b"))) == {}


def test_a_view_is_seen_through_to_those_who_write_its_tables() -> None:
    seen = lineage(("load", WRITE, "t"), ("report", READ, "v2"))
    views = [
        Definition("v1", DefinitionKind.VIEW, dataset("v1"), (dataset("t"),)),
        Definition("v2", DefinitionKind.VIEW, dataset("v2"), (dataset("v1"), dataset("v2"))),
    ]
    seen = replace(seen, definitions={view.name: view for view in views})
    order = demanded_order(seen)
    assert edges(order) == {("load", "report"): ["t"]}
    assert set(order.nodes) == {"load", "report"}


def test_dbt_nodes_have_the_name_that_selects_them_and_dbt_s_tags_and_owner() -> None:
    model = Definition(
        "model.shop.orders.v2", DefinitionKind.DBT, dataset("orders"), (dataset("raw"),)
    )
    seen = replace(lineage(("load", WRITE, "raw")), definitions={model.name: model})
    described = Description(
        dataset("orders"), model.name, "orders", Role.MODEL, owner="sales", tags=("daily",)
    )
    order = demanded_order(seen, {dataset("orders"): described})
    node = order.nodes[model.name]
    assert (node.label, node.resource, node.engines) == ("orders.v2", "model", ("dbt",))
    assert (node.info.owner, node.info.tags) == ("sales", ("daily",))
    assert edges(order) == {("load", model.name): ["raw"]}


@given(EDGES)
def test_reach_is_that_of_a_walk_in_any_graph(edges: list[tuple[int, int]]) -> None:
    graph = Graph(edges)
    reach = Reach(graph)
    for first in graph.nodes:
        downstream = set(graph.downstream(first))
        knot = next(part for part in graph.parts() if first in part)
        for second in graph.nodes:
            same_knot = second in knot and len(knot) > 1
            assert reach.precedes(first, second) == (second in downstream or same_knot)


@given(EDGES)
def test_the_reduction_has_the_same_order_and_no_edge_to_spare(
    pairs: list[tuple[int, int]],
) -> None:
    edges = {(a, b) for a, b in pairs if a < b}
    found = reduce_edges(range(13), edges)
    assert set(found) <= edges
    before, after = Reach(Graph(edges, range(13))), Reach(Graph(found, range(13)))
    every = [(a, b) for a in range(13) for b in range(13)]
    assert [before.precedes(*one) for one in every] == [after.precedes(*one) for one in every]
    for edge in found:
        left = Reach(Graph([one for one in found if one != edge], range(13)))
        assert not left.precedes(*edge)


def test_ten_thousand_tasks_are_reduced() -> None:
    chooser = random.Random(5)  # noqa: S311
    chain = [(number, number + 1) for number in range(10_000)]
    jumps = {
        (number, number + chooser.randint(2, 500)) for number in range(9_500) for _ in range(3)
    }
    assert reduce_edges((), [*chain, *jumps]) == chain


def test_a_node_that_is_not_there_precedes_nothing() -> None:
    assert not Reach(Graph([("a", "b")])).precedes("x", "b")
