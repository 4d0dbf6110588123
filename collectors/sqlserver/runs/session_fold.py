"""One session in a part of a log, followed event by event.

Five things are followed: where requests end, which text a handle means, which statements a
transaction took back, whether double quotes hold names or values, and what the variables of
procedures hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import TypeAlias

from dbt_graft.collectors.sqlserver.event import EXISTING_CONNECTION
from dbt_graft.collectors.sqlserver.runs.captured import CONNECTIONS, LEVELS, Level, TaskEvent
from dbt_graft.collectors.sqlserver.runs.normalized_text import (
    NormalizedText,
    TextNormalizer,
    resets_connection,
)
from dbt_graft.collectors.sqlserver.runs.parameters import bind_values, procedure_call
from dbt_graft.collectors.sqlserver.runs.preamble import (
    Preamble,
    RequestContext,
)
from dbt_graft.collectors.sqlserver.runs.requests import (
    RequestCounter,
    StatementEvent,
    event_counts,
)
from dbt_graft.collectors.sqlserver.runs.segment import Segment, SegmentKey, SegmentKind
from dbt_graft.collectors.sqlserver.runs.transactions import Control, Transactions
from dbt_graft.collectors.statements.text.handles import Handle, HandleAction
from dbt_graft.collectors.statements.text.variables import UNKNOWN

# More than there are run windows in a log.
_CONNECTION = 1_000_000_000

# A session's number, its task and the name of its run: when a connection ends, the next one gets
# its number.
SessionKey: TypeAlias = tuple[str, str, str]


@dataclass(slots=True)
class SessionFold:
    """A session, followed from the beginning of a part of a log.

    Attributes:
        run_window: In microseconds.
        parameters: Those of procedures, as in `RunRules`.
        silent: How many of its events should show a statement and show none.
        handles: The statements that it prepared in this part of the log.
        unreported: Of these, those that no segment reported yet, with the event of each.
        was_reset: No handle from before this part of the log is valid any more.
        request: Its statements since the last request ended, which `counter` counts.
        controlled: They showed what the request does to the transaction.
        activity: The id that TRACK_CAUSALITY gives the request.
        failed: An error was reported since the last statement ended.
        database: The current one, as far as events showed it.
        began_in: That in which the request began; empty where nothing shows it yet.
        setting: Its setting for double quotes; empty where nothing shows it for sure.
        connections: How many connections it was so far, one after the other.
        active: Something was sent since the last of them began, or may have been.
        context: The texts before the next statement of its request.
        epoch_reported: Segments of the open epoch went out, so its end is reported too.
    """

    key: SessionKey
    origin: str
    texts: TextNormalizer
    run_window: int
    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    noise: int = 0
    silent: int = 0
    handles: dict[int, NormalizedText] = field(default_factory=dict)
    unreported: dict[int, TaskEvent] = field(default_factory=dict)
    was_reset: bool = False
    request: list[StatementEvent] = field(default_factory=list)
    controlled: bool = False
    activity: str = ""
    failed: bool = False
    database: str = ""
    began_in: str = ""
    transactions: Transactions = field(default_factory=Transactions)
    setting: str = ""
    connections: int = 0
    active: bool = True
    epoch_reported: bool = True
    timezone: tzinfo = UTC
    context: RequestContext = field(default_factory=RequestContext)
    counter: RequestCounter = field(init=False)
    _events: list[Segment] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.counter = RequestCounter(":".join(self.key), self.origin, timezone=self.timezone)

    def add(self, event: TaskEvent) -> None:
        """Go on by one event."""
        if event.activity and self.activity != event.activity:
            if self.activity:
                self._close_request(complete=False)
            self.activity = event.activity
        level = LEVELS.get(event.name)
        if level is None:
            self._without_text(event)
        elif event.text is None:
            self.silent += 1
            self.setting = ""
        elif event.name.startswith("rpc"):
            self._follow_procedures(event, level, event.text)
            self._call(event, level, event.text)
        else:
            self._follow_procedures(event, level, event.text)
            statement = self.texts.batch(event.text, self._setting(level))
            self._statement(event, level, statement)
            if statement.setting is not None and not event.name.startswith("sp_"):
                # Until the end of a batch it is not sure which one is its last.
                self.setting = statement.setting if level is Level.REQUEST and event.ok else ""
        if level is Level.REQUEST:
            self._close_request(complete=True)
            self.failed = self.controlled = False
        if event.database and event.name != "logout":
            self.database = event.database
        if level is Level.REQUEST or event.name == "login":
            self.began_in = self.database

    def segments(self) -> Iterator[Segment]:
        """The segments of the events since the last call."""
        self._close_request(complete=False)
        for number, event in self.unreported.items():
            statement = self.handles[number]
            text = "" if statement.noise else statement.text
            self._report(SegmentKind.PREPARED, event, text, number)
        self.unreported.clear()
        yield from self._events
        self._events = []
        for segment in self.counter.segments(self.transactions.undone):
            self.epoch_reported |= segment.key.undone is None
            yield segment
        self.transactions.undone.clear()

    def _follow_procedures(self, event: TaskEvent, level: Level, text: str) -> None:
        """Note what a statement assigns; statements inside of a call get its arguments."""
        if level > Level.INSIDE:
            return
        if self.context or event.procedure:
            self._follow_call(event.procedure.casefold(), text)
        if level is not Level.REQUEST:
            self.context.assign(text)

    def _follow_call(self, caller: str, text: str) -> None:
        call = procedure_call(text) if self.context else None
        ended = self.context.go_on(caller, call.procedure if call else "", len(self.request))
        if call and ended is not None:
            assigned = self.context.assignments(caller)
            arguments = call.values(self.parameters.get(call.procedure, ()))
            for preamble in (shown.preamble for shown in self.request[ended:]):
                if preamble and preamble.scope == call.procedure:
                    preamble.enter(caller, assigned, arguments)

    def _without_text(self, event: TaskEvent) -> None:
        if event.note == "error":
            self.failed = True
        elif event.name in CONNECTIONS:
            if self.active and event.name != EXISTING_CONNECTION:
                self._reset(event)
                self._report(SegmentKind.ENDED, event)
                self.connections += 1
                self.active = False
            self.setting = event.note if event.session else ""
        elif event.note == "begin":
            self._report_decision(event, self.transactions.begin())
        elif event.note:
            self._report_decision(event, self.transactions.end(undone=event.note == "rollback"))

    def _statement(self, event: TaskEvent, level: Level, statement: NormalizedText) -> None:
        is_request = level is Level.REQUEST
        holding_data = ""
        if level in (Level.STATEMENT, Level.INSIDE):
            holding_data = self.context.variables_with_data(statement.text)
            self.context.fill_variables(statement.text)
        step = statement.step
        # A request does not repeat what its own statements did to the transaction.
        follows = step is not None and (
            not self.controlled if is_request else step.bare and level < Level.STATEMENT_BEGUN
        )
        if step and follows and step.control in (Control.BEGIN, Control.UNDONE):
            self._report_decision(event, self.transactions.begin(step.name))
        if statement.noise:
            self.noise += is_request
        elif statement.text and not (step and step.bare):
            database = event.database or self.database
            if statement.database and level < Level.STATEMENT_BEGUN:
                # The database of the event is that at its end, after a USE in the text.
                database = (self.began_in if is_request else self.database) or UNKNOWN
            self._show(SegmentKind.STATEMENT, event, database, statement, None, level, holding_data)
        if step and follows:
            undone = self.transactions.follow(step, ok=event.ok is not False)
            self._report_decision(event, undone)
            if not is_request:
                self.failed = False
                self.controlled |= level is Level.STATEMENT
        self.database = event.database or statement.database or self.database
        if not self.began_in:
            is_same = not statement.database or level >= Level.STATEMENT_BEGUN
            self.began_in = self.database if is_same else UNKNOWN

    def _call(self, event: TaskEvent, level: Level, text: str) -> None:
        if resets_connection(text):
            if level is Level.REQUEST:
                self._reset(event)
            return
        call = self.texts.call(text, self._setting(level))
        if call.handle is not None and level is Level.REQUEST:
            self._handle(event, call.handle, call.statement)
        if call.statement is not None and call.runs:
            self._statement(event, level, call.statement)
        elif call.handle is not None and call.runs:
            number: int | None = call.handle.number
            prepared = self.handles.get(call.handle.number)
            kind = SegmentKind.UNRESOLVED_HANDLE if self.was_reset else SegmentKind.EXECUTED
            if prepared is not None:
                kind, number = SegmentKind.STATEMENT, None
                if prepared.has_values and call.values_at:
                    values = bind_values(prepared.parameters, text, call.values_at)
                    prepared = prepared._replace(parameters=values)
            if prepared is None or not prepared.noise:
                database = event.database or self.database
                self._show(kind, event, database, prepared, number, level)

    def _handle(self, event: TaskEvent, handle: Handle, statement: NormalizedText | None) -> None:
        number = handle.number
        if handle.act is HandleAction.PREPARE and statement is not None:
            self.handles[number] = statement
            self.unreported[number] = event
        elif handle.act is HandleAction.UNPREPARE:
            reported = self.unreported.pop(number, None) is None
            was_known = self.handles.pop(number, None) is not None
            if reported and (was_known or not self.was_reset):
                self._report(SegmentKind.UNPREPARED, event, None, number)

    def _show(
        self,
        kind: SegmentKind,
        event: TaskEvent,
        database: str,
        statement: NormalizedText | None,
        handle: int | None,
        level: Level,
        holding_data: str = "",
    ) -> None:
        self.active = True
        ok = event.ok
        if level in (Level.STATEMENT, Level.INSIDE):
            ok, self.failed = not self.failed, False
        elif level is Level.REQUEST and ok is None:
            ok = not self.failed
        ok = None if level > Level.INSIDE else ok
        if level is Level.REQUEST and statement and statement.setting is None and self.setting:
            self._apply_setting(statement.text)
        if level is Level.REQUEST and statement:
            self._follow_request(event, statement)
        self.request.append(
            StatementEvent(
                kind=kind,
                event=event,
                database=database,
                statement=statement,
                handle=handle,
                level=level,
                ok=ok,
                epoch=self.transactions.epoch,
                run_window=self.connections * _CONNECTION + event.at // self.run_window,
                preamble=self._preamble(event, level),
                holding_data=holding_data,
            )
        )

    def _preamble(self, event: TaskEvent, level: Level) -> Preamble | None:
        """The texts before a statement; a request shows those of its own itself."""
        text, procedure = event.text or "", event.procedure.casefold()
        if level is Level.REQUEST and "#" in text:
            return Preamble.of(text, "", self.context.temporaries)
        if level is Level.STATEMENT or (level is Level.INSIDE and procedure):
            return Preamble.of(text, procedure, self.context.assignments(procedure))
        return None

    def _follow_request(self, event: TaskEvent, statement: NormalizedText) -> None:
        """Give what a client sent to the statements that it ran."""
        for preamble in (shown.preamble for shown in self.request):
            if preamble and not preamble.scope and statement.parameters:
                preamble.enter("", (), statement.parameters)
        statements = [shown for shown in self.request if shown.level is Level.STATEMENT]
        if not statements:
            self.context.fill(event.text or "")
        elif not self.context.has_declared:
            # A server may show no statement for declarations: they stand before the first one.
            first = next((s for s in statements if "@" in (s.event.text or "")), statements[0])
            before, _, _ = (event.text or "").partition(first.event.text or "")
            for shown in statements:
                if shown.preamble and "@" in before:
                    shown.preamble.begin_with(before)
                    self.context.are_used = True

    def _setting(self, level: Level) -> str:
        """The setting by which a text is read; that of a statement waits for its request."""
        return self.setting if level in (Level.REQUEST, Level.REQUEST_BEGUN) else ""

    def _apply_setting(self, sent: str) -> None:
        """Read the statements that a request showed by the setting, as far as it sent them.

        Those of modules have the setting that the module was created with.
        """
        for at, shown in enumerate(self.request):
            if '"' in (shown.event.text or "") and shown.level is not Level.REQUEST:
                read = self.texts.batch(shown.event.text or "", self.setting)
                if (text := read.text.strip("; ")) and text in sent:
                    self.request[at] = shown._replace(statement=read)

    def _close_request(self, *, complete: bool) -> None:
        shown, self.request = self.request, []
        if self.context.are_used:
            shown = [self._with_values(event) for event in shown]
            self.context = self.context.end()
        self.counter.add(shown, complete=complete)

    def _with_values(self, shown: StatementEvent) -> StatementEvent:
        """A statement whose dates are those of the variables of its procedure."""
        text, preamble = shown.event.text or "", shown.preamble
        if not (shown.statement and preamble and preamble.text):
            return shown
        if "@" not in text and "#" not in text:
            return shown
        read = self.texts.batch(preamble.before(text))
        if not read.has_values:
            return shown  # it is too long, or has none
        statement = shown.statement._replace(
            date_shape=read.date_shape,
            literals=read.literals,
            partition_shape=read.partition_shape,
            partition_literals=read.partition_literals,
        )
        return shown._replace(statement=statement)

    def _report_decision(self, event: TaskEvent, undone: bool | None) -> None:
        """Report the end of an epoch of which segments went out before it was known."""
        if self.epoch_reported and undone is not None:
            self._report(SegmentKind.ROLLED_BACK if undone else SegmentKind.COMMITTED, event)
            self.epoch_reported = False

    def _reset(self, event: TaskEvent) -> None:
        self._close_request(complete=True)
        self._report_decision(event, self.transactions.reset())
        if not self.was_reset:
            self._report(SegmentKind.RESET, event)
        self.database = self.began_in = self.setting = ""
        self.handles.clear()
        self.unreported.clear()
        self.counter.tables.clear()
        self.context = RequestContext()
        self.was_reset = True

    def _report(
        self,
        kind: SegmentKind,
        event: TaskEvent,
        text: str | None = None,
        handle: int | None = None,
    ) -> None:
        session, task, run = self.key
        key = SegmentKey(kind, task, run, session, event.database, text, handle)
        self._events.append(Segment(self.origin, key, event_counts(event, event.at)))
