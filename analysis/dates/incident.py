"""An incident as an answer: a bad run, where its data went, what must run again, whom to tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dbt_graft.analysis.answer import Answer, Cell, Table, Tree
from dbt_graft.analysis.dates.incident_json import late_json, plan_json, recorded_json
from dbt_graft.analysis.dates.late_outputs import LateOutput
from dbt_graft.analysis.dates.taint_plan import RerunStep, TaintedOutput, TaintPlan
from dbt_graft.analysis.history.bad_streak import BadStreak
from dbt_graft.analysis.history.dag_runs import DagRun
from dbt_graft.analysis.render.json import exact_iso
from dbt_graft.analysis.render.phrases import count, join_names, open_note, time_text
from dbt_graft.lineage.dates.calendar import Dates
from dbt_graft.lineage.dates.date_text import dates_text
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.recorded_taint import RecordedTaint
from dbt_graft.lineage.records import Status

_RANGES = 8  # of dates in a cell
_OUTPUTS = 20
_NAMES = 3  # of late datasets in the verdict
_DATASET = ("dataset", "dates", "run", "task", "at")


@frozen
class Incident:
    """Bad data, and what must be done about it.

    Attributes:
        late: What a failed run should have written, which is bad for being old.
        steps: The tasks of the plan with their commands.
        backfills: The commands that run complete DAGs again.
        number: Its id on record; None if it is not recorded.
        open_tasks: The tasks that may read or write more than is known.
    """

    plan: TaintPlan
    steps: Sequence[RerunStep]
    backfills: Sequence[str]
    number: int | None = None
    late: Sequence[LateOutput] = ()
    open_tasks: Sequence[str] = ()


def is_late_alone(plan: TaintPlan, late: Sequence[LateOutput]) -> bool:
    """Whether data is old, and none is wrong."""
    datasets = {output.dataset for output in late}
    return bool(late) and all(write.dataset in datasets for write in plan.bad)


def bad_data_answer(incident: Incident, files: Sequence[str] = ()) -> Answer:
    """The plan behind bad data: all that it went into, and what must run again.

    Args:
        files: Those of the DAG that was written.
    """
    first = incident.plan.bad[0].dataset.short
    recorded = {"on record as": incident.number} if incident.number else {}
    return _answer(f"bad data of {first}", _verdict(incident), recorded, [], incident, files)


def bad_run_answer(
    run: Mapping[str, Any],
    first: BadStreak | None,
    incident: Incident | None,
    verdict: str = "no log shows that it wrote anything",
    open_tasks: Sequence[str] = (),
    *,
    is_on_record: bool = False,
) -> Answer:
    """The report of a bad run.

    Args:
        is_on_record: An incident says that it is bad.
        run: Its manifest.
        first: The first bad run; None if nothing shows that it was bad.
        incident: None where nothing that it wrote is bad, and nothing late.
        verdict: Why there is none.
        open_tasks: Its task, where that may write more than is known.
    """
    checks = run["quality"]["checks"]
    failed = [check for check in checks if check["status"] == "failed"]
    facts = {
        "status": run["status"] + (f", try {run['attempt']}" if run["attempt"] else ""),
        "time": " to ".join(
            time_text(run[name], seconds=True)
            for name in ("started_at", "finished_at")
            if run[name]
        ),
        "error": run["error"],
        "code": ", ".join(filter(None, (run["code"][key] for key in ("version", "repo", "path")))),
        "owner": run["owner"],
        "log": run["url"],
        "tests after it": f"{len(failed)} of {len(checks)} failed" if checks else "",
        "first bad run": _first(run, first) if first else "",
    }
    tables = [
        Table(
            "failed tests",
            ("test", "dataset", "rows"),
            [(check["test"], check["dataset"], check["failures"]) for check in failed],
        ),
        Table(
            "run again",
            ("run", "task", "at"),
            [
                (again["run_id"], again["task"], time_text(again["at"], seconds=True))
                for again in run["superseded_by"]
            ],
        ),
    ]
    if run["status"] == Status.FAILED:
        done = [output for output in run["outputs"] if output["status"] != Status.FAILED]
        rows = [
            (output["dataset"], output["rows"], time_text(output["last_at"], seconds=True))
            for output in done
        ]
        tables.append(Table("written before it failed", ("dataset", "rows", "at"), rows))
    verdict = _verdict(incident) if incident else verdict
    if incident and not (first or incident.late or is_on_record):
        verdict = f"nothing on record says that it is bad; if it is, {verdict}"
    title = f"run {run['run_id']} of {run['task']}"
    known = {name: value for name, value in facts.items() if value}
    return _answer(
        title, verdict, known, tables, incident, run=run, first=first, open_tasks=open_tasks
    )


def dag_run_answer(dag_run: DagRun, incident: Incident | None) -> Answer:
    """The report of a run of a DAG.

    Args:
        incident: None where nothing of it is late.
    """
    failed = sum(run.status is Status.FAILED for run in dag_run.tries.values())
    facts: dict[str, Cell] = {"status": dag_run.status.value}
    if dag_run.date:
        facts["for"] = dag_run.date
    if dag_run.started_at:
        facts["began"] = time_text(dag_run.started_at)
    tasks = Table(
        "tasks",
        ("task", "status", "try", "began", "error"),
        [
            (
                name,
                run.status.value,
                run.attempt,
                time_text(run.started_at),
                run.error or "",
            )
            for name, run in dag_run.tries.items()
        ]
        + [(name, "did not run", None, "", "") for name in dag_run.missing],
    )
    verdict = f"{failed} of {count(len(dag_run.tries), 'task')} failed"
    if incident:
        verdict += f"; {_verdict(incident)}"
    elif failed:
        verdict += "; nothing that they should have written is known to be late"
    title = f"run {dag_run.name} of DAG {dag_run.dag}"
    return _answer(title, verdict, facts, [tasks], incident)


def files_table(files: Sequence[str]) -> Table:
    """The files of a DAG that was written."""
    return Table("files", (), [(file,) for file in files])


def incidents_answer(incidents: Sequence[RecordedTaint]) -> Answer:
    """The incidents on record, the newest first."""
    closed = sum(incident.cleared_at is not None for incident in incidents)
    return Answer(
        "incidents on record",
        f"{len(incidents) - closed:,} open, {closed:,} closed" if incidents else "none",
        tables=[
            Table(
                "incidents",
                ("id", *_DATASET[:4], "outputs", "closed", "reason", "link"),
                [
                    (
                        incident.number,
                        str(incident.dataset),
                        dates_text(incident.begin, most=3),
                        incident.run,
                        incident.task,
                        len(incident.tainted),
                        f"{incident.cleared_at:%Y-%m-%d}" if incident.cleared_at else "",
                        incident.reason,
                        incident.link,
                    )
                    for incident in incidents
                ],
            )
        ],
        question="incidents",
        data={"incidents": [recorded_json(incident) for incident in incidents]},
    )


def _answer(
    title: str,
    verdict: str,
    facts: Mapping[str, Cell],
    tables: Sequence[Table],
    incident: Incident | None,
    files: Sequence[str] = (),
    run: Mapping[str, Any] | None = None,
    first: BadStreak | None = None,
    open_tasks: Sequence[str] = (),
) -> Answer:
    plan = incident.plan if incident else None
    document = plan_json(incident.plan, incident.steps, incident.backfills) if incident else None
    good = plan.last_good if plan else None
    last_good = {"last good run": f"{good[1]} of {good[0]} at {time_text(good[2])}"} if good else {}
    return Answer(
        title,
        verdict,
        {**(_who_has_old_data(incident) if incident else {}), **facts, **last_good},
        # What a person needs first: what is late or bad, what to run, whom to tell.
        [*(_plan_tables(incident) if incident else ()), *tables, files_table(files)],
        [
            f"no order is right for tasks that need each other: {' -> '.join(cycle)}"
            for cycle in (plan.cycles if plan else ())
        ]
        + open_note(incident.open_tasks if incident else open_tasks),
        question="incident",
        data={
            "number": incident.number if incident else None,
            "run": run,
            "first_bad": {
                "run_id": first.run.run_id,
                "at": exact_iso(first.run.started_at),
                "runs": first.runs,
            }
            if first
            else None,
            "late": [late_json(output) for output in incident.late] if incident else [],
            "plan": document,
        },
    )


def _verdict(incident: Incident) -> str:
    certain = sum(step.rerun.is_certain for step in incident.steps)
    possible = len(incident.steps) - certain
    if not incident.steps:
        return "nothing must run again"
    must = f"{count(certain, 'task')} must run again" if certain else ""
    may = f"{count(possible, 'task')} may have to run again" if possible else ""
    verdict = ", ".join(filter(None, (must, may)))
    if not incident.late:
        return verdict
    names = join_names([output.dataset.short for output in incident.late], _NAMES)
    doubt = "may be " if all(output.is_doubtful for output in incident.late) else ""
    since = min(output.since for output in incident.late)
    return f"{names} {doubt}late since {time_text(since)}: {verdict}"


def _who_has_old_data(incident: Incident) -> dict[str, Cell]:
    """The consumers and the tasks that read late datasets since, as a fact."""
    readers = sorted({task for output in incident.late for task in output.readers})
    having = dict.fromkeys((*(report.name for report in incident.plan.reports), *readers))
    names = join_names([*having], 2 * _NAMES)
    return {"has old data": names or "nobody, by the logs"} if incident.late else {}


def _first(run: Mapping[str, Any], first: BadStreak) -> str:
    if first.run.run_id == run["run_id"]:
        return "this one"
    at = f" at {time_text(first.run.started_at)}" if first.run.started_at else ""
    runs = count(first.runs, "run")
    return f"{first.run.run_id}{at}, {runs} up to this one; report that one instead"


def _plan_tables(incident: Incident) -> Iterator[Table | Tree]:
    plan = incident.plan
    late = {output.dataset for output in incident.late}
    yield Table(
        "late",
        ("dataset", "dates", "last written", "by run", "since"),
        [
            (
                str(output.dataset),
                _dates(output.dates),
                time_text(output.last_write.last_at)
                if output.last_write and output.last_write.last_at
                else "never, by the logs",
                output.last_write.run_id if output.last_write else "",
                "it may be there: no log shows how its write ended, or for which dates"
                if output.is_doubtful
                else "",
            )
            for output in incident.late
        ],
    )
    yield Table(
        "bad data",
        _DATASET,
        [
            (
                str(write.dataset),
                dates_text(write.dates, most=_RANGES),
                write.run,
                write.task,
                time_text(write.at) if write.at else "since before the logs begin",
            )
            for write in plan.bad
            if write.dataset not in late
        ],
    )
    if incident.steps:
        word = "old" if is_late_alone(plan, incident.late) else "bad"
        branches = tuple(_step_tree(step, word) for step in incident.steps)
        yield Tree("run again, in this order", branches)
    if incident.backfills:
        yield Tree("or complete DAGs", tuple(map(_command, incident.backfills)))
    yield Table(
        "let know",
        ("", "kind", "owner", "has", "last read"),
        [
            (
                report.name,
                report.kind,
                report.owner,
                ", ".join(
                    f"{dataset.short} {_dates(dates) if dates else '(clean again)'}"
                    for dataset, dates in report.datasets.items()
                ),
                time_text(report.read_at),
            )
            for report in plan.reports
        ],
    )
    yield Table(
        "clean again",
        _DATASET,
        [
            (str(write.output[1]), _dates(write.dates), write.run, write.task, time_text(write.at))
            for write in reversed(plan.superseded)
        ],
    )
    yield Table(
        "all dates count, as nothing maps them",
        ("from", "to", "by"),
        [(str(source), str(target), task) for (task, source, target), _ in plan.unmapped],
    )


def _step_tree(step: RerunStep, word: str) -> Tree:
    rerun = step.rerun
    owner = f" ({rerun.info.owner})" if rerun.info.owner else ""
    dates = dates_text(rerun.dates, rerun.grain, _RANGES)
    reasons = [Tree(_reason(output, word)) for output in rerun.outputs[:_OUTPUTS]]
    if len(rerun.outputs) > _OUTPUTS:
        reasons.append(Tree(f"and {len(rerun.outputs) - _OUTPUTS:,} more datasets"))
    notes = (Tree(text) for text in (step.url, step.note) if text)
    doubt = "" if rerun.is_certain else ", may be"
    title = f"{rerun.name or 'unknown writer'}{owner}: {dates}{doubt}"
    return Tree(title, (*reasons, *map(_command, step.commands), *notes))


def _reason(output: TaintedOutput, word: str) -> str:
    dates = dates_text(output.dates, output.grain, _RANGES)
    runs = (
        f", {count(len(output.runs), 'bad run' if word == 'bad' else 'run')}" if output.runs else ""
    )
    path = f" by {' -> '.join(output.path)}" if len(output.path) > 1 else ""
    doubtful = output.dates - output.certain
    doubt = f", of them {dates_text(doubtful, output.grain, _RANGES)} may be" if doubtful else ""
    if not output.certain:
        doubt = f" may be {word}"
    return f"{output.dataset.short} {dates}{doubt}{runs}{path}"


def _command(command: str) -> Tree:
    return Tree(command, is_command=True)


def _dates(dates: Dates) -> str:
    return dates_text(dates, most=_RANGES)
