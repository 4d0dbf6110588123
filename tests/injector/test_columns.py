"""Columns of grafted nodes: people's words first, then where the values come from."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_graft.injector.columns import columns
from dbt_graft.lineage.dataset import parse_dataset_id
from dbt_graft.lineage.records import Column, ColumnEdge, Subtype

REVENUE = parse_dataset_id("spark/mart.revenue")


def _edge(to: str, source: str, subtype: Subtype, masking: bool = False) -> ColumnEdge:
    dataset, _, column = source.rpartition(".")
    upstream = parse_dataset_id(f"spark/{dataset}")
    return ColumnEdge(
        "load", REVENUE, to, upstream, column, subtype.type, subtype, masking, "shape-1"
    )


CASES: list[tuple[list[ColumnEdge], str]] = [
    ([_edge("amount", "raw.orders.amount", Subtype.IDENTITY)], "From `raw.orders.amount`."),
    (
        [_edge("Amount", "raw.orders.amount", Subtype.AGGREGATION)],
        "From `raw.orders.amount` (aggregation).",
    ),
    (
        [_edge("amount", "raw.users.mail", Subtype.TRANSFORMATION, masking=True)],
        "From `raw.users.mail` (transformation, masked).",
    ),
    (
        [
            _edge("amount", "raw.orders.amount", Subtype.IDENTITY),
            _edge("amount", "raw.orders.Amount", Subtype.IDENTITY),
            _edge("amount", "raw.rates.rate", Subtype.IDENTITY),
            _edge("amount", "raw.orders.status", Subtype.CONDITIONAL),
        ],
        "From `raw.orders.amount`, `raw.rates.rate`. Decided by `raw.orders.status` (conditional).",
    ),
    (
        [_edge("amount", f"raw.t{n:02}.a", Subtype.IDENTITY) for n in range(14)],
        "From " + ", ".join(f"`raw.t{n:02}.a`" for n in range(12)) + " and 2 more.",
    ),
    (
        [_edge("amount", "raw.o`[x](javascript:1)`.a", Subtype.IDENTITY)],
        "From `raw.o'[x](javascript:1)'.a`.",
    ),
    ([_edge("*", "raw.orders.day", Subtype.FILTER)], ""),
]


@pytest.mark.parametrize(("edges", "line"), CASES)
def test_a_column_shows_its_upstream_columns(edges: list[ColumnEdge], line: str) -> None:
    described = {"amount": {"name": "amount", "description": "In euros."}}
    nodes, _ = columns(described, [Column("amount", "int")], edges)

    assert nodes["amount"]["description"] == "\n\n".join(filter(None, ("In euros.", line)))


def test_edges_stand_under_the_columns_own_spelling() -> None:
    edges = [_edge("AMOUNT", "raw.orders.a", Subtype.IDENTITY), _edge("*", "raw.o.d", Subtype.JOIN)]
    _, meta = columns({}, [Column("Amount")], edges)

    assert list(meta) == ["*", "Amount"]
    assert meta["Amount"] == [
        {
            "dataset": "spark/raw.orders",
            "column": "a",
            "type": "DIRECT",
            "subtype": "IDENTITY",
            "masking": False,
            "task": "load",
            "evidence": "observed",
        }
    ]


def test_columns_known_from_edges_alone_are_listed() -> None:
    nodes, _ = columns({}, [], [_edge("amount", "raw.orders.a", Subtype.IDENTITY)])
    assert list(nodes) == ["amount"]
    nodes, _ = columns({}, [Column("id")], [_edge("gone", "raw.orders.a", Subtype.IDENTITY)])
    assert list(nodes) == ["id"]


def test_what_people_wrote_is_not_changed_in_place() -> None:
    described: dict[str, Any] = {"amount": {"name": "amount", "description": "In euros."}}
    columns(described, [], [_edge("amount", "raw.orders.a", Subtype.IDENTITY)])
    assert described == {"amount": {"name": "amount", "description": "In euros."}}
