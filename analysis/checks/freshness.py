"""Sources by the age of what is collected of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.history.presence import CLOCKS_DIFFER
from dbt_graft.analysis.render.json import iso
from dbt_graft.analysis.render.phrases import ago, count, time_text
from dbt_graft.analysis.rule import SOURCE_LATE, SOURCE_UNREACHABLE
from dbt_graft.lineage.frozen import frozen

# Declared lineage has no times, and dbt's folders may have no results yet.
_MAY_LACK_EVENTS = frozenset({"declared", "dbt"})


@frozen
class SourceFreshness:
    """A source, and what of it is in the store.

    Attributes:
        name: As `graft.yml` writes it.
        kind: Its key below `collect`; `dbt` for dbt's target folder.
        logs: The number of its logs in the store.
        read_at: When something of it was collected last.
        last_event: The newest time of a statement, run or result in it.
        waiting: Its logs that are new or have changed; None where only reading would show it.
        rejects: The parts of its logs that could not be used.
        problem: Why it cannot be reached now; empty if it can.
    """

    name: str
    kind: str
    logs: int = 0
    read_at: datetime | None = None
    last_event: datetime | None = None
    waiting: int | None = None
    rejects: int = 0
    problem: str = ""

    def age(self, now: datetime) -> timedelta | None:
        """The time that it is behind; None if not known. Clocks that differ are no lead."""
        return max(now - self.last_event, timedelta(0)) if self.last_event else None

    def is_ahead(self, now: datetime) -> bool:
        """Whether its newest event is still to come, by more than clocks differ."""
        return self.last_event is not None and self.last_event - now > CLOCKS_DIFFER

    def is_late(self, now: datetime, limit: timedelta) -> bool:
        """Whether its newest event is older than a limit or has no age, or there is none at all."""
        age = self.age(now)
        if self.is_ahead(now):
            return True
        return self.kind not in _MAY_LACK_EVENTS if age is None else age > limit


def freshness_answer(
    sources: Sequence[SourceFreshness],
    collected_at: datetime | None,
    now: datetime,
    limit: timedelta | None = None,
) -> Answer:
    """Up to when each source is collected, with a finding for each that is late or out of reach.

    Args:
        limit: The age from which on a source is late; None for no limit.
    """
    late = {source.name for source in sources if limit is not None and source.is_late(now, limit)}
    findings = [
        SOURCE_LATE.finding(
            source.name,
            _lateness(source, now),
            "run `graft collect`, or look why it logs nothing",
        )
        for source in sources
        if source.name in late
    ]
    findings += [
        SOURCE_UNREACHABLE.finding(source.name, source.problem, "check its path, and who reads it")
        for source in sources
        if source.problem
    ]
    when = f"{iso(collected_at)}, {ago(collected_at)}" if collected_at else "never"
    return Answer(
        "sources",
        f"last collect {when}" if sources else "none: add one below `collect` in graft.yml",
        tables=[
            Table(
                "sources",
                ("source", "newest event", "behind", "logs", "waiting", "rejects"),
                [
                    (
                        source.name,
                        iso(source.last_event) or "none",
                        _span(source.age(now)) + (" (late)" if source.name in late else ""),
                        source.logs,
                        "not asked" if source.waiting is None else source.waiting,
                        source.rejects,
                    )
                    for source in sources
                ],
            )
        ],
        findings=findings,
        data={
            "collected_at": iso(collected_at),
            "max_age_seconds": None if limit is None else round(limit.total_seconds()),
            "sources": [_source(source, now, late) for source in sources],
        },
    )


def _lateness(source: SourceFreshness, now: datetime) -> str:
    if source.is_ahead(now):
        return f"its newest event is of {time_text(source.last_event)} UTC, which is to come"
    if source.last_event:
        return f"its newest event is {_span(source.age(now))} old"
    return "it has no event"


def _source(source: SourceFreshness, now: datetime, late: set[str]) -> dict[str, Any]:
    age = source.age(now)
    return {
        "source": source.name,
        "kind": source.kind,
        "logs": source.logs,
        "read_at": iso(source.read_at),
        "last_event": iso(source.last_event),
        "behind_seconds": round(age.total_seconds()) if age is not None else None,
        "waiting": source.waiting,
        "rejects": source.rejects,
        "problem": source.problem or None,
        "late": source.name in late,
    }


def _span(age: timedelta | None) -> str:
    """`3 days`, `5 hours`, `12 minutes`"""
    if age is None:
        return "?"
    seconds = int(age.total_seconds())
    for unit, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 2 * unit:
            return count(seconds // unit, noun)
    return count(seconds // 60, "minute")
