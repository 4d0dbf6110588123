"""Keys of pages: two builds give a page the same key only if they give it the same bytes.

A key is a digest of more than the page shows, never of less:

- all records of its own dataset or task;
- all records of the datasets up to two steps upstream and downstream: what the picture shows;
- from everything further upstream and downstream its outline: which datasets they are, of what
  sort and in what health, and how they hang together; downstream also columns and consumers;
- what all pages depend on: the code and the templates that make them, the shell, the settings.

So nothing has to be listed here that a page shows of one of these. Each digest is computed once and
combined along the graph, which takes a hundredth of the time of the pages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import cache
from hashlib import blake2b
from importlib import metadata
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any

import orjson

import dbt_graft.catalog
import dbt_graft.lineage
from dbt_graft import __version__
from dbt_graft.catalog.badges import shown_faults, unreached_by
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.privacy_page import derived_labels
from dbt_graft.lineage.building.orchestration import orchestrator_task
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.graph import Graph, N
from dbt_graft.lineage.records import ColumnEdge, Direction

# Whose code makes pages.
_ROOMS = (dbt_graft.catalog, dbt_graft.lineage)
Digest = bytes
_SIZE = 16
_NONE = bytes(_SIZE)
# The fields of a column edge as texts, which are written much faster than nested records.
_edge_values = attrgetter(
    *(
        name
        for field in fields(ColumnEdge)
        for name in (
            (f"{field.name}.namespace", f"{field.name}.name")
            if field.name.endswith("_dataset")
            else (field.name,)
        )
    )
)


class PageKeys:
    """The keys of the pages of datasets and tasks.

    Args:
        order: Which task feeds which (`Lineage.task_graph`).
        maker: What all pages depend on, see `maker_digest`.
    """

    def __init__(self, index: Index, order: Graph[str], maker: Digest) -> None:
        self._index, self._order = index, order
        self._maker = combine_digests((maker, digest((index.dbt_docs, sorted(index.engines)))))
        # Not `cache` of a method: such a cycle would keep all digests in memory.
        self._named: dict[str, Digest] = {}
        self._around: dict[DatasetId, Digest] = {}
        self._edges: dict[DatasetId, Digest] = {}
        self._own = {dataset: self._of_dataset(dataset) for dataset in index.datasets}
        self._graph = graph = _dataset_graph(index)
        self._near_upstream = _near_digests(graph.parents, self._own)
        self._near_downstream = _near_digests(graph.children, self._own)
        outlines = {dataset: self._outline(dataset) for dataset in index.datasets}
        parts = list(graph.parts())
        upstream = {
            dataset: combine_digests((outline, _names(index.graph.parents(dataset))))
            for dataset, outline in outlines.items()
        }
        downstream = {
            dataset: combine_digests(
                (outline, _names(index.graph.children(dataset)), self._columns(dataset))
            )
            for dataset, outline in outlines.items()
        }
        self._upstream = _reach_digests(reversed(parts), graph.parents, upstream)
        self._downstream = _reach_digests(parts, graph.children, downstream)
        tasks = {name: digest((name, name in index.tasks)) for name in order.nodes}
        parts_of_tasks = list(order.parts())
        self._tasks_upstream = _reach_digests(reversed(parts_of_tasks), order.parents, tasks)
        self._tasks_downstream = _reach_digests(parts_of_tasks, order.children, tasks)

    def of_dataset(self, dataset: DatasetId) -> Digest:
        """The key of a dataset's page."""
        labels = derived_labels(self._index, dataset), self._index.privacy is None
        downstream = digest((self._index.impact(dataset), labels))
        upstream = digest(
            [(reached.fault, reached.path) for reached in shown_faults(self._index, dataset)]
        )
        return combine_digests((self._maker, self._of_surroundings(dataset), downstream, upstream))

    def of_task(self, name: str) -> Digest:
        """The key of the page of a task or a consumer."""
        task, consumer = self._index.tasks.get(name), self._index.consumers.get(name)
        datasets = {usage.dataset for usage in task.usages} if task else set()
        datasets |= set(consumer.reads) if consumer else set()
        return combine_digests(
            (
                self._maker,
                self._of_name(name),
                digest(
                    (
                        self._index.forecasts.get(name),
                        self._index.lineage.codes.get(name),
                        self._index.rejects_of.get(name),
                        self._index.open_tasks.get(name),
                    )
                ),
                _edges(self._index.columns_by.get(name, ())),
                self._tasks_upstream.get(name, _NONE),
                self._tasks_downstream.get(name, _NONE),
                *(self._of_surroundings(dataset) for dataset in sorted(datasets)),
            )
        )

    def _of_surroundings(self, dataset: DatasetId) -> Digest:
        """A dataset and all that its page may show of others."""
        if cached := self._around.get(dataset):
            return cached
        key = self._around[dataset] = combine_digests(
            (
                self._own[dataset],
                self._near_upstream[dataset],
                *(self._near_upstream[neighbour] for neighbour in self._graph.parents(dataset)),
                self._near_downstream[dataset],
                *(self._near_downstream[neighbour] for neighbour in self._graph.children(dataset)),
                self._upstream[dataset],
                self._downstream[dataset],
            )
        )
        return key

    def _of_dataset(self, dataset: DatasetId) -> Digest:
        """All records of a dataset, and of the tasks and consumers that use it."""
        index, lineage = self._index, self._index.lineage
        description = index.descriptions.get(dataset)
        definitions = [lineage.definition(dataset, kind) for kind in DefinitionKind]
        flows = (*index.flows_to.get(dataset, ()), *index.flows_from.get(dataset, ()))
        edges_to, edges_from = (
            index.columns_to.get(dataset, ()),
            index.columns_from.get(dataset, ()),
        )
        users = [
            *(u.task for side in Direction for u in lineage.usages_of(dataset, side)),
            *(consumer.name for consumer in index.reports.get(dataset, ())),
            *(flow.task for flow in flows),
            *{edge.task: None for edge in (*edges_to, *edges_from)},
        ]
        self._edges[dataset] = combine_digests((_edges(edges_to), _edges(edges_from)))
        return combine_digests(
            (
                digest(
                    (
                        index.datasets[dataset],
                        description,
                        definitions,
                        [
                            self._shapes(definition.shapes)
                            for definition in definitions
                            if definition
                        ],
                        index.results(dataset),
                        [
                            lineage.dbt.node_results.get(test.node_id)
                            for test in index.tests_of(dataset)
                        ],
                        lineage.names.former.get(dataset),
                        index.dates.get(dataset),
                        index.late.get(dataset, ()),
                        flows,
                        users,
                        [tuple(day) for day in index.days.datasets.get(dataset, ())],
                    )
                ),
                self._edges[dataset],
                *(self._of_name(name) for name in dict.fromkeys(users)),
            )
        )

    def _of_name(self, name: str) -> Digest:
        """All records of a task, of a consumer, or of both where they have one name."""
        if cached := self._named.get(name):
            return cached
        task, consumer = self._index.tasks.get(name), self._index.consumers.get(name)
        shapes = task.shapes if task else ()
        started_by = self._index.lineage.history.orchestrator_runs
        by = [
            orchestrator_task(run, started_by) for run in (task.runs if task and started_by else ())
        ]
        superseded = self._index.lineage.history.superseded
        later = [superseded.get((name, run.run_id)) for run in (task.runs if task else ())]
        days = [tuple(day) for day in self._index.days.tasks.get(name, ())]
        later = later if any(later) else []
        late = [note for notes in self._index.late.values() for note in notes if note.task == name]
        dated = self._index.run_dates.of_task(task) if task else ()
        values = (name, task, consumer, self._shapes(shapes), by, later, days, dated, late)
        key = self._named[name] = digest(values)
        return key

    def _shapes(self, ids: Iterable[str]) -> list[Any]:
        return [self._index.lineage.shapes.get(id_) for id_ in ids]

    def _outline(self, dataset: DatasetId) -> Digest:
        """The parts of a dataset that pages far away may show: name, sort, labels and health."""
        index = self._index
        description = index.descriptions.get(dataset)
        dbt_ids = description.dbt_ids if description else ()
        ids = (*dbt_ids, *(test.node_id for test in index.tests_of(dataset)))
        results = (index.lineage.dbt.node_results.get(id_) for id_ in ids)
        writers = index.lineage.usages_of(dataset, Direction.WRITE)
        return digest(
            (
                str(dataset),
                index.datasets[dataset].kind,
                index.datasets[dataset].dropped_at,
                (description.role, description.name, description.owner, description.tags)
                if description
                else None,
                [(history[0].word, history[0].status) if history else None for history in results],
                [(u.task, u.failed, u.moves_data) for u in writers],
                index.lineage.failed_write(dataset) is not None,
                unreached_by(index).get(dataset),
            )
        )

    def _columns(self, dataset: DatasetId) -> Digest:
        """The columns of a dataset, the edges into and out of them, and who reads it."""
        index = self._index
        return combine_digests(
            (
                digest([(key, column.name) for key, column in index.columns(dataset).items()]),
                digest([(c.node_id, c.name, c.kind) for c in index.reports.get(dataset, ())]),
                self._edges[dataset],
            )
        )


def maker_digest(design: Path) -> Digest:
    """The digest of what all pages of all sites depend on: our code, its packages, the design.

    The version alone would not do: templates may be edited, and code in a source tree.
    """
    code = (Path(folder) for room in _ROOMS for folder in room.__path__)
    files = [file for folder in code for file in sorted(folder.rglob("*.py"))]
    files += [file for file in sorted(design.rglob("*")) if file.is_file()]
    contents = [(file.name, digest_of(file.read_bytes()).hex()) for file in files]
    return digest((__version__, package_versions(), contents))


def digest(value: object) -> Digest:
    """The digest of records and plain values, equal in every process."""
    try:
        content = orjson.dumps(value, default=_plain_value, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:  # a lone surrogate, a number of more than 64 bits
        content = repr(value).encode("utf-8", "surrogatepass")
    return digest_of(content)


def digest_of(content: bytes) -> Digest:
    """The digest of bytes."""
    return blake2b(content, digest_size=_SIZE).digest()


def combine_digests(digests: Iterable[Digest]) -> Digest:
    """The digest of several, in their order."""
    return digest_of(b"".join(digests))


def _edges(edges: Iterable[ColumnEdge]) -> Digest:
    return digest(list(map(_edge_values, edges)))


def _names(datasets: Iterable[DatasetId]) -> Digest:
    return digest(list(map(str, datasets)))


def _dataset_graph(index: Index) -> Graph[DatasetId]:
    """Datasets, with an edge where data, or columns, or a definition lead from one to the other."""
    reads = ((read, d.dataset) for d in index.lineage.definitions.values() for read in d.reads)
    flows = ((flow.source, flow.target) for flow in index.lineage.flows)
    return Graph(chain(flows, index.columns_between, reads), index.datasets)


def _near_digests(
    neighbours: Callable[[N], Iterable[N]], digests: Mapping[N, Digest]
) -> dict[N, Digest]:
    """For each node all records of the nodes one step from it."""
    return {
        node: combine_digests(digests[neighbour] for neighbour in neighbours(node))
        for node in digests
    }


def _reach_digests(
    parts: Iterable[Collection[N]],
    neighbours: Callable[[N], Iterable[N]],
    digests: Mapping[N, Digest],
) -> dict[N, Digest]:
    """For each node the digests of all that can be reached from it, and by which edges.

    Args:
        parts: All nodes; what a part leads to is before it (see `Graph.parts`).
        digests: No two nodes have one: each is of the node's name too.
    """
    reach_digests: dict[N, Digest] = {}
    for part in parts:
        # Inside of a knot each node leads to each other one: there, nodes stand for the edges.
        reached = combine_digests(
            step
            for node in part
            for neighbour in (None, *neighbours(node))
            for step in (
                (digests[node],)
                if neighbour is None
                else (digests[neighbour], reach_digests.get(neighbour, _NONE))
            )
        )
        reach_digests |= {node: combine_digests((digests[node], reached)) for node in part}
    return reach_digests


def _plain_value(value: object) -> object:
    """A value that JSON lacks, as one that it has."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return list(value)
    raise TypeError(type(value))


@cache
def package_versions() -> list[str]:
    """The versions of the packages that ours requires, and of Python."""
    names = (
        re.match(r"[\w.-]+", requirement) for requirement in metadata.requires("dbt-graft") or ()
    )
    versions = [sys.version]
    for name in filter(None, names):
        with suppress(metadata.PackageNotFoundError):  # an extra
            versions.append(f"{name[0]} {metadata.version(name[0])}")
    return versions
