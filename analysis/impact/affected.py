"""The reach of a proposed change: datasets, tasks, tests and consumers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from dbt_graft.analysis.impact.change import ChangeType, ImpactEffect, ImpactSeverity
from dbt_graft.analysis.impact.path import ImpactStep
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, NodeTest
from dbt_graft.lineage.frozen import frozen


@frozen
class ProposedChange:
    """A change that somebody thinks of; without a column it is one of the dataset."""

    dataset: DatasetId
    kind: ChangeType
    column: str = ""


@frozen
class AffectedDataset:
    """A dataset that a change reaches.

    Attributes:
        effects: Those on all of its rows and columns, the strongest first.
        columns: Those on single columns, by the names of these.
        path: A shortest one.
        stale: All ways to it have an edge that was not seen for long.
    """

    dataset: DatasetId
    severity: ImpactSeverity
    effects: tuple[ImpactEffect, ...]
    columns: Mapping[str, ImpactEffect]
    path: Sequence[ImpactStep]
    owner: str = ""
    stale: bool = False

    @property
    def distance(self) -> int:
        """The number of steps to it."""
        return len(self.path)


@frozen
class AffectedTask:
    """A task, dbt model or view that carries a change on.

    Attributes:
        breaks: Its statements fail.
        unknown_columns: It may be hit, as not all columns that it reads are known.
        path: A shortest one to what it writes; empty where several changes come to it.
    """

    name: str
    severity: ImpactSeverity
    breaks: bool
    owner: str = ""
    path: Sequence[ImpactStep] = field(default=(), compare=False)
    unknown_columns: bool = False


@frozen
class AffectedTest:
    """A dbt test of what is affected; `breaks`: it names a column that is gone."""

    test: NodeTest
    dataset: DatasetId
    breaks: bool


@frozen
class AffectedConsumer:
    """A dashboard, report or API that reads what is affected.

    Attributes:
        datasets: What it reads of that, sorted.
        breaks: It names a column that is gone.
        unknown_columns: As of a task.
    """

    consumer: Consumer
    severity: ImpactSeverity
    datasets: tuple[DatasetId, ...]
    breaks: bool = False
    unknown_columns: bool = False


@frozen(kw_only=True)
class Affected:
    """All that changes come to beside datasets; each list has the most severe first.

    Attributes:
        known, flows: Of so many flows on the ways the columns are known, and how many there are.
        open_tasks: The tasks that may read or write more than is known, wherever they are.
    """

    tasks: Sequence[AffectedTask] = ()
    tests: Sequence[AffectedTest] = ()
    consumers: Sequence[AffectedConsumer] = ()
    known: int = 0
    flows: int = 0
    open_tasks: Sequence[str] = ()


@frozen(kw_only=True)
class Impact(Affected):
    """The answer to a proposed change.

    Attributes:
        unaffected: So many tasks and models read what loses a column, and are known to pass on
            others alone; what a query inside them names is not known.
    """

    change: ProposedChange
    datasets: Sequence[AffectedDataset] = ()
    unaffected: int = 0

    @property
    def severity(self) -> ImpactSeverity:
        """The highest of all."""
        severities = [
            affected[0].severity
            for affected in (self.datasets, self.tasks, self.consumers)
            if affected
        ]
        severities += [ImpactSeverity.BLOCKING for test in self.tests if test.breaks]
        return max(severities, default=ImpactSeverity.INFO)
