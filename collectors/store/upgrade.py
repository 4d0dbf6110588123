"""The copy of a store of an earlier format, kept before this version writes to it.

An earlier version of dbt-graft refuses a store once a newer one has written to it. The copy is
that store as it was, in `copies/format-4`: the way back. Its files are links where the system has
them, so it takes no space until the files of the store are merged into others.
"""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from itertools import chain
from pathlib import Path

from pyarrow import fs

from dbt_graft.collectors.store.batch_records import in_parallel
from dbt_graft.collectors.store.batches import OpenStore
from dbt_graft.collectors.store.tables import FORMAT, TABLES

COPIES = "copies"
# What is derived from batches, or is another copy.
_LEFT_OUT = (COPIES, "folds")
_log = logging.getLogger(__name__)


def keep_copy(snapshot: OpenStore) -> None:
    """Copy a store in which all batches are of earlier formats; to be called before a commit.

    Records of batches are copied last, so a copy that was interrupted holds no batch in part; it
    is completed by the next commit.
    """
    batches = (*snapshot.batches, *snapshot.superseded)
    newest = max((batch.format for batch in batches), default=FORMAT)
    if newest >= FORMAT:
        return
    target = f"{snapshot.root}/{COPIES}/format-{newest}"
    top = snapshot.files.get_file_info(fs.FileSelector(snapshot.root))
    folders = [info for info in top if info.type is fs.FileType.Directory]
    others = [info for info in folders if info.base_name not in (*TABLES, *_LEFT_OUT)]
    tables = [info for info in folders if info.base_name in TABLES]
    tables.sort(key=lambda info: info.base_name == "batches")
    copy_files(
        snapshot.files, snapshot.root, target, [info.base_name for info in chain(others, tables)]
    )
    for info in top:
        if info.type is fs.FileType.File and not info.base_name.startswith("."):
            copy_file(snapshot.files, info.path, f"{target}/{info.base_name}", anew=True)
    _log.info("the store as it was in format %d is kept in %s", newest, target)


def copy_files(files: fs.FileSystem, root: str, target: str, folders: list[str]) -> None:
    """Copy folders below a root, one after the other; what is there already stays."""
    for folder in folders:
        selector = fs.FileSelector(f"{root}/{folder}", recursive=True, allow_not_found=True)
        copied = fs.FileSelector(f"{target}/{folder}", recursive=True, allow_not_found=True)
        sizes = {info.path[len(target) :]: info.size for info in files.get_file_info(copied)}
        missing = [
            info
            for info in files.get_file_info(selector)
            if info.type is fs.FileType.File and sizes.get(info.path[len(root) :]) != info.size
        ]
        for above in {info.path.rpartition("/")[0] for info in missing}:
            files.create_dir(f"{target}{above[len(root) :]}")

        def copy(info: fs.FileInfo) -> None:
            copy_file(files, info.path, f"{target}{info.path[len(root) :]}")

        for _ in in_parallel(files, copy, missing):
            pass


def copy_file(files: fs.FileSystem, source: str, target: str, *, anew: bool = False) -> None:
    """Copy a file of a store, which is never changed in place: a link is as good.

    Args:
        anew: In place of one that is there.
    """
    if isinstance(files, fs.LocalFileSystem):
        if anew:
            Path(target).unlink(missing_ok=True)
        with suppress(OSError):  # this file system has none
            os.link(source, target)
            return
    beside = f"{target}.new"
    files.copy_file(source, beside)
    files.move(beside, target)
