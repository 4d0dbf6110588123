"""The command `graft doctor`."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import click
import orjson

from dbt_graft.analysis.finding import Finding, Severity, worst_first
from dbt_graft.analysis.render.github import annotation
from dbt_graft.analysis.render.github import findings as error_findings
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.graft.commands.command import config_option
from dbt_graft.graft.doctor import machine
from dbt_graft.graft.project.config import FILE_NAME, Config, find, load
from dbt_graft.lineage.errors import GraftError, exception_summary

_log = logging.getLogger(__name__)
Check = Callable[[], Iterable[Finding]]


@click.command(
    epilog="\b\nExit codes: 0 no errors (warnings are possible), 1 errors, 2 invalid command line."
    "\n\n\b\nExamples:\n"
    "  graft doctor\n"
    "  graft doctor --json | jq '.[] | select(.severity != \"note\")'"
)
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="Output format; github prints annotations for a pull request.",
)
def doctor(config_path: Path | None, *, as_json: bool, form: str) -> None:
    """Check a project, and print what is wrong and how to fix it.

    Checks this machine, graft.yml, dbt's artifacts, the logs, the lineage store and how they fit
    together. Nothing is written, and Spark is not started. A live SQL Server is queried.
    """
    findings = [
        _printable(finding) for finding in worst_first(examine(config_path or find(Path())))
    ]
    counts = Counter(finding.severity for finding in findings)
    if as_json or form == "json":
        rows = [asdict(finding) for finding in findings]
        click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2))
    elif form == "github":
        for finding in findings:
            click.echo(annotation(finding))
    else:
        for finding in findings:
            click.echo(str(finding))
        click.echo(", ".join(f"{severity}s: {counts[severity]:,}" for severity in Severity))
    sys.exit(1 if counts[Severity.ERROR] else 0)


def _printable(finding: Finding) -> Finding:
    return replace(
        finding,
        subject=one_line(finding.subject),
        problem=one_line(finding.problem),
        remedy="\n".join(map(one_line, finding.remedy.splitlines())),
    )


def examine(path: Path) -> Iterator[Finding]:
    """The findings about the project of a `graft.yml`, check by check."""
    try:
        config = load(path)
    except GraftError as error:
        yield from error_findings(error)
        checks: Iterable[tuple[str, Check]] = [("Python", machine.python), ("Java", machine.java)]
    else:
        checks = _checks(config)
    for subject, check in checks:
        yield from _run_guarded(subject, check)


def _run_guarded(subject: str, check: Check) -> Iterator[Finding]:
    """The findings of a check; an error in it is a finding too, so that the others still run."""
    try:
        yield from check()
    except GraftError as error:
        yield Finding(
            "NOT_CHECKED", Severity.ERROR, error.place or subject, error.problem, error.remedy
        )
    except OSError as error:
        problem, remedy = f"cannot be reached: {error}", "check its address, and who may read it"
        yield Finding("NOT_CHECKED", Severity.ERROR, subject, problem, remedy)
    except Exception as error:
        _log.debug("a check failed", exc_info=True)
        problem = f"cannot be checked: {exception_summary(error)}"
        yield Finding("NOT_CHECKED", Severity.ERROR, subject, problem, "please report this")


def _checks(config: Config) -> Iterator[tuple[str, Check]]:
    # Imported here, so that an invalid graft.yml is reported at once.
    from dbt_graft.graft.doctor import (
        cut_plans,
        dataset_names,
        logs,
        project,
        store_state,
    )
    from dbt_graft.graft.project.sources import sources
    from dbt_graft.graft.questions.checks.unmatched_clients import find_unmatched_clients
    from dbt_graft.graft.questions.checks.unused_entries import find_unused_entries

    state = store_state.read(config.path(config.store))
    servers = [entry.sqlserver for entry in config.collect if entry.sqlserver]
    yield "Python", machine.python
    yield "Java", machine.java
    if any(server.connection for server in servers):
        yield "ODBC", machine.odbc
    yield str(config.target_dir), partial(project.dbt_artifacts, config)
    yield FILE_NAME, partial(find_unused_entries, config, state.records)
    listed = [*sources(config)]
    for entry, source in zip(config.collect, listed, strict=False):
        yield source.label, partial(logs.source, entry, source, state)
    for source in listed[len(config.collect) :]:
        yield source.label, partial(logs.files, source, state, "file")
    yield FILE_NAME, partial(find_unmatched_clients, config, state.records, lambda: state.positions)
    for server in servers:
        yield server.server, partial(logs.sqlserver, server, config, state)
    yield state.place, partial(store_state.contents, state)
    yield state.place, partial(store_state.replaced_keys, state)
    yield state.place, partial(store_state.rejects, state)
    yield state.place, partial(store_state.statements, state)
    yield state.place, partial(cut_plans.cut_plans, state.records)
    server_names = [server.server for server in servers]
    yield (
        state.place,
        partial(cut_plans.hidden_databases, state.records, config.name_rules, server_names),
    )
    if state.records.accesses:
        yield FILE_NAME, partial(dataset_names.matches, config)
