"""The committed batches of a store in their order, and whether all their files are there.

A batch is what its record in `batches` says: its place in the order, its format, and each file of
each table with its rows and bytes. Other files in the folder are nobody's and are not read.
A batch that compaction made stands for a range of sequences, and those that it lists count no more.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, ParamSpec, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from dbt_graft.collectors.files import filesystem
from dbt_graft.collectors.schema import column_names, text_columns
from dbt_graft.collectors.store.batch_records import (
    StoredBatch,
    StoreFiles,
    batch_records,
    in_parallel,
    uncommitted_folders,
    with_utc_times,
)
from dbt_graft.collectors.store.damage import file_errors, unreadable_error
from dbt_graft.collectors.store.errors import (
    NEWER,
    RESTORE,
    MissingFileError,
    NewerStoreError,
    StoreError,
    UnreadableStoreError,
)
from dbt_graft.collectors.store.tables import TABLES, BatchFile
from dbt_graft.collectors.store.without_pandas import leave_pandas_out
from dbt_graft.lineage.frozen import frozen


def superseded_batches(stored: Iterable[StoredBatch], given_up: Collection[str]) -> set[str]:
    """The batches that others were made of, which are complete or were merged in turn."""
    superseded: set[str] = set()
    # The widest first, and of the same range the one that was made of the other.
    merged = [batch for batch in stored if batch.replaces and batch.batch_id not in given_up]
    merged.sort(key=lambda batch: batch.first - batch.sequence)
    waiting = merged
    while waiting:
        later = []
        for batch in waiting:
            if batch.batch_id in superseded or not batch.faults:
                superseded.update(batch.replaces)
            else:
                later.append(batch)
        if len(later) == len(waiting):
            break
        waiting = later
    return superseded


def missing_sequences(stored: Iterable[StoredBatch], given_up: Iterable[str]) -> Iterator[str]:
    """The sequences below the last that no batch stands for: `#2`, `#17-32`."""
    ranges = [(batch.first, batch.sequence) for batch in stored if batch.sequence > 0]
    last = max((last for _, last in ranges), default=0)
    numbers = (name[1:].split("-") for name in given_up if name.startswith("#"))
    ranges += [(int(bounds[0]), int(bounds[-1])) for bounds in numbers]
    reached = 0
    for first, end in [*sorted(ranges), (last, last)]:
        if first > reached + 1 and reached < last:
            gap = (reached + 1, min(first, last + 1) - 1)
            yield f"#{gap[0]}" if gap[0] == gap[1] else f"#{gap[0]}-{gap[1]}"
        reached = max(reached, end)


__all__ = [
    "OpenStore",
    "StoredBatch",
    "batches",
    "collected_at",
    "damages",
    "open_store",
    "reopens",
]

P = ParamSpec("P")
T = TypeVar("T")
_SHOWN = 3
_SMALL = 2**20


@frozen
class OpenStore:
    """A store as it was found.

    Attributes:
        superseded: Those that compaction has merged into others; they wait for their deletion.
        uncommitted: Folders of batches without a record -> the time of their newest file, in
            nanoseconds.
        newest: The time of the newest file in the newest batch, by the same clock.
        times: The files of all batches -> their times.
        given_up: Damaged batches that count no more: ids, or `#` and a sequence.
    """

    place: str
    files: fs.FileSystem = field(repr=False)
    root: str
    batches: tuple[StoredBatch, ...] = ()
    superseded: tuple[StoredBatch, ...] = ()
    uncommitted: Mapping[str, int] = field(default_factory=dict)
    newest: int = 0
    last_sequence: int = 0
    times: Mapping[str, int] = field(default_factory=dict, repr=False)
    given_up: frozenset[str] = frozenset()

    def rows(
        self, table: str, batch_ids: Iterable[str] | None = None
    ) -> list[tuple[StoredBatch, dict[str, Any]]]:
        """The rows of a table in order, each with its batch.

        Raises:
            StoreError: A file cannot be read, or holds what this version does not know.
        """
        return [
            (batch, row)
            for batch, rows in self.tables(table, batch_ids)
            for row in rows.to_pylist()
        ]

    def tables(
        self,
        table: str,
        batch_ids: Iterable[str] | None = None,
        only: Callable[[pa.Table], pa.Table] = lambda rows: rows,
    ) -> list[tuple[StoredBatch, pa.Table]]:
        """The files of a table in order, each with its batch; else as `rows`.

        Args:
            only: Returns the rows of a file that are wanted; the others need no memory then.
        """
        wanted = None if batch_ids is None else set(batch_ids)
        batch_files = [
            (batch, file)
            for batch in self.batches
            for file in batch.files
            if file.table == table and (wanted is None or batch.batch_id in wanted)
        ]
        tables = in_parallel(
            self.files, lambda batch_file: only(self.table(*batch_file)), batch_files
        )
        return [(batch, rows) for (batch, _), rows in zip(batch_files, tables, strict=True)]

    def table(self, batch: StoredBatch, file: BatchFile, *, coded: bool = False) -> pa.Table:
        """The rows of a file.

        Args:
            coded: Texts as numbers and a dictionary, as the file has them.

        Raises:
            StoreError: It cannot be read, or holds what this version does not know.
        """
        path = f"{self.place}/{file.path}"
        with file_errors(path):
            # Threads, and to look at its columns first, cost a small file more than they bring.
            is_large = (file.bytes or 0) > _SMALL
            texts = text_columns(TABLES[file.table]) if coded and is_large else ()
            rows = self.parquet(file.path, texts).read(use_threads=is_large)
        if file.rows not in (None, rows.num_rows):
            problem = f"has {rows.num_rows:,} rows, and was written with {file.rows:,}"
            raise StoreError(problem, place=path, remedy=RESTORE)
        unknown = set(rows.column_names) - set(column_names(TABLES[file.table]))
        if unknown and batch.sequence:
            names = ", ".join(sorted(unknown))
            problem = f"has columns that this version does not know: {names}"
            raise NewerStoreError(problem, place=path, remedy=NEWER)
        return rows.cast(with_utc_times(rows.schema))

    def parquet(self, path: str, coded: Iterable[str] = ()) -> pq.ParquetFile:
        """A file of the store, as `StoreFiles` reads it."""
        return StoreFiles(self.place, self.files, self.root).parquet(path, coded)


def open_store(store: str, without: Collection[str] = ()) -> OpenStore:
    """The committed batches of a store.

    Raises:
        StoreError: It cannot be read; or files of other batches are damaged or missing.
    """
    leave_pandas_out()
    snapshot, faults = _open(store, without)
    if faults:
        raise _damage_error(store, [fault for batch in faults.values() for fault in batch])
    return snapshot


def collected_at(store: str, without: Collection[str] = ()) -> datetime | None:
    """Time of the newest commit; None for an empty store."""
    return max((batch.committed_at for batch in batches(store, without)), default=None)


def batches(store: str, without: Collection[str] = ()) -> tuple[StoredBatch, ...]:
    """The committed batches, oldest first."""
    return open_store(store, without).batches


def damages(store: str) -> dict[str, tuple[str, ...]]:
    """The damaged and missing batches -> what is wrong; each file is read to its end.

    Raises:
        StoreError: The store cannot be read now, or is of a newer version.
    """
    snapshot, faults = _open(store)
    for batch in snapshot.batches:
        try:
            for file in batch.files:
                snapshot.table(batch, file)
        except (UnreadableStoreError, NewerStoreError):
            raise
        except StoreError as error:
            faults[batch.batch_id] = (f"{error.place} {error.problem}",)
    return faults


def reopens(read: Callable[P, T]) -> Callable[P, T]:
    """Let a function that opens a store and reads it begin again, once, if a file is gone.

    Compaction deletes what it has merged after a while: a reader that takes longer finds it in the
    batches that came instead.
    """

    @functools.wraps(read)
    def twice(*args: P.args, **named: P.kwargs) -> T:
        try:
            return read(*args, **named)
        except MissingFileError:
            return read(*args, **named)

    return twice


def _open(
    store: str, without: Collection[str] = ()
) -> tuple[OpenStore, dict[str, tuple[str, ...]]]:
    """A store with the batches that are complete, and the faults of the others."""
    try:
        files, root = filesystem(store)
        below = _list_files(files, root)
    except OSError as error:
        raise unreadable_error(store, error) from error
    stored = batch_records(StoreFiles(store, files, root), below)
    batch_ids = {batch.batch_id for batch in stored}
    given_up = {*without, *(batch_id for batch in stored for batch_id in batch.gives_up)}
    last = max((batch.sequence for batch in stored), default=0)
    superseded = superseded_batches(stored, given_up)
    counting = [batch for batch in stored if batch.batch_id not in superseded | given_up]
    faults = {batch.batch_id: batch.faults for batch in counting if batch.faults}
    for missing in missing_sequences(stored, given_up):
        are = "es" if "-" in missing else ""
        faults[missing] = (f"batch{are} {missing} {'are' if are else 'is'} missing",)
    complete = [batch for batch in counting if not batch.faults]
    complete.sort(key=lambda batch: (batch.sequence, batch.batch_id))
    times = {path: info.mtime_ns or 0 for path, info in below.items()}
    opened = OpenStore(
        *(store, files, root, tuple(complete)),
        superseded=tuple(batch for batch in stored if batch.batch_id in superseded),
        uncommitted=uncommitted_folders(times, batch_ids),
        newest=max(
            (times[file.path] for batch in complete[-1:] for file in batch.files), default=0
        ),
        last_sequence=max(last, 0),
        times=times,
        given_up=frozenset(given_up),
    )
    return opened, faults


def _list_files(files: fs.FileSystem, root: str) -> dict[str, fs.FileInfo]:
    """The files in the folders of tables, by their paths below the store.

    Records are listed first: what a batch lists was there before its record.
    """

    def below(table: str) -> list[fs.FileInfo]:
        selector = fs.FileSelector(f"{root}/{table}", recursive=True, allow_not_found=True)
        return [info for info in files.get_file_info(selector) if info.type is fs.FileType.File]

    infos = below("batches")
    # Of a folder that this account may not read, this is an error. A bucket takes a request for
    # each table, and few stores have all of them.
    present = {
        info.base_name for info in files.get_file_info(fs.FileSelector(root, allow_not_found=True))
    }
    for table_infos in in_parallel(files, below, present & TABLES.keys() - {"batches"}):
        infos += table_infos
    return {info.path[len(root) :].lstrip("/"): info for info in infos}


def _damage_error(store: str, faults: Sequence[str]) -> StoreError:
    rest = f", and {len(faults) - _SHOWN:,} more" if len(faults) > _SHOWN else ""
    return StoreError(
        f"the lineage store is damaged: {'; '.join(faults[:_SHOWN])}{rest}",
        place=store,
        remedy=RESTORE,
    )
