"""The command `graft explain`: why a table or a task has, or lacks, edges."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft.analysis.render.phrases import count
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.past import Moment, as_of_option
from dbt_graft.graft.project.project import LineageView, Project
from dbt_graft.graft.questions.show.explanation import (
    Evidences,
    close_names,
    explain_dataset,
    explain_task,
    find_matches,
)
from dbt_graft.lineage.building.event_runs import join_events
from dbt_graft.lineage.building.evidences import evidence_text
from dbt_graft.lineage.building.foreign_models import with_foreign_models
from dbt_graft.lineage.building.other_names import other_names
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.flow import EvidenceSource
from dbt_graft.lineage.records import Evidence

_SHOWN = 10
_OF_TEXT = 100


@click.command(
    epilog="\b\nExamples:\n  graft explain raw.orders\n  graft explain load_orders --json"
)
@click.argument("name", metavar="TABLE|TASK")
@config_option
@as_of_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(name: str, config_path: Path | None, *, past: Moment | None, as_json: bool) -> None:
    """Explain why a table or task has, or lacks, edges.

    Prints the runs seen, their statements and how they were parsed, names and the rules that gave
    them, dbt's relation, edges, and reasons where there are none. Nothing is written.
    """
    config = load_config(config_path)
    evidences = _evidences(config, past)
    tasks, datasets = find_matches(name, evidences)
    if not tasks and not datasets:
        close = ", ".join(close_names(name, evidences))
        other = (
            "check the logs with `graft doctor`"
            if evidences.records.runs
            else "run `graft collect`"
        )
        raise GraftError(
            "no run in the lineage store used it, and dbt does not know it",
            place=name,
            remedy=f"did you mean {close}?" if close else other,
        )
    explained = [explain_task(task, evidences) for task in tasks]
    explained += [explain_dataset(dataset, evidences) for dataset in datasets]
    if as_json:
        click.echo(orjson.dumps(explained, option=orjson.OPT_INDENT_2))
        return
    for explanation in explained[:_SHOWN]:
        click.echo("\n".join(map(one_line, _lines(explanation))))
    if len(explained) > _SHOWN:
        click.echo(f"and {len(explained) - _SHOWN:,} more: write more of the name, or see --json")


def _evidences(config: Config, past: Moment | None) -> Evidences:
    project, view = Project(config), LineageView(past, results=False)
    stored, dbt = project.records(view), project.dbt
    projects = project.settings.projects
    records = join_events(stored if projects is None else with_foreign_models(stored, projects))
    one_name = project.settings.one_name
    named = other_names(records, project.rename, one_name).rename
    lineage = project.described(view).lineage
    if dbt is None:
        return Evidences(records, config.name_rules, named, lineage)
    relations = dbt.relations
    nodes = {
        dataset: node
        for dataset in relations.datasets.values()
        if (node := relations.node_of(dataset))
    }
    ambiguous = dbt.short_names.ambiguous
    return Evidences(records, config.name_rules, named, lineage, nodes, ambiguous)


def _lines(explanation: dict[str, Any]) -> Iterator[str]:
    """An explanation for people."""
    is_task = "task" in explanation
    if is_task:
        yield f"task {explanation['task']}"
    else:
        yield f"dataset {explanation['dataset']}"
        for name in explanation["names"]:
            yield f"  in the logs: {name['name']}{_name_origin(name)}"
        yield f"  dbt: {explanation['node'] or 'no relation' + _no_relation(explanation)}"
        if explanation["former_names"]:
            yield f"  former names: {', '.join(explanation['former_names'])}"
    runs = explanation["runs"]
    failures = f", {runs['with_failures']:,} with failures" if runs["with_failures"] else ""
    yield f"  runs: {runs['seen']:,}{failures}"
    for by in explanation.get("run_by", ()):
        yield f"  run by {by['engine'].capitalize()}: {by['dag']} / {by['task']}"
    for title in ("reads", "writes", "read_by", "written_by"):
        user = "dataset" if is_task else "task"
        lines = (_use(use, user) for use in explanation.get(title, ()))
        yield from _section(title.replace("_", " "), lines)
    yield from _section("statements", map(_statement, explanation["statements"]))
    yield from _section("edges", map(_edge, explanation["edges"]))
    yield from _section(
        "rejected",
        (f"{r['origin']}, {r['position']}: {r['reason']}" for r in explanation.get("rejects", ())),
    )
    for reason in explanation["reasons"]:
        yield f"  {reason}"


def _name_origin(name: dict[str, Any]) -> str:
    if name["rule"]:
        return f" (by the rule {name['rule']})"
    return f" (dbt's {name['relation']})" if name["relation"] != name["name"] else ""


def _no_relation(explanation: dict[str, Any]) -> str:
    if explanation["ambiguous"]:
        names = ", ".join(explanation["ambiguous"])
        return f": the name fits {names}; decide with a rule under `names`"
    if explanation["alike"]:
        return f"; if it is {' or '.join(explanation['alike'])}, say so with a rule under `names`"
    return " of this name"


def _section(title: str, lines: Iterator[str]) -> Iterator[str]:
    listed = list(lines)
    if listed:
        yield f"  {title}:"
    yield from (f"    {line}" for line in listed[:_SHOWN])
    if len(listed) > _SHOWN:
        yield f"    and {len(listed) - _SHOWN:,} more (see --json)"


def _use(use: dict[str, Any], user: str) -> str:
    temporary = ", temporary" if use["kind"] == "TEMPORARY" else ""
    failed = ", failed" if use["status"] == "failed" else ""
    times = count(use["statements"], "time")
    dates = f", last {use['last_dates']}" if use["last_dates"] else ""
    return f"{use[user]}, by {use['operation']}, {times}{dates}{failed}{temporary}"


def _statement(statement: dict[str, Any]) -> str:
    reason = f" ({statement['reason']})" if statement["reason"] else ""
    text = textwrap.shorten(statement["text"], _OF_TEXT, placeholder=" …")
    return f"{statement['outcome']}{reason}: {text}"


def _edge(edge: dict[str, Any]) -> str:
    hops = f", through {', '.join(edge['through'])}" if edge["through"] else ""
    memory = ", through the task's memory" if edge["through_memory"] else ""
    sources = [
        EvidenceSource(Evidence(source["evidence"]), source["source"])
        for source in edge["evidences"]
    ]
    evidence = evidence_text(sources) or edge["evidence"]
    return f"{edge['from']} -> {edge['to']}, by {edge['task']}, {evidence}{hops}{memory}"
