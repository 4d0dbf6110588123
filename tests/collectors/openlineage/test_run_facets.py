"""Facets of runs and jobs: what a run and its task have of their events."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from dbt_graft.collectors.openlineage.worker import FilePart, read_part, safe_batch
from dbt_graft.lineage.gaps import open_tasks
from dbt_graft.lineage.records import Status
from tests.cases import for_each
from tests.collectors.openlineage.events import (
    OUT,
    Document,
    dataset,
    event,
    lineage,
    parent,
    records,
    records_in,
    results_of,
    run_id,
    written,
)


def test_a_run_has_all_that_its_events_say(tmp_path: Path) -> None:
    airflow = {
        "dag": {"dag_id": "shop"},
        "dagRun": {"run_id": "manual__1"},
        "task": {"task_id": "raw.load_orders", "inlets": "[]"},
        "taskInstance": {
            "try_number": 2,
            "log_url": "https://airflow.example.org/log?try_number=2",
        },
    }
    start = event(
        "START",
        "shop.raw.load_orders",
        by="airflow",
        outputs=[OUT],
        run_facets={
            **parent(9, "shop"),
            "airflow": airflow,
            "nominalTime": {"nominalStartTime": "2026-11-21T00:00:00Z"},
            "processing_engine": {"name": "Airflow", "version": "3.3.2"},
        },
    )
    fail = event(
        "FAIL",
        "shop.raw.load_orders",
        by="airflow",
        at="2026-11-22T08:01:00Z",
        run_facets={"errorMessage": {"message": "ValueError: card 4111 1111 is not valid"}},
    )
    [run] = lineage(tmp_path, [start], [fail]).tasks["load_orders"].runs
    assert run.run_id == run_id(1)
    assert (run.engine, run.engine_version) == ("airflow", "3.3.2")
    assert (run.status, run.error) == (Status.FAILED, "ValueError")
    assert run.started_at == datetime(2026, 11, 22, 8, tzinfo=UTC)
    assert run.ended_at == datetime(2026, 11, 22, 8, 1, tzinfo=UTC)
    assert (run.parent_run_id, run.job) == (run_id(9), "etl/shop.raw.load_orders")
    assert (run.attempt, run.application_id) == (2, "shop/raw.load_orders/manual__1")
    assert run.url == "https://airflow.example.org/log?try_number=2"
    assert (run.nominal_start, run.nominal_end) == (datetime(2026, 11, 21, tzinfo=UTC), None)


@for_each(
    "facet, expected",
    [
        ({"totalTasks": 2, "failedTasks": 1, "errors": []}, True),
        ({"totalTasks": 2, "failedTasks": 0, "errors": [{"errorMessage": "at 'Smith'"}]}, True),
        ({"totalTasks": 2, "failedTasks": 0, "errors": []}, False),
        ({}, False),
        ("what", False),
    ],
)
def test_a_producer_that_could_not_extract_all_leaves_its_task_open(
    facet: object, expected: bool
) -> None:
    sql = {"sql": {"query": "SELECT f('Smith') FROM a", "dialect": "postgres"}}
    end = event(
        "COMPLETE",
        "shop.raw.load_orders",
        by="airflow",
        job_facets=sql,
        run_facets={"extractionError": facet},
    )
    with TemporaryDirectory() as folder:
        start = event("START", "shop.raw.load_orders", by="airflow")
        built = lineage(Path(folder), [start], [end])
    why = "the producer of its events could not extract all of its lineage (SELECT f(?) FROM a)"
    assert open_tasks(built) == ({"load_orders": [why]} if expected else {})


def test_data_that_comes_from_a_job_leaves_its_task_open(tmp_path: Path) -> None:
    job = {"type": "JOB", "namespace": "airflow", "name": "daily.extract"}
    entry = {"type": "DATASET", "namespace": "spark", "name": "raw.orders", "inputs": [job]}
    joined = lineage(tmp_path, [event(job_facets={"lineage": {"entries": [entry]}})])
    why = "its events name a job in place of a dataset that data comes from"
    assert open_tasks(joined) == {"load_orders": [why]}
    assert [str(usage.dataset) for usage in joined.tasks["load_orders"].usages] == [
        "spark/raw.orders"
    ]


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("javascript:alert(1)", None),
        ("file:///etc/passwd", None),
        ("https://u:p@host/log", "https://host/log"),
        ("https://h/log?token=x", "https://h/log"),
    ],
)
def test_of_an_address_only_what_may_be_published_is_a_link(
    url: str, link: str | None, tmp_path: Path
) -> None:
    facets = {"airflow": {"taskInstance": {"log_url": url}}}
    [run] = records_in(tmp_path, [event(by="airflow", run_facets=facets)]).runs
    assert run.url == link


def test_statistics_are_counted_once(tmp_path: Path) -> None:
    def counted(rows: int) -> Document:
        return dataset(OUT, outputStatistics={"rowCount": rows, "size": rows * 10})

    events = [
        event("START", outputs=[OUT]),
        event("RUNNING", at="2026-11-22T08:00:30Z", outputs=[counted(5)]),
        event("COMPLETE", at="2026-11-22T08:01:00Z", outputs=[counted(12)]),
        event("COMPLETE", at="2026-11-22T08:01:00Z", outputs=[counted(12)]),
    ]
    for files in ([events], [[one] for one in events], [events[::-1]]):
        [usage] = lineage(tmp_path, *files).tasks["load_orders"].usages
        assert (usage.rows, usage.bytes, usage.statements) == (12, 120, 1)


def part(day: int, rows: int | None) -> Document:
    counted = {"rowCount": rows, "size": 10} if rows is not None else {}
    return dataset(
        f"s3://lake orders/dt=2026-11-{day:02}", inputStatistics=counted, outputStatistics=counted
    )


# `lineage` of a job that names what goes into the table of the partitions.
_EXPLAINED: Document = {
    "lineage": {
        "entries": [
            {
                "type": "DATASET",
                "namespace": "s3://lake",
                "name": "orders",
                "inputs": [{"type": "DATASET", "namespace": "s3://lake", "name": "orders"}],
            }
        ]
    }
}


@for_each(
    "parts, rows",
    [
        ([part(1, 5), part(2, 7)], 12),
        ([part(1, 5), part(2, 7), part(2, 7)], 12),
        ([part(1, 5), part(2, None)], None),
    ],
)
def test_partitions_are_counted_together(
    parts: list[Document], rows: int | None, tmp_path: Path
) -> None:
    for facets in ({}, _EXPLAINED):
        found = records_in(tmp_path, [event(inputs=parts, outputs=parts, job_facets=facets)])
        assert [access.rows for access in found.accesses] == [rows, rows]
        assert {str(access.periods[0].end) for access in found.accesses} == {
            "2026-11-03 00:00:00+00:00"
        }


def test_sql_is_shown_without_its_literals(tmp_path: Path) -> None:
    facet = {"query": "INSERT INTO a SELECT * FROM b WHERE mail = 'x@y.org'", "dialect": "postgres"}
    found = lineage(tmp_path, [event(outputs=[OUT], job_facets={"sql": facet})])
    [shape] = found.shapes.values()
    assert "x@y.org" not in shape.text
    assert shape.text.startswith("INSERT INTO a SELECT * FROM b WHERE mail = ")
    [usage] = found.tasks["load_orders"].usages
    assert usage.shapes == (shape.shape_id,)


@for_each(
    "query",
    [
        r"SELECT E'it\'s 411122223'",
        "SELECT $$411122223$$",
        "SELECT $a$411122223$a$",
        "SELECT '411122223",
        "SELECT 1 -- 411122223",
        "SELECT 1 # card411122223",
        "SELECT q'{it's card411122223}'",
        "SELECT 411122223",
    ],
)
@pytest.mark.parametrize("dialect", ["postgres", "snowflake", "bigquery", "tsql", "unknown", ""])
def test_no_literal_of_any_dialect_is_stored(query: str, dialect: str, tmp_path: Path) -> None:
    facet = {"query": query, "dialect": dialect}
    found = records_in(tmp_path, [event(outputs=[OUT], job_facets={"sql": facet})])
    assert "411122223" not in str(found)


def test_owner_tags_and_schedule_of_a_task(tmp_path: Path) -> None:
    facets = {
        "ownership": {"owners": [{"name": "data-platform"}, {"name": "second"}]},
        "tags": {
            "tags": [
                {"key": "nightly", "value": "nightly", "source": "AIRFLOW"},
                {"key": "team", "value": "finance"},
                {"key": "x" * 100, "value": ""},
            ]
        },
        "documentation": {"description": "Loads the orders."},
    }
    dag = {"airflow": {"dag": {"timetable_summary": "0 5 * * *"}}}
    start = event("START", by="airflow", outputs=[OUT], job_facets=facets, run_facets=dag)
    info = lineage(tmp_path, [start, event(by="airflow")]).tasks["load_orders"].info
    assert (info.owner, info.tags, info.schedule) == (
        *("data-platform", ("nightly", "team:finance")),
        "0 5 * * *",
    )
    # dag-factory writes a DAG's YAML there, with its commands.
    assert info.description == ""
    other = lineage(tmp_path, [event(outputs=[OUT], job_facets=facets)])
    assert other.tasks["load_orders"].info.description == facets["documentation"]["description"]


def test_what_no_column_can_hold_costs_its_part_only(tmp_path: Path) -> None:
    path = written(tmp_path / "events.jsonl", event(outputs=[OUT]))
    [result] = results_of(path)
    wrong = replace(result.records.runs[0], attempt=2**70)
    broken = replace(result, records=replace(result.records, runs=(wrong,)))
    names = [one["reason"] for one in safe_batch(broken)["rejects"][0].as_py()]
    assert [name.partition(" (")[0] for name in names] == ["the events cannot be stored"]
    assert len(safe_batch(result)["runs"][0].as_py()) == 1


def test_a_pattern_names_tasks(tmp_path: Path) -> None:
    path = written(
        tmp_path / "events.jsonl",
        event(job="etl.shop.load_orders", run=1, outputs=[OUT]),
        event(job="adhoc.test", run=2, outputs=[OUT]),
    )
    part = FilePart(str(path), "f", "f", 0, 10**6, path.stat().st_size, 0)
    found = records(read_part(part, re.compile(r"etl\.(?P<task>.+)")))
    assert {access.task for access in found.accesses} == {"shop.load_orders"}


BERLIN = {"airflow": {"dag": {"timetable": {"expression": "@daily", "timezone": "Europe/Berlin"}}}}


@for_each(
    "facets, at, configured, expected",
    [
        (BERLIN, "2026-11-22T08:00:00Z", "", "Europe/Berlin"),
        (BERLIN, "2026-11-22T08:00:00Z", "Asia/Tokyo", "Asia/Tokyo"),
        ({}, "2026-11-22T08:00:00+02:00", "", "+02:00"),
        ({}, "2026-11-22T08:00:00.25-03:30", "", "-03:30"),
        ({}, "2026-11-22T08:00:00+00:00", "", None),
        ({}, "2026-11-22T08:00:00Z", "", None),
    ],
)
def test_the_days_of_an_interval_have_a_zone(
    facets: Document, at: str, configured: str, expected: str | None, tmp_path: Path
) -> None:
    nominal = {"nominalTime": {"nominalStartTime": "2026-11-20T23:00:00Z"}}
    document = event(at=at, outputs=[OUT], run_facets={**facets, **nominal})
    path = written(tmp_path / "e.jsonl", document)
    [run] = records(results_of(path, timezone=configured)).runs
    assert run.timezone == expected


@pytest.mark.parametrize(
    ("facets", "expected"),
    [
        pytest.param({"timetable_summary": "@daily"}, "2026-10-05", id="a daily DAG"),
        pytest.param({"timetable_summary": "@once"}, None, id="a DAG that runs once"),
        pytest.param({"schedule_interval": "@once"}, None, id="one of Airflow 2"),
        pytest.param({"timetable_summary": "None"}, "2026-10-05", id="a date named by hand"),
    ],
)
@pytest.mark.parametrize("facet", ["airflow", "airflowDagRun"])
def test_the_time_of_a_dag_that_runs_once_is_not_that_of_its_data(
    facet: str, facets: Document, expected: str | None, tmp_path: Path
) -> None:
    nominal = {"nominalTime": {"nominalStartTime": "2026-10-05T00:00:00Z"}}
    document = event(by="airflow", outputs=[OUT], run_facets={facet: {"dag": facets}, **nominal})
    [run] = records(results_of(written(tmp_path / "e.jsonl", document))).runs
    assert (f"{run.nominal_start:%Y-%m-%d}" if run.nominal_start else None) == expected


@for_each(
    "message, node, error",
    [
        ("CAST_INVALID (SQLSTATE 22018)", "", "CAST_INVALID (SQLSTATE 22018)"),
        ("ValueError: card 4111 1111 is not valid", "", "ValueError"),
        ("Database Error: column a of Jane", "model.shop.a", "Database Error: column a of ?"),
    ],
)
def test_an_error_that_claims_to_be_ours_is_redacted_like_any_other(
    message: str, node: str, error: str, tmp_path: Path
) -> None:
    document = event(
        "FAIL",
        by="graft",
        run_facets={"errorMessage": {"message": message}},
        job_facets={"dbt_node": {"unique_id": node}} if node else {},
    )
    assert {run.error for run in records_in(tmp_path, [document]).runs} == {error}
