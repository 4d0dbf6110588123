"""Findings that need attention: failed tasks, models and tests, stale sources, cycles, gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbt_graft.catalog.index import Index
from dbt_graft.catalog.node_results import ShownTest, node_results
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.gaps import Gap, gaps
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.records import NodeResult, Status


@dataclass(frozen=True, slots=True)
class HealthSummary:
    """Findings, each sorted.

    Attributes:
        failed: Tasks whose newest run failed.
        failed_builds: Datasets whose newest dbt run failed, each with that run.
        failed_tests: Datasets with the dbt tests that failed when they were last run.
        stale: dbt sources without new rows, each with its newest check.
        multiple_writers: Datasets with more than one writer; dbt counts as one, named `dbt`.
        cycles: Datasets that feed each other, each cycle from its smallest one on.
        rejects: Reason -> number of rejected log records.
        gaps: Statements that were not parsed, or only in part, by reason.
    """

    failed: tuple[Task, ...]
    failed_builds: Mapping[DatasetId, NodeResult]
    failed_tests: Mapping[DatasetId, Sequence[ShownTest]]
    stale: Mapping[DatasetId, NodeResult]
    multiple_writers: Mapping[DatasetId, tuple[str, ...]]
    cycles: tuple[tuple[DatasetId, ...], ...]
    rejects: Mapping[str, int]
    gaps: tuple[Gap, ...]

    @property
    def needs_attention(self) -> bool:
        """Whether there is any finding."""
        of_dbt = (self.failed_builds, self.failed_tests, self.stale)
        others = (self.failed, self.multiple_writers, self.cycles, self.rejects, self.gaps)
        return any((*of_dbt, *others))


def health_summary(index: Index) -> HealthSummary:
    """The findings in a lineage."""
    lineage = index.lineage
    writers = {
        dataset: (*(["dbt"] if lineage.definition(dataset, DefinitionKind.DBT) else []), *tasks)
        for dataset, tasks in lineage.writer_names().items()
    }
    dbt = {dataset: node_results(index, dataset) for dataset in index.descriptions}
    dbt = {dataset: dbt[dataset] for dataset in sorted(dbt)}
    return HealthSummary(
        failed=tuple(
            task
            for task in index.tasks.values()
            if task.runs and task.runs[0].status is Status.FAILED
        ),
        failed_builds={key: node.runs[0] for key, node in dbt.items() if node.last_run_failed},
        failed_tests={key: tests for key, node in dbt.items() if (tests := node.failed_tests)},
        stale={key: node.checks[0] for key, node in dbt.items() if node.is_stale},
        multiple_writers={
            dataset: names for dataset, names in sorted(writers.items()) if len(names) > 1
        },
        cycles=tuple(tuple(cycle) for cycle in index.graph.cycles()),
        rejects=dict(sorted(Counter(reject.reason for reject in lineage.rejects).items())),
        gaps=gaps(lineage.shapes.values()),
    )
