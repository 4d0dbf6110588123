"""The command `graft check`: all gates at once, and what to do about what they find."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft import __version__
from dbt_graft.exporters.data.view import DescribedLineage
from dbt_graft.exporters.privacy import ADVICE
from dbt_graft.graft import pipeline
from dbt_graft.graft.annotations import annotation
from dbt_graft.graft.command import config_option, load_config
from dbt_graft.graft.config import Config
from dbt_graft.graft.contracts import read_contracts
from dbt_graft.graft.described_lineage import described_graft
from dbt_graft.graft.privacy_report import privacy_report
from dbt_graft.graft.rules_section import (
    CONTRACT_COLUMN,
    CONTRACT_NOT_READ,
    CONTRACT_UNMATCHED,
    FORBIDDEN,
    PHANTOM,
    UNDECLARED,
)
from dbt_graft.graft.terminal import one_line
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.contracts import matched
from dbt_graft.lineage.drift import DriftStatus, drift
from dbt_graft.lineage.findings import Finding, Severity
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model_drift import model_drift
from dbt_graft.lineage.rules import RuleFinding, RuleScope, owner_scores, owners, rule_findings

FAILS = 8
VERSION = 1
SCHEMA_URL = "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/check.schema.json"
_LINES = 10
_SEVERITIES = list(Severity)
_DRIFT = {DriftStatus.PHANTOM: PHANTOM, DriftStatus.UNDECLARED: UNDECLARED}


@dataclass(frozen=True, slots=True)
class GateFinding:
    """A finding of any gate; as in `RuleFinding`."""

    code: str
    severity: Severity
    subject: str
    problem: str
    remedy: str
    owner: str = ""


@click.command(
    epilog="\b\nExit codes: 0 answered; 1 the project cannot be read; 2 invalid command line or "
    "graft.yml;\n8 something is as severe as `rules: {fail_on: …}` or --fail-on says.\n\n"
    "\b\nExamples:\n"
    "  graft check\n"
    "  graft check --fail-on error\n"
    "  graft check --format github\n"
    "  graft check --format json | jq '.findings[] | select(.owner == \"Finance\")'"
)
@config_option
@click.option(
    "--fail-on",
    type=click.Choice([one.value for one in Severity]),
    help="End with 8 from this severity on.  [default: as graft.yml says]",
)
@click.option("--all", "everything", is_flag=True, help="Cut nothing.")
@click.option(
    "--format",
    "as_format",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="Text, JSON, or annotations for GitHub.",
)
def check(
    config_path: Path | None, fail_on: str | None, as_format: str, *, everything: bool
) -> None:
    """Run all gates at once, and print what to do.

    The rules of lineage (no owner, no code, no test, two writers…), what `graft drift` and `graft
    privacy report` find, and what `graft inject --check` forbids. Each code has a severity, which
    `rules` in graft.yml changes; nothing fails unless the team says so. Nothing is written.
    """
    config = load_config(config_path)
    described, grafted = described_graft(config)
    found = gate_findings(config, described, grafted)
    wrong = {one.subject for one in found if one.severity is not Severity.NOTE}
    scores = owner_scores(owners(described.lineage, described.descriptions), wrong)
    if as_format == "json":
        click.echo(orjson.dumps(_json(found, scores), option=orjson.OPT_INDENT_2))
    elif as_format == "github":
        for one in found:
            text = f"{one.code}: {one.problem}"
            click.echo(annotation(Finding(one.severity, one.subject, text, one.remedy)))
    else:
        for line in _lines(found, scores, None if everything else _LINES):
            click.echo(one_line(line))
    limit = fail_on or config.rules.fail_on
    fails = limit and any(_reaches(one.severity, Severity(limit)) for one in found)
    sys.exit(FAILS if fails else 0)


def gate_findings(
    config: Config, described: DescribedLineage, grafted: Grafted | None
) -> list[GateFinding]:
    """The findings of all gates, the worst first; codes that graft.yml turns off are left out."""
    severities = config.rules.severities
    found = [
        GateFinding(code, severities[code], one.subject, one.problem, one.remedy, one.owner)
        for code, one in _all(config, described, grafted)
        if code in severities
    ]
    return sorted(found, key=lambda one: (_SEVERITIES.index(one.severity), one.code, one.subject))


def _all(
    config: Config, described: DescribedLineage, grafted: Grafted | None
) -> Iterator[tuple[str, RuleFinding]]:
    lineage = described.lineage
    for forbidden in pipeline.forbidden(config, grafted) if grafted else ():
        if forbidden.rule == "second_writer":
            continue  # The rule of lineage finds it, of what dbt does not know too.
        subject = forbidden.names[0] if forbidden.names else "dbt"
        remedy = "correct it, or list it below `check: {accept: […]}` in graft.yml"
        yield FORBIDDEN, RuleFinding(FORBIDDEN, subject, str(forbidden), remedy)
    rules = rule_findings(
        lineage, described.descriptions, described.consumers, _scope(config, lineage.flows)
    )
    yield from ((one.code, one) for one in rules)
    models = {one.name for one in lineage.definitions.values()}
    for edge in (*drift(lineage), *model_drift(lineage)):
        if code := _DRIFT.get(edge.status):
            phantom = f"is declared, and none of its {edge.runs:,} runs does it"
            how = phantom if code == PHANTOM else "is seen, and not declared"
            problem = f"that it {edge.direction.value}s {edge.dataset} {how}"
            remedy = "run `graft declared propose`, which prints the YAML that settles it"
            if edge.task in models:
                remedy = "name tables by `ref` and `source`, and only those that the model reads"
            owner = lineage.tasks[edge.task].info.owner if edge.task in lineage.tasks else ""
            yield code, RuleFinding(code, edge.task, problem, remedy, owner)
    yield from ((one.code, one) for one in _of_contracts(config, described))
    report = privacy_report(config, described)
    owner_of = {str(one): text.owner for one, text in described.descriptions.items()}
    for finding in report.findings:
        dataset, name = report.dataset(finding.column), report.name(finding.column)
        reader = f", read by {finding.reader}" if finding.reader else ""
        problem = f"the column {name} is sensitive{reader}"
        yield (
            finding.code,
            RuleFinding(
                finding.code, dataset, problem, ADVICE[finding.code], owner_of.get(dataset, "")
            ),
        )


def _of_contracts(config: Config, described: DescribedLineage) -> Iterator[RuleFinding]:
    """Contracts that cannot be read, mean no dataset, or promise columns that are not there."""
    files = read_contracts(config)
    for fault in files.faults:
        remedy = fault.remedy or "correct the file, or `contracts` in graft.yml"
        yield RuleFinding(CONTRACT_NOT_READ, fault.place or "contracts", fault.problem, remedy)
    lineage = described.lineage
    found = matched(files.contracts, {*lineage.datasets, *described.descriptions})
    for contract, table, some in found.unmatched:
        several = f"may mean {', '.join(map(str, some[:3]))}" if some else "means no known dataset"
        problem = f"its table {table.names[0]} {several}"
        remedy = "name database and schema in `servers`, or the table in `physicalName`"
        yield RuleFinding(CONTRACT_UNMATCHED, contract.name, problem, remedy, contract.owner)
    for contract, table, dataset in found.tables:
        facts = lineage.datasets.get(dataset)
        known = {one.name.casefold() for one in facts.columns} if facts else set()
        lacks = [one.name for one in table.columns if one.name.casefold() not in known]
        # Fields of nested columns are not in catalogs.
        lacks = [name for name in lacks if "." not in name] if known else []
        if lacks:
            problem = f"lacks {', '.join(lacks[:5])}, which the contract {contract.name} promises"
            remedy = "add them, or agree on a new version of the contract"
            yield RuleFinding(CONTRACT_COLUMN, str(dataset), problem, remedy, contract.owner)


def _scope(config: Config, flows: Sequence[Flow]) -> RuleScope:
    newest: datetime | None = max((flow.last_at for flow in flows if flow.last_at), default=None)
    return RuleScope(
        frozenset(map(str.casefold, config.rules.certified)),
        frozenset(map(str.casefold, config.rules.gold)),
        config.rules.platform,
        newest - config.impact.stale_span if newest else None,
    )


def _reaches(severity: Severity, limit: Severity) -> bool:
    return _SEVERITIES.index(severity) <= _SEVERITIES.index(limit)


def _json(found: Sequence[GateFinding], scores: Mapping[str, int]) -> dict[str, Any]:
    counts = Counter(one.severity for one in found)
    return {
        "$schema": SCHEMA_URL,
        "version": VERSION,
        "producer": f"dbt-graft {__version__}",
        "counts": {severity.value: counts[severity] for severity in Severity},
        "owners": scores,
        "findings": [
            {
                "code": one.code,
                "severity": one.severity.value,
                "subject": one.subject,
                "problem": one.problem,
                "remedy": one.remedy,
                "owner": one.owner or None,
            }
            for one in found
        ],
    }


def _lines(
    found: Sequence[GateFinding], scores: Mapping[str, int], most: int | None
) -> Iterator[str]:
    if not found:
        yield "nothing was found"
    else:
        counts = Counter(one.severity for one in found)
        named = (f"{counts[one]:,} {one.value}{'s' * (counts[one] != 1)}" for one in Severity)
        yield ", ".join(named)
    by_code = {one.code: one for one in found}
    for code, first in by_code.items():
        alike = [one for one in found if one.code == code]
        yield ""
        yield f"{first.severity.value}: {code} ({len(alike):,})"
        for one in alike[:most]:
            yield f"  {one.subject}{f' ({one.owner})' if one.owner else ''}: {one.problem}"
        if len(alike) > (most or len(alike)):
            yield f"  and {len(alike) - (most or 0):,} more: --all"
        yield from (f"  do: {one}" for one in dict.fromkeys(one.remedy for one in alike))
    if scores:
        yield ""
        yield "without a warning or an error, of what each owner has:"
        yield from (f"  {score:>3} %  {owner}" for owner, score in scores.items())
