"""Two versions of a data contract."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.analysis.checks.contracts import (
    ColumnPromise,
    ContractColumn,
    ContractTable,
    DataContract,
)
from dbt_graft.analysis.review.contracts import contract_reviews
from dbt_graft.lineage.dataset import DatasetId
from tests.cases import for_each

ORDERS = DatasetId("spark", "mart.orders")
REQUIRED = ColumnPromise(type="integer", required=True)
COLUMNS = (ContractColumn("id", promise=REQUIRED), ContractColumn("note"))
TABLE = ContractTable(("mart.orders", "orders"), COLUMNS, "26h", "08:00")
CONTRACT = DataContract("c1", "Orders", "orders.yaml", "1.0", tables=(TABLE,))


def said(before: DataContract | None, after: DataContract | None) -> list[str]:
    both = ([one] if one else [] for one in (before, after))
    reviews = contract_reviews(*both, {("c1", "orders"): [ORDERS]})
    return [
        " ".join(filter(None, [change.verdict.name, change.column, change.text]))
        for review in reviews
        for change in review.changes
    ]


def table(**changes: object) -> DataContract:
    return replace(CONTRACT, tables=(replace(TABLE, **changes),))


@for_each(
    "after, expected",
    [
        (CONTRACT, []),
        (None, ["BREAKING the contract is removed, or has ended"]),
        (replace(CONTRACT, tables=()), ["BREAKING no longer promises orders"]),
        (replace(CONTRACT, version="2"), ["METADATA its version, owner, purpose or tags"]),
        (table(columns=COLUMNS[:1]), ["BREAKING note no longer promised"]),
        (table(columns=(*COLUMNS, ContractColumn("new"))), ["ADDITIVE new added"]),
        (
            table(columns=(*COLUMNS, ContractColumn("new", promise=REQUIRED))),
            ["BREAKING new added, and required"],
        ),
        (
            table(columns=(ContractColumn("ID"), COLUMNS[1])),
            ["BREAKING id may be null now"],
        ),
        (table(freshness_slo="P2D"), ["BREAKING freshness P2D, no longer 26h"]),
        (table(freshness_slo="1h"), ["ADDITIVE freshness 1h, no longer 26h"]),
        (table(freshness_slo="1d 2h or so"), ["UNKNOWN freshness 1d 2h or so, no longer 26h"]),
        (table(freshness_slo=""), ["BREAKING no longer promises a freshness: 26h"]),
        (table(freshness_slo="PT26H"), []),
        (table(deadline="09:00"), ["BREAKING deadline 09:00, no longer 08:00"]),
        (table(deadline="09:00+02:00"), ["ADDITIVE deadline 09:00+02:00, no longer 08:00"]),
    ],
)
def test_what_is_promised_otherwise(after: DataContract | None, expected: list[str]) -> None:
    assert said(CONTRACT, after) == expected


def test_a_new_contract_is_additive() -> None:
    assert said(None, CONTRACT) == ["ADDITIVE new contract"]


def test_changes_are_about_the_dataset_that_the_table_means() -> None:
    (review,) = contract_reviews(
        [CONTRACT], [table(columns=COLUMNS[:1])], {("c1", "orders"): [ORDERS]}
    )
    assert [change.datasets for change in review.changes] == [(ORDERS,)]
    assert (review.node_id, review.file) == ("contract:Orders", "orders.yaml")
