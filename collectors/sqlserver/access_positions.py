"""Numbers of partitions in a text -> positions of the datasets that it switches or truncates."""

from __future__ import annotations

from dbt_graft.collectors.sqlserver.access_periods import is_named
from dbt_graft.collectors.sqlserver.shown import StatementAccess
from dbt_graft.lineage.dates.period import DataPosition
from dbt_graft.lineage.dates.period_union import PARTITIONS
from dbt_graft.lineage.records import Direction, Evidence


def access_positions(access: StatementAccess) -> tuple[DataPosition, ...]:
    """The partitions that an access is about; empty where it is about the table.

    A position without numbers is about some partitions, and the text does not tell which.
    """
    segment, statement = access.shown
    if statement.procedure is not None or statement.evidence is not Evidence.OBSERVED:
        return ()  # the text is that of the call
    changes = access.direction is Direction.WRITE
    names = [access.table.dataset.name, access.table.alias.name if access.table.alias else ""]
    ranges = [
        (each.first, each.last)
        for each in segment.counts.partitions
        if each.operation == access.operation.value
        and each.changes is changes
        and any(is_named(name, each.table) for name in names)
    ]
    if any(first is None for first, _ in ranges):
        return ()
    return tuple(DataPosition(PARTITIONS, _text(first), _text(last)) for first, last in ranges)


def _text(number: int | None) -> str:
    return str(number) if number else ""
