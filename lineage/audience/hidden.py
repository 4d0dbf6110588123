"""The columns and datasets that an audience may not see.

Labels are those of the complete lineage: a column that follows from a hidden one is hidden too, and
so is one that is copied into it. Of a dataset behind a flow without known columns nobody can say
which columns have hidden values: all are hidden but those that somebody labels lower.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.privacy.classification import Classification
from dbt_graft.lineage.privacy.labels import DeclaredLabel, PrivacyLabels
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, Subtype


@dataclass(frozen=True, slots=True)
class HiddenData:
    """The columns and datasets that an audience may not see.

    Attributes:
        datasets: Datasets that are hidden with their names.
        columns: Dataset -> hidden columns, in lower case.
        closed: Dataset of which all columns are hidden -> those that are not, in lower case.
    """

    datasets: frozenset[DatasetId] = frozenset()
    columns: Mapping[DatasetId, frozenset[str]] = field(default_factory=dict)
    closed: Mapping[DatasetId, frozenset[str]] = field(default_factory=dict)

    def hides(self, dataset: DatasetId, column: str) -> bool:
        """Whether a column is hidden; `*` names none, and is where its dataset is."""
        if dataset in self.datasets:
            return True
        if column == ANY_COLUMN:
            return False
        folded = column.casefold()
        if folded in self.columns.get(dataset, ()):
            return True
        return dataset in self.closed and folded not in self.closed[dataset]


def hidden_data(
    labels: PrivacyLabels,
    datasets: Mapping[DatasetId, Classification],
    highest: Classification,
) -> HiddenData:
    """The data above the highest classification that an audience may see.

    Args:
        labels: With unknown datasets behind flows of all that is hidden.
        datasets: The classifications of datasets themselves.
    """
    graph = labels.graph
    columns: dict[DatasetId, set[str]] = defaultdict(set)
    for column in labels.columns():
        level = labels.classification(column)
        if level is not None and level > highest:
            dataset = graph.datasets[graph.dataset_of[column]]
            columns[dataset].add(graph.column_names[column].casefold())
    shown: dict[DatasetId, set[str]] = defaultdict(set)
    for one in labels.declared.values():
        if one.classification <= highest:
            shown[one.dataset].add(one.column.casefold())
    return HiddenData(
        frozenset(one for one, level in datasets.items() if level > highest),
        {dataset: frozenset(names) for dataset, names in columns.items()},
        {
            dataset: frozenset(shown.get(dataset, set()) - columns.get(dataset, set()))
            for dataset in labels.unknown
        },
    )


def copied_into(
    labels: PrivacyLabels, edges: Iterable[ColumnEdge], lowest: Classification
) -> list[DeclaredLabel]:
    """Labels for columns that are copied, as they are, into columns with a higher one.

    Args:
        lowest: Only labels from this classification on are of interest.
    """
    graph = labels.graph
    sources: dict[int, list[int]] = defaultdict(list)
    for edge in edges:
        if edge.subtype is Subtype.IDENTITY and not edge.masking:
            ends = [
                graph.column(graph.dataset(dataset), column)
                for dataset, column in (
                    (edge.from_dataset, edge.from_column),
                    (edge.to_dataset, edge.to_column),
                )
                if column != ANY_COLUMN
            ]
            if len(ends) == 2:
                sources[ends[1]].append(ends[0])
    found: dict[int, Classification] = {}
    waiting = [
        (level, column)
        for column in labels.columns()
        if (level := labels.classification(column)) is not None and level >= lowest
    ]
    while waiting:
        level, column = waiting.pop()
        for source in sources.get(column, ()):
            own = found.get(source, labels.classification(source))
            declared = labels.declared.get(source)
            if (own is None or own < level) and not (declared and declared.reason):
                found[source] = level
                waiting.append((level, source))
    return [
        DeclaredLabel(
            graph.datasets[graph.dataset_of[column]], graph.column_names[column], level, "copied"
        )
        for column, level in sorted(found.items())
    ]


def hidden_count(hidden: HiddenData, known: Mapping[DatasetId, Collection[str]]) -> tuple[int, int]:
    """The number of columns and of datasets that are left out; columns of hidden datasets apart.

    Args:
        known: Dataset -> its known columns.
    """
    columns = sum(
        hidden.hides(dataset, name)
        for dataset, names in known.items()
        if dataset not in hidden.datasets
        for name in names
    )
    return columns, len(hidden.datasets)
