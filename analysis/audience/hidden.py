"""The columns and datasets that an audience may not see.

Labels are those of the complete lineage: a column that follows from a hidden one is hidden too, and
so is one that is copied into it, and one that values of a hidden table flow into. Of a dataset
behind a flow without known columns nobody can say which columns have hidden values: all are hidden
but those that somebody labels lower.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field

from dbt_graft.analysis.privacy.classification import Classification, classification
from dbt_graft.analysis.privacy.labels import DeclaredLabel, PrivacyLabels
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.graphs.struct_edges import structs
from dbt_graft.lineage.records import ANY_COLUMN, ColumnEdge, Subtype

# The source of a column's label that is its table's.
TABLE = "table"


@frozen
class Audience:
    """Readers, by what they may see.

    Attributes:
        sees: The highest classification that they may see.
        shows_unlabelled: They see what nobody classified, unless it follows from hidden data.
        classify: The classification that a label stands for; None where nobody says it.
    """

    sees: Classification
    shows_unlabelled: bool = True
    classify: Callable[[str], Classification | None] = classification

    @property
    def sees_all(self) -> bool:
        """Whether no classification is above what they may see."""
        return self.sees is max(Classification)

    def highest_of(self, labels: Iterable[str]) -> Classification | None:
        """The highest classification that labels stand for; None for none."""
        levels = [level for label in labels if (level := self.classify(label)) is not None]
        return max(levels, default=None)


@frozen
class HiddenData:
    """The columns and datasets that an audience may not see.

    Attributes:
        datasets: Datasets that are hidden with their names.
        columns: Dataset -> hidden columns, in lower case.
        closed: Dataset of which all columns are hidden, also those that nobody knows -> those that
            are not, in lower case.
    """

    datasets: frozenset[DatasetId] = frozenset()
    columns: Mapping[DatasetId, frozenset[str]] = field(default_factory=dict)
    closed: Mapping[DatasetId, frozenset[str]] = field(default_factory=dict)

    def hides(self, dataset: DatasetId, column: str) -> bool:
        """Whether a column is hidden, or the struct of which it is a field.

        `*` names none, and is where its dataset is.
        """
        if dataset in self.datasets:
            return True
        if column == ANY_COLUMN:
            return False
        folded, hidden = column.casefold(), self.columns.get(dataset, ())
        if folded in hidden or any(structs(folded, hidden)):
            return True
        return dataset in self.closed and folded not in self.closed[dataset]

    def has_unknown(self, datasets: Iterable[DatasetId]) -> bool:
        """Whether code about datasets may name hidden columns that nobody knows."""
        return any(dataset in self.datasets or dataset in self.closed for dataset in datasets)


def hidden_data(
    labels: PrivacyLabels,
    datasets: Mapping[DatasetId, Classification],
    audience: Audience,
    columns: Mapping[DatasetId, Collection[str]],
) -> HiddenData:
    """The data that an audience may not see.

    Where unlabelled data is hidden, a label that follows from others shows nothing: a column is
    visible because somebody labelled it or its table.

    Args:
        labels: With unknown datasets behind flows of all that is hidden.
        datasets: The classifications of datasets themselves.
        columns: Each dataset that anything names -> its known columns.
    """
    above = _columns_above(labels, audience)
    declared = _declared_visible(labels.declared.values(), audience)
    explicit = _declared_visible(
        (label for label in labels.declared.values() if label.source != TABLE), audience
    )
    unknown = () if audience.sees_all else labels.unknown
    closed = {dataset: explicit[dataset] - above[dataset] for dataset in unknown}
    hidden = {dataset for dataset, level in datasets.items() if level > audience.sees}
    if not audience.shows_unlabelled:
        unlabelled = columns.keys() - datasets.keys()
        for dataset in unlabelled:
            closed.setdefault(dataset, declared[dataset] - above[dataset])
        hidden |= {dataset for dataset in unlabelled if not closed[dataset]}
    return HiddenData(
        frozenset(hidden),
        {dataset: frozenset(names) for dataset, names in above.items() if names},
        {dataset: frozenset(names) for dataset, names in closed.items()},
    )


def _columns_above(labels: PrivacyLabels, audience: Audience) -> defaultdict[DatasetId, set[str]]:
    graph = labels.graph
    above: defaultdict[DatasetId, set[str]] = defaultdict(set)
    for column in labels.columns():
        level = labels.classification(column)
        if level is not None and level > audience.sees:
            dataset = graph.datasets[graph.dataset_of[column]]
            above[dataset].add(graph.column_names[column].casefold())
    return above


def _declared_visible(
    labels: Iterable[DeclaredLabel], audience: Audience
) -> defaultdict[DatasetId, set[str]]:
    visible: defaultdict[DatasetId, set[str]] = defaultdict(set)
    for label in labels:
        if label.classification <= audience.sees:
            visible[label.dataset].add(label.column.casefold())
    return visible


def table_labels(
    labels: PrivacyLabels,
    datasets: Mapping[DatasetId, Classification],
    columns: Mapping[DatasetId, Collection[str]],
) -> Iterator[DeclaredLabel]:
    """The labels that columns have from their tables: at least the table's own.

    A lower label of a column counts where it has a reason.

    Args:
        labels: Those of columns.
        datasets: The classifications of datasets themselves.
    """
    graph = labels.graph
    for dataset, level in datasets.items():
        number = graph.find_dataset(dataset)
        for name in columns.get(dataset, ()):
            column = None if number is None else graph.find_column(number, name)
            declared = None if column is None else labels.declared.get(column)
            if not (declared and declared.reason):
                yield DeclaredLabel(dataset, name, level, TABLE)


def copied_labels(
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
    raised: dict[int, Classification] = {}
    waiting = [
        (level, column)
        for column in labels.columns()
        if (level := labels.classification(column)) is not None and level >= lowest
    ]
    while waiting:
        level, column = waiting.pop()
        for source in sources.get(column, ()):
            present = raised.get(source, labels.classification(source))
            declared = labels.declared.get(source)
            if (present is None or present < level) and not (declared and declared.reason):
                raised[source] = level
                waiting.append((level, source))
    return [
        DeclaredLabel(
            graph.datasets[graph.dataset_of[column]], graph.column_names[column], level, "copied"
        )
        for column, level in sorted(raised.items())
    ]
