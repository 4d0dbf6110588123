"""The command `graft columns`: a column's upstream and downstream, through tasks and dbt."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import click
import orjson

from dbt_graft.collectors import store
from dbt_graft.exporters.openlineage.column_lineage import column_lineage_events
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.named_datasets import close_to, columns_named, datasets_named
from dbt_graft.graft.project.past import Moment, as_of_option
from dbt_graft.graft.project.project import LineageView, Project
from dbt_graft.graft.questions.show.column_answers import ColumnLine, PathListing, TableListing
from dbt_graft.graft.questions.show.column_tree import ColumnView
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.graphs.column_graph import ColumnGraph
from dbt_graft.lineage.graphs.column_path import ColumnId
from dbt_graft.lineage.model import Lineage

_SHOWN = 8


@click.command(
    epilog="\b\nExit codes: 0 answered, also where nothing is known; 1 the name is unknown or "
    "ambiguous,\nor the project cannot be read; 2 invalid command line.\n\n"
    "\b\nExamples:\n"
    "  graft columns raw.orders.amount\n"
    "  graft columns raw.orders.amount --to mart.daily.total\n"
    "  graft columns raw.orders\n"
    "  graft columns --all --format openlineage > columns.ndjson"
)
@click.argument("name", metavar="[TABLE.COLUMN|TABLE]", required=False)
@config_option
@click.option("--upstream", is_flag=True, help="Only what it comes from.")
@click.option("--downstream", is_flag=True, help="Only what it feeds.")
@click.option("--depth", type=click.IntRange(min=1), help="The most steps.  [default: all]")
@click.option(
    "--kind",
    type=click.Choice(["direct", "all"]),
    default="direct",
    show_default=True,
    help="Follow values; or also what decides on values and rows, such as filters and joins.",
)
@click.option("--to", "other", metavar="TABLE.COLUMN", help="Print the paths between two columns.")
@click.option("--all", "everything", is_flag=True, help="Cut nothing; with --format all datasets.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "openlineage"]),
    default="text",
    show_default=True,
    help="Output format; openlineage prints an event with column lineage a line, for each dataset.",
)
@as_of_option
def columns(
    name: str | None,
    config_path: Path | None,
    depth: int | None,
    kind: str,
    other: str | None,
    form: str,
    *,
    upstream: bool,
    downstream: bool,
    everything: bool,
    as_json: bool,
    past: Moment | None,
) -> None:
    """Show where a column's values come from and go, to the dashboards at the end.

    Each step says what becomes of the value, by which task or dbt model. A table alone lists its
    columns. Nothing is written, and Spark is not started.
    """
    if not name and not (everything and form == "openlineage"):
        raise click.UsageError("name a column or a table, or use --all --format openlineage")
    config = load_config(config_path)
    project = Project(config)
    described = project.described(LineageView(past, results=False))
    lineage, consumers = described.lineage, described.consumers
    if form == "openlineage":
        _print_events(config, lineage, name)
        return
    graph = ColumnGraph(lineage.column_edges, lineage.datasets.values(), consumers)
    names = _all_datasets(lineage)

    def find(text: str) -> ColumnId | DatasetId:
        match = _find_named(text, names, graph) or _find_named(
            text, _other_names(project, lineage), graph
        )
        return match or _unknown(text, names, graph)

    view = ColumnView(graph, lineage, depth, kind == "all", everything)
    start = find(name or "")
    answer: TableListing | ColumnLine | PathListing
    if isinstance(start, DatasetId):
        if other:
            raise GraftError("it is a table", place=name or "", remedy="name one of its columns")
        answer = TableListing(start, view)
    elif other:
        end = find(other)
        if isinstance(end, DatasetId):
            raise GraftError("it is a table", place=other, remedy="name one of its columns")
        answer = PathListing(start, end, view)
    else:
        # Neither of the two is both.
        sides = [up for up in (True, False) if upstream == downstream or up == upstream]
        answer = ColumnLine(start, view, sides)
    if as_json or form == "json":
        click.echo(orjson.dumps(answer.to_json(), option=orjson.OPT_INDENT_2))
        return
    for line in answer.lines():
        click.echo(line)


def _print_events(config: Config, lineage: Lineage, name: str | None) -> None:
    names = _all_datasets(lineage)
    chosen = datasets_named(name, names) if name else list(names)
    if name and not chosen:
        raise GraftError("there is no such table in the lineage", place=name)
    at = store.collected_at(config.path(config.store)) or datetime.now(UTC)
    for event in column_lineage_events(lineage, at, set(chosen)):
        click.echo(orjson.dumps(event))


def _all_datasets(lineage: Lineage) -> dict[DatasetId, DatasetId]:
    ends = (end for edge in lineage.column_edges for end in (edge.to_dataset, edge.from_dataset))
    return {dataset: dataset for dataset in sorted({*lineage.datasets, *ends})}


def _other_names(project: Project, lineage: Lineage) -> dict[DatasetId, DatasetId]:
    """Former names of datasets, and those of the logs."""
    names = {old: new for new, former in lineage.names.former.items() for old in former}
    for access in project.records(LineageView(results=False)).accesses:
        if (dataset := project.rename(access.dataset)) in lineage.datasets:
            names[access.dataset] = dataset
    return names


def _find_named(
    name: str, names: Mapping[DatasetId, DatasetId], graph: ColumnGraph
) -> ColumnId | DatasetId | None:
    """The one column that a person means, else the one table; None where there is none.

    Raises:
        GraftError: There is more than one.
    """
    columns = columns_named(name, names, graph)
    matches: Sequence[ColumnId | DatasetId] = columns or datasets_named(name, names)
    if len(matches) > 1:
        shown = ", ".join(map(str, matches[:_SHOWN]))
        rest = f" and {len(matches) - _SHOWN} more" if len(matches) > _SHOWN else ""
        raise GraftError(
            f"{len(matches)} have this name", place=name, remedy=f"write one of: {shown}{rest}"
        )
    return matches[0] if matches else None


def _unknown(name: str, names: Mapping[DatasetId, DatasetId], graph: ColumnGraph) -> NoReturn:
    table, _, last = name.rpartition(".")
    tables = datasets_named(table, names) if table else []
    if tables:
        columns_by_name = {
            column.name: str(column) for dataset in tables for column in graph.columns(dataset)
        }
        close = [
            columns_by_name[near] for near in difflib.get_close_matches(last, columns_by_name, 3)
        ]
        problem = f"no table {table} is known to have a column {last}"
        default = f"`graft columns {tables[0]}` lists the columns of one"
    else:
        close = close_to(table or name, names) or close_to(name, names)
        problem = "there is no such table or column in the lineage"
        default = "write TABLE.COLUMN; `graft doctor` checks the logs"
    remedy = f"did you mean {', '.join(close)}?" if close else default
    raise GraftError(problem, place=name, remedy=remedy)
