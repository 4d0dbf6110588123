"""The page of a run: what it read and wrote, by which code, and what tests found then."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.render.phrases import time_text
from dbt_graft.exporters.run_manifest import run_manifest
from dbt_graft.graft.project.asked_lineage import AskedLineage
from dbt_graft.graft.project.names import RunName, find_run, tasks_beside
from dbt_graft.graft.questions.show.facts import plain_facts
from dbt_graft.lineage.model import Lineage


def manifest_of_run(asked: AskedLineage, name: RunName) -> dict[str, Any]:
    """The manifest of a run.

    Raises:
        GraftError: There is no such run, or several.
    """

    def runs_of(lineage: Lineage) -> Collection[str]:
        tasks = {name.task or ""}
        if name.task is None:
            tasks = asked.tasks_of_run(name.run_id)
        return tasks | {other for task in tasks for other in tasks_beside(lineage, task)}

    described = asked.with_runs(runs_of)
    history = AccessHistory(described.lineage)
    return run_manifest(history, described.descriptions, *find_run(described.lineage, *name))


def run_answer(asked: AskedLineage, name: RunName) -> Answer:
    """The page of a run."""
    manifest = manifest_of_run(asked, name)
    engine, code, interval = manifest["engine"], manifest["code"], manifest["data_interval"]
    facts = {
        "started": time_text(manifest["started_at"]),
        "finished": time_text(manifest["finished_at"]),
        "error": manifest["error"],
        "data_interval": f"{interval['from']} to {interval['to']}" if interval else None,
        "attempt": manifest["attempt"],
        "engine": " ".join(filter(None, (engine["name"], engine["version"]))),
        "code": " ".join(filter(None, (code["repo"], code["path"], code["version"]))),
        "owner": manifest["owner"],
        "parent_run": manifest["parent_run_id"],
        "url": manifest["url"],
        "superseded_by": [run["run_id"] for run in manifest["superseded_by"]],
    }
    tests = [
        (check["dataset"], check["test"], check["column"] or "", check["status"], check["failures"])
        for check in manifest["quality"]["checks"]
    ]
    return Answer(
        manifest["run_id"],
        f"run of {manifest['task']}, {manifest['status']}",
        plain_facts(facts),
        [
            _used("read", manifest["inputs"]),
            _used("wrote", manifest["outputs"]),
            Table("tests then", ("", "test", "column", "status", "failures"), tests),
        ],
        question="show",
        data={"thing": "run", "manifest": manifest},
    )


def _used(title: str, datasets: list[Mapping[str, Any]]) -> Table:
    rows = [
        (
            dataset["dataset"],
            ", ".join(dataset["operations"]),
            "" if dataset["rows"] is None else dataset["rows"],
            ", ".join(map(_period, dataset["periods"])),
            dataset["status"],
        )
        for dataset in datasets
    ]
    return Table(title, ("", "operation", "rows", "dates of data", ""), rows)


def _period(period: Mapping[str, Any]) -> str:
    ends = (time_text(period[end]) for end in ("from", "to"))
    return " to ".join(ends)
