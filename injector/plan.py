"""The plan of a graft: what becomes of each dataset and task.

- dbt builds it: the node is unchanged, and tasks that write it are second writers;
- tasks write it and it is a dbt source: promoted to a model;
- tasks write it and dbt does not know it: a new model;
- tasks only read it and dbt does not know it: a new source;
- a task that writes nothing: an exposure;
- a view that no task writes: a model made from its definition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dbt_graft.injector.cycles import Edge, without_cycles
from dbt_graft.injector.manifest import Node, all_nodes, parents
from dbt_graft.injector.naming import NodeNames, plain
from dbt_graft.injector.relations import Relations
from dbt_graft.injector.report import (
    BuiltDataset,
    NameConflict,
    NewSource,
    Report,
    SelfRead,
    TaskExposure,
)
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Direction

# The dbt package of all nodes from logs.
PACKAGE = "python_tasks"


@frozen
class GraftPlan:
    """Decisions of a graft.

    Attributes:
        report: What it adds, promotes and leaves out.
        nodes: Dataset -> the id of its node after the graft.
        parents: Id of each added model and exposure -> the ids of its parents, sorted.
    """

    report: Report
    nodes: Mapping[DatasetId, str]
    parents: Mapping[str, tuple[str, ...]]


def plan(manifest: Node, lineage: Lineage, relations: Relations) -> GraftPlan:
    """Decide what becomes of each dataset and task in the lineage of the logs."""
    tasks = lineage.tasks
    writers = lineage.writer_names()
    views = {
        view.dataset: view
        for view in lineage.definitions.values()
        if view.kind is DefinitionKind.VIEW and view.dataset not in relations.builders
    }
    flows = [
        flow
        for flow in lineage.flows
        if flow.source != flow.target and (flow.definition is None or flow.target in views)
    ]
    everything = all_nodes(manifest)
    names = NodeNames(str(node.get("name")) for node in everything.values())

    nodes = {
        dataset: node_id
        for dataset in relations.datasets.values()
        if (node_id := relations.node_of(dataset))
    }
    built = [
        _plan_model(dataset, writers.get(dataset, ()), relations, everything, names)
        for dataset in sorted({*writers, *views})
        if dataset not in relations.builders
    ]
    nodes |= {b.dataset: b.node_id for b in built}
    new_sources = [
        _new_source(dataset, lineage, views.values(), names)
        for dataset in _read_datasets(tasks.values(), views.values())
        if dataset not in nodes
    ]
    nodes |= {source.dataset: source.node_id for source in new_sources}

    acyclic = without_cycles(_own_edges(everything, built), _logged_edges(flows, nodes, built))
    upstream: dict[str, set[str]] = {b.node_id: set() for b in built}
    for source, target in acyclic.edges:
        upstream[target].add(source)
    exposures = [_exposure(task, names) for task in tasks.values() if task.only_reads]
    for exposure in exposures:
        upstream[exposure.node_id] = {nodes[dataset] for dataset in tasks[exposure.task].reads}

    report = Report(
        promoted=tuple(b for b in built if b.sources),
        added=tuple(b for b in built if not b.sources),
        new_sources=tuple(new_sources),
        exposures=tuple(exposures),
        second_writers=tuple(_second_writers(writers, relations, everything)),
        shared=tuple(b for b in built if len(b.tasks) > 1),
        self_reads=tuple(
            SelfRead(task.name, dataset)
            for task in tasks.values()
            for dataset in sorted({*task.reads} & {*task.writes})
        ),
        cycles=acyclic.cycles,
        name_conflicts=tuple(NameConflict(*conflict) for conflict in names.conflicts),
        notices=tuple(
            f"task {task.name} wrote no data: its writes failed or only altered tables; "
            "it is in the catalog but not in dbt docs"
            for task in tasks.values()
            if _tried_to_write(task) and not task.writes
        ),
    )
    parents_by_node = {node_id: tuple(sorted(ids)) for node_id, ids in sorted(upstream.items())}
    return GraftPlan(report, nodes, parents_by_node)


def _second_writers(
    writers: Mapping[DatasetId, Sequence[str]], relations: Relations, everything: Mapping[str, Node]
) -> Iterator[BuiltDataset]:
    """The datasets that dbt builds and tasks write too."""
    for dataset, tasks in writers.items():
        if node_id := relations.builders.get(dataset):
            name = str(everything[node_id].get("name"))
            yield BuiltDataset(node_id, name, dataset, tuple(tasks))


def source_group(dataset: DatasetId, lineage: Lineage) -> str:
    """Return the source name of a new source: `files`, `topics` or its platform (`mssql`)."""
    details = lineage.datasets.get(dataset)
    if details and details.kind is Kind.PATH:
        return "files"
    if details and details.kind is Kind.TOPIC:
        return "topics"
    return plain(dataset.namespace.partition("://")[0]) or "other"


def _read_datasets(tasks: Iterable[Task], views: Iterable[Definition]) -> list[DatasetId]:
    """The datasets that tasks and views read, sorted."""
    task_reads = {dataset for task in tasks for dataset in task.reads}
    return sorted(task_reads | {dataset for view in views for dataset in view.reads})


def _plan_model(
    dataset: DatasetId,
    task_names: Sequence[str],
    relations: Relations,
    everything: Mapping[str, Node],
    names: NodeNames,
) -> BuiltDataset:
    """The model for a dataset, named after the source that it replaces, if any."""
    sources = relations.sources.get(dataset, ())
    first = everything[sources[0]] if sources else {}
    source_name = (str(first.get("source_name")), str(first.get("name")))
    name = names.claim(dataset, source_name if sources else ())
    dataset_id = relations.datasets[sources[0]] if sources else dataset
    return BuiltDataset(f"model.{PACKAGE}.{name}", name, dataset_id, tuple(task_names), sources)


def _new_source(
    dataset: DatasetId, lineage: Lineage, views: Iterable[Definition], names: NodeNames
) -> NewSource:
    alone = len(dataset.parts) < 2
    name = names.claim(dataset, (dataset.namespace, *dataset.parts) if alone else ())
    return NewSource(
        f"source.{PACKAGE}.{source_group(dataset, lineage)}.{name}",
        name,
        dataset,
        tuple(sorted({usage.task for usage in lineage.readers(dataset)})),
        tuple(sorted(view.dataset for view in views if dataset in view.reads)),
    )


def _exposure(task: Task, names: NodeNames) -> TaskExposure:
    name = names.claim_task(task.name)
    return TaskExposure(f"exposure.{PACKAGE}.{name}", name, task.name)


def _tried_to_write(task: Task) -> bool:
    """Whether it wrote a lasting dataset, successfully or not."""
    return any(usage.direction is Direction.WRITE for usage in task.usages)


def _own_edges(everything: Mapping[str, Node], built: Iterable[BuiltDataset]) -> list[Edge]:
    """dbt's own edges, with the new ids of promoted sources."""
    redirects = {source: b.node_id for b in built for source in b.sources}
    return [
        (redirects.get(parent, parent), node_id)
        for node_id, node in everything.items()
        if node.get("resource_type") != "test"
        for parent in parents(node)
    ]


def _logged_edges(
    flows: Iterable[Flow], nodes: Mapping[DatasetId, str], built: Iterable[BuiltDataset]
) -> dict[Edge, list[Flow]]:
    """The flows into added models, by edge; dbt's own nodes get no new parents."""
    ours = {b.node_id for b in built}
    edges: dict[Edge, list[Flow]] = defaultdict(list)
    for flow in flows:
        source, target = nodes[flow.source], nodes[flow.target]
        if target in ours and source != target:
            edges[source, target].append(flow)
    return edges
