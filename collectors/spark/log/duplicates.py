"""Duplicate logs of one application: which of them counts.

A log has its application's id and attempt wherever it is moved, whatever its name and compression.
Of several logs of one attempt the one with the most events counts (the others are copies made
while it grew, or cut off); of equals the one that counted before. A log that the history server
compacted is another log: it has later events, and some of the earlier ones (`covered_until`).
The segments of a growing log (`checkpoint`) count or are discarded with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime

from dbt_graft.collectors.spark.log.checkpoint import log_origin, log_segments
from dbt_graft.collectors.spark.log.files import COMPACTED
from dbt_graft.lineage.frozen import frozen


@frozen
class LogClaim:
    """A log that was read now has records of a run."""

    origin: str
    run: str
    events: int


@frozen
class DuplicateLogs:
    """Origins that do not count.

    Attributes:
        discarded: Of logs that are read now.
        replaced: Of logs in the store.
    """

    discarded: tuple[str, ...]
    replaced: tuple[str, ...]


def log_variants(last_event_times: Mapping[str, datetime]) -> dict[str, dict[str, datetime]]:
    """The origins of each log and its compacted variants, with the time of their last event."""
    variants: dict[str, dict[str, datetime]] = defaultdict(dict)
    for origin, at in last_event_times.items():
        variants[uncompacted_origin(origin)][origin] = at
    return variants


def covered_until(origin: str, variants: Mapping[str, datetime]) -> datetime | None:
    """The time until which other variants of a compacted log cover its statements.

    Args:
        variants: The times of the last events, by origin (see `log_variants`).

    Returns:
        None where the log is not compacted: it replaces the others.
    """
    others = (at for other, at in variants.items() if other != origin)
    return max(others, default=None) if _compacted_name(origin) else None


def uncompacted_origin(origin: str) -> str:
    """The origin of a log before it was compacted."""
    log = log_origin(origin)
    return log.rpartition("/")[0] if _compacted_name(log) else log


def find_duplicates(
    claims: Iterable[LogClaim], owners: Mapping[str, str], positions: Mapping[str, tuple[str, int]]
) -> DuplicateLogs:
    """Find the origins that do not count.

    Args:
        owners: For each run in the store an origin with its records.
    """
    read_now: dict[tuple[str, str], list[LogClaim]] = defaultdict(list)
    discarded: list[str] = []
    replaced: list[str] = []
    segments = log_segments(positions)
    for claim in claims:
        log = log_origin(claim.origin)
        if log == claim.origin:
            read_now[claim.run, _compacted_name(log)].append(claim)
        elif log_origin(owners.get(claim.run, log)) != log:
            # Another log has the records of the run, and so of its later segments.
            discarded.append(claim.origin)
    read_again = {claim.origin for rivals in read_now.values() for claim in rivals}
    for (run, compacted), rivals in read_now.items():
        candidates = {claim.origin: claim.events for claim in rivals}
        owner = log_origin(owners.get(run, ""))
        before = ""
        if owner in positions and owner not in read_again and _compacted_name(owner) == compacted:
            before = owner
            candidates[owner] = sum(
                positions[origin][1] for origin in (owner, *segments.get(owner, ()))
            )
        winner = max(candidates, key=lambda origin: (candidates[origin], origin == owner, origin))
        discarded += [origin for origin in candidates if origin not in (winner, before)]
        if before and before != winner:
            replaced += [before, *segments.get(before, ())]
    return DuplicateLogs(tuple(sorted(discarded)), tuple(sorted(replaced)))


def _compacted_name(origin: str) -> str:
    name = log_origin(origin).rpartition("/")[2]
    return name if name.endswith(COMPACTED) else ""
