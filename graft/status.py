"""The command `graft status`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import orjson

from dbt_graft.graft.command import config_option, load_config
from dbt_graft.graft.freshness import SourceFreshness, freshness, iso
from dbt_graft.graft.phrases import ago, count
from dbt_graft.graft.terminal import one_line
from dbt_graft.graft.turn import Duration
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
    found, collected_at = freshness(config)
    found = _chosen(found, names)
    now = datetime.now(UTC)
    late = [one for one in found if max_age is not None and one.is_late(now, max_age)]
    if as_json:
        answer = {
            "store": config.path(config.store),
            "collected_at": iso(collected_at),
            "max_age_seconds": None if max_age is None else max_age.total_seconds(),
            "late": bool(late),
            "sources": [one.to_json(now, max_age) for one in found],
        }
        click.echo(orjson.dumps(answer, option=orjson.OPT_INDENT_2))
    else:
        when = f"{iso(collected_at)}, {ago(collected_at)}" if collected_at else "never"
        click.echo(f"last collect  {when}")
        for line in _table(found, now, {one.name for one in late}):
            click.echo(line)
    sys.exit(LATE if late else 0)


def _chosen(found: list[SourceFreshness], names: Sequence[str]) -> list[SourceFreshness]:
    known = {one.name for one in found}
    for name in names:
        if name not in known:
            raise GraftError(
                f"there is no source {name!r}",
                place="graft status",
                remedy=f"name one of {', '.join(sorted(known))}"
                if known
                else "add it to graft.yml",
            )
    return [one for one in found if not names or one.name in names]


def _table(found: Sequence[SourceFreshness], now: datetime, late: set[str]) -> list[str]:
    """A line a source, below their headings."""
    rows = [("source", "newest event", "behind", "logs", "waiting", "rejects")]
    rows += [
        (
            one_line(one.name),
            iso(one.last_event) or "none",
            _span(one.age(now)) + (" (late)" if one.name in late else ""),
            f"{one.logs:,}",
            "not asked" if one.waiting is None else f"{one.waiting:,}",
            f"{one.rejects:,}",
        )
        for one in found
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    lines += [f"{one_line(one.name)}: {one_line(one.problem)}" for one in found if one.problem]
    if not found:
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
