"""dbt's own runs, as its artifacts and the logs of its applications show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ColumnEdge, NodeResult


@dataclass(frozen=True, slots=True)
class ModelReads:
    """What the runs of dbt read that write a table.

    Attributes:
        runs: How many runs wrote it.
        last_at: The last time.
        sources: What statements that wrote it read -> the last time.
    """

    runs: int
    last_at: datetime | None
    sources: tuple[tuple[DatasetId, datetime | None], ...] = ()


@dataclass(frozen=True, slots=True)
class DbtRuns:
    """What dbt's own runs did.

    Attributes:
        node_results: dbt's unique_id -> the results of the node, newest first. Those of checks in
            events have ids of `lineage.checks`, until the graft.
        column_edges: The column edges in the log of dbt's own application, which
            `lineage.agreement` compares with those of dbt's SQL.
        reads: What they read, by the table that they write.
    """

    node_results: Mapping[str, tuple[NodeResult, ...]] = field(default_factory=dict)
    column_edges: tuple[ColumnEdge, ...] = ()
    reads: Mapping[DatasetId, ModelReads] = field(default_factory=dict)
