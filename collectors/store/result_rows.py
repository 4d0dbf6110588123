"""Fold dbt's results: one batch takes over the newest of each node from many batches.

A project that runs every hour has thousands of invocations in a year, of which pages show the
newest of each node. The batch lists the invocations that it takes over as its origins, those of
which nothing is left with no events. The positions stay, so no invocation is read again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import pyarrow.compute as pc

from dbt_graft.collectors.store.arrow_tables import table, tables
from dbt_graft.collectors.store.batches import open_store
from dbt_graft.collectors.store.commit import commit
from dbt_graft.collectors.store.logs import last_logs
from dbt_graft.collectors.store.node_results import (
    PER_NODE,
    live_invocations,
    live_tables,
    newest_results,
)
from dbt_graft.collectors.store.positions import open_positions
from dbt_graft.collectors.store.tables import ReadLog
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Records

_log = logging.getLogger(__name__)
# So many are read as fast as one, or nearly.
_MOST_BATCHES = 40


def fold_results(store: str, settings: Callable[[str], str] = lambda origin: "") -> bool:
    """Let one batch take over the newest results of each node, if they came in many batches."""
    snapshot = open_store(store)
    live = live_invocations(snapshot)
    # Compaction puts several into one file, and folds none.
    if len(pc.unique(last_logs(snapshot, live)["sequence"])) <= _MOST_BATCHES:
        return False
    newest = newest_results(live_tables(snapshot), PER_NODE)
    left = set(pc.unique(newest["origin"]).to_pylist())
    positions = open_positions(snapshot)
    logs = [
        ReadLog(origin, positions[origin][0], positions[origin][1] if origin in left else 0)
        for origin in sorted(live)
    ]
    part = tables(Records(), {}, node_results=newest, origins=table(ReadLog, logs))
    try:
        commit(store, [part], positions, settings=settings)
    except GraftError:
        # Another collect has read one of the invocations meanwhile; the next one folds.
        _log.debug("dbt's results were not folded", exc_info=True)
        return False
    return True
