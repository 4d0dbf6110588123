"""An entry of dbt's artifacts is one result, whichever version of dbt wrote it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from dbt_graft.collectors.dbt.results import NoResultsError, read_invocation
from dbt_graft.lineage.records import NodeResult, Status
from tests.cases import for_each
from tests.collectors.dbt.artifacts import Document, dump, result, run_results, sources

MODEL, TEST, SOURCE = "model.shop.orders", "test.shop.not_null_id.1a2b", "source.shop.raw.orders"


def read(document: Document) -> tuple[NodeResult, ...]:
    return read_invocation(dump(document), "dbt:target").results


def only(*results: Document) -> NodeResult:
    [found] = read(run_results(*results))
    return found


def test_a_model_has_its_times_and_its_invocation() -> None:
    invocation = read_invocation(dump(run_results(result(MODEL))), "dbt:target")
    assert invocation.origin == "dbt:target#i1"
    assert invocation.results == (
        NodeResult(
            node_id=MODEL,
            invocation_id="i1",
            command="build",
            word="success",
            status=Status.OK,
            started_at=datetime(2026, 11, 20, 5, 0, 1, tzinfo=UTC),
            ended_at=datetime(2026, 11, 20, 5, 0, 3, 500_000, tzinfo=UTC),
            origin="dbt:target#i1",
        ),
    )


@for_each(
    "word, status",
    [
        ("success", Status.OK),
        ("pass", Status.OK),
        ("warn", Status.OK),
        ("error", Status.FAILED),
        ("fail", Status.FAILED),
        ("runtime error", Status.FAILED),
        ("partial success", Status.FAILED),
        ("skipped", Status.UNKNOWN),
        ("no-op", Status.UNKNOWN),
        ("reused", Status.UNKNOWN),
    ],
)
def test_words_of_dbt_are_statuses_and_stay(word: str, status: Status) -> None:
    found = only(result(MODEL, word))
    assert (found.word, found.status) == (word, status)


@for_each(
    "response, rows",
    [
        ({"rows_affected": 12, "_message": "MERGE"}, 12),
        ({"rows_affected": -1, "_message": "CREATE VIEW"}, None),
        ({"_message": "INSERT 0 12"}, 12),
        ({"_message": "SUCCESS 160", "rows_affected": 160}, 160),
        ({"_message": "SUCCESS 1", "rows_affected": 1}, None),
        ({"_message": "OK"}, None),
        ("INSERT 0 7", 7),
        ("CREATE TABLE", None),
        ({"rows_affected": "12"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_rows_are_those_that_the_adapter_reports(response: Any, rows: int | None) -> None:
    assert only(result(MODEL, adapter_response=response)).rows == rows


def test_a_test_has_its_failures_and_no_rows() -> None:
    message = "Got 4 results, configured to fail if != 0"
    response = {"rows_affected": 1}
    failed = result(TEST, "fail", failures=4, message=message, adapter_response=response)
    found = only(failed)
    assert (found.failures, found.rows, found.error) == (4, None, None)


def test_an_error_has_its_literals_taken_out() -> None:
    sql = "select id from raw.orders where name = 'Jane'"
    text = "Database Error in model orders (m.sql)\n  relation raw.orders does not hold 'Jane'"
    found = only(result(MODEL, "error", message=text, compiled_code=sql))
    assert found.error == "Database Error: relation raw.orders does not ? '?'"


def test_a_part_of_the_batches_failed() -> None:
    batches = {"successful": [["a", "b"]] * 3, "failed": [["c", "d"]] * 2}
    assert only(result(MODEL, "partial success", batch_results=batches)).error == (
        "2 of 5 batches failed"
    )


@for_each(
    "batches, periods",
    [
        ([["2026-10-01T00:00:00", "2026-10-02T00:00:00"]], ["2026-10-01 2026-10-02 day"]),
        (
            [
                ["2026-10-02T00:00:00+00:00", "2026-10-03T00:00:00+00:00"],
                ["2026-10-01T00:00:00+00:00", "2026-10-02T00:00:00+00:00"],
                ["2026-10-05T00:00:00+00:00", "2026-10-06T00:00:00+00:00"],
            ],
            ["2026-10-01 2026-10-03 day", "2026-10-05 2026-10-06 day"],
        ),
        ([["2026-10-01T00:00:00", "2026-11-01T00:00:00"]], ["2026-10-01 2026-11-01 month"]),
        ([["2026-01-01T00:00:00", "2027-01-01T00:00:00"]], ["2026-01-01 2027-01-01 year"]),
        ([["2026-10-01T05:00:00", "2026-10-01T06:00:00"]], ["2026-10-01T05 2026-10-01T06 hour"]),
        ([["2026-10-01T05:10:00", "2026-10-01T06:20:00"]], ["2026-10-01T05 2026-10-01T07 hour"]),
        ([["2026-10-02T00:00:00", "2026-10-01T00:00:00"], ["x", None], [], 7], []),
        ([["9999-12-31T00:00:00", "9999-12-31T23:00:00"]], ["9999-12-31 9999-12-31T23 hour"]),
        ({"not": "a list"}, []),
    ],
)
def test_the_dates_of_batches_that_went_well_are_those_written(
    batches: object, periods: list[str]
) -> None:
    found = only(result(MODEL, "success", batch_results={"successful": batches, "failed": []}))

    def shown(at: datetime | None) -> str:
        return f"{at:%Y-%m-%dT%H}".removesuffix("T00") if at else ""

    assert [f"{shown(p.start)} {shown(p.end)} {p.grain}" for p in found.periods] == periods


@for_each(
    "args, count",
    [
        ({"which": "run"}, 1),
        ({"which": "run", "empty": False, "sample": None}, 1),
        ({"which": "run", "empty": True}, 0),
        ({"which": "run", "sample": {"start": "2026-11-16T22:00:00+00:00"}}, 0),
    ],
)
def test_batches_without_all_rows_are_no_dates(args: Document, count: int) -> None:
    batches = {"successful": [["2026-11-16T00:00:00+00:00", "2026-11-17T00:00:00+00:00"]]}
    document = run_results(result(MODEL, "success", batch_results=batches))
    [found] = read({**document, "args": args})
    assert len(found.periods) == count


def test_a_node_that_was_skipped_has_the_time_of_its_invocation() -> None:
    found = only(result(MODEL, "skipped", timing=[], execution_time=0))
    assert (found.started_at, found.ended_at) == (datetime(2026, 11, 20, 5, tzinfo=UTC), None)


@pytest.mark.parametrize(("version", "rows"), [("1.11.16", 0), ("2.0.9", None)])
def test_dbt_2_says_0_rows_of_a_statement_without_a_count(version: str, rows: int | None) -> None:
    document = run_results(result("model.shop.a", adapter_response={"rows_affected": 0}))
    document["metadata"]["dbt_version"] = version
    assert read(document)[0].rows == rows


def test_fusion_leaves_keys_out_and_writes_nanoseconds() -> None:
    document = run_results({"unique_id": MODEL, "status": "success"})
    document["metadata"] |= {
        "dbt_version": "2.0.0-preview.145",
        "generated_at": "2026-08-07T08:54:19.553880740Z",
        "invocation_started_at": None,
    }
    [found] = read(document)
    assert found.started_at == datetime(2026, 8, 7, 8, 54, 19, 553_880, tzinfo=UTC)


@pytest.mark.parametrize("which", ["generate", "compile", "show", "parse"])
def test_a_command_that_runs_nothing_has_no_results(which: str) -> None:
    assert read(run_results(result(MODEL), which=which)) == ()


@pytest.mark.parametrize(
    "entry",
    [
        result("operation.shop.shop-on-run-end-0"),
        result("exposure.shop.dashboard", "no-op"),
        {"status": "success"},
        "text",
        None,
    ],
)
def test_what_is_no_node_with_a_page_is_left_out(entry: Any) -> None:
    assert [one.node_id for one in read(run_results(entry, result(MODEL)))] == [MODEL]


def test_a_freshness_check_has_the_newest_row_and_the_limits() -> None:
    check = {
        "unique_id": SOURCE,
        "status": "warn",
        "max_loaded_at": "2026-11-19T17:00:00+00:00",
        "snapshotted_at": "2026-11-20T07:00:00+02:00",
        "max_loaded_at_time_ago_in_s": 43_200.0,
        "criteria": {
            "warn_after": {"count": 12, "period": "hour"},
            "error_after": {"count": 1, "period": "day"},
            "filter": "customer = 'Jane'",
        },
        "execution_time": 1.0,
    }
    [found] = read(sources(check))
    assert (found.word, found.status, found.command) == ("warn", Status.OK, "source freshness")
    assert found.max_loaded_at == datetime(2026, 11, 19, 17, tzinfo=UTC)
    assert found.started_at == datetime(2026, 11, 20, 5, tzinfo=UTC)
    assert found.criteria == "warn after 12 hours, error after 1 day"


def test_a_source_without_rows_has_no_newest_one() -> None:
    check = {
        "unique_id": SOURCE,
        "status": "error",
        "max_loaded_at": "0001-01-01T00:00:00+00:00",
        "snapshotted_at": "2026-11-20T07:00:00+02:00",
        "criteria": {"error_after": {"count": 0, "period": "minute"}},
    }
    [found] = read(sources(check))
    assert (found.is_verdict, found.max_loaded_at) == (True, None)
    assert found.criteria == "error after 0 minutes"


def test_a_check_that_failed_has_its_error() -> None:
    error = "Database Error in source orders (s.yml)\n  column loaded_at of Jane does not exist"
    [found] = read(sources({"unique_id": SOURCE, "status": "runtime error", "error": error}))
    assert (found.status, found.max_loaded_at) == (Status.FAILED, None)
    assert found.error == "Database Error: column ? of ? does not exist"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"dbt_schema_version": "https://schemas.getdbt.com/dbt/run-results/v3.json"}, "v4 to v6"),
        (
            {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
            "neither a run_results.json",
        ),
        ({"dbt_schema_version": None}, "neither a run_results.json"),
    ],
)
def test_another_document_is_refused(change: Document, expected: str) -> None:
    document = run_results(result(MODEL))
    document["metadata"] |= change
    with pytest.raises(NoResultsError, match=expected):
        read(document)


def test_half_a_file_is_no_json() -> None:
    with pytest.raises(orjson.JSONDecodeError):
        read_invocation(dump(run_results(result(MODEL)))[:-20], "dbt:target")
