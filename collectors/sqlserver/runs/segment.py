"""Segments: what the fold of a log makes of its events, and how Spark carries them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import pyarrow as pa

from dbt_graft.collectors.sqlserver.event import LogDamage

# What Spark carries: segments, what could not be read (`damage`), and how much was seen.
SEGMENTS = (
    "origin string, act string, task string, run string, session string, database string, "
    "text string, handle bigint, level int, ok boolean, request string, procedure string, "
    "undone boolean, temporaries string, stretch bigint, times bigint, rows bigint, "
    "started timestamp, first_started timestamp, first_ended timestamp, last_ended timestamp, "
    "first_sequence bigint, last_sequence bigint, position string, reason string, excerpt string"
)

_ARROW: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "bigint": pa.int64(),
    "int": pa.int32(),
    "boolean": pa.bool_(),
    "timestamp": pa.timestamp("us", "UTC"),
}


def arrow_schema(ddl: str) -> pa.Schema:
    """The Arrow form of a flat schema that is written as Spark's DDL."""
    columns = (column.split() for column in ddl.split(", "))
    return pa.schema([pa.field(name, _ARROW[kind]) for name, kind in columns])


SCHEMA = arrow_schema(SEGMENTS)


class SegmentKind(StrEnum):
    """What a segment tells.

    SAID: statements. EXECUTED: statements known by a handle only; LOST: by one that nobody knows.
    PREPARED, UNPREPARED, RESET, ENDED, COMMITTED, ROLLED_BACK: what changes how others are read.
    RUNNING: the run of a session that goes on, as an earlier collect left it.
    DAMAGE, SEEN and NOISE are about the log: what could not be read, the number of events, and of
    those left out by rule.
    """

    SAID = "said"
    EXECUTED = "executed"
    LOST = "lost"
    PREPARED = "prepared"
    UNPREPARED = "unprepared"
    RESET = "reset"
    ENDED = "ended"
    COMMITTED = "committed"
    ROLLED_BACK = "rolled back"
    RUNNING = "running"
    DAMAGE = "damage"
    SEEN = "seen"
    NOISE = "noise"


class SegmentKey(NamedTuple):
    """What equal statements have in common.

    Attributes:
        text: Without literals; None where only the handle is known.
        level: `captured.Level`: how near the event was to the statement.
        ok: Whether it ended well; None where it only began.
        request: What else was seen of the same requests, as a digest; empty where a request began
            or ended outside of what was looked at.
        procedure: The module inside of which it ran.
        undone: A rollback took it back; None where its transaction was still open.
        temporaries: Which temporary tables it was run on, as `temporaries.written` tells them.
        stretch: The connection and the time, in steps of the gap that ends a run: what belongs to
            two runs is never counted as one.
    """

    act: SegmentKind
    task: str
    run: str
    session: str
    database: str
    text: str | None = None
    handle: int | None = None
    level: int | None = None
    ok: bool | None = None
    request: str = ""
    procedure: str = ""
    undone: bool | None = None
    temporaries: str = ""
    stretch: int = 0


@dataclass(slots=True)
class SegmentCounts:
    """How often, how many rows, and when; times in microseconds since 1970 in UTC.

    Attributes:
        started: When the first of them began.
        first_started: The same, or a millisecond behind it where only the end is known so well:
            times in an export are cut.
        first_ended, last_ended: When the first and the last were recorded.
        first_sequence, last_sequence: Their numbers in the session's `event_sequence`.
    """

    times: int
    rows: int | None
    started: int
    first_started: int
    first_ended: int
    last_ended: int
    first_sequence: int
    last_sequence: int

    def add(self, more: SegmentCounts) -> None:
        """Count more of the same."""
        self.times += more.times
        if more.rows is not None:
            self.rows = more.rows + (self.rows or 0)
        self.started = min(self.started, more.started)
        self.first_started = min(self.first_started, more.first_started)
        self.first_ended = min(self.first_ended, more.first_ended)
        self.last_ended = max(self.last_ended, more.last_ended)
        self.first_sequence = min(self.first_sequence, more.first_sequence)
        self.last_sequence = max(self.last_sequence, more.last_sequence)


class Segment(NamedTuple):
    """Equal statements of one session, or one event that changes how others are read."""

    same: SegmentKey
    sums: SegmentCounts


def row(origin: str, segment: Segment) -> tuple[Any, ...]:
    """A segment as a row of `SEGMENTS`."""
    same, sums = segment
    return (
        *(origin, *same, sums.times, sums.rows, sums.started, sums.first_started),
        *(sums.first_ended, sums.last_ended, sums.first_sequence, sums.last_sequence),
        *(None, None, None),
    )


def counted(origin: str, act: SegmentKind, times: int) -> tuple[Any, ...]:
    """How many events were seen, or left out, as a row of `SEGMENTS`."""
    return row(
        origin,
        Segment(SegmentKey(act, "", "", "", ""), SegmentCounts(times, None, 0, 0, 0, 0, 0, 0)),
    )


def damaged(origin: str, damage: LogDamage) -> tuple[Any, ...]:
    """What could not be read, as a row of `SEGMENTS`."""
    empty = counted(origin, SegmentKind.DAMAGE, 1)
    return (*empty[:-3], damage.position, damage.reason, damage.excerpt)


def batch(rows: Iterable[Sequence[Any]]) -> pa.RecordBatch:
    """Rows of `SEGMENTS` as one Arrow batch."""
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)
