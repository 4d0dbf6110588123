"""The DAG, and the task group, that a unit belongs to; and links from DAG to DAG.

Assets start a DAG, sensors wait in one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dbt_graft.exporters.dag_factory.identifiers import unique_identifiers
from dbt_graft.exporters.dag_factory.order import Edge
from dbt_graft.exporters.dag_factory.plan import DataAsset
from dbt_graft.exporters.dag_factory.settings import DagGrouping, DagSettings, TaskGrouping, WaitBy
from dbt_graft.exporters.dag_factory.units import UnitOrder, WorkUnit
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.grouping import group_by_key


def dags_of(
    units: Mapping[str, WorkUnit], edges: Iterable[Edge], settings: DagSettings
) -> tuple[dict[str, str], dict[str, str]]:
    """Unit -> the id of its DAG, and id of a DAG -> its schedule."""
    if settings.dags is DagGrouping.PART:
        keys = _parts(units, edges)
    else:
        keys = {name: _key(unit, settings.dags) for name, unit in units.items()}
    names = {
        suffix: f"{settings.name}_{suffix}" if suffix else settings.name for suffix in keys.values()
    }
    ids = unique_identifiers(names.values())
    by_schedule = settings.dags is DagGrouping.SCHEDULE
    schedules = {
        ids[name]: (key if by_schedule else "") or settings.schedule for key, name in names.items()
    }
    return {unit: ids[names[key]] for unit, key in keys.items()}, schedules


def task_group_of(unit: WorkUnit, settings: DagSettings) -> str:
    """The name of a unit's task group; empty for none."""
    return _key(unit, settings.task_groups)


def _parts(units: Mapping[str, WorkUnit], edges: Iterable[Edge]) -> dict[str, str]:
    """Unit -> the name of its connected part, which is that of its first task."""
    parent = {name: name for name in units}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = name = parent[parent[name]]
        return name

    for a, b in edges:
        first, second = sorted((root(a), root(b)), key=lambda name: (units[name].is_dbt, name))
        parent[second] = first
    return {name: units[root(name)].title for name in units}


def _key(unit: WorkUnit, grouping: DagGrouping | TaskGrouping) -> str:
    """The key that units of one DAG or task group share; a level of dbt has an engine only."""
    node = unit.nodes[0]
    values: Mapping[str, Sequence[str]] = {
        "engine": node.engines,
        "owner": (node.info.owner,),
        "schedule": (node.info.schedule,),
        "tag": node.info.tags,
    }
    if unit.is_level and grouping is not TaskGrouping.ENGINE:
        return ""
    return next(iter(values.get(grouping, ())), "")


@dataclass(frozen=True)
class Crossing:
    """Assets and sensors between DAGs.

    Attributes:
        waits_for: Id of a DAG -> the assets that start it.
        announces: Unit -> the assets that it writes and a DAG waits for.
        sensors: Id of a DAG -> dataset -> the id of the sensor that waits for it.
        sensed: Id of a DAG -> the datasets and the units that wait for them by a sensor.
        dag_edges: The DAGs of each edge between two of them.
    """

    waits_for: Mapping[str, set[DataAsset]] = field(default_factory=dict)
    announces: Mapping[str, set[DataAsset]] = field(default_factory=dict)
    sensors: Mapping[str, Mapping[DatasetId, str]] = field(default_factory=dict)
    sensed: Mapping[str, Collection[tuple[DatasetId, str]]] = field(default_factory=dict)
    dag_edges: frozenset[Edge] = frozenset()


def crossing(
    order: UnitOrder,
    edges: Iterable[Edge],
    dag_of: Mapping[str, str],
    ids: Mapping[str, str],
    wait: WaitBy,
) -> Crossing:
    """Assets and sensors for the edges between DAGs; sensors wait for units without a DAG."""
    writers: dict[DatasetId, int] = defaultdict(int)
    for unit in order.units.values():
        for dataset in {dataset for node in unit.nodes for dataset in node.writes}:
            writers[dataset] += 1
    waits_for: dict[str, set[DataAsset]] = defaultdict(set)
    announces: dict[str, set[DataAsset]] = defaultdict(set)
    sensed: dict[str, set[tuple[DatasetId, str]]] = defaultdict(set)
    dag_edges = set()
    for writer, reader in edges:
        writer_dag, reader_dag = dag_of.get(writer), dag_of.get(reader)
        if reader_dag is None or writer_dag == reader_dag:
            continue
        datasets = order.edges[writer, reader]
        if writer_dag is None or wait is WaitBy.SENSOR:
            sensed[reader_dag].update((dataset, reader) for dataset in datasets)
            continue
        # An asset of several writers would start the DAG after the first of them.
        assets = [
            DataAsset(dataset, ids[writer] if writers[dataset] > 1 else "") for dataset in datasets
        ]
        waits_for[reader_dag].update(assets)
        announces[writer].update(assets)
        dag_edges.add((writer_dag, reader_dag))
    taken = group_by_key((dag_id, ids[unit_name]) for unit_name, dag_id in dag_of.items())
    sensors = {
        dag_id: _sensors({dataset for dataset, _ in pairs}, taken[dag_id])
        for dag_id, pairs in sensed.items()
    }
    return Crossing(waits_for, announces, sensors, sensed, frozenset(dag_edges))


def _sensors(datasets: Collection[DatasetId], taken: Iterable[str]) -> dict[DatasetId, str]:
    short = group_by_key((f"wait_for_{dataset.short}", dataset) for dataset in datasets)
    names = {
        (name if len(namesakes) == 1 else f"wait_for_{dataset}"): dataset
        for name, namesakes in short.items()
        for dataset in namesakes
    }
    ids = unique_identifiers(names, taken)
    return {dataset: ids[name] for name, dataset in names.items()}
