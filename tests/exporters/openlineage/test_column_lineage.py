"""Column lineage in OpenLineage's shape, checked against the spec's own schemas."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson

from dbt_graft.exporters.openlineage.events import EventSelection, ExportedKind, events
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Column, Dataset, Evidence
from tests.exporters.openlineage.conformance import complaints
from tests.notation import edge

NOW = datetime(2026, 11, 22, 2, 0, tzinfo=UTC)
MART, A = DatasetId("db", "mart"), DatasetId("db", "a")
LINEAGE = Lineage(
    datasets={MART: Dataset(MART, columns=(Column("Total", "decimal"), Column("day")))},
    column_edges=(
        edge("mart.total < orders.amount AGGREGATION"),
        edge("mart.TOTAL < orders.AMOUNT AGGREGATION!"),
        edge("mart.total < orders.amount AGGREGATION"),
        replace(edge("mart.day < orders.day IDENTITY"), evidence=Evidence.INFERRED),
        edge("mart.* < orders.status FILTER"),
        edge("mart.* < orders.x TRANSFORMATION"),
        edge("mart.day < other.* TRANSFORMATION"),
        edge("a.b < mart.total CONDITIONAL"),
    ),
)


def dataset_events() -> list[Any]:
    selection = EventSelection((ExportedKind.DATASET,), datasets=[MART, A])
    exported = events(LineageSnapshot(LINEAGE, NOW), selection)
    return [orjson.loads(orjson.dumps(event.event)) for event in exported]


def facet() -> Any:
    return dataset_events()[1]["dataset"]["facets"]["columnLineage"]


def test_the_datasets_that_are_asked_for_are_events() -> None:
    assert [event["dataset"]["name"] for event in dataset_events()] == ["a", "mart"]
    assert dataset_events()[0]["eventTime"] == "2026-11-22T02:00:00Z"
    assert dataset_events()[1]["dataset"]["facets"]["schema"]["fields"] == [
        {"name": "Total", "type": "decimal"},
        {"name": "day"},
    ]


def test_a_column_has_each_input_once_with_its_transformations() -> None:
    (total,) = facet()["fields"]["total"]["inputFields"]
    assert (total["namespace"], total["name"], total["field"]) == ("db", "orders", "amount")
    assert [
        (transformation["subtype"], transformation["masking"])
        for transformation in total["transformations"]
    ] == [
        ("AGGREGATION", False),
        ("AGGREGATION", True),
    ]
    (day,) = facet()["fields"]["day"]["inputFields"]
    assert [transformation["description"] for transformation in day["transformations"]] == [
        "inferred from equal names of columns"
    ]


def test_what_decides_on_rows_is_of_the_dataset() -> None:
    (status,) = facet()["dataset"]
    assert (status["field"], status["transformations"][0]["type"]) == ("status", "INDIRECT")
    assert "dataset" not in dataset_events()[0]["dataset"]["facets"]["columnLineage"]


def test_no_column_is_called_star() -> None:
    assert b'"*"' not in orjson.dumps(dataset_events())


def test_events_are_valid_by_the_schemas_of_the_spec() -> None:
    assert [complaints(event) for event in dataset_events()] == [[], []]
