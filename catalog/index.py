"""Look-ups over the lineage that pages share: writers, readers, flows and columns by dataset."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.recorded_states import TaintsNow, taints_now
from dbt_graft.analysis.history.dag_runs import DagRun, runs_by_dag
from dbt_graft.analysis.history.presence import newest_of
from dbt_graft.analysis.impact.answer import Surroundings
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.impact.reach import ImpactReach
from dbt_graft.analysis.quality.deadlines import DeadlineForecast, forecasts
from dbt_graft.analysis.quality.faults import checks_by_dataset
from dbt_graft.analysis.quality.history import write_history
from dbt_graft.catalog.dates_panel import DatesPanel, TaintNote, dates_panel, taint_notes
from dbt_graft.catalog.impact_panel import ImpactPanel, impact_panel
from dbt_graft.catalog.late_notes import LateNote, late_notes
from dbt_graft.catalog.run_dates import RunDates, run_dates
from dbt_graft.catalog.settings import SiteExtras, SiteSettings
from dbt_graft.catalog.steps import ColumnReach, DatasetSteps
from dbt_graft.lineage.building.daily import DailyHistory
from dbt_graft.lineage.building.runs import result_recency
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Consumer, NodeTest, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.gaps import followed_shapes, open_tasks, rejects_by_task
from dbt_graft.lineage.graph import Graph
from dbt_graft.lineage.graphs.column_graph import ColumnGraph
from dbt_graft.lineage.grouping import Grouped, group_by_key
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import ANY_COLUMN, Column, ColumnEdge, Dataset, NodeResult, Status
from dbt_graft.lineage.renaming import map_datasets, spelling
from dbt_graft.lineage.usage import Usage

# Columns that are listed for a column beyond those that it feeds directly.
MAX_FURTHER = 50
# Datasets of a site whose pages say what changes reach unless it is asked for: it takes memory.
MAX_WITH_IMPACT = 2_000
BUILT_BY_DBT = frozenset({Role.MODEL, Role.SEED, Role.SNAPSHOT})


class Index:
    """The lineage, its descriptions from dbt and `graft.yml`, and look-ups by dataset and task.

    Attributes:
        lineage: The lineage, with every dataset in the spelling that is shown.
        datasets: Every dataset that anything names, sorted.
        tasks: The tasks; each has a page of its own.
        engines: The engines that runs are known of.
        consumers: By name; a read-only task that dbt knows as an exposure is in both.
        flows_to, flows_from: The flows into and out of a dataset.
        columns_to, columns_from: The column edges into and out of a dataset.
        columns_between: The column edges from one dataset into another.
        columns_by: The column edges that a task makes.
        reports: The consumers that read a dataset.
        dbt_docs: The docs page that is a part of the site.
        days: The last year of tasks and datasets.
        shows_impact: Pages say what changes reach.
        now: The time of the build, for deadlines; None where there is none.
        privacy: The labels of columns; None if nobody labels any.
        sensitive: Columns from this classification on are sensitive.
        is_excerpt: Readers see a part of the lineage only.
    """

    def __init__(
        self,
        described: DescribedLineage,
        settings: SiteSettings = SiteSettings(),
        extras: SiteExtras = SiteExtras(),
    ) -> None:
        # dbt's spelling counts where dbt knows a dataset.
        spelled = spelling((*described.descriptions, *described.lineage.datasets))
        self.lineage = lineage = map_datasets(described.lineage, spelled)
        self.descriptions = described.descriptions
        self.lineage = lineage = self._with_built_again(lineage)
        self.dbt_docs, self.privacy = extras.dbt_docs, extras.privacy
        self.days, self.now = extras.days or DailyHistory(), settings.built_at
        self.sensitive, self.is_excerpt = settings.sensitive, settings.is_excerpt
        self.consumers = _merge_by_name(
            map_datasets(consumer, spelled) for consumer in described.consumers
        )
        edges = lineage.column_edges
        self.columns_to = Grouped(edges, (edge.to_dataset for edge in edges))
        self.columns_from = Grouped(edges, (edge.from_dataset for edge in edges))
        self.datasets = self._all_datasets()
        self.shows_impact = (
            len(self.datasets) <= MAX_WITH_IMPACT if settings.impact is None else settings.impact
        )
        self.tasks: Mapping[str, Task] = lineage.tasks
        self.engines = {run.engine for task in self.tasks.values() for run in task.runs}
        self.graph: Graph[DatasetId] = lineage.dataset_graph()
        flows = [flow for flow in lineage.flows if flow.source != flow.target]
        self.flows_to = Grouped(flows, (flow.target for flow in flows))
        self.flows_from = Grouped(flows, (flow.source for flow in flows))
        self.columns_between = Grouped(
            edges, ((edge.from_dataset, edge.to_dataset) for edge in edges)
        )
        self.columns_by = Grouped(edges, (edge.task for edge in edges))
        self._column_graph = Graph(self.columns_between)
        # A pass over all edges of a dataset, which most find nothing in: each is made once.
        self._other_columns: dict[DatasetId, tuple[Column, ...]] = {}
        self.reports = group_by_key(
            (dataset, consumer)
            for consumer in self.consumers.values()
            for dataset in consumer.reads
        )

    @cached_property
    def run_dates(self) -> RunDates:
        """The dates that runs read and wrote."""
        return run_dates(self.lineage)

    @cached_property
    def access_history(self) -> AccessHistory:
        """The accesses of runs, by dataset and edge."""
        return AccessHistory(self.lineage)

    @cached_property
    def dags(self) -> Mapping[str, Sequence[DagRun]]:
        """The runs of each DAG of an orchestrator, newest first."""
        return runs_by_dag(self.lineage.history.orchestrator_runs)

    @cached_property
    def late(self) -> Mapping[DatasetId, Sequence[LateNote]]:
        """The datasets that the newest run of a task should have written and did not."""
        return group_by_key((note.dataset, note) for note in late_notes(self.access_history))

    @cached_property
    def _taints_now(self) -> TaintsNow:
        return taints_now(self.access_history)

    @cached_property
    def tainted(self) -> Mapping[DatasetId, tuple[TaintNote, ...]]:
        """The datasets that have bad data by a taint on record, or may have some."""
        if not self.lineage.history.taints:
            return {}
        noted = {
            dataset: taint_notes(on_record)
            for dataset, on_record in sorted(self._taints_now.by_dataset.items())
            if dataset in self.datasets
        }
        bad = {key: [n for n in notes if n.dates or n.doubtful] for key, notes in noted.items()}
        return {dataset: tuple(notes) for dataset, notes in bad.items() if notes}

    @cached_property
    def dates(self) -> Mapping[DatasetId, DatesPanel]:
        """The panels of the datasets whose dates are known, or that are tainted."""
        lineage = self.lineage
        if not (lineage.history.taints or lineage.history.declared_dates) and not any(
            access.periods for access in lineage.history.accesses
        ):
            return {}
        history, taints = self.access_history, self._taints_now
        newest = newest_of(access.last_at for access in lineage.history.accesses)
        panels = (
            (dataset, dates_panel(history, dataset, taints, newest)) for dataset in self.datasets
        )
        return {dataset: panel for dataset, panel in panels if panel}

    def _with_built_again(self, lineage: Lineage) -> Lineage:
        """The lineage in which no dataset is dropped that dbt has built since."""
        again = {
            dataset: replace(facts, dropped_at=None)
            for dataset, facts in lineage.datasets.items()
            if facts.dropped_at
            and (build := self.last_build(dataset))
            and build.started_at
            and build.started_at > facts.dropped_at
        }
        if not again:
            return lineage
        return replace(lineage, datasets={**lineage.datasets, **again})

    def _all_datasets(self) -> dict[DatasetId, Dataset]:
        named = {
            *self.descriptions,
            *(end for flow in self.lineage.flows for end in (flow.source, flow.target)),
            *self.columns_to,
            *self.columns_from,
            *(read for consumer in self.consumers.values() for read in consumer.reads),
            *(usage.dataset for task in self.lineage.tasks.values() for usage in task.usages),
            *(end for d in self.lineage.definitions.values() for end in (d.dataset, *d.reads)),
        }
        datasets = {**{dataset: Dataset(dataset) for dataset in named}, **self.lineage.datasets}
        return {dataset: datasets[dataset] for dataset in sorted(datasets)}

    def columns(self, dataset: DatasetId) -> Mapping[str, Column]:
        """Every column that a schema, dbt or an edge names, by its folded name.

        In the order of the log or dbt's catalog, then those that only lineage names.
        """
        columns = {column.name.casefold(): column for column in self.datasets[dataset].columns}
        others = self._other_columns.get(dataset)
        if others is None:
            others = self._other_columns[dataset] = self._unlisted_columns(dataset, columns)
        for column in others:
            columns[column.name.casefold()] = column
        return columns

    def gone_columns(self, dataset: DatasetId) -> Collection[str]:
        """The columns that a dataset had before it was made anew, by their folded names."""
        facts = self.datasets[dataset]
        if not facts.has_all_columns:
            return ()
        return {*self.columns(dataset)} - {column.name.casefold() for column in facts.columns}

    def _unlisted_columns(self, dataset: DatasetId, listed: Collection[str]) -> tuple[Column, ...]:
        """The columns that the schema does not have."""
        description = self.descriptions.get(dataset)
        names = dict.fromkeys(
            (
                *(description.columns if description else ()),
                *(edge.to_column for edge in self.columns_to.get(dataset, ())),
                *(edge.from_column for edge in self.columns_from.get(dataset, ())),
            )
        )
        columns: dict[str, Column] = {}
        for name in names:
            if name != ANY_COLUMN and (folded := name.casefold()) not in listed:
                columns.setdefault(folded, Column(name))
        return tuple(columns.values())

    def tests_of(self, dataset: DatasetId) -> Sequence[NodeTest]:
        """The tests of a dataset: dbt's, those of ephemeral models in it, and checks in events."""
        description = self.descriptions.get(dataset)
        of_dbt = (*description.tests, *description.inner_tests) if description else ()
        return (*of_dbt, *self._checks.get(dataset, ()))

    @cached_property
    def _checks(self) -> Mapping[DatasetId, Sequence[NodeTest]]:
        return checks_by_dataset(self.lineage)

    @cached_property
    def column_reach(self) -> ColumnReach:
        """Columns and consumers downstream of each column."""
        graph = ColumnGraph(self.lineage.column_edges, self.datasets.values())
        return ColumnReach(graph, self.consumers.values(), MAX_FURTHER)

    @cached_property
    def impact_graph(self) -> ImpactGraph:
        """The graph on which changes and faults go downstream."""
        lineage = self.lineage
        return ImpactGraph(
            lineage.column_edges,
            lineage.flows,
            self.datasets.values(),
            followed=followed_shapes(lineage.shapes.values()),
            definitions=lineage.definitions,
            uses=lineage.column_uses,
            known_reads=lineage.known_reads,
        )

    @cached_property
    def impact_reach(self) -> ImpactReach:
        """The reach of all changes of datasets and columns."""
        around = Surroundings(self.descriptions, tuple(self.consumers.values()))
        return ImpactReach(self.impact_graph, around)

    @cached_property
    def forecasts(self) -> Mapping[str, Sequence[DeadlineForecast]]:
        """For each consumer with a deadline or an SLO what is to be expected at `now`."""
        waiting = [
            consumer
            for consumer in self.consumers.values()
            if consumer.deadline or consumer.freshness_slo
        ]
        if not waiting or self.now is None:
            return {}
        history = write_history(self.lineage, self.descriptions)
        return group_by_key(
            (forecast.consumer.name, forecast) for forecast in forecasts(history, waiting, self.now)
        )

    def impact(self, dataset: DatasetId) -> ImpactPanel | None:
        """The reach of changes of a dataset; None if that is nothing, or is not shown."""
        if not self.shows_impact:
            return None
        names = [column.name for column in self.columns(dataset).values()]
        return impact_panel(self.impact_reach, dataset, names)

    @cached_property
    def dataset_steps(self) -> DatasetSteps:
        """The datasets upstream and downstream of each, by step."""
        return DatasetSteps(self.graph)

    @cached_property
    def rejects_of(self) -> Mapping[str, Mapping[str, int]]:
        """For each task the rejected records, by reason, that are its, or may be."""
        return rejects_by_task(self.lineage)

    @cached_property
    def open_tasks(self) -> Mapping[str, Sequence[str]]:
        """The tasks that may read or write more than is known, with the reasons."""
        return open_tasks(self.lineage)

    def column_parents(self, dataset: DatasetId) -> Sequence[DatasetId]:
        """The datasets with column edges into it, sorted."""
        return self._column_graph.parents(dataset)

    def column_children(self, dataset: DatasetId) -> Sequence[DatasetId]:
        """The datasets with column edges out of it, sorted."""
        return self._column_graph.children(dataset)

    def edges_to(self, dataset: DatasetId) -> dict[str, list[ColumnEdge]]:
        """The column edges into a dataset, by the folded name of its column."""
        edges = self.columns_to.get(dataset, ())
        return group_by_key((edge.to_column.casefold(), edge) for edge in edges)

    def edges_from(self, dataset: DatasetId) -> dict[str, list[ColumnEdge]]:
        """The column edges out of a dataset, by the folded name of its column."""
        edges = self.columns_from.get(dataset, ())
        return group_by_key((edge.from_column.casefold(), edge) for edge in edges)

    def view(self, dataset: DatasetId) -> Definition | None:
        """The definition of a view that the database keeps; None where none is known."""
        return self.lineage.definition(dataset, DefinitionKind.VIEW)

    def role(self, dataset: DatasetId) -> Role | None:
        """The role of the dataset in dbt; None where dbt does not know it."""
        description = self.descriptions.get(dataset)
        return description.role if description else None

    def built_by_dbt(self, dataset: DatasetId) -> bool:
        """A dbt model, seed or snapshot makes it."""
        return self.role(dataset) in BUILT_BY_DBT

    def written(self, dataset: DatasetId) -> Usage | None:
        """The newest write that put data there."""
        done = self.lineage.writers(dataset)
        return max(done, key=lambda u: (u.last_at is not None, u.last_at), default=None)

    def results(self, dataset: DatasetId) -> list[NodeResult]:
        """dbt's results for its model, seed or snapshot, or its source, newest first."""
        description = self.descriptions.get(dataset)
        ids = description.dbt_ids if description else ()
        results = [
            result for node_id in ids for result in self.lineage.dbt.node_results.get(node_id, ())
        ]
        return sorted(results, key=result_recency, reverse=True)

    def last_build(self, dataset: DatasetId) -> NodeResult | None:
        """The newest run in which dbt built it."""
        built = (result for result in self.results(dataset) if result.word == "success")
        return next((build for build in built if build.status is Status.OK), None)

    def written_at(self, dataset: DatasetId) -> datetime | None:
        """The time of its newest write, by a task or by dbt."""
        write, build = self.written(dataset), self.last_build(dataset)
        times = (write.last_at if write else None, build.started_at if build else None)
        return max((moment for moment in times if moment), default=None)

    def failed_last(self, usage: Usage) -> bool:
        """Whether the newest run of a usage failed there, or before it got there."""
        attempt = self.tasks[usage.task].last_attempt(usage)
        return attempt is not None and attempt[1]

    def children(self, dataset: DatasetId, kind: DefinitionKind) -> list[DatasetId]:
        """The datasets that dbt builds from it, or the views on it, sorted."""
        flows = self.flows_from.get(dataset, ())
        return sorted({flow.target for flow in flows if flow.definition is kind})

    def parents(self, dataset: DatasetId, kind: DefinitionKind) -> list[DatasetId]:
        """The datasets that dbt builds it from, or that the view reads, sorted."""
        flows = self.flows_to.get(dataset, ())
        return sorted({flow.source for flow in flows if flow.definition is kind})

    def task_names(self) -> list[str]:
        """Every name with a task page: tasks and consumers, sorted."""
        return sorted({*self.tasks, *self.consumers})

    def task_owner(self, name: str) -> str:
        """Its owner after `graft.yml`, else after dbt."""
        task, consumer = self.tasks.get(name), self.consumers.get(name)
        return (task.info.owner if task else "") or (consumer.owner if consumer else "")

    def task_tags(self, name: str) -> tuple[str, ...]:
        """Its tags after `graft.yml` and dbt, each once."""
        task, consumer = self.tasks.get(name), self.consumers.get(name)
        tags = (*(task.info.tags if task else ()), *(consumer.tags if consumer else ()))
        return tuple(dict.fromkeys(filter(None, tags)))

    def dbt_link(self, node_id: str) -> str:
        """The focused graph of a dbt node in the docs page; empty without that page."""
        if not self.dbt_docs or node_id.count(".") < 2:
            return ""
        return self.dbt_docs.graph(node_id)


def _merge_by_name(consumers: Iterable[Consumer]) -> dict[str, Consumer]:
    """Consumers by name; those of one name share a page that lists what all of them read."""
    consumers_by_name: dict[str, Consumer] = {}
    for consumer in consumers:
        first = consumers_by_name.get(consumer.name, consumer)
        reads = tuple(sorted({*first.reads, *consumer.reads}))
        consumers_by_name[consumer.name] = replace(first, reads=reads)
    return consumers_by_name
