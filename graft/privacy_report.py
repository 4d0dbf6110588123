"""The labels of all columns of a project, and the findings about them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import translate

from dbt_graft.exporters.data.view import DescribedLineage
from dbt_graft.exporters.privacy import PrivacyReport
from dbt_graft.graft.config import Config
from dbt_graft.graft.contracts import read_contracts
from dbt_graft.graft.impact_graph import impact_graph
from dbt_graft.lineage.contracts import KIND as CONTRACT
from dbt_graft.lineage.contracts import matched
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.impact.graph import ImpactGraph
from dbt_graft.lineage.privacy.classification import Classification, classification
from dbt_graft.lineage.privacy.column_rules import ColumnRules
from dbt_graft.lineage.privacy.findings import privacy_findings
from dbt_graft.lineage.privacy.labels import DeclaredLabel, privacy_labels


def privacy_report(
    config: Config,
    described: DescribedLineage,
    sensitive: Classification | None = None,
    more: Iterable[DeclaredLabel] = (),
) -> PrivacyReport:
    """The labels of all columns, and the findings about them.

    Args:
        sensitive: Columns from this classification on are sensitive, whatever graft.yml says.
        more: Labels beside those that people declare.
    """
    section, graph = config.privacy, impact_graph(config, described)
    unknown: Counter[str] = Counter()
    declared = [
        *_of_contracts(config, described, unknown),
        *_of_dbt(described, unknown),
        *_of_rules(config, graph),
        *more,
    ]
    sensitivities = dataset_classifications(config, described)
    sensitive = section.sensitive_from if sensitive is None else sensitive
    labels = privacy_labels(
        graph,
        declared,
        section.rules,
        sensitive,
        [one for one, level in sensitivities.items() if level >= sensitive],
        _group_sizes(config, graph),
    )
    # A contract names what its tables hold, and shows nobody any of it.
    readers = [one for one in described.consumers if one.kind != CONTRACT]
    findings = privacy_findings(labels, sensitive, readers, sensitivities)
    return PrivacyReport(labels, sensitive, findings, unknown)


def _of_dbt(described: DescribedLineage, unknown: Counter[str]) -> Iterator[DeclaredLabel]:
    for dataset, description in described.descriptions.items():
        for column, text in description.column_sensitivity.items():
            found = classification(text)
            if found is None:
                unknown[text] += 1
            else:
                yield DeclaredLabel(dataset, column, found, "dbt")


def _of_contracts(
    config: Config, described: DescribedLineage, unknown: Counter[str]
) -> Iterator[DeclaredLabel]:
    contracts = read_contracts(config).contracts
    found_in = matched(contracts, {*described.lineage.datasets, *described.descriptions})
    for contract, table, dataset in found_in.tables:
        about = described.descriptions.get(dataset)
        shown = about.column_sensitivity if about else {}
        for column in table.columns:
            found = classification(column.classification)
            if found is not None:
                name = f"the contract {contract.name}"
                yield DeclaredLabel(dataset, column.name, found, name)
            elif column.classification and shown.get(column.name) != column.classification:
                unknown[column.classification] += 1


def _of_rules(config: Config, graph: ImpactGraph) -> Iterator[DeclaredLabel]:
    """The labels by patterns of `<dataset>.<column>`, with and without the namespace."""
    labels = [
        (one, level) for one in config.privacy.columns if (level := one.classification) is not None
    ]
    rules = ColumnRules(one.columns for one, _ in labels)
    for number, dataset in enumerate(graph.datasets):
        for column in graph.columns(number):
            found = rules.first(dataset, column)
            if found is not None:
                one, level = labels[found]
                yield DeclaredLabel(dataset, column, level, "graft.yml", one.reason)


def _group_sizes(config: Config, graph: ImpactGraph) -> dict[int, int]:
    """Number of a column -> the size of groups that graft.yml says."""
    sizes = [(one.columns, one.group_size) for one in config.privacy.columns if one.group_size]
    if not sizes:
        return {}
    rules = ColumnRules(pattern for pattern, _ in sizes)
    return {
        graph.column(number, column): sizes[found][1]
        for number, dataset in enumerate(graph.datasets)
        for column in graph.columns(number)
        if (found := rules.first(dataset, column)) is not None
    }


def dataset_classifications(
    config: Config, described: DescribedLineage
) -> dict[DatasetId, Classification]:
    """The classifications that people gave datasets themselves, in dbt and in graft.yml."""
    found: dict[DatasetId, Classification] = {}
    for dataset, description in described.descriptions.items():
        level = classification(description.sensitivity)
        if level is not None:
            found[dataset] = level
    rules = [
        (re.compile(translate(one.tables.casefold())), one.classification)
        for one in config.privacy.tables
    ]
    if rules:
        for dataset in {*described.lineage.datasets, *described.descriptions}:
            names = (dataset.name.casefold(), str(dataset).casefold())
            levels = (level for pattern, level in rules if any(map(pattern.fullmatch, names)))
            if (level := next(levels, None)) is not None:
                found[dataset] = max(level, found.get(dataset, level))
    return found


def has_labels(config: Config, described: DescribedLineage) -> bool:
    """Whether anybody labels any column."""
    return bool(
        config.privacy.columns
        or config.contracts
        or any(one.column_sensitivity for one in described.descriptions.values())
    )
