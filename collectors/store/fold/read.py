"""Read what is folded and the batches since, where these change nothing of what is settled."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbt_graft.collectors.schema import column_edges, records
from dbt_graft.collectors.store.batches import OpenStore
from dbt_graft.collectors.store.fold.tables import (
    FOLD_TABLES,
    PLAIN,
    REPEATS,
    SHORT,
    SHORT_TABLES,
    FoldedOrigin,
    FoldedShape,
    StoredFold,
    any_settled,
    fold_tables,
    folded_shape,
    stored_folds,
)
from dbt_graft.collectors.store.live_rows import LiveRows, concat_records
from dbt_graft.collectors.store.rows_once import datasets_once, edges_once
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.fold.settled import changing_keys, renames_settled
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.names import NameRules, Rename
from dbt_graft.lineage.records import ColumnEdge, Outcome, Records, Shape

_log = logging.getLogger(__name__)


@frozen
class FoldedBatches:
    """All batches of a store, of which the older ones are folded.

    Attributes:
        fold: None where all are read as they are.
        shapes: The shapes that count, the later one of an id last.
        origins: The logs that may be read again -> the sequence of the batch that read them.
    """

    records: Records
    shapes: Sequence[FoldedShape] = ()
    origins: Mapping[str, int] = field(default_factory=dict)
    fold: StoredFold | None = None

    @property
    def complete(self) -> Records:
        """The records with the shapes among them."""
        shapes = {
            shape.shape_id: Shape(
                *(shape.shape_id, shape.dialect, shape.text, shape.parser),
                Outcome(shape.outcome),
                shape.reason,
            )
            for shape in self.shapes
        }
        return replace(self.records, shapes=shapes)


def days_since(snapshot: OpenStore, fold: StoredFold | None, name: str) -> list[pa.Table]:
    """The figures by day, `task_days` or `usage_days`, of a fold and of purges since."""
    after = fold.sequence if fold else -1
    purges = [
        batch.batch_id
        for batch in snapshot.batches
        if batch.purged_before and batch.sequence > after
    ]
    tables = [*fold_tables(snapshot, fold, name)] if fold else []
    return tables + [rows for _, rows in snapshot.tables(name, purges)]


def read_unfolded(snapshot: OpenStore) -> FoldedBatches:
    """All batches as they are."""
    live = LiveRows(snapshot)
    new, shapes = _new_records(live)
    return FoldedBatches(new, shapes, live.sequences())


def read_folded(
    snapshot: OpenStore, rename: Rename | None = None, *, once: bool = True, newest: bool = True
) -> FoldedBatches | None:
    """All batches, by the newest fold that is of use; None where there is none.

    Args:
        once: Datasets and column edges that several logs show are there once, under the first log.
        newest: With the newest runs of tasks, which only pages show; without them if possible.
        rename: The name rules; see `lineage.settled.renames_settled`.
    """
    for fold in stored_folds(snapshot):
        if not _covers(snapshot, fold.sequence):
            continue
        for read_on in (_read_on,) if newest else (_read_short, _read_on):
            try:
                read = read_on(snapshot, fold, once=once)
            except OSError:
                # Another machine has removed it, or the server does not answer: batches do as well.
                _log.debug("%s/%s is not read", snapshot.place, fold.folder, exc_info=True)
                break
            if read and not renames_settled(read.records, rename or NameRules()):
                return read
    return None


def _covers(snapshot: OpenStore, sequence: int) -> bool:
    """Whether there are batches up to a sequence apart from those after it."""
    if sequence > snapshot.last_sequence:
        return False
    later = (batch for batch in snapshot.batches if batch.sequence > sequence)
    return not any(batch.first <= sequence or batch.gives_up for batch in later)


def _read_on(snapshot: OpenStore, fold: StoredFold, *, once: bool) -> FoldedBatches | None:
    """A fold and the batches after it; None where these change what is settled in it."""
    live = LiveRows(snapshot, fold.sequence)
    new, new_shapes = _new_records(live)
    replaced = live.origins
    keys = changing_keys(new, replaced, fold.record.namespaces)
    if live.batches and any_settled(snapshot, fold, keys):
        return None
    tables = {name: _rows(snapshot, fold, name) for name in (*PLAIN, "origins", *REPEATS)}
    if replaced:
        origins = pa.array(sorted(replaced), pa.string())
        for name in (*PLAIN, "origins"):
            rows = tables[name]
            is_replaced = pc.is_in(rows["origin"], value_set=origins)
            if name == "runs" and not _are_all_back(rows.filter(is_replaced), new):
                return None
            tables[name] = rows.filter(pc.invert(is_replaced))
    if once:
        apart = origins_of_dbt(tables["runs"])
        tables["datasets"] = datasets_once(tables["datasets"], apart)
        tables["column_edges"] = edges_once(tables["column_edges"], apart)
    return _add_new(snapshot, fold, tables, live, new, new_shapes)


def _read_short(snapshot: OpenStore, fold: StoredFold, *, once: bool) -> FoldedBatches | None:
    """As `_read_on`, by the fold's short tables; None also where a log in it was read again."""
    if not once or not fold.has_short:
        return None
    live = LiveRows(snapshot, fold.sequence)
    new, new_shapes = _new_records(live)
    origins = _rows(snapshot, fold, "origins")
    if live.batches:
        keys = [*changing_keys(new, live.origins, fold.record.namespaces)]
        is_replaced = pc.is_in(
            origins["origin"], value_set=pa.array(sorted(live.origins), pa.string())
        )
        settled = (any_settled(snapshot, fold, keys, name) for name in ("keys", f"{SHORT}keys"))
        if pc.any(is_replaced).as_py() or any(settled):
            return None
    tables = {
        name: _rows(snapshot, fold, f"{SHORT}{name}" if name in SHORT_TABLES else name)
        for name in (*PLAIN, *REPEATS)
    }
    return _add_new(snapshot, fold, {**tables, "origins": origins}, live, new, new_shapes)


def _add_new(
    snapshot: OpenStore,
    fold: StoredFold,
    tables: Mapping[str, pa.Table],
    live: LiveRows,
    new: Records,
    new_shapes: Sequence[FoldedShape],
) -> FoldedBatches:
    """The tables of a fold and the records since."""
    origins = {log.origin: log.sequence for log in records(FoldedOrigin, tables["origins"])}
    counted = {*origins.values()}
    shapes = [
        shape
        for shape in records(FoldedShape, _rows(snapshot, fold, "shapes"))
        if shape.settled or shape.sequence in counted
    ]
    old: dict[str, Any] = {
        name: column_edges(tables[name])
        if FOLD_TABLES[name] is ColumnEdge
        else records(FOLD_TABLES[name], tables[name])
        for name in (*PLAIN, *REPEATS)
    }
    combined: dict[str, Any] = {
        name: concat_records((old[name], getattr(new, name))) for name in old
    }
    return FoldedBatches(
        Records(**combined), [*shapes, *new_shapes], {**origins, **live.sequences()}, fold
    )


def origins_of_dbt(runs: pa.Table) -> set[str]:
    """The logs of dbt's own runs, which stay as they are."""
    of_dbt = pc.equal(runs["engine"], pa.scalar(str(DefinitionKind.DBT)))
    return set(map(str, runs.filter(of_dbt)["origin"].to_pylist()))


def _rows(snapshot: OpenStore, fold: StoredFold, name: str) -> pa.Table:
    return pa.concat_tables(fold_tables(snapshot, fold, name))


def _are_all_back(replaced_runs: pa.Table, new: Records) -> bool:
    """Whether the runs of logs that were read again are all there again.

    Else older ones, which were folded, would be among the newest.
    """
    ids = zip(replaced_runs["task"].to_pylist(), replaced_runs["run_id"].to_pylist(), strict=True)
    return {*ids} <= {(run.task, run.run_id) for run in new.runs}


def _new_records(live: LiveRows) -> tuple[Records, list[FoldedShape]]:
    tables: dict[str, Any] = {name: live.records(name) for name in (*PLAIN, *REPEATS)}
    shapes = [
        folded_shape(shape, batch.sequence)
        for batch, shapes in live.records_by_batch("shapes")
        for shape in shapes
    ]
    return Records(**tables), shapes
