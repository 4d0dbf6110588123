"""The lineage store: the contract between collectors and everybody else.

Parquet tables in one folder or URL, a sub-folder for each table and batch:

    <store>/accesses/batch_id=20261121T021500Z-4f1c/part-….parquet
    <store>/batches/batch_id=20261121T021500Z-4f1c/part-….parquet

One collect run writes one batch, its `batches` rows last. Readers see only batches that have
them, so a run that dies leaves nothing incomplete behind. A batch lists the origins (log files,
applications) that it read and the position reached in each. The rows of an origin in a later
batch replace those in earlier ones; what is read on in a growing log is an origin of its own.
Readers outside Spark use pyarrow and need no JVM.
"""

from dbt_graft.collectors.store.commit import CommittedBatch, commit
from dbt_graft.collectors.store.read import (
    batches,
    collected_at,
    last_event_times,
    noise,
    open_sessions,
    positions,
    read,
    run_origins,
)
from dbt_graft.collectors.store.tables import (
    SCHEMAS,
    TABLES,
    Collected,
    OpenSession,
    Positions,
    ReadLog,
)

__all__ = [
    "SCHEMAS",
    "TABLES",
    "Collected",
    "CommittedBatch",
    "OpenSession",
    "Positions",
    "ReadLog",
    "batches",
    "collected_at",
    "commit",
    "last_event_times",
    "noise",
    "open_sessions",
    "positions",
    "read",
    "run_origins",
]
