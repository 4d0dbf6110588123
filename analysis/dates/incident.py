"""The report of an incident: a bad run, what came of it, whom to tell, and what ended it.

Its JSON is described in `docs/incident.schema.json`; it holds a run manifest and the plan behind
the taint of all that the run wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dbt_graft import __version__
from dbt_graft.analysis.history.bad_streak import BadStreak
from dbt_graft.analysis.render.markdown import code, one_line

VERSION = 1
SCHEMA_URL = "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/incident.schema.json"
Section = dict[str, Any]


def incident_json(run: Section, first: BadStreak | None, taint: Section | None) -> Section:
    """The document.

    Args:
        first: The first bad run; None if nothing shows that it was bad.
        run: The manifest of the run.
        taint: The plan behind the taint; None where the run wrote nothing that logs show.
    """
    return {
        "$schema": SCHEMA_URL,
        "version": VERSION,
        "producer": f"dbt-graft {__version__}",
        "run": run,
        "first_bad": {
            "run_id": first.run.run_id,
            "at": first.run.started_at.isoformat() if first.run.started_at else None,
            "runs": first.runs,
        }
        if first
        else None,
        "taint": taint,
    }


def incident_markdown(run: Section, first: BadStreak | None, taint: Iterable[str]) -> Iterator[str]:
    """The report as Markdown, line by line.

    Args:
        first: The first bad run; None if nothing shows that it was bad.
        taint: The lines of the plan; none where the run wrote nothing that logs show.
    """
    yield f"# Incident: run {code(run['run_id'])} of {code(run['task'])}"
    yield ""
    for line in _run_lines(run):
        yield f"- {line}"
    if first:
        yield f"- {_first(run, first)}"
    yield ""
    lines = list(taint)
    yield from lines or ["No log shows that this run wrote anything."]


def _run_lines(run: Section) -> Iterator[str]:
    attempt = f", try {run['attempt']}" if run["attempt"] else ""
    times = " to ".join(moment for moment in (run["started_at"], run["finished_at"]) if moment)
    yield f"status {run['status']}{attempt}" + (f", {times}" if times else "")
    if run["error"]:
        yield f"error: {code(run['error'])}"
    places = [run["code"][key] for key in ("version", "repo", "path") if run["code"][key]]
    if places:
        yield f"code: {', '.join(map(code, places))}"
    if run["owner"]:
        yield f"owner: {one_line(run['owner'])}"
    if run["url"]:
        yield f"log: <{one_line(run['url'])}>"
    failed = [check for check in run["quality"]["checks"] if check["status"] == "failed"]
    if run["quality"]["checks"]:
        yield f"tests after it: {len(failed)} of {len(run['quality']['checks'])} failed"
    for check in failed:
        rows = f", {check['failures']:,} rows" if check["failures"] else ""
        yield f"failed test: {code(check['test'])} of {code(check['dataset'])}{rows}"
    for rerun in run["superseded_by"]:
        yield f"run again as {code(rerun['run_id'])} of {code(rerun['task'])} at {rerun['at']}"


def _first(run: Section, first: BadStreak) -> str:
    if first.run.run_id == run["run_id"]:
        return "first bad run: this one"
    at = f" at {first.run.started_at:%Y-%m-%d %H:%M}" if first.run.started_at else ""
    name = code(first.run.run_id)
    return f"first bad run: {name}{at}, {first.runs:,} runs up to this one; report that one instead"
