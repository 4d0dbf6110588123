"""dbt's models without a relation as datasets, which take labels and pass them on.

An ephemeral model is a part of the SQL of those that read it. Which of its columns come from where,
and which go where, no column edge says: the edges lead from its inputs to its readers. Of several
models of one relation lineage follows one: what the others read flows into it, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

from dbt_graft.injector.dbt_lineage import upstream_datasets
from dbt_graft.injector.manifest import BUILDERS, Node, all_nodes, parents
from dbt_graft.injector.relations import Relations, relation_name
from dbt_graft.injector.sensitivity import column_labels, labels
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Description, Role
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key

_NAMESPACE = "ephemeral"


@frozen
class EphemeralModels:
    """Models without a relation.

    Attributes:
        descriptions: With their labels, by a dataset that stands for each.
        flows: From what they read, and from those that are labelled to what reads them; from what
            models read whose relation another one builds as well.
    """

    descriptions: Mapping[DatasetId, Description]
    flows: tuple[Flow, ...]


def ephemeral_models(
    manifest: Node,
    datasets: Mapping[str, DatasetId],
    followed: Collection[str],
    is_labelled: Callable[[DatasetId], bool],
) -> EphemeralModels:
    """The models, seeds and snapshots of a manifest that no dataset is known for.

    They are called as their relations would be: patterns of `privacy` name them so.

    Args:
        datasets: unique_id -> the dataset of each node that has one.
        followed: The ids of nodes that lineage has the inputs of.
        is_labelled: Whether a pattern labels a dataset, beside what its node says.
    """
    builders = {
        key: node
        for key, node in manifest["nodes"].items()
        if node.get("resource_type") in BUILDERS
    }
    nodes = {key: node for key, node in builders.items() if key not in datasets}
    rivals = {key: datasets[key] for key in builders if key in datasets and key not in followed}
    stand_ins = {key: DatasetId(_NAMESPACE, relation_name(node)) for key, node in nodes.items()}
    twins = Counter(stand_ins.values())
    stand_ins |= {key: DatasetId(_NAMESPACE, key) for key in nodes if twins[stand_ins[key]] > 1}
    descriptions = {
        stand_ins[key]: Description(
            dataset=stand_ins[key],
            node_id=key,
            name=str(node.get("name") or key),
            role=Role(str(node["resource_type"])),
            labels=labels([node]),
            column_labels=column_labels([node]),
        )
        for key, node in nodes.items()
    }
    labelled = {
        dataset
        for dataset, text in descriptions.items()
        if text.labels or text.column_labels or is_labelled(dataset)
    }
    all_datasets = {**datasets, **stand_ins}
    flows = [
        *_flows_into(manifest, datasets, {**stand_ins, **rivals}),
        *_flows_from(manifest, descriptions, all_datasets, labelled),
    ]
    return EphemeralModels(descriptions, tuple(flows))


def is_ephemeral(dataset: DatasetId) -> bool:
    """Whether a dataset only stands for a model without a relation."""
    return dataset.namespace == _NAMESPACE


def _flows_into(
    manifest: Node, datasets: Mapping[str, DatasetId], targets: Mapping[str, DatasetId]
) -> Iterator[Flow]:
    everything, relations = all_nodes(manifest), Relations(datasets, {}, {}, {})
    for key, target in targets.items():
        for source in upstream_datasets(everything[key], everything, relations):
            if source != target:
                yield Flow(source, target, key)


def _flows_from(
    manifest: Node,
    descriptions: Mapping[DatasetId, Description],
    datasets: Mapping[str, DatasetId],
    labelled: Collection[DatasetId],
) -> Iterator[Flow]:
    readers = group_by_key(
        (parent, datasets[key])
        for key, node in manifest["nodes"].items()
        if key in datasets
        for parent in parents(node)
    )
    waiting = [descriptions[dataset] for dataset in labelled]
    seen = {*labelled}
    while waiting:
        source = waiting.pop()
        for reader in readers.get(source.node_id, ()):
            yield Flow(source.dataset, reader, source.node_id)
            if reader in descriptions and reader not in seen:
                seen.add(reader)
                waiting.append(descriptions[reader])
