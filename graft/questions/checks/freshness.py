"""Up to when each source of `graft.yml` is collected, and how far it is behind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from dbt_graft.collectors import store
from dbt_graft.collectors.source import LogSource, is_below
from dbt_graft.collectors.store.origins import OriginState, origin_states
from dbt_graft.graft.project.config import CollectEntry, Config
from dbt_graft.graft.project.sources import sources
from dbt_graft.lineage.errors import GraftError

# A file that grows is read in parts, as a live server is, and dbt's results are apart:
# `events.jsonl@1048576#dbt`.
_PART = re.compile(r"(?:@\d+)?(?:#dbt)?\Z")
# Declared lineage has no times, and dbt's folders may have no results yet.
_MAY_LACK_EVENTS = frozenset({"declared", "dbt"})


@dataclass(frozen=True, slots=True)
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

    def is_late(self, now: datetime, limit: timedelta) -> bool:
        """Whether its newest event is older than a limit, or there is none at all."""
        age = self.age(now)
        return self.kind not in _MAY_LACK_EVENTS if age is None else age > limit

    def to_json(self, now: datetime, limit: timedelta | None) -> dict[str, Any]:
        """Its fields; times in ISO 8601, ages in seconds."""
        age = self.age(now)
        return {
            "source": self.name,
            "kind": self.kind,
            "logs": self.logs,
            "read_at": iso(self.read_at),
            "last_event": iso(self.last_event),
            "behind_seconds": round(age.total_seconds()) if age is not None else None,
            "waiting": self.waiting,
            "rejects": self.rejects,
            "problem": self.problem or None,
            "late": None if limit is None else self.is_late(now, limit),
        }


def freshness(config: Config) -> tuple[list[SourceFreshness], datetime | None]:
    """The sources in the order of `graft.yml`, and the time of the last collect. Reads no log.

    Raises:
        GraftError: The store cannot be read.
    """
    store_folder = config.path(config.store)
    opened = store.open_store(store_folder)
    states = origin_states(opened)
    positions = store.StoredPositions(store_folder)
    report = []
    listed = list(sources(config))
    entries = [*config.collect, *([None] * (len(listed) - len(config.collect)))]
    for entry, source in zip(entries, listed, strict=True):
        source_states = {
            origin: state for origin, state in states.items() if is_below(origin, source.label)
        }
        report.append(_source(entry, source, source_states, positions))
    return report, max((batch.committed_at for batch in opened.batches), default=None)


def _source(
    entry: CollectEntry | None,
    source: LogSource,
    states: Mapping[str, OriginState],
    positions: store.Positions,
) -> SourceFreshness:
    waiting, problem = None, ""
    if not _is_live(entry):  # a server would have to be queried for its events
        try:
            waiting = len(source.new_logs(positions))
        except GraftError as error:
            problem = error.problem
        except OSError as error:
            problem = f"cannot be reached: {error.strerror or type(error).__name__}"
    return SourceFreshness(
        source.label,
        next((kind for kind, settings in entry or () if settings is not None), "dbt"),
        logs=len({_PART.sub("", origin, count=1) for origin in states}),
        read_at=_newest(state.read_at for state in states.values()),
        last_event=_newest(state.last_event for state in states.values()),
        waiting=waiting,
        rejects=sum(state.rejects for state in states.values()),
        problem=problem,
    )


def _is_live(entry: CollectEntry | None) -> bool:
    return bool(entry and entry.sqlserver and entry.sqlserver.connection)


def _newest(moments: Iterable[datetime | None]) -> datetime | None:
    return max((moment for moment in moments if moment), default=None)


def iso(moment: datetime | None) -> str | None:
    """A time in ISO 8601, in UTC."""
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z") if moment else None
