"""The command `graft status`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import orjson

from dbt_graft.analysis.render.phrases import ago, count
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.questions.checks.freshness import SourceFreshness, freshness, iso
from dbt_graft.graft.steps.turn import Duration
from dbt_graft.lineage.errors import GraftError

LATE = 6


@click.command(
    epilog="\b\nExit codes: 0 shown; 1 the store cannot be read, or there is no such source;\n"
    "2 invalid command line or graft.yml; 6 a source is behind by more than --max-age.\n\n"
    "\b\nExamples:\n"
    "  graft status\n"
    "  graft status --max-age 26h logs/spark-events/\n"
    "  graft status --json | jq '.sources[] | select(.waiting > 0)'"
)
@click.argument("names", metavar="[SOURCE]...", nargs=-1)
@config_option
@click.option(
    "--max-age",
    type=Duration(),
    metavar="DURATION",
    help="End with 6 if the newest event of a source is older: 90m, 26h, 7d.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(
    names: Sequence[str], config_path: Path | None, max_age: timedelta | None, *, as_json: bool
) -> None:
    """Show up to when each source is collected, and how far it is behind.

    SOURCE is a path or URL as `collect` in graft.yml names it; by default all are shown. Logs are
    listed, not read; a live SQL Server is not asked. Nothing is written, and Spark is not started.
    """
    config = load_config(config_path)
    sources, collected_at = freshness(config)
    sources = _choose_sources(sources, names)
    now = datetime.now(UTC)
    late = [source for source in sources if max_age is not None and source.is_late(now, max_age)]
    if as_json:
        answer = {
            "store": config.path(config.store),
            "collected_at": iso(collected_at),
            "max_age_seconds": None if max_age is None else max_age.total_seconds(),
            "late": bool(late),
            "sources": [source.to_json(now, max_age) for source in sources],
        }
        click.echo(orjson.dumps(answer, option=orjson.OPT_INDENT_2))
    else:
        when = f"{iso(collected_at)}, {ago(collected_at)}" if collected_at else "never"
        click.echo(f"last collect  {when}")
        for line in _table(sources, now, {source.name for source in late}):
            click.echo(line)
    sys.exit(LATE if late else 0)


def _choose_sources(sources: list[SourceFreshness], names: Sequence[str]) -> list[SourceFreshness]:
    known_names = {source.name for source in sources}
    for name in names:
        if name not in known_names:
            raise GraftError(
                f"there is no source {name!r}",
                place="graft status",
                remedy=f"name one of {', '.join(sorted(known_names))}"
                if known_names
                else "add it to graft.yml",
            )
    return [source for source in sources if not names or source.name in names]


def _table(sources: Sequence[SourceFreshness], now: datetime, late: set[str]) -> list[str]:
    """A line a source, below their headings."""
    rows = [("source", "newest event", "behind", "logs", "waiting", "rejects")]
    rows += [
        (
            one_line(source.name),
            iso(source.last_event) or "none",
            _span(source.age(now)) + (" (late)" if source.name in late else ""),
            f"{source.logs:,}",
            "not asked" if source.waiting is None else f"{source.waiting:,}",
            f"{source.rejects:,}",
        )
        for source in sources
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    lines += [
        f"{one_line(source.name)}: {one_line(source.problem)}"
        for source in sources
        if source.problem
    ]
    if not sources:
        return ["no source: add one below `collect` in graft.yml"]
    return lines


def _span(age: timedelta | None) -> str:
    """`3 days`, `5 hours`, `12 minutes`"""
    if age is None:
        return "?"
    seconds = int(age.total_seconds())
    for unit, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 2 * unit:
            return count(seconds // unit, noun)
    return count(seconds // 60, "minute")
