"""Findings of privacy: sensitive columns that nothing says so of, that others read, or in files."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.impact.graph import kind_of
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.privacy.labels import PrivacyLabels
from dbt_graft.analysis.render.phrases import count, join_names
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
from dbt_graft.lineage.graphs.struct_edges import structs
from dbt_graft.lineage.records import EdgeType


class _Breach(NamedTuple):
    """A rule that columns of a dataset break alike: one finding for all of them.

    Attributes:
        source: The dataset that unlabelled values come from; empty of other rules.
        detail: Their reader, or the label that is too low.
    """

    dataset: DatasetId
    rule: Rule
    level: Classification
    source: str = ""
    detail: str = ""


def privacy_findings(
    labels: PrivacyLabels,
    sensitive: Classification,
    consumers: Iterable[Consumer] = (),
    sensitivities: Mapping[DatasetId, Classification] | None = None,
    owners: Mapping[str, str] | None = None,
    written: Collection[DatasetId] = (),
) -> list[Finding]:
    """The findings, sorted by dataset; each has the way on which the values came.

    Values that nothing labels are a finding where their way begins; it counts what comes after.

    Args:
        sensitive: Columns from this classification on.
        sensitivities: What datasets say of themselves.
        owners: Dataset -> its owner.
        written: What tasks write, also of what nobody saw them read.
    """
    readers: dict[DatasetId, list[str]] = defaultdict(list)
    for consumer in consumers:
        for read in consumer.reads:
            readers[read].append(consumer.name)
    without_lineage = _columns_without_lineage(labels, written)
    stated = {d for d, level in (sensitivities or {}).items() if level >= sensitive}
    columns_by_breach: dict[_Breach, list[int]] = defaultdict(list)
    after: dict[_Breach, int] = Counter()
    for column in sorted(labels.columns(), key=labels.place):
        dataset, _, level, *_ = labels.path(column)[-1]
        breaches = [*_lowered(labels, column)]
        if level >= sensitive:
            breaches += [
                _Breach(dataset, SENSITIVE_PUBLISHED, level, detail=reader)
                for reader in sorted(readers[dataset])
            ]
            if dataset.is_path:
                breaches.append(_Breach(dataset, SENSITIVE_IN_FILE, level))
            if column in without_lineage:
                breaches.append(_Breach(dataset, SENSITIVE_WITHOUT_LINEAGE, level))
            if breach := _unlabelled(labels, column, stated):
                if breach.dataset == dataset:
                    breaches.append(breach)
                else:
                    after[breach] += 1
        for breach in breaches:
            columns_by_breach[breach].append(column)
    return [
        _finding(labels, breach, columns, after[breach], owners or {})
        for breach, columns in sorted(
            columns_by_breach.items(), key=lambda item: (item[0].dataset, item[0].rule.code)
        )
    ]


def _lowered(labels: PrivacyLabels, column: int) -> Iterator[_Breach]:
    """A label that is lower than what flows in."""
    dataset, _, level, *_ = labels.path(column)[-1]
    declared = labels.declared.get(column)
    if declared and level > declared.classification:
        yield _Breach(dataset, LOWERED, level, detail=declared.classification.text)


def _unlabelled(
    labels: PrivacyLabels, column: int, stated: Collection[DatasetId]
) -> _Breach | None:
    """The breach that begins the unlabelled part of a column's way; None where it is labelled.

    Args:
        stated: Datasets that say of themselves that they are sensitive.
    """
    graph, before = labels.graph, ""
    breach: _Breach | None = None
    for step in labels.path(column):
        number = graph.find_column(graph.find_dataset(step.dataset) or 0, step.column)
        if number in labels.declared or step.dataset in stated:
            breach = None
        elif breach is None:
            breach = _Breach(step.dataset, SENSITIVE_UNCLASSIFIED, step.classification, before)
        before = str(step.dataset)
    return breach


def _finding(
    labels: PrivacyLabels,
    breach: _Breach,
    columns: Sequence[int],
    after: int,
    owners: Mapping[str, str],
) -> Finding:
    names = join_names([labels.path(column)[-1].column for column in columns], 5)
    is_single, level = len(columns) == 1, breach.level.text
    they_are = f"its column {names} is" if is_single else f"its columns {names} are"
    them, they_come = ("it", "it comes") if is_single else ("them", "they come")
    match breach.rule.code:
        case LOWERED.code:
            problem = f"{they_are} labelled {breach.detail}, and {level} flows into {them}"
            remedy = "raise the label, or give a reason in graft.yml"
        case SENSITIVE_PUBLISHED.code:
            problem = f"is read by {breach.detail}, and {they_are} {level}"
            remedy = "check who may see it"
        case SENSITIVE_IN_FILE.code:
            problem, remedy = f"is a file, and {they_are} {level}", "check who may read it"
        case SENSITIVE_WITHOUT_LINEAGE.code:
            problem = f"{they_are} {level}, and nothing shows what {they_come} from"
            remedy = "declare what it comes from"
        case _:
            further = f", nor {count(after, 'column')} after {them}" if after else ""
            problem = f"{they_are} {level}{_all_origins(labels, columns)}, and nothing labels "
            problem += f"{them}{further}"
            remedy = "label it where it is described, or mask it"
    steps = labels.path(columns[0])
    way = [f"{step.dataset}.{step.column}" if is_single else str(step.dataset) for step in steps]
    return breach.rule.finding(
        str(breach.dataset),
        problem,
        remedy,
        owners.get(str(breach.dataset), ""),
        path=way if len(way) > 1 else (),
    )


def _all_origins(labels: PrivacyLabels, columns: Sequence[int]) -> str:
    """The labelled columns that a single column is computed of, where these are several."""
    origins = labels.origins(columns[0]) if len(columns) == 1 else []
    if len(origins) < 2:
        return ""
    return f", from {join_names(['.'.join(labels.place(origin)) for origin in origins], 5)}"


def _columns_without_lineage(labels: PrivacyLabels, datasets: Collection[DatasetId]) -> set[int]:
    """The labelled columns of datasets that tasks write, of which no value is known to come."""
    graph = labels.graph
    written = {*graph.flow_target, *map(graph.find_dataset, datasets)}
    reached = {
        target
        for target, kind in zip(graph.edge_target, graph.edge_kind, strict=True)
        if kind_of(kind).subtype.type is EdgeType.DIRECT
    }
    columns = set()
    for column in labels.declared:
        dataset = graph.dataset_of[column]
        numbers, name = graph.columns_of[dataset], graph.column_names[column].casefold()
        # What a struct comes from, its fields come from, too.
        known = {column, graph.stars.get(dataset), *(numbers[s] for s in structs(name, numbers))}
        if dataset in written and reached.isdisjoint(known):
            columns.add(column)
    return columns
