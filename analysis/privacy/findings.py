"""Findings of privacy: sensitive columns that nothing says so of, that others read, or in files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.impact.graph import kind_of
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.privacy.labels import PrivacyLabels
from dbt_graft.analysis.rule import (
    LOWERED,
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
    without_lineage = _columns_without_lineage(labels)
    findings = []
    for column in sorted(labels.columns(), key=labels.place):
        steps = labels.path(column)
        dataset, name, level, *_ = steps[-1]
        broken = [*_broken_by_label(labels, column, sensitive, (sensitivities or {}).get(dataset))]
        if level >= sensitive:
            is_sensitive = f"its column {name} is {level.text}"
            for reader in sorted(readers[dataset]):
                problem = f"is read by {reader}, and {is_sensitive}"
                broken.append((SENSITIVE_PUBLISHED, problem, "check who may see it"))
            if dataset.is_path:
                problem = f"is a file, and {is_sensitive}"
                broken.append((SENSITIVE_IN_FILE, problem, "check who may read it"))
            if column in without_lineage:
                problem = f"{is_sensitive}, and nothing shows what it comes from"
                broken.append((SENSITIVE_WITHOUT_LINEAGE, problem, "declare what it comes from"))
        owner = (owners or {}).get(str(dataset), "")
        way = [f"{step.dataset}.{step.column}" for step in steps] if len(steps) > 1 else ()
        findings += [
            rule.finding(str(dataset), problem, remedy, owner, path=way)
            for rule, problem, remedy in broken
        ]
    return findings


def _broken_by_label(
    labels: PrivacyLabels, column: int, sensitive: Classification, stated: Classification | None
) -> Iterator[tuple[Rule, str, str]]:
    """The rules that the label of a column breaks, or the lack of one; problems and remedies.

    Args:
        stated: The classification of its dataset.
    """
    _, name, level, *_ = labels.path(column)[-1]
    declared = labels.declared.get(column)
    if declared and level > declared.classification:
        label = declared.classification.text
        problem = f"its column {name} is labelled {label}, and {level.text} flows into it"
        yield LOWERED, problem, "raise its label, or give a reason in graft.yml"
    if not declared and level >= sensitive and (stated is None or stated < sensitive):
        problem = f"its column {name} is {level.text}, and nothing labels it"
        yield SENSITIVE_UNCLASSIFIED, problem, "label it where it is described, or mask it"


def _columns_without_lineage(labels: PrivacyLabels) -> set[int]:
    """The labelled columns of datasets that tasks write, of which no value is known to come."""
    graph = labels.graph
    written = set(graph.flow_target)
    reached = {
        target
        for target, kind in zip(graph.edge_target, graph.edge_kind, strict=True)
        if kind_of(kind).subtype.type is EdgeType.DIRECT
    }
    return {
        column
        for column in labels.declared
        if (dataset := graph.dataset_of[column]) in written
        and reached.isdisjoint((column, graph.star(dataset)))
    }
