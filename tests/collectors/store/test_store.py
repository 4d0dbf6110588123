"""The lineage store: batches, and what readers see of them."""

from __future__ import annotations

import dataclasses
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import Row

from dbt_graft.collectors.schema import column_names
from dbt_graft.collectors.store.arrow_tables import tables as arrow_tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.collectors.store.positions import positions
from dbt_graft.collectors.store.read import last_event_times, read
from dbt_graft.collectors.store.tables import SCHEMAS, TABLES, Collected
from dbt_graft.lineage import records
from dbt_graft.lineage.dataset import DatasetId, Kind
from tests.cases import for_each
from tests.notation import access, edge

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOW = datetime(2026, 11, 1, 12, 30, 15, 123456, tzinfo=UTC)


@for_each(
    "table, record",
    [
        ("accesses", records.Access),
        ("runs", records.Run),
        ("shapes", records.Shape),
        ("datasets", records.Dataset),
        ("column_edges", records.ColumnEdge),
        ("rejects", records.Reject),
    ],
)
def test_a_table_has_the_columns_of_its_record(table: str, record: type[Any]) -> None:
    columns = set(column_names(TABLES[table]))
    stored = (f for f in dataclasses.fields(record) if f.metadata.get("stored", True))
    fields = {field.name for field in stored}
    for place in ("dataset", "id"):
        if place in fields:
            fields = fields - {place} | {"namespace", "name"}
    for end in ("to", "from"):
        if f"{end}_dataset" in fields:
            fields = fields - {f"{end}_dataset"} | {f"{end}_namespace", f"{end}_name"}
    assert columns - {"origin"} == fields - {"origin"}


def collected(spark: SparkSession, origin: str, position: str, *tables: str) -> Collected:
    """The records of a log in which a task writes some tables."""
    accesses = [
        Row(
            task="load",
            run_id=f"{origin}-run",
            namespace="db",
            name=table,
            kind="TABLE",
            direction="write",
            operation="INSERT",
            shape_id=f"shape-{table}",
            statements=1,
            rows=5,
            bytes=None,
            files=2,
            partitions=None,
            first_at=NOW,
            last_at=NOW,
            status="ok",
            evidence="observed",
            origin=origin,
            procedure=None,
            periods=[],
            positions=[],
        )
        for table in tables
    ]
    return Collected(
        accesses=spark.createDataFrame(accesses, SCHEMAS["accesses"]),
        runs=spark.createDataFrame(
            [
                (
                    *(f"{origin}-run", "load", "spark", NOW, NOW, "ok", None, "app", "4.0.1"),
                    *([None] * 8),
                    *(origin, []),
                )
            ],
            SCHEMAS["runs"],
        ),
        shapes=spark.createDataFrame(
            [(f"shape-{t}", "tsql", f"INSERT {t}", "tokens", "parsed", None) for t in tables],
            SCHEMAS["shapes"],
        ),
        datasets=spark.createDataFrame(
            [
                (
                    *("db", t, "TABLE", [("id", "int")], [("file", f"/w/{t}")]),
                    *(NOW, NOW, None, origin, False),
                )
                for t in tables
            ],
            SCHEMAS["datasets"],
        ),
        column_edges=spark.createDataFrame(
            [
                (
                    *("load", "db", t, "id", "db", "source", "no"),
                    *("DIRECT", "IDENTITY", False, f"shape-{t}", origin, "observed", "", ""),
                )
                for t in tables
            ],
            SCHEMAS["column_edges"],
        ),
        rejects=spark.createDataFrame([(origin, "7", "broken", "…", "")], SCHEMAS["rejects"]),
        origins=spark.createDataFrame(
            [(origin, position, len(tables), 0)],
            "origin string, position string, events bigint, noise bigint",
        ),
    )


def written(folder: Path) -> list[str]:
    return sorted(access.dataset.name for access in read(str(folder)).accesses)


def write_rows(folder: Path, table: str, batch_id: str, *rows: dict[str, Any]) -> None:
    """A table as a batch of another version of graft left it."""
    place = folder / table / f"batch_id={batch_id}"
    place.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), place / "part-0.parquet")


def test_a_store_from_before_a_column_is_read_without_it(tmp_path: Path) -> None:
    use = {"task": "load", "run_id": "r", "namespace": "db", "name": "t", "kind": "TABLE"}
    use |= {"direction": "write", "operation": "INSERT", "shape_id": "s", "status": "ok"}
    use |= {"evidence": "observed"}
    run = {"run_id": "r", "task": "load", "engine": "spark", "status": "ok"}
    for batch_id, new_use, new_run in (
        ("1", {}, {}),
        ("2", {"files": 3, "partitions": 1}, {"engine_version": "4.0.1"}),
    ):
        origin = {"origin": f"{batch_id}.log"}
        batch = {"position": "9", "events": 1, "noise": 0, "committed_at": NOW}
        write_rows(tmp_path, "accesses", batch_id, use | new_use | origin)
        write_rows(tmp_path, "runs", batch_id, run | new_run | origin)
        write_rows(tmp_path, "batches", batch_id, batch | origin)
        found = read(str(tmp_path))
        counts = {access.origin: (access.files, access.partitions) for access in found.accesses}
        versions = {one.origin: one.engine_version for one in found.runs}
        if batch_id == "1":
            assert (counts, versions) == ({"1.log": (None, None)}, {"1.log": None})
    assert counts == {"1.log": (None, None), "2.log": (3, 1)}
    assert versions == {"1.log": None, "2.log": "4.0.1"}


def test_the_last_event_time_of_an_origin_is_that_of_its_newest_batch(tmp_path: Path) -> None:
    hours = [NOW + timedelta(hours=n) for n in range(4)]
    batch = {"position": "9", "events": 1, "noise": 0, "committed_at": NOW}
    for batch_id, origins in (
        ("1", {"a": (hours[3], hours[3])}),
        ("2", {"a": (hours[0], hours[1]), "b": (hours[2], None)}),
    ):
        last = [{"origin": origin, "last_at": at} for origin, (at, _) in origins.items()]
        ends = [{"origin": origin, "ended_at": at} for origin, (_, at) in origins.items()]
        write_rows(tmp_path, "accesses", batch_id, *last)
        write_rows(tmp_path, "runs", batch_id, *ends)
        write_rows(
            tmp_path, "batches", batch_id, *(batch | {"origin": origin} for origin in origins)
        )
    assert last_event_times(str(tmp_path)) == {"a": hours[1], "b": hours[2]}


@for_each("namespaces", [("db",), ("db", "other")])
def test_large_files_are_read_as_small_ones(
    namespaces: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / f"{len(namespaces)}"
    for batch, logs in enumerate((("a", "b"), ("b",))):
        ends = [
            (log, DatasetId(namespaces[number % len(namespaces)], f"t{number}-{batch}"))
            for log in logs
            for number in range(5)
        ]
        accesses = [
            access("INSERT", dataset, at=NOW, origin=log, procedure=None if batch else "load_all")
            for log, dataset in ends
        ]
        edges = [
            replace(edge("n.p < t.a FILTER"), to_dataset=dataset, origin=log)
            for log, dataset in ends
        ]
        new = records.Records(accesses=tuple(accesses), column_edges=tuple(edges))
        commit(str(store), [arrow_tables(new, dict.fromkeys(logs, "read"))])
    small = read(str(store))
    assert len(small.column_edges) == 10
    monkeypatch.setattr(import_module("dbt_graft.collectors.store.batches"), "_SMALL", -1)
    assert read(str(store)) == small


def test_no_store_reads_as_nothing(tmp_path: Path) -> None:
    assert read(str(tmp_path / "none")) == records.Records()
    assert positions(str(tmp_path / "none")) == {}


@pytest.mark.spark
def test_committed_records_are_read_back(spark: SparkSession, tmp_path: Path) -> None:
    done = commit(str(tmp_path), [collected(spark, "a.xml", "9", "orders")])
    assert done is not None
    assert (done.origins, done.events) == (1, 1)
    found = read(str(tmp_path))
    (access,) = found.accesses
    assert access.dataset == DatasetId("db", "orders")
    assert (access.first_at, access.rows, access.kind) == (NOW, 5, Kind.TABLE)
    assert (access.files, access.partitions) == (2, None)
    (dataset,) = found.datasets
    assert dataset.columns == (records.Column("id", "int"),)
    assert dataset.symlinks == (DatasetId("file", "/w/orders"),)
    (edge,) = found.column_edges
    assert (edge.to_dataset, edge.from_dataset) == (access.dataset, DatasetId("db", "source"))
    assert (edge.to_column, edge.from_column, edge.subtype) == ("id", "no", "IDENTITY")
    assert found.shapes["shape-orders"].text == "INSERT orders"
    assert [(run.status, run.engine_version) for run in found.runs] == [
        (records.Status.OK, "4.0.1")
    ]
    assert [reject.reason for reject in found.rejects] == ["broken"]
    assert positions(str(tmp_path)) == {"a.xml": ("9", 1)}


@pytest.mark.spark
def test_a_later_batch_replaces_only_its_own_origins(spark: SparkSession, tmp_path: Path) -> None:
    first = [collected(spark, "a.xml", "1", "orders"), collected(spark, "b.xml", "1", "items")]
    commit(str(tmp_path), first)
    commit(str(tmp_path), [collected(spark, "a.xml", "2", "orders", "refunds")])
    assert written(tmp_path) == ["items", "orders", "refunds"]
    assert len(read(str(tmp_path)).runs) == 2
    assert positions(str(tmp_path))["a.xml"] == ("2", 2)


@pytest.mark.spark
def test_a_batch_that_died_before_its_last_step_is_not_seen(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module(commit.__module__), "_LEFT_BEHIND", -(10**12))  # no age
    commit(str(tmp_path), [collected(spark, "a.xml", "1", "orders")])
    done = commit(str(tmp_path), [collected(spark, "b.xml", "1", "items")])
    assert done is not None
    shutil.rmtree(tmp_path / "batches" / f"batch_id={done.batch_id}")
    assert written(tmp_path) == ["orders"]
    assert [*tmp_path.glob(f"*/batch_id={done.batch_id}")] != []
    commit(str(tmp_path), [collected(spark, "c.xml", "1", "returns")])
    assert [*tmp_path.glob(f"*/batch_id={done.batch_id}")] == [], "what it left behind is swept"
    assert written(tmp_path) == ["orders", "returns"]


@pytest.mark.spark
def test_nothing_collected_writes_no_batch(spark: SparkSession, tmp_path: Path) -> None:
    assert commit(str(tmp_path / "store"), []) is None
    assert not (tmp_path / "store").exists()
