"""The view of a project for an audience: computed on all of the lineage, shown without the rest.

Everything hidden is removed here, before any page, index or file of the site is made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from dbt_graft.analysis.audience.described import (
    AudienceView,
    visible_consumers,
    visible_descriptions,
)
from dbt_graft.analysis.audience.hidden import (
    Audience,
    HiddenData,
    copied_labels,
    hidden_data,
    table_labels,
)
from dbt_graft.analysis.audience.records import rename_keys
from dbt_graft.analysis.audience.view import visible_lineage, visible_tasks
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.privacy.labels import DeclaredLabel, PrivacyLabels
from dbt_graft.analysis.render.phrases import count
from dbt_graft.graft.project.complete_project import CompleteProject, complete_project
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.declared_labels import (
    DeclaredLabels,
    declared_labels,
    table_rules,
)
from dbt_graft.graft.project.impact_graph import impact_graph
from dbt_graft.graft.project.privacy_labels import spread_labels
from dbt_graft.graft.questions.audience.labels import (
    audience_of,
    check_labels,
    tables_of_hidden_tasks,
    task_levels,
)
from dbt_graft.graft.questions.audience.words import Sight, hidden_texts, words_of
from dbt_graft.injector.audience import visible_artifacts
from dbt_graft.injector.audience_nodes import (
    hidden_nodes,
    named_nodes,
    nodes_naming_hidden,
    texts,
    undated_nodes,
)
from dbt_graft.injector.docs import FOLDER
from dbt_graft.injector.ephemeral import is_ephemeral
from dbt_graft.injector.index_page import read_page
from dbt_graft.injector.report import Grafted
from dbt_graft.injector.selection import select_nodes
from dbt_graft.lineage.building.daily import DailyHistory
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen


@frozen
class AudienceSite:
    """The project as the site for an audience has it.

    Attributes:
        name: The audience.
        notice: The line on each page that says that something is left out.
        summary: What is left out, for who runs the build.
        hidden_texts: Descriptions of what is hidden.
        visible_texts: Texts that the audience may read.
        shipped: Path in the site -> the file of dbt's page that is published as dbt wrote it.
    """

    name: str
    grafted: Grafted
    view: AudienceView
    notice: str
    summary: str
    hidden_texts: frozenset[str]
    visible_texts: frozenset[str]
    shipped: Mapping[str, Path]

    def days(self, days: DailyHistory) -> DailyHistory:
        """The days of what is visible."""
        hidden, tasks = self.view.hidden.datasets, self.view.tasks
        visible = DailyHistory(
            {name: history for name, history in days.tasks.items() if name in tasks},
            {name: history for name, history in days.datasets.items() if name not in hidden},
        )
        renamed: DailyHistory = rename_keys(visible, self.view.names)
        return renamed

    def docs_pages(self, pages: Mapping[str, str]) -> dict[str, str]:
        """The smaller docs pages that have a visible node, and a name that says nothing hidden."""
        cut = self.view.cuts()
        return {
            name: selection
            for name, selection in pages.items()
            if not cut(name) and self._selects(selection)
        }

    def _selects(self, selection: str) -> bool:
        try:
            select_nodes(self.grafted.manifest, selection, self.grafted.redirects)
        except GraftError:
            return False
        return True


def audience_site(config: Config, grafted: Grafted) -> AudienceSite | None:
    """The project as the readers of `site.audience` may see it; None where they are the team.

    Raises:
        GraftError: A label or a pattern of labels says nothing, so that nobody knows what they may
            see.
    """
    highest, rules_of = config.site.highest, table_rules(config)
    if highest is None:
        return None

    def is_above(dataset: DatasetId) -> bool:
        return any(rule.classification > highest for rule in rules_of([dataset])[:1])

    project = complete_project(grafted, is_above)
    manifest, lineage, node_ids = grafted.manifest, grafted.lineage, project.node_ids
    audience = audience_of(config, highest, project.described, manifest)
    declared = declared_labels(config, project.described, impact_graph(config, project.described))
    if not audience.sees_all:
        check_labels(config, project.described, manifest, node_ids, declared)
    levels = task_levels(lineage, audience)
    datasets = dict(declared.datasets)
    for dataset, level in tables_of_hidden_tasks(lineage, levels, audience).items():
        datasets[dataset] = max(level, datasets.get(dataset, level))
    hidden = _hidden_data(config, project, audience, replace(declared, datasets=datasets))
    gone = hidden_nodes(manifest, node_ids, hidden, audience)
    tasks = visible_tasks(lineage, hidden, audience, levels)
    sight = Sight(hidden, gone, tasks, _consumers(grafted, gone, hidden, tasks, audience))
    words = words_of(project, sight)
    all_texts = AudienceView(hidden, words)
    gone |= nodes_naming_hidden(manifest, node_ids, all_texts, gone)
    nodes = {*named_nodes(manifest), *node_ids} - gone
    view = AudienceView(
        hidden,
        words,
        frozenset(nodes),
        tasks,
        undated_nodes(grafted.before["sources"], node_ids, all_texts),
        audience.shows_unlabelled,
    )
    visible = visible_artifacts(
        grafted,
        view,
        node_ids,
        DescribedLineage(
            visible_lineage(lineage, view),
            visible_descriptions(grafted.descriptions, view),
            visible_consumers(sight.consumers, view),
        ),
    )
    return AudienceSite(
        str(config.site.audience),
        visible,
        view,
        _notice(audience, project, hidden),
        _summary(config, audience, project, view, gone),
        hidden_texts(project, sight),
        frozenset(_texts(visible)),
        _shipped_files(config),
    )


def _shipped_files(config: Config) -> dict[str, Path]:
    page = read_page(config.target_dir)
    files = page.shipped(config.duckdb) if page else {}
    return {f"{FOLDER}/{path}": file for path, file in files.items()}


def _texts(visible: Grafted) -> Iterator[str]:
    """All texts that the site may show."""
    yield from texts(visible.manifest)
    for description in visible.descriptions.values():
        yield from (description.text, *description.columns.values())
    for task in visible.lineage.tasks.values():
        yield task.info.description
    for metadata in visible.lineage.dataset_metadata.values():
        yield from (metadata.description, *(column.description for column in metadata.columns))
    yield from (consumer.text for consumer in visible.consumers)


def _hidden_data(
    config: Config, project: CompleteProject, audience: Audience, declared: DeclaredLabels
) -> HiddenData:
    """The hidden data: labels are spread until neither copies nor tables add any."""
    described = project.described
    above = Classification(min(audience.sees + 1, max(Classification)))

    def spread(others: Collection[DeclaredLabel]) -> PrivacyLabels:
        graph = impact_graph(config, described)
        return spread_labels(config, described, graph, declared, above, others)

    copies: list[DeclaredLabel] = []
    labels = spread(copies)
    while copied := copied_labels(labels, described.lineage.column_edges, above):
        copies += copied
        labels = spread(copies)
    tables = table_labels(labels, declared.datasets, project.columns)
    labels = spread([*copies, *tables])
    return hidden_data(labels, declared.datasets, audience, project.columns)


def _consumers(
    grafted: Grafted,
    gone: Collection[str],
    hidden: HiddenData,
    tasks: Collection[str],
    audience: Audience,
) -> tuple[Consumer, ...]:
    """The visible consumers: those that read anything visible."""
    lineage = grafted.lineage
    return tuple(
        consumer
        for consumer in grafted.consumers
        if consumer.node_id not in gone
        and (consumer.name not in lineage.tasks or consumer.name in tasks)
        and (
            any(dataset not in hidden.datasets for dataset in consumer.reads)
            or (audience.shows_unlabelled and not consumer.reads)
        )
    )


def _hidden_counts(project: CompleteProject, hidden: HiddenData) -> tuple[int, int]:
    """The number of columns and of datasets that are left out; columns of hidden datasets apart."""
    columns = sum(
        hidden.hides(dataset, name)
        for dataset, names in project.columns.items()
        if dataset not in hidden.datasets
        for name in names
    )
    return columns, sum(not is_ephemeral(dataset) for dataset in hidden.datasets)


def _notice(audience: Audience, project: CompleteProject, hidden: HiddenData) -> str:
    columns, datasets = _hidden_counts(project, hidden)
    counts = [(columns, "column"), (datasets, "table")]
    left_out = [count(number, noun) for number, noun in counts if number] or ["nothing"]
    verb = "are" if columns + datasets > 1 else "is"
    return (
        f"The view for readers of data up to {audience.sees.text}: {' and '.join(left_out)} {verb} "
        "left out."
    )


def _summary(
    config: Config,
    audience: Audience,
    project: CompleteProject,
    view: AudienceView,
    gone: Collection[str],
) -> str:
    columns, datasets = _hidden_counts(project, view.hidden)
    others = [key for key in gone if key not in project.node_ids]
    counts = [
        count(datasets, "table"),
        count(columns, "column"),
        count(len(others), "other node"),
        count(len(view.cut_texts), "text"),
    ]
    unlabelled = "shown" if audience.shows_unlabelled else "hidden"
    return (
        f"for {config.site.audience}: {', '.join(counts)} left out; "
        f"what nobody labels is {unlabelled}"
    )
