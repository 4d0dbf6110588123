"""The state of a store in a bucket, for its digest: apart, because it needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator

from pyarrow import fs

from dbt_graft.collectors.store.batches import open_store
from dbt_graft.collectors.store.fold.tables import FOLDS
from dbt_graft.collectors.store.taints import TAINTS


def bucket_lines(store: str) -> Iterator[str]:
    """The committed batches with the sizes and times of their files, folds and taints.

    No row is read.

    Raises:
        StoreError: The store is damaged or cannot be read.
    """
    snapshot = open_store(store)
    for batch in snapshot.batches:
        yield f"{batch.batch_id} {batch.sequence} {batch.committed_at}"
        for file in batch.files:
            yield f"{file.path} {file.rows} {file.bytes} {snapshot.times.get(file.path)}"
    yield f"{sorted(snapshot.given_up)}"
    for folder in (FOLDS, TAINTS):
        selector = fs.FileSelector(f"{snapshot.root}/{folder}", allow_not_found=True)
        infos = sorted(snapshot.files.get_file_info(selector), key=lambda info: info.path)
        for info in infos:
            yield f"{folder} {info.base_name} {info.size} {info.mtime_ns}"
