"""The lineage store: the contract between collectors and all readers.

Parquet tables in one folder or URL, a sub-folder for each table and batch:

    <store>/accesses/batch_id=4f1c…/part-….parquet
    <store>/origins/batch_id=4f1c…/part-0.parquet
    <store>/batches/batch_id=4f1c…/batch.parquet

One collect run writes one batch, its record in `batches` last. Readers see only batches that have
it, and of these only the files that it lists, so a run that dies leaves nothing incomplete behind;
what it left is swept by the next commit. A batch's `origins` are the logs (files, applications)
that it read and the position reached in each. The rows of an origin in a later batch replace those
in earlier ones; what is read on in a growing log is an origin of its own. Batches have a sequence,
so that no clock decides which is the later one.
Readers outside Spark use pyarrow and need no JVM.
"""
