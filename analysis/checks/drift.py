"""Drift: what people declare of tasks, against what their runs are seen to do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.rule import CODE_DRIFT
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dbt_runs import ModelReads
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.gaps import open_tasks
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Direction, Evidence, Run, Status
from dbt_graft.lineage.usage import DECLARED, Usage

# Runs without a trace of what is declared, from which on it counts as not done.
ENOUGH = 3


class DriftStatus(StrEnum):
    """The status of an edge between a task and a dataset.

    VERIFIED: declared, and seen. PHANTOM: declared, the task ran, and it is not seen. UNDECLARED:
    seen, and what is declared of the task leaves it out. UNVERIFIED: declared, and too few runs of
    the task are known to tell, or their logs show nothing in the dataset's namespace.
    """

    VERIFIED = "VERIFIED"
    PHANTOM = "PHANTOM"
    UNDECLARED = "UNDECLARED"
    UNVERIFIED = "UNVERIFIED"


@frozen
class DriftEdge:
    """An edge between a task and a dataset, declared or seen.

    Attributes:
        sources: All that show it: files, logs, events.
        runs: The runs of the task in the window whose logs could show it; failed ones do not count.
        first_at, last_at: When it was seen, in all that is known.
        run_id: The last run that shows it, of those that logs still have.
        runs_from: The start of the first of the runs, of those that logs still have.
    """

    task: str
    dataset: DatasetId
    direction: Direction
    status: DriftStatus
    sources: tuple[str, ...] = ()
    runs: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    run_id: str = ""
    runs_from: datetime | None = None


def drift(lineage: Lineage, enough: int = ENOUGH, since: datetime | None = None) -> list[DriftEdge]:
    """The edges of all tasks of which anything is declared, sorted.

    Args:
        enough: So many runs must be known before a declared edge that none shows is a phantom.
        since: Only runs and sightings from then on count.
    """
    drift_edges = []
    shown, unknown = _namespaces(lineage), open_tasks(lineage)
    for name, task in sorted(lineage.tasks.items()):
        edges = group_by_key(((usage.direction, usage.dataset), usage) for usage in task.usages)
        if not any(Evidence.DECLARED in _evidences(usages) for usages in edges.values()):
            continue
        runs = _runs(task, since)
        for (direction, dataset), usages in sorted(edges.items()):
            in_window = [run for run in runs if dataset.key[0] in shown[run.engine]]
            status = _status(usages, task.count(in_window), enough, since)
            if status is DriftStatus.PHANTOM and name in unknown:
                status = DriftStatus.UNVERIFIED
            into = edges.get((Direction.WRITE, dataset), ())
            updates = Evidence.DECLARED in _evidences(into) and any(map(_is_seen, into))
            if status is DriftStatus.UNDECLARED and updates:
                continue  # An UPDATE reads what it writes.
            if status:
                drift_edges.append(
                    _edge(task, dataset, Direction(direction), status, usages, in_window)
                )
    return drift_edges


def _status(
    usages: Iterable[Usage], runs: int, enough: int, since: datetime | None
) -> DriftStatus | None:
    """The status of an edge; None for one that nobody declared and that was not seen since."""
    is_declared = Evidence.DECLARED in _evidences(usages)
    times = [usage.last_at for usage in usages if usage.last_at and _is_seen(usage)]
    is_seen = any(_is_seen(usage) for usage in usages)
    if since and times:
        is_seen = max(times) >= since
    if is_declared:
        if is_seen:
            return DriftStatus.VERIFIED
        return DriftStatus.PHANTOM if runs >= enough else DriftStatus.UNVERIFIED
    return DriftStatus.UNDECLARED if is_seen else None


def _is_seen(usage: Usage) -> bool:
    return usage.moves_data and not usage.failed and Evidence.OBSERVED in _evidences([usage])


def _evidences(usages: Iterable[Usage]) -> set[Evidence]:
    return {
        evidence
        for usage in usages
        for evidence in ({source.evidence for source in usage.evidences} or {usage.evidence})
    }


def _namespaces(lineage: Lineage) -> Mapping[str, set[str]]:
    """Engine -> the namespaces of which its logs show datasets: no log of Spark shows an API."""
    namespaces: dict[str, set[str]] = defaultdict(set)
    for task in lineage.tasks.values():
        for usage in filter(_is_seen, task.usages):
            namespaces[usage.engine].add(usage.dataset.key[0])
    return namespaces


def _runs(task: Task, since: datetime | None) -> list[Run]:
    """The runs on engines whose logs show what the task does; else they cannot tell."""
    engines = {usage.engine for usage in task.usages if _is_seen(usage)}
    return [
        run
        for run in task.runs
        if run.engine in engines - {DECLARED}
        and run.status is not Status.FAILED
        and (since is None or (run.started_at is not None and run.started_at >= since))
    ]


def _edge(
    task: Task,
    dataset: DatasetId,
    direction: Direction,
    status: DriftStatus,
    usages: Iterable[Usage],
    runs: Sequence[Run],
) -> DriftEdge:
    seen = [usage for usage in usages if _is_seen(usage)]
    sources = sorted({evidence.source for usage in usages for evidence in usage.evidences})
    firsts = [usage.first_at for usage in seen if usage.first_at]
    lasts = [usage.last_at for usage in seen if usage.last_at]
    shown = {run.run_id for run in task.runs_of(*seen)} if seen else set()
    newest = next((run.run_id for run in runs if run.run_id in shown), "")
    return DriftEdge(
        *(task.name, dataset, direction, status, tuple(sources), task.count(runs)),
        first_at=min(firsts, default=None),
        last_at=max(lasts, default=None),
        run_id=newest,
        runs_from=min((run.started_at for run in runs if run.started_at), default=None),
    )


def proposed_flows(
    lineage: Lineage, edges: Iterable[DriftEdge]
) -> Mapping[str, list[tuple[tuple[DatasetId, ...], tuple[DatasetId, ...]]]]:
    """For each task with drift the flows that would settle it: inputs and outputs.

    Phantoms are left out. What a task only reads, or only writes, has the other side empty.
    """
    by_task = group_by_key((edge.task, edge) for edge in edges)
    return {
        task: [*_flows(lineage, task, task_edges)]
        for task, task_edges in by_task.items()
        if any(edge.status in (DriftStatus.PHANTOM, DriftStatus.UNDECLARED) for edge in task_edges)
    }


def _flows(
    lineage: Lineage, task: str, edges: Iterable[DriftEdge]
) -> Iterator[tuple[tuple[DatasetId, ...], tuple[DatasetId, ...]]]:
    staying = {
        (edge.direction, edge.dataset) for edge in edges if edge.status is not DriftStatus.PHANTOM
    }
    inputs: dict[DatasetId, set[DatasetId]] = defaultdict(set)
    for flow in lineage.flows:
        if flow.task == task and flow.definition is None:
            ends = {(Direction.READ, flow.source), (Direction.WRITE, flow.target)}
            if ends <= staying:
                inputs[flow.target].add(flow.source)
    together = group_by_key((tuple(sorted(inputs[target])), target) for target in sorted(inputs))
    for sources, targets in sorted(together.items()):
        yield sources, tuple(targets)
    used = {source for sources in inputs.values() for source in sources}
    for direction, dataset in sorted(staying):
        if direction is Direction.READ and dataset not in used:
            yield (dataset,), ()
        elif direction is Direction.WRITE and dataset not in inputs:
            yield (), (dataset,)


_Key = tuple[str, str]
_SOURCES = ("dbt manifest", "dbt's runs")


def model_drift(
    lineage: Lineage, enough: int = ENOUGH, since: datetime | None = None
) -> list[DriftEdge]:
    """The edges into dbt's models of which runs on Spark are known, sorted.

    Spark's plans show the tables behind a view, so what a view reads stands for it.

    Args:
        enough, since: As in `drift`.
    """
    models = {
        definition.dataset.key: definition
        for definition in lineage.definitions.values()
        if definition.kind is DefinitionKind.DBT
    }
    drift_edges: list[DriftEdge] = []
    for dataset, reads in lineage.dbt.reads.items():
        model = models.get(dataset.key)
        if model and (since is None or (reads.last_at and reads.last_at >= since)):
            drift_edges += _edges(lineage, models, model, reads, enough, since)
    return sorted(drift_edges, key=lambda edge: (edge.task, edge.dataset))


def _edges(
    lineage: Lineage,
    models: Mapping[_Key, Definition],
    model: Definition,
    reads: ModelReads,
    enough: int,
    since: datetime | None,
) -> Iterator[DriftEdge]:
    seen = {
        source.key: (source, at)
        for source, at in reads.sources
        if since is None or (at and at >= since)
    }
    explained: set[_Key] = set()
    for parent in model.reads:
        behind = _tables_behind(lineage, models, parent, seen)
        shown = [seen[key] for key in behind if key in seen]
        explained |= behind
        times = [at for _, at in shown if at]
        status = DriftStatus.VERIFIED
        if not shown:
            status = DriftStatus.PHANTOM if reads.runs >= enough else DriftStatus.UNVERIFIED
        yield DriftEdge(
            *(model.name, parent, Direction.READ, status, _SOURCES[: 2 if shown else 1]),
            runs=reads.runs,
            last_at=max(times, default=None),
        )
    for key, (source, at) in seen.items():
        if key not in explained and key != model.dataset.key:
            yield DriftEdge(
                *(model.name, source, Direction.READ, DriftStatus.UNDECLARED, _SOURCES[1:]),
                runs=reads.runs,
                last_at=at,
            )


def _tables_behind(
    lineage: Lineage,
    models: Mapping[_Key, Definition],
    parent: DatasetId,
    seen: Mapping[_Key, object],
) -> set[_Key]:
    """A parent, and the tables behind it where it is a view, or was one when the model ran."""
    keys, waiting = set[_Key](), [parent]
    while waiting:
        dataset = waiting.pop()
        if dataset.key in keys:
            continue
        keys.add(dataset.key)
        facts = lineage.datasets.get(dataset)
        if (facts and facts.kind is Kind.VIEW) or dataset.key not in seen:
            definition = models.get(dataset.key) or lineage.definition(dataset, DefinitionKind.VIEW)
            waiting += definition.reads if definition else ()
    return keys


_REMEDY = "deploy what the repository has, or bring there what runs"


def code_drift(
    lineage: Lineage, owners: Mapping[str, str], enough: int = ENOUGH
) -> Iterator[Finding]:
    """The differences between the code of tasks and their logs.

    Args:
        enough: So many runs must be known before it counts that none did what the code has.
    """
    for name, match in lineage.codes.items():
        runs = lineage.tasks[name].run_count if name in lineage.tasks else 0
        for difference in match.differences:
            if difference.is_seen or runs >= enough:
                subject = f"{difference.dataset}: " if difference.dataset else ""
                yield CODE_DRIFT.finding(
                    name,
                    f"{subject}{difference.problem}",
                    _REMEDY,
                    owners.get(name, ""),
                    str(difference.place),
                )
