"""Facets of datasets: schema, symlinks, changes, names; models of dbt."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import Dataset
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
    node_results,
    parent,
    records,
    records_in,
    results_of,
    written,
)


def test_schema_symlinks_and_kinds_of_datasets(tmp_path: Path) -> None:
    facets = {
        "schema": {
            "fields": [
                {"name": "id", "type": "bigint"},
                {"name": "address", "type": "struct", "fields": [{"name": "city"}]},
                {"type": "no name"},
            ]
        },
        "datasetType": {"datasetType": "VIEW"},
    }
    found = lineage(tmp_path, [event(inputs=["kafka://k:9092 t"], outputs=[dataset(OUT, facets)])])
    view, topic = (found.datasets[DatasetId(*one.split())] for one in (OUT, "kafka://k:9092 t"))
    assert [(one.name, one.type) for one in view.columns] == [
        ("id", "bigint"),
        ("address", "struct"),
    ]
    assert (view.kind, topic.kind) == (Kind.VIEW, Kind.TOPIC)


@for_each("path", ["s3a://lake raw/orders", "gs://lake orders"])
def test_an_engines_log_names_the_table_of_a_path(path: str, tmp_path: Path) -> None:
    symlinks = {
        "symlinks": {
            "identifiers": [{"namespace": "hive://m:9083", "name": "raw.orders", "type": "TABLE"}]
        }
    }
    found = records_in(tmp_path, [event(inputs=[IN], outputs=[dataset(path, symlinks)])])
    alone = "load_orders: mssql://crm:1433/Shop.dbo.Orders -> hive://m:9083/raw.orders"
    assert flows(build(found)) == [alone]
    folder = DatasetId(*path.replace("s3a", "s3").split())
    table = build(found).datasets[DatasetId("hive://m:9083", "raw.orders")]
    assert (table.kind, table.symlinks) == (Kind.TABLE, (folder,))
    logged = Dataset(DatasetId("spark", "raw.orders"), symlinks=(folder,))
    assert flows(build(replace(found, datasets=(*found.datasets, logged)))) == [FLOW]


def _placed(table: str, place: str) -> Dataset:
    return Dataset(DatasetId(*table.split()), symlinks=(DatasetId(*place.split()),))


@for_each(
    "logged, expected",
    [
        # Hive's events name the place of a table, openlineage-spark's the table of a place.
        ([], ["a/x -> hive://m:9083/raw.t", "hive://m:9083/raw.t -> b/y"]),
        ([_placed("spark raw.t", "file /wh/t")], ["a/x -> spark/raw.t", "spark/raw.t -> b/y"]),
        (
            [_placed("spark raw.t", "file /wh/t"), _placed("spark lake.raw.t", "file /wh/t")],
            ["a/x -> spark/lake.raw.t", "spark/lake.raw.t -> b/y"],
        ),
        # Another table at the same place: which one it is, nothing shows.
        (
            [_placed("spark raw.other", "file /wh/t")],
            ["a/x -> hive://m:9083/raw.t", "file/wh/t -> b/y"],
        ),
    ],
)
def test_names_of_one_table_at_one_place_are_one_dataset(
    logged: list[Dataset], expected: list[str], tmp_path: Path
) -> None:
    place = {"namespace": "file", "name": "/wh/t", "type": "LOCATION"}
    table = {"namespace": "hive://m:9083", "name": "raw.t", "type": "TABLE"}
    of_table = dataset("hive://m:9083 raw.t", {"symlinks": {"identifiers": [place]}})
    of_place = dataset("file /wh/t", {"symlinks": {"identifiers": [table]}})
    stored = records_in(
        tmp_path,
        [
            event(run=1, inputs=["a x"], outputs=[of_table]),
            event(run=2, inputs=[of_place], outputs=["b y"]),
        ],
    )
    found = build(replace(stored, datasets=(*stored.datasets, *logged)))
    assert [flow.removeprefix("load_orders: ") for flow in flows(found)] == expected


def _schema(*names: str) -> Document:
    return {"schema": {"fields": [{"name": name, "type": "int"} for name in names]}}


def _day(day: int, facets: Document, side: str) -> Document:
    """An event of a day about the table, which it reads or writes, or only describes."""
    at, document = f"2026-11-{day}T08:00:00Z", dataset(OUT, facets)
    if side == "described":
        return {"eventTime": at, "dataset": document}
    return event(run=day, at=at, **{side: [document]})  # type: ignore[arg-type]


# Schemas of a table in events, day by day -> its columns; whether these are known to be all.
SCHEMAS: dict[str, tuple[list[tuple[Document, str]], str, bool]] = {
    "an output may lack some": (
        [(_schema("id", "mail"), "outputs"), (_schema("id", "tel"), "outputs")],
        "id mail tel",
        False,
    ),
    "as what is read may": (
        [(_schema("id", "mail"), "outputs"), (_schema("id"), "inputs")],
        "id mail",
        False,
    ),
    "an event without a schema says nothing of it": (
        [(_schema("id", "mail"), "described"), ({}, "outputs"), ({}, "described")],
        "id mail",
        True,
    ),
    "a dataset event has all": (
        [(_schema("id", "mail"), "outputs"), (_schema("id"), "described")],
        "id",
        True,
    ),
    "the newest of them": (
        [(_schema("id", "mail"), "described"), (_schema("id", "tel"), "described")],
        "id tel",
        True,
    ),
    "as does a table that is made anew": (
        [(_schema("id", "mail"), "outputs"), (_schema("id") | change("OVERWRITE"), "outputs")],
        "id",
        True,
    ),
    "what is named since comes on top": (
        [
            (_schema("old"), "inputs"),
            (_schema("id") | change("CREATE"), "outputs"),
            (_schema("tel", "id"), "inputs"),
        ],
        "id tel",
        True,
    ),
}


@for_each("days, expected, is_all", SCHEMAS.values(), ids=SCHEMAS)
def test_columns_are_those_of_the_newest_definition_and_of_events_since(
    tmp_path: Path, days: list[tuple[Document, str]], expected: str, *, is_all: bool
) -> None:
    events = [_day(20 + n, *each) for n, each in enumerate(days)]
    for files in (
        [events],
        [events[::-1]],
        [[one] for one in events],
        [[one] for one in events[::-1]],
    ):
        table = lineage(tmp_path, *files).datasets[DatasetId(*OUT.split())]
        assert [column.name for column in table.columns] == expected.split()
        assert table.has_all_columns is is_all


def test_of_a_dataset_event_the_dataset_is_known(tmp_path: Path) -> None:
    schema = {"schema": {"fields": [{"name": "id", "type": "int"}]}}
    of_dataset = {"eventTime": "2026-11-22T08:00:00Z", "dataset": dataset(OUT, schema)}
    [found] = records_in(tmp_path, [of_dataset]).datasets
    assert (str(found.id), [one.name for one in found.columns]) == ("spark/raw.orders", ["id"])


def test_a_dropped_table_is_gone_until_it_is_written_again(tmp_path: Path) -> None:
    drop = event(outputs=[dataset(OUT, change("DROP"))])
    [gone] = records_in(tmp_path, [drop]).datasets
    assert gone.dropped_at == datetime(2026, 11, 22, 8, tzinfo=UTC)
    again = event(run=2, at="2026-11-22T09:00:00Z", outputs=[dataset(OUT, change("CREATE"))])
    for events in ([drop, again], [again, drop]):
        [there] = records_in(tmp_path, events).datasets
        assert there.dropped_at is None


def test_a_table_that_a_catalogue_dropped_is_gone(tmp_path: Path) -> None:
    described = {
        "eventTime": "2026-11-22T09:00:00Z",
        "dataset": dataset(OUT, change("DROP")),
    }
    [gone] = records_in(tmp_path, [event(outputs=[OUT]), described]).datasets
    assert gone.dropped_at == datetime(2026, 11, 22, 9, tzinfo=UTC)


DBT = {"dbt_node": {"unique_id": "model.shop.orders"}, "jobType": {"jobType": "MODEL"}}


def test_models_of_dbt_are_no_tasks(tmp_path: Path) -> None:
    path = written(
        tmp_path / "events.jsonl",
        event("START", "dbt-run-shop", 1, by="dbt"),
        event(
            "COMPLETE",
            "shop.main.shop.orders.build.run",
            2,
            by="dbt",
            inputs=[IN],
            outputs=[
                dataset(
                    OUT,
                    {"columnLineage": {"fields": {"id": {"inputFields": [column(IN, "Id")]}}}},
                )
            ],
            job_facets=DBT,
            run_facets={"dbt_run": {"invocation_id": "i-1"}, **parent(1, "dbt-run-shop")},
        ),
        event(
            "FAIL",
            "dag.orders.run",
            3,
            by="airflow",
            job_facets=DBT,
            run_facets={
                "dbt_run": {"invocation_id": "i-2"},
                "errorMessage": {"message": "DatabaseError: value 'x'"},
            },
        ),
        event(
            "COMPLETE",
            "shop.main.shop.orders.build.test",
            4,
            by="dbt",
            inputs=[OUT],
            job_facets={**DBT, "jobType": {"jobType": "TEST"}},
            run_facets={"dbt_run": {"invocation_id": "i-1"}},
        ),
    )
    results = results_of(path)
    found = build(records(results))
    assert (dict(found.tasks), found.flows, found.column_edges) == ({}, (), ())
    # They are compared with dbt's own SQL.
    assert columns(found) == ["raw.orders.id <- Shop.dbo.Orders.Id TRANSFORMATION"]
    of_nodes = [
        (result.node_id, result.invocation_id, result.word, result.error)
        for result in node_results(results)
    ]
    assert of_nodes == [
        ("model.shop.orders", "i-1", "success", None),
        ("model.shop.orders", "i-2", "error", "DatabaseError"),
    ]


def test_a_name_with_a_password_is_stored_without_it(tmp_path: Path) -> None:
    found = records_in(
        tmp_path,
        [
            event(
                inputs=["postgres://ann:secret@db:5432 shop.public.a"],
                outputs=["https://h/data?token=secret x"],
            )
        ],
    )
    assert "secret" not in str(found)
    assert DatasetId("postgres://db:5432", "shop.public.a") in {a.dataset for a in found.accesses}


def test_a_model_whose_run_lies_in_two_logs_is_no_task(tmp_path: Path) -> None:
    node = {"dbt_node": {"unique_id": "model.shop.orders"}}
    start = event("START", by="dbt", inputs=["spark raw.a"], outputs=[OUT], job_facets=node)
    end = event(at="2026-11-22T08:01:00Z", by="dbt", job_facets=node)
    for files in ([[start, end]], [[start], [end]], [[end], [start]]):
        found = lineage(tmp_path, *files)
        assert (found.tasks, found.flows) == ({}, ())
