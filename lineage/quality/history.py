"""The times at which datasets were written, out of runs and dbt's results."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Description
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.quality.deadlines import WriteHistory
from dbt_graft.lineage.records import Status


def write_history(lineage: Lineage, descriptions: Mapping[DatasetId, Description]) -> WriteHistory:
    """The ends of successful writes of each dataset."""
    found: dict[DatasetId, list[datetime]] = {}
    for task in lineage.tasks.values():
        for dataset in task.writes:
            usages = [one for one in lineage.writers(dataset) if one.task == task.name]
            found.setdefault(dataset, []).extend(
                run.ended_at
                for run in task.runs_of(*usages)
                if run.status is Status.OK and run.ended_at
            )
    for dataset, about in descriptions.items():
        for node_id in about.dbt_ids:
            found.setdefault(dataset, []).extend(
                one.ended_at
                for one in lineage.node_results.get(node_id, ())
                if one.word == "success" and one.ended_at
            )
    graph = lineage.dataset_graph()
    return WriteHistory(
        {dataset: sorted(times) for dataset, times in found.items() if times},
        lambda dataset: graph.parents(dataset),
    )
