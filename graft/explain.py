"""The command `graft explain`: why a table or a task has, or lacks, edges."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import orjson

from dbt_graft.collectors import store
from dbt_graft.graft import pipeline
from dbt_graft.graft.command import config_option, load_config
from dbt_graft.graft.config import Config
from dbt_graft.graft.dbt_relations import dbt_platform, dbt_relations
from dbt_graft.graft.explanation import (
    Evidences,
    close_names,
    explain_dataset,
    explain_task,
    matching,
)
from dbt_graft.graft.progress import Progress
from dbt_graft.graft.terminal import one_line
from dbt_graft.injector import artifacts
from dbt_graft.injector.matching import short_names
from dbt_graft.lineage.build import build
from dbt_graft.lineage.errors import GraftError

_SHOWN = 10
_OF_TEXT = 100


@click.command(
    epilog="\b\nExamples:\n  graft explain raw.orders\n  graft explain load_orders --json"
)
@click.argument("name", metavar="TABLE|TASK")
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(name: str, config_path: Path | None, *, as_json: bool) -> None:
    """Explain why a table or task has, or lacks, edges.

    Prints the runs seen, their statements and how they were parsed, names and the rules that gave
    them, dbt's relation, edges, and reasons where there are none. Nothing is written.
    """
    config = load_config(config_path)
    found = _evidences(config)
    tasks, datasets = matching(name, found)
    if not tasks and not datasets:
        close = ", ".join(close_names(name, found))
        raise GraftError(
            "no run in the lineage store used it, and dbt does not know it",
            place=name,
            remedy=f"did you mean {close}?" if close else "check the logs with `graft doctor`",
        )
    explained = [explain_task(task, found) for task in tasks]
    explained += [explain_dataset(dataset, found) for dataset in datasets]
    if as_json:
        click.echo(orjson.dumps(explained, option=orjson.OPT_INDENT_2))
        return
    for one in explained:
        click.echo("\n".join(map(one_line, _lines(one))))


def _evidences(config: Config) -> Evidences:
    records = store.read(config.path(config.store))
    try:
        read = artifacts.read(config.target_dir)
    except GraftError:
        rules = config.name_rules  # without dbt's artifacts the logs are explained alone
        return Evidences(records, rules, lambda one: one, build(records, rules), {})
    known = dbt_relations(config, read)
    grafted = pipeline.graft(config, Progress(quiet=True), write=False)
    nodes = {one: node for one in known.datasets.values() if (node := known.node_of(one))}
    short = short_names(read.manifest, known, dbt_platform(config, read.adapter))
    return Evidences(records, config.name_rules, short, grafted.lineage, nodes)


def _lines(one: dict[str, Any]) -> Iterator[str]:
    """An explanation for people."""
    if "task" in one:
        yield f"task {one['task']}"
    else:
        yield f"dataset {one['dataset']}"
        for name in one["names"]:
            rule = f"by the rule {name['rule']}" if name["rule"] else "no rule renames it"
            yield f"  in the logs: {name['name']} ({rule})"
        yield f"  dbt: {one['node'] or 'no relation of dbt'}"
        if one["former_names"]:
            yield f"  former names: {', '.join(one['former_names'])}"
    runs = one["runs"]
    yield f"  runs: {runs['seen']:,}, {runs['with_failures']:,} with failures"
    for title in ("reads", "writes", "read_by", "written_by"):
        yield from _section(title.replace("_", " "), map(_use, one.get(title, ())))
    yield from _section("statements", map(_statement, one["statements"]))
    yield from _section("edges", map(_edge, one["edges"]))
    yield from _section(
        "rejected", (f"{r['origin']}: {r['reason']}" for r in one.get("rejects", ()))
    )
    for reason in one["reasons"]:
        yield f"  {reason}"


def _section(title: str, lines: Iterator[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield f"  {title}:"
    yield from (f"    {line}" for line in found[:_SHOWN])
    if len(found) > _SHOWN:
        yield f"    and {len(found) - _SHOWN:,} more (see --json)"


def _use(use: dict[str, Any]) -> str:
    temporary = ", temporary" if use["kind"] == "TEMPORARY" else ""
    failed = ", failed" if use["status"] == "failed" else ""
    return (
        f"{use['task']}: {use['operation']} {use['dataset']}, "
        f"{use['statements']:,} times{failed}{temporary}"
    )


def _statement(statement: dict[str, Any]) -> str:
    reason = f" ({statement['reason']})" if statement["reason"] else ""
    text = textwrap.shorten(statement["text"], _OF_TEXT, placeholder=" …")
    return f"{statement['outcome']}{reason}: {text}"


def _edge(edge: dict[str, Any]) -> str:
    hops = f", through {', '.join(edge['through'])}" if edge["through"] else ""
    memory = ", through the task's memory" if edge["through_memory"] else ""
    return f"{edge['from']} -> {edge['to']} by {edge['task']}, {edge['evidence']}{hops}{memory}"
