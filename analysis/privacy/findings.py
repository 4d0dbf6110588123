"""Findings of privacy: sensitive columns that nothing says so of, that others read, or in files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.impact.graph import kind_of
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.privacy.labels import PrivacyLabels
from dbt_graft.analysis.rule import (
    LOWERED_LABEL,
    SENSITIVE_IN_FILE,
    SENSITIVE_PUBLISHED,
    SENSITIVE_UNCLASSIFIED,
    SENSITIVE_WITHOUT_LINEAGE,
    Rule,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.records import EdgeType


def privacy_findings(
    labels: PrivacyLabels,
    sensitive: Classification,
    consumers: Iterable[Consumer] = (),
    sensitivities: Mapping[DatasetId, Classification] | None = None,
    owners: Mapping[str, str] | None = None,
) -> list[Finding]:
    """The findings, sorted by dataset and column; each has the way on which the values came.

    Args:
        sensitive: Columns from this classification on.
        sensitivities: What datasets say of themselves.
        owners: Dataset -> its owner.
    """
    readers: dict[DatasetId, list[str]] = defaultdict(list)
    for consumer in consumers:
        for read in consumer.reads:
            readers[read].append(consumer.name)
    graph = labels.graph
    reached, written = _reached_columns(labels), set(graph.flow_target)

    def broken(column: int, dataset: DatasetId) -> Iterator[tuple[Rule, str, str]]:
        """The rules that a column breaks, each with the problem and the remedy."""
        name, level = graph.column_names[column], labels.classification(column)
        declared = labels.declared.get(column)
        if level is None:
            return
        if declared and level > declared.classification:
            label = declared.classification.text
            problem = f"its column {name} is labelled {label}, and {level.text} flows into it"
            yield LOWERED_LABEL, problem, "raise its label, or give a reason in graft.yml"
        if level < sensitive:
            return
        is_sensitive = f"its column {name} is {level.text}"
        stated = (sensitivities or {}).get(dataset)
        if not declared and (stated is None or stated < sensitive):
            problem = f"{is_sensitive}, and nothing labels it"
            yield SENSITIVE_UNCLASSIFIED, problem, "label it where it is described, or mask it"
        for reader in sorted(readers[dataset]):
            problem = f"is read by {reader}, and {is_sensitive}"
            yield SENSITIVE_PUBLISHED, problem, "check who may see it"
        if dataset.is_path:
            yield SENSITIVE_IN_FILE, f"is a file, and {is_sensitive}", "check who may read it"
        number = graph.dataset_of[column]
        if declared and number in written and reached.isdisjoint({column, graph.star(number)}):
            problem = f"{is_sensitive}, and nothing shows what it comes from"
            yield SENSITIVE_WITHOUT_LINEAGE, problem, "declare what it comes from"

    findings = []
    for column in sorted(labels.columns(), key=labels.place):
        dataset = graph.datasets[graph.dataset_of[column]]
        owner = (owners or {}).get(str(dataset), "")
        way = [f"{step.dataset}.{step.column}" for step in labels.path(column)]
        findings += [
            rule.finding(str(dataset), problem, remedy, owner, path=way if len(way) > 1 else ())
            for rule, problem, remedy in broken(column, dataset)
        ]
    return findings


def _reached_columns(labels: PrivacyLabels) -> set[int]:
    """The columns of which a value is known to come from somewhere."""
    graph = labels.graph
    return {
        target
        for target, kind in zip(graph.edge_target, graph.edge_kind, strict=True)
        if kind_of(kind).subtype.type is EdgeType.DIRECT
    }
