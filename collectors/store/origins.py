"""The state of each origin in the store: when it was read, and up to when."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from dbt_graft.collectors.store.batches import OpenStore
from dbt_graft.collectors.store.logs import PART, holding_logs, values
from dbt_graft.collectors.store.node_results import live_tables
from dbt_graft.collectors.store.read import newest_times
from dbt_graft.lineage.frozen import frozen

# Of a run that goes on, its start is the newest that is known.
_TIMES = (("accesses", "last_at"), ("runs", "started_at"), ("runs", "ended_at"))


@frozen
class OriginState:
    """A log in the store.

    Attributes:
        read_at: When the batch was committed that read it last.
        last_event: The newest time of a statement, a run or a result of dbt in it.
        rejects: The number of its parts that could not be used.
    """

    read_at: datetime
    last_event: datetime | None = None
    rejects: int = 0


def origin_states(snapshot: OpenStore) -> dict[str, OriginState]:
    """The origins of a store."""
    logs = holding_logs(snapshot)
    origins, parts = values(logs, "origin"), values(logs, PART)
    newest = {log: snapshot.batches[part] for log, part in zip(origins, parts, strict=True)}
    read_at = dict(zip(origins, values(logs, "committed_at"), strict=True))
    times = newest_times(snapshot, _TIMES)
    for results in live_tables(snapshot):
        for row in results.select(["origin", "started_at", "ended_at"]).to_pylist():
            if at := row["ended_at"] or row["started_at"]:
                times[row["origin"]] = max(at, times.get(row["origin"], at))
    ids = {batch.batch_id for batch in newest.values()}
    rejects = Counter(
        row["origin"]
        for batch, row in snapshot.rows("rejects", ids)
        if newest.get(row["origin"]) == batch
    )
    return {
        origin: OriginState(read_at[origin], times.get(origin), rejects[origin])
        for origin in newest
    }
