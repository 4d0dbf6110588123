"""Columns above a label: labelled, computed of them, copied into them, and unknown ones."""

from __future__ import annotations

import pytest

from dbt_graft.lineage.audience.hidden import HiddenData, copied_into, hidden_data
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.impact.graph import ImpactGraph
from dbt_graft.lineage.privacy.classification import Classification
from dbt_graft.lineage.privacy.labels import DeclaredLabel, PrivacyLabels, privacy_labels
from dbt_graft.lineage.records import ColumnEdge, Subtype

PII, PUBLIC = Classification.PII, Classification.PUBLIC


def table(name: str) -> DatasetId:
    return DatasetId("spark", name)


def edge(source: str, target: str, subtype: Subtype = Subtype.IDENTITY) -> ColumnEdge:
    (before, from_column), (after, to_column) = source.split("."), target.split(".")
    return ColumnEdge(
        *("t", table(after), to_column, table(before), from_column),
        *(subtype.type, subtype),
        masking=False,
        shape_id="",
    )


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


def hidden(*more: DeclaredLabel, highest: Classification = PUBLIC) -> HiddenData:
    found: list[DeclaredLabel] = []
    known = labels(*more)
    while copied := copied_into(known, EDGES, PII):
        found += copied
        known = labels(*more, *found)
    return hidden_data(known, {table("pay"): Classification.SECRET}, highest)


@pytest.mark.parametrize(
    ("name", "expected"),
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
    found = hidden(DeclaredLabel(table("stage"), "domain", PUBLIC, "graft.yml", "no person"))
    assert not found.hides(table("mart"), "n")
    assert found.hides(table("raw"), "mail")


def test_who_may_see_more_sees_more() -> None:
    found = hidden(highest=PII)
    assert not found.hides(table("raw"), "mail")
    assert found.datasets == {table("pay")}
