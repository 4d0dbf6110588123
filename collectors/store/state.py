"""The state of a store as one text: equal only as long as all that readers see is the same."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from hashlib import blake2b

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


# What no reader of records sees: the addresses of pages, and what builds wrote down.
_UNSEEN = ("addresses.parquet", "builds", "purged.json")


def store_state(store: str) -> str:
    """A digest of the files of a store, with their sizes and times.

    Of a folder it needs neither pyarrow nor a look into a file, and what no batch lists counts,
    too: a state that is another says that readers may see something else.

    Raises:
        StoreError: A store in a bucket is damaged or cannot be read.
    """
    if "://" in store:
        # Importing it takes longer than all that is asked of a folder.
        from dbt_graft.collectors.store.state import bucket_lines

        lines: Iterable[str] = bucket_lines(store)
    else:
        lines = _folder_lines(store, "")
    digest = blake2b(digest_size=16)
    for line in lines:
        digest.update(f"{line}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()


def _folder_lines(folder: str, below: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as scanned:
            entries = sorted(scanned, key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    except OSError as error:
        yield f"{below} {error.errno}"  # who reads it says so
        return
    for entry in entries:
        if not below and (entry.name in _UNSEEN or entry.name.startswith(".")):
            continue
        name = f"{below}/{entry.name}"
        if entry.is_dir():
            yield from _folder_lines(entry.path, name)
        else:
            yield f"{name} {_stamp(entry)}"


def _stamp(entry: os.DirEntry[str]) -> str:
    try:
        status = entry.stat()
    except OSError as error:  # deleted meanwhile
        return str(error.errno)
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ino}"
