"""Findings of privacy: sensitive columns that nothing says so of, that others read, or in files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from dbt_graft.analysis.impact.graph import kind_of
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.privacy.labels import PrivacyLabels
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.records import EdgeType


class PrivacyCode(StrEnum):
    """The kind of a finding.

    LOWERED: more sensitive values flow in than the label says, and it gives no reason.
    UNCLASSIFIED: a column is sensitive, and neither it nor its dataset says so. PUBLISHED: a report
    or dashboard reads it. OUTSIDE: it is in a file. NO_LINEAGE: it is sensitive, a task writes its
    dataset, and no log or SQL tells what the column comes from.
    """

    LOWERED = "LOWERED_WITHOUT_REASON"
    UNCLASSIFIED = "SENSITIVE_COLUMN_UNCLASSIFIED"
    PUBLISHED = "SENSITIVE_COLUMN_PUBLISHED"
    OUTSIDE = "SENSITIVE_COLUMN_IN_FILE"
    NO_LINEAGE = "SENSITIVE_ASSET_MISSING_PRIVACY_LINEAGE"


@dataclass(frozen=True, slots=True)
class PrivacyFinding:
    """A finding about a column.

    Attributes:
        reader: Of a published column the consumer.
    """

    code: PrivacyCode
    column: int
    reader: str = ""


def privacy_findings(
    labels: PrivacyLabels,
    sensitive: Classification,
    consumers: Iterable[Consumer] = (),
    sensitivities: Mapping[DatasetId, Classification] | None = None,
) -> list[PrivacyFinding]:
    """The findings, sorted by dataset and column.

    Args:
        sensitive: Columns from this classification on.
        sensitivities: What datasets say of themselves.
    """
    readers: dict[DatasetId, list[str]] = defaultdict(list)
    for consumer in consumers:
        for read in consumer.reads:
            readers[read].append(consumer.name)
    findings: list[PrivacyFinding] = []
    graph = labels.graph
    reached, written = _reached_columns(labels), set(graph.flow_target)
    for column in labels.columns():
        findings += _lowered_labels(labels, column)
        level = labels.classification(column)
        if level is None or level < sensitive:
            continue
        dataset = graph.datasets[graph.dataset_of[column]]
        stated = (sensitivities or {}).get(dataset)
        if column not in labels.declared and (stated is None or stated < sensitive):
            findings.append(PrivacyFinding(PrivacyCode.UNCLASSIFIED, column))
        findings += (
            PrivacyFinding(PrivacyCode.PUBLISHED, column, reader) for reader in readers[dataset]
        )
        if dataset.is_path:
            findings.append(PrivacyFinding(PrivacyCode.OUTSIDE, column))
        number = graph.dataset_of[column]
        ways = {column, graph.star(number)}
        if column in labels.declared and number in written and reached.isdisjoint(ways):
            findings.append(PrivacyFinding(PrivacyCode.NO_LINEAGE, column))
    order = {code: number for number, code in enumerate(PrivacyCode)}
    return sorted(
        findings,
        key=lambda finding: (*_place(labels, finding.column), order[finding.code], finding.reader),
    )


def _lowered_labels(labels: PrivacyLabels, column: int) -> Iterator[PrivacyFinding]:
    declared, level = labels.declared.get(column), labels.classification(column)
    if declared and level is not None and level > declared.classification:
        yield PrivacyFinding(PrivacyCode.LOWERED, column)


def _reached_columns(labels: PrivacyLabels) -> set[int]:
    """The columns of which a value is known to come from somewhere."""
    graph = labels.graph
    return {
        target
        for target, kind in zip(graph.edge_target, graph.edge_kind, strict=True)
        if kind_of(kind).subtype.type is EdgeType.DIRECT
    }


def _place(labels: PrivacyLabels, column: int) -> tuple[str, str]:
    graph = labels.graph
    return str(graph.datasets[graph.dataset_of[column]]), graph.column_names[column]
