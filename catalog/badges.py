"""Health badges: in a word or two, what is wrong with a dataset or a task; none where all is well.

Lists and pages show the same badges, the worst first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from dbt_graft.analysis.history.dag_runs import failed_dags
from dbt_graft.analysis.quality.carriers import has_data_of
from dbt_graft.analysis.quality.downstream import Faults, ReachedFault, faults_downstream, nearest
from dbt_graft.analysis.quality.faults import FaultKind, QualityFault, quality_faults
from dbt_graft.analysis.quality.history import write_history
from dbt_graft.analysis.render.phrases import count
from dbt_graft.catalog.dates_panel import TaintNote
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.node_results import all_results
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Outcome, Status

# Faults that the page of a dataset names.
_MOST = 6
# Looks, worst first; `graft-badge--<look>` in the style sheet.
FAILED, WARN, QUIET = "failed", "warn", "quiet"
# What is wrong upstream, the worst first: wrong data counts for more than old data.
_WRONG = "tests failed upstream"
_OLD = {FaultKind.WRITE: "write failed upstream", FaultKind.FRESHNESS: "stale upstream"}


def last_write_failed(index: Index, dataset: DatasetId) -> bool:
    """Whether the newest run of all that write it, or tried to, failed."""
    return index.lineage.failed_write(dataset) is not None


@lru_cache(maxsize=1)
def unreached_by(index: Index) -> dict[DatasetId, str]:
    """The datasets of tasks that the newest run of a DAG did not get to -> that DAG."""
    unreached: dict[DatasetId, str] = {}
    for dag_run in failed_dags(index.dags):
        for run in dag_run.missing.values():
            task = index.lineage.tasks.get(run.task)
            newest = task.runs[0].started_at if task and task.runs else None
            # A run of its own since then, by another DAG, is no failure of this one.
            if task and not (newest and run.started_at and newest > run.started_at):
                unreached |= dict.fromkeys(task.writes, dag_run.dag)
    return unreached


@lru_cache(maxsize=1)
def upstream_faults(index: Index) -> Faults:
    """For each dataset the faults upstream of it, the nearest first, a few of each kind."""
    faults = quality_faults(index.lineage, index.descriptions)
    if not faults:
        return {}
    has_data = has_data_of(index.lineage, write_history(index.lineage, index.descriptions))
    return faults_downstream(index.impact_graph, faults, has_data)


def shown_faults(index: Index, dataset: DatasetId) -> list[ReachedFault]:
    """The faults upstream that the page of a dataset names, the nearest."""
    return nearest(upstream_faults(index).get(dataset, ()))[:_MOST]


def fault_words(fault: QualityFault) -> str:
    """The fault in words, without its dataset."""
    if fault.kind is FaultKind.WRITE:
        return "last write failed"
    if fault.kind is FaultKind.FRESHNESS and not fault.name:
        return "no new rows"
    return f"{fault.name} of {fault.column} failed" if fault.column else f"{fault.name} failed"


@frozen
class HealthBadge:
    """A finding about one dataset or task.

    Attributes:
        kind: `tainted`, `write`, `build`, `tests`, `checks`, `run`, `stale`, `upstream`,
            `writers` or `gap`.
        text: The finding for people: `2 failed tests`.
        look: `failed`, `warn` or `quiet`.
    """

    kind: str
    text: str
    look: str


def dataset_badges(index: Index, dataset: DatasetId) -> tuple[HealthBadge, ...]:
    """The findings about a dataset, the worst first."""
    return tuple(sorted(_find_dataset_badges(index, dataset), key=_severity))


def task_badges(index: Index, name: str) -> tuple[HealthBadge, ...]:
    """The findings about a task, the worst first; a consumer has none."""
    return tuple(sorted(_find_task_badges(index, name), key=_severity))


def _severity(badge: HealthBadge) -> int:
    return (FAILED, WARN, QUIET).index(badge.look)


def _find_dataset_badges(index: Index, dataset: DatasetId) -> Iterator[HealthBadge]:
    results = all_results(index)[dataset]
    yield from _find_taint(index.tainted.get(dataset, ()))
    yield from _find_write(index, dataset)
    if results.last_run_failed:
        yield HealthBadge("build", "dbt run failed", FAILED)
    if failed := len(results.failed_tests):
        yield HealthBadge("tests", count(failed, "failed test"), FAILED)
    if not_run := len(results.tests_not_run) + bool(results.check_not_run):
        yield HealthBadge("checks", f"{count(not_run, 'check')} could not run", WARN)
    if results.is_stale:
        late = results.last_check is not None and results.last_check.status is Status.FAILED
        yield HealthBadge("stale", "stale", FAILED if late else WARN)
    kinds = {upstream.fault.kind for upstream in upstream_faults(index).get(dataset, ())}
    words = [_WRONG] if kinds - _OLD.keys() else [_OLD[kind] for kind in _OLD if kind in kinds]
    if words:
        yield HealthBadge("upstream", words[0], WARN)
    definition = index.lineage.definition(dataset)
    writers = {usage.task for usage in index.lineage.writers(dataset)}
    if index.lineage.definition(dataset, DefinitionKind.DBT):
        writers.add("dbt")
    if len(writers) > 1:
        yield HealthBadge("writers", count(len(writers), "writer"), WARN)
    shapes = {shape for usage in index.lineage.writers(dataset) for shape in usage.shapes}
    if (definition and definition.gap) or _has_gap(index, shapes):
        yield HealthBadge("gap", "lineage has gaps", QUIET)


def _find_write(index: Index, dataset: DatasetId) -> Iterator[HealthBadge]:
    if last_write_failed(index, dataset):
        yield HealthBadge("write", "last write failed", FAILED)
    elif dag := unreached_by(index).get(dataset):
        yield HealthBadge("write", f"not written: DAG {dag} failed", FAILED)


def _find_taint(notes: Sequence[TaintNote]) -> Iterator[HealthBadge]:
    if any(note.dates for note in notes):
        yield HealthBadge("tainted", "bad data", FAILED)
    elif notes:
        yield HealthBadge("tainted", "may be bad", WARN)


def _find_task_badges(index: Index, name: str) -> Iterator[HealthBadge]:
    task = index.tasks.get(name)
    if task is None:
        return
    if task.runs and task.runs[0].status is Status.FAILED:
        yield HealthBadge("run", "last run failed", FAILED)
    if _has_gap(index, task.shapes):
        yield HealthBadge("gap", "lineage has gaps", QUIET)


def _has_gap(index: Index, shapes: Iterable[str]) -> bool:
    known_shapes = (index.lineage.shapes.get(shape) for shape in shapes)
    return any(shape is not None and shape.outcome is not Outcome.PARSED for shape in known_shapes)
