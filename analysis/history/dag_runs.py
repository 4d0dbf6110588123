"""Runs of DAGs: a run of an orchestrator's DAG with the tries of its tasks, by the names it has.

Events name it in each of its runs: `dag/run id`, and `dag/task/run id` for a task, or
`dag/task[0]/run id` for an instance of a mapped task.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime

from dbt_graft.lineage.airflow_names import task_of_instance
from dbt_graft.lineage.building.nominal_periods import nominal_period
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.records import Run, Status

_BEGINNING = datetime.min.replace(tzinfo=UTC)


@frozen
class DagRun:
    """A run of a DAG.

    Attributes:
        name: Its id in the orchestrator: `scheduled__2026-10-01T05:00:00+00:00`.
        own: The run of the DAG itself; None where no event shows it.
        tries: Of each task, by its name in the DAG, the newest try; each instance of a mapped task
            is listed by itself.
        missing: Of each task that a failed run did not get to the run that it should have been.
    """

    dag: str
    name: str
    own: Run | None
    tries: Mapping[str, Run]
    missing: Mapping[str, Run] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        """Its own, or else that of its tasks."""
        if self.own and self.own.status is not Status.UNKNOWN:
            return self.own.status
        statuses = {run.status for run in self.tries.values()}
        return next(
            (status for status in (Status.FAILED, Status.UNKNOWN) if status in statuses), Status.OK
        )

    @property
    def started_at(self) -> datetime | None:
        """The time at which it, or the first of its tasks, began."""
        return min((run.started_at for run in self.runs() if run.started_at), default=None)

    @property
    def ended_at(self) -> datetime | None:
        """The time at which it ended; None where no event shows it."""
        return self.own.ended_at if self.own else None

    @property
    def date(self) -> str:
        """The first date of its data interval; empty where it has none."""
        for run in self.runs():
            if run.nominal_start:
                period = nominal_period(run.nominal_start, run.nominal_end, run.timezone or "")
                first = period.start if period and period.start else run.nominal_start
                return f"{first:%Y-%m-%d}"
        return ""

    def runs(self) -> Sequence[Run]:
        """Its own run, and the tries."""
        return (*((self.own,) if self.own else ()), *self.tries.values())


def dag_runs(runs: Mapping[str, Run]) -> list[DagRun]:
    """The runs of DAGs behind runs of orchestrators, oldest first.

    A failed one has the tasks that it did not get to, by the last good run before it.
    """
    own: dict[tuple[str, str], Run] = {}
    tries: dict[tuple[str, str], dict[str, Run]] = defaultdict(dict)
    for run in sorted(runs.values(), key=lambda run: (run.started_at or _BEGINNING, run.run_id)):
        parts = (run.application_id or "").split("/", 2)
        if len(parts) == 2:
            own[parts[0], parts[1]] = run
        elif len(parts) == 3:
            tries[parts[0], parts[2]][parts[1]] = run
    listed = [DagRun(*key, own.get(key), tries.get(key, {})) for key in {*own, *tries}]
    listed.sort(key=lambda dag_run: (dag_run.started_at or _BEGINNING, dag_run.dag))
    last_good: dict[str, Mapping[str, Run]] = {}
    for number, dag_run in enumerate(listed):
        status = dag_run.status
        if status is Status.OK:
            last_good[dag_run.dag] = dag_run.tries
        elif status is Status.FAILED:
            missing = _missing(dag_run, last_good.get(dag_run.dag, {}))
            listed[number] = replace(dag_run, missing=missing)
    return listed


def runs_by_dag(runs: Mapping[str, Run]) -> dict[str, list[DagRun]]:
    """The runs of each DAG, newest first."""
    listed = reversed(dag_runs(runs))
    return dict(sorted(group_by_key((run.dag, run) for run in listed).items()))


def failed_dags(dags: Mapping[str, Sequence[DagRun]]) -> list[DagRun]:
    """The newest run of each DAG whose newest run failed, the newest first.

    Args:
        dags: The runs of each, newest first.
    """
    failed = [runs[0] for runs in dags.values() if runs[0].status is Status.FAILED]
    return sorted(failed, key=lambda run: (run.started_at or _BEGINNING, run.dag), reverse=True)


def find_dag_run(runs: Mapping[str, Run], name: str) -> DagRun | None:
    """The run of a DAG that a name means; None where it means none.

    Args:
        name: Its id, `dag/id`, or `dag/2026-10-01`, the date that it is for; of a run without one
            the day on which it began.

    Raises:
        GraftError: It means several.
    """
    listed = dag_runs(runs)
    matches = [run for run in listed if name in (run.name, f"{run.dag}/{run.name}")] or [
        run for run in listed if name == f"{run.dag}/{run.date or _day(run.started_at)}"
    ]
    if len(matches) > 1:
        names = ", ".join(f"{run.dag}/{run.name}" for run in matches[:5])
        problem = f"{len(matches)} runs of DAGs have this name"
        raise GraftError(problem, place=name, remedy=f"write one of: {names}")
    return matches[0] if matches else None


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else ""


def _missing(dag_run: DagRun, usual: Mapping[str, Run]) -> dict[str, Run]:
    """Task -> the run that it should have been, of those that a run did not get to."""
    of_date = next((run for run in dag_run.runs() if run.nominal_start), None)
    reached = set(map(task_of_instance, dag_run.tries))
    return {
        task_of_instance(name): Run(
            *(dag_run.name, run.task, run.engine, dag_run.started_at, None, Status.FAILED),
            nominal_start=of_date.nominal_start if of_date else None,
            nominal_end=of_date.nominal_end if of_date else None,
            timezone=of_date.timezone if of_date else None,
        )
        for name, run in usual.items()
        if task_of_instance(name) not in reached
    }
