"""Results of checks in events: their names, outcomes and numbers, and nothing of the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbt_graft.lineage.building.checks import Check, check_of
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import NodeResult, Status
from tests.cases import for_each
from tests.collectors.openlineage.events import (
    Document,
    dataset,
    event,
    node_results,
    results_of,
    run_id,
    written,
)

ORDERS = DatasetId("spark", "raw.orders")


def assertions(*found: Any) -> Document:
    return {"dataQualityAssertions": {"assertions": list(found)}}


def found_in(folder: Path, *events: Document) -> list[tuple[Check | None, NodeResult]]:
    path = written(folder / "events.jsonl", *events)
    return [(check_of(result.node_id), result) for result in node_results(results_of(path))]


@for_each(
    "given, word, status, failures",
    [
        ({"success": True, "actual": "0"}, "pass", Status.OK, None),
        ({"success": False, "actual": "3"}, "fail", Status.FAILED, 3),
        ({"success": False, "severity": "WARN", "actual": "3"}, "warn", Status.OK, 3),
        ({"success": False, "actual": "Jane"}, "fail", Status.FAILED, None),
        ({"success": False, "actual": "9" * 30}, "fail", Status.FAILED, None),
    ],
)
@pytest.mark.parametrize("place", ["facets", "counts", "both"])
def test_an_assertion_is_a_result(
    tmp_path: Path, place: str, given: Document, word: str, status: Status, failures: int | None
) -> None:
    facet = assertions({"assertion": "not_null", "column": "id", "name": "n", **given})
    document = dataset("spark raw.orders", facet if place != "counts" else {})
    if place != "facets":
        document["inputFacets"] = facet
    [(check, result)] = found_in(
        tmp_path, event("START", inputs=[document]), event(inputs=[document])
    )
    assert check == Check(ORDERS, "not_null", "id", "n")
    assert (result.word, result.status, result.failures) == (word, status, failures)
    assert (result.invocation_id, result.error) == (run_id(1), None)


@pytest.mark.parametrize(
    ("given", "word", "status"),
    [
        ({"status": "pass"}, "pass", Status.OK),
        ({"status": "fail", "severity": "error"}, "fail", Status.FAILED),
        ({"status": "fail", "severity": "warn"}, "warn", Status.OK),
        ({"status": "skip"}, "skipped", Status.UNKNOWN),
    ],
)
def test_a_test_of_a_run_is_a_result_without_a_dataset(
    tmp_path: Path, given: Document, word: str, status: Status
) -> None:
    secret = {"content": "select 'Jane'", "expected": "Jane", "params": {"x": "Jane"}}
    tests = {"test": {"tests": [{"name": "add_up", "type": "custom_sql", **secret, **given}]}}
    [(check, result)] = found_in(tmp_path, event(outputs=["spark raw.orders"], run_facets=tests))
    assert check == Check(None, "custom_sql", name="add_up")
    assert (result.word, result.status) == (word, status)
    assert "Jane" not in repr(result)


def test_the_invocation_of_dbt_is_that_of_its_results(tmp_path: Path) -> None:
    tested = dataset("spark raw.orders", assertions({"assertion": "unique", "success": True}))
    run = {"dbt_run": {"invocation_id": "i-1"}}
    node = {"dbt_node": {"unique_id": "model.shop.orders"}}
    names = [
        (result.invocation_id, result.origin)
        for _, result in found_in(
            tmp_path,
            event(job="a.test", by="dbt", inputs=[tested], run_facets=run, job_facets=node),
        )
    ]
    assert names == [("i-1", "dbt:events.jsonl#i-1")]


@pytest.mark.parametrize(
    "facet",
    [
        {"dataQualityAssertions": None},
        {"dataQualityAssertions": {"assertions": {"not_null": True}}},
        assertions(7, {"assertion": "x"}, {"success": True}, {"assertion": 1, "success": True}),
        assertions({"assertion": "x", "success": "yes"}, {"assertion": "\n", "success": True}),
    ],
)
def test_a_wrong_assertion_is_left_out(tmp_path: Path, facet: Document) -> None:
    tests: Document = {"test": {"tests": [7, {"name": "x"}, {"status": "pass"}, {"name": 1}]}}
    document = dataset("spark raw.orders", facet)
    assert found_in(tmp_path, event(inputs=[document], run_facets=tests)) == []
