"""Events of tasks -> segments: equal statements of a session are one, however often they ran.

A part of a log ends anywhere, so what cannot be decided within it (the handle was prepared in
another file) goes out undecided; `sessions`, which sees the parts in a row, decides it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, tzinfo

from dbt_graft.collectors.sqlserver.runs.captured import TaskEvent
from dbt_graft.collectors.sqlserver.runs.normalized_text import TextNormalizer
from dbt_graft.collectors.sqlserver.runs.segment import Segment
from dbt_graft.collectors.sqlserver.runs.session_fold import SessionFold, SessionKey


class Fold:
    """Folds one part of a log: takes windows of events in, and gives segments in between."""

    def __init__(
        self,
        noise: Sequence[re.Pattern[str]],
        idle_seconds: int,
        origin: str = "",
        timezone: tzinfo = UTC,
    ) -> None:
        """Begin a part.

        Args:
            noise: Patterns of texts to leave out, beside those that always are.
            idle_seconds: A pause of this length ends a run.
            origin: The log.
            timezone: That of the server.
        """
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

    def add(self, events: Iterable[TaskEvent]) -> None:
        """Take in a window of events, which is sorted here; windows come in order."""
        for event in sorted(events, key=lambda e: (e.at, e.sequence)):
            key = (event.session, event.task, event.run)
            session = self._sessions.get(key)
            if session is None:
                session = SessionFold(
                    *(key, self._origin, self._texts, self._run_window), timezone=self._timezone
                )
                self._sessions[key] = session
            session.add(event)

    def segments(self) -> Iterator[Segment]:
        """The segments of the events since the last call; sessions go on."""
        for session in self._sessions.values():
            yield from session.segments()
