"""The labels of all columns of a project, and the findings about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dbt_graft.analysis.checks.contracts import KIND as CONTRACT
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.privacy.findings import privacy_findings
from dbt_graft.analysis.privacy.labels import DeclaredLabel, PrivacyLabels, privacy_labels
from dbt_graft.analysis.privacy.report import PrivacyReport
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.declared_labels import DeclaredLabels, declared_labels, group_sizes
from dbt_graft.graft.project.impact_graph import impact_graph
from dbt_graft.lineage.described import DescribedLineage


def privacy_report(config: Config, described: DescribedLineage) -> PrivacyReport:
    """The labels of all columns, and the findings about them."""
    graph = impact_graph(config, described)
    declared = declared_labels(config, described, graph)
    sensitive = config.privacy.sensitive_from
    labels = spread_labels(config, described, graph, declared, sensitive)
    # A contract names what its tables hold, and shows nobody any of it.
    readers = [reader for reader in described.consumers if reader.kind != CONTRACT]
    findings = privacy_findings(labels, sensitive, readers, declared.datasets)
    unknown = Counter(label.label for label in declared.unknown if label.is_column)
    return PrivacyReport(labels, sensitive, findings, unknown)


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
