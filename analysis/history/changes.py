"""Changes from one build to the next: names of datasets and tasks, edges and columns.

A build is compared with the last one that published something else, so that changes stay to
be seen however often the same is published again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Role
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Column

# Builds whose changes are remembered.
BUILDS = 30


class ChangeKind(StrEnum):
    """The kinds of changes, in the order in which they are shown."""

    GONE_DATASET = "gone dataset"
    RENAMED_DATASET = "renamed dataset"
    NEW_DATASET = "new dataset"
    PROMOTED = "promoted source"
    OTHER_ROLE = "other role in dbt"
    GONE_TASK = "gone task"
    NEW_TASK = "new task"
    GONE_EDGE = "gone edge"
    NEW_EDGE = "new edge"
    OTHER_TASKS = "other tasks of an edge"
    GONE_COLUMN = "gone column"
    NEW_COLUMN = "new column"
    OTHER_TYPE = "other column type"

    @property
    def heading(self) -> str:
        """The heading of a list of such changes."""
        return _HEADINGS[self]


_HEADINGS = {
    ChangeKind.GONE_DATASET: "Datasets gone",
    ChangeKind.RENAMED_DATASET: "Datasets renamed",
    ChangeKind.NEW_DATASET: "New datasets",
    ChangeKind.PROMOTED: "Sources promoted to models",
    ChangeKind.OTHER_ROLE: "Other role in dbt",
    ChangeKind.GONE_TASK: "Tasks gone",
    ChangeKind.NEW_TASK: "New tasks",
    ChangeKind.GONE_EDGE: "Edges gone",
    ChangeKind.NEW_EDGE: "New edges",
    ChangeKind.OTHER_TASKS: "Edges of other tasks",
    ChangeKind.GONE_COLUMN: "Columns gone",
    ChangeKind.NEW_COLUMN: "New columns",
    ChangeKind.OTHER_TYPE: "Columns of another type",
}


@frozen
class Change:
    """One difference between two builds.

    Attributes:
        dataset: What changed; the source of an edge; None for a task.
        other: The present name of a renamed dataset, the target of an edge.
        name: The task or the column; of an edge without `other` the consumer that it leads to.
        before, now: The role in dbt, the type of the column, or the tasks of an edge.
    """

    kind: ChangeKind
    dataset: DatasetId | None = None
    other: DatasetId | None = None
    name: str = ""
    before: str = ""
    now: str = ""


@frozen
class PublishedDataset:
    """A dataset as a build published it; `role` is its role in dbt, empty if dbt has none."""

    id: DatasetId
    role: str = ""
    columns: tuple[Column, ...] = ()


@frozen
class PublishedNames:
    """All names and edges that a build published, sorted.

    Attributes:
        tasks: Tasks and consumers.
        edges: From a dataset to a dataset, or to a consumer by its name.
    """

    datasets: tuple[PublishedDataset, ...] = ()
    tasks: tuple[str, ...] = ()
    edges: tuple[tuple[DatasetId, DatasetId | str], ...] = ()


@frozen
class Build:
    """A build that published something else than the one before it.

    Attributes:
        number: Its place among those builds, from 1 on.
        at: When it was made; builds after it that published the same leave that as it is.
        before: The time of the one that it is compared with; None for the first.
    """

    number: int
    at: datetime
    before: datetime | None = None
    changes: tuple[Change, ...] = ()

    @property
    def counts(self) -> dict[ChangeKind, int]:
        """The number of changes of each kind that there is, in the order of kinds."""
        counts = Counter(change.kind for change in self.changes)
        return {kind: counts[kind] for kind in ChangeKind if counts[kind]}


@frozen
class BuildHistory:
    """The last builds, newest first, and what the newest published; None before the first."""

    builds: tuple[Build, ...] = ()
    names: PublishedNames | None = None

    def until(self, at: datetime) -> BuildHistory:
        """The builds up to a time, without what the newest published."""
        return BuildHistory(tuple(build for build in self.builds if build.at <= at))


NO_BUILDS = BuildHistory()


def update_history(
    history: BuildHistory,
    names: PublishedNames,
    renamed: Mapping[DatasetId, DatasetId],
    at: datetime,
) -> BuildHistory:
    """The history after a build; the builds in it stay as they are if nothing changed.

    Args:
        names: What the build publishes.
        renamed: Former name of a dataset -> the present one.
    """
    if history.names is None:
        return BuildHistory((Build(1, at),), names)
    new_changes = changes(history.names, names, renamed)
    if not new_changes:
        return BuildHistory(history.builds, names)
    last = history.builds[0]
    build = Build(last.number + 1, at, last.at, new_changes)
    return BuildHistory((build, *history.builds)[:BUILDS], names)


def changes(
    before: PublishedNames,
    now: PublishedNames,
    renamed: Mapping[DatasetId, DatasetId] | None = None,
) -> tuple[Change, ...]:
    """The differences between two builds, sorted by kind and name.

    Columns are compared of datasets that are in both: a new dataset brings its own. A renamed one
    has the same edges and columns under its present name.
    """
    comparison = _Comparison(before, now, renamed or {})
    kinds = list(ChangeKind)
    return tuple(sorted(comparison.changes(), key=lambda change: kinds.index(change.kind)))


@dataclass(frozen=True)
class _Comparison:
    before: PublishedNames
    now: PublishedNames
    moves: Mapping[DatasetId, DatasetId]
    old: dict[DatasetId, PublishedDataset] = field(init=False)
    new: dict[DatasetId, PublishedDataset] = field(init=False)
    renamed: dict[DatasetId, DatasetId] = field(init=False)

    def __post_init__(self) -> None:
        old = {dataset.id: dataset for dataset in self.before.datasets}
        new = {dataset.id: dataset for dataset in self.now.datasets}
        renamed = {
            former: present
            for former, present in self.moves.items()
            if former in old and former not in new and present in new and present not in old
        }
        for name, value in (("old", old), ("new", new), ("renamed", renamed)):
            object.__setattr__(self, name, value)

    def changes(self) -> Iterator[Change]:
        yield from self._datasets()
        for kind, names in (
            (ChangeKind.GONE_TASK, set(self.before.tasks) - set(self.now.tasks)),
            (ChangeKind.NEW_TASK, set(self.now.tasks) - set(self.before.tasks)),
        ):
            yield from (Change(kind, name=name) for name in sorted(names))
        yield from self._edges()
        for former, dataset in self.old.items():
            if present := self.new.get(self.renamed.get(former, former)):
                yield from _columns(dataset, present)

    def _datasets(self) -> Iterator[Change]:
        for former, dataset in self.old.items():
            present = self.new.get(self.renamed.get(former, former))
            if present is None:
                yield Change(ChangeKind.GONE_DATASET, former)
                continue
            if former in self.renamed:
                yield Change(ChangeKind.RENAMED_DATASET, former, present.id)
            if dataset.role != present.role:
                promoted = present.role == Role.PROMOTED
                kind = ChangeKind.PROMOTED if promoted else ChangeKind.OTHER_ROLE
                yield Change(kind, present.id, before=dataset.role, now=present.role)
        continued = {*self.old, *self.renamed.values()}
        yield from (
            Change(ChangeKind.NEW_DATASET, dataset)
            for dataset in self.new
            if dataset not in continued
        )

    def _edges(self) -> Iterator[Change]:
        """An edge between two former names is that between the present ones."""
        old = {
            (self.renamed.get(source, source), self._present(target)): (source, target)
            for source, target in self.before.edges
        }
        new = dict.fromkeys(self.now.edges)
        for ends, former in old.items():
            if ends not in new:
                yield _edge(ChangeKind.GONE_EDGE, *former)
        for ends in new:
            if ends not in old:
                yield _edge(ChangeKind.NEW_EDGE, *ends)

    def _present(self, end: DatasetId | str) -> DatasetId | str:
        return end if isinstance(end, str) else self.renamed.get(end, end)


def _edge(kind: ChangeKind, source: DatasetId, target: DatasetId | str) -> Change:
    if isinstance(target, str):
        return Change(kind, source, name=target)
    return Change(kind, source, target)


def _columns(before: PublishedDataset, now: PublishedDataset) -> Iterator[Change]:
    old = {column.name.casefold(): column for column in before.columns}
    new = {column.name.casefold(): column for column in now.columns}
    for kind, columns, others in (
        (ChangeKind.GONE_COLUMN, old, new),
        (ChangeKind.NEW_COLUMN, new, old),
    ):
        yield from (
            Change(kind, now.id, name=column.name)
            for key, column in columns.items()
            if key not in others
        )
    for key, column in new.items():
        former = old[key].type if key in old else ""
        # A type that becomes known is no change of the data.
        if former and column.type and former.casefold() != column.type.casefold():
            yield Change(ChangeKind.OTHER_TYPE, now.id, None, column.name, former, column.type)


def select_changes(changes: Collection[Change], kind: ChangeKind) -> list[Change]:
    """The changes of a kind, in their order."""
    return [change for change in changes if change.kind is kind]
