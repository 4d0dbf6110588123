"""The report of a bad run, of a run of a DAG, or of an incident on record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.access_index import Execution
from dbt_graft.analysis.dates.bad_writes import bad_runs
from dbt_graft.analysis.dates.incident import Incident, bad_run_answer, dag_run_answer
from dbt_graft.analysis.dates.late_outputs import LateOutput, late_outputs
from dbt_graft.analysis.history.bad_streak import first_bad_run
from dbt_graft.analysis.history.dag_runs import DagRun
from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.collectors.store.selected import tasks_of_runs
from dbt_graft.collectors.store.taints import recorded_taints
from dbt_graft.exporters.run_manifest import run_manifest
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.dated_lineage import DatedLineage, dated_lineage
from dbt_graft.graft.project.names import find_run, tasks_beside
from dbt_graft.graft.questions.incident import (
    dag_run_named,
    follow_writes,
    run_ids_named,
    tasks_reached_by,
)
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.gaps import open_tasks
from dbt_graft.lineage.recorded_taint import RecordedTaint
from dbt_graft.lineage.records import Run, Status
from dbt_graft.lineage.urls import dag_path, task_path


def report_run(config: Config, name: str, task: str | None) -> tuple[Answer, Incident | None]:
    """The report of a bad run, and what must be done about it; None if nothing must.

    Args:
        name: Its id, `last` for the newest of the task, or the id of an incident on record.

    Raises:
        GraftError: There is no such run, or several are meant.
    """
    answer, page, incident = _report_run(config, name, task)
    site = config.site.url.rstrip("/")
    known = {"page": f"{site}/{page}"} if site else {}
    return replace(answer, facts={**answer.facts, **known}), incident


def _report_run(config: Config, name: str, task: str | None) -> tuple[Answer, str, Incident | None]:
    """The report, with the page that has the run."""
    incidents = recorded_taints(config.path(config.store))
    on_record = _run_on_record(incidents, name)
    run_id, task = on_record or (name, task)

    def tasks_around(history: AccessHistory) -> set[str]:
        run_ids = run_ids_named(history, run_id)
        tasks = {task} if task else tasks_of_runs(config.path(config.store), run_ids)
        beside = {other for known in tasks for other in tasks_beside(history.lineage, known)}
        return beside | tasks_reached_by(history, tasks)

    dated = dated_lineage(AskedLineage(config), tasks_around)
    history = dated.history
    if dag_run := None if task else dag_run_named(history, run_id):
        return _report_dag_run(dated, dag_run)
    try:
        run_task, run = find_run(history.lineage, run_id, task)
    except GraftError as error:
        if task or not name.isdecimal():
            raise
        numbers = [str(incident.number) for incident in incidents]
        raise GraftError(
            "there is no incident of this id, and no such run in the store",
            place=name,
            remedy=f"on record: {join_names(numbers, 10)}"
            if numbers
            else "no incident is on record; `graft incident open` records bad data",
        ) from error
    page = task_path(run_task.name)
    manifest = run_manifest(history, dated.descriptions, run_task, run)
    failed = [check["id"] for check in manifest["quality"]["checks"] if check["status"] == "failed"]
    first = first_bad_run(history.lineage, run_task, run, failed)
    bad = bad_runs(history, [_execution(run)])
    unknown = [name for name in open_tasks(history.lineage) if name == run_task.name]
    if run.status is not Status.FAILED:
        incident = follow_writes(dated, bad).incident() if bad else None
        answer = bad_run_answer(
            manifest, first, incident, open_tasks=unknown, is_on_record=on_record is not None
        )
        return answer, page, incident
    # What it wrote before it failed is bad only where a test says so.
    wrong = {
        check["dataset"]
        for check in manifest["quality"]["checks"]
        if check["status"] == Status.FAILED
    }
    wrong_writes = [write for write in bad if str(write.dataset) in wrong]
    outputs = late_outputs(history, run_task, run, first.run.started_at if first else None)
    late = tuple(output for output in outputs if output.dates)
    if late or wrong_writes:
        followed = follow_writes(dated, wrong_writes, {_execution(run): late} if late else None)
        incident = followed.incident()
        return bad_run_answer(manifest, first, incident), page, incident
    if outputs:
        verdict = "all that it should have written was written since"
    elif bad:
        verdict = "it had written all that its last good run wrote"
    else:
        verdict = "no log shows what it should have written"
    return bad_run_answer(manifest, first, None, verdict, unknown), page, None


def _report_dag_run(dated: DatedLineage, dag_run: DagRun) -> tuple[Answer, str, Incident | None]:
    """The report of a run of a DAG: its tasks, and what those that failed should have written."""
    history = dated.history
    late: dict[Execution, list[LateOutput]] = {}
    for attempt in (*dag_run.tries.values(), *dag_run.missing.values()):
        if attempt.status is Status.FAILED and (task := history.lineage.tasks.get(attempt.task)):
            # What the engine's log shows of a try stands for it.
            run = next(
                (run for run in task.runs if attempt.run_id in (run.run_id, run.parent_run_id)),
                attempt,
            )
            first = first_bad_run(history.lineage, task, run, ())
            outputs = late_outputs(history, task, run, first.run.started_at if first else None)
            late[_execution(run)] = [output for output in outputs if output.dates]
    followed = follow_writes(dated, [], {key: outputs for key, outputs in late.items() if outputs})
    incident = followed.incident() if followed.late else None
    return dag_run_answer(dag_run, incident), dag_path(dag_run.dag), incident


def _run_on_record(incidents: Iterable[RecordedTaint], name: str) -> tuple[str, str] | None:
    """The run, and its task, with which an incident on record begins; None if it is none's id."""
    for incident in incidents:
        if str(incident.number) == name:
            if not incident.run:
                raise GraftError(
                    "no log shows the run with which this incident begins",
                    place=name,
                    remedy=f"see `graft incident open {incident.dataset} --dates … --dry-run`",
                )
            return incident.run, incident.task
    return None


def _execution(run: Run) -> Execution:
    return run.task, run.parent_run_id or run.run_id
