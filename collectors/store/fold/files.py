"""The files of folds: written one after the other, the record last; old folds are removed."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from dbt_graft import __version__
from dbt_graft.collectors.schema import arrow, batch
from dbt_graft.collectors.store.batches import OpenStore
from dbt_graft.collectors.store.fold.read import origins_of_dbt
from dbt_graft.collectors.store.fold.tables import (
    FOLD_FORMAT,
    FOLD_RECORD,
    FOLD_TABLES,
    FOLDS,
    SHORT,
    FoldRecord,
    fold_tables,
    stored_folds,
)
from dbt_graft.collectors.store.purged_rows import clear_texts
from dbt_graft.collectors.store.rows_once import datasets_once, edges_once
from dbt_graft.collectors.store.tables import BatchFile
from dbt_graft.collectors.store.upgrade import copy_file
from dbt_graft.lineage.fold.days import DayFigures

_log = logging.getLogger(__name__)
# What a fold of another process that is being written has at least touched since.
_LEFT_BEHIND = timedelta(days=1)
_PER_GROUP = 1 << 17
# The columns that are summed up by day; all others say of what.
_SUMS = frozenset(("runs", "failed", "timed", "seconds", "statements", "counted", "rows", "bytes"))


class FoldWriter:
    """Writes a fold of all batches of a store; it counts when it is finished."""

    def __init__(self, snapshot: OpenStore) -> None:
        self._snapshot = snapshot
        self._sequence = snapshot.batches[-1].sequence
        self._folder = f"{FOLDS}/{self._sequence:010}-{uuid.uuid4().hex[:8]}"
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._rows: dict[str, int] = {}
        snapshot.files.create_dir(f"{snapshot.root}/{self._folder}", recursive=True)

    @property
    def folder(self) -> str:
        """Its folder, below the store."""
        return self._folder

    def records(self, name: str, records: Iterable[Any]) -> None:
        """Write records of a table."""
        self.table(name, pa.Table.from_batches([batch(FOLD_TABLES[name], records)]))

    def table(self, name: str, rows: pa.Table) -> None:
        """Write rows of a table, after those that were written before."""
        schema = arrow(FOLD_TABLES[name])
        if name not in self._writers:
            # Keys are random numbers.
            is_random = name.endswith("keys")
            self._writers[name] = pq.ParquetWriter(
                f"{self._snapshot.root}/{self._folder}/{name}.parquet",
                schema,
                filesystem=self._snapshot.files,
                compression="none" if is_random else "snappy",
                use_dictionary=not is_random,
            )
            self._rows[name] = 0
        self._rows[name] += rows.num_rows
        self._writers[name].write_table(rows.select(schema.names).cast(schema), _PER_GROUP)

    def days(self, figures: DayFigures, earlier: Callable[[str], Iterable[pa.Table]]) -> None:
        """Write figures by day, added to those that are known already."""
        for name, rows in (("task_days", figures.tasks), ("usage_days", figures.usages)):
            tables = [pa.Table.from_batches([batch(FOLD_TABLES[name], rows)]), *earlier(name)]
            self.table(name, sum_by_day(name, tables))

    def finish(self, namespaces: Sequence[str]) -> None:
        """Write what is missing, and the record."""
        for name in ("runs", "datasets", "column_edges"):
            if name not in self._writers:
                self.records(name, ())
        self._write_short_tables()
        for name in FOLD_TABLES.keys() - self._writers.keys():
            self.records(name, ())
        files = []
        for name, writer in sorted(self._writers.items()):
            writer.close()
            path = f"{self._folder}/{name}.parquet"
            size = self._snapshot.files.get_file_info(f"{self._snapshot.root}/{path}").size
            files.append(BatchFile(name, path, self._rows[name], size))
        record = FoldRecord(
            self._sequence,
            FOLD_FORMAT,
            __version__,
            datetime.now(UTC),
            tuple(files),
            tuple(namespaces),
        )
        _put_record(self._snapshot, self._folder, record)

    def _write_short_tables(self) -> None:
        """Write the datasets and column edges of all logs, each once."""
        apart = origins_of_dbt(self._read_written("runs"))
        for name, once in (("datasets", datasets_once), ("column_edges", edges_once)):
            self.table(f"{SHORT}{name}", once(self._read_written(name), apart))

    def _read_written(self, name: str) -> pa.Table:
        """The rows of a table that is complete."""
        self._writers[name].close()
        with self._snapshot.files.open_input_file(
            f"{self._snapshot.root}/{self._folder}/{name}.parquet"
        ) as file:
            return pq.ParquetFile(file).read()


def _put_record(snapshot: OpenStore, folder: str, record: FoldRecord) -> None:
    beside = f"{snapshot.root}/{folder}/.{FOLD_RECORD}.new"
    rows = pa.Table.from_batches([batch(FoldRecord, [record])])
    pq.write_table(rows, beside, filesystem=snapshot.files)
    snapshot.files.move(beside, f"{snapshot.root}/{folder}/{FOLD_RECORD}")


def sum_by_day(name: str, tables: Sequence[pa.Table]) -> pa.Table:
    """Figures by day of several tables, added up and sorted."""
    schema = arrow(FOLD_TABLES[name])
    rows = pa.concat_tables([table.select(schema.names).cast(schema) for table in tables])
    keys = [column for column in schema.names if column not in _SUMS]
    sums = [column for column in schema.names if column in _SUMS]
    totals = rows.group_by(keys, use_threads=False).aggregate([(column, "sum") for column in sums])
    totals = totals.rename_columns([column.removesuffix("_sum") for column in totals.column_names])
    return totals.select(schema.names).cast(schema).sort_by([(key, "ascending") for key in keys])


def drop_texts(snapshot: OpenStore, shapes: Iterable[str]) -> None:
    """Take the texts of some shapes out of the newest fold, and remove all others."""
    folds = stored_folds(snapshot)
    if not folds:
        return
    newest, wanted = folds[0], pa.array(sorted(shapes), pa.string())
    folder = f"{FOLDS}/{newest.sequence:010}-{uuid.uuid4().hex[:8]}"
    snapshot.files.create_dir(f"{snapshot.root}/{folder}", recursive=True)
    files = []
    for file in newest.record.files:
        path = f"{folder}/{file.table}.parquet"
        if file.table == "shapes":
            rows = pa.concat_tables(fold_tables(snapshot, newest, file.table))
            rows = clear_texts(rows, wanted)
            pq.write_table(rows, f"{snapshot.root}/{path}", filesystem=snapshot.files)
        else:
            copy_file(snapshot.files, f"{snapshot.root}/{file.path}", f"{snapshot.root}/{path}")
        size = snapshot.files.get_file_info(f"{snapshot.root}/{path}").size
        files.append(replace(file, path=path, bytes=size))
    _put_record(snapshot, folder, replace(newest.record, files=tuple(files)))
    for fold in folds:
        snapshot.files.delete_dir(f"{snapshot.root}/{fold.folder}")


def remove_folds(snapshot: OpenStore) -> None:
    """Remove all folds: what is in them is not in the store any more."""
    snapshot.files.delete_dir_contents(f"{snapshot.root}/{FOLDS}", missing_dir_ok=True)


def thin_out(snapshot: OpenStore) -> None:
    """Remove folds that are not needed: of older ones, the further back, the fewer stay.

    A log that is read again makes the newest ones useless, but none that it is not in. The newest
    two stay in any case, since somebody may be reading them.
    """
    folds = stored_folds(snapshot)
    stay = {fold.folder for fold in folds[:2]}
    oldest: dict[int, str] = {}
    for fold in folds:
        oldest[(snapshot.last_sequence - fold.sequence).bit_length()] = fold.folder
    stay |= set(oldest.values())
    folders = {fold.folder for fold in folds}
    limit = datetime.now(UTC) - _LEFT_BEHIND
    selector = fs.FileSelector(f"{snapshot.root}/{FOLDS}", allow_not_found=True)
    for info in snapshot.files.get_file_info(selector):
        folder = f"{FOLDS}/{info.base_name}"
        is_left = folder not in folders and info.mtime is not None and info.mtime < limit
        if is_left or folder in folders - stay:
            _log.debug("removing %s", folder)
            with suppress(OSError):
                snapshot.files.delete_dir(f"{snapshot.root}/{folder}")
