"""The contents of a store in figures: batches, files, bytes, rows, logs, and what waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import field
from datetime import datetime

from pyarrow import fs

from dbt_graft.collectors.store.batches import OpenStore, StoredBatch, open_store
from dbt_graft.collectors.store.compaction import due_blocks
from dbt_graft.collectors.store.logs import is_closed, last_logs
from dbt_graft.collectors.store.tables import FORMAT, TABLES
from dbt_graft.collectors.store.upgrade import COPIES
from dbt_graft.lineage.frozen import frozen

FOLDS = "folds"


@frozen
class TableSize:
    """The rows of a table in batches that count, its files and their bytes."""

    rows: int = 0
    files: int = 0
    bytes: int = 0


@frozen
class StoredLog:
    """A log in a store: how much was read of it, and when last."""

    origin: str
    events: int
    read_at: datetime


@frozen
class FolderSize:
    """The files in a folder, and their bytes."""

    files: int = 0
    bytes: int = 0


@frozen
class StoreContents:
    """The contents of a store.

    Attributes:
        merged: How many of the batches compaction made of others.
        last_sequence: The number of batches that were ever committed.
        format: The newest format in it; None for an empty store.
        formats: Format -> its batches.
        superseded: Batches that were merged and wait for their deletion.
        uncommitted: Folders of batches that were never committed.
        due: Batches that the next compaction merges.
        folds, copies: What is derived from the batches; copies from before an upgrade.
        purged_before: The runs of closed logs ended before it; None where none is closed.
    """

    place: str
    batches: int = 0
    merged: int = 0
    last_sequence: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None
    format: int | None = None
    formats: Counter[int] = field(default_factory=Counter)
    tables: dict[str, TableSize] = field(default_factory=dict)
    logs: tuple[StoredLog, ...] = ()
    superseded: int = 0
    uncommitted: int = 0
    due: int = 0
    folds: FolderSize = field(default_factory=FolderSize)
    copies: FolderSize = field(default_factory=FolderSize)
    purged_before: datetime | None = None
    closed: int = 0

    @property
    def files(self) -> int:
        """The files of its batches, their records left out."""
        return sum(table.files for table in self.tables.values())

    @property
    def bytes(self) -> int:
        """The bytes in these files."""
        return sum(table.bytes for table in self.tables.values())


def store_contents(store: str) -> StoreContents:
    """The contents of a store; data is not read.

    Raises:
        StoreError: It is damaged or cannot be read.
    """
    snapshot = open_store(store)
    times = [batch.committed_at for batch in snapshot.batches]
    last = last_logs(snapshot)
    logs = last.select(["origin", "events", "committed_at"]).to_pylist()
    purges = [batch.purged_before for batch in snapshot.batches if batch.purged_before]
    formats = Counter(batch.format for batch in snapshot.batches)
    return StoreContents(
        store,
        batches=len(snapshot.batches),
        merged=sum(bool(batch.replaces) for batch in snapshot.batches),
        last_sequence=snapshot.last_sequence,
        oldest=min((row["committed_at"] for row in logs), default=None),
        newest=max(times, default=None),
        format=max(formats, default=None),
        formats=formats,
        tables=_table_sizes(snapshot, snapshot.batches),
        logs=tuple(StoredLog(*row.values()) for row in logs),
        superseded=len(snapshot.superseded),
        uncommitted=len(snapshot.uncommitted),
        due=sum(len(block.parts) for block in due_blocks(snapshot)),
        folds=_folder_size(snapshot, FOLDS),
        copies=_folder_size(snapshot, COPIES),
        purged_before=max(purges, default=None),
        closed=last.filter(is_closed(last)).num_rows,
    )


def is_earlier(contents: StoreContents) -> bool:
    """Whether the next commit upgrades the store."""
    return any(version < FORMAT for version in contents.formats)


def _table_sizes(snapshot: OpenStore, batches: Iterable[StoredBatch]) -> dict[str, TableSize]:
    sizes: dict[str, TableSize] = {}
    for batch in batches:
        for file in batch.files:
            total = sizes.get(file.table, TableSize())
            rows, size = file.rows, file.bytes
            if rows is None:  # format 1 did not note them
                rows = snapshot.parquet(file.path).metadata.num_rows
            if size is None:
                size = snapshot.files.get_file_info(f"{snapshot.root}/{file.path}").size
            sizes[file.table] = TableSize(total.rows + rows, total.files + 1, total.bytes + size)
    return {table: sizes[table] for table in TABLES if table in sizes}


def _folder_size(snapshot: OpenStore, folder: str) -> FolderSize:
    selector = fs.FileSelector(f"{snapshot.root}/{folder}", recursive=True, allow_not_found=True)
    files = [
        info for info in snapshot.files.get_file_info(selector) if info.type is fs.FileType.File
    ]
    return FolderSize(len(files), sum(info.size for info in files))
