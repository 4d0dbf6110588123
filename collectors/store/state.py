"""The state of a store as one text: equal as long as all that readers see is the same."""

from __future__ import annotations

from hashlib import blake2b

from pyarrow import fs

from dbt_graft.collectors.store.batches import open_store
from dbt_graft.collectors.store.fold.tables import FOLDS
from dbt_graft.collectors.store.taints import TAINTS


def store_state(store: str) -> str:
    """A digest of the committed batches with the sizes and times of their files, folds and taints.

    No row is read.

    Raises:
        StoreError: The store is damaged or cannot be read.
    """
    snapshot = open_store(store)
    digest = blake2b(digest_size=16)
    for batch in snapshot.batches:
        digest.update(f"{batch.batch_id} {batch.sequence} {batch.committed_at}\n".encode())
        for file in batch.files:
            line = f"{file.path} {file.rows} {file.bytes} {snapshot.times.get(file.path)}\n"
            digest.update(line.encode())
    digest.update(f"{sorted(snapshot.given_up)}\n".encode())
    for folder in (FOLDS, TAINTS):
        selector = fs.FileSelector(f"{snapshot.root}/{folder}", allow_not_found=True)
        infos = sorted(snapshot.files.get_file_info(selector), key=lambda info: info.path)
        for info in infos:
            line = f"{folder} {info.base_name} {info.size} {info.mtime_ns}\n"
            digest.update(line.encode())
    return digest.hexdigest()
