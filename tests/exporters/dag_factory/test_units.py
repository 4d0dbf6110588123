"""dbt's nodes by level: as few builds as the tasks between them allow."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dbt_graft.exporters.dag_factory.units import units
from dbt_graft.lineage.graph import Graph
from tests.exporters.dag_factory.orders import order_of


def test_a_level_ends_where_a_task_stands_between() -> None:
    order = order_of(
        "load: -> raw",
        "dbt seed: -> s",
        "dbt stg: raw -> stg",
        "dbt orders: stg, s -> orders",
        "score: orders -> scores",
        "dbt segments: scores, orders -> segments",
        "report: segments ->",
    )
    found = units(order, by_level=True)
    assert {name: [node.label for node in unit.nodes] for name, unit in found.units.items()} == {
        "load": ["load"],
        "score": ["score"],
        "report": ["report"],
        "dbt build 1": ["seed", "stg", "orders"],
        "dbt build 2": ["segments"],
    }
    assert set(found.edges) == {
        ("load", "dbt build 1"),
        ("dbt build 1", "score"),
        ("dbt build 1", "dbt build 2"),
        ("score", "dbt build 2"),
        ("dbt build 2", "report"),
    }


def test_by_models_each_node_is_a_unit() -> None:
    order = order_of("load: -> raw", "dbt stg: raw -> stg")
    found = units(order, by_level=False)
    assert set(found.units) == {"load", "model.shop.stg"}
    assert found.units["model.shop.stg"].title == "dbt_stg"


@given(st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=60), st.integers())
def test_levels_never_make_a_cycle(pairs: list[tuple[int, int]], kinds: int) -> None:
    lines = []
    for number in range(15):
        reads = ", ".join(f"d{a}" for a, b in pairs if b == number and a < b)
        kind = "dbt " if kinds >> number & 1 else ""
        lines.append(f"{kind}n{number}: {reads} -> d{number}")
    order = units(order_of(*lines), by_level=True)
    assert Graph(order.edges, order.units).cycles() == []
    assert sum(len(unit.nodes) for unit in order.units.values()) == 15


def test_a_level_too_long_for_a_command_is_split_in_processing_order() -> None:
    lines = [f"dbt {'m' * 200}{number:04}: d{number} -> d{number + 1}" for number in range(600)]
    order = units(order_of(*lines), by_level=True)
    assert len(order.units) > 1
    assert all(sum(len(n.label) + 1 for n in u.nodes) <= 60_000 for u in order.units.values())
    assert Graph(order.edges, order.units).cycles() == []
