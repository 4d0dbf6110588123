"""The state of a store as one text: equal only as long as all that readers see is the same."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from hashlib import blake2b

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
        from dbt_graft.collectors.store.bucket_state import bucket_lines

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
