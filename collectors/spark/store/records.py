"""Records of the lineage store made of an application's statements."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter

from dbt_graft.collectors.redact import redact_error
from dbt_graft.collectors.spark.application.execution import Application
from dbt_graft.collectors.spark.application.statement import PlanStatement, StatementKey
from dbt_graft.collectors.spark.application.tasks import parent_run
from dbt_graft.collectors.spark.gap_reasons import PATHS_CUT
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.spark.sources.schema import merge_columns
from dbt_graft.collectors.spark.store.collector import LastExecution, TaskResult
from dbt_graft.collectors.statement import SeenDatasets, access_records, column_edge_records
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.store.tables import LogRecords
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Dataset, Outcome, Reject, Run, Shape, Status

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
        runs.append(_run(application, result, origin))
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
