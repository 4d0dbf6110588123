"""The names that text for an audience may not have, and the texts that are hidden whole."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dbt_graft.analysis.audience.hidden import HiddenData
from dbt_graft.analysis.audience.view import orchestrator_runs
from dbt_graft.analysis.audience.words import WORD, HiddenWords, hidden_words
from dbt_graft.collectors.statements.text.tokens import keywords
from dbt_graft.graft.project.complete_project import CompleteProject, description_ids
from dbt_graft.graft.questions.leaks.product_words import product_words
from dbt_graft.injector.audience_nodes import named_nodes, texts
from dbt_graft.injector.manifest import Node
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Run

# Kinds of nodes and names of platforms, which pages and ids are made of.
_PLAIN = keywords(
    """analysis exposure function group macro metric model operation saved_query seed semantic_model
    snapshot source test unit_test python_task python_tasks task view table dbt spark tsql sqlserver
    mssql postgres snowflake bigquery databricks duckdb airflow openlineage"""
)
# Code that visible nodes may call by its name, which says nothing of data.
_CODE = frozenset(("macro", "doc", "test", "unit_test", "operation", "sql_operation"))


@dataclass(frozen=True)
class Sight:
    """The line between visible and hidden, for data and for all that belongs to it.

    Attributes:
        gone: The ids of hidden nodes of dbt.
        tasks: The names of visible tasks.
        consumers: The visible consumers.
    """

    hidden: HiddenData
    gone: frozenset[str]
    tasks: Collection[str]
    consumers: Collection[Consumer]

    def shows(self, consumer: Consumer) -> bool:
        """Whether a consumer is visible."""
        return (consumer.node_id, consumer.name) in self._consumer_keys

    @cached_property
    def _consumer_keys(self) -> frozenset[tuple[str, str]]:
        return frozenset((consumer.node_id, consumer.name) for consumer in self.consumers)


def words_of(project: CompleteProject, sight: Sight) -> HiddenWords:
    """The words of all that an audience may not see."""
    members = named_nodes(project.grafted.manifest)
    visible_nodes = [node for key, node in members.items() if key not in sight.gone]
    hidden_nodes = [members[key] for key in sight.gone if key in members]
    lineage, consumers = project.grafted.lineage, project.grafted.consumers
    hidden_tasks = [task for name, task in lineage.tasks.items() if name not in sight.tasks]
    hidden_consumers = [consumer for consumer in consumers if not sight.shows(consumer)]
    # Something visible may be called as something hidden; a longer name may not have it in it.
    shared = {
        *_names_of_nodes(visible_nodes),
        *_owners_of_nodes(visible_nodes),
        *sight.tasks,
        *(lineage.tasks[name].info.owner for name in sight.tasks),
        *(name for consumer in sight.consumers for name in (consumer.name, consumer.owner)),
    }
    named = {
        *_names_of_nodes(node for node in hidden_nodes if _kind(node) not in _CODE),
        *_owners_of_nodes(hidden_nodes),
        *(name for task in hidden_tasks for name in (task.name, task.info.owner)),
        *(name for consumer in hidden_consumers for name in (consumer.name, consumer.owner)),
    }
    return hidden_words(
        _hidden_columns(project, sight.hidden),
        sight.hidden.datasets,
        {*map(str.casefold, _visible_names(project, sight.hidden)), *product_words()},
        {
            *_other_names(project, sight.hidden),
            *_hidden_dags(lineage, sight),
            *(named - shared),
        },
    )


def hidden_texts(project: CompleteProject, sight: Sight) -> frozenset[str]:
    """Descriptions of hidden nodes, columns, tasks and consumers."""
    return frozenset(text for text in _descriptions(project, sight) if WORD.search(text))


def _descriptions(project: CompleteProject, sight: Sight) -> Iterator[str]:
    for dataset, description in project.described.descriptions.items():
        if dataset in sight.hidden.datasets:
            yield description.text
        for column, text in description.columns.items():
            if sight.hidden.hides(dataset, column):
                yield text
    members = named_nodes(project.grafted.manifest)
    for key in sight.gone - project.node_ids.keys():
        yield str(members.get(key, {}).get("description") or "")
    for name, task in project.grafted.lineage.tasks.items():
        if name not in sight.tasks:
            yield task.info.description
    for consumer in project.grafted.consumers:
        if not sight.shows(consumer):
            yield consumer.text


def _hidden_columns(
    project: CompleteProject, hidden: HiddenData
) -> dict[DatasetId, frozenset[str]]:
    columns = {
        dataset: {name.casefold() for name in names if hidden.hides(dataset, name)}
        | hidden.columns.get(dataset, frozenset())
        for dataset, names in project.columns.items()
    }
    return {
        # The type of a struct has the names of its fields alone.
        dataset: frozenset(names | {name.rpartition(".")[2] for name in names})
        for dataset, names in columns.items()
        if names
    }


def _other_names(project: CompleteProject, hidden: HiddenData) -> Iterator[str]:
    """Names of hidden datasets beside their own: those in dbt, in other logs, and former ones."""
    lineage = project.grafted.lineage
    for dataset in hidden.datasets:
        if description := project.described.descriptions.get(dataset):
            yield description.name
            yield from (key.rpartition(".")[2] for key in description_ids(description))
        for name in lineage.names_of(dataset)[1:]:
            yield from (name.name, *name.parts[-1:])
    hosts = {_host(dataset) for dataset in hidden.datasets}
    visible = project.columns.keys() - hidden.datasets
    yield from hosts - {_host(name) for dataset in visible for name in lineage.names_of(dataset)}


def _host(dataset: DatasetId) -> str:
    """The server or bucket in a namespace, without its port; empty where it has none."""
    host = re.match(r"[^/]*://([^/:]+)", dataset.namespace)
    return host[1] if host else ""


def _hidden_dags(lineage: Lineage, sight: Sight) -> set[str]:
    """The ids of DAGs without a visible task."""
    history, tasks = lineage.history, [lineage.tasks[name] for name in sight.tasks]
    runs = [run for task in lineage.tasks.values() for run in task.runs]
    visible = [run for task in tasks for run in task.runs]
    return _dags([*runs, *history.orchestrator_runs.values()]) - _dags(
        [*visible, *orchestrator_runs(history, tasks).values()]
    )


def _dags(runs: Iterable[Run]) -> set[str]:
    """The DAGs of runs, by the names that events give these: `dag/task/run id`."""
    names = ((run.application_id or "").partition("/") for run in runs)
    return {dag for dag, slash, _ in names if slash}


def _visible_names(project: CompleteProject, hidden: HiddenData) -> Iterator[str]:
    """Names of data that anybody may read, and those of ids."""
    yield from _PLAIN
    # dbt's page has it, whatever is visible.
    yield str(project.grafted.manifest["metadata"].get("project_name") or "")
    for dataset, columns in project.columns.items():
        if dataset not in hidden.datasets:
            yield from (dataset.name, *dataset.parts, *WORD.findall(dataset.namespace))
            shown = (name for name in columns if not hidden.hides(dataset, name))
            yield from (part for name in shown for part in {name, *name.split(".")})
    for node_id, dataset in project.node_ids.items():
        if dataset not in hidden.datasets:
            yield from node_id.split(".")


def _names_of_nodes(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        for key in ("name", "label", "alias", "source_name"):
            if isinstance(node.get(key), str):
                yield node[key]


def _owners_of_nodes(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        owner = node.get("owner")
        yield from _people(owner)
        for values in (node, node.get("config")):
            if isinstance(values, Mapping) and isinstance(values.get("meta"), Mapping):
                yield from _people(values["meta"].get("owner"))


def _people(owner: Any) -> Iterator[str]:
    yield from (text for text in texts(owner) if text not in ("name", "email"))


def _kind(node: Node) -> str:
    return "doc" if "block_contents" in node else str(node.get("resource_type"))
