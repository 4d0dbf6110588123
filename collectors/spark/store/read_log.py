"""Read one application's log, file after file, into records of the lineage store."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter

from dbt_graft.collectors.codecs import ByteStream
from dbt_graft.collectors.redact import redact_error
from dbt_graft.collectors.spark.application.accesses import PlanStatement, StatementKey
from dbt_graft.collectors.spark.application.execution import Application
from dbt_graft.collectors.spark.application.replay import SETTLE_AFTER, replay
from dbt_graft.collectors.spark.application.tasks import parent_run
from dbt_graft.collectors.spark.gap_reasons import OF_INPUTS
from dbt_graft.collectors.spark.log.checkpoint import Checkpoint, log_origin
from dbt_graft.collectors.spark.log.decode import BadEvent, EndOfFile, Rejects, SparkEvent, decode
from dbt_graft.collectors.spark.log.events import Body
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.spark.sources.schema import merge_columns
from dbt_graft.collectors.spark.store.collector import (
    ApplicationCollector,
    LastExecution,
    TaskResult,
)
from dbt_graft.collectors.statement import SeenDatasets, access_records, column_edge_records
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.store.tables import LogRecords
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Dataset, Outcome, Reject, Run, Shape, Status

_FIRST_EVENTS = frozenset(
    f"SparkListener{name}" for name in ("LogStart", "ApplicationStart", "EnvironmentUpdate")
)


@frozen
class EventFile:
    """A file of a log."""

    name: str
    open: Callable[[], AbstractContextManager[ByteStream]]
    growing: bool = False


DIALECT = "spark-plan"
PARSER = "plan"


def log_records(
    application: Application,
    results: Iterable[TaskResult],
    resolver: DatasetResolver,
    origin: str,
    rejects: tuple[Reject, ...] = (),
) -> LogRecords:
    """The records of all tasks of an application."""
    runs: list[Run] = []
    shapes: list[Shape] = []
    datasets: list[Dataset] = []
    statements: list[PlanStatement] = []
    for result in results:
        shapes_by_key = _shapes(result.statements)
        if not result.is_dbt:  # whose artifacts have its SQL
            shapes += sorted(shapes_by_key.values(), key=lambda shape: shape.shape_id)
        gaps = sorted(map(_gap_shape, result.gaps), key=lambda shape: shape.shape_id)
        shapes += gaps
        ids = tuple(shape.shape_id for shape in gaps)
        runs.append(replace(_run(application, result, origin), gaps=ids))
        of_task = [
            replace(
                statement,
                run=runs[-1],
                shape_id=shapes_by_key[statement.key].shape_id,
                edges=() if statement.status is Status.FAILED else statement.edges,
            )
            for statement in result.statements
        ]
        statements += of_task
        seen = SeenDatasets(merge_columns)
        seen.add(of_task)
        datasets += sorted(seen.records(), key=attrgetter("id"))
    return LogRecords(
        accesses=tuple(access_records(statements)),
        runs=tuple(runs),
        shapes=tuple(shapes),
        datasets=tuple(
            replace(dataset, symlinks=resolver.symlinks(dataset.id)) for dataset in datasets
        ),
        column_edges=tuple(dict.fromkeys(column_edge_records(statements))),
        rejects=rejects,
    )


def run_id(application: Application, origin: str) -> str:
    """The id of a run: an attempt of an application has one wherever its log lies."""
    name = application.id or origin
    return f"{name}_{application.attempt}" if application.attempt else name


def run_status(application: Application, last: LastExecution) -> tuple[Status, str | None]:
    """The status of a run, and its error without literals.

    Spark's log shows little of how a Python script ended: `ApplicationEnd` has the exit code 0
    after an exception, after `sys.exit(3)` and under `spark-submit` too, and a script that does
    not call `spark.stop()` may die before the event is written, whether it failed or not. So the
    rule is: FAILED where an exit code is not 0, or where the last execution that ended had failed
    (a failure that the script handled has a success after it); UNKNOWN where the log has no end;
    else OK. A script that fails in Python code after a successful execution counts as OK.
    """
    if last.error:
        return Status.FAILED, redact_error(last.error)
    if application.exit_code:
        return Status.FAILED, f"exit code {application.exit_code}"
    return (Status.OK if application.finished else Status.UNKNOWN), None


def _run(application: Application, result: TaskResult, origin: str) -> Run:
    status, error = run_status(application, result.last)
    start, end = application.interval or (None, None)
    return Run(
        run_id=run_id(application, origin),
        task=result.task,
        engine=result.engine,
        started_at=application.started_at,
        ended_at=application.ended_at or result.last.at,
        status=status,
        error=error,
        application_id=application.id or None,
        engine_version=application.spark_version or None,
        parent_run_id=parent_run(application),
        nominal_start=start,
        nominal_end=end,
        origin=origin,
    )


def _shapes(statements: Iterable[PlanStatement]) -> dict[StatementKey, Shape]:
    """The shape of each kind of statement; PARTIAL where columns or inputs are missing."""
    gaps: dict[StatementKey, dict[str, None]] = defaultdict(dict)
    for statement in statements:
        gaps[statement.key] |= dict.fromkeys(statement.gaps)
    return {key: _shape(key, list(missing)) for key, missing in gaps.items()}


def _shape(key: StatementKey, gaps: list[str]) -> Shape:
    sql, operation, reads, writes = key
    dialect = Dialect.SPARK if sql else DIALECT
    datasets = repr(sorted(r.key for r in reads)), repr([w.key for w in writes])
    hashed = "\n".join([dialect, operation, *datasets, *filter(None, [sql])])
    return Shape(
        shape_id=hashlib.sha256(hashed.encode()).hexdigest()[:16],
        dialect=dialect,
        text=sql or _shape_text(operation, reads, writes),
        parser=PARSER,
        outcome=Outcome.PARTIAL if gaps else Outcome.PARSED,
        reason=_reason(gaps),
    )


def _gap_shape(reason: str) -> Shape:
    """A gap of a run, in place of a statement."""
    hashed = hashlib.sha256(f"{DIALECT}\n{reason}".encode()).hexdigest()[:16]
    return Shape(hashed, DIALECT, "", PARSER, Outcome.PARTIAL, reason)


def _shape_text(
    operation: Operation, reads: Sequence[DatasetId], writes: Sequence[DatasetId]
) -> str:
    """`INSERT ml.spend <- raw.orders`"""
    inputs = ", ".join(map(_display_name, reads))
    text = f"{operation} {', '.join(map(_display_name, writes)) or inputs}"
    return f"{text} <- {inputs}" if reads and writes else text


def _display_name(dataset: DatasetId) -> str:
    """With the namespace where the name alone is ambiguous."""
    return str(dataset) if dataset.is_path or "://" in dataset.namespace else dataset.name


def _reason(gaps: list[str]) -> str | None:
    """The reason of a PARTIAL shape, in the words of all parsers; None without gaps."""
    columns = [gap for gap in gaps if gap not in OF_INPUTS]
    inputs = [gap for gap in OF_INPUTS if gap in gaps]
    reasons = [f"columns: {', '.join(columns)}"] if columns else []
    reasons += [f"inputs: {', '.join(inputs)}"] if inputs else []
    return "; ".join(reasons) or None


@frozen
class CollectedLog:
    """The records of a log.

    Attributes:
        run: The id of the run that the log is of; None where it has no records.
        checkpoint: Where the next collect continues; None where the log was read to its end.
    """

    origin: str
    application: Application
    run: str | None
    events: int
    records: LogRecords
    checkpoint: Checkpoint | None = None
    unread: bool = False


def assemble(
    origin: str,
    files: Sequence[EventFile],
    logs: SparkLogs,
    settle_after: int = SETTLE_AFTER,
    since: datetime | None = None,
    start: Checkpoint | None = None,
    resumable: bool = False,
) -> CollectedLog:
    """Read the files of a log, oldest first.

    Args:
        since: As `ApplicationCollector` takes it.
        start: Only statements behind it are collected.
        resumable: Of a growing log, executions that still run are left to the next collect.
    """
    application = Application(date_columns=logs.date_columns)
    rejects, reader = Rejects(), _LogReader(start)
    if not files:
        rejects.add_for_log("the folder holds no file with events")
    on_idle = reader.set_checkpoint if resumable and files and files[-1].growing else None
    collector, is_empty = ApplicationCollector(application, logs, since), True
    events = reader.events_of(files, rejects)
    for finished in replay(events, application, rejects.add, settle_after, on_idle):
        collector.add(finished)
        is_empty = False
    if start and reader.unread:
        # A segment without a position would not be replaced with its log.
        records = LogRecords(rejects=rejects.records(origin))
    elif start and (reader.checkpoint == start or is_empty):
        records = LogRecords()
    else:
        results = list(collector.finish(rejects)) if reader.events else []
        resolver = collector.context.column_sources.resolver
        records = log_records(application, results, resolver, origin, rejects.records(origin))
    return CollectedLog(
        origin,
        application,
        run_id(application, log_origin(origin)) if records.runs else None,
        reader.event_count,
        records,
        reader.checkpoint,
        reader.unread,
    )


def rejected_log(origin: str, reason: str) -> LogRecords:
    """The records of a log that cannot be read."""
    rejects = Rejects()
    rejects.add_for_log(reason)
    return LogRecords(rejects=rejects.records(origin))


@dataclass(slots=True)
class _LogReader:
    """Reads the events of a log and counts them.

    Attributes:
        checkpoint: The last moment at which nothing ran; at first, where reading starts.
        events: The number of events read, with those before the start.
        file: The name of the current file.
        last: The last event of it.
        unread: A file could not be read.
    """

    checkpoint: Checkpoint | None
    events: int = 0
    file: str = ""
    last: SparkEvent | None = None
    unread: bool = False
    start: Checkpoint | None = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.checkpoint
        self.events = self.start.events if self.start else 0

    def set_checkpoint(self) -> None:
        """Note that nothing runs now."""
        if self.last:
            events = self.events + self.last.events
            self.checkpoint = Checkpoint(self.file, self.last.end, self.last.line, events)

    @property
    def event_count(self) -> int:
        """The number of events between the start and the checkpoint, or the log's end."""
        end = self.checkpoint.events if self.checkpoint else self.events
        return end - (self.start.events if self.start else 0)

    def events_of(self, files: Sequence[EventFile], rejects: Rejects) -> Iterator[tuple[str, Body]]:
        """The events that lineage needs, in order; damage goes into `rejects`."""
        start = self.start
        if start and files:
            yield from _first_events(files[0])
            names = [file.name for file in files]
            files = files[names.index(start.file) if start.file in names else len(files) :]
        for file in files:
            skipped = (start.byte, start.line) if start and file.name == start.file else (0, 0)
            self.file, self.last = file.name, None
            try:
                with file.open() as stream:
                    for decoded in decode(stream, file.growing, skipped):
                        match decoded:
                            case SparkEvent():
                                self.last = decoded
                                yield decoded.name, decoded.body
                            case BadEvent():
                                self.unread |= decoded.unread
                                rejects.add(f"{file.name}, {decoded.position}", decoded.reason)
                            case EndOfFile():
                                self.events += decoded.events
            except OSError:
                self.unread = True
                rejects.add(file.name, "the file cannot be read")


def _first_events(file: EventFile) -> Iterator[tuple[str, Body]]:
    """The events at the start of a log that describe its application."""
    with suppress(OSError), file.open() as stream:
        for decoded in decode(stream, growing=True):
            if isinstance(decoded, SparkEvent):
                if decoded.name not in _FIRST_EVENTS:
                    return
                yield decoded.name, decoded.body
