"""One application, several logs: which of them counts.

A log keeps its application's id and attempt wherever it is moved, whatever it is called and however
it is packed. Of several logs of one attempt the one with the most events counts (the others are
copies made while it grew, or cut off); of equals the one that counted before. What the history
server compacted is not the same log: it holds what came later, and some of what was read before
(`covered_until`). The pieces in which a growing log is told of go with it (`resume`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from dbt_graft.collectors.spark.log.checkpoint import log_origin, log_segments
from dbt_graft.collectors.spark.log.files import COMPACTED


@dataclass(frozen=True, slots=True)
class LogClaim:
    """A log that was read now tells of a run."""

    origin: str
    run: str
    events: int


@dataclass(frozen=True, slots=True)
class DuplicateLogs:
    """Origins whose rows do not count: of those read now, and of those in the store."""

    losers: tuple[str, ...]
    replaced: tuple[str, ...]


def log_variants(last_event_times: Mapping[str, datetime]) -> dict[str, dict[str, datetime]]:
    """What is told of each log, by the origin it has whole: whole, and of what compacting made.

    Args:
        last_event_times: As `collectors.store.last_event_times` gives it.
    """
    found: dict[str, dict[str, datetime]] = defaultdict(dict)
    for origin, at in last_event_times.items():
        found[uncompacted(origin)][origin] = at
    return found


def covered_until(origin: str, told: Mapping[str, datetime]) -> datetime | None:
    """What had started by then is told of by other forms of a compacted log.

    Args:
        told: The log's `forms`; if it is not compacted, it replaces what it told before.
    """
    others = (at for other, at in told.items() if other != origin)
    return max(others, default=None) if _compacted(origin) else None


def uncompacted(origin: str) -> str:
    """The origin of a log before it was compacted."""
    log = log_origin(origin)
    return log.rpartition("/")[0] if _compacted(log) else log


def settle(
    claims: Iterable[LogClaim],
    owners: Mapping[str, str],
    known: Mapping[str, tuple[str, int]],
) -> DuplicateLogs:
    """Which origins do not count.

    Args:
        claims: Of all logs that are read now.
        owners: For each run in the store an origin that tells of it.
        known: Position and number of events of each origin in the store.
    """
    read_now: dict[tuple[str, str], list[LogClaim]] = defaultdict(list)
    losers: list[str] = []
    replaced: list[str] = []
    event_count = log_segments(known)
    for claim in claims:
        log = log_origin(claim.origin)
        if log == claim.origin:
            read_now[claim.run, _compacted(log)].append(claim)
        elif log_origin(owners.get(claim.run, log)) != log:
            # Another log tells of the run, and so of what comes behind.
            losers.append(claim.origin)
    read_again = {claim.origin for found in read_now.values() for claim in found}
    for (run, compacted), found in read_now.items():
        candidates = {claim.origin: claim.events for claim in found}
        owner = log_origin(owners.get(run, ""))
        before = ""
        if owner in known and owner not in read_again and _compacted(owner) == compacted:
            before = owner
            candidates[owner] = sum(known[one][1] for one in (owner, *event_count.get(owner, ())))
        winner = max(candidates, key=lambda origin: (candidates[origin], origin == owner, origin))
        losers += [origin for origin in candidates if origin not in (winner, before)]
        if before and before != winner:
            replaced += [before, *event_count.get(before, ())]
    return DuplicateLogs(tuple(sorted(losers)), tuple(sorted(replaced)))


def _compacted(origin: str) -> str:
    name = log_origin(origin).rpartition("/")[2]
    return name if name.endswith(COMPACTED) else ""
