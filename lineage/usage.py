"""Usages: the datasets that tasks read and write, over all of their runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import repeat
from operator import attrgetter
from typing import Any, TypeVar

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.flow import EvidenceSource, Flow
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.history import RunKey
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Evidence, Status, UsageRepeats

T = TypeVar("T")
# The engine of a task that only people's YAML names.
DECLARED = "declared"
UNKNOWN = "unknown"

_BEGINNING = datetime.min.replace(tzinfo=UTC)
_OPERATION, _SHAPE, _RUN = attrgetter("operation"), attrgetter("shape_id"), attrgetter("run_id")
_ROWS, _BYTES, _STATEMENTS = attrgetter("rows"), attrgetter("bytes"), attrgetter("statements")
_FIRST, _LAST = attrgetter("first_at"), attrgetter("last_at")
_SOURCE, _TARGET = attrgetter("source.key"), attrgetter("target.key")
_PROCEDURE, _EVIDENCE = attrgetter("procedure"), attrgetter("evidence")
_RANKS = {evidence: rank for rank, evidence in enumerate(Evidence)}
# A task, the key of a dataset that it uses, and how.
_UseKey = tuple[str, tuple[str, str], Direction]


@frozen
class Usage:
    """The use of a dataset by a task on one engine, over all of its runs.

    Attributes:
        operations: What its statements do there, sorted; empty where data went there only through
            a global temporary table that another task filled.
        statements: How many statements, over all runs.
        rows: Rows of the last run whose log counts them; None where none does.
        bytes: Bytes, likewise.
        last_at: The last time that data moved; of the last attempt if all failed.
        failed: Every attempt failed, so no data moved.
        moves_data: It took data from the dataset, or put data there.
        procedures: The stored procedures whose statements did it, or did some of it, sorted.
        run_ids: The runs that did it, or tried, sorted.
        run_rows: For each of them its rows, None where its log does not count them; empty where
            none does.
        failed_runs: Those of them of which every attempt failed, sorted.
        idle_runs: Those that did something else than it: of a task that inserts, the runs that
            only delete; sorted.
        evidences: All that show it, strongest first, where several sources do; else empty.
        repeats: Events or YAML alone show it, and a log shows the same on another engine: lists
            have that one.
    """

    task: str
    dataset: DatasetId
    direction: Direction
    operations: tuple[Operation, ...] = ()
    shapes: tuple[str, ...] = ()
    statements: int = 0
    rows: int | None = None
    bytes: int | None = None
    first_at: datetime | None = None
    last_at: datetime | None = None
    evidence: Evidence = Evidence.OBSERVED
    failed: bool = False
    moves_data: bool = True
    procedures: tuple[str, ...] = ()
    engine: str = UNKNOWN
    run_ids: tuple[str, ...] = ()
    run_rows: tuple[int | None, ...] = ()
    failed_runs: tuple[str, ...] = ()
    idle_runs: tuple[str, ...] = ()
    evidences: tuple[EvidenceSource, ...] = ()
    repeats: bool = False

    @property
    def counts(self) -> bool:
        """Whether it moved data, and is not what another usage shows better."""
        return self.moves_data and not self.failed and not self.repeats


def usages(
    accesses: Iterable[Access],
    engines: Mapping[RunKey, str] | None = None,
    flows: Iterable[Flow] = (),
) -> list[Usage]:
    """The usages of all tasks, sorted by task, dataset, direction and engine.

    Args:
        engines: The engine of each run, by task and run id.
        flows: What these accesses moved; the ends of each flow are used by its task.
    """
    engines, flows = engines or {}, [*flows]
    # Datasets by their keys, whose hashes are made by C.
    tasks = [flow.task for flow in flows]
    flowed = {*zip(tasks, map(_SOURCE, flows), repeat(Direction.READ))}
    flowed.update(zip(tasks, map(_TARGET, flows), repeat(Direction.WRITE)))
    groups: dict[tuple[_UseKey, str], list[Access]] = defaultdict(list)
    for access in accesses:
        engine = engines.get((access.task, access.run_id)) or engine_without_run(access)
        groups[(access.task, access.dataset.key, access.direction), engine].append(access)
    all_usages = [
        (_usage if len(group) > 1 else _usage_of_one)(group, engine, moved=use in flowed)
        for (use, engine), group in groups.items()
    ]
    by_task = {task: engine for (task, _), engine in sorted(engines.items())}
    missing = flowed - {use for use, _ in groups}
    moved = {
        (flow.task, dataset.key, direction): (dataset, flow)
        for flow in (flows if missing else ())
        for dataset, direction in _ends(flow)
    }
    all_usages += [
        Usage(
            *(task, dataset, direction),
            first_at=flow.first_at,
            last_at=flow.last_at,
            evidence=flow.evidence,
            engine=by_task.get(task, UNKNOWN),
        )
        for task, key, direction in missing
        for dataset, flow in (moved[task, key, direction],)
    ]
    return sorted(all_usages, key=attrgetter("task", "dataset.key", "direction", "engine"))


def with_repeats(
    used: Iterable[Usage], repeats: Iterable[UsageRepeats], rename: Rename
) -> list[Usage]:
    """The usages, with the statements of runs that were folded."""
    statements: Counter[tuple[str, DatasetId, Direction, str]] = Counter()
    for folded_use in repeats:
        statements[
            folded_use.task, rename(folded_use.dataset), folded_use.direction, folded_use.engine
        ] += folded_use.statements
    if not statements:
        return list(used)
    return [
        replace(usage, statements=usage.statements + folded)
        if (folded := statements[usage.task, usage.dataset, usage.direction, usage.engine])
        else usage
        for usage in used
    ]


def _ends(flow: Flow) -> tuple[tuple[DatasetId, Direction], tuple[DatasetId, Direction]]:
    return (flow.source, Direction.READ), (flow.target, Direction.WRITE)


def engine_without_run(access: Access) -> str:
    """The engine of an access without a run of its own."""
    return UNKNOWN if access.evidence.is_of_runs else DECLARED


def _usage(group: list[Access], engine: str, *, moved: bool) -> Usage:
    direction = group[0].direction
    done = [access for access in group if access.status is not Status.FAILED]
    operations = _distinct(map(_OPERATION, done or group))
    moves = [operation for operation in operations if _moves_data(operation, direction)]
    # A failed attempt is no news of the data.
    # Nor is a later drop, or a definition.
    moving, idle_runs = done, set[str]()
    if len(moves) < len(operations):
        moving = [access for access in done if access.operation in moves]
        idle_runs = {*map(_RUN, done)}.difference(map(_RUN, moving)) if moves else idle_runs
    # Nor is one whose end no log shows.
    ended = [access for access in moving if access.status is Status.OK]
    times = filter(None, map(_LAST, ended or moving or done or group))
    run_ids = _distinct(map(_RUN, group))
    rows = _sum_of_last_run(done, _ROWS)
    return Usage(
        task=group[0].task,
        dataset=group[0].dataset,
        direction=direction,
        operations=operations,
        shapes=_distinct(map(_SHAPE, done or group)),
        statements=sum(map(_STATEMENTS, group)),
        rows=rows,
        bytes=_sum_of_last_run(done, _BYTES),
        first_at=min(filter(None, map(_FIRST, group)), default=None),
        last_at=max(times, default=None),
        evidence=min(map(_EVIDENCE, group), key=_RANKS.__getitem__),
        failed=not done,
        moves_data=moved or bool(moves),
        procedures=_distinct(filter(None, map(_PROCEDURE, group))),
        engine=engine,
        run_ids=run_ids,
        run_rows=() if rows is None else _rows_by_run(done, run_ids),
        failed_runs=_distinct({*run_ids} - {*map(_RUN, done)}) if len(done) < len(group) else (),
        idle_runs=_distinct(idle_runs),
    )


def _usage_of_one(group: list[Access], engine: str, *, moved: bool) -> Usage:
    """As `_usage`, in a fifth of its time: most uses are of one statement in one run."""
    (access,) = group
    is_failed = access.status is Status.FAILED
    rows = None if is_failed else access.rows
    return Usage(
        task=access.task,
        dataset=access.dataset,
        direction=access.direction,
        operations=(access.operation,),
        shapes=(access.shape_id,),
        statements=access.statements,
        rows=rows,
        bytes=None if is_failed else access.bytes,
        first_at=access.first_at,
        last_at=access.last_at,
        evidence=access.evidence,
        failed=is_failed,
        moves_data=moved or _moves_data(access.operation, access.direction),
        procedures=(access.procedure,) if access.procedure else (),
        engine=engine,
        run_ids=(access.run_id,),
        run_rows=() if rows is None else (rows,),
        failed_runs=(access.run_id,) if is_failed else (),
    )


def _distinct(values: Iterable[T]) -> tuple[T, ...]:
    """The values, each once and sorted; mostly there is one."""
    distinct: set[Any] = {*values}
    return tuple(sorted(distinct) if len(distinct) > 1 else distinct)


def _moves_data(operation: Operation, direction: Direction) -> bool:
    return operation.reads_data if direction is Direction.READ else operation.brings_data


def _rows_by_run(done: list[Access], run_ids: Iterable[str]) -> tuple[int | None, ...]:
    """The rows of each run, where a log counts them."""
    rows: dict[str, int] = {}
    for access in done:
        if access.rows is not None:
            rows[access.run_id] = rows.get(access.run_id, 0) + access.rows
    return tuple(map(rows.get, run_ids))


def _sum_of_last_run(done: list[Access], count: Callable[[Access], int | None]) -> int | None:
    """The sum over the last run whose log counts it."""
    numbers = [*map(count, done)]
    if numbers.count(None) == len(numbers):
        return None
    pairs = zip(done, numbers, strict=True)
    counted = [(access, number) for access, number in pairs if number is not None]
    newest = max(counted, key=_recency)[0].run_id
    return sum(number for access, number in counted if access.run_id == newest)


def _recency(counted: tuple[Access, int]) -> tuple[datetime, str]:
    return counted[0].last_at or _BEGINNING, counted[0].run_id
