"""Datasets, columns, tasks and runs by the names that people write."""

from __future__ import annotations

import difflib
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import NamedTuple

import click

from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.dataset import DatasetId, parse_dataset_id
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.graphs.column_path import ColumnId
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import ANY_COLUMN, Run

Named = DatasetId | ColumnId | Task | Consumer
_END = "\0"
# Temporary tables and table variables of SQL Server, which are numbered in the store.
_TEMPORARY = ("#", "@")
_CLOSE, _COLUMNS, _SHOWN = 3, 8, 20
_PART = 3  # letters of a name by which it is suggested
_QUOTES, _SIGNS = re.compile(r"""[]["'`]"""), re.compile(r"\W+")


class RunName(NamedTuple):
    """A run by its id, or the `last` of a task, and the task if it is named."""

    run_id: str
    task: str | None = None


def shown_name(dataset: DatasetId) -> str:
    """A dataset's name for people; a temporary table's is that of its statements."""
    return dataset.short if dataset.name.startswith(_TEMPORARY) else str(dataset)


class NameSearch:
    """The names of datasets as one text, in which those of very many are found at once.

    Args:
        text: The folded names, each between two `_END`.
        places: Of each name in the text the place of its dataset: `~place` if it is another name
            than its own.
    """

    def __init__(self, datasets: Sequence[DatasetId], text: str, places: Sequence[int]) -> None:
        self.text, self.places, self._datasets = text, places, datasets

    @classmethod
    def of(
        cls, datasets: Sequence[DatasetId], others: Iterable[tuple[DatasetId | str, DatasetId]] = ()
    ) -> NameSearch:
        """The names of datasets.

        Args:
            others: Other names of them, former ones and ids of dbt's, with the dataset of each.
        """
        numbers = {dataset: place for place, dataset in enumerate(datasets)}
        names, places = [""], array("i")
        for name, place in (
            *((dataset, place) for place, dataset in enumerate(datasets)),
            *((other, ~numbers[dataset]) for other, dataset in others),
        ):
            names.append(_fold(str(name)))
            places.append(place)
            if isinstance(name, DatasetId) and name.name.startswith(_TEMPORARY):
                names.append(_fold(name.short))
                places.append(place)
        return cls(datasets, _END.join((*names, "")), places)

    def __iter__(self) -> Iterator[DatasetId]:
        return iter(self._datasets)

    def named(self, name: str) -> list[DatasetId]:
        """The datasets that have a name, else those that it is the end of; in any letter case."""
        return self.equal(name) or self.ending(name)

    def equal(self, name: str) -> list[DatasetId]:
        """The datasets that have a name; in its own letter case if any has it so."""
        try:
            identity = str(parse_dataset_id(name))
        except ValueError:
            identity = name
        matches = self._matches(identity, _END)
        return [dataset for dataset in matches if str(dataset) == identity] or matches

    def ending(self, name: str) -> list[DatasetId]:
        """The datasets whose name ends with these parts: `orders`, `raw.orders`."""
        return self._matches(name, "./")

    def others(self) -> dict[DatasetId, DatasetId]:
        """Other names of datasets that are names of datasets too, in small letters."""
        others = {}
        for name, place in zip(self.text.split(_END)[1:-1], self.places, strict=True):
            if place < 0 and "/" in name:  # no id of dbt's
                with suppress(ValueError):
                    others[parse_dataset_id(name)] = self._datasets[~place]
        return others

    def by_short_name(self) -> dict[str, str]:
        """The short names of datasets and their last parts, folded -> the name to write.

        Of a name of one part the namespace is a part too: `landing/orders`.
        """
        return {
            text.casefold(): shown_name(dataset)
            for dataset in self._datasets
            for text in (
                (dataset.short, dataset.parts[-1] if dataset.parts[1:] else shown_name(dataset))
                if dataset.parts
                else ()
            )
        }

    def _matches(self, name: str, starts: str) -> list[DatasetId]:
        """Those with a name after one of these characters; their own names count first."""
        places = {place for start in starts for place in self._places(start, name)} if name else ()
        own = {place for place in places if place >= 0}
        return [self._datasets[place] for place in sorted(own or {~place for place in places})]

    def _places(self, start: str, name: str) -> Iterator[int]:
        wanted = f"{start}{_fold(name)}{_END}"
        number, last, at = 0, 0, self.text.find(wanted)
        while at >= 0:
            number += self.text.count(_END, last, at + 1)
            last = at + 1
            yield self.places[number - 1]
            at = self.text.find(wanted, last)


@frozen
class Names:
    """The names of a lineage.

    Attributes:
        columns: The columns of a dataset, `*` too where edges name it.
        tasks: Tasks, dashboards and the like, by name.
        nouns: What may have the name, in errors.
    """

    datasets: NameSearch
    columns: Callable[[DatasetId], Iterable[str]]
    tasks: Mapping[str, Task | Consumer] = field(default_factory=dict)
    nouns: str = "table or column"

    def find(self, name: str) -> Named:
        """The dataset, column, task or dashboard that a name means.

        Raises:
            GraftError: There is none, or several are meant.
        """
        matches = self.matches(name)
        if not matches:
            raise self._unknown(name)
        if len(matches) > 1:
            raise GraftError(
                f"{len(matches)} have this name",
                place=name,
                remedy=f"write one of: {join_names([*map(_text, matches)], _SHOWN)}",
            )
        return matches[0]

    def matches(self, name: str) -> Sequence[Named]:
        """All that a name may mean, as it is or as a statement or a shell writes it."""
        return self._matches(name) or self._matches(_plain(name))

    def _matches(self, name: str) -> Sequence[Named]:
        """The things that have a name, else the tables, or columns, that it ends."""
        return (
            self.datasets.equal(name)
            or self._tasks(name)
            or self.datasets.ending(name)
            or list(self._columns(name))
        )

    def dataset(self, name: str) -> DatasetId:
        """The dataset that a name means.

        Raises:
            GraftError: There is none, several are meant, or it is something else.
        """
        match = self.find(name)
        if not isinstance(match, DatasetId):
            raise GraftError("it is not a table", place=name, remedy="name a table")
        return match

    def _tasks(self, name: str) -> list[Task | Consumer]:
        if name in self.tasks:
            return [self.tasks[name]]
        wanted = _fold(name)
        return [task for text, task in self.tasks.items() if _fold(text) == wanted] or [
            consumer
            for consumer in self.tasks.values()
            if isinstance(consumer, Consumer) and wanted in map(_fold, _dbt_names(consumer.node_id))
        ]

    def _columns(self, name: str) -> Iterator[ColumnId]:
        """The columns that it may be: `raw.orders.amount`, `orders.amount`, a field `a.b` too."""
        at = name.rfind(".")
        while at > 0:
            for dataset in self.datasets.named(name[:at]):
                for column in self.columns(dataset):
                    if _fold(column) == _fold(name[at + 1 :]):
                        yield ColumnId(dataset, column)
            at = name.rfind(".", 0, at)

    def _columns_alone(self, name: str) -> list[str]:
        """The columns that have a name, whatever their tables."""
        return [
            str(ColumnId(dataset, column))
            for dataset in self.datasets
            for column in self.columns(dataset)
            if _fold(column) == _fold(name) and column != ANY_COLUMN
        ]

    def _unknown(self, name: str) -> GraftError:
        """The error of a name that nothing has."""
        table, _, last = _plain(name).rpartition(".")
        if tables := self.datasets.named(table):
            columns = {
                _fold(column): str(ColumnId(dataset, column))
                for dataset in tables
                for column in self.columns(dataset)
                if column != ANY_COLUMN
            }
            problem = f"{tables[0]} is not known to have a column {last}"
            near = nearest(last, columns)
            other = f"its columns: {join_names([*columns], _COLUMNS) or 'none is known'}"
        else:
            problem = f"there is no such {self.nouns}"
            if columns_alone := self._columns_alone(_plain(name)):
                near = [join_names(columns_alone, _CLOSE)]
            else:
                names = self.datasets.by_short_name() | {_fold(task): task for task in self.tasks}
                near = nearest(name, names) or nearest(table, names)
            view = "datasets" if "table" in self.nouns else "tasks"
            other = f'`graft query "from {view}"` lists all; `graft doctor` checks the logs'
        remedy = f"did you mean {', '.join(near)}?" if near else other
        return GraftError(problem, place=name, remedy=remedy)


def lineage_names(described: DescribedLineage, names: Mapping[DatasetId, DatasetId]) -> Names:
    """The names of a lineage.

    Args:
        names: Those of datasets, as `all_names` has them.
    """
    lineage = described.lineage
    others = other_names(described, names)
    edges = ColumnEdges.of(lineage.column_edges)
    ends = (*edges.distinct("from_dataset"), *edges.distinct("to_dataset"))
    datasets = sorted({*names.values(), *ends, *(dataset for _, dataset in others)})

    def columns(dataset: DatasetId) -> Iterator[str]:
        # Made of all edges, so not before a name is no table's.
        graph = described.column_graph
        yield from (column.name for column in graph.columns(dataset))
        if graph.find(dataset, ANY_COLUMN):
            yield ANY_COLUMN

    tasks: dict[str, Task | Consumer] = {
        **{consumer.name: consumer for consumer in described.consumers},
        **lineage.tasks,
    }
    return Names(NameSearch.of(datasets, others), columns, tasks, "table, column, task or run")


def other_names(
    described: DescribedLineage, names: Mapping[DatasetId, DatasetId]
) -> list[tuple[DatasetId | str, DatasetId]]:
    """Names of datasets beside their own, dbt's ids too, with the dataset of each."""
    ids = [
        *((d.name, d.dataset) for d in described.lineage.definitions.values()),
        *(
            (unique_id, dataset)
            for dataset, description in described.descriptions.items()
            for unique_id in (description.node_id, *description.dbt_ids)
        ),
    ]
    return [
        *((name, dataset) for name, dataset in names.items() if name != dataset),
        *((name, dataset) for unique_id, dataset in ids for name in (unique_id, words(unique_id))),
    ]


def all_names(
    lineage: Lineage,
    logged: Iterable[DatasetId] = (),
    rename: Rename = lambda dataset: dataset,
) -> dict[DatasetId, DatasetId]:
    """Each name of a dataset, former ones and those in logs -> the dataset.

    Args:
        logged: Names in logs: the lineage lacks those of temporary tables.
        rename: The rules for them.
    """
    names = {name: dataset for dataset in lineage.datasets for name in lineage.names_of(dataset)}
    names |= {dataset: dataset for dataset in lineage.datasets}
    for name in logged:
        if name not in names:
            is_temporary = name.name.startswith(_TEMPORARY)
            renamed = DatasetId(name.namespace, name.short) if is_temporary else rename(name)
            names[name] = names.get(renamed, renamed)
    return names


def words(unique_id: str) -> str:
    """A node of dbt's in words: `model stg_orders`; a view's identity as it is."""
    resource, _, rest = unique_id.partition(".")
    name = rest.partition(".")[2]
    return f"{resource} {name}" if name and "/" not in unique_id else unique_id


def nearest(name: str, names: Mapping[str, str]) -> list[str]:
    """The names that are spelled nearly so, else those that contain it, else those in it.

    Args:
        names: Folded name -> the name to write.
    """
    wanted = _fold(name)
    near = [names[text] for text in difflib.get_close_matches(wanted, names, 2 * _CLOSE)]
    if not near and len(wanted) >= _PART:
        near = sorted(shown for shown in names.values() if wanted in _fold(shown))
    if not near:
        parts = _parts(wanted)
        inside = [text for text in names if len(text) >= _PART and _parts(text) in parts]
        near = [names[text] for text in sorted(inside, key=len, reverse=True)]
    return list(dict.fromkeys(near))[:_CLOSE]


def find_task(lineage: Lineage, name: str) -> str:
    """The task, dbt model or view that a name means.

    Raises:
        GraftError: There is none, or several are meant.
    """
    definitions = lineage.definitions.values()
    others = [(text, d.dataset) for d in definitions for text in (d.name, words(d.name))]
    search = NameSearch.of([*dict.fromkeys(d.dataset for d in definitions)], others)
    match = Names(search, lambda _: (), lineage.tasks, "task or dbt model").find(name)
    definition = lineage.definition(match) if isinstance(match, DatasetId) else None
    return definition.name if definition else _text(match)


def tasks_beside(lineage: Lineage, name: str | None) -> set[str]:
    """The task and those that write the same datasets; all where any of them may have the run."""
    task = lineage.tasks.get(name or "")
    if task is None:
        return set(lineage.tasks)
    outputs = set(task.writes)
    return {
        task.name,
        *(writer.name for writer in lineage.tasks.values() if outputs & set(writer.writes)),
    }


def find_run(lineage: Lineage, run_id: str, name: str | None = None) -> tuple[Task, Run]:
    """The run of an id, its own or an application's, or the `last` of a task.

    Args:
        name: The task of the run; needed where several have such a run.

    Raises:
        GraftError: There is no such run, or several are meant.
    """
    if name is None and run_id == "last":
        raise click.UsageError("name the task whose last run you mean with --task")
    tasks = lineage.tasks
    if name is not None:
        wanted = find_task(lineage, name)
        tasks = {wanted: lineage.tasks[wanted]} if wanted in lineage.tasks else {}
    runs = [(task, run) for task in tasks.values() for run in task.runs]
    if run_id == "last":
        runs = runs[:1]
    else:
        runs = [pair for pair in runs if run_id == pair[1].run_id] or [
            pair for pair in runs if run_id in (pair[1].application_id, pair[1].parent_run_id)
        ]
    if not runs:
        raise GraftError(
            "there is no such run in the store",
            place=run_id,
            remedy='`graft query "from runs"` lists runs',
        )
    texts = list(dict.fromkeys(f"{run.run_id} --task {task.name}" for task, run in runs))
    if len(texts) > 1:
        raise GraftError(
            f"{len(texts)} runs have this name",
            place=run_id,
            remedy=f"write one of: {join_names(texts, _SHOWN)}",
        )
    return runs[0]


def _dbt_names(unique_id: str) -> tuple[str, ...]:
    return unique_id, words(unique_id), unique_id.rpartition(".")[2]


def _plain(name: str) -> str:
    """A name without the signs around it: `[raw].[orders]`, `"raw"."orders"`, `landing/orders/`."""
    return _QUOTES.sub("", name).strip().rstrip("/.")


def _parts(name: str) -> str:
    """The words of a name, each between two slashes."""
    return f"/{_SIGNS.sub('/', name).strip('/')}/"


def _fold(name: str) -> str:
    return name.casefold().replace(_END, " ")


def _text(match: Named) -> str:
    return str(match) if isinstance(match, DatasetId | ColumnId) else match.name
