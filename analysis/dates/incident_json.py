"""Incidents as JSON, of the schemas `incident` and `incidents` of docs/."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt_graft.analysis.dates.late_outputs import LateOutput
from dbt_graft.analysis.dates.taint_plan import BadReport, RerunStep, TaintPlan
from dbt_graft.analysis.render.json import exact_iso
from dbt_graft.lineage.dates.date_text import dates_iso, dates_json
from dbt_graft.lineage.recorded_taint import RecordedTaint

Section = dict[str, Any]


def plan_json(plan: TaintPlan, steps: Sequence[RerunStep], backfills: Sequence[str]) -> Section:
    """The plan behind bad data.

    Args:
        steps: Its tasks with their commands.
        backfills: The commands that run complete DAGs again.
    """
    good = plan.last_good
    return {
        "bad": [
            {
                "dataset": str(write.dataset),
                "dates": dates_json(write.dates),
                "task": write.task or None,
                "run": write.run or None,
                "at": exact_iso(write.at),
            }
            for write in plan.bad
        ],
        "last_good": {"task": good[0], "run": good[1], "at": exact_iso(good[2])} if good else None,
        "rerun": [_step_json(step) for step in steps],
        "backfills": list(backfills),
        "tell": [_report_json(report) for report in plan.reports],
        "superseded": [
            {
                "dataset": str(write.output[1]),
                "dates": dates_json(write.dates),
                "task": write.task,
                "run": write.run,
                "at": exact_iso(write.at),
            }
            for write in plan.superseded
        ],
        "unmapped": [
            {"task": task, "input": str(source), "output": str(target)}
            for (task, source, target), _ in plan.unmapped
        ],
        "cycles": [list(cycle) for cycle in plan.cycles],
    }


def late_json(output: LateOutput) -> Section:
    """A dataset that a failed run should have written."""
    last = output.last_write
    return {
        "dataset": str(output.dataset),
        "dates": dates_json(output.dates),
        "since": exact_iso(output.since),
        "last_write": {"task": last.task, "run": last.run_id, "at": exact_iso(last.last_at)}
        if last
        else None,
        "is_doubtful": output.is_doubtful,
        "readers": list(output.readers),
    }


def _step_json(step: RerunStep) -> Section:
    rerun = step.rerun
    return {
        "task": rerun.name or None,
        "kind": "dbt" if rerun.is_definition else "task",
        "owner": rerun.info.owner or None,
        "dates": dates_json(rerun.dates),
        "outputs": [
            {
                "dataset": str(output.dataset),
                "dates": dates_json(output.dates),
                "certain": dates_json(output.certain),
                "path": list(output.path),
                "runs": [{"run": run, "at": exact_iso(at)} for run, at in output.runs.items()],
            }
            for output in rerun.outputs
        ],
        "commands": list(step.commands),
        "url": step.url or None,
        "note": step.note or None,
    }


def _report_json(report: BadReport) -> Section:
    return {
        "name": report.name,
        "kind": report.kind,
        "owner": report.owner or None,
        "url": report.url or None,
        "datasets": [
            {"dataset": str(dataset), "dates": dates_json(dates)}
            for dataset, dates in report.datasets.items()
        ],
        "read_at": exact_iso(report.read_at),
    }


def recorded_json(incident: RecordedTaint) -> Section:
    """An incident on record."""
    return {
        "id": incident.number,
        "recorded_at": exact_iso(incident.recorded_at),
        "dataset": str(incident.dataset),
        "dates": dates_iso(incident.begin),
        "task": incident.task or None,
        "run": incident.run or None,
        "outputs": len(incident.tainted),
        "reason": incident.reason or None,
        "link": incident.link or None,
        "closed_at": exact_iso(incident.cleared_at),
    }
