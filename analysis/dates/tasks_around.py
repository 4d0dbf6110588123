"""The tasks around datasets: those whose runs decide on states and taints of some datasets.

A history in which only these have all their runs gives the same answers as that of all.
"""

from __future__ import annotations

from collections.abc import Iterable

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.lineage.dataset import DatasetId


def tasks_of_states(history: AccessHistory, dataset: DatasetId) -> set[str]:
    """The tasks that decide on the states of a dataset, by the taints on record, too."""
    # Which dates an input holds may be decided by those of its own inputs.
    around = _inputs(history, _inputs(history, {dataset}))
    bad = {dataset for taint in history.lineage.history.taints for _, dataset in taint.tainted}
    return _tasks(history, around | _inputs(history, _downstream(history, bad)))


def tasks_of_taint(history: AccessHistory, bad: Iterable[DatasetId]) -> set[str]:
    """The tasks that decide on what bad data of some datasets went into."""
    return _tasks(history, _inputs(history, _downstream(history, bad)))


def _inputs(history: AccessHistory, datasets: set[DatasetId]) -> set[DatasetId]:
    """Some datasets with all that they are made of."""
    inputs = {*datasets}
    for dataset in datasets:
        inputs.update(edge[1] for edge in history.upstream.get(dataset, ()))
        if declared := history.lineage.history.declared_dates.get(dataset):
            inputs.update((*declared.reads, *declared.estimated, *declared.completed))
    return inputs


def _downstream(history: AccessHistory, datasets: Iterable[DatasetId]) -> set[DatasetId]:
    """Some datasets with all that is made of them, to the ends."""
    reached = {*datasets}
    waiting = [*reached]
    while waiting:
        for _, _, target in history.downstream.get(waiting.pop(), ()):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return reached


def _tasks(history: AccessHistory, datasets: set[DatasetId]) -> set[str]:
    return {
        *(access.task for access in history.lineage.history.accesses if access.dataset in datasets),
        *(edge[0] for dataset in datasets for edge in history.upstream.get(dataset, ())),
    }
