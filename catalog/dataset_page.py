"""The page of a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from dbt_graft.catalog.columns import ColumnTable, column_table
from dbt_graft.catalog.folder_pages import breadcrumbs
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.neighbourhood import around_dataset
from dbt_graft.catalog.node_results import NodeResults, node_results
from dbt_graft.catalog.page import Breadcrumb, Page, description_html, path_to_root
from dbt_graft.catalog.picture import picture, run_bars
from dbt_graft.catalog.picture_columns import picture_columns
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Consumer, Description, Role
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.records import Dataset, Direction, Evidence, Outcome, Run, Shape
from dbt_graft.lineage.urls import dataset_path
from dbt_graft.lineage.usage import Usage

# Limits of the upstream and downstream lists, in steps and in datasets: with complete lists the
# site would grow with the square of its datasets.
_MAX_STEPS = 6
_MAX_LISTED = 150


@dataclass(frozen=True, slots=True)
class LineageStep:
    """Datasets at one distance; `omitted` more of them are not listed."""

    distance: int
    datasets: Sequence[DatasetId]
    omitted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetPage(Page):
    """The context of `dataset.html.j2`.

    Attributes:
        text: The description as HTML.
        dbt_link: The dataset's focused graph in dbt docs, relative to the site's root, or empty.
        last_write: The newest write that put data there.
        picture, run_chart: SVG, or empty.
        unresolved: Reasons why statements that write the dataset were not parsed completely.
        column_gap: The reason why columns of a dbt model could not be followed, or empty.
        view: The definition, if it is a view with a known one.
        consumers: Dashboards, reports and the like that are no tasks.
        dbt: dbt's runs of it, its tests and freshness.
        flows: Flows into and out of the dataset that a task makes.
        runs: Runs that wrote it or tried to, of all tasks, newest first.
    """

    template: ClassVar[str] = "dataset"
    searched: ClassVar[bool] = True
    sidebars: ClassVar[tuple[str, ...]] = ("toc",)

    index: Index
    breadcrumbs: Sequence[Breadcrumb]
    dataset: Dataset
    description: Description | None
    text: Markup
    dbt_link: str
    is_source: bool
    built_by_dbt: bool
    evidence: Evidence | None
    last_write: Usage | None
    dbt: NodeResults
    picture: Markup
    columns: ColumnTable
    unresolved: Sequence[str]
    column_gap: str
    writers: Sequence[Usage]
    readers: Sequence[Usage]
    view: Definition | None
    view_children: Sequence[DatasetId]
    dbt_parents: Sequence[DatasetId]
    dbt_children: Sequence[DatasetId]
    consumers: Sequence[Consumer]
    upstream: Sequence[LineageStep]
    downstream: Sequence[LineageStep]
    runs: Sequence[Run]
    run_chart: Markup
    statements: Sequence[Shape]
    flows: Sequence[Flow]
    former_names: Sequence[DatasetId]


def dataset_page(index: Index, dataset: DatasetId) -> DatasetPage:
    """The page of a dataset; complete even if only the name is known."""
    description = index.descriptions.get(dataset)
    flows = (*index.flows_to.get(dataset, ()), *index.flows_from.get(dataset, ()))
    writers = index.lineage.usages_of(dataset, Direction.WRITE)
    readers = index.lineage.usages_of(dataset, Direction.READ)
    view = index.view(dataset)
    built = index.lineage.definition(dataset, DefinitionKind.DBT)
    runs = _runs(index, writers)
    path = dataset_path(dataset)
    root = path_to_root(path)
    around = around_dataset(index, dataset)
    columns = column_table(index, dataset, root)
    return DatasetPage(
        path=path,
        title=dataset.short,
        index=index,
        breadcrumbs=breadcrumbs(dataset)[:-1],
        dataset=index.datasets[dataset],
        description=description,
        text=description_html(
            description.text if description else "", root, has_dbt_docs=index.has_dbt_docs
        ),
        dbt_link=index.dbt_link(description.node_id) if description else "",
        is_source=index.role(dataset) in (Role.SOURCE, Role.NEW_SOURCE),
        built_by_dbt=index.built_by_dbt(dataset),
        evidence=_strongest_evidence(flows, [*writers, *readers]),
        last_write=index.written(dataset),
        dbt=node_results(index, dataset, (row.name for row in columns.rows)),
        picture=picture(around, root, picture_columns(index, around)),
        columns=columns,
        unresolved=_unresolved(index, writers),
        column_gap=built.gap or "" if built else "",
        writers=writers,
        readers=readers,
        view=view,
        view_children=index.children(dataset, DefinitionKind.VIEW),
        dbt_parents=index.parents(dataset, DefinitionKind.DBT),
        dbt_children=index.children(dataset, DefinitionKind.DBT),
        consumers=[c for c in index.reports.get(dataset, ()) if c.name not in index.tasks],
        upstream=_by_distance(index.graph.upstream(dataset, _MAX_STEPS)),
        downstream=_by_distance(index.graph.downstream(dataset, _MAX_STEPS)),
        runs=runs,
        run_chart=run_bars(runs),
        statements=statements(index, [*writers, *([view] if view else [])]),
        flows=[flow for flow in flows if flow.definition is None],
        former_names=index.lineage.former_names.get(dataset, ()),
    )


def _runs(index: Index, writers: Sequence[Usage]) -> list[Run]:
    """The runs that wrote a dataset or tried to, of all tasks, newest first."""
    runs = [run for usage in writers for run in index.tasks[usage.task].runs_of(usage)]
    return sorted(
        runs, key=lambda run: run.started_at.timestamp() if run.started_at else 0.0, reverse=True
    )


def _strongest_evidence(flows: Sequence[Flow], usages: Sequence[Usage]) -> Evidence | None:
    ranks = list(Evidence)
    found = {*(flow.evidence for flow in flows), *(usage.evidence for usage in usages)}
    return min(found, key=ranks.index, default=None)


def _by_distance(distances: Mapping[DatasetId, int]) -> list[LineageStep]:
    """Datasets grouped by distance, nearest first, listed up to `_MAX_LISTED` in all."""
    groups: dict[int, list[DatasetId]] = {}
    for dataset in sorted(distances):
        groups.setdefault(distances[dataset], []).append(dataset)
    steps, remaining = [], _MAX_LISTED
    for distance, datasets in sorted(groups.items()):
        listed = datasets[:remaining]
        steps.append(LineageStep(distance, listed, len(datasets) - len(listed)))
        remaining -= len(listed)
    return steps


def statements(index: Index, usages: Sequence[Usage | Definition]) -> list[Shape]:
    """The statements behind usages and definitions, each once."""
    shapes = index.lineage.shapes
    ids = dict.fromkeys(id_ for usage in usages for id_ in usage.shapes if id_ in shapes)
    return [shapes[id_] for id_ in ids if shapes[id_].text.strip()]


def _unresolved(index: Index, writers: Sequence[Usage]) -> list[str]:
    """Reasons why the writers' statements were not parsed completely, sorted."""
    shapes = index.lineage.shapes
    found = (shapes[id_] for usage in writers for id_ in usage.shapes if id_ in shapes)
    return sorted(
        {shape.reason for shape in found if shape.reason and shape.outcome is not Outcome.PARSED}
    )
