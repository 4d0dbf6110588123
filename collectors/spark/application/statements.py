"""What each execution of an application read and wrote.

One `Statement` is what a user would call one: `df.write.saveAsTable("t")` is three nested
executions in Spark 4 (save, create, insert) and one statement here; an `INSERT … INSERT …` over
one source is one execution and two statements. Reading a view is reading its tables, for plans
have views resolved; only `CREATE VIEW` still shows the views it stands on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from dbt_graft.collectors.spark.application import streams
from dbt_graft.collectors.spark.application.accesses import (
    Use,
    counts_written,
    merged,
    scanned,
    scans_of,
)
from dbt_graft.collectors.spark.application.column_edges import Edge, column_edges
from dbt_graft.collectors.spark.application.execution import Application, Batch, Execution, Group
from dbt_graft.collectors.spark.application.pairing import paired
from dbt_graft.collectors.spark.application.reads import Reads
from dbt_graft.collectors.spark.application.recent import Recent
from dbt_graft.collectors.spark.application.segments import Part, bridge, parts_of
from dbt_graft.collectors.spark.sources.commands import Command, Role
from dbt_graft.collectors.spark.sources.connectors import Target
from dbt_graft.collectors.spark.sources.datasets import Places
from dbt_graft.collectors.spark.sources.rdds import labelled_scan
from dbt_graft.collectors.spark.sources.scans import PATHS_CUT, Scan
from dbt_graft.collectors.spark.sources.schema import typed_columns
from dbt_graft.collectors.spark.sources.unresolved_scans import name_scans
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import Status

T = TypeVar("T")

# Of the columns that scans of the application showed, the latest.
_MOST_COLUMNS = 20_000
# Of streaming queries, whose plans have none.
_SINK = Command(Role.SAVE, lambda _: None, "INSERT")
_USES = ("SetCatalogAndNamespace", "Execute SetDatabaseCommand")
_CHECKPOINT = re.compile(r"\.(?:localC|c)heckpoint\(")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of an application: what it does, from what, to what, when, how it ended.

    Attributes:
        sql: Its text without literals; empty where the log has none.
        edges: Which column comes from which.
        gaps: Why column edges are missing or not exact, and why inputs are (`PATHS_CUT`).
    """

    operation: str
    reads: tuple[Use, ...]
    writes: tuple[Use, ...]
    status: Status
    started_at: datetime
    ended_at: datetime
    sql: str = ""
    edges: tuple[Edge, ...] = ()
    gaps: tuple[str, ...] = ()
    times: int = 1


@dataclass(frozen=True, slots=True)
class Known:
    """What the statements of an application tell of those that follow.

    Attributes:
        reads: Where tables lie, and which scan gave a column.
        types: Of columns by their ids.
    """

    reads: Reads
    types: Recent[int, str]

    @classmethod
    def of(cls, places: Places) -> Known:
        """Nothing is known yet but the places."""
        columns: list[Recent[int, Any]] = [Recent(_MOST_COLUMNS) for _ in range(4)]
        return cls(Reads(places, *columns[1:]), columns[0])


def statements(
    group: Group, application: Application, known: Known, tell: Callable[[str], None]
) -> list[Statement]:
    """The statements that an outermost execution is, with all that is nested in it.

    Their datasets are as the plans have them: that a path is a table's may come out later, so
    `Places.owner` is asked at the end.

    Args:
        known: Takes what these tell of later ones.
        tell: Takes the reason for each piece that could not be used.
    """

    def spared(execution: int, work: Callable[[], T]) -> T | None:
        # Whatever a plan we do not know does to the parser costs this execution only.
        try:
            return work()
        except Exception as error:
            tell(f"execution {execution}: the plan cannot be read ({type(error).__name__})")
            return None

    parts: list[Part] = []
    problems: list[str] = []
    for execution in sorted(group.executions.values(), key=lambda e: e.id):
        if execution.plan and execution.plan.name.startswith(_USES):
            known.reads.places.use(execution.text)
        parts += spared(execution.id, partial(parts_of, execution, problems)) or ()
    problems += spared(group.root, partial(name_scans, parts)) or ()
    for problem in problems:
        tell(problem)
    for part in parts:
        spared(part.execution.id, partial(_complete, part, application))
    kept = spared(group.root, partial(paired, parts, application)) or []
    for part in parts:
        spared(part.execution.id, partial(_learn, part, known))
    found = [
        spared(part.execution.id, partial(_statement, application, part, known)) for part in kept
    ]
    if batch := group.batch:
        found.append(spared(group.root, partial(_streamed, application, batch, parts, known)))
    return [one for one in found if one and (one.reads or one.writes)]


def outside(application: Application, places: Places) -> Iterator[Statement]:
    """What jobs outside of SQL read: files and tables that RDDs were made of."""
    for label, (first, last) in application.outside.items():
        scan = labelled_scan(label)
        reads = [Use(d, kind) for d, kind in places.read(scan)] if scan else []
        if reads:
            yield Statement("SELECT", merged(reads), (), Status.OK, first, last)


def _complete(part: Part, application: Application) -> None:
    """Take what a plan itself does not tell of its sources: RDDs before it, a stream's folders."""
    bridge(part, application.rdds)
    stream = application.streams.get(part.execution.stream or "")
    if stream and part.role in (None, Role.INSERT, Role.SAVE):
        part.scans = streams.whole(part.scans, streams.sources(stream))


def _streamed(
    application: Application, batch: Batch, parts: list[Part], known: Known
) -> Statement | None:
    """A batch of a streaming query whose sink is a place, or that no execution tells of; its plan
    tells its columns and what it is joined with.
    """
    sink, places = streams.place(batch.sink), known.reads.places
    queries = [part for part in parts if part.command is None and part.execution.batch]
    if sink is None and parts:
        return None
    taken = [(streams.place(text), rows) for text, rows in batch.sources]
    reads = [Use(d, kind, rows) for one, rows in taken if one for d, kind in places.read(one)]
    rows, edges, gaps = batch.rows, list[Edge](), list[str]()
    if queries and sink:
        part = queries[-1]
        watched = {use.dataset for use in reads}
        reads += [
            use
            for scan in part.scans
            for use in scanned(application, part.execution, scan, places)
            if use.dataset not in watched
        ]
        rows = part.execution.written if rows is None else rows
        edges, gaps = column_edges(_into(sink, part), known.reads)
    return Statement(
        operation="INSERT" if sink else "SELECT",
        reads=merged(reads),
        writes=merged(Use(d, kind, rows) for d, kind in (places.read(sink) if sink else ())),
        status=Status.OK,
        started_at=batch.at,
        ended_at=batch.at,
        edges=tuple(edges),
        gaps=tuple(gaps),
    )


def _into(sink: Scan, batch: Part) -> Part:
    """A batch of a streaming query as a command that writes into its sink."""
    target = Target(path="".join(sink.paths[:1]), topics=sink.topics)
    return replace(batch, command=_SINK, target=target, feeds=[batch])


def _learn(part: Part, known: Known) -> None:
    """Take note of where tables lie and of which types columns are, for the whole application."""
    if part.target and part.target.path:
        known.reads.places.learn(part.target.table, [part.target.path])
    for scan in part.scans:
        known.reads.learn(scan)
        for column, kind in scan.types:
            known.types[column] = kind
    if part.command is None and _is_kept(part.execution):
        known.reads.keep(part)


def _is_kept(execution: Execution) -> bool:
    """Whether other plans begin with the columns of this one."""
    return bool(_CHECKPOINT.search(execution.details) or execution.stream)


def _statement(application: Application, part: Part, known: Known) -> Statement:
    execution, places = part.execution, known.reads.places
    reads = [
        use
        for execution_, scan in scans_of(part)
        for use in scanned(application, execution_, scan, places)
    ]
    if not (reads and part.role is Role.SAVE):
        named = (scanned(application, execution, source, places) for source in part.sources)
        reads += [use for uses in named for use in uses]
    writes: list[Use] = []
    if target := part.target:
        if target.source_table:
            reads.append(Use(places.table(target.source_table, target.catalog), Kind.TABLE))
        if target.source_path:
            reads += [Use(d, kind) for d, kind in places.resolve((), [target.source_path])]
        counted = counts_written(application, part)
        writes = [
            Use(
                dataset,
                Kind.VIEW if target.is_view else kind,
                **counted,
                columns=typed_columns(list(target.columns), part.inputs, known.types),
            )
            for dataset, kind in places.written(target)
        ]
    edges, gaps = column_edges(part, known.reads)
    if any(scan.is_cut for one in (part, *part.feeds) for scan in one.scans):
        gaps.append(PATHS_CUT)
    if not reads:
        # Before Spark 3.4 a save's query is in its text alone; a checkpoint's is in another.
        reads = [Use(d, _kind(d)) for d in sorted({edge.use.dataset for edge in edges})]
    return Statement(
        operation=part.operation,
        reads=merged(reads),
        writes=merged(writes),
        status=part.status,
        started_at=execution.started_at,
        ended_at=execution.ended_at or execution.started_at,
        sql=execution.sql,
        edges=tuple(edges),
        gaps=tuple(gaps),
    )


def _kind(dataset: DatasetId) -> Kind:
    return Kind.PATH if "/" in dataset.name else Kind.TABLE
