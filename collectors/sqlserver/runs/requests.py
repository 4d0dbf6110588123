"""Statements of requests -> segments: equal statements of a session are counted as one.

Several events may show one statement: the batch that holds it, the statement itself, and its
beginning. A digest of all that a request showed lets `records` choose among them later.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple

from dbt_graft.collectors.sqlserver.runs.captured import Level, TaskEvent
from dbt_graft.collectors.sqlserver.runs.normalized_text import NormalizedText
from dbt_graft.collectors.sqlserver.runs.preamble import Preamble
from dbt_graft.collectors.sqlserver.runs.segment import (
    Segment,
    SegmentCounts,
    SegmentKey,
    SegmentKind,
)
from dbt_graft.collectors.sqlserver.runs.temporaries import TempTable, TempTables, encode
from dbt_graft.collectors.statements.periods.expression_dates import DateValues
from dbt_graft.collectors.statements.periods.shape import DateShape, TextDate, merge_dates

# Times in an export are cut to milliseconds: a statement began before the next.
_CUT = 1000
# In the place of a digest: the request showed one statement.
ALONE = "alone"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAYS = _EPOCH.date(), _EPOCH.date()
_MOST = 4_096
# The epoch, the temporary tables and the segment that a statement is counted in.
_Open = tuple[int, tuple[TempTable, ...], SegmentKey]


class StatementEvent(NamedTuple):
    """A statement of a request, as one event shows it.

    Attributes:
        ok: Whether it ended well; None where it only began.
        epoch: The statements that are committed or taken back together with it.
        run_window: As in `SegmentKey`.
        preamble: The texts before a statement that is recorded by itself.
        holding_data: As in `SegmentKey`.
    """

    kind: SegmentKind
    event: TaskEvent
    database: str
    statement: NormalizedText | None
    handle: int | None
    level: Level
    ok: bool | None
    epoch: int
    run_window: int
    preamble: Preamble | None = None
    holding_data: str = ""


@dataclass(slots=True)
class RequestCounter:
    """Counts the statements of one session's requests.

    Attributes:
        session: Its number, task and run, as one text.
    """

    session: str
    origin: str
    tables: TempTables = field(default_factory=TempTables)
    timezone: tzinfo = UTC
    # Until an epoch ends it is not known whether it is taken back, nor until a temporary table is
    # dropped what else is run on it.
    _counts: dict[_Open, SegmentCounts] = field(default_factory=dict)
    _dates: dict[_Open, set[TextDate]] = field(default_factory=lambda: defaultdict(set))

    def add(self, shown: list[StatementEvent], *, complete: bool) -> None:
        """Count a request's statements; `complete` where its end was seen."""
        if complete:
            levels = {event.level for event in shown}
            # The inside of a procedure may be recorded as it begins only.
            begun = {Level.INSIDE_BEGUN} if Level.INSIDE not in levels else set[Level]()
            shown = [s for s in shown if s.level <= Level.INSIDE or s.level in begun]
        request = _digest(shown) if complete else ""
        named = set[str]()
        for statement_event in shown:
            kind, event, database, statement, handle, level, ok, epoch, run_window, _, data = (
                statement_event
            )
            tables: tuple[TempTable, ...] = ()
            if statement is not None and statement.temporaries:
                names = {reference.name for reference in statement.temporaries}
                # The request itself comes last, after the statements in it.
                again = level is Level.REQUEST and not named.isdisjoint(names)
                tables = self.tables.use_tables(statement.text, statement.temporaries, again=again)
                named |= names
            key = SegmentKey(
                kind=kind,
                task=event.task,
                run=event.run,
                session=event.session,
                database=database,
                text=statement.text if statement is not None else None,
                handle=handle,
                level=level,
                ok=ok,
                request=request,
                procedure=event.procedure,
                holding_data=data,
                run_window=run_window,
            )
            counts = event_counts(event, min(event.at, event.started + _CUT), event.rows)
            if statement is not None and statement.date_shape is not None:
                dates = dates_at(
                    *(statement.date_shape, statement.literals, statement.parameters),
                    event.started,
                    self.timezone,
                )
                # A run may insert row by row, each of another day: they are merged at the end.
                self._dates[epoch, tables, key].update(dates)
            if statement is not None and statement.partition_shape is not None:
                counts.partitions = statement.partition_shape.partitions(
                    statement.partition_literals, statement.parameters
                )
            earlier = self._counts.get((epoch, tables, key))
            if earlier is None:
                self._counts[epoch, tables, key] = counts
            else:
                earlier.add(counts)

    def segments(self, undone: Mapping[int, bool]) -> Iterator[Segment]:
        """The segments of the statements since the last call.

        Args:
            undone: Whether an epoch was taken back, as far as that is decided.
        """
        settled: dict[SegmentKey, SegmentCounts] = {}
        for (epoch, tables, open_key), counts in self._counts.items():
            key = open_key
            if dates := self._dates.get((epoch, tables, open_key)):
                counts.dates = merge_dates(dates)
            if epoch in undone or tables:
                temporaries = self._temporaries(tables)
                key = open_key._replace(undone=undone.get(epoch), temporaries=temporaries)
            if key in settled:
                settled[key].add(counts)
            else:
                settled[key] = counts
        for key, counts in settled.items():
            yield Segment(self.origin, key, counts)
        self._counts = {}
        self._dates.clear()

    def _temporaries(self, tables: tuple[TempTable, ...]) -> str:
        if not tables:
            return ""
        return encode(
            (table.name, table.settled_suffix(self.session, is_open=self.tables.is_open(table)))
            for table in tables
        )


def event_counts(event: TaskEvent, first_started: int, rows: int | None = None) -> SegmentCounts:
    """The counts of one event."""
    return SegmentCounts(
        times=1,
        rows=rows,
        started=event.started,
        first_started=first_started,
        first_ended=event.at,
        last_ended=event.at,
        first_sequence=event.sequence,
        last_sequence=event.sequence,
    )


def _digest(shown: list[StatementEvent]) -> str:
    """A digest of a request's statements, the same for all requests that show the same."""
    if len(shown) == 1:
        return ALONE
    lines = sorted(
        {f"{s.level}:{s.statement.text if s.statement else s.handle}:{s.ok}" for s in shown}
    )
    return hashlib.blake2b("|".join(lines).encode(), digest_size=8).hexdigest()


def dates_at(
    shape: DateShape,
    literals: tuple[str, ...],
    parameters: tuple[tuple[str, str], ...],
    started: int,
    timezone: tzinfo = UTC,
) -> tuple[TextDate, ...]:
    """The dates in a text's conditions.

    Args:
        literals: Those that the dates depend on.
        started: When the statement began, in microseconds: `GETDATE()`.
    """
    days = _EPOCH_DAYS
    if shape.is_relative:
        at = _EPOCH + timedelta(microseconds=started)
        days = at.astimezone(timezone).date(), at.date()
    used = (
        tuple(parameter for parameter in parameters if parameter[0] in shape.variables)
        if parameters
        else ()
    )
    return _dates(shape, shape.dated_literals(literals), used, days)


@lru_cache(maxsize=_MOST)
def _dates(
    shape: DateShape,
    literals: tuple[str, ...],
    parameters: tuple[tuple[str, str], ...],
    days: tuple[date, date],
) -> tuple[TextDate, ...]:
    now, utc_now = (datetime.combine(day, time(), UTC) for day in days)
    numbered = dict(zip(shape.numbers, literals, strict=True))
    return shape.dates(DateValues(numbered, dict(parameters), now, utc_now))
