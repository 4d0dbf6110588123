"""Folds: what is left of batches 1 to n when they are folded, in folders of the store.

    <store>/folds/0000008760-5d2f…/accesses.parquet
    <store>/folds/0000008760-5d2f…/fold.parquet

A fold is derived from batches: where it is missing, damaged, or of another version, these are read
instead. Its record, `fold.parquet`, is written last. Rows of origins that may be read again have
their origin, `origins` lists these; of all others a dataset, column edge or shape is there once.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from hashlib import blake2b

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from dbt_graft.collectors.schema import record
from dbt_graft.collectors.store.batches import OpenStore
from dbt_graft.collectors.store.tables import PURGED, TABLES, BatchFile
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Shape

_log = logging.getLogger(__name__)
FOLDS = "folds"
# Raise it with every change of what is folded, and how: a fold of another version is not read.
FOLD_FORMAT = 2
# This one has no short tables.
_LONG = 1
FOLD_RECORD = "fold.parquet"


@frozen
class FoldedOrigin:
    """A log whose rows in the fold can still be replaced."""

    origin: str
    sequence: int


@frozen
class FoldedShape:
    """A shape, as `lineage.records.Shape`.

    Attributes:
        settled: It stays, whatever is read again.
    """

    shape_id: str
    dialect: str
    text: str
    parser: str
    outcome: str
    reason: str | None
    sequence: int
    settled: bool


@frozen
class SettledKey:
    """A key of what was folded, as a number; see `lineage.settled`."""

    key: int


@frozen
class FoldRecord:
    """The record of a fold.

    Attributes:
        sequence: Of the last batch in it.
        namespaces: Those of Airflow's jobs when it was made.
    """

    sequence: int
    format: int
    version: str
    folded_at: datetime
    files: tuple[BatchFile, ...]
    namespaces: tuple[str, ...] = ()


@frozen
class StoredFold:
    """A fold of a store: its folder, below the store, and its record."""

    folder: str
    record: FoldRecord

    @property
    def sequence(self) -> int:
        """The sequence of the last batch in it."""
        return self.record.sequence

    @property
    def has_short(self) -> bool:
        """Whether it has short tables."""
        return self.record.format > _LONG


# Those of the store that are in a fold as they are.
PLAIN = (
    *("accesses", "runs", "datasets", "column_edges"),
    *("rejects", "task_metadata", "dataset_metadata"),
)
REPEATS = ("run_repeats", "usage_repeats")
# Tables without the newest runs, which only pages show: `short_runs`, …
SHORT = "short_"
SHORT_TABLES = ("runs", "accesses", *REPEATS, "datasets", "column_edges")
FOLD_TABLES: Mapping[str, type] = {
    **{f"{SHORT}{name}": TABLES[name] for name in SHORT_TABLES},
    f"{SHORT}keys": SettledKey,
    **{name: TABLES[name] for name in PLAIN},
    "shapes": FoldedShape,
    "origins": FoldedOrigin,
    **{name: TABLES[name] for name in PURGED},
    "keys": SettledKey,
}


def stored_folds(snapshot: OpenStore) -> list[StoredFold]:
    """The folds of a store that can be read, newest first."""
    folds = []
    selector = fs.FileSelector(f"{snapshot.root}/{FOLDS}", allow_not_found=True)
    for info in snapshot.files.get_file_info(selector):
        if info.type is not fs.FileType.Directory:
            continue
        fold = _read_fold(snapshot, f"{FOLDS}/{info.base_name}")
        if fold:
            folds.append(fold)
    return sorted(folds, key=lambda fold: (fold.sequence, fold.folder), reverse=True)


def _read_fold(snapshot: OpenStore, folder: str) -> StoredFold | None:
    try:
        with snapshot.files.open_input_file(f"{snapshot.root}/{folder}/{FOLD_RECORD}") as file:
            [row] = pq.ParquetFile(file).read().to_pylist()
        if row["format"] not in (_LONG, FOLD_FORMAT):
            return None
        fold = StoredFold(folder, record(FoldRecord, row))
        infos = snapshot.files.get_file_info(fs.FileSelector(f"{snapshot.root}/{folder}"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, pa.ArrowException):
        _log.debug("%s/%s is not read", snapshot.place, folder, exc_info=True)
        return None
    sizes = {f"{folder}/{info.base_name}": info.size for info in infos}
    is_complete = all(sizes.get(file.path) == file.bytes for file in fold.record.files)
    return fold if is_complete else None


def fold_tables(snapshot: OpenStore, fold: StoredFold, table: str) -> Iterator[pa.Table]:
    """The rows of a table of a fold, file by file."""
    for file in fold.record.files:
        if file.table == table:
            with snapshot.files.open_input_file(f"{snapshot.root}/{file.path}") as source:
                yield pq.ParquetFile(source).read()


def any_settled(
    snapshot: OpenStore, fold: StoredFold, keys: Iterable[str], table: str = "keys"
) -> bool:
    """Whether any of the keys is settled in a fold.

    Args:
        table: `keys`, or `short_keys` for the runs that only the short tables are without.
    """
    wanted = pa.array(sorted({key_number(key) for key in keys}), pa.int64())
    if not len(wanted):
        return False
    for file in fold.record.files:
        if file.table != table:
            continue
        with snapshot.files.open_input_file(f"{snapshot.root}/{file.path}") as source:
            for rows in pq.ParquetFile(source).iter_batches(batch_size=1 << 18):
                if pc.any(pc.is_in(rows.column(0), value_set=wanted)).as_py():
                    return True
    return False


def key_number(key: str) -> int:
    """A key as a number: two keys have the same once in many billions of stores."""
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def folded_shape(shape: Shape, sequence: int) -> FoldedShape:
    """A shape as it is in a fold, until its batch is settled."""
    return FoldedShape(
        *(shape.shape_id, shape.dialect, shape.text, shape.parser, shape.outcome, shape.reason),
        sequence=sequence,
        settled=False,
    )
