"""The committed batches of a store in their order, and whether all their files are there.

A batch is what its record in `batches` says: its place in the order, its format, and each file of
each table with its rows and bytes. Other files in the folder are nobody's and are not read.
Format 1 had no such record: its `batches` rows are the origins, its files those in its folders,
and its order that of its names, which begin with the time of the commit.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from dbt_graft.collectors.files import filesystem, system_reason
from dbt_graft.collectors.schema import column_names, record
from dbt_graft.collectors.store.tables import FORMAT, RECORD, TABLES, Batch, BatchFile
from dbt_graft.lineage.errors import GraftError

# Format 1 wrote these into every batch.
_ALWAYS = ("accesses", "runs", "shapes", "datasets", "column_edges", "rejects")
# What Spark writes beside a table when it is complete.
_SPARK_MARK = "_SUCCESS"
_SHOWN = 3
_READERS = 16
_FOLDER = re.compile(r"(?P<table>\w+)/batch_id=(?P<batch>[^/]+)")
_UNKNOWN_TIME = datetime.min.replace(tzinfo=UTC)
_NEWER = "install the version of dbt-graft that wrote it, or a later one"
_RESTORE = (
    "restore the store from a backup; without one, `graft collect --again` reads what the logs "
    "still hold"
)


class StoreError(GraftError):
    """The store is damaged, incomplete, of a newer version of graft, or cannot be read now."""


class UnreadableStoreError(StoreError):
    """A store that may be whole, but is out of reach: its server, or the rights of its files."""


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A committed batch.

    Attributes:
        sequence: Its place among the batches; 0 in format 1.
        faults: What is missing or damaged: files, each with what is wrong with it.
        gives_up: Damaged batches that count no more since this one: ids, or `#` and a sequence.
    """

    batch_id: str
    sequence: int
    committed_at: datetime
    files: tuple[BatchFile, ...] = ()
    faults: tuple[str, ...] = ()
    gives_up: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OpenStore:
    """A store as it was found.

    Attributes:
        batches: Those that count and are complete, oldest first.
        uncommitted: Folders of batches without a record -> the time of their newest file, in
            nanoseconds.
        newest: The time of the newest file in the newest batch, by the same clock.
    """

    place: str
    files: fs.FileSystem = field(repr=False)
    root: str
    batches: tuple[StoredBatch, ...] = ()
    uncommitted: Mapping[str, int] = field(default_factory=dict)
    newest: int = 0
    last_sequence: int = 0

    def rows(
        self, table: str, batch_ids: Iterable[str] | None = None
    ) -> list[tuple[StoredBatch, dict[str, Any]]]:
        """The rows of a table in order, each with its batch.

        Args:
            batch_ids: Only of these batches.

        Raises:
            StoreError: A file cannot be read, or holds what this version does not know.
        """
        wanted = None if batch_ids is None else set(batch_ids)
        listed = [
            (batch, file)
            for batch in self.batches
            for file in batch.files
            if file.table == table and (wanted is None or batch.batch_id in wanted)
        ]
        # The files may be far away.
        with ThreadPoolExecutor(_READERS) as pool:
            tables = pool.map(lambda one: self.table(*one), listed)
            found = [table.to_pylist() for table in tables]
        return [
            (batch, row) for (batch, _), rows in zip(listed, found, strict=True) for row in rows
        ]

    def table(self, batch: StoredBatch, file: BatchFile) -> pa.Table:
        """The rows of a file.

        Raises:
            StoreError: It cannot be read, or holds what this version does not know.
        """
        place = f"{self.place}/{file.path}"
        with _errors(place):
            found = self.parquet(file.path).read()
        if file.rows not in (None, found.num_rows):
            problem = f"has {found.num_rows:,} rows, and was written with {file.rows:,}"
            raise StoreError(problem, place=place, remedy=_RESTORE)
        unknown = set(found.column_names) - set(column_names(TABLES[file.table]))
        if unknown and batch.sequence:
            names = ", ".join(sorted(unknown))
            problem = f"has columns that this version does not know: {names}"
            raise StoreError(problem, place=place, remedy=_NEWER)
        return found.cast(_aware(found.schema))

    def parquet(self, path: str) -> pq.ParquetFile:
        """A file of the store, its bytes read: what is wrong with it then is damage."""
        try:
            with self.files.open_input_file(f"{self.root}/{path}") as file:
                content = file.read_buffer()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _unreadable(f"{self.place}/{path}", error) from error
        return pq.ParquetFile(pa.BufferReader(content))


def open_store(place: str, without: Collection[str] = ()) -> OpenStore:
    """The committed batches of a store.

    Args:
        without: Damaged batches to do without, as `damages` names them.

    Raises:
        StoreError: It cannot be read; or files of other batches are damaged or missing.
    """
    found, faults = _opened(place, without)
    if faults:
        raise _damaged(place, [fault for batch in faults.values() for fault in batch])
    return found


def damages(place: str) -> dict[str, tuple[str, ...]]:
    """The damaged and missing batches -> what is wrong; each file is read to its end.

    Raises:
        StoreError: The store cannot be read now, or is of a newer version.
    """
    found, faults = _opened(place)
    for batch in found.batches:
        try:
            for file in batch.files:
                found.table(batch, file)
        except UnreadableStoreError:
            raise
        except StoreError as error:
            faults[batch.batch_id] = (f"{error.place} {error.problem}",)
    return faults


def _opened(
    place: str, without: Collection[str] = ()
) -> tuple[OpenStore, dict[str, tuple[str, ...]]]:
    """A store with the batches that are complete, and the faults of the others."""
    try:
        files, root = filesystem(place)
        selector = fs.FileSelector(root, recursive=True, allow_not_found=True)
        below = {info.path[len(root) :].lstrip("/"): info for info in files.get_file_info(selector)}
    except OSError as error:
        raise _unreadable(place, error) from error
    found = OpenStore(place, files, root)
    sizes = {path: info.size for path, info in below.items() if info.type is fs.FileType.File}
    stored = list(_batches(found, sizes))
    known = {batch.batch_id for batch in stored}
    given_up = {*without, *(one for batch in stored for one in batch.gives_up)}
    last = max((batch.sequence for batch in stored), default=0)
    present = {f"#{batch.sequence}" for batch in stored} | given_up
    stored = [batch for batch in stored if batch.batch_id not in given_up]
    faults = {batch.batch_id: batch.faults for batch in stored if batch.faults}
    for missing in (f"#{n}" for n in range(1, last) if f"#{n}" not in present):
        faults[missing] = (f"batch {missing} is missing",)
    complete = [batch for batch in stored if not batch.faults]
    complete.sort(key=lambda batch: (batch.sequence, batch.batch_id))
    times = {path: info.mtime_ns or 0 for path, info in below.items()}
    opened = replace(
        found,
        batches=tuple(complete),
        uncommitted=_uncommitted(times, known),
        newest=max((times[file.path] for one in complete[-1:] for file in one.files), default=0),
        last_sequence=max(last, 0),
    )
    return opened, faults


def _damaged(place: str, faults: Sequence[str]) -> StoreError:
    more = f", and {len(faults) - _SHOWN:,} more" if len(faults) > _SHOWN else ""
    return StoreError(
        f"the lineage store is damaged: {'; '.join(faults[:_SHOWN])}{more}",
        place=place,
        remedy=_RESTORE,
    )


def _batches(store: OpenStore, sizes: Mapping[str, int]) -> Iterator[StoredBatch]:
    """All batches with a record, damaged ones too."""
    folders: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(sizes):
        folder, _, name = path.rpartition("/")
        place = _FOLDER.fullmatch(folder)
        if place and name.endswith(".parquet") and not name.startswith(("_", ".")):
            folders[place["batch"]][place["table"]].append(path)
    for batch_id, tables in folders.items():
        mark = f"batches/batch_id={batch_id}/{_SPARK_MARK}"
        if mark in sizes and "batches" not in tables:
            fault = f"batches/batch_id={batch_id} is missing"
            yield StoredBatch(batch_id, 0, _UNKNOWN_TIME, faults=(fault,))
        if records := tables.get("batches"):
            path = f"batches/batch_id={batch_id}/{RECORD}"
            if path in records:
                yield _batch(store, batch_id, path, sizes)
            else:
                yield _format_1(store, batch_id, tables, sizes)


def _batch(store: OpenStore, batch_id: str, path: str, sizes: Mapping[str, int]) -> StoredBatch:
    try:
        with _errors(f"{store.place}/{path}"):
            table = store.parquet(path).read()
            [row] = table.cast(_aware(table.schema)).to_pylist()
    except UnreadableStoreError:
        raise
    except (StoreError, ValueError) as error:
        return StoredBatch(batch_id, -1, _UNKNOWN_TIME, faults=(_fault(path, error),))
    if row["format"] > FORMAT:
        raise StoreError(
            f"the lineage store was written by a newer dbt-graft ({row['version']}): its format is "
            f"{row['format']}, and this version reads up to {FORMAT}",
            place=store.place,
            remedy=_NEWER,
        )
    batch = record(Batch, row)
    faults = []
    for file in batch.files:
        if file.path not in sizes:
            faults.append(f"{file.path} is missing")
        elif sizes[file.path] != file.bytes:
            faults.append(f"{file.path} has {sizes[file.path]:,} of {file.bytes:,} bytes")
    return StoredBatch(
        batch_id,
        batch.sequence,
        batch.committed_at,
        batch.files,
        tuple(faults),
        batch.gives_up,
    )


def _format_1(
    store: OpenStore,
    batch_id: str,
    tables: Mapping[str, Sequence[str]],
    sizes: Mapping[str, int],
) -> StoredBatch:
    files: list[BatchFile] = []
    faults: list[str] = []
    if f"batches/batch_id={batch_id}/{_SPARK_MARK}" in sizes:
        faults += (f"{one}/batch_id={batch_id} is missing" for one in _ALWAYS if one not in tables)
    committed_at = _UNKNOWN_TIME
    for table, paths in tables.items():
        for path in paths if table in TABLES else ():
            files.append(BatchFile("origins" if table == "batches" else table, path))
            try:
                with _errors(path):
                    file = store.parquet(path)
                    if table == "batches":
                        rows = file.read(["committed_at"])
                        rows = rows.cast(_aware(rows.schema))
                        times: list[Any] = rows["committed_at"].to_pylist()
                        committed_at = max(times, default=committed_at)
            except UnreadableStoreError:
                raise
            except StoreError as error:
                faults.append(_fault(path, error))
    return StoredBatch(batch_id, 0, committed_at, tuple(files), tuple(faults))


def _fault(path: str, error: Exception) -> str:
    return f"{path} {error.problem if isinstance(error, StoreError) else 'cannot be read'}"


def _uncommitted(times: Mapping[str, int], known: Collection[str]) -> dict[str, int]:
    """The folders of batches that have no record, each with the time of its newest file."""
    found: dict[str, int] = {}
    for path, at in times.items():
        folder = _FOLDER.match(path)
        if folder and folder["batch"] not in known and folder["table"] in TABLES:
            found[folder[0]] = max(found.get(folder[0], 0), at)
    return found


@contextmanager
def _errors(place: str) -> Iterator[None]:
    """Errors of pyarrow about a missing or damaged file, as errors with its place."""
    try:
        yield
    except FileNotFoundError as error:
        raise StoreError("is missing", place=place, remedy=_RESTORE) from error
    except pa.ArrowException as error:
        raise StoreError("is no complete Parquet file", place=place, remedy=_RESTORE) from error
    except OSError as error:
        raise StoreError("is damaged", place=place, remedy=_RESTORE) from error


def _unreadable(place: str, error: OSError) -> UnreadableStoreError:
    return UnreadableStoreError(
        f"cannot be read: {system_reason(error)}",
        place=place,
        remedy="let `store` in graft.yml name a folder or bucket that this account can read",
    )


def _aware(schema: pa.Schema) -> pa.Schema:
    """The schema with all times in UTC: Spark's INT96 times have no zone."""
    return pa.schema(
        field.with_type(pa.timestamp("us", "UTC")) if pa.types.is_timestamp(field.type) else field
        for field in schema
    )
