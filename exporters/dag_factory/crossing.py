"""Links from DAG to DAG: assets that start one, sensors that wait in one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from dbt_graft.exporters.dag_factory.identifiers import unique_identifiers
from dbt_graft.exporters.dag_factory.order import Edge
from dbt_graft.exporters.dag_factory.plan import DataAsset
from dbt_graft.exporters.dag_factory.settings import WaitBy
from dbt_graft.exporters.dag_factory.units import UnitOrder
from dbt_graft.lineage.dataset import DatasetId


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
    """Assets and sensors for the edges between DAGs; units without a DAG are waited for by sensors.

    Args:
        ids: Unit -> the id of its task.
    """
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
    taken: dict[str, list[str]] = defaultdict(list)
    for unit_name, dag_id in dag_of.items():
        taken[dag_id].append(ids[unit_name])
    sensors = {
        dag_id: _sensors({dataset for dataset, _ in pairs}, taken[dag_id])
        for dag_id, pairs in sensed.items()
    }
    return Crossing(waits_for, announces, sensors, sensed, frozenset(dag_edges))


def _sensors(datasets: Collection[DatasetId], taken: Iterable[str]) -> dict[DatasetId, str]:
    short: dict[str, list[DatasetId]] = defaultdict(list)
    for dataset in datasets:
        short[f"wait_for_{dataset.short}"].append(dataset)
    names = {
        (name if len(namesakes) == 1 else f"wait_for_{dataset}"): dataset
        for name, namesakes in short.items()
        for dataset in namesakes
    }
    ids = unique_identifiers(names, taken)
    return {dataset: ids[name] for name, dataset in names.items()}
