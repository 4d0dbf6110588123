"""The collector of Spark event logs.

Each log is read by one worker from start to end, in pieces, and becomes its records there. So logs
are read in parallel, and memory does not grow with their length:

    logs, spread by size -> map: one row a log, with the records of all tables nested in it

No log can stop the others: whatever cannot be used is a reject with its place. A log that is there
twice, under another name or compression, counts once (`log.duplicates`). A growing log is read on
from its last checkpoint (`log.checkpoint`). A log that a History Server does not give
(`log.history_server`), or whose storage failed, is read again by the next collect.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial

from dbt_graft.collectors.engines.engine import Engine, EngineRows, record_tables
from dbt_graft.collectors.engines.reading import Reading
from dbt_graft.collectors.schema import record
from dbt_graft.collectors.source import position_before
from dbt_graft.collectors.spark.listing import new_logs
from dbt_graft.collectors.spark.log.checkpoint import log_origin, log_segments, position
from dbt_graft.collectors.spark.log.duplicates import (
    LogClaim,
    find_duplicates,
    log_variants,
    uncompacted_origin,
)
from dbt_graft.collectors.spark.log.files import ApplicationLog, SparkLogs
from dbt_graft.collectors.spark.settings import is_history_server
from dbt_graft.collectors.spark.worker import (
    LogResult,
    LogToRead,
    LogVariant,
    files_to_read,
    read_logs,
)
from dbt_graft.collectors.store.arrow_tables import table
from dbt_graft.collectors.store.positions import of_logs
from dbt_graft.collectors.store.tables import Collected, Positions, ReadLog
from dbt_graft.lineage.records import Reject

# The size of a worker's share.
_LOGS_PER_PARTITION, _BYTES_PER_PARTITION = 64, 32 << 20


def collect(
    engine: Engine,
    logs: SparkLogs,
    positions: Positions,
    owners: Callable[[Collection[str]], Mapping[str, str]] = lambda runs: {},
    last_event_times: Callable[[], Mapping[str, datetime]] = dict,
    taken: set[str] | None = None,
    reading: Reading | None = None,
) -> Collected | None:
    """Collect the logs below a path that are new to the store or have changed.

    Args:
        owners: Returns for each of some runs that is in the store the origin with its records, as
            `collectors.store.run_origins` does.
        taken: Runs that another source of the same collect has; the runs of this one are added.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    new = new_logs(logs, positions)
    if not new:
        return None
    # A log of a History Server may turn out to be compacted.
    any_compacted = any(uncompacted_origin(log.log.origin) != log.log.origin for log in new)
    needs_variants = any_compacted or is_history_server(logs.path)
    variants = log_variants(last_event_times()) if needs_variants else {}
    size = sum(log.log.size for log in new)
    reader = partial(read_logs, logs, (reading or Reading()).counter(len(new), size))
    results = _spread_logs(engine, new, variants).map(reader, LogResult).results()
    rows = results.select("origin", "position", "run", "events", "unread")
    pending = tuple(record(Reject, row["unread"]) for row in rows if row["unread"])
    # The records of a log that could not be read stay as they are in the store.
    read_now = {log.log.origin for log in new} | {row["origin"] for row in rows}
    read_now = {*read_now, *map(log_origin, read_now)}
    missing = {reject.origin for reject in pending} & of_logs(positions, read_now).keys()
    claims = [
        LogClaim(row["origin"], row["run"], row["events"])
        for row in rows
        if row["run"] and row["origin"] not in missing
    ]
    taken = set() if taken is None else taken
    asked = [claim for claim in claims if claim.run not in taken]
    owned = owners({claim.run for claim in asked})
    positions = of_logs(positions, {*read_now, *owned.values(), *map(log_origin, owned.values())})
    duplicates = find_duplicates(asked, owned, positions)
    discarded = {*duplicates.discarded, *(claim.origin for claim in claims if claim.run in taken)}
    taken.update(claim.run for claim in claims)
    segments = log_segments(positions)
    before = ((origin, positions[origin]) for origin in duplicates.replaced)
    replaced = [
        ReadLog(origin, position_before(position), events) for origin, (position, events) in before
    ]
    # Segments of logs that were read from start to end now.
    replaced += [ReadLog(origin, "") for log in new for origin in segments.get(log.log.origin, ())]
    done = [
        ReadLog(row["origin"], row["position"], row["events"])
        for row in rows
        if row["origin"] not in missing
    ]
    results = results.without(missing)
    return Collected(
        **{
            **record_tables(results.without(discarded)),
            # What could not be used of logs that count as read.
            "rejects": results.records("rejects"),
        },
        origins=table(ReadLog, [*done, *replaced]),
        pending=pending,
    )


def _spread_logs(
    engine: Engine, new: Sequence[ApplicationLog], variants: Mapping[str, Mapping[str, datetime]]
) -> EngineRows:
    size = sum(log.log.size for log in new)
    shares = max(min(len(new), 16), len(new) // _LOGS_PER_PARTITION, size // _BYTES_PER_PARTITION)
    to_read = [
        LogToRead(
            origin=log.log.origin,
            state=log.log.position,
            size=log.log.size,
            start=position(log.log.position, log.start),
            files=files_to_read(log),
            variants=tuple(
                LogVariant(*variant)
                for variant in variants.get(uncompacted_origin(log.log.origin), {}).items()
            ),
        )
        # The longest first, so that no worker has a long one at the end.
        for log in sorted(new, key=lambda log: -log.log.size)
    ]
    return engine.spread(table(LogToRead, to_read), min(shares, len(new)), size)
