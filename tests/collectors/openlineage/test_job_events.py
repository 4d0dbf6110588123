"""JobEvents and DatasetEvents: of what they declare the newest counts, in any order and logs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dbt_graft.lineage.building.as_of import as_of
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.gaps import open_tasks
from tests.cases import for_each
from tests.collectors.openlineage.events import (
    Document,
    column,
    columns,
    dataset,
    event,
    flows,
    lineage,
    records_in,
)

A, B, C, D = (f"spark raw.{name}" for name in "abcd")
A_TO_B, C_TO_D = (
    f"load_orders: spark/raw.{flow} (declared)" for flow in ("a -> spark/raw.b", "c -> spark/raw.d")
)


def declared(day: int, inputs: object = (), outputs: object = (), **more: Any) -> Document:
    """A JobEvent of a day."""
    return event("", at=f"2026-11-{day}T08:00:00Z", inputs=inputs, outputs=outputs, **more)  # type: ignore[arg-type]


def from_column(name: str) -> Document:
    """The table B with a column that comes from one of A."""
    return dataset(B, {"columnLineage": {"fields": {"id": {"inputFields": [column(A, name)]}}}})


def entries(source: str, target: str) -> Document:
    """The facet `lineage`, with one entry."""
    (source_namespace, source_name), (namespace, name) = source.split(), target.split()
    inputs = [{"namespace": source_namespace, "name": source_name, "type": "DATASET"}]
    entry = {"namespace": namespace, "name": name, "type": "DATASET", "inputs": inputs}
    return {"lineage": {"entries": [entry]}}


# Events in the order of their days -> the flows.
FLOWS: dict[str, tuple[list[Document], list[str]]] = {
    "the newest counts": ([declared(20, [A], [B]), declared(21, [C], [D])], [C_TO_D]),
    "whole: what it does not read is not read": (
        [declared(20, [A, C], [B]), declared(21, [A], [B])],
        [A_TO_B],
    ),
    "also where it has inputs or outputs only": (
        [declared(20, [A], [B]), declared(21, [C])],
        [],
    ),
    "one without datasets says nothing of them": (
        [declared(20, [A], [B]), declared(21, job_facets={"ownership": {"owners": []}})],
        [A_TO_B],
    ),
    "other jobs stay": (
        [declared(20, [A], [B]), declared(21, [C], [D], job="shop.other")],
        [A_TO_B, C_TO_D.replace("load_orders", "other")],
    ),
    "as does a job of the same name elsewhere": (
        [declared(20, [A], [B]), declared(21, [C], [D], namespace="other")],
        [A_TO_B, C_TO_D],
    ),
    "what runs did stays": (
        [event(at="2026-11-20T08:00:00Z", inputs=[A], outputs=[B]), declared(21, [C], [D])],
        [A_TO_B.removesuffix(" (declared)"), C_TO_D],
    ),
    "a run does not end what is declared": (
        [declared(20, [A], [B]), event(at="2026-11-21T08:00:00Z", inputs=[C], outputs=[D])],
        [A_TO_B, C_TO_D.removesuffix(" (declared)")],
    ),
    "the facet lineage of the newest counts": (
        [
            declared(20, [A, C], [B, D], job_facets=entries(A, B)),
            declared(21, [A, C], [B, D], job_facets=entries(C, D)),
        ],
        [C_TO_D],
    ),
    "a declaration that comes back counts again": (
        [declared(20, [A], [B]), declared(21, [C], [D]), declared(22, [A], [B])],
        [A_TO_B],
    ),
    "and one that went on until then": (
        [declared(day, [A], [B]) for day in (20, 21, 22, 24)] + [declared(23, [C], [D])],
        [A_TO_B],
    ),
}


@for_each("sequence, expected", FLOWS.values(), ids=FLOWS)
def test_the_newest_job_event_counts(
    tmp_path: Path, sequence: list[Document], expected: list[str]
) -> None:
    last = sequence[-1:]
    for files in ([sequence], [sequence[::-1]], [sequence[:-1], last], [last, sequence[:-1]]):
        assert flows(lineage(tmp_path, *files)) == sorted(expected)


# The column of A that the column of B comes from, by day -> the one that is true.
COLUMNS: dict[str, tuple[list[Document], list[str]]] = {
    "the newest counts": (
        [declared(20, [A], [from_column("id")]), declared(21, [A], [from_column("key")])],
        ["raw.b.id <- raw.a.key TRANSFORMATION"],
    ),
    "with the datasets that they are of": (
        [declared(20, [A], [from_column("id")]), declared(21, [C], [D])],
        [],
    ),
    "one without columns has none": (
        [declared(20, [A], [from_column("id")]), declared(21, [A], [B])],
        [],
    ),
    "columns of runs stay": (
        [
            event(at="2026-11-20T08:00:00Z", inputs=[A], outputs=[from_column("id")]),
            declared(21, [A], [from_column("key")]),
            declared(22, [C], [D]),
        ],
        ["raw.b.id <- raw.a.id TRANSFORMATION"],
    ),
}


@for_each("sequence, expected", COLUMNS.values(), ids=COLUMNS)
def test_columns_are_those_of_the_newest_job_event(
    tmp_path: Path, sequence: list[Document], expected: list[str]
) -> None:
    for files in ([sequence], [sequence[::-1]], [[one] for one in sequence[::-1]]):
        assert columns(lineage(tmp_path, *files)) == expected


def test_a_day_has_what_was_declared_then(tmp_path: Path) -> None:
    records = records_in(
        tmp_path,
        [declared(20, [A], [from_column("id")]), declared(22, [C], [D])],
        [declared(21, [A])],
    )
    found = [
        build(as_of(records, datetime(2026, 11, day, 9, tzinfo=UTC))) for day in (19, 20, 21, 22)
    ]
    assert [flows(each) for each in found] == [[], [A_TO_B], [], [C_TO_D]]
    assert [len(columns(each)) for each in found] == [0, 1, 0, 0]


def test_a_job_in_place_of_a_dataset_is_a_gap_until_the_newest_has_none(tmp_path: Path) -> None:
    facet = entries(A, B)
    facet["lineage"]["entries"][0]["inputs"].append(
        {"namespace": "etl", "name": "x", "type": "JOB"}
    )
    first, second = declared(20, [A], [B], job_facets=facet), declared(21, [A], [B])
    assert [*open_tasks(lineage(tmp_path, [first]))] == ["load_orders"]
    assert open_tasks(lineage(tmp_path, [first], [second])) == {}
    own = entries(A, B)
    identity = {"namespace": "etl", "name": "shop.load_orders", "type": "JOB"}
    own["lineage"]["entries"][0]["fields"] = {"id": {"inputs": [identity, {"type": "JOB"}]}}
    assert open_tasks(lineage(tmp_path, [declared(20, [A], [B], job_facets=own)])) == {}


VIEW: Document = {"datasetType": {"datasetType": "VIEW"}}
SOURCES: Document = {
    "lineage": {
        "inputs": [{"namespace": "spark", "name": "raw.a", "type": "DATASET"}],
        "fields": {"id": {"inputs": [column(A, "id", {"type": "DIRECT", "subtype": "IDENTITY"})]}},
    }
}
GONE: Document = {"lineage": {"_deleted": True}}


def described(day: int, facets: Document, **more: Any) -> Document:
    """A DatasetEvent of a day, about the table B."""
    document = {"eventTime": f"2026-11-{day}T08:00:00Z", "producer": "https://a"}
    return {**document, "dataset": dataset(B, facets), **more}


# DatasetEvents -> the flows and columns of definitions, and reasons of rejects.
DATASETS: dict[str, tuple[list[Document], list[str], list[str], list[str]]] = {
    "a view comes from what its lineage names": (
        [described(20, VIEW | SOURCES)],
        ["spark/raw.b: spark/raw.a -> spark/raw.b (declared)"],
        ["raw.b.id <- raw.a.id IDENTITY"],
        [],
    ),
    "or its columns": (
        [described(20, VIEW | from_column("key")["facets"])],
        ["spark/raw.b: spark/raw.a -> spark/raw.b (declared)"],
        ["raw.b.id <- raw.a.key TRANSFORMATION"],
        [],
    ),
    "of which those of the lineage count": (
        [described(20, VIEW | SOURCES | from_column("key")["facets"])],
        ["spark/raw.b: spark/raw.a -> spark/raw.b (declared)"],
        ["raw.b.id <- raw.a.id IDENTITY"],
        [],
    ),
    "the newest counts": (
        [
            described(20, VIEW | SOURCES),
            described(
                21,
                VIEW
                | {
                    "lineage": {
                        "inputs": [{"namespace": "spark", "name": "raw.c", "type": "DATASET"}]
                    }
                },
            ),
        ],
        ["spark/raw.b: spark/raw.c -> spark/raw.b (declared)"],
        [],
        [],
    ),
    "what is deleted does not": (
        [described(20, VIEW | SOURCES), described(21, VIEW | GONE)],
        [],
        [],
        [],
    ),
    "other facets leave it": (
        [described(20, VIEW | SOURCES), described(21, VIEW)],
        ["spark/raw.b: spark/raw.a -> spark/raw.b (declared)"],
        ["raw.b.id <- raw.a.id IDENTITY"],
        [],
    ),
    "of a table nobody is known to make it": (
        [described(20, SOURCES)],
        [],
        [],
        ["the lineage of a dataset that is no view names no job that makes it"],
    ),
    "as nobody is where only its columns are there": (
        [described(20, from_column("key")["facets"]), described(21, GONE)],
        [],
        [],
        [],
    ),
    "ours have it in JobEvents": (
        [
            described(
                20, VIEW | SOURCES, producer="https://github.com/dbt-graft/dbt-graft/tree/v0.1.0"
            )
        ],
        [],
        [],
        [],
    ),
}


@for_each("sequence, expected, of_columns, rejects", DATASETS.values(), ids=DATASETS)
def test_a_view_is_what_the_newest_dataset_event_says(
    tmp_path: Path,
    sequence: list[Document],
    expected: list[str],
    of_columns: list[str],
    rejects: list[str],
) -> None:
    for files in ([sequence], [sequence[::-1]], [[one] for one in sequence[::-1]]):
        found = lineage(tmp_path, *files)
        assert flows(found) == expected
        assert columns(found) == of_columns
        assert [reject.reason for reject in found.rejects] == rejects
        assert {name: each.dataset.name for name, each in found.definitions.items()} == (
            {"spark/raw.b": "raw.b"} if expected else {}
        ) or sequence[-1]["dataset"]["facets"].get("lineage") == GONE["lineage"]
