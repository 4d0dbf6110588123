"""An impact graph as bytes, and the graph of these: nothing is made that nobody asks for."""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from itertools import compress, count
from operator import attrgetter

from dbt_graft.analysis.impact.graph import ImpactGraph, group_by_source
from dbt_graft.analysis.impact.stored_datasets import StoredDatasets

Sections = Mapping[str, bytes | memoryview]
_NUMBERS = (
    *("dataset_of", "flow_target", "flow_task", "flow_starts"),
    *("edge_target", "edge_flow", "edge_task", "edge_starts"),
    *("use_starts", "use_task"),
)
_FLAGS = (
    *("is_star", "opaque", "flow_is_stale", "flow_has_columns", "flow_has_reads"),
    *("edge_kind", "edge_need"),
)


def graph_sections(graph: ImpactGraph) -> dict[str, bytes]:
    """A graph as bytes, by the names of its parts."""
    # A namespace with a path has its server alone in the keys of its datasets.
    namespaces = {dataset.namespace: dataset.key[0] for dataset in graph.datasets}
    names = dict.fromkeys(graph.column_names)
    starts, columns = group_by_source(graph.dataset_of, len(graph.datasets))
    return {
        "namespaces": text_section([*namespaces]),
        "namespace_key": text_section([*namespaces.values()]),
        "dataset_namespace": _places(namespaces, [dataset.namespace for dataset in graph.datasets]),
        "dataset_name": text_section([dataset.name for dataset in graph.datasets]),
        "dataset_key": text_section([dataset.key[1] for dataset in graph.datasets]),
        "has_schema": array("i", sorted(graph.has_schema)).tobytes(),
        "tasks": text_section(graph.tasks),
        "names": text_section([*names]),
        "column_name": _places(names, graph.column_names),
        "column_starts": starts.tobytes(),
        "columns_by_dataset": columns.tobytes(),
        **{name: attrgetter(name)(graph).tobytes() for name in _NUMBERS},
        **{name: bytes(attrgetter(name)(graph)) for name in _FLAGS},
    }


def read_graph(sections: Sections) -> ImpactGraph:
    """The graph that these bytes are of."""
    graph = ImpactGraph([], [])
    namespaces = read_texts(sections["namespaces"])
    of_dataset = read_numbers(sections["dataset_namespace"])
    keys = zip(
        map(read_texts(sections["namespace_key"]).__getitem__, of_dataset),
        read_texts(sections["dataset_key"]),
        strict=True,
    )
    graph.numbers = dict(zip(keys, count(), strict=False))
    names = read_texts(sections["dataset_name"])
    graph.datasets = StoredDatasets(namespaces, of_dataset, names)
    graph.tasks = read_texts(sections["tasks"])
    texts, places = read_texts(sections["names"]), read_numbers(sections["column_name"])
    graph.column_names = [texts[place] for place in places]
    graph.columns_of = _StoredColumns(
        graph.column_names,
        read_numbers(sections["column_starts"]),
        read_numbers(sections["columns_by_dataset"]),
    )
    graph.has_schema = {*read_numbers(sections["has_schema"])}
    for name in _NUMBERS:
        setattr(graph, name, read_numbers(sections[name]))
    for name in _FLAGS:
        setattr(graph, name, bytearray(sections[name]))
    stars = [*compress(range(len(graph.is_star)), graph.is_star)]
    graph.stars = dict(zip(map(graph.dataset_of.__getitem__, stars), stars, strict=True))
    return graph


class _StoredColumns(dict[int, dict[str, int]]):
    """Dataset -> its columns by their folded names, as they are asked for."""

    def __init__(
        self, names: Sequence[str], starts: Sequence[int], by_dataset: Sequence[int]
    ) -> None:
        super().__init__()
        self._names, self._starts, self._by_dataset = names, starts, by_dataset

    def __missing__(self, dataset: int) -> dict[str, int]:
        begin, end = self._starts[dataset], self._starts[dataset + 1]
        numbers = {self._names[column].casefold(): column for column in self._by_dataset[begin:end]}
        self[dataset] = numbers
        return numbers


def text_section(texts: Sequence[str]) -> bytes:
    """Texts as bytes."""
    return json.dumps(texts, separators=(",", ":")).encode()


def read_texts(section: bytes | memoryview) -> list[str]:
    """The texts of a section."""
    texts: list[str] = json.loads(bytes(section))
    return texts


def read_numbers(section: bytes | memoryview) -> array[int]:
    """The numbers of a section."""
    numbers = array("i")
    numbers.frombytes(section)
    return numbers


def _places(distinct: Mapping[str, object], texts: Sequence[str]) -> bytes:
    """The place of each text among the distinct ones."""
    places = dict(zip(distinct, count(), strict=False))
    return array("i", [places[text] for text in texts]).tobytes()
