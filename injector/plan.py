"""What to do with each dataset that tasks use: decided first, built afterwards.

- dbt builds it: its node stays as it is, and tasks that write it are second writers;
- tasks write it and dbt knows it as a source: promoted to a model;
- tasks write it and dbt does not know it: a new model;
- tasks only read it and dbt does not know it: a new source;
- a task that writes nothing is an exposure;
- a view that only its definition makes is built by that, like by a task.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dbt_graft.injector.cycles import Acyclic, Edge, without_cycles
from dbt_graft.injector.naming import Names, plain
from dbt_graft.injector.relations import Node, Relations, all_nodes, parents
from dbt_graft.injector.report import Built, Read, Renamed, SelfRead
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Direction

# The dbt package that everything from logs belongs to.
PACKAGE = "python_tasks"


@dataclass(frozen=True, slots=True)
class Plan:
    """The decisions.

    Attributes:
        nodes: Dataset -> the node that stands for it after the graft.
        parents: For each node built by tasks, and each exposure, what it depends on, sorted.
    """

    promoted: tuple[Built, ...]
    added: tuple[Built, ...]
    new_sources: tuple[Read, ...]
    exposures: tuple[Read, ...]
    second_writers: tuple[Built, ...]
    shared: tuple[Built, ...]
    self_reads: tuple[SelfRead, ...]
    acyclic: Acyclic
    renamed: tuple[Renamed, ...]
    notices: tuple[str, ...]
    nodes: Mapping[DatasetId, str]
    parents: Mapping[str, tuple[str, ...]]


def plan(manifest: Node, lineage: Lineage, known: Relations) -> Plan:
    """Decide what becomes of each dataset and each task of the logs' lineage."""
    tasks = lineage.tasks
    writers = lineage.writer_names()
    views = {
        view.dataset: view
        for view in lineage.definitions.values()
        if view.kind is DefinitionKind.VIEW and view.dataset not in known.builders
    }
    flows = [
        flow
        for flow in lineage.flows
        if flow.source != flow.target and (flow.definition is None or flow.target in views)
    ]
    everything = all_nodes(manifest)
    names = Names(str(node.get("name")) for node in everything.values())

    nodes = {
        dataset: node_id
        for dataset in known.datasets.values()
        if (node_id := known.node_of(dataset))
    }
    built = [
        _built(dataset, writers.get(dataset, ()), known, everything, names)
        for dataset in sorted({*writers, *views})
        if dataset not in known.builders
    ]
    nodes |= {b.dataset: b.node_id for b in built}
    new_sources = [
        _new_source(dataset, lineage, views.values(), names)
        for dataset in _read(tasks.values(), views.values())
        if dataset not in nodes
    ]
    nodes |= {read.dataset: read.node_id for read in new_sources if read.dataset}

    acyclic = without_cycles(_own_edges(everything, built), _logged_edges(flows, nodes, built))
    upstream: dict[str, set[str]] = {b.node_id: set() for b in built}
    for source, target in acyclic.edges:
        upstream[target].add(source)
    exposures = [_exposure(task, names) for task in tasks.values() if task.only_reads]
    for read in exposures:
        upstream[read.node_id] = {nodes[dataset] for dataset in tasks[read.tasks[0]].reads}

    return Plan(
        promoted=tuple(b for b in built if b.sources),
        added=tuple(b for b in built if not b.sources),
        new_sources=tuple(new_sources),
        exposures=tuple(exposures),
        second_writers=tuple(
            Built(node_id, str(everything[node_id].get("name")), dataset, tuple(by))
            for dataset, by in writers.items()
            if (node_id := known.builders.get(dataset))
        ),
        shared=tuple(b for b in built if len(b.tasks) > 1),
        self_reads=tuple(
            SelfRead(task.name, dataset)
            for task in tasks.values()
            for dataset in sorted({*task.reads} & {*task.writes})
        ),
        acyclic=acyclic,
        renamed=tuple(Renamed(wanted, given) for wanted, given in names.conflicts),
        notices=tuple(
            f"task {task.name} has put data nowhere: its writes failed or only changed tables; "
            "the catalog shows it, dbt docs does not"
            for task in tasks.values()
            if _tried_to_write(task) and not task.writes
        ),
        nodes=nodes,
        parents={node_id: tuple(sorted(ids)) for node_id, ids in sorted(upstream.items())},
    )


def source_group(dataset: DatasetId, lineage: Lineage) -> str:
    """The group a new source stands in: `files`, `topics`, or its platform (`mssql`, `spark`)."""
    found = lineage.datasets.get(dataset)
    if found and found.kind is Kind.PATH:
        return "files"
    if found and found.kind is Kind.TOPIC:
        return "topics"
    return plain(dataset.namespace.partition("://")[0]) or "other"


def _read(tasks: Iterable[Task], views: Iterable[Definition]) -> list[DatasetId]:
    """What tasks read and views are made of, sorted."""
    found = {dataset for task in tasks for dataset in task.reads}
    return sorted(found | {dataset for view in views for dataset in view.reads})


def _built(
    dataset: DatasetId,
    by: Sequence[str],
    known: Relations,
    everything: Mapping[str, Node],
    names: Names,
) -> Built:
    """The model for what tasks write, called after the source it replaces where there is one."""
    sources = known.sources.get(dataset, ())
    first = everything[sources[0]] if sources else {}
    said = (str(first.get("source_name")), str(first.get("name")))
    name = names.claim(dataset, said if sources else ())
    spelled = known.datasets[sources[0]] if sources else dataset
    return Built(f"model.{PACKAGE}.{name}", name, spelled, tuple(by), sources)


def _new_source(
    dataset: DatasetId, lineage: Lineage, views: Iterable[Definition], names: Names
) -> Read:
    alone = len(dataset.parts) < 2
    name = names.claim(dataset, (dataset.namespace, *dataset.parts) if alone else ())
    return Read(
        f"source.{PACKAGE}.{source_group(dataset, lineage)}.{name}",
        name,
        dataset,
        tuple(sorted({usage.task for usage in lineage.readers(dataset)})),
        tuple(sorted(view.dataset for view in views if dataset in view.reads)),
    )


def _exposure(task: Task, names: Names) -> Read:
    name = names.claim_task(task.name)
    return Read(f"exposure.{PACKAGE}.{name}", name, None, (task.name,))


def _tried_to_write(task: Task) -> bool:
    """Whether it wrote anything lasting, with success or without."""
    return any(usage.direction is Direction.WRITE for usage in task.usages)


def _own_edges(everything: Mapping[str, Node], built: Iterable[Built]) -> list[Edge]:
    """dbt's own edges, with promoted sources under their new ids."""
    redirects = {source: b.node_id for b in built for source in b.sources}
    return [
        (redirects.get(parent, parent), node_id)
        for node_id, node in everything.items()
        if node.get("resource_type") != "test"
        for parent in parents(node)
    ]


def _logged_edges(
    flows: Iterable[Flow], nodes: Mapping[DatasetId, str], built: Iterable[Built]
) -> dict[Edge, list[Flow]]:
    """The flows into what tasks build, by the edge they make; dbt's own nodes get no others."""
    ours = {b.node_id for b in built}
    edges: dict[Edge, list[Flow]] = defaultdict(list)
    for flow in flows:
        source, target = nodes[flow.source], nodes[flow.target]
        if target in ours and source != target:
            edges[source, target].append(flow)
    return edges
