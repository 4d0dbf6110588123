"""The differences between two past states of a lineage: new, gone, changed.

A state is what was there at a time (`lineage.presence`): datasets with their columns, tasks, and
edges with the tasks that carry them. What is there by definition is in both, and no difference.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from datetime import datetime

from dbt_graft.analysis.history.changes import (
    Change,
    ChangeKind,
    PublishedDataset,
    PublishedNames,
    changes,
)
from dbt_graft.analysis.history.presence import End, Ends, GoneRule, droppers, ends
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import ANY_COLUMN, Column

Ways = tuple[DatasetId, DatasetId]
_FIRST_USED = "or used for the first time: no log before names all columns"


@frozen
class PastState:
    """The state of a lineage at a time.

    Attributes:
        carriers: For each edge the tasks that carry it, sorted.
    """

    names: PublishedNames = field(default_factory=PublishedNames)
    carriers: Mapping[Ways, tuple[str, ...]] = field(default_factory=dict)


@frozen
class Difference:
    """A change between two times.

    Attributes:
        at: When it was first seen, dropped, gone, or back; None where no record tells.
        reason: Why it is gone, or was; who made it.
    """

    change: Change
    at: datetime | None = None
    reason: str = ""


def past_state(past: Lineage, rule: GoneRule | None = None) -> PastState:
    """The state of a lineage as of some time."""
    return _state(past, ends(past, rule))


def differences(
    before: Lineage, now: Lineage, rule: GoneRule | None = None
) -> tuple[Difference, ...]:
    """The differences from one lineage to a later one, by kind and name."""
    ended, ended_before = ends(now, rule), ends(before, rule)
    former_names = now.names.former
    renamed = {former: dataset for dataset, names in former_names.items() for former in names}
    complete = {key for key, dataset in before.datasets.items() if dataset.has_all_columns}
    complete.update([renamed[name] for name in complete & renamed.keys()])
    explained = _Explained(now, ended, ended_before, complete)
    states = _state(before, ended_before), _state(now, ended)
    return tuple(explained.explain(change) for change in state_changes(*states, renamed))


def state_changes(
    before: PastState, now: PastState, renamed: Mapping[DatasetId, DatasetId] | None = None
) -> tuple[Change, ...]:
    """The changes between two states, sorted by kind; of edges in both other carriers too."""
    all_changes = [
        *changes(before.names, now.names, renamed),
        *_carriers(before, now, renamed or {}),
    ]
    kinds = list(ChangeKind)
    return tuple(sorted(all_changes, key=lambda change: kinds.index(change.kind)))


def _state(lineage: Lineage, ended: Ends) -> PastState:
    columns = _columns_by_dataset(lineage)
    there = [dataset for dataset, facts in sorted(lineage.datasets.items()) if not facts.dropped_at]
    carriers: dict[Ways, set[str]] = {}
    for flow in lineage.flows:
        if flow.source != flow.target and (flow.task, flow.source, flow.target) not in ended.flows:
            carriers.setdefault((flow.source, flow.target), set()).add(flow.task)
    edges = {ways: tuple(sorted(carriers[ways])) for ways in sorted(carriers)}
    return PastState(
        PublishedNames(
            tuple(PublishedDataset(dataset, "", columns[dataset]) for dataset in there),
            tuple(name for name in sorted(lineage.tasks) if name not in ended.tasks),
            tuple(edges),
        ),
        edges,
    )


def _columns_by_dataset(lineage: Lineage) -> dict[DatasetId, tuple[Column, ...]]:
    """The columns of each dataset; those that edges name where no log has its schema."""
    named: dict[DatasetId, dict[str, Column]] = {
        key: {} for key, dataset in lineage.datasets.items() if not dataset.columns
    }
    for edge in lineage.column_edges:
        ends = (edge.to_dataset, edge.to_column), (edge.from_dataset, edge.from_column)
        for dataset, name in ends:
            if dataset in named and name != ANY_COLUMN:
                named[dataset].setdefault(name.casefold(), Column(name))
    return {
        key: dataset.columns or (*named[key].values(),) for key, dataset in lineage.datasets.items()
    }


def _carriers(
    before: PastState, now: PastState, renamed: Mapping[DatasetId, DatasetId]
) -> Iterator[Change]:
    """The edges that other tasks carry than before."""
    for (source, target), tasks in before.carriers.items():
        ways = (renamed.get(source, source), renamed.get(target, target))
        after = now.carriers.get(ways) or now.carriers.get((source, target))
        if after is not None and after != tasks:
            names = ", ".join(tasks), ", ".join(after)
            yield Change(ChangeKind.OTHER_TASKS, *ways, "", *names)


class _Explained:
    """The times at which things of a lineage are new or gone, and the reasons."""

    def __init__(
        self, now: Lineage, ended: Ends, ended_before: Ends, complete: Collection[DatasetId]
    ) -> None:
        self._now = now
        self._ends = ended
        self._ends_before = ended_before
        self._complete = complete
        self._flows: dict[Ways, list[Flow]] = {}
        for flow in now.flows:
            self._flows.setdefault((flow.source, flow.target), []).append(flow)

    def explain(self, change: Change) -> Difference:
        """A change with its time and its reason."""
        dataset, other = change.dataset, change.other
        match change.kind:
            case ChangeKind.GONE_DATASET if dataset:
                return self._gone_dataset(change, dataset)
            case ChangeKind.NEW_DATASET if dataset:
                return self._new_dataset(change, dataset)
            case ChangeKind.GONE_TASK:
                end = self._ends.tasks.get(change.name)
                return Difference(change, *_values(end))
            case ChangeKind.NEW_TASK:
                end = self._ends_before.tasks.get(change.name)
                return Difference(change, self._first_run(change.name, end), _again(end))
            case ChangeKind.GONE_EDGE if dataset and other:
                return self._gone_edge(change, (dataset, other))
            case ChangeKind.NEW_EDGE | ChangeKind.OTHER_TASKS if dataset and other:
                return self._new_edge(change, (dataset, other))
            case ChangeKind.NEW_COLUMN if dataset not in self._complete:
                return Difference(change, None, _FIRST_USED)
        return Difference(change)

    def _gone_dataset(self, change: Change, dataset: DatasetId) -> Difference:
        facts = self._now.datasets.get(dataset)
        tasks = sorted({usage.task for usage in droppers(self._now, dataset)})
        by = f" by {', '.join(tasks)}" if tasks else ""
        dropped_at = facts.dropped_at if facts else None
        return Difference(change, dropped_at, f"dropped{by}" if dropped_at else "")

    def _new_dataset(self, change: Change, dataset: DatasetId) -> Difference:
        writers = sorted({usage.task for usage in self._now.writers(dataset)})
        reason = f"written by {', '.join(writers)}" if writers else ""
        return Difference(change, self._now.datasets[dataset].first_seen, reason)

    def _gone_edge(self, change: Change, ways: Ways) -> Difference:
        flow_ends = [
            end
            for flow in self._flows.get(ways, ())
            if (end := self._ends.flows.get((flow.task, flow.source, flow.target)))
        ]
        last = max(flow_ends, key=lambda end: end.at, default=None)
        return Difference(change, *_values(last))

    def _new_edge(self, change: Change, ways: Ways) -> Difference:
        flows = [
            flow
            for flow in self._flows.get(ways, ())
            if (flow.task, flow.source, flow.target) not in self._ends.flows
        ]
        by = ", ".join(sorted({flow.task for flow in flows}))
        if change.kind is ChangeKind.OTHER_TASKS:
            return Difference(change)
        first = min((flow.first_at for flow in flows if flow.first_at), default=None)
        back = [
            self._ends_before.flows.get((flow.task, flow.source, flow.target)) for flow in flows
        ]
        end = max(filter(None, back), key=lambda end: end.at, default=None)
        reasons = filter(None, (f"by {by}" if by else "", _again(end)))
        return Difference(change, None if end else first, ", ".join(reasons))

    def _first_run(self, name: str, end: End | None) -> datetime | None:
        """The first run of a task; the first one since it was gone, where it was."""
        task = self._now.tasks[name]
        times = [
            *(run.started_at for run in task.runs),
            *(usage.first_at for usage in task.usages),
        ]
        return min((at for at in times if at and not (end and at < end.at)), default=None)


def _again(end: End | None) -> str:
    return f"again: {end.reason}" if end else ""


def _values(end: End | None) -> tuple[datetime | None, str]:
    return (end.at, end.reason) if end else (None, "")
