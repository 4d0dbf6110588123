"""Segments of all parts in a row, session by session -> what each run said.

What a part of a log could not decide is decided here: which run a statement belongs to, which text
a handle stands for that was prepared elsewhere, which open transaction was taken back. A session
goes on from one collect to the next, so what is open at the end is handed on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dbt_graft.collectors.sqlserver.runs import temporaries
from dbt_graft.collectors.sqlserver.runs.segment import SegmentKind, arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# What was said, by the acts SAID and LOST; and of sessions that go on, by PREPARED and RUNNING.
SAID = (
    "origin string, act string, task string, run string, run_id string, session string, "
    "database string, text string, handle bigint, level int, status string, request string, "
    "procedure string, undone boolean, temporaries string, times bigint, rows bigint, "
    "started timestamp, first_started timestamp, first_ended timestamp, last_ended timestamp, "
    "first_sequence bigint, last_sequence bigint"
)
# Segments of one transaction that wait for its end; the first of a longer one count as kept.
_MOST_OPEN = 20_000
_SCHEMA = arrow_schema(SAID)
# A task that connects anew so soon goes on with the same run.
_RECONNECTS = timedelta(seconds=10)
# A session's number is given to the next connection when one ends.
_CONNECTION = ("session", "task", "run")
_STATUS = {True: "ok", False: "failed", None: "unknown"}

Batches = Iterator[pa.RecordBatch]
Row = dict[str, Any]


def sessions(segments: DataFrame, known: DataFrame, server: str, idle_seconds: int) -> DataFrame:
    """What each run said: rows of `SAID`.

    A run is what the application's name says (`python_task::load::2026-11-20`), else what one
    session of a task does until its connection ends or it is idle for a while. The id of such a
    run comes from the task, the session and the time of its first event, so that reading a log
    again gives it again.

    Args:
        segments: Rows of `SEGMENTS`.
        known: Sessions that were open at the end of earlier collects, as rows of the store's
            `sessions`.
    """
    return (
        segments.unionByName(known, allowMissingColumns=True)
        .repartition(*_CONNECTION)
        .sortWithinPartitions(*_CONNECTION, "first_ended", "first_sequence")
        .mapInArrow(follow(server, idle_seconds), SAID)
    )


def follow(server: str, idle_seconds: int) -> Callable[[Batches], Batches]:
    """Segments in the order of sessions and their time -> rows of `SAID`."""

    def run(batches: Batches) -> Batches:
        session: _Session | None = None
        for batch in batches:
            rows: list[Row] = []
            for row in batch.to_pylist():
                key = tuple(row[name] for name in _CONNECTION)
                if session is None or session.key != key:
                    rows += session.end() if session else ()
                    session = _Session(key, server, timedelta(seconds=idle_seconds))
                rows += session.step(row)
            yield pa.RecordBatch.from_pylist(rows, schema=_SCHEMA)
        yield pa.RecordBatch.from_pylist(list(session.end()) if session else [], schema=_SCHEMA)

    return run


@dataclass(slots=True)
class _Session:
    """A session as it goes on.

    Attributes:
        key: Its number, the task and the name of the run that it works for.
        idle: A longer pause ends a run.
        last: The last statement of its run so far.
        ended: Its connection ended behind that.
        handles: The row that told each prepared statement.
        open: What was said in a transaction of which the end is not known yet.
        temporaries: What tells its temporary tables apart, by their names.
    """

    key: tuple[str, ...]
    server: str
    idle: timedelta
    run_id: str = ""
    last: Row | None = None
    ended: bool = False
    handles: dict[int, Row] = field(default_factory=dict)
    open: list[Row] = field(default_factory=list)
    temporaries: dict[str, str] = field(default_factory=dict)

    def step(self, row: Row) -> Iterator[Row]:
        """Go on by one row; gives the statements that are decided by now."""
        act = row["act"]
        if act == SegmentKind.RUNNING:
            self.run_id, self.last = row["run_id"], row
            self.temporaries = temporaries.decode(row["temporaries"] or "")
        elif act == SegmentKind.PREPARED:
            self.handles[row["handle"]] = row
        elif act == SegmentKind.UNPREPARED:
            self.handles.pop(row["handle"], None)
        elif act in (SegmentKind.RESET, SegmentKind.ENDED):
            self.ended |= act == SegmentKind.ENDED
            self.handles.clear()
            self.temporaries.clear()
        elif act in (SegmentKind.COMMITTED, SegmentKind.ROLLED_BACK):
            yield from self._settle(undone=act == SegmentKind.ROLLED_BACK)
        else:
            yield from self._said(row)

    def end(self) -> Iterator[Row]:
        """The last statements, and what the next collect needs to know."""
        yield from self._settle(undone=False)
        if self.last is not None:
            left = temporaries.encode(self.temporaries.items())
            empty = {"text": None, "handle": None, "temporaries": left}
            yield {**self.last, **empty, "act": SegmentKind.RUNNING.value}
        yield from self.handles.values()

    def _said(self, row: Row) -> Iterator[Row]:
        row["run_id"] = self._run(row)
        row["status"] = _STATUS[row["ok"]]
        if row["act"] == SegmentKind.EXECUTED:
            known = self.handles.get(row["handle"])
            if known and not known["text"]:
                return  # noise
            row["act"], row["text"] = (
                (SegmentKind.SAID, known["text"]) if known else (SegmentKind.LOST, None)
            )
            named = temporaries.temp_table_references(row["text"] or "")
            row["temporaries"] = temporaries.encode(
                (use.name, temporaries.UNKNOWN) for use in named
            )
        if row["temporaries"]:
            self._tell_apart(row)
        if row["undone"] is not None:
            yield row
            return
        self.open.append(row)
        if len(self.open) > _MOST_OPEN:
            yield from self._settle(undone=False)

    def _tell_apart(self, row: Row) -> None:
        """Temporary tables that were made in an earlier part are the last ones of their names."""
        named = temporaries.decode(row["temporaries"])
        known = {name: sign for name, sign in named.items() if sign != temporaries.UNKNOWN}
        self.temporaries |= known
        signs = ((name, self.temporaries.get(name, "0")) for name in named)
        row["temporaries"] = temporaries.encode(signs)

    def _settle(self, *, undone: bool) -> Iterator[Row]:
        yield from ({**row, "undone": undone} for row in self.open)
        self.open.clear()

    def _run(self, row: Row) -> str:
        """The id of the run that a statement belongs to: of the last one's, or a new one."""
        session, task, named = self.key
        pause = min(self.idle, _RECONNECTS) if self.ended else self.idle
        idle = self.last is None or row["started"] - self.last["last_ended"] > pause
        self.ended = False
        if named:
            self.run_id = named
        elif idle:
            began = row["first_ended"].isoformat()
            told = "|".join((self.server, task, session, began))
            self.run_id = hashlib.sha256(told.encode()).hexdigest()[:16]
        if idle or row["last_ended"] > self.last["last_ended"]:  # type: ignore[index]
            self.last = row
        return self.run_id
