"""The time up to which logs are known."""

from __future__ import annotations

from datetime import UTC, datetime

from dbt_graft.analysis.history.presence import newest_of
from tests.cases import for_each

OLD, NEW = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 11, 2, tzinfo=UTC)
# No clock of a machine on which this runs.
WRONG, WRONGER = datetime(9998, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@for_each(
    "times, expected",
    [
        ([], None),
        ([None], None),
        ([NEW, None, OLD], NEW),
        ([OLD, WRONG], OLD),
        ([WRONG, NEW, WRONGER], NEW),
        ([WRONG, WRONGER], WRONGER),
    ],
)
def test_a_time_to_come_counts_where_there_is_no_other(
    times: list[datetime | None], expected: datetime | None
) -> None:
    assert newest_of(times) == expected
