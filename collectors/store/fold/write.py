"""Fold a store: what the newest fold has and the batches since become the next one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

import pyarrow as pa

from dbt_graft.collectors.store.batches import OpenStore, open_store
from dbt_graft.collectors.store.fold.files import FoldWriter, thin_out
from dbt_graft.collectors.store.fold.read import (
    FoldedBatches,
    days_since,
    read_folded,
    read_unfolded,
)
from dbt_graft.collectors.store.fold.tables import (
    PLAIN,
    REPEATS,
    SHORT,
    FoldedOrigin,
    FoldedShape,
    fold_tables,
    key_number,
    stored_folds,
)
from dbt_graft.collectors.store.lock import folding
from dbt_graft.lineage.fold.merged_records import each_edge_once, merged_datasets
from dbt_graft.lineage.fold.runs import NEWEST, fold
from dbt_graft.lineage.fold.scope import fold_scope
from dbt_graft.lineage.fold.settled import origins_of, settled_keys
from dbt_graft.lineage.records import Records
from dbt_graft.lineage.run_group import RunGroup

# So many new accesses and runs are read faster than a fold is made.
FEW = 20_000
# More than these are folded on Spark.
MANY = 200_000


def fold_store(
    place: str,
    *,
    few: int = FEW,
    many: int = MANY,
    newest: int = NEWEST,
    before: datetime | None = None,
    on_spark: Callable[[OpenStore, FoldWriter], None] | None = None,
) -> bool:
    """Fold the batches of a store, if there are many rows since it was folded.

    Args:
        few: With fewer rows nothing is done.
        many: More rows are folded on Spark.
        newest: How many runs of each task and usage stay.
        before: Runs that ended before it do not stay for being among the newest.
        on_spark: Folds all batches from nothing; without it, they must fit into memory.

    Returns:
        Whether it was folded.
    """
    with folding(place) as is_free:
        if not is_free:
            return False
        found = open_store(place)
        last = max((one.sequence for one in stored_folds(found)), default=-1)
        # The first format has no sequence.
        is_old = any(one.sequence < 1 for one in found.batches)
        if is_old or not found.batches or _rows_after(found, last) < few:
            return False
        read = read_folded(found, once=False)
        since = _rows_after(found, read.fold.sequence if read and read.fold else -1)
        writer = FoldWriter(found)
        if on_spark and since > many:
            on_spark(found, writer)
        else:
            _fold(found, read or read_unfolded(found), writer, newest, before)
        thin_out(found)
    return True


def needs_spark(place: str, *, few: int = FEW, many: int = MANY) -> bool:
    """Whether a store is to be folded, and has more rows than fit into memory."""
    found = open_store(place)
    last = max((one.sequence for one in stored_folds(found)), default=-1)
    if _rows_after(found, last) < few or _rows_after(found, -1) <= many:
        return False
    read = read_folded(found)
    return read is None or _rows_after(found, read.fold.sequence if read.fold else -1) > many


def _rows_after(found: OpenStore, sequence: int) -> int:
    return sum(
        file.rows or 0
        for one in found.batches
        if one.sequence > sequence
        for file in one.files
        if file.table in ("accesses", "runs")
    )


def _fold(
    found: OpenStore, read: FoldedBatches, writer: FoldWriter, newest: int, before: datetime | None
) -> None:
    scope = fold_scope(read.records.runs, read.records.accesses)
    keys: set[int] = set()
    settled: set[str] = set()

    def note(group: RunGroup) -> None:
        keys.update(map(key_number, settled_keys(group, scope.namespaces)))
        settled.update(origins_of(group))

    records, days = fold(read.records, note, newest, before)
    left = {origin: at for origin, at in read.origins.items() if origin not in settled}
    for name in PLAIN:
        writer.records(name, getattr(_once(records, left), name))
    purges = {one.sequence for one in found.batches if one.purged_before}
    writer.records("shapes", settled_shapes(read.shapes, read.origins, settled, purges))
    writer.records("origins", [FoldedOrigin(*one) for one in left.items()])
    for name in REPEATS:
        writer.records(name, getattr(records, name))
    short_keys: set[int] = set()
    short, _ = fold(
        records,
        lambda group: short_keys.update(map(key_number, settled_keys(group, scope.namespaces))),
        newest=1,
        dated=False,
    )
    for name in ("runs", "accesses", *REPEATS):
        writer.records(f"{SHORT}{name}", getattr(short, name))
    writer.table(f"{SHORT}keys", pa.table({"key": pa.array(sorted(short_keys), pa.int64())}))
    writer.days(days, partial(days_since, found, read.fold))
    if read.fold:
        for rows in fold_tables(found, read.fold, "keys"):
            writer.table("keys", rows)
    writer.table("keys", pa.table({"key": pa.array(sorted(keys), pa.int64())}))
    writer.finish(scope.namespaces)


def _once(records: Records, left: dict[str, int]) -> Records:
    """The records with the datasets and column edges of settled logs each once."""
    return replace(
        records,
        datasets=tuple(merged_datasets(records.datasets, left)),
        column_edges=tuple(each_edge_once(records.column_edges, left)),
    )


def settled_shapes(
    shapes: Iterable[FoldedShape],
    origins: Mapping[str, int],
    settled: Iterable[str],
    purges: Iterable[int] = (),
) -> list[FoldedShape]:
    """The shapes, each settled one once; those of batches with a settled log are settled.

    Args:
        purges: The sequences of batches with closed logs, which are settled.
    """
    batches = {origins[origin] for origin in settled if origin in origins} | {*purges}
    found: list[FoldedShape] = []
    once: dict[str, FoldedShape] = {}
    for shape in shapes:
        if shape.settled or shape.sequence in batches:
            once[shape.shape_id] = replace(shape, settled=True)
        else:
            found.append(shape)
    return sorted([*once.values(), *found], key=lambda one: (one.sequence, one.shape_id))
