"""The lineage store: its contents, rejects and statements not parsed."""

from __future__ import annotations

import logging
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial

import pyarrow as pa

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.phrases import ago, count, first_findings, join_names
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.clean import StoredSecrets, stored_secrets
from dbt_graft.collectors.store.errors import StoreError
from dbt_graft.graft.doctor.cut_plans import is_cut
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.sources import unnamed_text
from dbt_graft.lineage.errors import GraftError, exception_summary
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.gaps import Gap, gaps
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.records import Outcome, Records, Reject
from dbt_graft.lineage.redaction import REDACTED

_error = partial(Finding, "STORE", Severity.ERROR)
_warning = partial(Finding, "STORE", Severity.WARNING)
_SHOWN_OF_EXAMPLE = 70
_log = logging.getLogger(__name__)
_RESTORE = (
    "restore the store from a backup (docs/publishing.md); without one, `graft collect --again` "
    "reads what the logs still hold and gives the damaged batches up; until then `graft build` "
    "publishes the rest and ends with 1"
)


@frozen
class StoreState:
    """The contents of a lineage store; empty if it is missing or cannot be read.

    Attributes:
        batches: The committed ones, oldest first.
        positions: As `collectors.store.positions` gives them.
        unnamed: The rejects that were left out, see `Project`.
        fault: Why it cannot be read.
    """

    place: str
    records: Records = field(default_factory=Records)
    batches: Sequence[store.StoredBatch] = ()
    positions: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    unnamed: Sequence[Reject] = ()
    fault: Finding | None = None


def read(project: Project) -> StoreState:
    """Read the store of a project; an error is its `fault`."""
    store_path = project.config.path(project.config.store)
    try:
        return StoreState(
            store_path,
            _records(project, store_path),
            store.batches(store_path),
            store.positions(store_path),
            project.unnamed,
        )
    except GraftError as error:
        fault = _error(error.place, error.problem, error.remedy)
        return StoreState(store_path, fault=fault)
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        _log.debug("the store cannot be read", exc_info=True)
        fault = _error(
            store_path,
            f"the store cannot be read: {exception_summary(error)}",
            "restore it from a backup, or delete it and run `graft collect`",
        )
        return StoreState(store_path, fault=fault)


def _records(project: Project, store_path: str) -> Records:
    try:
        return project.records()
    except StoreError:
        raise
    except GraftError:  # dbt's artifacts, which give names of datasets: they are a check themselves
        return store.read(store_path)


def contents(state: StoreState) -> Iterator[Finding]:
    """Number of batches, runs, tasks and datasets, and the time of the last batch."""
    if state.fault:
        yield state.fault
        return
    if not state.batches:
        yield _warning(state.place, "nothing was collected yet", "run `graft collect`")
        return
    records = state.records
    runs = len(records.runs) + sum(repeat.runs for repeat in records.run_repeats)
    yield Finding(
        "STORE",
        Severity.NOTE,
        state.place,
        f"{count(len(state.batches), 'batch', 'batches')}, the last "
        f"{ago(state.batches[-1].committed_at)}; {count(runs, 'run')} of "
        f"{count(len({run.task for run in records.runs}), 'task')}, "
        f"{count(len(records.datasets), 'dataset')}",
    )


def replaced_keys(state: StoreState) -> Iterator[Finding]:
    """The datasets in whose names a key was replaced: it stood in a log, and it may still open."""
    names = [str(dataset.id) for dataset in state.records.datasets if REDACTED in str(dataset.id)]
    if names:
        yield _warning(
            join_names(sorted(set(names))),
            f"{count(len(set(names)), 'name')} held a key, for which `{REDACTED}` stands now",
            "change the key, and keep it out of names: it still is in the logs",
        )


def shared_tasks(state: StoreState) -> Iterator[Finding]:
    """Tasks whose name is the last part of several jobs of events: `load` of two DAGs."""
    used = {access.task for access in state.records.accesses}
    jobs = group_by_key(
        (run.task, run.job)
        for run in state.records.runs
        # A DAG's job is called as the DAG, that of a task `dag.task`.
        if run.job and run.task in used and run.job.endswith(f".{run.task}")
    )
    findings = [
        _warning(
            task,
            f"one task of {count(len(names), 'job')} of events: {join_names(names)}",
            "where they are several, give their entry a `task` with more of the job's name, such "
            "as `(?P<task>.+)`",
        )
        for task, listed in sorted(jobs.items())
        if len(names := sorted(set(listed))) > 1
    ]
    yield from first_findings(findings, state.place, "tasks of several jobs")


def rejects(state: StoreState) -> Iterator[Finding]:
    """Rejects by reason, the most frequent first."""
    origins = group_by_key((reject.reason, reject.origin) for reject in state.records.rejects)
    findings = [
        _warning(
            join_names(list(dict.fromkeys(logs))),
            f"{len(logs):,} × {reason}",
            "the rest of these logs was read; the site lists each reject; "
            "`graft store forget LOG` takes out those of a log that is gone",
        )
        for reason, logs in sorted(origins.items(), key=lambda item: (-len(item[1]), item[0]))
    ]
    yield from first_findings(findings, state.place, "reasons of rejects")


def unnamed_rejects(state: StoreState) -> Iterator[Finding]:
    """The rejects of logs that no entry of `collect` names any more."""
    if state.unnamed:
        yield Finding(
            "STORE",
            Severity.NOTE,
            state.place,
            unnamed_text(state.unnamed),
            "`graft store forget LOG` takes them out of the store",
        )


def statements(state: StoreState) -> Iterator[Finding]:
    """Statements not parsed or parsed in part, except where Spark cut the plan."""
    statement_gaps = gaps(shape for shape in state.records.shapes.values() if not is_cut(shape))
    yield from first_findings([_gap(gap) for gap in statement_gaps], state.place, "reasons")


def _gap(gap: Gap) -> Finding:
    failed = gap.outcome is Outcome.FAILED
    example = textwrap.shorten(gap.example, _SHOWN_OF_EXAMPLE, placeholder=" …")
    return Finding(
        "STORE",
        Severity.WARNING if failed else Severity.NOTE,
        f"statements in {gap.dialect}",
        f"{gap.shapes:,} {'not parsed' if failed else 'parsed in part'}: {gap.reason}"
        + (f"; for example: {example}" if example else ""),
        "declare its lineage (docs/declared.md), and report it" if failed else "",
    )


def damages(store_path: str) -> Iterator[Finding]:
    """A finding for each damaged file, for secrets, and a note with what was read.

    Raises:
        StoreError: The store cannot be read now, or is of a newer version.
    """
    damaged = store.damages(store_path)
    for faults in damaged.values():
        for fault in faults:
            yield Finding("STORE_DAMAGED", Severity.ERROR, store_path, fault, _RESTORE)
    is_readable = True
    for read in (
        lambda: store.read(store_path, results=True, without=tuple(damaged)),
        lambda: store.addresses(store_path),
        lambda: store.build_history(store_path),
    ):
        try:
            read()
        except GraftError as error:
            is_readable = False
            place = error.place or store_path
            yield Finding("STORE_DAMAGED", Severity.ERROR, place, error.problem, error.remedy)
    if is_readable and (secrets := stored_secrets(store_path, tuple(damaged))):
        remedy = "graft store clean, then graft build --full; and change what they open"
        yield Finding("STORE_SECRETS", Severity.ERROR, store_path, secrets_line(secrets), remedy)
    batches = store.batches(store_path, tuple(damaged))
    files = count(sum(len(batch.files) for batch in batches), "file")
    read_text = f"{count(len(batches), 'batch', 'batches')} with {files} read to their end"
    yield Finding("STORE", Severity.NOTE, store_path, read_text)


def secrets_line(secrets: StoredSecrets) -> str:
    """The parts of a store that hold secrets, counted: no name is repeated."""
    return (
        f"passwords or keys in {count(len(secrets.texts), 'name')} of "
        f"{count(len(secrets.batches), 'batch', 'batches')}, "
        f"{count(len(secrets.addresses), 'address', 'addresses')} of pages, "
        f"{count(len(secrets.files), 'file')} beside them"
    )
