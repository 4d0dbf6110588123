"""dbt's own runs, as its artifacts and the logs of its applications show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ColumnEdge, NodeResult, Status


@frozen
class ModelReads:
    """The tables that runs of dbt read for one that they write.

    Attributes:
        runs: How many runs wrote it.
        last_at: The last time.
        sources: What statements that wrote it read -> the last time.
    """

    runs: int
    last_at: datetime | None
    sources: tuple[tuple[DatasetId, datetime | None], ...] = ()


@frozen
class DbtRuns:
    """The results, column edges and reads of dbt's own runs.

    Attributes:
        node_results: dbt's unique_id -> the results of the node, newest first. Those of checks in
            events have ids of `lineage.building.checks`, until the graft.
        column_edges: The column edges in the log of dbt's own application, to be compared with
            those of dbt's SQL.
        reads: What they read, by the table that they write.
    """

    node_results: Mapping[str, tuple[NodeResult, ...]] = field(default_factory=dict)
    column_edges: Sequence[ColumnEdge] = ()
    reads: Mapping[DatasetId, ModelReads] = field(default_factory=dict)

    def last_try(self, node_id: str) -> NodeResult | None:
        """The newest result of a node that dbt did not skip."""
        results = self.node_results.get(node_id, ())
        return next((result for result in results if result.status is not Status.UNKNOWN), None)

    def last_verdict(self, node_id: str) -> NodeResult | None:
        """The newest result of a node that is good or bad; skipped, it is as before."""
        results = self.node_results.get(node_id, ())
        return next((result for result in results if result.is_verdict), None)
