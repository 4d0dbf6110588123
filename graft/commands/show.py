"""The command `graft show`: all about a table, a column, a task, a dashboard or a run."""

from __future__ import annotations

from pathlib import Path

import click

from dbt_graft.analysis.answer import Answer
from dbt_graft.graft.commands.answering import answers
from dbt_graft.graft.commands.command import load_config
from dbt_graft.graft.commands.completion import complete_columns, complete_names, complete_tasks
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.graft.project.view import LineageView, Moment
from dbt_graft.graft.questions.show.dates import SCALE, DateWindow
from dbt_graft.graft.questions.show.page import page, paths
from dbt_graft.graft.questions.show.tables import Sections
from dbt_graft.graft.questions.show.trees import Way
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.period import Grain


@click.command(
    epilog="\b\nExamples:\n"
    "  graft show raw.orders\n"
    "  graft show raw.orders.amount --downstream\n"
    "  graft show raw.orders.amount --path-to mart.daily.total\n"
    "  graft show load_orders --why\n"
    "  graft show mart.weekly --from 2026-10-05 --fail-on estimated && python send_report.py"
)
@click.argument("name", shell_complete=complete_names)
@answers(scale=SCALE, as_of=True)
@click.option("--upstream", is_flag=True, help="Only what it comes from.")
@click.option("--downstream", is_flag=True, help="Only what it feeds.")
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    help="The most steps.  [default: all of a column, 1 of a table or task]",
)
@click.option(
    "--indirect",
    is_flag=True,
    help="Of a column: follow what decides on values and rows too, such as filters and joins.",
)
@click.option(
    "--path-to",
    metavar="COLUMN",
    shell_complete=complete_columns,
    help="Of a column: only the paths to another.",
)
@click.option("--columns", is_flag=True, help="Of a table: its columns, with their origins.")
@click.option("--dates", is_flag=True, help="Of a table: which dates are there and clean.")
@click.option(
    "--from", "first", metavar="DATE", help="Dates from this on.  [default: 30 before the last]"
)
@click.option("--to", "last", metavar="DATE", help="Dates up to this.  [default: the newest]")
@click.option(
    "--grain",
    type=click.Choice([grain.value for grain in Grain]),
    help="The unit of dates.  [default: that in which it is written]",
)
@click.option(
    "--why", is_flag=True, help="The evidence of its edges, and reasons for missing ones."
)
@click.option(
    "--task",
    metavar="TASK",
    shell_complete=complete_tasks,
    help="NAME is a run of this task, or its `last`.",
)
def show(
    config_path: Path | None,
    name: str,
    depth: int | None,
    path_to: str | None,
    first: str | None,
    last: str | None,
    grain: str | None,
    task: str | None,
    *,
    upstream: bool,
    downstream: bool,
    indirect: bool,
    columns: bool,
    dates: bool,
    why: bool,
    past: Moment | None,
) -> Answer:
    """Show a table, a column, a task, a dashboard or a run.

    What it is, where it comes from and goes, its columns and dates, and why it has, or lacks,
    edges. NAME is in any letter case: raw.orders, orders.amount, an identity with its platform,
    dbt's unique_id, the id of a run. --fail-on is about the dates of a table.
    """
    asked = AskedLineage(load_config(config_path), LineageView(past))
    # Neither of the two is both.
    sides = [up for up in (True, False) if upstream == downstream or up == upstream]
    way = Way(sides, depth, indirect)
    if path_to:
        return paths(asked, (name, path_to), way)
    window = DateWindow(first, last, Grain(grain) if grain else None)
    sections = Sections(columns, dates or window != DateWindow(), why, window)
    thing = asked.find(name, task)
    fails = click.get_current_context().params.get("fail_on")
    if (sections.columns or sections.dates or fails) and not isinstance(thing, DatasetId):
        raise click.UsageError(f"{name} is not a table, which --columns, dates and --fail-on need")
    return page(asked, thing, sections, way)
