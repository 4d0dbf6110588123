"""Segments: what sessions did, counted. Spark carries them in place of the events of a log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from dbt_graft.collectors.schema import Flat, Microseconds
from dbt_graft.collectors.sqlserver.event import LogDamage
from dbt_graft.collectors.sqlserver.runs.captured import Level
from dbt_graft.collectors.statements.periods.partition_numbers import TextPartitions, add_partitions
from dbt_graft.collectors.statements.periods.shape import TextDate, add_dates
from dbt_graft.lineage.frozen import frozen


class SegmentKind(StrEnum):
    """The subject of a segment.

    STATEMENT: statements by their text. EXECUTED: statements by a handle that was prepared before
    this part of the log; UNRESOLVED_HANDLE: by one that no log shows being prepared.
    PREPARED, UNPREPARED, RESET, ENDED, COMMITTED, ROLLED_BACK: one event that decides on statements
    in other parts of the log. RUNNING: the last run of a session, as an earlier collect left it.
    DAMAGE, EVENTS, NOISE and OTHER_CLIENT are about the log: what could not be read, the number of
    its events, of the requests that were left out by rule, and of the events of clients of a name
    that are no task.
    """

    STATEMENT = "statement"
    EXECUTED = "executed"
    UNRESOLVED_HANDLE = "unresolved handle"
    PREPARED = "prepared"
    UNPREPARED = "unprepared"
    RESET = "reset"
    ENDED = "ended"
    COMMITTED = "committed"
    ROLLED_BACK = "rolled back"
    RUNNING = "running"
    DAMAGE = "damage"
    EVENTS = "events"
    NOISE = "noise"
    OTHER_CLIENT = "other client"


class SegmentKey(NamedTuple):
    """The properties that equal statements share. A tuple, because one is made of each event.

    Attributes:
        text: Without literals; None where only the handle is known.
        level: How near the event was to the statement.
        ok: Whether it ended well; None where it only began.
        request: A digest of all that the same request showed; empty where the request began or
            ended outside of this part of the log.
        procedure: The module inside of which it ran.
        undone: A rollback took it back; None where its transaction was still open.
        temporaries: The temporary tables that it was run on, as `temporaries.encode` writes them.
        holding_data: The variables that it names and that were filled from tables or by a caller,
            with commas; of a statement that is recorded by itself.
        run_window: The connection and the time, in steps of the gap that ends a run: statements of
            two runs are never counted as one.
    """

    kind: SegmentKind
    task: str
    run: str
    session: str
    database: str
    text: str | None = None
    handle: int | None = None
    level: Level | None = None
    ok: bool | None = None
    request: str = ""
    procedure: str = ""
    undone: bool | None = None
    temporaries: str = ""
    holding_data: str = ""
    run_window: int = 0


@dataclass(slots=True)
class SegmentCounts:
    """Counts of equal statements, their rows, and when they ran.

    Attributes:
        first_started: The same, or a millisecond later where the log cuts times to milliseconds.
        first_ended, last_ended: When the first and the last were recorded.
        first_sequence, last_sequence: Their numbers in the session's `event_sequence`.
        dates: The dates in their conditions; those of columns that are none go with the assembly.
        partitions: The numbers of the partitions that they switch or truncate.
    """

    times: int
    rows: int | None = None
    started: Microseconds = 0
    first_started: Microseconds = 0
    first_ended: Microseconds = 0
    last_ended: Microseconds = 0
    first_sequence: int = 0
    last_sequence: int = 0
    dates: tuple[TextDate, ...] = ()
    partitions: tuple[TextPartitions, ...] = ()

    def add(self, counts: SegmentCounts) -> None:
        """Count more of the same."""
        self.times += counts.times
        if counts.rows is not None:
            self.rows = counts.rows + (self.rows or 0)
        self.started = min(self.started, counts.started)
        self.first_started = min(self.first_started, counts.first_started)
        self.first_ended = min(self.first_ended, counts.first_ended)
        self.last_ended = max(self.last_ended, counts.last_ended)
        self.first_sequence = min(self.first_sequence, counts.first_sequence)
        self.last_sequence = max(self.last_sequence, counts.last_sequence)
        if counts.dates:
            self.dates = add_dates(self.dates, counts.dates)
        if counts.partitions:
            self.partitions = add_partitions(self.partitions, counts.partitions)


_NO_DAMAGE = LogDamage("", "")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@frozen
class Segment:
    """Equal statements of one session, one event that decides on others, or a note on the log."""

    origin: str
    key: Flat[SegmentKey]
    counts: Flat[SegmentCounts]
    damage: Flat[LogDamage] = _NO_DAMAGE


def log_segment(
    origin: str,
    kind: SegmentKind,
    times: int = 1,
    damage: LogDamage = _NO_DAMAGE,
    name: str | None = None,
) -> Segment:
    """A note on a log: what of it could not be read, or how many events it holds.

    Args:
        name: Of the client that the events are of.
    """
    return Segment(origin, SegmentKey(kind, "", "", "", "", name), SegmentCounts(times), damage)


def time(microseconds: int) -> datetime:
    """A time of a segment."""
    return _EPOCH + timedelta(microseconds=microseconds)
