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
from dbt_graft.graft.annotations import annotation
from dbt_graft.graft.command import config_option, load_config
from dbt_graft.graft.described_lineage import described_graft
from dbt_graft.graft.gates import GateFinding, gate_findings
from dbt_graft.graft.terminal import one_line
from dbt_graft.lineage.findings import Finding, Severity
from dbt_graft.lineage.rules import owner_scores, owners

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
