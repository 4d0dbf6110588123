"""Take logs out of a store, with everything that was read of them.

First one batch says that the logs are forgotten: with its record all readers are without them.
Then the folds go, which the next collect makes again, and the batches that hold rows of the logs
are written again without these, one by one. What is killed
in between is done by the same command later. The next collect finds no position of such a log and
reads it again if `graft.yml` still names it.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Collection
from dataclasses import field
from typing import cast

import pyarrow.compute as pc

from dbt_graft.collectors.store.arrow_tables import select_origins
from dbt_graft.collectors.store.batches import OpenStore, StoredBatch, open_store
from dbt_graft.collectors.store.commit import record_batch
from dbt_graft.collectors.store.compaction import rewrite_batches
from dbt_graft.collectors.store.fold.files import remove_folds
from dbt_graft.collectors.store.lock import committing, compacting
from dbt_graft.collectors.store.logs import all_logs, is_forgotten
from dbt_graft.collectors.store.tables import PURGED, TABLES
from dbt_graft.collectors.store.upgrade import keep_copy
from dbt_graft.lineage.frozen import frozen

_WITHOUT_ORIGIN = ("batches", "origins", "shapes", *PURGED)


@frozen
class ForgottenLogs:
    """Logs that are to be taken out of a store.

    Attributes:
        rows: Table -> its rows of them, those that later batches replaced too.
        batches: The number of batches with such rows.
    """

    origins: tuple[str, ...] = ()
    rows: Counter[str] = field(default_factory=Counter)
    batches: int = 0


def stored_origins(store: str) -> tuple[str, ...]:
    """All logs of which a batch holds anything, sorted."""
    snapshot = open_store(store)
    rows = all_logs(snapshot, snapshot.batches)
    rows = rows.filter(pc.invert(is_forgotten(rows)))
    return tuple(sorted(cast("list[str]", pc.unique(rows["origin"]).to_pylist())))


def count_forgotten(store: str, origins: Collection[str]) -> ForgottenLogs:
    """The rows of some logs, counted."""
    snapshot = open_store(store)
    rows: Counter[str] = Counter()
    for table in TABLES:
        if table not in _WITHOUT_ORIGIN:
            for _, table_rows in snapshot.tables(table):
                rows[table] += select_origins(table_rows, origins).num_rows
    return ForgottenLogs(
        tuple(sorted(origins)), +rows, len(_batches_with_origins(snapshot, origins))
    )


def forget(store: str, origins: Collection[str]) -> None:
    """Take logs out of a store.

    Raises:
        StoreError: The store is damaged.
    """
    with compacting(store, wait=True) as hold:
        with committing(store) as ensure_held:
            snapshot = open_store(store)
            keep_copy(snapshot)
            rows = [
                {"origin": origin, "position": "", "events": 0, "noise": 0, "forgotten": True}
                for origin in sorted(origins)
            ]
            ensure_held()
            record_batch(snapshot, uuid.uuid4().hex, rows, ())
        remove_folds(snapshot)
        rewrite_batches(
            open_store(store),
            lambda snapshot: _batches_with_origins(snapshot, origins),
            forget=origins,
            hold=hold,
        )


def _batches_with_origins(snapshot: OpenStore, origins: Collection[str]) -> list[StoredBatch]:
    ids = set()
    for table in ("origins", "sessions"):
        for batch, rows in snapshot.tables(table):
            origin_rows = select_origins(rows, origins)
            if "forgotten" in origin_rows.column_names:
                origin_rows = origin_rows.filter(pc.invert(is_forgotten(origin_rows)))
            if origin_rows.num_rows:
                ids.add(batch.batch_id)
    return [batch for batch in snapshot.batches if batch.batch_id in ids]
