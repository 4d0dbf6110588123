"""What each execution of an application read and wrote.

One `Statement` is what a user would call one: `df.write.saveAsTable("t")` is three nested
executions in Spark 4 (save, create, insert) and one statement here; an `INSERT … INSERT …` over
one source is one execution and two statements. Reading a view is reading its tables, for plans
have views resolved; only `CREATE VIEW` still shows the views it stands on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from collectors.spark.commands import Role
from collectors.spark.history import Application, Execution
from collectors.spark.parts import Part, parts_of
from collectors.spark.places import Places
from collectors.spark.scans import Scan
from collectors.spark.schema import merge_columns, typed_columns
from lineage.dataset import DatasetId, Kind
from lineage.records import Column, Status

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Use:
    """A dataset as a statement read or wrote it; None for numbers that the log does not tell."""

    dataset: DatasetId
    kind: Kind
    rows: int | None = None
    bytes: int | None = None
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of an application: what it does, from what, to what, when, how it ended.

    Attributes:
        root: The id of the outermost execution it ran in.
    """

    operation: str
    reads: tuple[Use, ...]
    writes: tuple[Use, ...]
    status: Status
    started_at: datetime
    ended_at: datetime
    root: int = -1


def statements(
    application: Application, namespace: str
) -> tuple[list[Statement], Places, list[str]]:
    """The statements of an application in the order they started.

    Returns:
        Them, the places they use, and for each piece that could not be used the reason.
    """
    problems: list[str] = []

    def spared(execution: int, work: Callable[[], T]) -> T | None:
        # Whatever a plan we do not know does to the parser costs this execution only.
        try:
            return work()
        except Exception as error:
            reason = f"the plan cannot be read ({type(error).__name__})"
            problems.append(f"execution {execution}: {reason}")
            return None

    groups: dict[int, list[Part]] = defaultdict(list)
    for execution in sorted(application.executions.values(), key=lambda e: e.id):
        groups[execution.root] += spared(execution.id, partial(parts_of, execution, problems)) or ()
    places = Places(namespace, application.warehouse)
    types: dict[int, str] = {}
    parts = []
    for root, group in groups.items():
        for part in spared(root, partial(_paired, group)) or ():
            parts.append(part)
            spared(part.execution.id, partial(_learn, part, places, types))
    found = [
        spared(part.execution.id, partial(_statement, application, part, places, types))
        for part in parts
    ]
    return sorted(filter(None, found), key=lambda s: s.started_at), places, problems


def _learn(part: Part, places: Places, types: dict[int, str]) -> None:
    """Take note of where tables lie and of which types columns are, for the whole application."""
    if part.target and part.target.path:
        places.learn(part.target.table, [part.target.path])
    for scan in part.scans:
        places.learn(scan.table, scan.paths)
        types.update(scan.types)


def _paired(group: list[Part]) -> list[Part]:
    """The parts of one root that are statements, inserts under the name their wrappers give."""
    wrappers = [part for part in group if part.role is Role.WRAPPER]
    commanded = any(part.command and part.execution.id == part.execution.root for part in group)
    used: set[int] = set()
    for part in group:
        if part.role is Role.INSERT:
            around = [w for w in wrappers if w.execution.encloses(part.execution)]
            used.update(wrapper.execution.id for wrapper in around)
            _take_name(part, around)

    def counts(part: Part) -> bool:
        if part.command is None:
            # What a command asks for itself (its statistics, say) is no query of the user.
            return not commanded or part.execution.id == part.execution.root
        if part.role is not Role.WRAPPER:
            return part.target is not None and not _found_nothing(part)
        # Alone it wrote nothing (the table was there, and the mode is Ignore) or it failed.
        alone = part.execution.id not in used
        outermost = not any(w.execution.encloses(part.execution) for w in wrappers)
        failed = part.execution.status is Status.FAILED
        return alone and outermost and failed and part.target is not None

    return [part for part in group if counts(part)]


def _take_name(insert: Part, wrappers: list[Part]) -> None:
    """Say what the user said: `saveAsTable("t")`, where the insert itself knows a path only."""
    target = insert.target
    assert target
    insert.around = [wrapper.execution for wrapper in wrappers]
    named = [
        (wrapper, wrapper.target)
        for wrapper in sorted(wrappers, key=lambda w: (w.execution.started_at, w.execution.id))
        if wrapper.target and target.table[-1:] in ((), wrapper.target.table[-1:])
    ]
    if named:
        insert.operation = named[0][0].operation
        # The innermost says the catalog too.
        insert.target = replace(target, table=named[-1][1].table)


def _found_nothing(part: Part) -> bool:
    """`DROP … IF EXISTS` of a table of Spark's own catalog that was not there."""
    target = part.target
    assert target
    name = ".".join(("default", *target.table)[-2:]).casefold()
    return target.if_exists and name not in part.execution.dropped


def _statement(
    application: Application, part: Part, places: Places, types: dict[int, str]
) -> Statement:
    execution = part.execution
    reads = [use for scan in part.scans for use in _scanned(application, execution, scan, places)]
    reads += [Use(places.table(table), Kind.TABLE) for table in part.sources]
    writes: list[Use] = []
    if target := part.target:
        if target.source_table:
            reads.append(Use(places.table(target.source_table), Kind.TABLE))
        if target.source_path:
            reads += [Use(d, kind) for d, kind in places.resolve((), [target.source_path])]
        metrics = part.node.metrics if part.node else {}
        writes = [
            Use(
                dataset,
                Kind.VIEW if target.is_view else kind,
                application.metric(execution, metrics.get("number of output rows")),
                application.metric(execution, metrics.get("written output")),
                typed_columns(list(target.columns), part.inputs, types),
            )
            for dataset, kind in places.resolve(target.table, [target.path])
        ]
    return Statement(
        operation=part.operation,
        reads=_merged(reads),
        writes=_merged(writes),
        status=part.status,
        started_at=execution.started_at,
        ended_at=execution.ended_at or execution.started_at,
        root=execution.root,
    )


def _scanned(
    application: Application, execution: Execution, scan: Scan, places: Places
) -> Iterator[Use]:
    rows = application.metric(execution, scan.rows)
    size = application.metric(execution, scan.bytes)
    if size is not None and scan.rows not in application.values:
        rows = 0  # It ran, and Spark leaves out what counted nothing.
    found = places.resolve(scan.table, scan.paths)
    for dataset, kind in found:
        if len(found) > 1:
            rows = size = None  # Spark counts a scan, not each of the folders it read.
        yield Use(dataset, kind, rows, size, scan.columns)


def _merged(uses: Iterable[Use]) -> tuple[Use, ...]:
    """Each dataset once, sorted; what was counted for it is added up."""
    merged: dict[DatasetId, Use] = {}
    for use in uses:
        mine = merged.get(use.dataset)
        merged[use.dataset] = (
            Use(
                use.dataset,
                use.kind if use.kind is Kind.VIEW else mine.kind,
                _sum(mine.rows, use.rows),
                _sum(mine.bytes, use.bytes),
                merge_columns(mine.columns, use.columns),
            )
            if mine
            else use
        )
    return tuple(merged[key] for key in sorted(merged))


def _sum(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b
