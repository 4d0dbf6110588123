"""The page of a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from markupsafe import Markup

from dbt_graft.analysis.quality.downstream import ReachedFault
from dbt_graft.catalog.badges import HealthBadge, dataset_badges, shown_faults
from dbt_graft.catalog.columns import ColumnTable, column_table
from dbt_graft.catalog.dataset_writes import DatasetWrites, dataset_writes
from dbt_graft.catalog.dates_panel import DatesPanel
from dbt_graft.catalog.folder_pages import breadcrumbs
from dbt_graft.catalog.formatting import ROLE, evidence_label
from dbt_graft.catalog.impact_panel import ImpactPanel
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.late_notes import LateNote
from dbt_graft.catalog.links import StepLinks, step_links
from dbt_graft.catalog.markup import prose
from dbt_graft.catalog.neighbourhood import around_dataset
from dbt_graft.catalog.node_results import NodeResults, node_results
from dbt_graft.catalog.page import Breadcrumb, Page, path_to_root
from dbt_graft.catalog.picture import picture
from dbt_graft.catalog.picture_columns import picture_columns
from dbt_graft.catalog.privacy_page import derived_labels
from dbt_graft.catalog.steps import LineageSteps
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.describe import Description, Role
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Dataset, Direction, Evidence, Outcome
from dbt_graft.lineage.urls import dataset_path
from dbt_graft.lineage.usage import Usage


@frozen
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


@frozen
class DatasetFacts:
    """The nature of a dataset: description, names, evidence, badges.

    Attributes:
        text: The description as HTML.
        evidence: The strongest for any of its edges.
        badges: What is wrong with it, the worst first.
        dbt_link: The dataset's focused graph in dbt docs, relative to the site's root, or empty.
        explorer_address: The dataset as the explorer's address names it.
        aliases: Other names of it in logs, which a rule replaces.
    """

    dataset: Dataset
    description: Description | None
    text: Markup
    is_source: bool
    evidence: Evidence | None
    badges: Sequence[HealthBadge]
    dbt_link: str
    explorer_address: str
    aliases: Sequence[DatasetId]
    former_names: Sequence[DatasetId]


@frozen
class DatasetColumns:
    """The columns of a dataset, and why some may be missing.

    Attributes:
        sensitive: Column name, folded -> its sensitivity.
        derived: Likewise, of columns that sensitive values flow into.
        unresolved: Reasons why statements that write the dataset were not parsed completely.
        gap: The reason why columns of a dbt model could not be followed, or empty.
    """

    table: ColumnTable
    sensitive: Mapping[str, str]
    derived: Mapping[str, str]
    unresolved: Sequence[str]
    gap: str


@frozen
class DatasetLineage:
    """The surroundings of a dataset.

    Attributes:
        picture: SVG, or empty.
        flows: Flows into and out of the dataset that a task makes.
        faults: The nearest faults upstream.
    """

    picture: Markup
    flows: Sequence[Flow]
    readers: Sequence[Reader]
    upstream: LineageSteps
    downstream: LineageSteps
    step_links: StepLinks
    faults: Sequence[ReachedFault]


@frozen(kw_only=True)
class DatasetPage(Page):
    """The context of `dataset.html.j2`.

    Attributes:
        dbt: dbt's runs of it, its tests and freshness.
        dates: What is known of the dates of its data.
        late: Tasks whose newest run should have written it.
        impact: What changes of it reach.
    """

    template: ClassVar[str] = "dataset"
    sidebars: ClassVar[tuple[str, ...]] = ("toc",)

    index: Index
    breadcrumbs: Sequence[Breadcrumb]
    facts: DatasetFacts
    writes: DatasetWrites
    columns: DatasetColumns
    lineage: DatasetLineage
    dbt: NodeResults
    dates: DatesPanel | None
    late: Sequence[LateNote]
    impact: ImpactPanel | None


def dataset_page(index: Index, dataset: DatasetId) -> DatasetPage:
    """The page of a dataset; complete even if only the name is known."""
    flows = (*index.flows_to.get(dataset, ()), *index.flows_from.get(dataset, ()))
    writers = index.lineage.usages_of(dataset, Direction.WRITE)
    readers = index.lineage.usages_of(dataset, Direction.READ)
    path = dataset_path(dataset)
    root = path_to_root(path)
    columns = _columns(index, dataset, root, writers)
    return DatasetPage(
        path=path,
        title=dataset.short,
        index=index,
        breadcrumbs=breadcrumbs(dataset)[:-1],
        facts=_facts(index, dataset, path, _strongest_evidence(flows, [*writers, *readers])),
        writes=dataset_writes(index, dataset, writers),
        columns=columns,
        lineage=_lineage(index, dataset, root, flows, readers),
        dbt=node_results(index, dataset, (row.name for row in columns.table.rows)),
        dates=index.dates.get(dataset),
        late=index.late.get(dataset, ()),
        impact=index.impact(dataset),
    )


def _facts(index: Index, dataset: DatasetId, path: str, evidence: Evidence | None) -> DatasetFacts:
    description = index.descriptions.get(dataset)
    names = index.lineage.names
    text = description.text if description else ""
    return DatasetFacts(
        dataset=index.datasets[dataset],
        description=description,
        text=prose(text, path_to_root(path), index.dbt_docs),
        is_source=index.role(dataset) in (Role.SOURCE, Role.NEW_SOURCE),
        evidence=evidence,
        badges=dataset_badges(index, dataset),
        dbt_link=index.dbt_link(description.node_id) if description else "",
        explorer_address=path.removeprefix("datasets/").rstrip("/"),
        aliases=names.aliases.get(dataset, ()),
        former_names=names.former.get(dataset, ()),
    )


def _columns(
    index: Index, dataset: DatasetId, root: str, writers: Sequence[Usage]
) -> DatasetColumns:
    built = index.lineage.definition(dataset, DefinitionKind.DBT)
    description = index.descriptions.get(dataset)
    labels = description.column_sensitivity if description else {}
    return DatasetColumns(
        table=column_table(index, dataset, root),
        sensitive={name.casefold(): label for name, label in labels.items()},
        derived=derived_labels(index, dataset),
        unresolved=_unparsed_reasons(index, writers),
        gap=built.gap or "" if built else "",
    )


def _lineage(
    index: Index,
    dataset: DatasetId,
    root: str,
    flows: Sequence[Flow],
    readers: Sequence[Usage],
) -> DatasetLineage:
    around = around_dataset(index, dataset)
    return DatasetLineage(
        picture=picture(around, root, picture_columns(index, around)),
        flows=[flow for flow in flows if flow.definition is None],
        readers=[*_readers(index, dataset, readers)],
        upstream=index.dataset_steps.upstream(dataset),
        downstream=index.dataset_steps.downstream(dataset),
        step_links=step_links(index),
        faults=shown_faults(index, dataset),
    )


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
