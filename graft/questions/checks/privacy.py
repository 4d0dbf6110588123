"""The check `privacy`: where sensitive values are, and how they came there."""

from __future__ import annotations

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.checks.contracts import KIND as CONTRACT
from dbt_graft.analysis.privacy.findings import privacy_findings
from dbt_graft.analysis.privacy.report import privacy_answer
from dbt_graft.graft.project.declared_labels import declared_labels
from dbt_graft.graft.project.impact_graph import impact_graph
from dbt_graft.graft.project.privacy_labels import spread_labels
from dbt_graft.graft.questions.checks.checked_project import CheckedProject
from dbt_graft.lineage.grouping import group_by_key


def check_privacy(checked: CheckedProject) -> Answer:
    """All sensitive columns with the way of their values, and the findings about them."""
    config, described = checked.config, checked.described
    graph, sensitive = impact_graph(config, described), config.privacy.sensitive_from
    declared = declared_labels(config, described, graph)
    labels = spread_labels(config, described, graph, declared, sensitive)
    # A contract names what its tables hold, and shows nobody any of it.
    readers = [reader for reader in described.consumers if reader.kind != CONTRACT]
    written = described.lineage.writer_names()
    findings = privacy_findings(
        labels, sensitive, readers, declared.datasets, checked.owners, written
    )
    unknown = group_by_key((label.label, label.subject) for label in declared.unknown)
    return privacy_answer(labels, sensitive, findings, unknown, declared.unmatched)
