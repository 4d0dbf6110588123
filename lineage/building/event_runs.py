"""Runs of events, and of orchestrators: fragments joined, and joined with what logs show.

A producer sends several events for a run, and they may be in several logs. Each log gives a
fragment: a run without its end, accesses without statistics. Joined, they are one run, and every
access of it has the run's status.

An orchestrator's run (a try of an Airflow task) starts runs of engines. Where the engine's log
shows such a run too, it is one execution: what the event says of it counts for the run in the log.
The log is more exact, so of two datasets that it knows, it alone decides whether data flowed from
one to the other (`lineage.precedence`).

What a JobEvent declares is true until a newer one of its job declares something else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from operator import attrgetter

from dbt_graft.lineage.airflow_names import parent_id, task_try
from dbt_graft.lineage.building.runs import merge_run
from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.history import RunKey
from dbt_graft.lineage.openlineage import parse_job
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    Direction,
    Evidence,
    Records,
    Run,
    Shape,
    Status,
)

# The ids of shapes of events begin with the first; with the second where an event explains them.
EVENT_SHAPE = "event-"
EXPLAINED_SHAPE = "event-explained-"
# They end with it where the event has columns: with others it is another shape.
COLUMNS_SHAPE = "-columns"
# The id of the run that stands for what a JobEvent declares begins so.
DECLARED_RUN = "job:"
# Engines that do nothing themselves: their runs start others.
ORCHESTRATORS = frozenset({"airflow", "dagster", "prefect", "mage", "kestra", "argo"})

_BEGINNING = datetime.min.replace(tzinfo=UTC)
_NO_DATA = frozenset({Operation.ALTER, Operation.DROP, Operation.TRUNCATE})
# Applications within applications.
_DEPTH = 8
_RANKS = {evidence: rank for rank, evidence in enumerate(Evidence)}


def is_event(record: Access | ColumnEdge) -> bool:
    """Whether an event says it."""
    return record.shape_id.startswith(EVENT_SHAPE)


def has_events(records: Iterable[Access | ColumnEdge]) -> bool:
    """Whether an event says any of them."""
    if isinstance(records, ColumnEdges):
        shapes: Iterable[str] = records.distinct("shape_id")
    else:
        shapes = {*map(attrgetter("shape_id"), records)}  # many have one shape
    return any(shape.startswith(EVENT_SHAPE) for shape in shapes)


def join_events(records: Records) -> Records:
    """The records with each run of events once, under the run of an engine's log if there is one.

    Records without events are returned as they are.
    """
    if not any(run.job for run in records.runs) and not has_events(records.accesses):
        return records
    events: dict[tuple[str, str, str], Run] = {}
    logged: list[Run] = []
    for run in records.runs:
        if not run.job:
            logged.append(run)
            continue
        # dbt's part of a run has an origin of its own.
        key = (run.engine, run.task, run.run_id)
        events[key] = merge_run(events[key], run) if key in events else run
    return _Joined(tuple(events.values()), logged, records).records()


class _Joined:
    """Runs of events and of logs, and which of them are one."""

    def __init__(self, events: Sequence[Run], logged: Sequence[Run], records: Records) -> None:
        self._events = events
        self._logged = logged
        self._records = records
        self._by_key = {(run.task, run.run_id): run for run in events}
        # Of a run that Airflow does with dbt, Airflow's.
        by_id = sorted(events, key=lambda run: run.engine in ORCHESTRATORS)
        self._by_id = {run.run_id: run for run in by_id}
        self._by_application: dict[str, list[Run]] = defaultdict(list)
        for run in events:
            if run.application_id:
                self._by_application[run.application_id].append(run)
        # Those of Airflow, which it makes run ids of.
        jobs = [parse_job(run.job or "") for run in events if run.engine in ORCHESTRATORS]
        self._namespaces = sorted({job.namespace for job in jobs if job})
        # The run that the accesses of another count for, and the runs that are part of others.
        self._targets: dict[RunKey, RunKey] = {}
        self._gone: set[RunKey] = set()
        # What nobody knows of the actions of an application.
        self._gaps: dict[RunKey, set[str]] = defaultdict(set)
        # For each run of an event the runs in engines' logs that it is, or that it started.
        self._children: dict[str, list[Run]] = defaultdict(list)

    def records(self) -> Records:
        """All of it, joined."""
        by_run: dict[RunKey, list[Access]] = defaultdict(list)
        others: list[Access] = []
        for access in self._records.accesses:
            if is_event(access):
                by_run[access.task, access.run_id].append(access)
            else:
                others.append(access)
        self._collapse()
        logged = [self._placed_run(run) for run in self._logged]
        shapes = dict(self._records.shapes)
        tasks: dict[tuple[str, str], set[str]] = defaultdict(set)
        logged_keys = {(a.task, a.run_id, a.dataset, a.direction) for a in others}
        event_accesses: list[Access] = []
        disproved: set[tuple[str, str, DatasetId]] = set()
        replaced: list[Access] = []
        for key, accesses in by_run.items():
            run = self._by_key.get(key)
            if key[1].startswith(DECLARED_RUN):
                newest = max(map(_last, accesses))
                replaced += (access for access in accesses if _last(access) < newest)
                accesses = [
                    replace(access, first_at=None, last_at=None)
                    for access in accesses
                    if _last(access) == newest
                ]
            disproved |= _disproved_writes(accesses)
            for access in _run_accesses(accesses, run, shapes):
                placed = self._place_access(access, logged_keys)
                tasks[access.task, access.shape_id].add(placed.task)
                event_accesses.append(placed)
        disproved |= {
            (access.task, access.shape_id, access.dataset)
            for access in replaced
            if (access.task, access.shape_id) not in tasks
        }
        runs = [
            replace(run, gaps=tuple(sorted({*run.gaps, *gaps}))) if gaps else run
            for run in self._events
            if (run.task, run.run_id) not in self._gone
            for gaps in [self._gaps.get((run.task, run.run_id))]
        ]
        return replace(
            self._records,
            accesses=(*others, *event_accesses),
            runs=(*logged, *runs),
            shapes=shapes,
            column_edges=tuple(_edges(self._records.column_edges, tasks, disproved)),
        )

    def _collapse(self) -> None:
        """Count the actions of an application for the application, queries of a task for the task.

        A task of Airflow may have the name of its DAG: unlike a query, it has a name there.
        """
        for run in self._events:
            top = run
            for _ in range(_DEPTH):
                above = self._by_id.get(top.parent_run_id or "")
                if above is None or (above.engine, above.task) != (run.engine, run.task):
                    break
                top = above
            if run.engine in ORCHESTRATORS and (run.application_id or not top.application_id):
                continue
            if top is not run:
                self._targets[run.task, run.run_id] = (top.task, top.run_id)
                self._gone.add((run.task, run.run_id))
                self._gaps[top.task, top.run_id].update(run.gaps)

    def _placed_run(self, run: Run) -> Run:
        """A run of a log, with its parent; the run of an event that is the same one goes."""
        same = self._same_run(run)
        if same:
            self._children[same.run_id].append(run)
            self._gone.add((same.task, same.run_id))
            return replace(run, parent_run_id=same.parent_run_id or run.parent_run_id)
        above = self._parent(run)
        if above is None:
            return run
        self._children[above.run_id].append(run)
        return replace(run, parent_run_id=above.run_id)

    def _same_run(self, run: Run) -> Run | None:
        """The run of an event that is the application in a log."""
        for event_run in self._by_application.get(run.application_id or "", ()):
            if (
                event_run.engine == run.engine
                and (event_run.task, event_run.run_id) not in self._targets
            ):
                return event_run
        return None

    def _parent(self, run: Run) -> Run | None:
        """The run of an event that started a run of a log."""
        # A task may pass the id on as the id of its own run, or as `dag/task/run`, without the
        # try: then it is the last that had begun.
        name = run.parent_run_id or run.run_id
        named = (self._by_id.get(run_id) for run_id in self._run_ids(name))
        above = next(filter(None, named), None)
        if above is None:
            begun = [
                event_run
                for event_run in self._by_application.get(name, ())
                if _start(event_run) <= _start(run)
            ]
            above = max(begun, key=_start, default=None)
        return above if above is not None and above.engine != run.engine else None

    def _run_ids(self, name: str) -> Iterator[str]:
        """The ids of the runs that a name may mean."""
        yield name.lower()
        if parent := parent_id(name):
            yield str(parent.run_id)
        elif attempt := task_try(name):
            for namespace in self._namespaces:
                yield str(attempt.run_id(namespace))

    def _place_access(
        self,
        access: Access,
        logged_keys: set[tuple[str, str, DatasetId, Direction]],
    ) -> Access:
        """An access under the run that it counts for."""
        task, run_id = self._targets.get((access.task, access.run_id), (access.task, access.run_id))
        children = self._children.get(run_id, ())
        did = [
            child
            for child in children
            if (child.task, child.run_id, access.dataset, access.direction) in logged_keys
        ]
        if did:
            child = min(did, key=_start)
            placed = replace(access, task=child.task, run_id=child.run_id, statements=0)
            return replace(placed, rows=None, bytes=None, files=None)
        if len({child.task for child in children}) == 1:
            child = min(children, key=_start)
            task, run_id = child.task, child.run_id
        if (task, run_id) == (access.task, access.run_id):
            return access
        return replace(access, task=task, run_id=run_id)


def _last(access: Access) -> datetime:
    return access.last_at or _BEGINNING


def _start(run: Run) -> datetime:
    return run.started_at or _BEGINNING


def _run_accesses(
    accesses: Sequence[Access], run: Run | None, shapes: dict[str, Shape]
) -> Iterator[Access]:
    """The accesses of one run, of all fragments: each once.

    Of one that no end shows as done, the status is the run's. What a failed run counted rows of it
    may have written before it failed: other producers than ours do not say.
    """
    merged: dict[tuple[object, ...], Access] = {}
    with_columns = _shapes_with_columns(accesses)
    for access in accesses:
        if shape_id := with_columns.get(access.shape_id):
            access = replace(access, shape_id=shape_id)
        key = (access.shape_id, access.dataset, access.direction, access.operation)
        merged[key] = _merge_accesses(merged[key], access) if key in merged else access
    groups: dict[str, list[Access]] = defaultdict(list)
    for access in merged.values():
        groups[access.shape_id].append(access)
    _share_text({**with_columns, **dict.fromkeys(groups, "")}, shapes)
    starts = [run.started_at if run else None, *(access.first_at for access in accesses)]
    ends = [run.ended_at if run else None, *(access.last_at for access in accesses)]
    first = min(filter(None, starts), default=None)
    last = max(filter(None, ends), default=None)
    wrote = any(access.rows for access in accesses if access.direction is Direction.WRITE)
    counted: set[tuple[object, ...]] = set()
    for access in _groups(groups):
        once = (access.dataset, access.direction)
        status = access.status
        if run and status is not Status.OK:
            status = run.status
        if status is Status.FAILED and (
            wrote if access.direction is Direction.READ else access.rows
        ):
            status = Status.UNKNOWN
        if once in counted:
            access = replace(access, statements=0, rows=None, bytes=None, files=None)
        counted.add(once)
        # Most are as they should be, and a copy of each would be most of the work.
        if (access.first_at, access.last_at, access.status) != (first, last, status):
            access = replace(access, first_at=first, last_at=last, status=status)
        yield access


def _shapes_with_columns(accesses: Sequence[Access]) -> dict[str, str]:
    """Shape without columns -> one with columns and the same uses: not all events have them."""
    if len({access.shape_id for access in accesses}) < 2:
        return {}
    uses: dict[str, set[tuple[DatasetId, Direction, Operation]]] = defaultdict(set)
    for access in accesses:
        uses[access.shape_id].add(_use_key(access))
    with_columns = {
        (shape.startswith(EXPLAINED_SHAPE), frozenset(uses[shape])): shape
        for shape in sorted(uses)
        if shape.endswith(COLUMNS_SHAPE)
    }
    return {
        shape: other
        for shape in uses
        if not shape.endswith(COLUMNS_SHAPE)
        and (other := with_columns.get((shape.startswith(EXPLAINED_SHAPE), frozenset(uses[shape]))))
    }


def _merge_accesses(a: Access, b: Access) -> Access:
    """One access of two fragments; what the later one counts, and its dates."""
    last, first = (b, a) if _last(b) >= _last(a) else (a, b)
    return replace(
        last,
        rows=first.rows if last.rows is None else last.rows,
        bytes=first.bytes if last.bytes is None else last.bytes,
        files=first.files if last.files is None else last.files,
        status=Status.OK if Status.OK in (a.status, b.status) else last.status,
        evidence=min((a.evidence, b.evidence), key=_RANKS.__getitem__),
        periods=last.periods or first.periods,
        positions=last.positions or first.positions,
    )


def _share_text(groups: Iterable[str], shapes: dict[str, Shape]) -> None:
    """The SQL that one event of a run shows is that of its others too."""
    with_text = [shapes[shape_id] for shape_id in sorted(groups) if shape_id in shapes]
    if with_text:
        for shape_id in groups:
            shapes.setdefault(shape_id, replace(with_text[0], shape_id=shape_id))


def _groups(groups: Mapping[str, Sequence[Access]]) -> Iterator[Access]:
    """The accesses of the groups that count.

    A group within another is left out: an event of the run's start lacks what its end knows. Groups
    of one side only, the inputs or the outputs, are one group unless an event explains them. What
    an event explains, no other one says more of.
    """
    explained = {
        _use_key(access)
        for shape, accesses in groups.items()
        if shape.startswith(EXPLAINED_SHAPE)
        for access in accesses
        if access.direction is Direction.WRITE
    }
    if explained:
        groups = {
            shape: [
                access
                for access in accesses
                if shape.startswith(EXPLAINED_SHAPE) or _use_key(access) not in explained
            ]
            for shape, accesses in groups.items()
        }
    sides = {shape: frozenset(map(_use_key, accesses)) for shape, accesses in groups.items()}
    left = {
        shape: accesses
        for shape, accesses in sorted(groups.items())
        if not any(sides[shape] < other for other in sides.values())
    }
    one_sided = [
        shape
        for shape, accesses in left.items()
        if len({a.direction for a in accesses}) == 1
        and not shape.startswith(EXPLAINED_SHAPE)
        and not any(a.operation in _NO_DATA for a in accesses)
    ]
    directions = {a.direction for shape in one_sided for a in left[shape]}
    for shape, accesses in left.items():
        joins = shape in one_sided and len(directions) > 1
        reads = any(a.direction is Direction.READ for a in accesses) or joins
        for access in accesses:
            changed = access
            if access.operation is Operation.CREATE_TABLE and reads:
                changed = replace(access, operation=Operation.CREATE_TABLE_AS)
            yield replace(changed, shape_id=one_sided[0]) if joins else changed


def _use_key(access: Access) -> tuple[DatasetId, Direction, Operation]:
    return access.dataset, access.direction, access.operation


def _disproved_writes(accesses: Iterable[Access]) -> set[tuple[str, str, DatasetId]]:
    """Writes of one run, by task, shape and dataset, whose inputs another event explains."""
    writes = [access for access in accesses if access.direction is Direction.WRITE]
    explained = {a.dataset for a in writes if a.shape_id.startswith(EXPLAINED_SHAPE)}
    return {
        (access.task, access.shape_id, access.dataset)
        for access in writes
        if access.dataset in explained and not access.shape_id.startswith(EXPLAINED_SHAPE)
    }


def _edges(
    edges: Iterable[ColumnEdge],
    tasks: Mapping[tuple[str, str], set[str]],
    disproved: Container[tuple[str, str, DatasetId]],
) -> Iterator[ColumnEdge]:
    """The column edges under the tasks that their accesses count for; those of events once.

    Each log repeats the edges of a job, and any of them is as good.
    """
    edges_by_content: dict[ColumnEdge, ColumnEdge] = {}
    for edge in edges:
        if not is_event(edge):
            yield edge
            continue
        if (edge.task, edge.shape_id, edge.to_dataset) in disproved:
            continue
        for task in tasks.get((edge.task, edge.shape_id)) or (edge.task,):
            placed = replace(edge, task=task)
            earlier = edges_by_content.setdefault(replace(placed, origin=""), placed)
            if placed.origin < earlier.origin:
                edges_by_content[replace(placed, origin="")] = placed
    yield from edges_by_content.values()
