"""Changes from one build to the next."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson

from dbt_graft.analysis.history.change_json import build_from_json, build_json
from dbt_graft.analysis.history.changes import (
    BUILDS,
    BuildHistory,
    Change,
    ChangeKind,
    PublishedDataset,
    PublishedNames,
    changes,
    select_changes,
    update_history,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Role
from dbt_graft.lineage.records import Column
from tests.cases import for_each

MONDAY, TUESDAY, FRIDAY = (datetime(2026, 11, day, tzinfo=UTC) for day in (16, 17, 20))
ORDERS, SALES, MART = (DatasetId("spark", name) for name in ("raw.orders", "raw.sales", "mart.x"))


def names(*datasets: DatasetId | PublishedDataset, **more: tuple) -> PublishedNames:
    """The names that a build published, of datasets without columns or with them."""
    found = [
        PublishedDataset(dataset) if isinstance(dataset, DatasetId) else dataset
        for dataset in datasets
    ]
    return PublishedNames(tuple(found), **more)


def with_columns(*columns: tuple[str, str]) -> PublishedNames:
    """`raw.orders` with columns and their types."""
    return names(PublishedDataset(ORDERS, "", tuple(Column(*column) for column in columns)))


@for_each(
    "before, now, expected",
    [
        (names(), names(ORDERS), [Change(ChangeKind.NEW_DATASET, ORDERS)]),
        (names(ORDERS), names(), [Change(ChangeKind.GONE_DATASET, ORDERS)]),
        (names(ORDERS), names(DatasetId("Spark", "RAW.Orders")), []),
        (names(tasks=("a",)), names(tasks=("b",)), ["gone task a", "new task b"]),
        (
            names(ORDERS, MART),
            names(ORDERS, MART, edges=((ORDERS, MART),)),
            [Change(ChangeKind.NEW_EDGE, ORDERS, MART)],
        ),
        (
            names(ORDERS, edges=((ORDERS, "dashboard"),)),
            names(ORDERS),
            [Change(ChangeKind.GONE_EDGE, ORDERS, name="dashboard")],
        ),
        (
            names(PublishedDataset(ORDERS, Role.SOURCE)),
            names(PublishedDataset(ORDERS, Role.PROMOTED)),
            [Change(ChangeKind.PROMOTED, ORDERS, before="source", now="promoted")],
        ),
        (
            names(PublishedDataset(ORDERS, Role.PROMOTED)),
            names(PublishedDataset(ORDERS, Role.SOURCE)),
            [Change(ChangeKind.OTHER_ROLE, ORDERS, before="promoted", now="source")],
        ),
        (
            with_columns(("a", "int"), ("b", "")),
            with_columns(("A", "INT"), ("c", "")),
            [
                Change(ChangeKind.GONE_COLUMN, ORDERS, name="b"),
                Change(ChangeKind.NEW_COLUMN, ORDERS, name="c"),
            ],
        ),
        (
            with_columns(("a", "int")),
            with_columns(("a", "bigint")),
            [Change(ChangeKind.OTHER_TYPE, ORDERS, None, "a", "int", "bigint")],
        ),
        (with_columns(("a", "")), with_columns(("a", "int")), []),
        (with_columns(("a", "int")), with_columns(("a", "")), []),
    ],
)
def test_the_differences_are(
    before: PublishedNames, now: PublishedNames, expected: list[Change | str]
) -> None:
    found = changes(before, now)
    if expected and isinstance(expected[0], str):
        assert [f"{change.kind} {change.name}" for change in found] == expected
    else:
        assert list(found) == expected


def test_a_renamed_dataset_has_its_edges_and_columns_under_its_present_name() -> None:
    columns = (Column("id", "int"),)
    before = names(
        MART, PublishedDataset(ORDERS, "model", columns), edges=((ORDERS, MART), (ORDERS, "report"))
    )
    now = names(
        MART, PublishedDataset(SALES, "model", columns), edges=((SALES, MART), (SALES, "report"))
    )
    assert changes(before, now, {ORDERS: SALES}) == (
        Change(ChangeKind.RENAMED_DATASET, ORDERS, SALES),
    )


def test_a_name_that_another_dataset_has_now_was_not_renamed() -> None:
    assert changes(names(ORDERS), names(ORDERS, SALES), {ORDERS: SALES}) == (
        Change(ChangeKind.NEW_DATASET, SALES),
    )


def test_the_columns_of_a_new_dataset_are_no_changes_of_their_own() -> None:
    found = changes(names(), with_columns(("a", "int")))
    assert [change.kind for change in found] == [ChangeKind.NEW_DATASET]


def test_the_first_build_has_nothing_to_compare_with() -> None:
    history = update_history(BuildHistory(), names(ORDERS), {}, MONDAY)
    [first] = history.builds
    assert (first.number, first.at, first.before, first.changes) == (1, MONDAY, None, ())


def test_a_build_without_changes_leaves_the_last_ones_to_be_seen() -> None:
    first = update_history(BuildHistory(), names(ORDERS), {}, MONDAY)
    second = update_history(first, names(ORDERS, SALES), {}, TUESDAY)
    again = update_history(second, names(ORDERS, SALES), {}, FRIDAY)
    assert again == second
    assert (again.builds[0].at, again.builds[0].before) == (TUESDAY, MONDAY)


def test_a_type_that_became_known_is_compared_with_later() -> None:
    history = update_history(BuildHistory(), with_columns(("a", "")), {}, MONDAY)
    history = update_history(history, with_columns(("a", "int")), {}, TUESDAY)
    assert len(history.builds) == 1
    history = update_history(history, with_columns(("a", "bigint")), {}, FRIDAY)
    assert history.builds[0].counts == {ChangeKind.OTHER_TYPE: 1}


def test_the_last_builds_are_remembered() -> None:
    history = BuildHistory()
    for at in range(BUILDS + 5):
        history = update_history(history, names(tasks=(f"task_{at}",)), {}, MONDAY)
    assert [build.number for build in history.builds] == list(range(BUILDS + 5, 5, -1))


def test_changes_are_listed_by_kind() -> None:
    found = changes(names(ORDERS, tasks=("load",)), names(SALES))
    assert select_changes(found, ChangeKind.GONE_TASK) == [
        Change(ChangeKind.GONE_TASK, name="load")
    ]


def test_json_holds_every_part_of_a_build() -> None:
    before = names(PublishedDataset(ORDERS, "source", (Column("a", "int"),)), tasks=("x",))
    now = names(
        PublishedDataset(SALES, "promoted", (Column("a", "date"),)),
        MART,
        tasks=("y",),
        edges=((SALES, MART), (SALES, "r")),
    )
    first = update_history(BuildHistory(), before, {}, MONDAY)
    build = update_history(first, now, {ORDERS: SALES}, TUESDAY).builds[0]
    assert len(build.changes) == 8
    assert build_from_json(orjson.loads(orjson.dumps(build_json(build)))) == build
    assert build_json(build)["counts"]["renamed dataset"] == 1
