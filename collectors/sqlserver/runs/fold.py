"""Captured events -> segments: what a session said how often, however often it said it.

What must be followed event by event is followed here, session by session: which events show the
same request, which text a handle stands for, which work a transaction took back. A part of a log
ends anywhere, so what cannot be decided within it (the handle was prepared in another file) goes
out as it is, to be decided by `sessions`, which sees the parts in a row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from dbt_graft.collectors.sqlserver.runs.captured import LEVELS, Level, TaskEvent
from dbt_graft.collectors.sqlserver.runs.normalized_text import (
    NormalizedText,
    TextNormalizer,
    resets_connection,
)
from dbt_graft.collectors.sqlserver.runs.segment import (
    Segment,
    SegmentCounts,
    SegmentKey,
    SegmentKind,
)
from dbt_graft.collectors.sqlserver.runs.temporaries import TempTable, TempTables, encode
from dbt_graft.collectors.sqlserver.runs.transactions import Control, Transactions
from dbt_graft.collectors.statements.text.handles import Act as HandleAct
from dbt_graft.collectors.statements.text.handles import Handle

# Times in an export are cut to milliseconds: a statement began before the next.
_CUT = 1000
# More than there are stretches of time in a log.
_CONNECTION = 1_000_000_000


class _Shown(NamedTuple):
    """A statement of a request, as one event shows it; `epoch` tells with what it is taken back."""

    act: SegmentKind
    event: TaskEvent
    database: str
    said: NormalizedText | None
    handle: int | None
    level: Level
    ok: bool | None = None
    epoch: int = 0


_Key = tuple[str, str, str]


@dataclass(slots=True)
class _Session:
    """What is known of a session so far.

    Attributes:
        key: Its number, task and run: the number is given to the next connection when one ends.
        handles: The statements prepared in what was looked at.
        unsaid: Of these, those that no segment tells yet, with the event that told them.
        forgets: It was reset, so no handle from before is known.
        request: What was shown since the last request ended.
        controlled: Its own statements told what it did to the transaction.
        failed: An error was reported since the last statement ended.
        database: The last one that was current.
        tables: Its temporary tables.
        connections: How many it was so far, one behind the other.
        speaks: Something was said since the last of them began, or may have been.
        told: Segments of the open epoch went out, so its end must be told too.
    """

    key: _Key
    handles: dict[int, NormalizedText] = field(default_factory=dict)
    unsaid: dict[int, TaskEvent] = field(default_factory=dict)
    forgets: bool = False
    request: list[_Shown] = field(default_factory=list)
    controlled: bool = False
    activity: str = ""
    failed: bool = False
    database: str = ""
    tables: TempTables = field(default_factory=TempTables)
    transactions: Transactions = field(default_factory=Transactions)
    connections: int = 0
    speaks: bool = True
    told: bool = True


class Fold:
    """Folds one part of a log: takes events in by windows, gives segments out in between."""

    def __init__(self, noise: Callable[[str], str | None], idle_seconds: int) -> None:
        """`noise` gives the rule by which a text is left out; a gap of `idle_seconds` ends a run.

        Attributes:
            noise: How many requests were left out so far.
            silent: How many events that should show a statement show none.
        """
        self.noise = self.silent = 0
        self._reader = TextNormalizer(noise)
        self._period = idle_seconds * 1_000_000
        self._sessions: dict[_Key, _Session] = {}
        self._marks: list[Segment] = []
        # By the epoch, the temporary tables, and what it tells.
        self._said: dict[tuple[int, tuple[TempTable, ...], SegmentKey], SegmentCounts] = {}

    def add(self, events: Iterable[TaskEvent]) -> None:
        """Take in a window of events, put in order here; windows come in order."""
        for event in sorted(events, key=lambda e: (e.at, e.sequence)):
            key = (event.session, event.task, event.run)
            session = self._sessions.get(key)
            if session is None:
                session = self._sessions[key] = _Session(key)
            self._event(session, event)

    def segments(self) -> Iterator[Segment]:
        """What was said since the last call; sessions stay as they are."""
        for session in self._sessions.values():
            self._close(session, whole=False)
            for number, event in session.unsaid.items():
                known = session.handles[number]
                self._mark(SegmentKind.PREPARED, event, "" if known.noise else known.text, number)
            session.unsaid.clear()
        yield from self._marks
        settled: dict[SegmentKey, SegmentCounts] = {}
        for (epoch, tables, same), sums in self._said.items():
            session = self._sessions[same.session, same.task, same.run]
            undone = session.transactions.undone.get(epoch)
            session.told |= undone is None
            told = same._replace(undone=undone, temporaries=_signed(session, tables))
            if told in settled:
                settled[told].add(sums)
            else:
                settled[told] = sums
        yield from (Segment(same, sums) for same, sums in settled.items())
        self._marks, self._said = [], {}
        for session in self._sessions.values():
            session.transactions.undone.clear()

    def _event(self, session: _Session, event: TaskEvent) -> None:
        if event.activity and session.activity != event.activity:
            if session.activity:
                self._close(session, whole=False)
            session.activity = event.activity
        level = LEVELS.get(event.name)
        if level is None:
            self._without_text(session, event)
        elif event.text is None:
            self.silent += 1
        elif event.name.startswith("rpc"):
            self._call(session, event, level, event.text)
        else:
            self._text(session, event, level, self._reader.batch(event.text))
        if level is Level.REQUEST:
            self._close(session, whole=True)
            session.failed = session.controlled = False
        if event.database:
            session.database = event.database

    def _without_text(self, session: _Session, event: TaskEvent) -> None:
        if event.note == "error":
            session.failed = True
        elif event.note == "begin":
            self._decided(session, event, session.transactions.begin())
        elif event.note:
            undone = session.transactions.end(undone=event.note == "rollback")
            self._decided(session, event, undone)
        elif event.name in ("login", "logout") and session.speaks:
            self._reset(session, event)
            self._mark(SegmentKind.ENDED, event)
            session.connections += 1
            session.speaks = False

    def _text(
        self, session: _Session, event: TaskEvent, level: Level, said: NormalizedText
    ) -> None:
        request = level is Level.REQUEST
        step = said.step
        # What its own statements did to the transaction, a request does not do again.
        follows = step is not None and (
            not session.controlled if request else step.bare and level < Level.STATEMENT_BEGUN
        )
        if step and follows and step.control in (Control.BEGIN, Control.UNDONE):
            self._decided(session, event, session.transactions.begin(step.name))
        if said.noise:
            self.noise += request
        elif said.text and not (step and step.bare):
            # The current database was recorded at its end, behind the USE in it.
            before = session.database if said.database else ""
            database = before or event.database or session.database
            self._show(session, _Shown(SegmentKind.SAID, event, database, said, None, level))
        if step and follows:
            undone = session.transactions.follow(step, ok=event.ok is not False)
            self._decided(session, event, undone)
            if not request:
                session.failed = False
                session.controlled |= level is Level.STATEMENT
        session.database = event.database or said.database or session.database

    def _call(self, session: _Session, event: TaskEvent, level: Level, text: str) -> None:
        if resets_connection(text):
            if level is Level.REQUEST:
                self._reset(session, event)
            return
        call = self._reader.call(text)
        if call.handle is not None and level is Level.REQUEST:
            self._handle(session, event, call.handle, call.said)
        if call.said is not None and call.runs:
            self._text(session, event, level, call.said)
        elif call.handle is not None and call.runs:
            number: int | None = call.handle.number
            prepared = session.handles.get(call.handle.number)
            act = SegmentKind.LOST if session.forgets else SegmentKind.EXECUTED
            if prepared is not None:
                act, number = SegmentKind.SAID, None
            if prepared is None or not prepared.noise:
                database = event.database or session.database
                self._show(session, _Shown(act, event, database, prepared, number, level))

    def _handle(
        self, session: _Session, event: TaskEvent, handle: Handle, said: NormalizedText | None
    ) -> None:
        number = handle.number
        if handle.act is HandleAct.PREPARE and said is not None:
            session.handles[number] = said
            session.unsaid[number] = event
        elif handle.act is HandleAct.UNPREPARE:
            told = session.unsaid.pop(number, None) is None
            known = session.handles.pop(number, None) is not None
            if told and (known or not session.forgets):
                self._mark(SegmentKind.UNPREPARED, event, None, number)

    def _show(self, session: _Session, shown: _Shown) -> None:
        session.speaks = True
        level, ok = shown.level, shown.event.ok
        if level in (Level.STATEMENT, Level.INSIDE):
            ok, session.failed = not session.failed, False
        elif level is Level.REQUEST and ok is None:
            ok = not session.failed
        session.request.append(
            shown._replace(
                ok=None if level > Level.INSIDE else ok, epoch=session.transactions.epoch
            )
        )

    def _close(self, session: _Session, *, whole: bool) -> None:
        """Count what a request showed, when all of it was seen or there is no more to see."""
        shown, session.request = session.request, []
        if whole:
            seen = {one.level for one in shown}
            # The inside of a procedure may be recorded as it begins only.
            inside = {Level.INSIDE_BEGUN} if Level.INSIDE not in seen else set[Level]()
            shown = [s for s in shown if s.level <= Level.INSIDE or s.level in inside]
        request = _digest(shown) if whole else ""
        named = set[str]()
        for act, event, database, said, handle, level, ok, epoch in shown:
            tables: tuple[TempTable, ...] = ()
            if said is not None and said.temporaries:
                # The request itself comes last, behind the statements in it.
                again = level is Level.REQUEST and not named.isdisjoint(
                    use.name for use in said.temporaries
                )
                tables = session.tables.used(said.text, said.temporaries, again=again)
                named.update(use.name for use in said.temporaries)
            text = said.text if said is not None else None
            same = SegmentKey(
                *(act, event.task, event.run, event.session, database, text, handle, int(level)),
                *(ok, request, event.procedure, None, "", self._stretch(session, event)),
            )
            at, sequence = event.at, event.sequence
            first_started = min(at, event.started + _CUT)
            sums = SegmentCounts(
                1, event.rows, event.started, first_started, at, at, sequence, sequence
            )
            known = self._said.get((epoch, tables, same))
            if known is None:
                self._said[epoch, tables, same] = sums
            else:
                known.add(sums)

    def _stretch(self, session: _Session, event: TaskEvent) -> int:
        return session.connections * _CONNECTION + event.at // self._period

    def _decided(self, session: _Session, event: TaskEvent, undone: bool | None) -> None:
        """Tell what became of the segments that went out before it was known."""
        if session.told and undone is not None:
            self._mark(SegmentKind.ROLLED_BACK if undone else SegmentKind.COMMITTED, event)
            session.told = False

    def _reset(self, session: _Session, event: TaskEvent) -> None:
        self._close(session, whole=True)
        self._decided(session, event, session.transactions.reset())
        if not session.forgets:
            self._mark(SegmentKind.RESET, event)
        session.handles.clear()
        session.unsaid.clear()
        session.tables.clear()
        session.forgets = True

    def _mark(
        self, act: SegmentKind, event: TaskEvent, text: str | None = None, handle: int | None = None
    ) -> None:
        at, sequence = event.at, event.sequence
        same = SegmentKey(
            *(act, event.task, event.run, event.session, event.database, text, handle),
        )
        sums = SegmentCounts(1, None, event.started, at, at, at, sequence, sequence)
        self._marks.append(Segment(same, sums))


def _signed(session: _Session, tables: tuple[TempTable, ...]) -> str:
    if not tables:
        return ""
    whose = ":".join(session.key)
    return encode(
        (table.name, table.signed(whose, open_=session.tables.is_open(table))) for table in tables
    )


def _digest(shown: list[_Shown]) -> str:
    if len(shown) == 1:
        return "alone"
    seen = sorted(
        {f"{one.level}:{one.said.text if one.said else one.handle}:{one.ok}" for one in shown}
    )
    return hashlib.blake2b("|".join(seen).encode(), digest_size=8).hexdigest()
