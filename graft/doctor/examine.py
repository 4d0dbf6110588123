"""The findings of `graft doctor`, check by check."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.github import findings as error_findings
from dbt_graft.graft.doctor import machine
from dbt_graft.graft.project.config import FILE_NAME, Config, load
from dbt_graft.lineage.errors import GraftError, exception_summary

_log = logging.getLogger(__name__)
Check = Callable[[], Iterable[Finding]]


def examine(path: Path, *, read_store: bool = False) -> Iterator[Finding]:
    """The findings about the project of a `graft.yml`, check by check.

    Args:
        read_store: Read every file of the store to its end.
    """
    try:
        config = load(path)
    except GraftError as error:
        yield from error_findings(error)
        checks: Iterable[tuple[str, Check]] = [("Python", machine.python), ("Java", machine.java)]
    else:
        checks = _checks(config, read_store=read_store)
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


def _checks(config: Config, *, read_store: bool) -> Iterator[tuple[str, Check]]:
    # Imported here, so that an invalid graft.yml is reported at once.
    from dbt_graft.graft.doctor import (
        cut_plans,
        dataset_names,
        dbt_artifacts,
        logs,
        python_code,
        store_state,
    )
    from dbt_graft.graft.project.project import Project
    from dbt_graft.graft.project.sources import sources
    from dbt_graft.graft.questions.checks.environments import find_mixed_environments
    from dbt_graft.graft.questions.checks.unmatched_clients import (
        find_other_clients,
        find_unmatched_clients,
    )
    from dbt_graft.graft.questions.checks.unused_entries import find_unused_entries

    project = Project(config)
    state = store_state.read(project)
    servers = [entry.sqlserver for entry in config.collect if entry.sqlserver]
    yield "Python", machine.python
    yield "Java", partial(machine.engine, config)
    if any(server.connection for server in servers):
        yield "ODBC", machine.odbc
    yield str(config.project_dir), partial(dbt_artifacts.project_file, config)
    yield str(config.target_dir), partial(dbt_artifacts.dbt_artifacts, project)
    yield str(config.target_dir), partial(dbt_artifacts.docs_page, config)
    yield FILE_NAME, partial(find_unused_entries, config, state.records)
    listed = [*sources(config)]
    for entry, source in zip(config.collect, listed, strict=False):
        yield source.label, partial(logs.source, entry, source, state)
    for source in listed[len(config.collect) :]:
        yield source.label, partial(logs.files, source, state, "file")
    yield FILE_NAME, partial(find_unmatched_clients, config, state.records, lambda: state.positions)
    yield FILE_NAME, partial(find_other_clients, config, state.records)
    yield (
        FILE_NAME,
        partial(find_mixed_environments, state.records, config.name_rules, config.check.accept),
    )
    for server in servers:
        yield server.server, partial(logs.sqlserver, server, config, state)
    if read_store:
        yield state.place, partial(store_state.damages, state.place)
    yield state.place, partial(store_state.contents, state)
    yield state.place, partial(store_state.replaced_keys, state)
    yield state.place, partial(store_state.shared_tasks, state)
    yield state.place, partial(store_state.rejects, state)
    yield state.place, partial(store_state.unnamed_rejects, state)
    yield state.place, partial(store_state.statements, state)
    yield state.place, partial(cut_plans.cut_plans, state.records)
    server_names = [server.server for server in servers]
    yield (
        state.place,
        partial(cut_plans.hidden_databases, state.records, config.name_rules, server_names),
    )
    if state.records.accesses:
        yield FILE_NAME, partial(dataset_names.matches, project)
        yield FILE_NAME, partial(python_code.python_code, project)


def examine_declared(files: Sequence[Path]) -> Iterator[Finding]:
    """The faults of files of declared lineage, each with its line."""
    from dbt_graft.collectors.declared.document import read as read_declared

    for path in files:
        try:
            read_declared(path)
        except GraftError as error:
            yield from error_findings(error)
