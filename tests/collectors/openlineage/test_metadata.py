"""Metadata of datasets in events of every kind: what is taken, and what is left out."""

from __future__ import annotations

import logging
import random
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dbt_graft.collectors.openlineage.facets import USED
from dbt_graft.lineage.building.as_of import as_of
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import ColumnMetadata, DatasetMetadata
from tests.cases import for_each
from tests.collectors.openlineage.events import (
    OUT,
    Document,
    dataset,
    event,
    lineage,
    records_in,
    results_of,
    written,
)
from tests.conftest import ROOT

ORDERS = DatasetId("spark", "raw.orders")
TEXT = "Orders, see https://wiki/x and s3://b/k."
FACETS: Document = {
    "documentation": {"description": "  Orders, see https://ann:pw@wiki/x?token=1 and s3://b/k. "},
    "ownership": {"owners": [{"name": ""}, {"name": "team:sales", "type": "MAINTAINER"}]},
    "tags": {
        "tags": [
            {"key": "gold", "value": "true"},
            {"key": "tier", "value": "1"},
            {"key": "pii", "value": "true", "field": "mail"},
        ]
    },
    "schema": {
        "fields": [
            {"name": "mail", "type": "string", "description": "Address."},
            {"name": "id", "type": "int"},
        ]
    },
}


def dataset_event(facets: Document, at: str = "2026-11-22T08:00:00Z") -> Document:
    return {
        "eventTime": at,
        "producer": "https://a",
        "dataset": dataset("spark raw.orders", facets),
    }


def metadata_of(folder: Path, *events: Document) -> DatasetMetadata | None:
    return lineage(folder, events).dataset_metadata.get(ORDERS)


@pytest.mark.parametrize("kind", ["dataset", "run", "job", "input"])
def test_each_kind_of_event_describes_datasets(tmp_path: Path, kind: str) -> None:
    one = [dataset("spark raw.orders", FACETS)]
    metadata = metadata_of(
        tmp_path,
        {
            "dataset": dataset_event(FACETS),
            "run": event(outputs=one),
            "job": event("", outputs=one),
            "input": event("START", inputs=one),
        }[kind],
    )
    assert metadata is not None
    assert metadata.description == TEXT
    assert (metadata.owner, metadata.tags) == ("team:sales", ("gold", "tier:1"))
    assert metadata.columns == (ColumnMetadata("mail", "Address.", ("pii",)),)


def test_owners_and_tags_lose_their_secrets(tmp_path: Path) -> None:
    secrets = {
        "ownership": {"owners": [{"name": "password=hunter2"}]},
        "tags": {"tags": [{"key": "conn", "value": "password=hunter2"}]},
    }
    found = lineage(tmp_path, [event(outputs=[dataset(OUT, secrets)], job_facets=secrets)])
    assert "hunter2" not in str((found.dataset_metadata, found.tasks))
    assert found.dataset_metadata[ORDERS].tags == ("conn:password=redacted",)


@for_each(
    "facets",
    [
        {},
        {"schema": {"fields": [{"name": "id"}, {"name": "x", "description": ""}, 7]}},
        {"documentation": {"description": ["no text"]}},
        {"documentation": "no facet", "ownership": [], "tags": {"tags": "x"}, "schema": None},
        {"ownership": {"owners": [{"name": None}]}, "tags": {"tags": [{"key": "\x00"}]}},
        {"schema": {"fields": [{"description": "of a column without a name"}]}},
    ],
)
def test_a_facet_that_says_nothing_is_left_out(tmp_path: Path, facets: Document) -> None:
    assert metadata_of(tmp_path, dataset_event(facets)) is None


def test_the_newest_counts_in_any_order_and_any_number_of_files(tmp_path: Path) -> None:
    events = [
        dataset_event({"documentation": {"description": f"{n}."}}, f"2026-11-{n}T08:00:00Z")
        for n in range(10, 20)
    ]
    events.append(dataset_event({"ownership": {"owners": [{"name": "ann"}]}}))
    for seed in range(5):
        random.Random(seed).shuffle(events)  # noqa: S311
        found = build(records_in(tmp_path, events[:4], events[4:], events[2:6]))
        metadata = found.dataset_metadata[ORDERS]
        assert (metadata.description, metadata.owner) == ("19.", "ann")


def deleted(*names: str) -> Document:
    """Facets that are no more."""
    return {name: {"_producer": "https://a", "_deleted": True} for name in names}


COLUMN = ColumnMetadata("mail", "Address.", ("pii",))
# Facets of a table in their order -> what is true in the end: description, owner, tags, columns.
REPLACED: dict[str, tuple[list[Document], tuple[object, ...]]] = {
    "a facet that an event leaves out stays": (
        [FACETS, {}, {"documentation": {"description": "New."}}],
        ("New.", "team:sales", ("gold", "tier:1"), (COLUMN,)),
    ),
    "deleted facets are gone": ([FACETS, deleted(*FACETS)], ("", "", (), ())),
    "each for itself": (
        [FACETS, deleted("ownership", "tags")],
        (TEXT, "", (), (ColumnMetadata("mail", "Address."),)),
    ),
    "a deleted facet does not give way to the one before it": (
        [
            {"ownership": {"owners": [{"name": "ann"}]}},
            {"ownership": {"owners": [{"name": "bob"}]}},
            deleted("ownership"),
        ],
        ("", "", (), ()),
    ),
    "what comes after the deletion counts": (
        [FACETS, deleted(*FACETS), {"ownership": {"owners": [{"name": "ann"}]}}],
        ("", "ann", (), ()),
    ),
    "lists that became empty": (
        [FACETS, {"ownership": {"owners": []}, "tags": {"tags": []}}],
        (TEXT, "", (), (ColumnMetadata("mail", "Address."),)),
    ),
    "facets without their lists": (
        [FACETS, {"ownership": {}, "tags": {"tags": None}}],
        (TEXT, "", (), (ColumnMetadata("mail", "Address."),)),
    ),
    "an empty description says nothing, as those of engines": (
        [FACETS, {"documentation": {"description": " "}}],
        (TEXT, "team:sales", ("gold", "tier:1"), (COLUMN,)),
    ),
    "tags of a table take the place of those of its columns, as all are one facet": (
        [FACETS, {"tags": {"tags": [{"key": "gold", "value": "true"}]}}],
        (TEXT, "team:sales", ("gold",), (ColumnMetadata("mail", "Address."),)),
    ),
    "a schema with other descriptions has no older ones": (
        [
            {"schema": {"fields": [{"name": "a", "description": "A."}]}},
            {"schema": {"fields": [{"name": "a"}, {"name": "b", "description": "B."}]}},
        ],
        ("", "", (), (ColumnMetadata("b", "B."),)),
    ),
    "a schema without any says nothing of them, as those of engines": (
        [
            {"schema": {"fields": [{"name": "a", "description": "A."}]}},
            {"schema": {"fields": [{"name": "a"}]}},
        ],
        ("", "", (), (ColumnMetadata("a", "A."),)),
    ),
    "what is no facet says nothing": (
        [FACETS, {"ownership": [], "tags": {"tags": "x"}, "documentation": None, "schema": {}}],
        (TEXT, "team:sales", ("gold", "tier:1"), (COLUMN,)),
    ),
    "only what is true deletes": (
        [FACETS, {"documentation": {"_deleted": None, "description": "New."}}],
        ("New.", "team:sales", ("gold", "tier:1"), (COLUMN,)),
    ),
}


@for_each("sequence, expected", REPLACED.values(), ids=REPLACED)
def test_a_facet_takes_the_place_of_the_one_before_it(
    tmp_path: Path, sequence: list[Document], expected: tuple[object, ...]
) -> None:
    events = [
        dataset_event(facets, f"2026-11-{20 + n}T08:00:00Z") for n, facets in enumerate(sequence)
    ]
    # In one log, and in one for each event; however they come.
    for files in ([events], [events[::-1]], [[one] for one in events[::-1]]):
        metadata = lineage(tmp_path, *files).dataset_metadata.get(ORDERS)
        found = metadata and (
            *(metadata.description, metadata.owner, metadata.tags, metadata.columns),
        )
        assert (found or ("", "", (), ())) == expected


def test_of_events_at_one_time_in_a_log_the_last_counts(tmp_path: Path) -> None:
    assert metadata_of(tmp_path, dataset_event(FACETS), dataset_event(deleted(*FACETS))) is None


def test_an_earlier_time_has_the_facets_of_then(tmp_path: Path) -> None:
    days = [
        (20, {"ownership": {"owners": [{"name": "ann"}]}}),
        (21, {"ownership": {"owners": [{"name": "bob"}]}}),
        (22, {"ownership": {"owners": [{"name": "bob"}]}}),
        (23, {"ownership": {"owners": [{"name": "bob"}]}}),
        (24, deleted("ownership")),
    ]
    events = [dataset_event(facets, f"2026-11-{day}T08:00:00Z") for day, facets in days]
    for order in (events, events[::-1], [*events[2:], *events[:2]]):
        records = records_in(tmp_path, order)
        assert len(records.dataset_metadata) == 4
        owners = [
            build(as_of(records, datetime(2026, 11, day, 9, tzinfo=UTC))).dataset_metadata.get(
                ORDERS
            )
            for day in range(20, 25)
        ]
        assert [owner and owner.owner for owner in owners] == ["ann", "bob", "bob", "bob", None]


def test_what_another_log_has_in_between_is_over(tmp_path: Path) -> None:
    ann = {"ownership": {"owners": [{"name": "ann"}]}}
    first = [dataset_event(ann, f"2026-11-{day}T08:00:00Z") for day in (20, 21, 23)]
    second = [dataset_event(deleted("ownership"), "2026-11-22T08:00:00Z")]
    for files in ((first, second), (second, first)):
        assert lineage(tmp_path, *files).dataset_metadata[ORDERS].owner == "ann"


# Facets of a job -> description, owner and tags of its task.
JOBS: dict[str, tuple[list[Document], tuple[object, ...]]] = {
    "a facet that an event leaves out stays": (
        [{"documentation": {"description": "Loads."}}, {"tags": {"tags": [{"key": "nightly"}]}}],
        ("Loads.", "", ("nightly",)),
    ),
    "deleted facets and empty lists are gone": (
        [FACETS, deleted("documentation", "ownership") | {"tags": {"tags": []}}],
        ("", "", ()),
    ),
}


@for_each("sequence, expected", JOBS.values(), ids=JOBS)
@pytest.mark.parametrize("state", ["COMPLETE", ""])
def test_a_facet_of_a_job_takes_the_place_of_the_one_before_it(
    tmp_path: Path, state: str, sequence: list[Document], expected: tuple[object, ...]
) -> None:
    events = [
        event(state, run=n, at=f"2026-11-{20 + n}T08:00:00Z", outputs=[OUT], job_facets=facets)
        for n, facets in enumerate(sequence)
    ]
    for files in ([events], [[one] for one in events[::-1]]):
        info = lineage(tmp_path, *files).tasks["load_orders"].info
        assert (info.description, info.owner, info.tags) == expected


def test_an_owner_that_airflow_has_for_want_of_one_takes_the_place_of_another(
    tmp_path: Path,
) -> None:
    events = [
        event(
            *("COMPLETE", "shop.load_orders", n),
            at=f"2026-11-{20 + n}T08:00:00Z",
            by="airflow",
            outputs=[OUT],
            job_facets={"ownership": {"owners": [{"name": owner}]}},
        )
        for n, owner in enumerate(["ann", "airflow"])
    ]
    assert lineage(tmp_path, events).tasks["load_orders"].info.owner == ""


def test_texts_have_an_end(tmp_path: Path) -> None:
    text = "x" * 1_990 + " s3a://KEY:SECRET@bucket " * 50_000
    metadata = metadata_of(tmp_path, dataset_event({"documentation": {"description": text}}))
    assert metadata is not None
    assert metadata.description == "x" * 1_990 + " s3a://buc"


def test_the_origin_is_the_log_also_of_a_model_of_dbt(tmp_path: Path) -> None:
    node = {"dbt_node": {"unique_id": "model.shop.orders"}}
    path = written(
        tmp_path / "events.jsonl",
        event(by="dbt", outputs=[dataset("spark raw.orders", FACETS)], job_facets=node),
    )
    [result] = results_of(path)
    assert {one.origin for one in result.dataset_metadata} == {"events.jsonl"}


def test_the_description_of_a_task_has_no_password(tmp_path: Path) -> None:
    facets = {"documentation": {"description": "Reads (mssql://sa:pw@crm:1433/Shop)."}}
    found = lineage(tmp_path, [event(outputs=["spark raw.b"], job_facets=facets)])
    assert found.tasks["load_orders"].info.description == "Reads (mssql://crm:1433/Shop)."


@pytest.mark.parametrize("first", [True, False])
def test_the_type_of_a_dataset_may_come_with_any_of_its_events(tmp_path: Path, first: bool) -> None:
    typed = dataset_event({"datasetType": {"datasetType": "VIEW"}}, "2026-11-22T09:00:00Z")
    events = [event(inputs=["spark raw.orders"], outputs=["spark raw.b"]), typed]
    found = lineage(tmp_path, events if first else reversed(events))
    assert found.datasets[ORDERS].kind is Kind.VIEW


def test_the_documentation_names_the_facets_that_are_used() -> None:
    table = (ROOT / "docs/logs.md").read_text("utf-8").partition("| facet | of | for |")[2]
    rows = table.partition("\n\n")[0].splitlines()[2:]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])} == USED


def test_facets_that_are_not_used_are_counted_by_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    version = {"version": {"datasetVersion": "7"}, "own_facet": {}, "catalog": {}}
    document = dataset("spark raw.orders", version, subset={"inputCondition": {}})
    path = written(
        tmp_path / "events.jsonl", event(inputs=[document]), event("START", inputs=[document])
    )
    with caplog.at_level(logging.DEBUG, "dbt_graft"):
        results_of(path)
    assert caplog.messages == [
        "events.jsonl: facets that are not used: catalog 2, own_facet 2",
    ]
