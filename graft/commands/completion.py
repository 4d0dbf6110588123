"""Names for the shell's completion: tables, columns and tasks of the last index.

It is read whatever has changed since: a name that is gone does no harm here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.graft.project.config import find, load
from dbt_graft.graft.project.impact_index import stored_impact_index
from dbt_graft.graft.project.index_files import IMPACT_FILE
from dbt_graft.graft.project.section_file import read_sections
from dbt_graft.lineage.errors import GraftError

_MOST = 200


def complete_names(context: click.Context, _: click.Parameter, text: str) -> list[str]:
    """Tables and tasks that begin with a text; columns of a table behind its name and a dot."""
    graph = _graph(context)
    if graph is None:
        return []
    tables = {name for dataset in graph.datasets for name in (dataset.name, str(dataset))}
    return _beginning_with(text, {*tables, *graph.tasks, *_columns(graph, text)})


def complete_columns(context: click.Context, _: click.Parameter, text: str) -> list[str]:
    """Columns behind the name of their table, and tables."""
    graph = _graph(context)
    if graph is None:
        return []
    tables = {dataset.name for dataset in graph.datasets}
    return _beginning_with(text, {*tables, *_columns(graph, text)})


def complete_tasks(context: click.Context, _: click.Parameter, text: str) -> list[str]:
    """Tasks that begin with a text."""
    graph = _graph(context)
    return _beginning_with(text, set(graph.tasks)) if graph else []


def _graph(context: click.Context) -> ImpactGraph | None:
    """The graph of the last build; None without any."""
    try:
        config = load(context.params.get("config_path") or find(Path()))
    except GraftError:
        return None  # the command says what is wrong
    sections = read_sections(Path(config.path(config.artifacts)) / IMPACT_FILE)
    index = stored_impact_index(sections) if sections else None
    return index.graph if index else None


def _columns(graph: ImpactGraph, text: str) -> Iterator[str]:
    folded = text.casefold()
    for number, dataset in enumerate(graph.datasets):
        for name in (dataset.name, str(dataset)):
            if folded.startswith(f"{name.casefold()}."):
                yield from (f"{name}.{column}" for column in graph.columns(number))


def _beginning_with(text: str, names: set[str]) -> list[str]:
    folded = text.casefold()
    return sorted(name for name in names if name.casefold().startswith(folded))[:_MOST]
