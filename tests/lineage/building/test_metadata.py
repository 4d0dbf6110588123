"""Metadata of tasks: what people write comes before what events have."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dbt_graft.lineage.building.metadata import with_metadata
from dbt_graft.lineage.records import TaskInfo, TaskMetadata

DAY = datetime(2026, 11, 22, tzinfo=UTC)


def test_fields_that_nobody_wrote_come_from_the_newest_event() -> None:
    old = TaskMetadata("load", DAY, "Old.", "ann", "@daily", ("a",))
    new = TaskMetadata("load", DAY + timedelta(1), "New.", "bob", "@hourly", ("b",))
    infos = {"load": TaskInfo(owner="data-platform", runbook="https://wiki"), "use": TaskInfo()}
    expected = TaskInfo(
        "New.", "data-platform", runbook="https://wiki", schedule="@hourly", tags=("b",)
    )
    for order in ([old, new], [new, old]):
        assert with_metadata(infos, order) == {"load": expected, "use": TaskInfo()}


def test_a_facet_that_became_empty_fills_nothing_and_others_stay() -> None:
    records = [
        TaskMetadata("load", DAY, "Old.", "ann", tags=("a",)),
        TaskMetadata("load", DAY + timedelta(2), facet="ownership"),
        TaskMetadata("load", DAY + timedelta(1), owner="bob", facet="ownership"),
        TaskMetadata("load", DAY + timedelta(1), tags=("b",), facet="tags"),
    ]
    expected = TaskInfo("Old.", tags=("b",))
    assert with_metadata({}, records) == with_metadata({}, records[::-1]) == {"load": expected}


def test_without_events_all_stays() -> None:
    infos = {"load": TaskInfo(owner="ann")}
    assert with_metadata(infos, ()) == infos
