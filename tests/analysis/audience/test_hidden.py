"""Columns above a label: labelled, computed of them, copied into them, and unknown ones."""

from __future__ import annotations

import pytest

from dbt_graft.analysis.audience.hidden import (
    Audience,
    HiddenData,
    copied_labels,
    hidden_data,
    table_labels,
)
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.privacy.classification import Classification
from dbt_graft.analysis.privacy.labels import DeclaredLabel, PrivacyLabels, privacy_labels
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.records import ColumnEdge, Subtype
from tests import notation
from tests.cases import for_each

PII, PUBLIC = Classification.PII, Classification.PUBLIC


def table(name: str) -> DatasetId:
    return DatasetId("spark", name)


def edge(source: str, target: str, subtype: Subtype = Subtype.IDENTITY) -> ColumnEdge:
    return notation.edge(f"spark/{target} < spark/{source} {subtype}", "t")


# files -> raw -> stage -> mart -> mail, the last without known columns.
EDGES = [
    edge("files.mail", "raw.mail"),
    edge("files.id", "raw.id"),
    edge("raw.mail", "stage.domain", Subtype.TRANSFORMATION),
    edge("raw.id", "stage.id"),
    edge("raw.mail", "stage.id", Subtype.FILTER),
    edge("stage.domain", "mart.n", Subtype.AGGREGATION),
]
FLOWS = [
    Flow(table(a), table(b), "t")
    for a, b in (("files", "raw"), ("raw", "stage"), ("stage", "mart"), ("mart", "mail"))
]


def labels(*more: DeclaredLabel) -> PrivacyLabels:
    declared = [DeclaredLabel(table("raw"), "mail", PII, "dbt"), *more]
    return privacy_labels(ImpactGraph(EDGES, FLOWS), declared, sensitive=PII)


COLUMNS = {
    table("files"): {"mail", "id"},
    table("raw"): {"mail", "id"},
    table("stage"): {"domain", "id"},
    table("mart"): {"n"},
    table("mail"): set(),
    table("pay"): {"amount"},
}


def hidden(
    *more: DeclaredLabel,
    sees: Classification = PUBLIC,
    tables: dict[str, Classification] | None = None,
    shows_unlabelled: bool = True,
) -> HiddenData:
    copies: list[DeclaredLabel] = []
    datasets = {table("pay"): Classification.SECRET}
    datasets |= {table(name): level for name, level in (tables or {}).items()}
    spread = labels(*more)
    while copied := copied_labels(spread, EDGES, PII):
        copies += copied
        spread = labels(*more, *copies)
    spread = labels(*more, *copies, *table_labels(spread, datasets, COLUMNS))
    return hidden_data(spread, datasets, Audience(sees, shows_unlabelled), COLUMNS)


@for_each(
    "name, expected",
    [
        ("raw.mail", True),
        ("raw.MAIL", True),
        ("raw.id", False),
        ("stage.domain", True),
        ("stage.id", False),
        ("mart.n", True),
        # Copied, as it is, into a column with a label.
        ("files.mail", True),
        ("files.id", False),
        # Nobody knows which columns it has.
        ("mail.anything", True),
        ("pay.anything", True),
        ("raw.*", False),
        ("pay.*", True),
    ],
)
def test_a_column_is_hidden(name: str, *, expected: bool) -> None:
    dataset, _, column = name.partition(".")
    assert hidden().hides(table(dataset), column) is expected


def test_a_lower_label_with_a_reason_opens_what_follows() -> None:
    data = hidden(DeclaredLabel(table("stage"), "domain", PUBLIC, "graft.yml", "no person"))
    assert not data.hides(table("mart"), "n")
    assert data.hides(table("raw"), "mail")


def test_who_may_see_more_sees_more() -> None:
    data = hidden(sees=PII)
    assert not data.hides(table("raw"), "mail")
    assert data.datasets == {table("pay")}


def test_values_of_a_labelled_table_stay_hidden_where_they_flow() -> None:
    data = hidden(tables={"raw": Classification.SECRET}, sees=PII)
    assert table("raw") in data.datasets
    assert table("stage") not in data.datasets
    assert data.hides(table("stage"), "id")
    assert data.hides(table("mart"), "n")
    # What a table was made of is not hidden because the table is.
    assert not data.hides(table("files"), "id")


def test_a_column_of_a_labelled_table_is_lower_only_for_a_reason() -> None:
    lower = DeclaredLabel(table("stage"), "id", PUBLIC, "dbt")
    tables = {"stage": Classification.INTERNAL}
    assert hidden(lower, tables=tables).hides(table("stage"), "id")
    reason = DeclaredLabel(table("stage"), "id", PUBLIC, "graft.yml", "a number")
    assert table("stage") in hidden(reason, tables=tables).datasets


@for_each(
    "name, expected",
    [
        ("stage.id", False),
        # Its value is a hidden one's, whatever its table is called.
        ("stage.domain", True),
        # All columns have the label of their table, also those that nobody knows yet.
        ("stage.unknown", False),
        # Nobody labels them.
        ("raw.id", True),
        ("raw.*", True),
        ("files.id", True),
        ("mart.*", True),
    ],
)
def test_where_unlabelled_data_is_hidden_only_labels_show_it(name: str, *, expected: bool) -> None:
    data = hidden(tables={"stage": PUBLIC}, shows_unlabelled=False)
    dataset, _, column = name.partition(".")
    assert data.hides(table(dataset), column) is expected


@for_each(
    "name, shows_unlabelled, expected",
    [
        ("pay", True, True),
        ("mail", True, True),
        ("raw", True, False),
        # Its own label is that of all its columns.
        ("stage", False, False),
        # It is visible by the label of one column.
        ("mart", False, True),
        ("files", False, True),
    ],
)
def test_code_may_name_hidden_columns_that_nobody_knows(
    name: str, *, shows_unlabelled: bool, expected: bool
) -> None:
    column = DeclaredLabel(table("mart"), "k", PUBLIC, "dbt")
    data = hidden(column, tables={"stage": PUBLIC}, shows_unlabelled=shows_unlabelled)
    assert data.has_unknown([table(name)]) is expected


def test_a_label_that_follows_from_others_shows_nothing() -> None:
    """A table of public values may have others, too."""
    data = hidden(tables={"raw": PUBLIC}, shows_unlabelled=False)
    assert not data.hides(table("raw"), "id")
    assert data.hides(table("stage"), "id")
    assert table("stage") in data.datasets


def test_who_sees_all_sees_what_is_behind_unknown_columns() -> None:
    data = hidden(sees=Classification.SECRET)
    assert data == HiddenData(columns={}, closed={})


@pytest.mark.parametrize(
    ("column", "is_hidden"),
    [("address", True), ("Address.City", True), ("address.geo.lat", True), ("addresses.x", False)],
)
def test_a_field_of_a_hidden_struct_is_hidden(column: str, *, is_hidden: bool) -> None:
    dataset = DatasetId("spark", "raw.people")
    hidden = HiddenData(columns={dataset: frozenset({"address"})})
    assert hidden.hides(dataset, column) is is_hidden
