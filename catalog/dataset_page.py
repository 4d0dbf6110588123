"""The page of a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from dbt_graft.analysis.history.presence import droppers
from dbt_graft.analysis.quality.downstream import ReachedFault
from dbt_graft.catalog.badges import HealthBadge, dataset_badges, shown_faults
from dbt_graft.catalog.columns import ColumnTable, column_table
from dbt_graft.catalog.dates_panel import DatesPanel
from dbt_graft.catalog.folder_pages import breadcrumbs
from dbt_graft.catalog.formatting import ROLE, evidence_label
from dbt_graft.catalog.impact_panel import ImpactPanel
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.links import StepLinks, step_links
from dbt_graft.catalog.markup import prose
from dbt_graft.catalog.neighbourhood import around_dataset
from dbt_graft.catalog.node_results import NodeResults, node_results
from dbt_graft.catalog.page import Breadcrumb, Page, path_to_root
from dbt_graft.catalog.picture import picture
from dbt_graft.catalog.picture_columns import picture_columns
from dbt_graft.catalog.privacy_page import derived_labels
from dbt_graft.catalog.run_history import RunHistory, usages_history
from dbt_graft.catalog.steps import LineageSteps
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Description, Role
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.records import Dataset, Direction, Evidence, Outcome, Shape, TaskInfo
from dbt_graft.lineage.urls import dataset_path
from dbt_graft.lineage.usage import Usage


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader of a dataset; one of the first three is set.

    Attributes:
        usage: The use by a task.
        dataset: A dbt model or a view.
        consumer: The name of a dashboard, a report and the like.
        kind: What it is, in words; empty for a task.
    """

    evidence: str
    usage: Usage | None = None
    dataset: DatasetId | None = None
    consumer: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetPage(Page):
    """The context of `dataset.html.j2`.

    Attributes:
        text: The description as HTML.
        dbt_link: The dataset's focused graph in dbt docs, relative to the site's root, or empty.
        explorer_address: The dataset as the explorer's address names it.
        badges: What is wrong with it, the worst first.
        faults: The nearest faults upstream.
        last_write: The newest write that put data there.
        dropped_by: The tasks that dropped it, if it is gone.
        writer: What is known of the one task that writes it.
        picture: SVG, or empty.
        sensitive: Column name, folded -> its sensitivity.
        derived: Likewise, of columns that sensitive values flow into.
        unresolved: Reasons why statements that write the dataset were not parsed completely.
        column_gap: The reason why columns of a dbt model could not be followed, or empty.
        view: The definition, if it is a view with a known one.
        dbt: dbt's runs of it, its tests and freshness.
        flows: Flows into and out of the dataset that a task makes.
        history: Runs that wrote it or tried to, of all tasks.
        aliases: Other names of it in logs, which a rule replaces.
        dates: What is known of the dates of its data.
        impact: What changes of it reach.
    """

    template: ClassVar[str] = "dataset"
    sidebars: ClassVar[tuple[str, ...]] = ("toc",)

    index: Index
    breadcrumbs: Sequence[Breadcrumb]
    dataset: Dataset
    description: Description | None
    text: Markup
    dbt_link: str
    explorer_address: str
    is_source: bool
    built_by_dbt: bool
    evidence: Evidence | None
    badges: Sequence[HealthBadge]
    faults: Sequence[ReachedFault]
    last_write: Usage | None
    dropped_by: Sequence[str]
    writer: TaskInfo
    dbt: NodeResults
    picture: Markup
    columns: ColumnTable
    sensitive: Mapping[str, str]
    derived: Mapping[str, str]
    unresolved: Sequence[str]
    column_gap: str
    writers: Sequence[Usage]
    readers: Sequence[Reader]
    view: Definition | None
    dbt_parents: Sequence[DatasetId]
    upstream: LineageSteps
    downstream: LineageSteps
    step_links: StepLinks
    history: RunHistory
    statements: Sequence[Shape]
    flows: Sequence[Flow]
    aliases: Sequence[DatasetId]
    former_names: Sequence[DatasetId]
    dates: DatesPanel | None
    impact: ImpactPanel | None


def dataset_page(index: Index, dataset: DatasetId) -> DatasetPage:
    """The page of a dataset; complete even if only the name is known."""
    description = index.descriptions.get(dataset)
    flows = (*index.flows_to.get(dataset, ()), *index.flows_from.get(dataset, ()))
    writers = index.lineage.usages_of(dataset, Direction.WRITE)
    readers = index.lineage.usages_of(dataset, Direction.READ)
    view = index.view(dataset)
    built = index.lineage.definition(dataset, DefinitionKind.DBT)
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
        text=prose(description.text if description else "", root, index.dbt_docs),
        dbt_link=index.dbt_link(description.node_id) if description else "",
        explorer_address=path.removeprefix("datasets/").rstrip("/"),
        is_source=index.role(dataset) in (Role.SOURCE, Role.NEW_SOURCE),
        built_by_dbt=index.built_by_dbt(dataset),
        evidence=_strongest_evidence(flows, [*writers, *readers]),
        badges=dataset_badges(index, dataset),
        faults=shown_faults(index, dataset),
        last_write=index.written(dataset),
        dropped_by=_droppers(index, dataset),
        writer=_writer(index, writers),
        dbt=node_results(index, dataset, (row.name for row in columns.rows)),
        picture=picture(around, root, picture_columns(index, around)),
        columns=columns,
        sensitive=_column_sensitivity(description),
        derived=derived_labels(index, dataset),
        unresolved=_unparsed_reasons(index, writers),
        column_gap=built.gap or "" if built else "",
        writers=[usage for usage in writers if not usage.repeats],
        readers=[*_readers(index, dataset, readers)],
        view=view,
        dbt_parents=index.parents(dataset, DefinitionKind.DBT),
        upstream=index.dataset_steps.upstream(dataset),
        downstream=index.dataset_steps.downstream(dataset),
        step_links=step_links(index),
        history=usages_history(index.lineage, writers, index.days.datasets.get(dataset, ())),
        statements=statements(index, [*writers, *([view] if view else [])]),
        flows=[flow for flow in flows if flow.definition is None],
        aliases=index.lineage.names.aliases.get(dataset, ()),
        former_names=index.lineage.names.former.get(dataset, ()),
        dates=index.dates.get(dataset),
        impact=index.impact(dataset),
    )


def _droppers(index: Index, dataset: DatasetId) -> list[str]:
    """The tasks that dropped a dataset; none of one that is there."""
    if not index.datasets[dataset].dropped_at:
        return []
    return sorted({usage.task for usage in droppers(index.lineage, dataset)})


def _column_sensitivity(description: Description | None) -> dict[str, str]:
    """Column name, folded -> its sensitivity."""
    labels = description.column_sensitivity if description else {}
    return {name.casefold(): label for name, label in labels.items()}


def _writer(index: Index, writers: Sequence[Usage]) -> TaskInfo:
    """The facts of the one task that writes a dataset; none where there are several."""
    tasks = {usage.task for usage in writers}
    return index.tasks[tasks.pop()].info if len(tasks) == 1 else TaskInfo()


def _readers(index: Index, dataset: DatasetId, usages: Sequence[Usage]) -> Iterator[Reader]:
    """The readers of a dataset: tasks, dbt models, views, consumers."""
    for usage in usages:
        if not usage.repeats:
            yield Reader(evidence_label(usage), usage=usage)
    for child in index.children(dataset, DefinitionKind.DBT):
        role = index.role(child)
        yield Reader("dbt manifest", dataset=child, kind=ROLE[role] if role else "dbt")
    for child in index.children(dataset, DefinitionKind.VIEW):
        yield Reader("view definition", dataset=child, kind="view")
    for consumer in index.reports.get(dataset, ()):
        if consumer.name not in index.tasks:
            yield Reader("dbt exposure", consumer=consumer.name, kind=consumer.kind)


def _strongest_evidence(flows: Sequence[Flow], usages: Sequence[Usage]) -> Evidence | None:
    ranks = list(Evidence)
    evidences = {*(flow.evidence for flow in flows), *(usage.evidence for usage in usages)}
    return min(evidences, key=ranks.index, default=None)


def statements(index: Index, usages: Sequence[Usage | Definition]) -> list[Shape]:
    """The statements behind usages and definitions, each once."""
    shapes = index.lineage.shapes
    ids = dict.fromkeys(id_ for usage in usages for id_ in usage.shapes if id_ in shapes)
    return [shapes[id_] for id_ in ids if shapes[id_].text.strip()]


def _unparsed_reasons(index: Index, writers: Sequence[Usage]) -> list[str]:
    """Reasons why the writers' statements were not parsed completely, sorted."""
    shapes = index.lineage.shapes
    written_shapes = (shapes[id_] for usage in writers for id_ in usage.shapes if id_ in shapes)
    return sorted(
        {
            shape.reason
            for shape in written_shapes
            if shape.reason and shape.outcome is not Outcome.PARSED
        }
    )
