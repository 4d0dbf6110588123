"""Kinds of faults, by the names of tests; and the faults that results show."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.analysis.quality.faults import (
    checks_not_run,
    count_tests,
    kind_of_test,
    quality_faults,
)
from dbt_graft.analysis.quality.history import short_histories, write_history
from dbt_graft.lineage.building.checks import Check
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.describe import Consumer, Description, NodeTest, Role
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Direction, NodeResult, Run, Status
from dbt_graft.lineage.usage import Usage
from tests.cases import for_each

ORDERS = DatasetId("s3://lake", "orders")
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@for_each(
    "name, kind",
    [
        ("not_null", "completeness"),
        ("unique", "uniqueness"),
        ("relationships", "referential"),
        ("accepted_values", "validity"),
        ("dbt_utils_unique_combination_of_columns", "uniqueness"),
        ("dbt_utils_expression_is_true", "validity"),
        ("dbt_utils_recency", "freshness"),
        ("dbt_utils_at_least_one", "completeness"),
        ("dbt_utils_accepted_range", "validity"),
        ("dbt_expectations_expect_column_values_to_be_between", "validity"),
        ("dbt_expectations_expect_column_values_to_not_be_null", "completeness"),
        ("dbt_expectations_expect_table_row_count_to_equal", "completeness"),
        ("dbt_expectations_expect_column_values_to_be_unique", "uniqueness"),
        ("elementary_volume_anomalies", "drift"),
        ("elementary_freshness_anomalies", "drift"),
        ("NOT_NULL", "completeness"),
        ("assert_totals_are_positive", "other"),
        ("", "other"),
    ],
)
def test_the_kind_of_a_test(name: str, kind: str) -> None:
    assert kind_of_test(name).value == kind


STATUS = {"pass": Status.OK, "success": Status.OK, "skipped": Status.UNKNOWN}


def results(node: str, *words: str) -> dict[str, tuple[NodeResult, ...]]:
    """Results of a node, the newest first, an hour apart."""
    found = enumerate(words)
    return {
        node: tuple(
            NodeResult(
                *(node, f"i-{number}", "test", word),
                STATUS.get(word, Status.FAILED),
                *(2 * [NOON - timedelta(hours=number)]),
                max_loaded_at=NOON - timedelta(days=number),
            )
            for number, word in found
        )
    }


def described(*nodes: str, tests: tuple[NodeTest, ...] = ()) -> dict[DatasetId, Description]:
    return {
        ORDERS: Description(ORDERS, nodes[0], "orders", Role.SOURCE, tests=tests, dbt_ids=nodes)
    }


def test_a_test_of_an_ephemeral_model_is_of_what_contains_it() -> None:
    inner = NodeTest("test.a.fresh", "not_null", model="fresh_orders")
    description = replace(described("model.a.orders")[ORDERS], inner_tests=(inner,))
    lineage = Lineage(dbt=DbtRuns(results("test.a.fresh", "fail")))
    [fault] = quality_faults(lineage, {ORDERS: description})
    assert (fault.name, fault.kind.value) == ("not_null (fresh_orders)", "completeness")
    assert count_tests(lineage, {ORDERS: description}) == (1, 1)


CHECK = Check(ORDERS, "not_null", "id").id


@pytest.mark.parametrize(
    ("words", "found"),
    [(("fail", "pass"), [("not_null", "id", "completeness")]), (("pass", "fail"), [])],
)
def test_a_check_in_an_event_is_a_fault_without_dbt(
    words: tuple[str, ...], found: list[tuple[str, str, str]]
) -> None:
    lineage = Lineage(dbt=DbtRuns(results(CHECK, *words)))
    faults = quality_faults(lineage, {})
    assert [(fault.name, fault.column, fault.kind.value) for fault in faults] == found


@pytest.mark.parametrize(
    ("node", "words", "kinds"),
    [
        ("test.a.unique", ("skipped", "fail"), ["uniqueness"]),
        ("test.a.unique", ("skipped", "pass"), []),
        ("model.a.orders", ("skipped", "skipped", "error"), ["write"]),
        ("source.a.orders", ("runtime error", "error"), ["freshness"]),
        ("source.a.orders", ("runtime error", "pass"), []),
    ],
)
def test_what_dbt_did_not_get_to_is_as_it_was(
    node: str, words: tuple[str, ...], kinds: list[str]
) -> None:
    lineage = Lineage(dbt=DbtRuns(results(node, *words)))
    tests = (NodeTest("test.a.unique", "unique"),)
    faults = quality_faults(lineage, described(node.replace("test.", "seed."), tests=tests))
    assert [fault.kind.value for fault in faults] == kinds


@for_each(
    "words, faults, not_run",
    [
        (("error",), [], ["unique"]),
        (("error", "pass"), [], ["unique"]),
        (("skipped", "error", "pass"), [], ["unique"]),
        (("error", "fail"), ["unique"], ["unique"]),  # what it found then still counts
        (("fail", "error"), ["unique"], []),
        (("pass", "error"), [], []),
        (("skipped",), [], []),
    ],
)
def test_a_test_that_could_not_run_says_nothing_of_the_data(
    words: tuple[str, ...], faults: list[str], not_run: list[str]
) -> None:
    tests = (NodeTest("test.a.unique", "unique", "id"),)
    description = described("model.a.orders", tests=tests)[ORDERS]
    lineage = Lineage(dbt=DbtRuns(results("test.a.unique", *words)))

    assert [
        fault.name for fault in quality_faults(lineage, {ORDERS: description}, [ORDERS])
    ] == faults
    assert [check.name for check in checks_not_run(lineage, description)] == not_run
    has_verdict = {"fail", "pass"} & {*words}
    assert count_tests(lineage, {ORDERS: description}) == (bool(has_verdict), 1)


@pytest.mark.parametrize(
    ("words", "expected"),
    [(("runtime error", "pass"), ["freshness"]), (("pass", "runtime error"), []), (("error",), [])],
)
def test_a_freshness_check_that_could_not_run_says_nothing_of_the_data(
    words: tuple[str, ...], expected: list[str]
) -> None:
    description = described("source.a.orders")[ORDERS]
    lineage = Lineage(dbt=DbtRuns(results("source.a.orders", *words)))
    assert [check.kind.value for check in checks_not_run(lineage, description)] == expected


def test_a_unit_test_sees_no_data() -> None:
    tests = (NodeTest("unit_test.a.orders.adds", "adds"), NodeTest("test.a.adds", "adds_up"))
    verdicts = results("unit_test.a.orders.adds", "fail") | results("test.a.adds", "fail")
    lineage = Lineage(dbt=DbtRuns(verdicts))
    faults = quality_faults(lineage, described("model.a.orders", tests=tests))
    assert [fault.name for fault in faults] == ["adds_up"]


def test_a_check_of_no_dataset_is_none() -> None:
    lineage = Lineage(dbt=DbtRuns(results(Check(None, "unique").id, "fail")))
    assert quality_faults(lineage, {}) == []


def test_two_sources_of_one_table_are_one_fault() -> None:
    nodes = ("source.a.orders", "source.b.orders")
    lineage = Lineage(dbt=DbtRuns(results(nodes[0], "error") | results(nodes[1], "error")))
    [fault] = quality_faults(lineage, described(*nodes))
    assert (fault.kind.value, fault.failed_at) == ("freshness", NOON)


def test_freshness_checks_are_the_writes_of_a_source() -> None:
    lineage = Lineage(dbt=DbtRuns(results("source.a.orders", "pass", "error")))
    found = write_history(lineage, described("source.a.orders")).finished
    assert found == {ORDERS: [NOON - timedelta(days=1), NOON]}


@pytest.mark.parametrize("others", ["failed_runs", "idle_runs"])
def test_a_run_that_ends_well_and_failed_to_write_or_only_deletes_is_no_write(others: str) -> None:
    usage = Usage(
        *("load", ORDERS, Direction.WRITE, (Operation.INSERT,)),
        engine="sqlserver",
        run_ids=("1", "2"),
    )
    usage = replace(usage, **{others: ("2",)})  # type: ignore[arg-type]
    day = timedelta(days=1)
    runs = (Run("2", "load", "sqlserver", NOON, NOON, Status.OK),)
    runs += (Run("1", "load", "sqlserver", NOON - day, NOON - day, Status.OK),)
    lineage = Lineage(tasks={"load": Task("load", ("sqlserver",), (usage,), runs)})
    assert write_history(lineage, {}).finished == {ORDERS: [NOON - day]}


@pytest.mark.parametrize(
    ("runs", "repeats", "deadline", "tasks"),
    [
        (range(30), {"run-29": 400}, "08:00", {"hourly"}),
        (range(30), {}, "08:00", set()),  # all are listed
        (range(0, 24 * 30, 24), {"run-0": 400}, "08:00", set()),  # a month is
        (range(30), {"run-29": 400}, "", set()),
    ],
)
def test_tasks_that_run_all_day_have_a_short_history(
    runs: range, repeats: dict[str, int], deadline: str, tasks: set[str]
) -> None:
    at = [NOON - timedelta(hours=hour) for hour in runs]
    task = Task(
        "hourly",
        ("spark",),
        (Usage("hourly", DatasetId("db", "raw"), Direction.WRITE, (Operation.INSERT,)),),
        tuple(Run(f"run-{n}", "hourly", "spark", one, one) for n, one in enumerate(at)),
        repeats=repeats,
    )
    lineage = Lineage(
        tasks={"hourly": task}, flows=(Flow(DatasetId("db", "raw"), ORDERS, "hourly"),)
    )
    board = Consumer("e", "board", "dashboard", (ORDERS,), deadline=deadline)
    assert short_histories(lineage, [board], NOON) == tasks
