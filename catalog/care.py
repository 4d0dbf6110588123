"""What needs somebody's care: failed tasks, second writers, cycles, what could not be read."""

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
class Care:
    """Findings, each sorted.

    Attributes:
        failed: Tasks whose newest run failed.
        contested: Datasets with more than one writer; dbt counts as one, named `dbt`.
        cycles: Datasets that feed each other, each cycle from its smallest one on.
        rejects: Reason -> how many pieces of logs.
        gaps: Statements that were not understood, or only in part, by reason.
    """

    failed: tuple[Task, ...]
    contested: Mapping[DatasetId, tuple[str, ...]]
    cycles: tuple[tuple[DatasetId, ...], ...]
    rejects: Mapping[str, int]
    gaps: tuple[Gap, ...]

    @property
    def any(self) -> bool:
        """There is something to care for."""
        return any((self.failed, self.contested, self.cycles, self.rejects, self.gaps))


def care(index: Index) -> Care:
    """What the lineage shows to be wrong or unknown."""
    lineage = index.lineage
    writers = {
        dataset: (*(["dbt"] if lineage.definition(dataset, DefinitionKind.DBT) else []), *tasks)
        for dataset, tasks in lineage.writer_names().items()
    }
    return Care(
        failed=tuple(
            task
            for task in index.tasks.values()
            if task.runs and task.runs[0].status is Status.FAILED
        ),
        contested={dataset: who for dataset, who in sorted(writers.items()) if len(who) > 1},
        cycles=tuple(tuple(cycle) for cycle in index.graph.cycles()),
        rejects=dict(sorted(Counter(reject.reason for reject in lineage.rejects).items())),
        gaps=gaps(lineage.shapes.values()),
    )
