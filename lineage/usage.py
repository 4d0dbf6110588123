"""Usages: the datasets that tasks read and write, over all of their runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
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
_ROWS, _BYTES = attrgetter("rows"), attrgetter("bytes")
_PROCEDURE, _EVIDENCE = attrgetter("procedure"), attrgetter("evidence")
_RANKS = {evidence: rank for rank, evidence in enumerate(Evidence)}


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
    evidences: tuple[EvidenceSource, ...] = ()
    repeats: bool = False


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
    engines = engines or {}
    flowed = {(flow.task, *end): flow for flow in flows for end in _ends(flow)}
    groups: dict[tuple[str, DatasetId, Direction, str], list[Access]] = defaultdict(list)
    for access in accesses:
        engine = engines.get((access.task, access.run_id)) or engine_without_run(access)
        groups[access.task, access.dataset, access.direction, engine].append(access)
    all_usages = [
        _usage(group, engine, moved=(task, dataset, direction) in flowed)
        for (task, dataset, direction, engine), group in groups.items()
    ]
    by_task = {task: engine for (task, _), engine in sorted(engines.items())}
    seen = {(usage.task, usage.dataset, usage.direction) for usage in all_usages}
    all_usages += [
        Usage(
            *key,
            first_at=flow.first_at,
            last_at=flow.last_at,
            evidence=flow.evidence,
            engine=by_task.get(flow.task, UNKNOWN),
        )
        for key, flow in flowed.items()
        if key not in seen
    ]
    return sorted(
        all_usages, key=lambda usage: (usage.task, usage.dataset, usage.direction, usage.engine)
    )


def with_repeats(
    used: Iterable[Usage], repeats: Iterable[UsageRepeats], rename: Rename
) -> list[Usage]:
    """The usages, with the statements of runs that were folded."""
    statements: Counter[tuple[str, DatasetId, Direction, str]] = Counter()
    for repeat in repeats:
        statements[repeat.task, rename(repeat.dataset), repeat.direction, repeat.engine] += (
            repeat.statements
        )
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
    done = [access for access in group if access.status is not Status.FAILED]
    # A failed attempt is no news of the data.
    # Nor is a later drop, or a definition.
    moving = [access for access in done if _moves_data(access)]
    # Nor is one whose end no log shows.
    ended = [access for access in moving if access.status is Status.OK]
    times = [access.last_at for access in ended or moving or done or group if access.last_at]
    firsts = [access.first_at for access in group if access.first_at]
    run_ids = _distinct(map(_RUN, group))
    return Usage(
        task=group[0].task,
        dataset=group[0].dataset,
        direction=group[0].direction,
        operations=_distinct(map(_OPERATION, done or group)),
        shapes=_distinct(map(_SHAPE, done or group)),
        statements=sum(access.statements for access in group),
        rows=_sum_of_last_run(done, _ROWS),
        bytes=_sum_of_last_run(done, _BYTES),
        first_at=min(firsts, default=None),
        last_at=max(times, default=None),
        evidence=min(map(_EVIDENCE, group), key=_RANKS.__getitem__),
        failed=not done,
        moves_data=moved or any(map(_moves_data, done or group)),
        procedures=_distinct(filter(None, map(_PROCEDURE, group))),
        engine=engine,
        run_ids=run_ids,
        run_rows=_rows_by_run(done, run_ids),
        failed_runs=_distinct({*run_ids} - {*map(_RUN, done)}) if len(done) < len(group) else (),
    )


def _distinct(values: Iterable[T]) -> tuple[T, ...]:
    """The values, each once and sorted; mostly there is one."""
    distinct: set[Any] = {*values}
    return tuple(sorted(distinct) if len(distinct) > 1 else distinct)


def _moves_data(access: Access) -> bool:
    if access.direction is Direction.READ:
        return access.operation.reads_data
    return access.operation.brings_data


def _rows_by_run(done: list[Access], run_ids: Iterable[str]) -> tuple[int | None, ...]:
    """The rows of each run; empty where no log counts them."""
    rows: dict[str, int] = {}
    for access in done:
        if access.rows is not None:
            rows[access.run_id] = rows.get(access.run_id, 0) + access.rows
    return tuple(map(rows.get, run_ids)) if rows else ()


def _sum_of_last_run(done: list[Access], count: Callable[[Access], int | None]) -> int | None:
    """The sum over the last run whose log counts it."""
    if not any(number is not None for number in map(count, done)):
        return None
    counted = [(access, number) for access in done if (number := count(access)) is not None]
    newest = max(counted, key=_recency)[0].run_id
    return sum(number for access, number in counted if access.run_id == newest)


def _recency(counted: tuple[Access, int]) -> tuple[datetime, str]:
    return counted[0].last_at or _BEGINNING, counted[0].run_id
