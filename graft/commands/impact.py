"""The command `graft impact`: what a change would do downstream."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click
import orjson

from dbt_graft.analysis.impact.answer import Impact, ProposedChange
from dbt_graft.analysis.impact.answer import impact as impact_of
from dbt_graft.analysis.impact.change import ChangeType, ImpactSeverity, recommended_action
from dbt_graft.analysis.impact.path import ImpactStep
from dbt_graft.analysis.impact.report import (
    ReachedDates,
    consumer_dates,
    coverage_text,
    impact_json,
    impact_markdown,
    reason,
)
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.commands.impact_dates import from_option, reached_dates, to_option, window
from dbt_graft.graft.project.current_index import load_impact_index
from dbt_graft.graft.project.impact_index import ImpactIndex
from dbt_graft.graft.project.named_datasets import close_to
from dbt_graft.graft.project.past import Moment, as_of_option
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES
from dbt_graft.lineage.dates.date_text import dates_text
from dbt_graft.lineage.errors import GraftError

FAILS = 8
_SHOWN = 8
_LINES = 20
_RANGES = 3


@click.command(
    epilog="\b\nExit codes: 0 answered; 1 the name is unknown or ambiguous, or the project cannot "
    "be read;\n2 invalid command line or graft.yml; 8 the severity reaches --fail-on, or "
    "`impact.fail_on` of graft.yml.\n\n"
    "\b\nExamples:\n"
    "  graft impact raw.orders.amount --change remove\n"
    "  graft impact raw.orders --change rows --format markdown\n"
    "  graft impact raw.orders --change data_incorrect --from 2026-10-03 --to 2026-10-05\n"
    "  graft impact raw.orders.email --change privacy --fail-on restricted"
)
@click.argument("name", metavar="TABLE[.COLUMN]")
@config_option
@click.option(
    "--change",
    "kind",
    type=click.Choice([change_type.value for change_type in ChangeType]),
    required=True,
    help="What changes.",
)
@from_option
@to_option
@click.option(
    "--fail-on",
    type=click.Choice([severity.name.lower() for severity in ImpactSeverity if severity]),
    help="End with 8 from this severity on.  [default: never]",
)
@click.option("--all", "everything", is_flag=True, help="Cut nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="Output format; markdown is for a comment on a pull request.",
)
@as_of_option
def impact(
    name: str,
    config_path: Path | None,
    kind: str,
    first: str | None,
    last: str | None,
    fail_on: str | None,
    form: str,
    *,
    everything: bool,
    as_json: bool,
    past: Moment | None,
) -> None:
    """Show what a change of a table or a column does downstream.

    Affected datasets, tasks, tests and dashboards, each with its severity and a shortest path. What
    decides on rows counts too: filters, joins, groupings. Failed runs do not count, and edges that
    were not seen for long are stale. With a window, the dates downstream that its dates decide on.
    Nothing is written but an index for the next answer, and Spark is not started.
    """
    changing = window(first, last)
    if changing and past:
        raise click.UsageError("--from and --to do not go with --as-of")
    config = load_config(config_path)
    effect = _impact(load_impact_index(config, past), name, ChangeType(kind))
    dates = reached_dates(config, effect.change.dataset, changing) if changing else None
    if as_json or form == "json":
        click.echo(orjson.dumps(impact_json(effect, dates), option=orjson.OPT_INDENT_2))
    elif form == "markdown":
        click.echo(impact_markdown(effect, dates), nl=False)
    else:
        for line in _lines(effect, dates, None if everything else _LINES):
            click.echo(one_line(line))
    limit = ImpactSeverity[fail_on.upper()] if fail_on else config.impact.failing
    if limit is not None and effect.severity >= limit:
        sys.exit(FAILS)


def _impact(index: ImpactIndex, name: str, kind: ChangeType) -> Impact:
    dataset, column = _find_named(index, name)
    return impact_of(index.graph, ProposedChange(dataset, kind, column), index.around)


def _find_named(index: ImpactIndex, name: str) -> tuple[DatasetId, str]:
    """The dataset that a person names, and its column; a dataset wins over a column."""
    graph = index.graph
    matches: list[tuple[DatasetId, str]] = [(dataset, "") for dataset in index.search.named(name)]
    at = name.rfind(".")
    while at > 0 and not matches:
        for dataset in index.search.named(name[:at]):
            number = graph.find_dataset(dataset)
            column = graph.find_column(number, name[at + 1 :]) if number is not None else None
            if column is not None:
                matches.append((dataset, graph.column_names[column]))
        at = name.rfind(".", 0, at)
    if len(matches) == 1:
        return matches[0]
    if matches:
        shown = ", ".join(
            f"{dataset}.{column}" if column else str(dataset) for dataset, column in matches
        )
        raise GraftError(
            f"{len(matches)} have this name", place=name, remedy=f"write one of: {shown}"
        )
    table, _, last = name.rpartition(".")
    tables = index.search.named(table) if table else []
    if tables:
        number = graph.find_dataset(tables[0])
        columns = graph.columns(number) if number is not None else []
        raise GraftError(
            f"{tables[0]} is not known to have a column {last}",
            place=name,
            remedy=f"its columns: {', '.join(columns[:_SHOWN]) or 'none is known'}",
        )
    close = close_to(name, index.search.all())
    raise GraftError(
        "there is no such table or column in the lineage",
        place=name,
        remedy=f"did you mean {', '.join(close)}?" if close else "write TABLE or TABLE.COLUMN",
    )


def _lines(effect: Impact, dates: ReachedDates | None, most: int | None) -> Iterator[str]:
    change = effect.change
    name = f"{change.dataset}.{change.column}" if change.column else str(change.dataset)
    of = f" of {dates_text(dates[change.dataset])}" if dates else ""
    yield f"{name}, {change.kind.value}{of}: {effect.severity.name}"
    if note := coverage_text(effect):
        yield f"  {note}"
    if not (effect.datasets or effect.consumers or effect.tests):
        yield "  nothing downstream is known"
        return
    yield f"  recommended: {recommended_action(change.kind)}"
    for title, entries, lines in (
        ("datasets", effect.datasets, _datasets(effect, dates)),
        ("tasks", effect.tasks, _tasks(effect)),
        ("tests", effect.tests, _tests(effect)),
        ("consumers", effect.consumers, _consumers(effect, dates)),
    ):
        if entries:
            yield f"{title} ({len(entries):,})"
            yield from (f"  {line}" for line in islice(lines, most))
            if most and len(entries) > most:
                yield f"  and {len(entries) - most:,} more: --all shows them"


def _datasets(effect: Impact, dates: ReachedDates | None) -> Iterator[str]:
    for reached in effect.datasets:
        way = " > ".join(map(_step_text, reached.path))
        notes = [f"owner {reached.owner}"] if reached.owner else []
        notes += ["stale"] if reached.stale else []
        notes += [dates_text(dates.get(reached.dataset, ALL_DATES), most=_RANGES)] if dates else []
        note = f"  ({', '.join(notes)})" if notes else ""
        yield f"{reached.severity.name:<10} {reached.dataset}: {reason(reached)}{note}  by {way}"


def _step_text(step: ImpactStep) -> str:
    return f"{step.task} [{step.subtype}]" if step.subtype else step.task


def _tasks(effect: Impact) -> Iterator[str]:
    yield from (
        f"{task.severity.name:<10} {task.name}"
        + (": its statements fail" if task.breaks else "")
        + (f"  (owner {task.owner})" if task.owner else "")
        for task in effect.tasks
    )


def _tests(effect: Impact) -> Iterator[str]:
    yield from (
        f"{'breaks' if reached.breaks else 'to run':<10} {reached.test.name} of "
        f"{reached.dataset}{f'.{reached.test.column}' if reached.test.column else ''}"
        for reached in effect.tests
    )


def _consumers(effect: Impact, dates: ReachedDates | None) -> Iterator[str]:
    yield from (
        f"{reached.severity.name:<10} {reached.consumer.name} ({reached.consumer.kind})"
        + (": names a column that is gone" if reached.breaks else "")
        + (f"  due {reached.consumer.deadline}" if reached.consumer.deadline else "")
        + (f"  {dates_text(consumer_dates(reached, dates), most=_RANGES)}" if dates else "")
        + (f"  (owner {reached.consumer.owner})" if reached.consumer.owner else "")
        for reached in effect.consumers
    )
