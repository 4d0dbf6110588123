"""Past runs with their rows: which numbers are odd, and of whom."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dbt_graft.catalog.run_history import (
    SHOWN,
    odd_counts,
    results_history,
    task_history,
    usages_history,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Direction, NodeResult, Run, Status
from dbt_graft.lineage.usage import Usage
from tests.cases import for_each

DAY = datetime(2026, 11, 1, tzinfo=UTC)
ORDERS, SALES = DatasetId("spark", "raw.orders"), DatasetId("spark", "raw.sales")
STEADY = [1000, 1010, 990, 1005, 995, 1002, 998, 1001, 1003]


@for_each(
    "counts, odd",
    [
        ([*STEADY, 12], [12]),
        ([*STEADY, 5000], [5000]),
        ([*STEADY, 0], [0]),
        ([*STEADY, 1060], []),  # within a tenth
        ([100] * 9 + [101], []),  # no deviation at all, and still not odd
        ([100] * 9 + [150], [150]),
        ([0] * 9 + [3], [3]),
        ([1000, 10, 1000, 10, 1000, 10, 1000, 10, 900, 12], []),  # they simply vary
        ([int(1000 * 1.02**n) for n in range(30)], []),  # it grows
        ([1000] * 22 + [500] * 8, []),  # fewer on each weekend
        ([1000] * 6 + [1], []),  # too few to know
        ([], []),
    ],
)
def test_a_number_of_rows_is_odd_if_it_differs_strongly_from_the_others(
    counts: list[int], odd: list[int]
) -> None:
    assert [
        count for count, is_odd in zip(counts, odd_counts(counts), strict=True) if is_odd
    ] == odd


def run(day: int, task: str = "load", engine: str = "spark", status: Status = Status.OK) -> Run:
    at = DAY + timedelta(days=day)
    return Run(f"r{day:02}", task, engine, at, at + timedelta(minutes=1), status)


def usage(dataset: DatasetId, rows: dict[int, int], task: str = "load") -> Usage:
    ids = tuple(f"r{day:02}" for day in sorted(rows))
    return Usage(
        task,
        dataset,
        Direction.WRITE,
        engine="spark",
        run_ids=ids,
        run_rows=tuple(rows[day] for day in sorted(rows)),
    )


def test_the_newest_runs_have_the_rows_that_they_wrote_into_the_dataset() -> None:
    days = range(SHOWN + 5)
    write = usage(ORDERS, {day: 7 if day == 30 else 100 for day in days})
    task = Task("load", ("spark",), (write,), tuple(run(day) for day in reversed(days)))
    history = usages_history(Lineage(tasks={"load": task}), [write])
    assert (len(history.runs), history.omitted) == (SHOWN, 5)
    assert history.runs[0].started_at == DAY + timedelta(days=34)
    assert [(one.rows, one.usual_rows) for one in history.runs if one.usual_rows] == [(7, 100)]
    assert history.columns == {"rows"}


def test_rows_of_one_task_say_nothing_about_those_of_another() -> None:
    large = usage(ORDERS, dict.fromkeys(range(9), 1000), "large")
    small = usage(ORDERS, dict.fromkeys(range(9), 3), "small")
    tasks = {
        one.task: Task(one.task, ("spark",), (one,), tuple(run(day, one.task) for day in range(9)))
        for one in (large, small)
    }
    history = usages_history(Lineage(tasks=tasks), [large, small])
    assert len(history.runs) == 18
    assert not any(one.usual_rows for one in history.runs)
    assert history.columns == {"task", "rows"}


def test_a_tasks_history_adds_up_what_each_run_wrote() -> None:
    writes = (usage(ORDERS, {0: 10, 1: 20}), usage(SALES, {1: 5}))
    task = Task("load", ("spark",), writes, (run(1), run(0)))
    assert [one.rows for one in task_history(Lineage(), task, writes).runs] == [25, 10]


def test_the_rows_of_another_engine_are_not_those_of_the_run() -> None:
    write = usage(ORDERS, {0: 10})
    task = Task("load", ("sqlserver",), (write,), (run(0, engine="sqlserver"),))
    assert [one.rows for one in task_history(Lineage(), task, [write]).runs] == [None]


def test_a_failed_run_is_not_odd_and_makes_no_other_odd() -> None:
    write = usage(ORDERS, {day: 1 if day == 3 else 100 for day in range(12)})
    runs = tuple(run(day, status=Status.FAILED if day == 3 else Status.OK) for day in range(12))
    history = usages_history(
        Lineage(tasks={"load": Task("load", ("spark",), (write,), runs)}), [write]
    )
    assert not any(one.usual_rows for one in history.runs)


def test_results_of_dbt_keep_dbts_words() -> None:
    results = [
        NodeResult("model.x.a", "i2", "build", "error", Status.FAILED, DAY, error="broken"),
        NodeResult("model.x.a", "i1", "run", "success", Status.OK, DAY - timedelta(1), rows=3),
    ]
    history = results_history(results)
    assert [(one.word, one.look, one.command, one.rows, one.error) for one in history.runs] == [
        ("error", "failed", "build", None, "broken"),
        ("success", "ok", "run", 3, ""),
    ]
    assert history.columns == {"command", "rows"}
    assert not results_history([])
