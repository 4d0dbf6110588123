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

from dbt_graft.graft.config import FILE_NAME, Config, load
from dbt_graft.graft.doctor import machine
from dbt_graft.graft.terminal import one_line
from dbt_graft.lineage.errors import GraftError, exception_summary
from dbt_graft.lineage.findings import Finding, Severity, worst_first

_log = logging.getLogger(__name__)
Check = Callable[[], Iterable[Finding]]


@click.command(
    epilog="\b\nExit codes: 0 nothing is wrong (there may be warnings), 1 something is, "
    "2 wrong command line.\n\n\b\nExamples:\n"
    "  graft doctor\n"
    "  graft doctor --json | jq '.[] | select(.severity != \"note\")'"
)
@click.option(
    "-c",
    "--config",
    "path",
    type=click.Path(path_type=Path),
    default=FILE_NAME,
    show_default=True,
    help="The graft.yml of the project.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(path: Path, *, as_json: bool) -> None:
    """Tell what is wrong with a project and what could be better, and what to do.

    Looks at this machine, graft.yml, dbt's artifacts, the logs, the lineage store and how they fit
    together. Writes nothing and starts no Spark; a SQL Server that is read live is asked.
    """
    findings = [_harmless(finding) for finding in worst_first(examine(path))]
    counts = Counter(finding.severity for finding in findings)
    if as_json:
        rows = [asdict(finding) for finding in findings]
        click.echo(orjson.dumps(rows, option=orjson.OPT_INDENT_2))
    else:
        for finding in findings:
            click.echo(str(finding))
        click.echo(", ".join(f"{severity}s: {counts[severity]:,}" for severity in Severity))
    sys.exit(1 if counts[Severity.ERROR] else 0)


def _harmless(finding: Finding) -> Finding:
    return replace(
        finding,
        subject=one_line(finding.subject),
        problem=one_line(finding.problem),
        remedy=one_line(finding.remedy),
    )


def examine(path: Path) -> Iterator[Finding]:
    """All there is to say of the project of a `graft.yml`, check by check."""
    try:
        config = load(path)
    except GraftError as error:
        yield from _faults(error)
        checks: Iterable[tuple[str, Check]] = [("Python", machine.python), ("Java", machine.java)]
    else:
        checks = _checks(config)
    for subject, check in checks:
        yield from _spared(subject, check)


def _faults(error: GraftError) -> Iterator[Finding]:
    """What is wrong with a `graft.yml`, one by one: where it is several things, a line each."""
    for fault in error.problem.splitlines():
        place, _, problem = (error.place, "", fault) if error.place else fault.partition(": ")
        yield Finding(Severity.ERROR, place, problem, error.remedy)


def _spared(subject: str, check: Check) -> Iterator[Finding]:
    """A check that cannot be made is a finding, and the others are made."""
    try:
        yield from check()
    except GraftError as error:
        yield Finding(Severity.ERROR, error.place or subject, error.problem, error.remedy)
    except OSError as error:
        problem, remedy = f"cannot be reached: {error}", "check its address, and who may read it"
        yield Finding(Severity.ERROR, subject, problem, remedy)
    except Exception as error:
        _log.debug("a check failed", exc_info=True)
        problem = f"cannot be checked: {exception_summary(error)}"
        yield Finding(Severity.ERROR, subject, problem, "please report this")


def _checks(config: Config) -> Iterator[tuple[str, Check]]:
    # Rooms are imported when something of them is looked at: a wrong graft.yml is told at once.
    from dbt_graft.graft.doctor import cut, kept, logs, names, project
    from dbt_graft.graft.sources import sources

    held = kept.read(config.path(config.store))
    servers = [entry.sqlserver for entry in config.collect if entry.sqlserver]
    yield "Python", machine.python
    yield "Java", machine.java
    if any(server.connection for server in servers):
        yield "ODBC", machine.odbc
    yield str(config.target_dir), partial(project.dbt_artifacts, config)
    if not config.collect:
        yield FILE_NAME, _nothing_to_collect
    for entry, found in zip(config.collect, sources(config), strict=True):
        yield logs.name(entry), partial(logs.source, entry, found, held)
    for server in servers:
        yield server.server, partial(logs.sqlserver, server, config, held)
    yield held.place, partial(kept.contents, held)
    yield held.place, partial(kept.rejects, held)
    yield held.place, partial(kept.statements, held)
    yield held.place, partial(cut.cut_plans, held.records)
    known = [server.server for server in servers]
    yield held.place, partial(cut.hidden_databases, held.records, config.name_rules, known)
    if held.records.accesses:
        yield FILE_NAME, partial(names.matches, config)


def _nothing_to_collect() -> Iterator[Finding]:
    yield Finding(
        Severity.WARNING,
        FILE_NAME,
        "`collect` names no log",
        "name your Spark event logs or Extended Events there: docs/logs.md",
    )
