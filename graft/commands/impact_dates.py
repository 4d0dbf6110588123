"""The dates of data that a change reaches, where only some dates of a table change."""

from __future__ import annotations

import click

from dbt_graft.analysis.dates.taint_bounds import taint_bounds
from dbt_graft.analysis.dates.tasks_around import tasks_of_taint
from dbt_graft.graft.project.config import Config
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import Dates
from dbt_graft.lineage.dates.date_text import parse_dates

from_option = click.option(
    "--from",
    "first",
    metavar="DATE",
    help="Only dates of data from this one on change: 2026-10-03, 2026-10, 2026-10-03T05.",
)
to_option = click.option("--to", "last", metavar="DATE", help="Only dates up to this one change.")


def window(first: str | None, last: str | None) -> Dates | None:
    """The dates that change, the last unit included; None for all.

    Raises:
        click.BadParameter: A date is written otherwise, or the window is empty.
    """
    if not (first or last):
        return None
    try:
        return parse_dates(f"{first or ''}..{last or ''}")
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--from/--to") from error


def reached_dates(config: Config, dataset: DatasetId, dates: Dates) -> dict[DatasetId, Dates]:
    """The dates of each dataset downstream that these dates of a dataset decide on.

    They come from the partition mapping of each edge; along one without a mapping all dates count.

    Raises:
        GraftError: Nothing was collected yet.
    """
    # Without dates an answer needs none of it.
    from dbt_graft.graft.project.dated_lineage import dated_lineage

    dated = dated_lineage(config, lambda history: tasks_of_taint(history, [dataset]))
    return taint_bounds(dated.history, {dataset: dates})
