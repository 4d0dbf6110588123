"""Sensitive columns as an answer, with data of the schema `docs/schemas/privacy.schema.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.privacy.labels import LabelStep, PrivacyLabels
from dbt_graft.analysis.render.phrases import count, join_names


def privacy_answer(
    labels: PrivacyLabels,
    sensitive: Classification,
    findings: Sequence[Finding],
    unknown_labels: Mapping[str, Sequence[str]],
    unmatched: Sequence[str] = (),
) -> Answer:
    """The sensitive columns, the most sensitive first, with the way on which the values came.

    Args:
        sensitive: Columns from this classification on.
        unknown_labels: Labels that name no classification -> the columns and others that have them.
        unmatched: Patterns of graft.yml that no dataset or column has the name of.
    """
    levels = {
        column: level
        for column in labels.columns()
        if (level := labels.classification(column)) is not None and level >= sensitive
    }
    columns = sorted(levels, key=lambda column: (-levels[column], labels.place(column)))
    declared = [column for column in columns if column in labels.declared]
    others = [column for column in columns if column not in labels.declared]
    number = count(len(declared), "column") if declared else "no column"
    notes = []
    if unknown_labels:
        notes.append(
            f"labels that name no classification: {len(unknown_labels):,}; map them by "
            "`privacy: {labels: {…}}` in graft.yml"
        )
    if unmatched:
        notes.append(
            f"`privacy` in graft.yml has patterns that name nothing: {join_names(unmatched, 10)}"
        )
    return Answer(
        "sensitive columns",
        f"{number} labelled {sensitive.text} or higher"
        + (f", {len(others):,} that their values flow into" if others else ""),
        tables=(
            Table(
                f"columns labelled {sensitive.text} or higher",
                ("column", "classification", "labelled in"),
                [
                    (_name(labels, column), levels[column].text, labels.declared[column].source)
                    for column in declared
                ],
            ),
            Table(
                "columns that their values flow into",
                ("column", "classification", "from", "steps", "by", "operation"),
                [_way(labels, column, levels[column]) for column in others],
            ),
            *_tables_beyond_columns(labels, unknown_labels),
        ),
        notes=notes,
        findings=findings,
        data={
            "sensitive_from": sensitive.text,
            "columns": [_column(labels, column, levels[column]) for column in columns],
            **_data_beyond_columns(labels, unknown_labels),
        },
    )


def _tables_beyond_columns(
    labels: PrivacyLabels, unknown_labels: Mapping[str, Sequence[str]]
) -> tuple[Table, ...]:
    datasets = labels.graph.datasets
    return (
        Table(
            "datasets whose rows or values they decide on",
            ("dataset", "by"),
            [(str(datasets[dataset]), _name(labels, column)) for column, dataset in labels.decides],
        ),
        Table(
            "unknown: no columns are known on the way there",
            ("dataset", "from", "by"),
            [(str(flow.target), str(flow.source), flow.task) for flow in labels.unmapped],
        ),
        Table(
            "labels that name no classification",
            ("label", "times", "of"),
            [
                (label, len(subjects), join_names(subjects))
                for label, subjects in sorted(unknown_labels.items())
            ],
        ),
    )


def _data_beyond_columns(
    labels: PrivacyLabels, unknown_labels: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    datasets = labels.graph.datasets
    return {
        "decides_on": [
            {**_place(labels, column), "on": str(datasets[dataset])}
            for column, dataset in labels.decides
        ],
        "unknown": {
            "flows": [
                {"from": str(flow.source), "to": str(flow.target), "task": flow.task}
                for flow in labels.unmapped
            ],
            "datasets": sorted(map(str, labels.unknown)),
        },
        "labels_without_classification": {
            label: len(subjects) for label, subjects in sorted(unknown_labels.items())
        },
    }


def _name(labels: PrivacyLabels, column: int) -> str:
    return ".".join(labels.place(column))


def _place(labels: PrivacyLabels, column: int) -> dict[str, str]:
    dataset, name = labels.place(column)
    return {"dataset": dataset, "column": name}


def _way(
    labels: PrivacyLabels, column: int, level: Classification
) -> tuple[str, str, str, int, str, str]:
    first, *steps = labels.path(column)
    last = steps[-1]
    hidden = {step.masked_by.word for step in steps if step.masking}
    operation = " and ".join(sorted(hidden))
    if last.subtype:
        operation = ", ".join(filter(None, (last.subtype.value, operation)))
    origins = [_name(labels, origin) for origin in labels.origins(column)]
    begin = join_names(origins or [f"{first.dataset}.{first.column}"])
    return _name(labels, column), level.text, begin, len(steps), last.task, operation


def _column(labels: PrivacyLabels, column: int, level: Classification) -> dict[str, Any]:
    declared = labels.declared.get(column)
    return {
        **_place(labels, column),
        "classification": level.text,
        "declared": {
            "classification": declared.classification.text,
            "by": declared.source,
            "reason": declared.reason or None,
        }
        if declared
        else None,
        "origins": [_place(labels, origin) for origin in labels.origins(column)],
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
