"""The classifications that people declare: in dbt, in data contracts and in graft.yml."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import translate

from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.privacy.labels import ColumnRules, DeclaredLabel
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.contracts import matched_contracts, read_contracts
from dbt_graft.graft.project.privacy_section import PrivacyTable
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.model import Lineage


@frozen
class UnknownLabel:
    """A label that names no classification.

    Attributes:
        subject: What has it: a dataset, a column, or a dbt node by its unique_id.
    """

    label: str
    subject: str


@frozen
class DeclaredLabels:
    """All labels of a project.

    Attributes:
        unmatched: Patterns of graft.yml that no dataset or column has the name of, or only such as
            an earlier pattern gives a lower label.
    """

    columns: Sequence[DeclaredLabel]
    datasets: Mapping[DatasetId, Classification]
    unknown: Sequence[UnknownLabel]
    unmatched: Sequence[str]


def declared_labels(
    config: Config, described: DescribedLineage, graph: ImpactGraph
) -> DeclaredLabels:
    """The labels of columns and datasets, through all names that datasets have."""
    unknown: list[UnknownLabel] = []
    numbers: set[int] = set()
    of_contracts = list(_of_contracts(config, described, unknown))
    # Descriptions have what contracts say beside dbt, too.
    in_contracts = {(label.dataset, label.column, label.text) for label in of_contracts}
    columns = [
        *of_contracts,
        *(
            label
            for label in _of_dbt(config, described, unknown)
            if (label.dataset, label.column, label.text) not in in_contracts
        ),
        *_of_rules(config, graph, described.lineage, numbers),
    ]
    tables: set[str] = set()
    datasets = _of_datasets(config, described, unknown, tables)
    rules = config.privacy.columns
    unmatched = [rule.columns for at, rule in enumerate(rules) if at not in numbers]
    unmatched += [rule.tables for rule in config.privacy.tables if rule.tables not in tables]
    return DeclaredLabels(columns, datasets, unknown, unmatched)


def table_rules(config: Config) -> Callable[[Iterable[DatasetId]], list[PrivacyTable]]:
    """The rules of graft.yml that name a dataset by one of its names, in their order."""
    rules = [
        (re.compile(translate(rule.tables.casefold())), rule) for rule in config.privacy.tables
    ]

    def rules_of(names: Iterable[DatasetId]) -> list[PrivacyTable]:
        texts = [text.casefold() for name in names for text in (name.name, str(name))]
        return [rule for pattern, rule in rules if any(map(pattern.fullmatch, texts))]

    return rules_of


def has_labels(config: Config, described: DescribedLineage) -> bool:
    """Whether anybody labels anything."""
    return bool(
        config.privacy.columns
        or config.privacy.tables
        or any(text.labels or text.column_labels for text in described.descriptions.values())
        or any(
            column.labels
            for contract in read_contracts(config).contracts
            for table in contract.tables
            for column in table.columns
        )
    )


def group_sizes(config: Config, graph: ImpactGraph, lineage: Lineage) -> dict[int, int]:
    """Number of a column -> the size of groups that graft.yml says."""
    sizes = [(rule.columns, rule.group_size) for rule in config.privacy.columns if rule.group_size]
    patterns = [pattern for pattern, _ in sizes]
    return {
        graph.column(number, column): sizes[min(matches)][1]
        for number, column, matches in _matches(patterns, graph, lineage)
    }


def _of_dbt(
    config: Config, described: DescribedLineage, unknown: list[UnknownLabel]
) -> Iterator[DeclaredLabel]:
    for dataset, description in described.descriptions.items():
        for column, texts in description.column_labels.items():
            for text in texts:
                level = config.privacy.classification(text)
                if level is None:
                    unknown.append(UnknownLabel(text, f"{dataset}.{column}"))
                else:
                    yield DeclaredLabel(dataset, column, level, "dbt", text=text)


def _of_contracts(
    config: Config, described: DescribedLineage, unknown: list[UnknownLabel]
) -> Iterator[DeclaredLabel]:
    contracts = read_contracts(config).contracts
    matches = matched_contracts(contracts, described.lineage, described.descriptions)
    for contract, table, dataset in matches.tables:
        description = described.descriptions.get(dataset)
        in_dbt = description.column_labels if description else {}
        for column in table.columns:
            for text in column.labels:
                level = config.privacy.classification(text)
                if level is not None:
                    name = f"the contract {contract.name}"
                    yield DeclaredLabel(dataset, column.name, level, name, text=text)
                elif text not in in_dbt.get(column.name, ()):
                    unknown.append(UnknownLabel(text, f"{dataset}.{column.name}"))


def _of_rules(
    config: Config, graph: ImpactGraph, lineage: Lineage, numbers: set[int]
) -> Iterator[DeclaredLabel]:
    """The labels by patterns of `<dataset>.<column>`, with and without the namespace.

    Args:
        numbers: Filled with the numbers of the rules that any column has no lower label than.
    """
    rules = config.privacy.columns
    for number, column, matches in _matches([rule.columns for rule in rules], graph, lineage):
        labels = [rules[at] for at in sorted(matches) if rules[at].classification is not None]
        level = labels[0].classification if labels else None
        numbers |= {at for at in matches if (rules[at].classification or 0) <= (level or 0)}
        if level is not None:
            dataset = graph.datasets[number]
            yield DeclaredLabel(dataset, column, level, "graft.yml", labels[0].reason)


def _matches(
    patterns: Collection[str], graph: ImpactGraph, lineage: Lineage
) -> Iterator[tuple[int, str, set[int]]]:
    """Number of a dataset, a column, and the numbers of the patterns that match it, if any."""
    if not patterns:
        return
    rules = ColumnRules(patterns)
    for number, dataset in enumerate(graph.datasets):
        names = lineage.names_of(dataset)
        for column in graph.columns(number):
            matches = {at for name in names for at in rules.matching(name, column)}
            if matches:
                yield number, column, matches


def _of_datasets(
    config: Config,
    described: DescribedLineage,
    unknown: list[UnknownLabel],
    patterns: set[str],
) -> dict[DatasetId, Classification]:
    """The classifications that people gave datasets themselves, in dbt and in graft.yml.

    Args:
        patterns: Filled with the patterns that any dataset has no lower label than.
    """
    levels: dict[DatasetId, Classification] = {}
    for dataset, description in described.descriptions.items():
        for text in description.labels:
            level = config.privacy.classification(text)
            if level is None:
                unknown.append(UnknownLabel(text, description.node_id))
            else:
                levels[dataset] = max(level, levels.get(dataset, level))
    rules_of = table_rules(config)
    datasets = {*described.lineage.datasets, *described.descriptions}
    for dataset in datasets if config.privacy.tables else ():
        if matches := rules_of(described.lineage.names_of(dataset)):
            level = matches[0].classification
            level = levels[dataset] = max(level, levels.get(dataset, level))
            patterns.update(rule.tables for rule in matches if rule.classification <= level)
    return levels
