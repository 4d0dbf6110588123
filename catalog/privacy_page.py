"""The page of sensitive columns: where the values came from, and on which way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.privacy.labels import LabelStep, PrivacyLabels, UnmappedFlow
from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import Page
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen

PATH = "privacy/"


@frozen
class SensitiveColumn:
    """A sensitive column.

    Attributes:
        classification: `pii`, `restricted_pii`…
        source: Who labelled it; empty where the label came with the values.
        path: The way of the label, from the labelled column on; that alone where it is this one.
        others: More labelled columns whose values flow into it.
    """

    dataset: DatasetId
    name: str
    classification: str
    source: str
    path: Sequence[LabelStep]
    others: Sequence[tuple[DatasetId, str]] = ()

    @property
    def masked(self) -> str:
        """The operations that hid the values on the way: `hashed`; empty where none did."""
        words = dict.fromkeys(step.masked_by.word for step in self.path if step.masking)
        return ", ".join(words)


@frozen(kw_only=True)
class PrivacyPage(Page):
    """The context of `privacy.html.j2`.

    Attributes:
        columns: By the column that their label began at: that one, then those below it.
        unmapped: Flows from sensitive datasets of which no column is known.
    """

    template: ClassVar[str] = "privacy"

    index: Index
    columns: Mapping[tuple[DatasetId, str], Sequence[SensitiveColumn]]
    unmapped: Sequence[UnmappedFlow]


def privacy_page(index: Index) -> PrivacyPage | None:
    """The page; None where nobody labels any column."""
    labels = index.privacy
    if labels is None:
        return None
    columns_by_origin: dict[tuple[DatasetId, str], list[SensitiveColumn]] = {}
    for column in sorted(sensitive_columns(labels, index.sensitive), key=_order):
        first = column.path[0]
        columns_by_origin.setdefault((first.dataset, first.column), []).append(column)
    return PrivacyPage(
        path=PATH,
        title="Sensitive columns",
        index=index,
        columns=columns_by_origin,
        unmapped=labels.unmapped,
    )


def sensitive_columns(
    labels: PrivacyLabels, sensitive: Classification
) -> Iterator[SensitiveColumn]:
    """All columns of this classification or a higher one."""
    graph = labels.graph
    for column in labels.columns():
        level = labels.classification(column)
        if level is not None and level >= sensitive:
            declared, path = labels.declared.get(column), labels.path(column)
            origins = _origins(labels, column)
            yield SensitiveColumn(
                graph.datasets[graph.dataset_of[column]],
                graph.column_names[column],
                level.text,
                declared.source if declared else "",
                path,
                [origin for origin in origins if origin != (path[0].dataset, path[0].column)],
            )


def derived_labels(index: Index, dataset: DatasetId) -> dict[str, str]:
    """Column name, folded -> the label that came with its values, and where from, in words."""
    labels = index.privacy
    dataset_number = labels.graph.find_dataset(dataset) if labels else None
    if labels is None or dataset_number is None:
        return {}
    labels_by_column: dict[str, str] = {}
    for name in labels.graph.columns(dataset_number):
        number = labels.graph.find_column(dataset_number, name)
        level = None if number is None else labels.classification(number)
        if number is None or level is None or level < index.sensitive:
            continue
        if number not in labels.declared:
            first = labels.path(number)[0]
            names = [f"{origin.short}.{column}" for origin, column in _origins(labels, number)]
            begin = join_names(names or [f"{first.dataset.short}.{first.column}"])
            labels_by_column[name.casefold()] = f"{level.text} from {begin}"
    return labels_by_column


def _origins(labels: PrivacyLabels, column: int) -> list[tuple[DatasetId, str]]:
    """All labelled columns whose values flow into a column."""
    graph = labels.graph
    return [
        (graph.datasets[graph.dataset_of[origin]], graph.column_names[origin])
        for origin in labels.origins(column)
    ]


def _order(column: SensitiveColumn) -> tuple[DatasetId, str, int, DatasetId, str]:
    first = column.path[0]
    return first.dataset, first.column, len(column.path), column.dataset, column.name
