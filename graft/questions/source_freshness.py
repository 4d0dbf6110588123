"""Up to when each source of `graft.yml` is collected, and what waits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from dbt_graft.analysis.checks.freshness import SourceFreshness
from dbt_graft.collectors.source import LogSource, is_below
from dbt_graft.collectors.store.batches import open_store
from dbt_graft.collectors.store.origins import OriginState, origin_states
from dbt_graft.collectors.store.positions import StoredPositions
from dbt_graft.collectors.store.tables import Positions
from dbt_graft.graft.project.collect_section import CollectEntry
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.sources import sources
from dbt_graft.lineage.errors import GraftError

# A file that grows is read in parts, as a live server is, and dbt's results are apart:
# `events.jsonl@1048576#dbt`.
_PART = re.compile(r"(?:@\d+)?(?:#dbt)?\Z")


def source_freshness(config: Config) -> tuple[list[SourceFreshness], datetime | None]:
    """The sources in the order of `graft.yml`, and the time of the last collect. Reads no log.

    Raises:
        GraftError: The store cannot be read.
    """
    store_folder = config.path(config.store)
    opened = open_store(store_folder)
    states = origin_states(opened)
    positions = StoredPositions(store_folder)
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
    positions: Positions,
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
        entry.kind if entry else "dbt",
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
