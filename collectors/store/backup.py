"""A copy of a store that is whole, however many write to the store meanwhile.

Files of batches never change, so what an earlier backup has is not copied again. Data is copied
first and records last, in their order, and what the store no longer has is removed at the end: at
any moment the backup is a store that can be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

import orjson
from pyarrow import fs

from dbt_graft.collectors.files import filesystem
from dbt_graft.collectors.store.batch_records import in_parallel
from dbt_graft.collectors.store.batches import OpenStore, StoredBatch, open_store
from dbt_graft.collectors.store.errors import MissingFileError
from dbt_graft.collectors.store.tables import FORMAT, TABLES
from dbt_graft.collectors.system_reason import system_reason
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

MARKER = "dbt-graft-backup.json"
_ABOUT = "A backup of a lineage store by dbt-graft: the next one replaces these files."
# Files beside the tables that a store cannot make again.
_FILES = ("addresses.parquet",)
_FOLDERS = ("builds", "taints")
_FOLDER = re.compile(r"\w+/batch_id=[^/]+")


@frozen
class Backup:
    """The result of a backup: its batches, and the files and bytes that were copied now."""

    batches: int
    files: int
    bytes: int


def back_up(store: str, target: str) -> Backup:
    """Copy a store to a folder or URL.

    Raises:
        GraftError: The target has files of others, is in the store or holds it, or cannot be
            written; or the store is damaged or empty.
    """
    try:
        return _back_up(store, target)
    except MissingFileError:
        return _back_up(store, target)  # compaction was faster
    except OSError as error:
        raise GraftError(
            f"cannot be written: {system_reason(error)}",
            place=target,
            remedy="check that it exists, and that this account may write there",
        ) from error


def _back_up(store: str, target: str) -> Backup:
    snapshot = open_store(store)
    if not snapshot.batches:
        raise GraftError(
            "is missing or empty: there is nothing to back up",
            place=store,
            remedy="correct `store` in graft.yml, or run `graft collect`",
        )
    files, root = filesystem(target)
    _check_target(snapshot, files, root, target)
    copied_before = set(_files_below(files, root, TABLES))
    _mark(files, root, complete=False)
    paths = {file.path: None for batch in snapshot.batches for file in batch.files}
    records = [
        path
        for batch in snapshot.batches
        for path in _records(snapshot, batch)
        if path not in paths
    ]
    beside = [*_FILES, *_files_below(snapshot.files, snapshot.root, _FOLDERS)]
    copied = _copy(snapshot, files, root, [path for path in paths if path not in copied_before])
    new = [path for path in records if path not in copied_before]
    copied += _copy(snapshot, files, root, new, in_order=True)
    copied += _copy(snapshot, files, root, beside, optional=True)
    _remove_others(files, root, {*paths, *records, *beside}, copied_before)
    _mark(files, root, complete=True)
    if open_store(target).batches != snapshot.batches:
        raise GraftError(
            "is not equal to the store",
            place=target,
            remedy="run it again; another backup into this folder may be at work",
        )
    return Backup(len(snapshot.batches), len(copied), sum(copied))


def _check_target(snapshot: OpenStore, files: fs.FileSystem, root: str, target: str) -> None:
    if type(files) is type(snapshot.files):
        target_root, store_root = (f"{path.rstrip('/')}/" for path in (root, snapshot.root))
        if target_root.startswith(store_root) or store_root.startswith(target_root):
            raise GraftError(
                "is the store, is in it or holds it",
                place=target,
                remedy="name a folder elsewhere, best on another disk",
            )
    info = files.get_file_info(root)
    if info.type is fs.FileType.File:
        raise GraftError("is a file", place=target, remedy="name a folder")
    if info.type is fs.FileType.NotFound:
        return
    content = files.get_file_info(fs.FileSelector(root, allow_not_found=True))
    names = sorted(info.base_name for info in content)
    if names and MARKER not in names:
        raise GraftError(
            f"has files that belong to no backup of graft's, such as {names[0]}",
            place=target,
            remedy="name a new folder, or one with an earlier backup",
        )


def _records(snapshot: OpenStore, batch: StoredBatch) -> Iterator[str]:
    prefix = f"batches/batch_id={batch.batch_id}/"
    yield from (path for path in snapshot.times if path.startswith(prefix) and "/." not in path)


def _files_below(files: fs.FileSystem, root: str, folders: Iterable[str]) -> list[str]:
    paths = []
    for folder in folders:
        selector = fs.FileSelector(f"{root}/{folder}", recursive=True, allow_not_found=True)
        paths += [
            info.path[len(root) :].lstrip("/")
            for info in files.get_file_info(selector)
            if info.type is fs.FileType.File and not info.base_name.startswith(".")
        ]
    return paths


def _copy(
    snapshot: OpenStore,
    files: fs.FileSystem,
    root: str,
    paths: list[str],
    *,
    optional: bool = False,
    in_order: bool = False,
) -> list[int]:
    """Copy files of the store; the bytes of each."""
    for folder in {path.rpartition("/")[0] for path in paths}:
        files.create_dir(f"{root}/{folder}", recursive=True)

    def copy(path: str) -> int | None:
        try:
            source = snapshot.files.open_input_stream(f"{snapshot.root}/{path}", compression=None)
        except FileNotFoundError as error:
            if optional:
                return None
            raise MissingFileError("is missing", place=f"{snapshot.place}/{path}") from error
        folder, _, name = path.rpartition("/")
        beside = f"{root}/{folder}/.{name}.new"
        total = 0
        with source, files.open_output_stream(beside, compression=None) as out:
            while part := source.read(2**20):
                total += out.write(part) or len(part)
        files.move(beside, f"{root}/{path}")
        return total

    sizes = [copy(path) for path in paths] if in_order else in_parallel(files, copy, paths)
    return [size for size in sizes if size is not None]


def _remove_others(
    files: fs.FileSystem, root: str, current: set[str], before: Iterable[str]
) -> None:
    """Remove what the store no longer has, records first."""
    others = sorted(
        {*before, *_files_below(files, root, _FOLDERS)} - current,
        key=lambda path: not path.startswith("batches/"),
    )
    for path in others:
        with suppress(FileNotFoundError):
            files.delete_file(f"{root}/{path}")
    used = {path.rpartition("/")[0] for path in current}
    for folder in {path.rpartition("/")[0] for path in others} - used:
        if _FOLDER.fullmatch(folder):
            with suppress(OSError):
                files.delete_dir(f"{root}/{folder}")


def _mark(files: fs.FileSystem, root: str, *, complete: bool) -> None:
    files.create_dir(root, recursive=True)
    content = {"about": _ABOUT, "format": FORMAT, "complete": complete}
    with files.open_output_stream(f"{root}/{MARKER}") as out:
        out.write(orjson.dumps(content, option=orjson.OPT_INDENT_2))
