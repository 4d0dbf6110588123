"""Flows: from the accesses of runs to edges between lasting datasets.

Within a run, statements are followed in the order they were first seen:

- a statement that reads and writes carries data from the one to the other;
- a temporary table holds what was put into it until a later statement takes it out, so the
  edge goes from base table to base table with the temporary one noted as a hop; a global one
  (`##t`) holds it for other runs and tasks too, and the edge is the reader's;
- a statement that only reads brings data into the task's memory, and one that only writes
  (`INSERT … VALUES`, a bulk insert, a data frame made in Python) takes its data from there:
  that is how a pandas script moves data.

A dataset that a task reads and writes makes no edge to itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from operator import attrgetter

from dbt_graft.lineage.dataset import DatasetId, Kind, is_global_temporary
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Evidence, Status

# Data goes from what is read to what is written: to define a table takes none.
_TAKING = frozenset(
    operation for operation in Operation if operation.reads_data or operation.renames
)
_RANKS = {evidence: rank for rank, evidence in enumerate(Evidence)}
_NAMES = attrgetter(
    *("dataset.key", "dataset.namespace", "dataset.name", "direction", "operation", "evidence")
)
_BEGINNING = datetime.min.replace(tzinfo=UTC)


@frozen
class EvidenceSource:
    """Evidence of an edge with its source: `Spark log`, `OpenLineage event`, `Airflow`, a file."""

    evidence: Evidence
    source: str


@frozen
class Flow:
    """Data of `source` went into `target` in runs of `task`.

    Attributes:
        hops: Temporary tables on the way, first to last.
        through_memory: The task carried the data itself (read it, then wrote it).
        shapes: The shapes that wrote the target.
        fills: The shapes that filled the hops; an empty one where the task carried the data.
        definition: Set where no task carries the data: a dbt model or a view, of this name.
        evidences: All that show it, strongest first, where several sources do; else empty.
    """

    source: DatasetId
    target: DatasetId
    task: str
    hops: tuple[DatasetId, ...] = ()
    through_memory: bool = False
    shapes: tuple[str, ...] = ()
    fills: tuple[str, ...] = ()
    evidence: Evidence = Evidence.OBSERVED
    first_at: datetime | None = None
    last_at: datetime | None = None
    definition: DefinitionKind | None = None
    evidences: tuple[EvidenceSource, ...] = ()

    @property
    def statements(self) -> tuple[str, ...]:
        """The shapes of all statements on its way, an empty one where these are not all of it."""
        return (*self.shapes, *self.fills) if self.shapes else ("",)


@frozen
class _Origin:
    """A lasting dataset some data came from, and the way it took so far."""

    dataset: DatasetId
    hops: tuple[DatasetId, ...] = ()
    fills: tuple[str, ...] = ()
    through_memory: bool = False


_Origins = dict[DatasetId, _Origin]


@frozen
class _Run:
    """The content of a run's temporary tables, and what its task has in memory."""

    memory: _Origins
    held: dict[DatasetId, _Origins] = field(default_factory=dict)


@frozen
class _Step:
    """Statements of one shape in a run, at a time when they ran."""

    at: datetime
    run: tuple[str, str]
    shape_id: str
    accesses: Sequence[Access]


def flows(
    accesses: Iterable[Access], parents: Mapping[tuple[str, str], str] | None = None
) -> list[Flow]:
    """The edges between lasting datasets that these accesses make, each once a task, sorted.

    Args:
        parents: The run of an orchestrator that started a run, by task and run id: what several
            engines did in one of them shares a memory.
    """
    parents = parents or {}
    shapes: dict[tuple[str, str, str], list[Access]] = defaultdict(list)
    for access in accesses:
        if access.status is not Status.FAILED:
            shapes[access.task, access.run_id, access.shape_id].append(access)
    memories: dict[tuple[str, str], _Origins] = defaultdict(dict)
    runs: dict[tuple[str, str], _Run] = {}
    shared: dict[DatasetId, _Origins] = {}  # global temporary tables
    # Datasets by their keys, which C hashes and sorts.
    flows_by_edge: dict[tuple[str, tuple[str, str], tuple[str, str]], list[Flow]] = defaultdict(
        list
    )
    for shape in shapes.values():
        shape.sort(key=_place)
    steps = (step for shape in shapes.values() for step in _steps(shape))
    for step in sorted(steps, key=attrgetter("at", "run", "shape_id")):
        if step.run not in runs:
            task, run_id = step.run
            runs[step.run] = _Run(memory=memories[task, parents.get(step.run, run_id)])
        for flow in _step_flows(step.accesses, runs[step.run], shared):
            flows_by_edge[flow.task, flow.source.key, flow.target.key].append(flow)
    return [merge_flows(flows_by_edge[key]) for key in sorted(flows_by_edge)]


def _step_flows(
    step: Sequence[Access], run: _Run, shared: dict[DatasetId, _Origins]
) -> Iterator[Flow]:
    """The flows of a step; what it fills, or takes into memory, is kept for later ones."""

    def content(temporary: DatasetId) -> _Origins:
        held = shared if is_global_temporary(temporary) else run.held
        return held.setdefault(temporary, {})

    reads = [a for a in step if a.direction is Direction.READ and a.operation in _TAKING]
    writes = [a for a in step if a.direction is Direction.WRITE]
    origins = _origins(reads, content)
    if not writes:
        run.memory.update(
            {
                origin.dataset: replace(
                    origin, fills=_join(origin.fills, [""]), through_memory=True
                )
                for origin in origins.values()
            }
        )
    elif not reads:
        origins = run.memory
    for write in writes:
        brought = origins.values() if reads or write.operation.brings_data else ()
        if write.kind is Kind.TEMPORARY:
            _fill(content(write.dataset), write, brought)
        else:
            yield from (
                _flow(origin, write) for origin in brought if origin.dataset != write.dataset
            )


def _origins(reads: Iterable[Access], content: Callable[[DatasetId], _Origins]) -> _Origins:
    origins: _Origins = {}
    for read in reads:
        if read.kind is Kind.TEMPORARY:
            for origin in content(read.dataset).values():
                _add_origin(origins, origin)
        else:
            by_temporary = origins.get(read.dataset)
            fills = by_temporary.fills if by_temporary else ()
            origins[read.dataset] = _Origin(read.dataset, fills=fills)
    return origins


def _add_origin(origins: _Origins, origin: _Origin) -> None:
    """Add an origin; of one dataset the first way counts, with the statements of all."""
    first = origins.setdefault(origin.dataset, origin)
    if first is not origin and not set(first.fills).issuperset(origin.fills):
        origins[origin.dataset] = replace(first, fills=_join(first.fills, origin.fills))


def _join(fills: Sequence[str], more: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*fills, *more)))


def _fill(held: _Origins, write: Access, brought: Iterable[_Origin]) -> None:
    if write.operation.replaces:
        held.clear()
    for origin in brought:
        hops = (*(hop for hop in origin.hops if hop != write.dataset), write.dataset)
        fills = _join(origin.fills, [write.shape_id])
        _add_origin(held, replace(origin, hops=hops, fills=fills))


def _steps(shape: Sequence[Access]) -> Iterator[_Step]:
    """The steps of one shape in a run: its first, and later ones for temporary tables.

    These hold other content from time to time: what a shape did last, and where it first did it
    to another of them, counts too.
    """
    first = shape[0]
    run = (first.task, first.run_id)
    temporary = sorted((a for a in shape if a.kind is Kind.TEMPORARY), key=_first, reverse=True)
    if not temporary:
        yield _Step(min(map(_first, shape)), run, first.shape_id, shape)
        return
    lasting = [a for a in shape if a.kind is not Kind.TEMPORARY]
    times = set(map(_first, temporary))
    times |= {a.last_at for a in temporary if a.statements > 1 and a.last_at}
    there: list[Access] = []
    for at in sorted(times):
        while temporary and _first(temporary[-1]) <= at:
            there.append(temporary.pop())
        there = [a for a in there if (a.last_at or _first(a)) >= at]
        yield _Step(at, run, first.shape_id, [*lasting, *there])


def _first(access: Access) -> datetime:
    return access.first_at or _BEGINNING


def _place(access: Access) -> tuple[object, ...]:
    """The place of an access among those of its statement: a log has them in any order."""
    return *_NAMES(access), _first(access), access.last_at or _BEGINNING


def _flow(origin: _Origin, write: Access) -> Flow:
    return Flow(
        source=origin.dataset,
        target=write.dataset,
        task=write.task,
        hops=origin.hops,
        through_memory=origin.through_memory,
        shapes=(write.shape_id,),
        fills=origin.fills,
        evidence=write.evidence,
        first_at=write.first_at,
        last_at=write.last_at,
    )


def merge_flows(duplicates: Sequence[Flow]) -> Flow:
    """One flow of all: the shortest way of the strongest evidence, the longest time."""
    if len(duplicates) == 1:
        return duplicates[0]
    return replace(
        min(
            duplicates,
            key=lambda flow: (_RANKS[flow.evidence], flow.through_memory, len(flow.hops)),
        ),
        shapes=tuple(sorted({shape for flow in duplicates for shape in flow.shapes})),
        fills=tuple(sorted({shape for flow in duplicates for shape in flow.fills})),
        first_at=min((flow.first_at for flow in duplicates if flow.first_at), default=None),
        last_at=max((flow.last_at for flow in duplicates if flow.last_at), default=None),
    )
