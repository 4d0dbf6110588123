"""The command `graft doctor`: what is wrong with a project and this machine, and what to do."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.finding import Finding, Severity, worst_first
from dbt_graft.analysis.render.github import with_file
from dbt_graft.analysis.render.text import count_severities
from dbt_graft.collectors.java import java_home
from dbt_graft.graft.commands.answering import answers
from dbt_graft.graft.doctor.examine import examine, examine_declared
from dbt_graft.graft.project.config import find


@click.command(
    epilog="\b\nExamples:\n"
    "  graft doctor\n"
    "  graft doctor --store\n"
    "  graft doctor --json | jq '.findings[] | select(.severity != \"note\")'\n"
    "  graft doctor lineage/*.yml\n"
    "  graft doctor --sqlserver env:GRAFT_MSSQL\n"
    "  JAVA_HOME=$(graft doctor --java) python my_spark_task.py"
)
@answers()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--store", is_flag=True, help="Read every file of the lineage store to its end.")
@click.option(
    "--sqlserver",
    metavar="env:NAME|dsn:NAME",
    help="Check only that the event session of this server captures what lineage needs.",
)
@click.option(
    "--session",
    default="py_lineage",
    show_default=True,
    help="The session's name, with --sqlserver.",
)
@click.option("--java", is_flag=True, help="Print the JAVA_HOME on which Spark starts, no more.")
def doctor(
    config_path: Path | None,
    files: tuple[Path, ...],
    sqlserver: str | None,
    session: str,
    *,
    store: bool,
    java: bool,
) -> tuple[Answer, str]:
    """Check a project, and print what is wrong and how to fix it.

    Checks this machine, graft.yml, dbt's artifacts, the logs, the lineage store and how they fit
    together; with FILES only these files of declared lineage. Ends with 3 where there are errors.
    Nothing is written, and Spark is not started. A live SQL Server is queried.
    """
    if java:
        click.echo(java_home())
        sys.exit()
    if files:
        title, findings = "declared lineage", examine_declared(files)
    elif sqlserver:
        from dbt_graft.collectors.sqlserver.tools import check_server_session

        title, findings = session, iter(check_server_session(sqlserver, session))
    else:
        path = config_path or find(Path())
        title, findings = str(path), examine(path, read_store=store)
    return _answer(title, worst_first(map(with_file, findings))), Severity.ERROR.value


def _answer(title: str, findings: list[Finding]) -> Answer:
    return Answer(
        title,
        count_severities(findings) if findings else "nothing is wrong",
        findings=findings,
        grade=findings[0].severity.value if findings else "",
        question="doctor",
        data={"checks": sorted({finding.code for finding in findings})},
    )
