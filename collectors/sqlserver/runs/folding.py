"""Parts of logs -> segments: on the executors for files, in this process for what is polled.

Events of tasks -> segments: equal statements of a session are one, however often they ran.

A part of a log ends anywhere, so what cannot be decided within it (the handle was prepared in
another file) goes out undecided; `sessions`, which sees the parts in a row, decides it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import pyarrow as pa

from dbt_graft.collectors.engines.engine import Batches
from dbt_graft.collectors.engines.reading import ReadCounter
from dbt_graft.collectors.schema import batch, record
from dbt_graft.collectors.sqlserver.event import Chunk, FileSplit, LogDamage
from dbt_graft.collectors.sqlserver.files.readers import read_split
from dbt_graft.collectors.sqlserver.runs.captured import TaskEvent, event_filter, task_events
from dbt_graft.collectors.sqlserver.runs.clients import TaskClients
from dbt_graft.collectors.sqlserver.runs.normalized_text import TextNormalizer
from dbt_graft.collectors.sqlserver.runs.rules import RunRules
from dbt_graft.collectors.sqlserver.runs.segment import Segment, SegmentKind, log_segment
from dbt_graft.collectors.sqlserver.runs.session_fold import SessionFold, SessionKey
from dbt_graft.lineage.dates.date_ranges import RUN_YEARS


class Fold:
    """Folds one part of a log: takes windows of events in, and gives segments in between."""

    def __init__(
        self,
        noise: Sequence[re.Pattern[str]],
        idle_seconds: int,
        origin: str = "",
        timezone: tzinfo = UTC,
        parameters: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        """Begin a part.

        Args:
            noise: Patterns of texts to leave out, beside those that always are.
            parameters: As in `RunRules`.
        """
        self._parameters = parameters or {}
        self._origin = origin
        self._timezone = timezone
        self._texts = TextNormalizer(noise)
        self._run_window = idle_seconds * 1_000_000
        self._sessions: dict[SessionKey, SessionFold] = {}

    @property
    def noise(self) -> int:
        """The number of requests that were left out by rule."""
        return sum(session.noise for session in self._sessions.values())

    @property
    def silent(self) -> int:
        """The number of events that should show a statement and show none."""
        return sum(session.silent for session in self._sessions.values())

    @property
    def unread(self) -> Mapping[str, int]:
        """The number of events whose text could not be read, by reason."""
        return self._texts.unread

    def add(self, events: Iterable[TaskEvent], *, has_gaps: bool = False) -> None:
        """Take in a window of events, which is sorted here; windows come in order.

        Args:
            has_gaps: Not all of them could be read; one may have changed a session's setting.
        """
        if has_gaps:
            for known in self._sessions.values():
                known.setting = ""
        for event in sorted(events, key=lambda e: (e.at, e.sequence)):
            key = (event.session, event.task, event.run)
            session = self._sessions.get(key)
            if session is None:
                session = SessionFold(
                    *(key, self._origin, self._texts, self._run_window, self._parameters),
                    timezone=self._timezone,
                )
                self._sessions[key] = session
            session.add(event)
            if has_gaps:
                session.setting = ""

    def segments(self) -> Iterator[Segment]:
        """The segments of the events since the last call; sessions go on."""
        for session in self._sessions.values():
            yield from session.segments()


# Events that are put in order and folded at a time.
_WINDOW = 20_000
# Damaged places of one part that are reported one by one.
_MOST_DAMAGES = 1_000
_THROUGHOUT = "throughout the log"

# In units of 100 ns since 1970.
_LATEST = int(datetime(RUN_YEARS.stop, 1, 1, tzinfo=UTC).timestamp()) * 10_000_000


def fold_splits(rules: RunRules, counter: ReadCounter, batches: Batches) -> Batches:
    """Batches of `FileSplit` -> batches of `Segment`."""
    clients = TaskClients(rules.task)
    events = event_filter(clients)
    for splits in batches:
        for row in splits.to_pylist():
            split = record(FileSplit, row)
            yield from fold_chunks(split.origin, read_split(split, events), rules, clients)
            counter.add(int(split.start == 0), split.end - split.start)


def fold_chunks(
    origin: str, chunks: Iterable[Chunk], rules: RunRules, clients: TaskClients
) -> Batches:
    """The events of one part of a log -> batches of `Segment`.

    Args:
        clients: Has counted the other clients of the chunks when they have been read.
    """
    task_event = task_events(clients)
    extra = [re.compile(pattern, re.IGNORECASE) for pattern in rules.noise]
    fold = Fold(extra, rules.idle_seconds, origin, ZoneInfo(rules.timezone), rules.parameters)
    window: list[TaskEvent] = []
    events = damages = untimely = 0
    has_gaps = False
    for chunk in chunks:
        timely = [event for event in chunk.events if 0 <= event.at < _LATEST]
        untimely += len(chunk.events) - len(timely)
        window += filter(None, map(task_event, timely))
        events += chunk.seen
        reported = chunk.damages[: max(0, _MOST_DAMAGES - damages)]
        damages += len(chunk.damages)
        has_gaps |= bool(chunk.damages) or len(timely) < len(chunk.events)
        if reported:
            yield damage_batch((origin, damage) for damage in reported)
        if len(window) >= _WINDOW:
            yield _fold_window(fold, window, has_gaps)
            window, has_gaps = [], False
    yield _fold_window(fold, window, has_gaps)
    yield batch(
        Segment,
        [
            log_segment(origin, SegmentKind.EVENTS, events),
            log_segment(origin, SegmentKind.NOISE, fold.noise),
            *(
                log_segment(origin, SegmentKind.OTHER_CLIENT, times, name=name)
                for name, times in clients.others.items()
            ),
        ],
    )
    clients.others.clear()
    silent = f"{fold.silent:,} events show no statement: the session does not collect it"
    years = f"{untimely:,} events have a time before 1970 or after 2199"
    omitted = f"{damages - _MOST_DAMAGES:,} more places could not be read either"
    yield damage_batch(
        (origin, LogDamage(_THROUGHOUT, f"{times:,} events have a text that {reason}"))
        for reason, times in fold.unread.items()
    )
    yield damage_batch(
        (origin, LogDamage(position, reason))
        for counted, position, reason in (
            (fold.silent, _THROUGHOUT, silent),
            (untimely, _THROUGHOUT, years),
            (damages > _MOST_DAMAGES, "after these", omitted),
        )
        if counted
    )


def damage_batch(damages: Iterable[tuple[str, LogDamage]]) -> pa.RecordBatch:
    """Damages of logs, each with its origin, as a batch of `Segment`."""
    return batch(
        Segment, [log_segment(origin, SegmentKind.DAMAGE, damage=d) for origin, d in damages]
    )


def _fold_window(fold: Fold, window: list[TaskEvent], has_gaps: bool) -> pa.RecordBatch:
    fold.add(window, has_gaps=has_gaps)
    return batch(Segment, fold.segments())
