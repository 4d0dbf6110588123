"""The door of the store: what other rooms call to write it, and to look after it.

Questions import what they read from the module that has it: all of the door takes longer to import
than a question to answer.
"""

from dbt_graft.collectors.store.addresses import addresses, write_addresses
from dbt_graft.collectors.store.batches import (
    StoredBatch,
    batches,
    collected_at,
    damages,
    open_store,
)
from dbt_graft.collectors.store.builds import build_history, write_build_history
from dbt_graft.collectors.store.commit import CommittedBatch, commit
from dbt_graft.collectors.store.daily import daily_history
from dbt_graft.collectors.store.errors import StoreError
from dbt_graft.collectors.store.fold.write import fold_store, needs_spark
from dbt_graft.collectors.store.logs import noise
from dbt_graft.collectors.store.positions import (
    StoredPositions,
    of_logs,
    other_settings,
    positions,
)
from dbt_graft.collectors.store.read import (
    last_event_times,
    open_sessions,
    read,
)
from dbt_graft.collectors.store.result_rows import fold_results
from dbt_graft.collectors.store.selected import read_selected, run_origins, tasks_of_runs
from dbt_graft.collectors.store.state import store_state
from dbt_graft.collectors.store.tables import (
    SCHEMAS,
    TABLES,
    Collected,
    LogRecords,
    OpenSession,
    Positions,
    ReadLog,
)
from dbt_graft.collectors.store.taints import next_taint_number, recorded_taints, write_taint

__all__ = [
    "SCHEMAS",
    "TABLES",
    "Collected",
    "CommittedBatch",
    "LogRecords",
    "OpenSession",
    "Positions",
    "ReadLog",
    "StoreError",
    "StoredBatch",
    "StoredPositions",
    "addresses",
    "batches",
    "build_history",
    "collected_at",
    "commit",
    "daily_history",
    "damages",
    "fold_results",
    "fold_store",
    "last_event_times",
    "needs_spark",
    "next_taint_number",
    "noise",
    "of_logs",
    "open_sessions",
    "open_store",
    "other_settings",
    "positions",
    "read",
    "read_selected",
    "recorded_taints",
    "run_origins",
    "store_state",
    "tasks_of_runs",
    "write_addresses",
    "write_build_history",
    "write_taint",
]
