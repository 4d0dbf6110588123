"""The records of batches: what a store's folders say of each, and what of it is missing.

Format 1 had no such record: its `batches` rows are the origins, its files those in its folders,
and its order that of its names, which begin with the time of the commit.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from dbt_graft.collectors.schema import record
from dbt_graft.collectors.store.damage import file_errors, unreadable_error
from dbt_graft.collectors.store.errors import (
    NEWER,
    NewerStoreError,
    StoreError,
    UnreadableStoreError,
)
from dbt_graft.collectors.store.tables import FORMAT, RECORD, TABLES, Batch, BatchFile
from dbt_graft.lineage.frozen import frozen

# Format 1 wrote these into every batch.
_ALWAYS = ("accesses", "runs", "shapes", "datasets", "column_edges", "rejects")
# What Spark writes beside a table when it is complete.
_SPARK_MARK = "_SUCCESS"
_READERS = 16
# Records that were read, by their file, its size and time: they never change.
_read: dict[tuple[str, str, int, int], Batch] = {}
_REMEMBERED = 10_000
S = TypeVar("S")
T = TypeVar("T")
FOLDER = re.compile(r"(?P<table>\w+)/batch_id=(?P<batch>[^/]+)")
_UNKNOWN_TIME = datetime.min.replace(tzinfo=UTC)


@frozen(kw_only=True)
class StoredBatch(Batch):
    """A committed batch: its record, and whether its files are there.

    Attributes:
        faults: What is missing or damaged: files, each with what is wrong with it.
    """

    batch_id: str
    faults: tuple[str, ...] = ()

    @property
    def first(self) -> int:
        """The first sequence that it stands for; its own where it was not merged."""
        return self.sequence if self.first_sequence is None else self.first_sequence


def stored_batch(batch_id: str, record: Batch, faults: Sequence[str] = ()) -> StoredBatch:
    """The batch of a record."""
    values = {field.name: getattr(record, field.name) for field in fields(Batch)}
    return StoredBatch(**values, batch_id=batch_id, faults=tuple(faults))


def _without_record(
    batch_id: str,
    sequence: int,
    faults: Sequence[str],
    committed_at: datetime = _UNKNOWN_TIME,
    files: Sequence[BatchFile] = (),
) -> StoredBatch:
    """A batch of format 1, or one whose record is damaged."""
    return stored_batch(batch_id, Batch(sequence, 1, "", committed_at, tuple(files)), faults)


@frozen
class StoreFiles:
    """The files of a store, to be read."""

    place: str
    system: fs.FileSystem
    root: str

    def parquet(self, path: str, coded: Iterable[str] = ()) -> pq.ParquetFile:
        """A file, its bytes read: what is wrong with it then is damage.

        Args:
            coded: Columns of texts that are read as they are stored, as numbers and a dictionary.
        """
        try:
            with self.system.open_input_file(f"{self.root}/{path}") as file:
                content = file.read_buffer()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise unreadable_error(f"{self.place}/{path}", error) from error
        parquet = pq.ParquetFile(pa.BufferReader(content))
        # A file of an earlier version may lack one.
        texts = [*{*parquet.schema_arrow.names}.intersection(coded)]
        if not texts:
            return parquet
        return pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts)


def in_parallel(system: fs.FileSystem, work: Callable[[S], T], files: Iterable[S]) -> Iterator[T]:
    """The results of some work on each of some files, in order; at once where they are far away."""
    if isinstance(system, fs.LocalFileSystem):
        yield from map(work, files)
        return
    with ThreadPoolExecutor(_READERS) as pool:
        yield from pool.map(work, files)


def batch_records(files: StoreFiles, below: Mapping[str, fs.FileInfo]) -> list[StoredBatch]:
    """All batches with a record, damaged ones too.

    Args:
        below: The files in the folders of tables, by their paths below the store.

    Raises:
        StoreError: A record cannot be read now, or is of a newer version.
    """
    folders: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(below):
        folder, _, name = path.rpartition("/")
        match = FOLDER.fullmatch(folder)
        if match and name.endswith(".parquet") and not name.startswith(("_", ".")):
            folders[match["batch"]][match["table"]].append(path)

    def read_batches(folder: tuple[str, Mapping[str, Sequence[str]]]) -> list[StoredBatch]:
        return [*_batch_at(files, *folder, below)]

    batches_of_folders = in_parallel(files.system, read_batches, folders.items())
    return [batch for batches in batches_of_folders for batch in batches]


def _batch_at(
    files: StoreFiles,
    batch_id: str,
    tables: Mapping[str, Sequence[str]],
    below: Mapping[str, fs.FileInfo],
) -> Iterator[StoredBatch]:
    mark = f"batches/batch_id={batch_id}/{_SPARK_MARK}"
    if mark in below and "batches" not in tables:
        fault = f"batches/batch_id={batch_id} is missing"
        yield _without_record(batch_id, 0, [fault])
    if records := tables.get("batches"):
        path = f"batches/batch_id={batch_id}/{RECORD}"
        if path in records:
            yield _batch(files, batch_id, path, below)
        else:
            yield _format_1(files, batch_id, tables, below)


def _batch(
    files: StoreFiles, batch_id: str, path: str, below: Mapping[str, fs.FileInfo]
) -> StoredBatch:
    try:
        batch = _record(files, path, below[path])
    except (UnreadableStoreError, NewerStoreError):
        raise
    except (StoreError, ValueError) as error:
        return _without_record(batch_id, -1, [_fault(path, error)])
    faults = []
    for file in batch.files:
        if file.path not in below:
            faults.append(f"{file.path} is missing")
        elif (size := below[file.path].size) != file.bytes:
            faults.append(f"{file.path} has {size:,} of {file.bytes:,} bytes")
    return stored_batch(batch_id, batch, faults)


def _record(files: StoreFiles, path: str, info: fs.FileInfo) -> Batch:
    key = (files.place, path, info.size, info.mtime_ns or 0)
    if key not in _read:
        with file_errors(f"{files.place}/{path}"):
            table = files.parquet(path).read(use_threads=False)
            [row] = table.cast(with_utc_times(table.schema)).to_pylist()
        if row["format"] > FORMAT:
            raise NewerStoreError(
                f"the lineage store was written by a newer dbt-graft ({row['version']}): its "
                f"format is {row['format']}, and this version reads up to {FORMAT}",
                place=files.place,
                remedy=NEWER,
            )
        if len(_read) >= _REMEMBERED:
            _read.clear()
        _read[key] = record(Batch, row)
    return _read[key]


def _format_1(
    store: StoreFiles,
    batch_id: str,
    tables: Mapping[str, Sequence[str]],
    below: Mapping[str, fs.FileInfo],
) -> StoredBatch:
    files: list[BatchFile] = []
    faults: list[str] = []
    if f"batches/batch_id={batch_id}/{_SPARK_MARK}" in below:
        faults += (
            f"{table}/batch_id={batch_id} is missing" for table in _ALWAYS if table not in tables
        )
    committed_at = _UNKNOWN_TIME
    for table, paths in tables.items():
        for path in paths if table in TABLES else ():
            files.append(BatchFile("origins" if table == "batches" else table, path))
            try:
                with file_errors(path):
                    file = store.parquet(path)
                    if table == "batches":
                        rows = file.read(["committed_at"])
                        rows = rows.cast(with_utc_times(rows.schema))
                        times: list[Any] = rows["committed_at"].to_pylist()
                        committed_at = max(times, default=committed_at)
            except UnreadableStoreError:
                raise
            except StoreError as error:
                faults.append(_fault(path, error))
    return _without_record(batch_id, 0, faults, committed_at, files)


def _fault(path: str, error: Exception) -> str:
    return f"{path} {error.problem if isinstance(error, StoreError) else 'cannot be read'}"


def uncommitted_folders(times: Mapping[str, int], batch_ids: Collection[str]) -> dict[str, int]:
    """The folders of batches that have no record, each with the time of its newest file."""
    newest: dict[str, int] = {}
    for path, at in times.items():
        folder = FOLDER.match(path)
        if folder and folder["batch"] not in batch_ids and folder["table"] in TABLES:
            newest[folder[0]] = max(newest.get(folder[0], 0), at)
    return newest


def with_utc_times(schema: pa.Schema) -> pa.Schema:
    """The schema with all times in UTC: Spark's INT96 times have no zone."""
    return pa.schema(
        field.with_type(pa.timestamp("us", "UTC")) if pa.types.is_timestamp(field.type) else field
        for field in schema
    )
