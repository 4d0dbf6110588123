"""The command `graft logs spark`: the lineage in a Spark event log, without Spark and Java."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.collectors.spark.logs import SparkLogs, read_logs
from dbt_graft.collectors.spark.settings import is_task_source
from dbt_graft.graft.commands.answering import FAILS
from dbt_graft.graft.commands.json_option import json_option, print_json
from dbt_graft.graft.questions.logs.spark_log import application_json, application_lines
from dbt_graft.lineage.errors import GraftError

_EXAMPLES = """\b
Examples:
  graft logs spark spark-events/eventlog_v2_app-20261121050003-0001
  graft logs spark spark-events/ --json | jq '.data.applications[].tasks[].task'
"""
_UNNAMED = "(no name)"


def _places(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    for source in value:
        if not is_task_source(source):
            raise click.BadParameter(f"{source!r} is not a source of task names")
    return value


@click.command(epilog=_EXAMPLES)
@click.argument("log")
@click.option(
    "--task-from",
    "places",
    multiple=True,
    callback=_places,
    help="Where to take the name of a task from: app_name, job_group, job_description, call_site, "
    "databricks or conf:KEY; repeatable, the first that has a value is used.",
)
@click.option(
    "--namespace", default="spark", show_default=True, help="Namespace of metastore tables."
)
@json_option
@click.option("--strict", is_flag=True, help="Exit with 3 if part of a log was rejected.")
def spark(
    log: str, places: tuple[str, ...], namespace: str, *, as_json: bool, strict: bool
) -> None:
    """Print the tasks of an application: what they read and wrote.

    LOG is a file, the folder of a rolling log, a folder of logs, or a URL of one. Datasets
    are shown by column. The lineage store is not changed.
    """
    logs = SparkLogs(log, log, namespace=namespace, unnamed_task=_UNNAMED)
    if places:
        logs = replace(logs, task_from=places)
    applications: list[dict[str, Any]] = []
    left_out: list[Finding] = []
    for event_log in read_logs(logs, left_out.append):
        application = application_json(event_log)
        applications.append(application)
        if not as_json:
            click.echo("\n".join(map(one_line, application_lines(application))))
    for finding in left_out:
        click.echo(f"{one_line(finding.subject)}: {finding.problem}", err=True)
    if not applications:
        raise GraftError("there are no Spark event logs", place=log)
    if as_json:
        print_json({"applications": applications}, log)
    is_partial = any(finding.severity is not Severity.NOTE for finding in left_out)
    rejected = is_partial or any(application["rejects"] for application in applications)
    sys.exit(FAILS if strict and rejected else 0)
