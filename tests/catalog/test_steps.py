"""The datasets upstream and downstream of one: to the end, by step, in few names."""

from __future__ import annotations

from dbt_graft.catalog.steps import MAX_COUNTED, DatasetSteps
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.graph import Graph


def table(name: object) -> DatasetId:
    return DatasetId("spark", f"raw.{name}")


def steps(*edges: tuple[object, object]) -> DatasetSteps:
    return DatasetSteps(Graph((table(a), table(b)) for a, b in edges))


def test_each_dataset_stands_at_its_shortest_distance() -> None:
    found = steps(("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("d", "a"))
    names = [dataset.name for dataset in found.datasets]
    down = found.downstream(table("a"))
    assert [(s.distance, [names[one] for one in s.numbers]) for s in down.steps] == [
        (1, ["raw.b", "raw.c"]),
        (2, ["raw.d"]),
    ]
    assert (down.total, down.omitted, down.is_complete, down.distance) == (3, 0, True, 2)
    up = found.upstream(table("a"))
    assert [[names[one] for one in step.numbers] for step in up.steps] == [
        ["raw.d"],
        ["raw.c"],
        ["raw.b"],
    ]


def test_a_step_lists_fifty_and_counts_all() -> None:
    all_steps = steps(*(("hub", f"t{n:03}") for n in range(312)))
    found = all_steps.downstream(table("hub"))
    [step] = found.steps
    assert (len(step.numbers), step.omitted) == (50, 262)
    assert (found.total, found.omitted, found.is_complete) == (312, 262, True)
    assert all_steps.datasets[step.numbers[0]] == table("t000")


def test_many_large_steps_share_the_room_of_a_page() -> None:
    edges = [(f"{level}-{n}", f"{level + 1}-{n}") for level in range(1, 9) for n in range(40)]
    found = steps(*(("hub", f"1-{n}") for n in range(40)), *edges).downstream(table("hub"))
    listed = [len(step.numbers) for step in found.steps]
    assert listed == [40, 16, 3, 3, 3, 3, 3, 3, 3]
    assert found.total == 360


def test_counting_ends_where_a_page_would_take_too_long() -> None:
    many = [("hub", n) for n in range(MAX_COUNTED + 5)]
    found = steps(*many, (0, "last")).downstream(table("hub"))
    assert not found.is_complete
    assert (found.total, found.distance) == (MAX_COUNTED + 5, 1)


def test_a_long_line_is_followed_to_its_end_and_listed_in_part() -> None:
    found = steps(*((n, n + 1) for n in range(100))).downstream(table(0))
    assert (len(found.steps), found.total, found.distance, found.omitted) == (20, 100, 100, 80)


def test_a_dataset_without_lineage_has_no_steps() -> None:
    assert not steps(("a", "b")).downstream(table("other"))
    assert not steps(("a", "b")).downstream(table("b"))
