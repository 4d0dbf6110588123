"""The options that name bad data: dates of a dataset, or the runs that wrote it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from dbt_graft.lineage.dates.calendar import Dates
from dbt_graft.lineage.dates.date_text import parse_dates


def names_bad_data(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which gets `named`."""

    @click.argument("dataset", required=False)
    @click.option(
        "--dates",
        callback=_parse_dates,
        help="The bad dates: 2026-10-03..2026-10-05, 2026-10, 2026-10-03T05.",
    )
    @click.option("--run", "run_ids", multiple=True, metavar="RUN", help="A bad run, by its id.")
    @click.option("--task", metavar="TASK", help="All runs of a task were bad.")
    @click.option(
        "--code-version", metavar="VERSION", help="Of the task only those of this version."
    )
    @click.option(
        "--between",
        nargs=2,
        metavar="RUN RUN",
        help="Of two runs of a task the earlier was good: those after it up to the later are bad.",
    )
    @functools.wraps(command)
    def run(
        *args: Any,
        dataset: str | None,
        dates: Dates | None,
        run_ids: tuple[str, ...],
        task: str | None,
        code_version: str | None,
        between: tuple[str, str] | None,
        **settings: Any,
    ) -> Any:
        if sum(map(bool, (dates, run_ids, task, between))) != 1 or (
            (dates and not dataset) or (code_version and not task)
        ):
            raise click.UsageError(
                "name DATASET with --dates, or --run RUN, --task TASK [--code-version VERSION] or "
                "--between RUN RUN"
            )
        # Importing it takes longer than listing the incidents on record.
        from dbt_graft.graft.questions.incident import BadData

        named = BadData(dataset or "", dates, run_ids, between, task or "", code_version or "")
        return command(*args, named=named, **settings)

    return run


def _parse_dates(_: click.Context, __: click.Parameter, value: str | None) -> Dates | None:
    try:
        return parse_dates(value) if value else None
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
