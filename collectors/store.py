"""The lineage store: the contract between collectors and everybody else.

Parquet tables in one folder or URL, a sub-folder for each table and batch:

    <store>/accesses/batch_id=20261121T021500Z-4f1c/part-….parquet
    <store>/batches/batch_id=20261121T021500Z-4f1c/part-….parquet

One collect run writes one batch, its `batches` rows last. Readers see only batches that have
them, so a run that dies leaves nothing half-read behind. A batch lists the origins (log files,
applications) that it read and the position reached in each. What a later batch says of an origin
replaces what earlier ones said, so a log that has grown is simply read again.
Readers outside Spark use pyarrow and need no JVM.
"""

from __future__ import annotations
