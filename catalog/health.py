"""Findings that need attention: failed tasks, multiple writers, cycles, parsing issues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from dbt_graft.catalog.index import Index
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.gaps import Gap, gaps
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.records import Status


@dataclass(frozen=True, slots=True)
class HealthSummary:
    """Findings, each sorted.

    Attributes:
        failed: Tasks whose newest run failed.
        multiple_writers: Datasets with more than one writer; dbt counts as one, named `dbt`.
        cycles: Datasets that feed each other, each cycle from its smallest one on.
        rejects: Reason -> number of rejected log records.
        gaps: Statements that were not parsed, or only in part, by reason.
    """

    failed: tuple[Task, ...]
    multiple_writers: Mapping[DatasetId, tuple[str, ...]]
    cycles: tuple[tuple[DatasetId, ...], ...]
    rejects: Mapping[str, int]
    gaps: tuple[Gap, ...]

    @property
    def needs_attention(self) -> bool:
        """Whether there is any finding."""
        return any((self.failed, self.multiple_writers, self.cycles, self.rejects, self.gaps))


def health_summary(index: Index) -> HealthSummary:
    """The findings in a lineage."""
    lineage = index.lineage
    writers = {
        dataset: (*(["dbt"] if lineage.definition(dataset, DefinitionKind.DBT) else []), *tasks)
        for dataset, tasks in lineage.writer_names().items()
    }
    return HealthSummary(
        failed=tuple(
            task
            for task in index.tasks.values()
            if task.runs and task.runs[0].status is Status.FAILED
        ),
        multiple_writers={
            dataset: names for dataset, names in sorted(writers.items()) if len(names) > 1
        },
        cycles=tuple(tuple(cycle) for cycle in index.graph.cycles()),
        rejects=dict(sorted(Counter(reject.reason for reject in lineage.rejects).items())),
        gaps=gaps(lineage.shapes.values()),
    )
