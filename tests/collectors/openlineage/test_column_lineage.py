"""Column lineage of events: the facets `columnLineage` and `lineage`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from dbt_graft.lineage.building.as_of import as_of
from dbt_graft.lineage.building.build import build
from tests.cases import for_each
from tests.collectors.openlineage.events import (
    FLOW,
    IN,
    OUT,
    Document,
    change,
    column,
    columns,
    dataset,
    event,
    flows,
    lineage,
    records_in,
)

DIRECT = {"type": "DIRECT", "subtype": "IDENTITY", "masking": False}


COLUMNS: dict[str, tuple[Document, list[str]]] = {
    "types and subtypes": (
        {
            "fields": {
                "id": {"inputFields": [column(IN, "OrderId", DIRECT)]},
                "total": {
                    "inputFields": [
                        column(IN, "Amount", {"type": "DIRECT", "subtype": "AGGREGATION"}),
                        column(IN, "Kind", {"type": "INDIRECT", "subtype": "CONDITIONAL"}),
                    ]
                },
            },
            "dataset": [column(IN, "Day", {"type": "INDIRECT", "subtype": "FILTER"})],
        },
        [
            "raw.orders.* <- Shop.dbo.Orders.Day FILTER",
            "raw.orders.id <- Shop.dbo.Orders.OrderId IDENTITY",
            "raw.orders.total <- Shop.dbo.Orders.Amount AGGREGATION",
            "raw.orders.total <- Shop.dbo.Orders.Kind CONDITIONAL",
        ],
    ),
    "masking": (
        {"fields": {"h": {"inputFields": [column(IN, "Mail", {**DIRECT, "masking": True})]}}},
        ["raw.orders.h <- Shop.dbo.Orders.Mail IDENTITY masked"],
    ),
    "without transformations less is claimed": (
        {"fields": {"id": {"inputFields": [{**column(IN, "Id"), "transformations": []}]}}},
        ["raw.orders.id <- Shop.dbo.Orders.Id TRANSFORMATION"],
    ),
    "version 1-0, as it is": (
        {"fields": {"id": {"inputFields": [column(IN, "Id")], "transformationType": "IDENTITY"}}},
        ["raw.orders.id <- Shop.dbo.Orders.Id IDENTITY"],
    ),
    "version 1-0, masked": (
        {"fields": {"id": {"inputFields": [column(IN, "Id")], "transformationType": "MASKED"}}},
        ["raw.orders.id <- Shop.dbo.Orders.Id TRANSFORMATION masked"],
    ),
    "subtypes that nobody knows": (
        {
            "fields": {
                "a": {"inputFields": [column(IN, "A", {"type": "DIRECT", "subtype": "MAGIC"})]},
                "b": {"inputFields": [column(IN, "B", {"type": "INDIRECT"})]},
                "c": {"inputFields": [column(IN, "C", {"type": "DIRECT", "subtype": "FILTER"})]},
            }
        },
        [
            "raw.orders.a <- Shop.dbo.Orders.A TRANSFORMATION",
            "raw.orders.b <- Shop.dbo.Orders.B CONDITIONAL",
            "raw.orders.c <- Shop.dbo.Orders.C TRANSFORMATION",
        ],
    ),
    "what is not as the schema has it is left out": (
        {
            "fields": {
                "a": {"inputFields": [{"name": "x"}, 7, None]},
                "b": [],
                "c": {"inputFields": "no"},
                "d": {"inputFields": [column(IN, "D", DIRECT)]},
            },
            "dataset": {"no": 1},
        },
        ["raw.orders.d <- Shop.dbo.Orders.D IDENTITY"],
    ),
}


@for_each("claim", COLUMNS)
def test_column_lineage(claim: str, tmp_path: Path) -> None:
    facet, expected = COLUMNS[claim]
    found = lineage(
        tmp_path, [event(inputs=[IN], outputs=[dataset(OUT, {"columnLineage": facet})])]
    )
    assert columns(found) == expected


def test_what_an_event_explains_has_no_columns_of_one_that_does_not(tmp_path: Path) -> None:
    facets = {"columnLineage": {"fields": {"id": {"inputFields": [column(IN, "Id")]}}}}
    source = {"type": "DATASET", "namespace": "spark", "name": "raw.a", "field": "id"}
    fields = {"id": {"inputs": [source]}}
    entry = {"type": "DATASET", "namespace": "spark", "name": "raw.orders", "fields": fields}
    joined = lineage(
        tmp_path,
        [
            event("START", inputs=[IN, "spark raw.a"], outputs=[dataset(OUT, facets)]),
            event(job_facets={"lineage": {"entries": [entry]}}, at="2026-11-22T08:01:00Z"),
        ],
    )
    assert flows(joined) == ["load_orders: spark/raw.a -> spark/raw.orders"]
    assert columns(joined) == ["raw.orders.id <- raw.a.id TRANSFORMATION"]


@for_each("state", ["ALTER", "DROP", "TRUNCATE"])
def test_a_column_of_what_gets_no_data_comes_from_none(state: str, tmp_path: Path) -> None:
    facets = {"columnLineage": {"fields": {"id": {"inputFields": [column(IN, "Id")]}}}}
    changed = dataset(OUT, {**facets, **change(state)})
    assert columns(lineage(tmp_path, [event(inputs=[IN], outputs=[changed])])) == []


def test_the_facet_lineage_has_columns_too(tmp_path: Path) -> None:
    orders = {"type": "DATASET", "namespace": "mssql://crm:1433", "name": "Shop.dbo.Orders"}
    entry = {
        "type": "DATASET",
        "namespace": "spark",
        "name": "raw.orders",
        "inputs": [
            {
                **orders,
                "field": "Day",
                "transformations": [{"type": "INDIRECT", "subtype": "FILTER"}],
            }
        ],
        "fields": {"id": {"inputs": [{**orders, "field": "Id", "transformations": [DIRECT]}]}},
    }
    found = lineage(tmp_path, [event("", job_facets={"lineage": {"entries": [entry]}})])
    assert flows(found) == [f"{FLOW} (declared)"]
    assert columns(found) == [
        "raw.orders.* <- Shop.dbo.Orders.Day FILTER",
        "raw.orders.id <- Shop.dbo.Orders.Id IDENTITY",
    ]


def test_a_past_day_has_the_columns_of_then(tmp_path: Path) -> None:
    def run(day: int, name: str) -> list[Document]:
        source = {"inputFields": [column("spark raw.a", name)]}
        output = dataset("spark raw.b", {"columnLineage": {"fields": {"amount": source}}})
        at = f"2026-11-{day}T08:0"
        return [
            event(
                "START", run=day, at=f"{at}0:00Z", inputs=["spark raw.a"], outputs=["spark raw.b"]
            ),
            event(run=day, at=f"{at}1:00Z", inputs=["spark raw.a"], outputs=[output]),
        ]

    first, second = run(20, "price"), run(22, "net")
    price, net = (f"raw.b.amount <- raw.a.{name} TRANSFORMATION" for name in ("price", "net"))
    # In whatever logs, also where one has the start of a run and another its end.
    for files in ([first + second], [second, first], [first[:1], second, first[1:]]):
        records = records_in(tmp_path, *files)
        then = build(as_of(records, datetime(2026, 11, 21, tzinfo=UTC)))
        assert (columns(then), columns(build(records))) == ([price], [net, price])
        assert {usage.statements for usage in then.tasks["load_orders"].usages} == {1}
