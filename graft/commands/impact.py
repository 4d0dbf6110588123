"""The command `graft impact`: what a change would do downstream."""

from __future__ import annotations

from pathlib import Path

import click

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.impact.change import ChangeType, ImpactSeverity
from dbt_graft.analysis.impact.report import impact_answer
from dbt_graft.graft.commands.answering import answers
from dbt_graft.graft.commands.command import load_config
from dbt_graft.graft.commands.completion import complete_columns
from dbt_graft.graft.project.view import Moment
from dbt_graft.graft.questions.impact import dates_of_change, impact_of_change
from dbt_graft.lineage.dates.calendar import Dates
from dbt_graft.lineage.dates.date_text import parse_dates

_KINDS = [change_type.value for change_type in ChangeType]
_SCALE = tuple(severity.name.lower() for severity in ImpactSeverity if severity)


@click.command(
    epilog="\b\nExamples:\n"
    "  graft impact raw.orders.amount --change remove\n"
    "  graft impact raw.orders --change rows --format markdown\n"
    "  graft impact raw.orders --change data_incorrect --from 2026-10-03 --to 2026-10-05\n"
    "  graft impact raw.orders.email --change privacy --fail-on restricted"
)
@click.argument("name", metavar="TABLE[.COLUMN]", shell_complete=complete_columns)
@answers(scale=_SCALE, as_of=True)
@click.option(
    "--change",
    "kind",
    type=click.Choice(_KINDS),
    help="What changes. There is no default: what breaks depends on it.",
)
@click.option(
    "--from",
    "first",
    metavar="DATE",
    help="Only dates of data from this one on change: 2026-10-03, 2026-10, 2026-10-03T05.",
)
@click.option("--to", "last", metavar="DATE", help="Only dates up to this one change.")
def impact(
    name: str,
    config_path: Path | None,
    kind: str | None,
    first: str | None,
    last: str | None,
    past: Moment | None,
) -> tuple[Answer, str | None]:
    """Show what a change of a table or a column does downstream.

    Affected datasets, tasks, tests and dashboards, each with its severity and a shortest path. What
    decides on rows counts too: filters, joins, groupings. Failed runs do not count, and edges that
    were not seen for long are stale. Data is as old as its oldest source. With a window, the dates
    downstream that its dates went into. Nothing is written but an index for the next answer, and
    Spark is not started.
    """
    if kind is None:
        raise click.UsageError(
            f"name what changes of {name}, as in `--change remove`: {', '.join(_KINDS)}"
        )
    changing = _window(first, last)
    if changing and past:
        raise click.UsageError("--from and --to do not go with --as-of")
    config = load_config(config_path)
    effect, ages = impact_of_change(config, name, ChangeType(kind), past)
    dates = dates_of_change(config, effect.change, changing) if changing else None
    return impact_answer(effect, ages, dates), config.impact.fail_on


def _window(first: str | None, last: str | None) -> Dates | None:
    """The dates that change, the last unit included; None for all."""
    if not (first or last):
        return None
    try:
        return parse_dates(f"{first or ''}..{last or ''}")
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--from/--to") from error
