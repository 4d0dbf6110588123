"""The command `graft check`: all gates at once, and what to do about what they find."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft import __version__
from dbt_graft.analysis.checks.report import owner_scores
from dbt_graft.analysis.checks.rules import owners
from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.github import annotation
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.questions.checks.gates import gate_findings

FAILS = 8
VERSION = 1
SCHEMA_URL = "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/check.schema.json"
_LINES = 10
_SEVERITIES = list(Severity)


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
    type=click.Choice([severity.value for severity in Severity]),
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
    described, grafted = Project(config).described_graft()
    findings = gate_findings(config, described, grafted)
    scores = owner_scores(owners(described.lineage, described.descriptions), findings)
    if as_format == "json":
        click.echo(orjson.dumps(_json(findings, scores), option=orjson.OPT_INDENT_2))
    elif as_format == "github":
        for finding in findings:
            text = f"{finding.code}: {finding.problem}"
            click.echo(
                annotation(
                    Finding(finding.code, finding.severity, finding.subject, text, finding.remedy)
                )
            )
    else:
        for line in _lines(findings, scores, None if everything else _LINES):
            click.echo(one_line(line))
    limit = fail_on or config.rules.fail_on
    fails = limit and any(_reaches(finding.severity, Severity(limit)) for finding in findings)
    sys.exit(FAILS if fails else 0)


def _reaches(severity: Severity, limit: Severity) -> bool:
    return _SEVERITIES.index(severity) <= _SEVERITIES.index(limit)


def _json(findings: Sequence[Finding], scores: Mapping[str, int]) -> dict[str, Any]:
    counts = Counter(finding.severity for finding in findings)
    return {
        "$schema": SCHEMA_URL,
        "version": VERSION,
        "producer": f"dbt-graft {__version__}",
        "counts": {severity.value: counts[severity] for severity in Severity},
        "owners": scores,
        "findings": [
            {
                "code": finding.code,
                "severity": finding.severity.value,
                "subject": finding.subject,
                "problem": finding.problem,
                "remedy": finding.remedy,
                "owner": finding.owner or None,
            }
            for finding in findings
        ],
    }


def _lines(
    findings: Sequence[Finding], scores: Mapping[str, int], most: int | None
) -> Iterator[str]:
    if not findings:
        yield "nothing was found"
    else:
        counts = Counter(finding.severity for finding in findings)
        named = (
            f"{counts[severity]:,} {severity.value}{'s' * (counts[severity] != 1)}"
            for severity in Severity
        )
        yield ", ".join(named)
    by_code = {finding.code: finding for finding in findings}
    for code, first in by_code.items():
        alike = [finding for finding in findings if finding.code == code]
        yield ""
        yield f"{first.severity.value}: {code} ({len(alike):,})"
        for finding in alike[:most]:
            owner = f" ({finding.owner})" if finding.owner else ""
            yield f"  {finding.subject}{owner}: {finding.problem}"
        if len(alike) > (most or len(alike)):
            yield f"  and {len(alike) - (most or 0):,} more: --all"
        yield from (
            f"  do: {remedy}" for remedy in dict.fromkeys(finding.remedy for finding in alike)
        )
    if scores:
        yield ""
        yield "without a warning or an error, of what each owner has:"
        yield from (f"  {score:>3} %  {owner}" for owner, score in scores.items())
