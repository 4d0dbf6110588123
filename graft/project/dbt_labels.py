"""Labels of columns, written into the grafted artifacts as `privacy: {in_dbt: …}` asks for."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from dbt_graft.graft.project.config import Config
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.injector.column_labels import ColumnLabel, label_columns
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.described import DescribedLineage

if TYPE_CHECKING:
    from dbt_graft.analysis.privacy.labels import PrivacyLabels


def with_dbt_labels(config: Config, original: Artifacts, grafted: Grafted) -> Grafted:
    """The graft with the labels of columns in dbt's `meta` and tags; as it is if nobody asks."""
    places = config.privacy.in_dbt
    if not places:
        return grafted
    from dbt_graft.graft.project.privacy_labels import project_labels

    labels = _by_node(project_labels(config, grafted.described), grafted.described)
    return label_columns(grafted, original, labels, places)


def _by_node(labels: PrivacyLabels, described: DescribedLineage) -> dict[str, list[ColumnLabel]]:
    labels_by_node: dict[str, list[ColumnLabel]] = defaultdict(list)
    graph = labels.graph
    for column in sorted(labels.columns()):
        dataset = graph.datasets[graph.dataset_of[column]]
        description, level = described.descriptions.get(dataset), labels.classification(column)
        if description is None or level is None:
            continue
        declared, first = labels.declared.get(column), labels.path(column)[0]
        follows = (first.dataset, first.column) != (dataset, graph.column_names[column])
        label = ColumnLabel(
            graph.column_names[column],
            level.text,
            f"{first.dataset}.{first.column}" if follows else "",
            in_dbt=declared is not None and declared.source == "dbt",
        )
        labels_by_node[description.node_id].append(label)
    return labels_by_node
