"""Records of the lineage store made of an application's statements."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from dbt_graft.collectors.redact import redact_error
from dbt_graft.collectors.spark.application.accesses import COUNTS, DatasetAccess
from dbt_graft.collectors.spark.application.execution import Application
from dbt_graft.collectors.spark.application.statement import Statement, StatementKey
from dbt_graft.collectors.spark.application.tasks import parent_run
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.spark.sources.scans import PATHS_CUT
from dbt_graft.collectors.spark.sources.schema import merge_columns
from dbt_graft.collectors.spark.store.collector import LastExecution, TaskResult
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.store import LogRecords
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    Dataset,
    Direction,
    Outcome,
    Reject,
    Run,
    Shape,
    Status,
)

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
    records = [_task_records(application, result, resolver, origin) for result in results]
    return LogRecords(
        accesses=tuple(access for each in records for access in each.accesses),
        runs=tuple(run for each in records for run in each.runs),
        shapes=tuple(shape for each in records for shape in each.shapes),
        datasets=tuple(dataset for each in records for dataset in each.datasets),
        column_edges=tuple(edge for each in records for edge in each.column_edges),
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


def _task_records(
    application: Application, result: TaskResult, resolver: DatasetResolver, origin: str
) -> LogRecords:
    statements = result.statements
    shapes = _shapes(statements)
    run = _run(application, result, origin)
    return LogRecords(
        accesses=tuple(_accesses(statements, shapes, run)),
        runs=(run,),
        # dbt's artifacts have its SQL.
        shapes=()
        if result.is_dbt
        else tuple(sorted(shapes.values(), key=lambda shape: shape.shape_id)),
        datasets=tuple(_datasets(statements, resolver, origin)),
        column_edges=tuple(_column_edges(statements, shapes, run)),
    )


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


def _shapes(statements: Iterable[Statement]) -> dict[StatementKey, Shape]:
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
    columns = [gap for gap in gaps if gap != PATHS_CUT]
    reasons = [f"columns: {', '.join(columns)}"] if columns else []
    reasons += [f"inputs: {PATHS_CUT}"] if PATHS_CUT in gaps else []
    return "; ".join(reasons) or None


def _column_edges(
    statements: Iterable[Statement], shapes: Mapping[StatementKey, Shape], run: Run
) -> Iterator[ColumnEdge]:
    """Each edge once a shape, of statements that did not fail."""
    edges = {
        (shapes[statement.key].shape_id, edge): None
        for statement in statements
        if statement.status is not Status.FAILED
        for edge in statement.edges
    }
    for shape_id, edge in edges:
        yield replace(edge, task=run.task, shape_id=shape_id, origin=run.origin)


def _accesses(
    statements: Iterable[Statement], shapes: Mapping[StatementKey, Shape], run: Run
) -> Iterator[Access]:
    """One record for each shape, dataset, direction and outcome."""
    for statement in statements:
        for direction, access in _directed_accesses(statement):
            yield Access(
                task=run.task,
                run_id=run.run_id,
                dataset=access.dataset,
                kind=access.kind,
                direction=direction,
                operation=statement.operation,
                shape_id=shapes[statement.key].shape_id,
                statements=statement.times,
                **{count: getattr(access, count) for count in COUNTS},
                first_at=statement.started_at,
                last_at=statement.ended_at,
                status=statement.status,
                origin=run.origin,
                periods=access.periods,
                positions=access.positions,
            )


def _directed_accesses(statement: Statement) -> Iterator[tuple[Direction, DatasetAccess]]:
    for access in statement.reads:
        yield Direction.READ, access
    for access in statement.writes:
        yield Direction.WRITE, access


def _datasets(
    statements: Iterable[Statement], resolver: DatasetResolver, origin: str
) -> Iterator[Dataset]:
    """The datasets of statements that did not fail, sorted."""
    datasets: dict[DatasetId, Dataset] = {}
    succeeded = [statement for statement in statements if statement.status is not Status.FAILED]
    for statement in succeeded:
        for _, access in _directed_accesses(statement):
            before = datasets.get(access.dataset) or Dataset(
                id=access.dataset,
                kind=access.kind,
                symlinks=resolver.symlinks(access.dataset),
                first_seen=statement.started_at,
                last_seen=statement.ended_at,
                origin=origin,
            )
            datasets[access.dataset] = replace(
                before,
                kind=Kind.VIEW if access.kind is Kind.VIEW else before.kind,
                columns=merge_columns(before.columns, access.columns),
                last_seen=max(before.last_seen or statement.ended_at, statement.ended_at),
            )
    dropped: dict[DatasetId, datetime | None] = {}
    for statement in sorted(succeeded, key=lambda statement: statement.ended_at):
        for direction, access in _directed_accesses(statement):
            before_drop = dropped.get(access.dataset)
            dropped[access.dataset] = _drop_time(before_drop, statement, direction)
    for dataset in sorted(datasets):
        yield replace(datasets[dataset], dropped_at=dropped[dataset])


def _drop_time(
    before: datetime | None, statement: Statement, direction: Direction
) -> datetime | None:
    """The time of the dataset's drop or rename; None where it was created again after that."""
    if statement.operation.renames:
        return statement.ended_at if direction is Direction.READ else None
    if direction is Direction.READ:
        return before
    return statement.ended_at if statement.operation.removes else None
