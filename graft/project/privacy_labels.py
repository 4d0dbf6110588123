"""The labels of all columns of a project."""

from __future__ import annotations

from collections.abc import Iterable

from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.privacy.labels import DeclaredLabel, PrivacyLabels, privacy_labels
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.declared_labels import DeclaredLabels, declared_labels, group_sizes
from dbt_graft.graft.project.impact_graph import impact_graph
from dbt_graft.lineage.described import DescribedLineage


def project_labels(config: Config, described: DescribedLineage) -> PrivacyLabels:
    """The labels of all columns, for the classifications that graft.yml calls sensitive."""
    graph = impact_graph(config, described)
    declared = declared_labels(config, described, graph)
    return spread_labels(config, described, graph, declared, config.privacy.sensitive_from)


def spread_labels(
    config: Config,
    described: DescribedLineage,
    graph: ImpactGraph,
    declared: DeclaredLabels,
    sensitive: Classification,
    others: Iterable[DeclaredLabel] = (),
) -> PrivacyLabels:
    """The labels of all columns: those that people declare, and those that follow from them.

    Args:
        sensitive: Columns from this classification on are sensitive.
        others: Labels beside those that people declare.
    """
    return privacy_labels(
        graph,
        [*declared.columns, *others],
        config.privacy.rules,
        sensitive,
        [dataset for dataset, level in declared.datasets.items() if level >= sensitive],
        group_sizes(config, graph, described.lineage),
    )
