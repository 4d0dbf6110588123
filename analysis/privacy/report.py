"""The privacy report as JSON, of the schema `docs/privacy.schema.json`, and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dbt_graft import __version__
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.privacy.findings import PrivacyCode, PrivacyFinding
from dbt_graft.analysis.privacy.labels import LabelStep, PrivacyLabels

VERSION = 1
SCHEMA_URL = "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/privacy.schema.json"
ADVICE = {
    PrivacyCode.LOWERED: "raise its label, or give a reason in graft.yml",
    PrivacyCode.UNCLASSIFIED: "label it where it is described, or mask it",
    PrivacyCode.PUBLISHED: "check who may see it",
    PrivacyCode.OUTSIDE: "check who may read the file",
    PrivacyCode.NO_LINEAGE: "declare what it comes from",
}


@dataclass(frozen=True, slots=True)
class PrivacyReport:
    """The labels of a lineage, and what was found about them.

    Attributes:
        sensitive: Columns from this classification on are sensitive.
        unknown_labels: Labels that name no classification -> how many columns have them.
    """

    labels: PrivacyLabels
    sensitive: Classification
    findings: Sequence[PrivacyFinding]
    unknown_labels: Counter[str]

    def columns(self) -> list[int]:
        """The sensitive columns: the most sensitive first, then by name."""
        ranked = [
            (-level, self.dataset(column), self.name(column), column)
            for column in self.labels.columns()
            if (level := self.labels.classification(column)) is not None and level >= self.sensitive
        ]
        return [column for *_, column in sorted(ranked)]

    def dataset(self, column: int) -> str:
        """The dataset of a column."""
        graph = self.labels.graph
        return str(graph.datasets[graph.dataset_of[column]])

    def name(self, column: int) -> str:
        """The name of a column."""
        return self.labels.graph.column_names[column]


def privacy_json(report: PrivacyReport) -> dict[str, Any]:
    """The document."""
    labels = report.labels
    return {
        "$schema": SCHEMA_URL,
        "version": VERSION,
        "producer": f"dbt-graft {__version__}",
        "sensitive_from": report.sensitive.text,
        "columns": [_column(report, column) for column in report.columns()],
        "decides_on": [
            {
                "dataset": report.dataset(column),
                "column": report.name(column),
                "on": str(labels.graph.datasets[dataset]),
            }
            for column, dataset in labels.decides
        ],
        "unknown": {
            "flows": [
                {"from": str(flow.source), "to": str(flow.target), "task": flow.task}
                for flow in labels.unmapped
            ],
            "datasets": sorted(map(str, labels.unknown)),
        },
        "findings": [
            {
                "code": finding.code.value,
                "dataset": report.dataset(finding.column),
                "column": report.name(finding.column),
                "reader": finding.reader or None,
                "advice": ADVICE[finding.code],
            }
            for finding in report.findings
        ],
        "labels_without_classification": dict(sorted(report.unknown_labels.items())),
    }


def _column(report: PrivacyReport, column: int) -> dict[str, Any]:
    labels = report.labels
    declared, level = labels.declared.get(column), labels.classification(column)
    return {
        "dataset": report.dataset(column),
        "column": report.name(column),
        "classification": level.text if level is not None else None,
        "declared": {
            "classification": declared.classification.text,
            "by": declared.source,
            "reason": declared.reason or None,
        }
        if declared
        else None,
        "path": [_step(step) for step in labels.path(column)],
    }


def _step(step: LabelStep) -> dict[str, Any]:
    return {
        "dataset": str(step.dataset),
        "column": step.column,
        "classification": step.classification.text,
        "task": step.task or None,
        "operation": step.subtype.value if step.subtype else None,
        "masking": step.masking,
        "masked_by": step.masked_by.value or None,
    }


def privacy_lines(report: PrivacyReport, most: int | None) -> Iterator[str]:
    """The report as text.

    Args:
        most: The most lines of a section; None for all.
    """
    labels, columns = report.labels, report.columns()
    labelled = [column for column in columns if column in labels.declared]
    others = [column for column in columns if column not in labels.declared]
    yield f"columns labelled {report.sensitive.text} or higher ({len(labelled):,})"
    yield from _cut_lines([_way(report, column) for column in labelled], most)
    yield f"columns that their values flow into ({len(others):,})"
    yield from _cut_lines([_way(report, column) for column in others], most)
    if labels.decides:
        yield f"datasets whose rows or values they decide on ({len(labels.decides):,})"
        yield from _cut_lines(
            [
                f"{labels.graph.datasets[dataset]}  "
                f"by {report.dataset(column)}.{report.name(column)}"
                for column, dataset in labels.decides
            ],
            most,
        )
    if labels.unknown:
        yield f"unknown: no columns are known on the way there ({len(labels.unknown):,})"
        yield from _cut_lines(
            [f"{flow.target}  from {flow.source} by {flow.task}" for flow in labels.unmapped], most
        )
    for label, count in sorted(report.unknown_labels.items()):
        count_text = "1 column" if count == 1 else f"{count:,} columns"
        yield f"the label {label!r} of {count_text} names no classification"
    yield f"findings ({len(report.findings):,})"
    yield from _cut_lines(
        [
            f"{finding.code.value}  {report.dataset(finding.column)}.{report.name(finding.column)}"
            f"{f', read by {finding.reader}' if finding.reader else ''}: {ADVICE[finding.code]}"
            for finding in report.findings
        ],
        most,
    )


def _way(report: PrivacyReport, column: int) -> str:
    labels = report.labels
    level = labels.classification(column)
    level_text = level.text if level is not None else ""
    begin = f"{level_text:<14} {report.dataset(column)}.{report.name(column)}"
    first, *steps = labels.path(column)
    if not steps:
        declared = labels.declared[column]
        return f"{begin}  labelled in {declared.source}"
    *_, last = steps
    subtype = last.subtype.value if last.subtype else ""
    distance = f" in {len(steps)} steps" if len(steps) > 1 else ""
    hidden = {step.masked_by.word for step in steps if step.masking}
    masked = f", {' and '.join(sorted(hidden))}" if hidden else ""
    return (
        f"{begin}  from {first.dataset}.{first.column}{distance} by {last.task} [{subtype}{masked}]"
    )


def _cut_lines(lines: list[str], most: int | None) -> Iterator[str]:
    shown_lines = lines if most is None else lines[:most]
    yield from (f"  {line}" for line in shown_lines)
    if len(shown_lines) < len(lines):
        yield f"  and {len(lines) - len(shown_lines):,} more"
