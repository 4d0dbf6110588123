"""The command `graft check`: all checks at once, and what to do about what they find."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.checks.drift import ENOUGH
from dbt_graft.graft.commands.answering import answers
from dbt_graft.graft.commands.command import load_config
from dbt_graft.graft.commands.values import Duration, NameList
from dbt_graft.graft.questions.checks.checked_project import CheckedProject, CheckOptions
from dbt_graft.graft.questions.checks.registry import CHECKS, run_checks


@click.command(
    epilog="\b\nChecks:\n"
    + "\n".join(f"  {name:<11}{line}" for name, line in CHECKS.items())
    + "\n\n\b\nExamples:\n"
    "  graft check\n"
    "  graft check --fail-on error --format github\n"
    "  graft check --only drift --since 30d\n"
    "  graft check --only rules,privacy --json | jq '.findings[] | select(.owner == \"Finance\")'"
)
@answers(as_of=True)
@click.option(
    "--only",
    type=NameList("check", CHECKS),
    metavar="NAME,NAME",
    default=(),
    help="Run these checks; one by itself shows its tables.  [default: all that can run]",
)
@click.option(
    "--since",
    type=Duration(),
    metavar="DURATION",
    help="drift: look at runs of this time only: 30d.",
)
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=ENOUGH,
    show_default=True,
    help="drift: so many runs without a trace of a declared edge make it a phantom.",
)
@click.option(
    "--dags",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    metavar="FILE|FOLDER",
    help="dags: dag-factory's YAML, or OpenLineage events of Airflow.",
)
@click.option(
    "--at",
    type=click.DateTime(["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d"]),
    metavar="TIME",
    help="quality: the moment in UTC for which deadlines are forecast.  [default: now]",
)
@click.option(
    "--max-age",
    type=Duration(),
    metavar="DURATION",
    help="freshness: a source is late if its newest event is older: 90m, 26h, 7d.",
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="SOURCE",
    help="freshness: this path or URL below `collect` only.",
)
@click.option(
    "--links", multiple=True, metavar="FILE|FOLDER|URL", help="links: test the links in these."
)
@click.option(
    "--site",
    "sites",
    multiple=True,
    metavar="URL",
    help="links: an address of the published site.  [default: site.url in graft.yml]",
)
@click.option("--audience", metavar="NAME", help="audience: search its site only.")
def check(
    config_path: Path | None, *, at: datetime | None, **options: Any
) -> tuple[Answer, str | None]:
    """Run all checks at once, and print what to do.

    Each code has a severity, which `rules` in graft.yml changes; nothing fails unless the team
    says so. Nothing is written but an index for the next answer, and Spark is not started.
    """
    config = load_config(config_path)
    moment = at.replace(tzinfo=UTC) if at else None
    checked = CheckedProject(config, CheckOptions(at=moment, **options))
    return run_checks(checked), config.rules.fail_on
