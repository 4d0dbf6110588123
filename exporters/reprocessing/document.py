"""The plan behind a taint as JSON, of the schema `docs/taint.schema.json`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from dbt_graft import __version__
from dbt_graft.analysis.dates.taint_plan import BadReport, TaintedOutput, TaintPlan
from dbt_graft.exporters.reprocessing.commands import RerunStep
from dbt_graft.lineage.dates.date_text import dates_json

VERSION = 1
SCHEMA_URL = "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/taint.schema.json"
Section = dict[str, Any]


def taint_json(
    plan: TaintPlan, steps: Sequence[RerunStep], backfills: Sequence[str], number: int | None
) -> Section:
    """The document.

    Args:
        number: The id of the taint on record, if it was recorded.
    """
    good = plan.last_good
    return {
        "$schema": SCHEMA_URL,
        "version": VERSION,
        "producer": f"dbt-graft {__version__}",
        "recorded_as": number,
        "bad": [
            {
                "dataset": str(write.dataset),
                "dates": dates_json(write.dates),
                "task": write.task or None,
                "run": write.run or None,
                "at": _time(write.at),
            }
            for write in plan.bad
        ],
        "last_good": {"task": good[0], "run": good[1], "at": _time(good[2])} if good else None,
        "rerun": [_step(step) for step in steps],
        "backfills": list(backfills),
        "tell": [_report(report) for report in plan.reports],
        "superseded": [
            {
                "dataset": str(write.output[1]),
                "dates": dates_json(write.dates),
                "task": write.task,
                "run": write.run,
                "at": _time(write.at),
            }
            for write in plan.superseded
        ],
        "unmapped": [
            {"task": task, "input": str(source), "output": str(target)}
            for (task, source, target), _ in plan.unmapped
        ],
        "cycles": [list(cycle) for cycle in plan.cycles],
    }


def _step(step: RerunStep) -> Section:
    rerun = step.rerun
    return {
        "task": rerun.name or None,
        "kind": "dbt" if rerun.is_definition else "task",
        "owner": rerun.info.owner or None,
        "dates": dates_json(rerun.dates),
        "outputs": [_output(output) for output in rerun.outputs],
        "commands": list(step.commands),
        "url": step.url or None,
        "note": step.note or None,
    }


def _output(output: TaintedOutput) -> Section:
    return {
        "dataset": str(output.dataset),
        "dates": dates_json(output.dates),
        "path": list(output.path),
        "runs": [{"run": run, "at": _time(at)} for run, at in output.runs.items()],
    }


def _report(report: BadReport) -> Section:
    return {
        "name": report.name,
        "kind": report.kind,
        "owner": report.owner or None,
        "url": report.url or None,
        "datasets": [
            {"dataset": str(dataset), "dates": dates_json(dates)}
            for dataset, dates in report.datasets.items()
        ],
        "read_at": _time(report.read_at),
    }


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None
