"""The commands `graft privacy`: where sensitive values are, and how they came there."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from fnmatch import translate
from pathlib import Path

import click
import orjson

from dbt_graft.exporters.data.view import DescribedLineage
from dbt_graft.exporters.privacy import PrivacyReport, privacy_json, privacy_lines
from dbt_graft.graft.command import CommandGroup, config_option, load_config
from dbt_graft.graft.config import Config
from dbt_graft.graft.contracts import read_contracts
from dbt_graft.graft.described_lineage import described_lineage
from dbt_graft.graft.impact import impact_graph
from dbt_graft.graft.past import Moment, as_of_option
from dbt_graft.graft.terminal import one_line
from dbt_graft.lineage.contracts import KIND as CONTRACT
from dbt_graft.lineage.contracts import matched
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.impact.graph import ImpactGraph
from dbt_graft.lineage.privacy.classification import Classification, classification
from dbt_graft.lineage.privacy.findings import privacy_findings
from dbt_graft.lineage.privacy.labels import DeclaredLabel, privacy_labels

FAILS = 8
_LINES = 30


@click.group(cls=CommandGroup, epilog="\b\nExample: graft privacy report --json")
def privacy() -> None:
    """Show where sensitive values are, and how they came there: report."""


@privacy.command(
    epilog="\b\nExit codes: 0 answered; 1 the project cannot be read; 2 invalid command line or "
    "graft.yml; 8 there are findings (--check).\n\n"
    "\b\nExamples:\n"
    "  graft privacy report\n"
    "  graft privacy report --json | jq '.findings'\n"
    "  graft privacy report --check"
)
@config_option
@click.option("--check", is_flag=True, help="End with 8 where there are findings.")
@click.option("--all", "everything", is_flag=True, help="Cut nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@as_of_option
def report(
    config_path: Path | None,
    *,
    check: bool,
    everything: bool,
    as_json: bool,
    past: Moment | None,
) -> None:
    """Show all sensitive columns, with the way on which the values came there.

    Labels of columns are those of dbt's tags and meta, and of `privacy` in graft.yml; they go along
    all edges that carry values. Findings are sensitive columns that nothing labels, that reports
    read, or that are in files, and labels that are too low. Nothing is written.
    """
    config = load_config(config_path)
    found = privacy_report(config, described_lineage(config, past))
    if as_json:
        click.echo(orjson.dumps(privacy_json(found), option=orjson.OPT_INDENT_2))
    else:
        for line in privacy_lines(found, None if everything else _LINES):
            click.echo(one_line(line))
    sys.exit(FAILS if check and found.findings else 0)


def privacy_report(config: Config, described: DescribedLineage) -> PrivacyReport:
    """The labels of all columns, and the findings about them."""
    section, graph = config.privacy, impact_graph(config, described)
    unknown: Counter[str] = Counter()
    declared = [
        *_of_contracts(config, described, unknown),
        *_of_dbt(described, unknown),
        *_of_rules(config, graph),
    ]
    sensitivities = dict(_datasets(described))
    sensitive = section.sensitive_from
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
    rules = [(re.compile(translate(one.columns.casefold())), one) for one in config.privacy.columns]
    if not rules:
        return
    for number, dataset in enumerate(graph.datasets):
        for column in graph.columns(number):
            name = f"{dataset.name}.{column}".casefold()
            names = (name, f"{dataset.namespace}/{name}".casefold())
            for pattern, one in rules:
                if any(map(pattern.fullmatch, names)):
                    yield DeclaredLabel(
                        dataset, column, one.classification, "graft.yml", one.reason
                    )
                    break


def _datasets(described: DescribedLineage) -> Iterator[tuple[DatasetId, Classification]]:
    for dataset, description in described.descriptions.items():
        found = classification(description.sensitivity)
        if found is not None:
            yield dataset, found
