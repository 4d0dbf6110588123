"""Segments of all parts of all logs, session by session -> the statements of each run.

What a part of a log could not decide is decided here: which run a statement belongs to, which text
a handle means that was prepared in another part, which open transaction was taken back. A session
goes on from one collect to the next, so what is open at the end is passed on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from dbt_graft.collectors.schema import Flat, record
from dbt_graft.collectors.sqlserver.runs import temporaries
from dbt_graft.collectors.sqlserver.runs.segment import SegmentCounts, SegmentKey, SegmentKind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Status

# Segments of one transaction that wait for its end; the first of a longer one count as committed.
_MOST_OPEN = 20_000
# A task that connects anew so soon goes on with the same run.
_RECONNECTS = timedelta(seconds=10)
# The next connection gets a session's number when one ends.
_CONNECTION = ("session", "task", "run")
_STATUS = {True: Status.OK, False: Status.FAILED, None: Status.UNKNOWN}

Row = dict[str, Any]


@frozen
class RunSegment:
    """A segment of a run.

    Its kind is STATEMENT or UNRESOLVED_HANDLE; of sessions that go on also PREPARED and RUNNING.
    """

    origin: str
    key: Flat[SegmentKey]
    counts: Flat[SegmentCounts]
    run_id: str
    status: Status = Status.UNKNOWN


def run_segments(rows: Iterable[Row], server: str, idle_seconds: int) -> Iterator[RunSegment]:
    """The segments of each run.

    A run is the one in the application's name (`python_task::load::2026-11-20`), else what
    one session of a task does until its connection ends or it is idle for a while. The id of such
    a run comes from the task, the session and the time of its first event, so that reading a log
    again gives it again.

    Args:
        rows: Of `Segment`, and of the sessions that earlier collects left open, in the order of
            sessions and their time.
    """
    session: _SessionRuns | None = None
    for row in rows:
        key = tuple(row[name] for name in _CONNECTION)
        if session is None or session.key != key:
            yield from map(_run_segment, session.end() if session else ())
            session = _SessionRuns(key, server, timedelta(seconds=idle_seconds))
        yield from map(_run_segment, session.step(row))
    yield from map(_run_segment, session.end() if session else ())


def _run_segment(row: Row) -> RunSegment:
    return record(RunSegment, row)


@dataclass(slots=True)
class _SessionRuns:
    """A session, and the run that it works for.

    Attributes:
        key: Its number, the task and the name of its run.
        idle: A longer pause ends a run.
        last: The last statement of its run so far.
        ended: Its connection ended after that.
        handles: The segment of each prepared statement.
        open: The statements of a transaction whose end is not known yet.
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
        """Go on by one segment; gives the statements that are decided by now."""
        kind = row["kind"]
        if kind == SegmentKind.RUNNING:
            self.run_id, self.last = row["run_id"], row
            self.temporaries = temporaries.decode(row["temporaries"] or "")
        elif kind == SegmentKind.PREPARED:
            self.handles[row["handle"]] = row
        elif kind == SegmentKind.UNPREPARED:
            self.handles.pop(row["handle"], None)
        elif kind in (SegmentKind.RESET, SegmentKind.ENDED):
            self.ended |= kind == SegmentKind.ENDED
            self.handles.clear()
            self.temporaries.clear()
        elif kind in (SegmentKind.COMMITTED, SegmentKind.ROLLED_BACK):
            yield from self._settle(undone=kind == SegmentKind.ROLLED_BACK)
        else:
            yield from self._statement(row)

    def end(self) -> Iterator[Row]:
        """The last statements, and what the next collect needs to know of the session."""
        yield from self._settle(undone=False)
        if self.last is not None:
            left = temporaries.encode(self.temporaries.items())
            empty = {"text": None, "handle": None, "temporaries": left}
            yield {**self.last, **empty, "kind": SegmentKind.RUNNING.value}
        yield from self.handles.values()

    def _statement(self, row: Row) -> Iterator[Row]:
        row["run_id"] = self._run(row)
        row["status"] = _STATUS[row["ok"]].value
        if row["kind"] == SegmentKind.EXECUTED:
            prepared = self.handles.get(row["handle"])
            if prepared and not prepared["text"]:
                return  # noise
            kind = SegmentKind.STATEMENT if prepared else SegmentKind.UNRESOLVED_HANDLE
            row["kind"], row["text"] = kind.value, prepared["text"] if prepared else None
            row["temporaries"] = temporaries.encode(
                (reference.name, temporaries.UNKNOWN)
                for reference in temporaries.temp_table_references(row["text"] or "")
            )
        if row["temporaries"]:
            self._resolve_temporaries(row)
        if row["undone"] is not None:
            yield row
            return
        self.open.append(row)
        if len(self.open) > _MOST_OPEN:
            yield from self._settle(undone=False)

    def _resolve_temporaries(self, row: Row) -> None:
        """Take temporary tables of earlier parts of the log for the last ones of their names."""
        named = temporaries.decode(row["temporaries"])
        known_suffixes = {
            name: suffix for name, suffix in named.items() if suffix != temporaries.UNKNOWN
        }
        self.temporaries |= known_suffixes
        suffixes = ((name, self.temporaries.get(name, "0")) for name in named)
        row["temporaries"] = temporaries.encode(suffixes)

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
            identity = "|".join((self.server, task, session, began))
            self.run_id = hashlib.sha256(identity.encode()).hexdigest()[:16]
        if idle or row["last_ended"] > self.last["last_ended"]:  # type: ignore[index]
            self.last = row
        return self.run_id
