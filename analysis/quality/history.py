"""The times at which datasets were written, out of runs and dbt's results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from dbt_graft.analysis.history.data_age import WriteHistory
from dbt_graft.analysis.quality.usual_times import DAYS
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Direction, Status


def write_history(lineage: Lineage, descriptions: Mapping[DatasetId, Description]) -> WriteHistory:
    """The ends of successful writes of each dataset; of a source, the times of its newest rows."""
    times_by_dataset: dict[DatasetId, list[datetime]] = {}
    for task in lineage.tasks.values():
        writes = group_by_key(
            (usage.dataset, usage)
            for usage in task.usages
            if usage.direction is Direction.WRITE and usage.counts
        )
        for dataset, usages in writes.items():
            # A run may end well that failed to write this, or only deletes.
            others = {
                (u.engine, run_id) for u in usages for run_id in (*u.failed_runs, *u.idle_runs)
            }
            times_by_dataset.setdefault(dataset, []).extend(
                run.ended_at
                for run in task.runs_of(*usages)
                if run.status is Status.OK
                and run.ended_at
                and (run.engine, run.run_id) not in others
            )
    for dataset, description in descriptions.items():
        results = [
            result
            for node in description.dbt_ids
            for result in lineage.dbt.node_results.get(node, ())
        ]
        built = [
            result.ended_at for result in results if result.word == "success" and result.ended_at
        ]
        # Of what nobody is seen to write, freshness checks show the newest row.
        loaded = {result.max_loaded_at for result in results if result.max_loaded_at}
        seen = times_by_dataset.setdefault(dataset, [])
        seen += built or ([] if seen else loaded)
    sources = group_by_key(
        (flow.target, flow.source) for flow in lineage.flows if flow.source != flow.target
    )
    return WriteHistory(
        {dataset: sorted(times) for dataset, times in times_by_dataset.items() if times},
        lambda dataset: dict.fromkeys(sources.get(dataset, ())),
        {dataset for dataset, facts in lineage.datasets.items() if facts.kind is Kind.VIEW},
    )


def short_histories(lineage: Lineage, consumers: Iterable[Consumer], now: datetime) -> set[str]:
    """The tasks upstream of deadlines of which only runs of the last days are listed."""
    graph = lineage.dataset_graph()
    waiting = [read for consumer in consumers if consumer.deadline for read in consumer.reads]
    seen = set(waiting)
    while waiting:
        new = set(graph.parents(waiting.pop())) - seen
        seen |= new
        waiting += new
    return {
        task.name
        for task in lineage.tasks.values()
        if task.run_count > len(task.runs)
        and seen.intersection(task.writes)
        and min((run.started_at for run in task.runs if run.started_at), default=now) > now - DAYS
    }
