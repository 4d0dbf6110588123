"""The history of writes as bytes, and the one of these: times are made when they are asked for."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, chain

from dbt_graft.analysis.history.data_age import WriteHistory
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.impact.stored_graph import Sections, read_numbers
from dbt_graft.lineage.dataset import DatasetId

_START = datetime(1970, 1, 1, tzinfo=UTC)
_UNIT = timedelta(microseconds=1)


def history_sections(history: WriteHistory, graph: ImpactGraph) -> dict[str, bytes]:
    """The history of a graph's datasets as bytes, by the names of its parts."""
    times = [history.finished.get(dataset, ()) for dataset in graph.datasets]
    parents = [_numbers(graph, history.parents(dataset)) for dataset in graph.datasets]
    written = array("q", ((at - _START) // _UNIT for at in chain.from_iterable(times)))
    return {
        "write_starts": _starts(times),
        "writes": written.tobytes(),
        "parent_starts": _starts(parents),
        "parents": array("i", chain.from_iterable(parents)).tobytes(),
        "views": array("i", _numbers(graph, history.views)).tobytes(),
    }


def read_history(sections: Sections, graph: ImpactGraph) -> WriteHistory:
    """The history that these bytes are of."""
    starts, parents = read_numbers(sections["parent_starts"]), read_numbers(sections["parents"])

    def parents_of(dataset: DatasetId) -> list[DatasetId]:
        number = graph.find_dataset(dataset)
        if number is None:
            return []
        return [graph.datasets[parent] for parent in parents[starts[number] : starts[number + 1]]]

    return WriteHistory(
        _StoredTimes(sections, graph),
        parents_of,
        {graph.datasets[number] for number in read_numbers(sections["views"])},
    )


class _StoredTimes(Mapping[DatasetId, Sequence[datetime]]):
    """The times of writes by datasets."""

    def __init__(self, sections: Sections, graph: ImpactGraph) -> None:
        self._graph, self._starts = graph, read_numbers(sections["write_starts"])
        self._writes = sections["writes"]

    def __getitem__(self, dataset: DatasetId) -> Sequence[datetime]:
        number = self._graph.find_dataset(dataset)
        begin, end = self._starts[number : number + 2] if number is not None else (0, 0)
        if begin == end:
            raise KeyError(dataset)
        size = array("q").itemsize
        times = array("q", bytes(self._writes[size * begin : size * end]))
        return [_START + at * _UNIT for at in times]

    def __iter__(self) -> Iterator[DatasetId]:
        numbers = range(len(self._starts) - 1)
        return (
            self._graph.datasets[at] for at in numbers if self._starts[at] < self._starts[at + 1]
        )

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _numbers(graph: ImpactGraph, datasets: Iterable[DatasetId]) -> list[int]:
    return sorted(
        number for dataset in datasets if (number := graph.find_dataset(dataset)) is not None
    )


def _starts(lists: Sequence[Sequence[object]]) -> bytes:
    return array("i", accumulate(map(len, lists), initial=0)).tobytes()
