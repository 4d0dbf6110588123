"""The labels of all columns of a project, and the findings about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

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
    sensitivities = dict(dataset_classifications(described))
    sensitive = section.sensitive_from if sensitive is None else sensitive
    labels = privacy_labels(
        graph,
        declared,
        section.rules,
        sensitive,
        [one for one, level in sensitivities.items() if level >= sensitive],
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
    rules = ColumnRules(one.columns for one in config.privacy.columns)
    for number, dataset in enumerate(graph.datasets):
        for column in graph.columns(number):
            found = rules.first(dataset, column)
            if found is not None:
                one = config.privacy.columns[found]
                yield DeclaredLabel(dataset, column, one.classification, "graft.yml", one.reason)


def dataset_classifications(
    described: DescribedLineage,
) -> Iterator[tuple[DatasetId, Classification]]:
    """The classifications that people gave datasets themselves."""
    for dataset, description in described.descriptions.items():
        found = classification(description.sensitivity)
        if found is not None:
            yield dataset, found


def has_labels(config: Config, described: DescribedLineage) -> bool:
    """Whether anybody labels any column."""
    return bool(
        config.privacy.columns
        or config.contracts
        or any(one.column_sensitivity for one in described.descriptions.values())
    )
