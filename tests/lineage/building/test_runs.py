"""Runs whose story is spread over several logs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dbt_graft.lineage.building.runs import runs_by_task
from dbt_graft.lineage.records import Run, Status
from tests.cases import for_each

START = datetime(2026, 11, 1, tzinfo=UTC)


def run(start: int | None, end: int | None, status: Status = Status.OK, **known: str) -> Run:
    def at(minutes: int | None) -> datetime | None:
        return None if minutes is None else START + timedelta(minutes=minutes)

    return Run("r1", "load", "sqlserver", at(start), at(end), status, **known)  # type: ignore[arg-type]


MERGED = {
    "from the earliest start to the latest end": ([run(5, 9), run(1, 6)], run(1, 9)),
    "an end that is known counts": ([run(1, None), run(2, 6)], run(1, 6)),
    "the last log decides how it ended": (
        [run(1, 6, Status.FAILED, error="Deadlock"), run(5, 9)],
        run(1, 9),
    ),
    "whichever came first": (
        [run(5, 9, Status.FAILED, error="Deadlock"), run(1, 6)],
        run(1, 9, Status.FAILED, error="Deadlock"),
    ),
    "fields of only one log stay": (
        [run(1, 6, application_id="app"), run(5, 9, code_version="v1", parent_run_id="dag")],
        run(1, 9, application_id="app", code_version="v1", parent_run_id="dag"),
    ),
    "of an orchestrator's those of the last log with one": (
        [run(1, 6, job="airflow/shop.load", attempt=1), run(5, 9, url="https://a/log", attempt=2)],
        run(1, 9, job="airflow/shop.load", attempt=2, url="https://a/log"),
    ),
    "the version is that of the last log with one": (
        [run(1, 6, engine_version="4.0.1"), run(5, 9, engine_version="4.3.0"), run(6, 10)],
        run(1, 10, engine_version="4.3.0"),
    ),
}


@for_each("claim", MERGED)
def test_one_run_of_several_logs(claim: str) -> None:
    runs, expected = MERGED[claim]
    assert runs_by_task(runs) == {"load": (expected,)}


def test_tasks_and_other_runs_stay_separate() -> None:
    runs = [run(1, 2), Run("r2", "load", "sqlserver"), Run("r1", "use", "sqlserver")]
    found = runs_by_task(runs)
    assert {task: [run.run_id for run in of] for task, of in found.items()} == {
        "load": ["r1", "r2"],
        "use": ["r1"],
    }
