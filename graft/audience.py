"""The view of a project for an audience: computed on all of the lineage, shown without the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dbt_graft.collectors.statements.text.tokens import keywords
from dbt_graft.exporters.data.view import DescribedLineage
from dbt_graft.graft.config import Config
from dbt_graft.graft.doctor.phrases import count
from dbt_graft.graft.privacy_report import dataset_classifications, privacy_report
from dbt_graft.injector.audience import visible_artifacts
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.audience.described import (
    AudienceView,
    hidden_tests,
    visible_consumers,
    visible_descriptions,
)
from dbt_graft.lineage.audience.hidden import HiddenData, copied_into, hidden_count, hidden_data
from dbt_graft.lineage.audience.view import visible_lineage
from dbt_graft.lineage.audience.words import WORD, hidden_words
from dbt_graft.lineage.daily import DailyHistory
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Description
from dbt_graft.lineage.privacy.classification import Classification
from dbt_graft.lineage.privacy.labels import DeclaredLabel

# Kinds of nodes and names of platforms, which pages and ids are made of.
_PLAIN = keywords(
    """analysis exposure function group macro metric model operation saved_query seed semantic_model
    snapshot source test unit_test python_task python_tasks task view table dbt spark tsql sqlserver
    mssql postgres snowflake bigquery databricks duckdb airflow openlineage"""
)


@dataclass(frozen=True, slots=True)
class AudienceSite:
    """The project as the site for an audience has it.

    Attributes:
        notice: The line on each page that says that something is left out.
    """

    grafted: Grafted
    view: AudienceView
    notice: str

    def days(self, days: DailyHistory) -> DailyHistory:
        """The days of what is visible."""
        tasks = self.grafted.lineage.tasks
        hidden = self.view.hidden.datasets
        return DailyHistory(
            {name: found for name, found in days.tasks.items() if name in tasks},
            {one: found for one, found in days.datasets.items() if one not in hidden},
        )


def audience_site(config: Config, grafted: Grafted) -> AudienceSite | None:
    """The project as the readers of `site.audience` may see it; None where that is everything."""
    highest = config.site.highest
    if highest is None:
        return None
    described = DescribedLineage(grafted.lineage, grafted.descriptions, grafted.consumers)
    lineage = described.lineage
    above = Classification(min(highest + 1, max(Classification)))
    labels = privacy_report(config, described, above).labels
    found: list[DeclaredLabel] = []
    while copied := copied_into(labels, lineage.column_edges, above):
        found += copied
        labels = privacy_report(config, described, above, found).labels
    hidden = hidden_data(labels, dataset_classifications(config, described), highest)
    columns = _columns(grafted, described)
    node_ids = _node_ids(described.descriptions)
    words = hidden_words(
        _hidden(hidden, columns),
        hidden.datasets,
        {*map(str.casefold, _visible(hidden, columns, described, node_ids))},
        _other_names(hidden, described),
    )
    tests = hidden_tests(described.descriptions, hidden, words)
    view = AudienceView(hidden, words, tests)
    descriptions = visible_descriptions(described.descriptions, view)
    consumers = visible_consumers(described.consumers, view)
    gone = {one for one, dataset in node_ids.items() if dataset in hidden.datasets}
    shown = visible_lineage(lineage, view, gone)
    number, datasets = hidden_count(hidden, columns)
    return AudienceSite(
        visible_artifacts(grafted, view, node_ids, shown, descriptions, consumers),
        view,
        _notice(highest, number, datasets),
    )


def _notice(highest: Classification, columns: int, datasets: int) -> str:
    counts = [(columns, "column"), (datasets, "table")]
    left_out = [count(number, noun) for number, noun in counts if number] or ["nothing"]
    verb = "are" if columns + datasets > 1 else "is"
    return (
        f"The view for readers of data up to {highest.text}: {' and '.join(left_out)} {verb} "
        "left out."
    )


def _node_ids(descriptions: Mapping[DatasetId, Description]) -> dict[str, DatasetId]:
    return {node_id: dataset for dataset, one in descriptions.items() for node_id in _ids(one)}


def _ids(about: Description) -> tuple[str, ...]:
    return (*about.dbt_ids, about.node_id)


def _columns(grafted: Grafted, described: DescribedLineage) -> dict[DatasetId, set[str]]:
    """All columns that anything knows of each dataset."""
    found: dict[DatasetId, set[str]] = defaultdict(set)
    for dataset, facts in described.lineage.datasets.items():
        found[dataset] |= {one.name for one in facts.columns}
    for edge in described.lineage.column_edges:
        found[edge.to_dataset].add(edge.to_column)
        found[edge.from_dataset].add(edge.from_column)
    for dataset, one in described.descriptions.items():
        for node_id in _ids(one):
            for document in (grafted.manifest, grafted.catalog):
                for part in ("nodes", "sources"):
                    node = document[part].get(node_id) or {}
                    found[dataset].update(map(str, node.get("columns") or ()))
    for names in found.values():
        names.discard("*")
    return found


def _hidden(
    hidden: HiddenData, columns: Mapping[DatasetId, set[str]]
) -> dict[DatasetId, frozenset[str]]:
    found = {
        dataset: frozenset(name.casefold() for name in names if hidden.hides(dataset, name))
        | hidden.columns.get(dataset, frozenset())
        for dataset, names in columns.items()
    }
    return {dataset: names for dataset, names in found.items() if names}


def _other_names(hidden: HiddenData, described: DescribedLineage) -> Iterator[str]:
    """Names of hidden datasets beside their own: those in dbt, in other logs, and former ones."""
    lineage = described.lineage
    for dataset in hidden.datasets:
        if about := described.descriptions.get(dataset):
            yield from (about.name, *(one.rpartition(".")[2] for one in _ids(about)))
        facts = lineage.datasets.get(dataset)
        others = (*lineage.aliases.get(dataset, ()), *lineage.former_names.get(dataset, ()))
        for one in (*others, *(facts.symlinks if facts else ())):
            yield from (one.name, *one.parts[-1:])


def _visible(
    hidden: HiddenData,
    columns: Mapping[DatasetId, set[str]],
    described: DescribedLineage,
    node_ids: Mapping[str, DatasetId],
) -> Iterator[str]:
    """Names that anybody may read."""
    yield from _PLAIN
    for dataset in {*columns, *described.descriptions, *described.lineage.datasets}:
        if dataset not in hidden.datasets:
            yield from (dataset.name, *dataset.parts, *WORD.findall(dataset.namespace))
            yield from (
                name for name in columns.get(dataset, ()) if not hidden.hides(dataset, name)
            )
    for node_id, dataset in node_ids.items():
        if dataset not in hidden.datasets:
            yield from node_id.split(".")
