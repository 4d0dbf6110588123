"""Pages show dbt's runs, the tests beside their column, and a source's freshness in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.catalog.attention import attention_lists, health_ratios
from dbt_graft.catalog.build import design_folder
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.home_page import home_page
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.node_results import ShownTest, loaded_ago, node_results
from dbt_graft.catalog.page import environment, render
from dbt_graft.lineage.building.checks import Check
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.describe import Description, NodeTest, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Column, Dataset, NodeResult, Status
from tests.cases import for_each

NOW = datetime(2026, 11, 20, 5, tzinfo=UTC)
ORDERS, RAW = DatasetId("spark", "mart.orders"), DatasetId("spark", "raw.orders")
MODEL, SOURCE = "model.shop.orders", "source.shop.raw.orders"
BUILT = NodeResult(
    *(MODEL, "i1", "build", "success", Status.OK, NOW, NOW + timedelta(seconds=90), 1234),
    origin="dbt:target#i1",
)
FAILED = replace(
    BUILT,
    invocation_id="i2",
    word="error",
    status=Status.FAILED,
    rows=None,
    error="Database Error: relation ? <b>",
    started_at=NOW + timedelta(hours=1),
)
SKIPPED = replace(FAILED, invocation_id="i3", word="skipped", status=Status.UNKNOWN, error=None)
CHECK = NodeResult(
    *(SOURCE, "f1", "source freshness", "warn", Status.OK, NOW),
    max_loaded_at=NOW - timedelta(hours=14),
    criteria="warn after 12 hours",
)


def outcome(name: str, word: str, status: Status, failures: int | None = None) -> NodeResult:
    return NodeResult(f"test.shop.{name}", "i1", "build", word, status, NOW, NOW, failures=failures)


def index(*results: NodeResult, tests: tuple[NodeTest, ...] = ()) -> Index:
    """A model with two columns and a source, and results of both."""
    by_node: dict[str, tuple[NodeResult, ...]] = {}
    for result in results:
        by_node[result.node_id] = (*by_node.get(result.node_id, ()), result)
    columns = (Column("Id", "int"), Column("amount", "int"))
    model = Description(ORDERS, MODEL, "orders", Role.MODEL, tests=tests, dbt_ids=(MODEL,))
    promoted = Description(
        RAW, "model.python_tasks.raw_orders", "raw_orders", Role.PROMOTED, dbt_ids=(SOURCE,)
    )
    return Index(
        DescribedLineage(
            Lineage({ORDERS: Dataset(ORDERS, columns=columns)}, dbt=DbtRuns(by_node)),
            {ORDERS: model, RAW: promoted},
        )
    )


def page(found: Index, dataset: DatasetId = ORDERS) -> str:
    return render(dataset_page(found, dataset), environment(design_folder() / "templates"))


def home(found: Index) -> str:
    shown = home_page(found, attention_lists(found), "Shop", None)
    return render(shown, environment(design_folder() / "templates"))


def test_a_page_says_when_dbt_built_it_and_shows_the_runs() -> None:
    shown = page(index(BUILT))
    assert 'Built <time datetime="2026-11-20T05:00:00Z">' in shown
    assert "by dbt, <strong>1,234 rows</strong>" in shown
    runs = shown.partition('id="dbt-runs"')[2]
    assert "1 min 30 s" in runs
    assert "<th>Error</th>" not in runs


def test_a_failed_run_is_shown_at_the_top_and_at_home() -> None:
    found = index(FAILED, BUILT)
    shown = page(found)
    assert "dbt run failed" in shown
    assert "Database Error: relation ? &#60;b&#62;" in shown
    assert 'Built <time datetime="2026-11-20T05:00:00Z">' in shown, "the last one that did"
    assert "Failed dbt runs" in home(found)


def test_a_run_that_dbt_skipped_is_said_and_is_no_failure() -> None:
    found = index(SKIPPED, BUILT)
    assert 'dbt skipped it <time datetime="2026-11-20T06:00:00Z">' in page(found)
    assert not attention_lists(found)


def test_tests_stand_beside_their_column_and_others_in_a_list() -> None:
    tests = (
        NodeTest("test.shop.unique", "unique", "ID"),
        NodeTest("test.shop.not_null", "not_null", "amount"),
        NodeTest("test.shop.accepted", "accepted_values", "amount"),
        NodeTest("test.shop.gone", "not_null", "no_longer_there"),
        NodeTest("test.shop.total", "total_is_right"),
    )
    found = index(
        outcome("unique", "pass", Status.OK, 0),
        outcome("not_null", "fail", Status.FAILED, 3),
        outcome("accepted", "warn", Status.OK, 1),
        outcome("total", "error", Status.FAILED),
        tests=tests,
    )
    results = node_results(found, ORDERS, ["Id", "amount"])
    assert {
        column: [(test.test.name, test.words, test.look) for test in tests]
        for column, tests in results.column_tests.items()
    } == {
        "id": [("unique", "passed", "ok")],
        "amount": [
            ("not_null", "failed: 3 rows", "failed"),
            ("accepted_values", "warning: 1 row", "warn"),
        ],
    }
    assert [(test.test.name, test.words) for test in results.other_tests] == [
        ("not_null", "not run yet"),
        ("total_is_right", "could not run"),
    ]
    shown = page(found)
    assert "1 failed test" in shown
    assert "1 check could not run" in shown
    assert "not_null failed: 3 rows" in shown
    assert "<code>no_longer_there</code>" in shown
    assert 'Failed tests<span class="graft-count">1</span>' in home(found)
    assert 'checks that could not run<span class="graft-count">1</span>' in home(found)


@for_each(
    "results, words, look, failed",
    [
        (["error"], "could not run", "warn", False),
        (["error", "pass"], "could not run, passed before", "warn", False),
        (["error", "fail"], "could not run, failed before", "failed", True),
        (["skipped", "error"], "could not run", "warn", False),
        (["skipped", "pass"], "passed", "ok", False),
        (["skipped"], "skipped", "unknown", False),
    ],
)
def test_a_test_that_could_not_run_is_neither_good_nor_bad(
    results: list[str], words: str, look: str, failed: bool
) -> None:
    status = {"pass": Status.OK, "skipped": Status.UNKNOWN}
    found = index(
        *(outcome("total", word, status.get(word, Status.FAILED)) for word in results),
        tests=(NodeTest("test.shop.total", "total_is_right"),),
    )
    [test] = node_results(found, ORDERS).other_tests
    assert (test.words, test.look, test.failed) == (words, look, failed)


def test_a_check_in_an_event_is_a_test_of_its_page() -> None:
    check = Check(ORDERS, "not_null", "id").id
    found = index(NodeResult(check, "i1", "", "fail", Status.FAILED, NOW, NOW, failures=2))
    results = node_results(found, ORDERS, ["Id"])
    assert [test.words for test in results.column_tests["id"]] == ["failed: 2 rows"]
    assert "1 failed test" in page(found)
    assert "Failed tests" in home(found)


def test_a_source_whose_check_could_not_be_made_is_not_counted_as_fresh() -> None:
    check = replace(CHECK, word="runtime error", status=Status.FAILED, max_loaded_at=None)
    ratios = {ratio.title for ratio in health_ratios(index(check))}
    assert "Sources fresh" not in ratios
    assert "its freshness" in home(index(check))


@pytest.mark.parametrize(("word", "badge"), [("pass", ""), ("warn", "warn"), ("error", "failed")])
def test_a_source_says_how_fresh_it_was(word: str, badge: str) -> None:
    status = Status.FAILED if word == "error" else Status.OK
    found = index(replace(CHECK, word=word, status=status))
    shown = page(found, RAW)
    assert "Its newest row was 14 hours old when dbt checked" in shown
    assert "(warn after 12 hours)" in shown
    assert (f'graft-badge--{badge}">stale' in shown) is bool(badge)
    assert ("Stale" in home(found)) is bool(badge)


def test_a_source_without_rows_is_stale() -> None:
    failed = index(replace(CHECK, word="error", status=Status.FAILED, max_loaded_at=None))
    assert "dbt found no rows when it checked" in page(failed, RAW)


def test_a_check_that_could_not_be_made_has_its_error() -> None:
    check = replace(CHECK, word="runtime error", max_loaded_at=None, error="Database Error: ?")
    assert "dbt could not check its freshness" in page(index(check), RAW)


@for_each(
    "age, words",
    [
        (timedelta(minutes=1), "1 minute old"),
        (timedelta(minutes=119), "119 minutes old"),
        (timedelta(hours=3), "3 hours old"),
        (timedelta(hours=47), "47 hours old"),
        (timedelta(days=3, hours=5), "3 days old"),
        (timedelta(minutes=-1), "0 minutes old"),
        (timedelta(minutes=-5), "5 minutes ahead"),
        (timedelta(hours=-2), "2 hours ahead"),
    ],
)
def test_an_age_is_one_number(age: timedelta, words: str) -> None:
    assert loaded_ago(replace(CHECK, max_loaded_at=NOW - age)) == words


def test_a_dataset_that_dbt_does_not_know_has_nothing() -> None:
    results = node_results(index(), DatasetId("spark", "other"))
    assert (results.runs, results.checks, results.last_build) == ([], [], None)
    assert not results.failed_tests
    assert ShownTest(NodeTest("t", "unique"), None).words == "not run yet"


def test_names_and_errors_of_dbt_are_escaped() -> None:
    bad = '"><script>alert(1)</script>'
    error = replace(outcome("bad", "error", Status.FAILED), error=bad)
    found = index(
        replace(FAILED, word=bad, error=bad, command=bad),
        error,
        replace(CHECK, criteria=bad, error=bad),
        tests=(NodeTest("test.shop.bad", bad, "Id"), NodeTest("test.shop.bad", bad, bad)),
    )
    for shown in (page(found), page(found, RAW), home(found)):
        assert "<script" not in shown
