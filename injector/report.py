"""The report of a graft: what it added, promoted and left out, as dataclasses and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dbt_graft.analysis.checks.agreement import ColumnDifference
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import NO_COLUMNS, DefinitionColumns
from dbt_graft.lineage.describe import Consumer, Description
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage

if TYPE_CHECKING:
    from dbt_graft.injector.index.tables import DbtIndex


@frozen
class BuiltDataset:
    """A dataset that tasks write, or a view, and the dbt node that stands for it.

    Attributes:
        tasks: The tasks that write it; none for a view.
        sources: The dbt sources that the node replaces; empty unless it was promoted.
    """

    node_id: str
    name: str
    dataset: DatasetId
    tasks: tuple[str, ...]
    sources: tuple[str, ...] = ()


@frozen
class NewSource:
    """A source added for a dataset that tasks read, that no task writes and that dbt lacks.

    Attributes:
        tasks: The tasks that read it.
        views: The views that select from it.
    """

    node_id: str
    name: str
    dataset: DatasetId
    tasks: tuple[str, ...]
    views: tuple[DatasetId, ...] = ()


@frozen
class TaskExposure:
    """An exposure added for a task that only reads."""

    node_id: str
    name: str
    task: str


@frozen
class CycleEdge:
    """An edge on a cycle; `tasks` is empty for an edge of dbt's own."""

    source: str
    target: str
    tasks: tuple[str, ...] = ()
    evidence: str = ""


@frozen
class Cycle:
    """A cycle of dbt node ids that was broken by leaving out its last edge."""

    edges: tuple[CycleEdge, ...]

    @property
    def left_out(self) -> CycleEdge:
        """The edge that closed the cycle and is in no artifact."""
        return self.edges[-1]

    @property
    def path(self) -> str:
        """`a -> b -> a`"""
        return " -> ".join([self.edges[0].source, *(edge.target for edge in self.edges)])


@frozen
class SelfRead:
    """A task that reads and writes the same dataset; the node gets no edge to itself."""

    task: str
    dataset: DatasetId


@frozen
class ArtifactDefect:
    """A defect in dbt's artifacts: the id of the rule, the node or name, and a description."""

    rule: str
    subject: str
    text: str


@frozen
class AmbiguousName:
    """A name with more than one match.

    Attributes:
        candidates: The ids of nodes on one relation, of which the first stands for it; or the
            relations that match the short name in a log, of which none is taken.
    """

    dataset: DatasetId
    candidates: tuple[str, ...]


@frozen
class NameConflict:
    """A node that is not called after its dataset, because that name was taken."""

    wanted: str
    chosen: str


@frozen
class Report:
    """Changes made by a graft.

    Attributes:
        promoted: Sources that became models, because tasks write them.
        added: New models for datasets that tasks write and dbt did not know.
        new_sources: New sources for datasets that tasks only read and dbt did not know.
        exposures: New exposures for tasks that only read.
        second_writers: Datasets that dbt builds and tasks write too; dbt's node is unchanged.
        shared: Datasets that more than one task writes.
        cycles: Cycles, each with the edge that was left out to break it.
        ambiguous: Names with more than one match.
        name_conflicts: Nodes whose first choice of a name was taken.
        column_differences: Columns of dbt's models that its SQL and the log of its runs take from
            different columns.
        notices: Messages about the inputs and the tasks.
        defects: Defects that dbt's artifacts already had.
    """

    promoted: tuple[BuiltDataset, ...] = ()
    added: tuple[BuiltDataset, ...] = ()
    new_sources: tuple[NewSource, ...] = ()
    exposures: tuple[TaskExposure, ...] = ()
    second_writers: tuple[BuiltDataset, ...] = ()
    shared: tuple[BuiltDataset, ...] = ()
    cycles: tuple[Cycle, ...] = ()
    self_reads: tuple[SelfRead, ...] = ()
    ambiguous: tuple[AmbiguousName, ...] = ()
    name_conflicts: tuple[NameConflict, ...] = ()
    column_differences: tuple[ColumnDifference, ...] = ()
    notices: tuple[str, ...] = ()
    defects: tuple[ArtifactDefect, ...] = ()

    @property
    def models(self) -> tuple[BuiltDataset, ...]:
        """All models that stand for datasets of tasks, or for views."""
        return (*self.promoted, *self.added)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values, with datasets as `namespace/name`."""
        report: dict[str, Any] = _plain(self)
        return report


# Whether texts of nodes name a task or a view.
IsNamed = Callable[[str | DatasetId], bool]


def name_all(_name: str | DatasetId) -> bool:
    """The texts name all tasks and views."""
    return True


@dataclass(frozen=True)
class Grafted:
    """Grafted artifacts, and dbt's part of what the catalog and the exporters show.

    Attributes:
        dbt_nodes: Dataset -> the node that dbt itself builds it with.
        linked_to: The manifest with texts that link to a site, by its URL, relative or absolute,
            and name the tasks and views of a kind.
        touched: The lineage of the logs, with what dbt knows of their datasets.
        describe: Computes `described`, on first use.
        undo: File name -> the changes that restore dbt's values, see `injector.undo`; None for a
            file that dbt did not write.
        followed: The column edges of dbt's own models.
        index: The index of dbt 2, without the graft; None where dbt wrote none.
        before: The manifest that the index is of.
    """

    manifest: dict[str, Any]
    catalog: dict[str, Any]
    dbt_nodes: Mapping[DatasetId, str]
    linked_to: Callable[[str, IsNamed], dict[str, Any]]
    touched: Lineage
    describe: Callable[[], DescribedLineage]
    report: Report
    undo: Mapping[str, list[dict[str, Any]] | None]
    followed: DefinitionColumns = NO_COLUMNS
    index: DbtIndex | None = None
    before: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def described(self) -> DescribedLineage:
        """The lineage of the logs and all of dbt's own, described by dbt, with their consumers.

        It includes the edges that are not in the manifest because they would close a cycle.
        Consumers are dbt's exposures and the tasks that only read.
        """
        return self.describe()

    @property
    def descriptions(self) -> Mapping[DatasetId, Description]:
        """dbt's description of each dataset that it knows after the graft."""
        return self.described.descriptions

    @property
    def consumers(self) -> Sequence[Consumer]:
        """Those of `described`."""
        return self.described.consumers

    @property
    def lineage(self) -> Lineage:
        """That of `described`."""
        return self.described.lineage

    @property
    def redirects(self) -> dict[str, str]:
        """unique_id of each promoted source -> unique_id of its model."""
        return {source: built.node_id for built in self.report.promoted for source in built.sources}


def _plain(value: Any) -> Any:
    if isinstance(value, DatasetId):
        return f"{value.namespace}/{value.name}"
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
