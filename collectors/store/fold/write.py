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
from dbt_graft.lineage.building.run_group import RunGroup
from dbt_graft.lineage.fold.merged_records import deduplicate_datasets, deduplicate_edges
from dbt_graft.lineage.fold.runs import NEWEST, fold
from dbt_graft.lineage.fold.scope import fold_scope
from dbt_graft.lineage.fold.settled import origins_of, settled_keys
from dbt_graft.lineage.records import Records

# So many new accesses and runs are read faster than a fold is made.
FEW = 20_000
# More than these are folded on Spark.
MANY = 200_000


def fold_store(
    store: str,
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
    """
    with folding(store):
        snapshot = open_store(store)
        last = max((stored.sequence for stored in stored_folds(snapshot)), default=-1)
        # The first format has no sequence.
        is_old = any(batch.sequence < 1 for batch in snapshot.batches)
        if is_old or not snapshot.batches or _rows_after(snapshot, last) < few:
            return False
        read = read_folded(snapshot, once=False)
        since = _rows_after(snapshot, read.fold.sequence if read and read.fold else -1)
        writer = FoldWriter(snapshot)
        if on_spark and since > many:
            on_spark(snapshot, writer)
        else:
            _fold(snapshot, read or read_unfolded(snapshot), writer, newest, before)
        thin_out(snapshot)
    return True


def needs_spark(store: str, *, few: int = FEW, many: int = MANY) -> bool:
    """Whether a store is to be folded, and has more rows than fit into memory."""
    snapshot = open_store(store)
    last = max((stored.sequence for stored in stored_folds(snapshot)), default=-1)
    if _rows_after(snapshot, last) < few or _rows_after(snapshot, -1) <= many:
        return False
    read = read_folded(snapshot)
    return read is None or _rows_after(snapshot, read.fold.sequence if read.fold else -1) > many


def _rows_after(snapshot: OpenStore, sequence: int) -> int:
    return sum(
        file.rows or 0
        for batch in snapshot.batches
        if batch.sequence > sequence
        for file in batch.files
        if file.table in ("accesses", "runs")
    )


def _fold(
    snapshot: OpenStore,
    read: FoldedBatches,
    writer: FoldWriter,
    newest: int,
    before: datetime | None,
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
        writer.records(name, getattr(_merge_settled(records, left), name))
    purges = {batch.sequence for batch in snapshot.batches if batch.purged_before}
    writer.records("shapes", settled_shapes(read.shapes, read.origins, settled, purges))
    writer.records("origins", [FoldedOrigin(*entry) for entry in left.items()])
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
    writer.days(days, partial(days_since, snapshot, read.fold))
    if read.fold:
        for rows in fold_tables(snapshot, read.fold, "keys"):
            writer.table("keys", rows)
    writer.table("keys", pa.table({"key": pa.array(sorted(keys), pa.int64())}))
    writer.finish(scope.namespaces)


def _merge_settled(records: Records, left: dict[str, int]) -> Records:
    """The records with the datasets and column edges of settled logs each once."""
    return replace(
        records,
        datasets=tuple(deduplicate_datasets(records.datasets, left)),
        column_edges=tuple(deduplicate_edges(records.column_edges, left)),
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
    unsettled: list[FoldedShape] = []
    once: dict[str, FoldedShape] = {}
    for shape in shapes:
        if shape.settled or shape.sequence in batches:
            once[shape.shape_id] = replace(shape, settled=True)
        else:
            unsettled.append(shape)
    return sorted([*once.values(), *unsettled], key=lambda shape: (shape.sequence, shape.shape_id))
