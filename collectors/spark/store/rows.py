"""An application's statements -> the rows of the lineage store."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dbt_graft.collectors.spark.application.accesses import COUNTS, DatasetAccess
from dbt_graft.collectors.spark.application.execution import Application
from dbt_graft.collectors.spark.application.statements import Statement
from dbt_graft.collectors.spark.application.tasks import parent_run
from dbt_graft.collectors.spark.log.redact import redacted_error
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.spark.sources.scans import PATHS_CUT
from dbt_graft.collectors.spark.sources.schema import merge_columns
from dbt_graft.collectors.spark.store.collector import LastExecution, TaskResult
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import Direction, Evidence, Outcome, Status

ENGINE = "spark"
DIALECT = "spark-plan"
PARSER = "plan"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one application by table, as `collectors.store.SCHEMAS` has their columns."""

    accesses: list[Row]
    runs: list[Row]
    shapes: list[Row]
    datasets: list[Row]
    column_edges: list[Row]


def rows(
    application: Application, done: TaskResult, resolver: DatasetResolver, origin: str
) -> Rows:
    """Everything to keep of what an application did for a task."""
    task, found = done.task, done.statements
    run = run_id(application, origin)
    shapes = _shapes(found)
    return Rows(
        accesses=_accesses(found, shapes, {"task": task, "run_id": run, "origin": origin}),
        runs=[_run(application, done, run, origin)],
        shapes=sorted(shapes.values(), key=lambda shape: shape["shape_id"]),
        datasets=_datasets(found, resolver, origin),
        column_edges=_column_edges(found, shapes, {"task": task, "origin": origin}),
    )


def run_status(application: Application, end: LastExecution) -> tuple[Status, str | None]:
    """How a run ended, and the error it ended with.

    What Spark's log shows of the end of a Python script is little: `ApplicationEnd` has the exit
    code 0 after an exception, after `sys.exit(3)` and under `spark-submit` too, and a script that
    does not call `spark.stop()` may die before the event is written, whether it failed or not.
    So the rule is: FAILED where an exit code says so, or where the last execution that ended had
    failed (a failure that the script got over has a success after it); UNKNOWN where the log has
    no end; else OK. A script that fails in Python code after a successful execution passes for OK.
    """
    if end.error:
        return Status.FAILED, redacted_error(end.error)
    if application.exit_code:
        return Status.FAILED, f"exit code {application.exit_code}"
    return (Status.OK if application.finished else Status.UNKNOWN), None


def run_id(application: Application, origin: str) -> str:
    """A run is an attempt of an application, wherever its log lies."""
    name = application.id or origin
    return f"{name}_{application.attempt}" if application.attempt else name


def _run(application: Application, done: TaskResult, run: str, origin: str) -> Row:
    status, error = run_status(application, done.end)
    return {
        "run_id": run,
        "task": done.task,
        "engine": ENGINE,
        "started_at": application.started_at,
        "ended_at": application.ended_at or done.end.at,
        "status": status,
        "error": error,
        "application_id": application.id or None,
        "engine_version": application.spark_version or None,
        "code_version": None,
        "parent_run_id": parent_run(application.settings),
        "origin": origin,
    }


_What = tuple[str, str, tuple[DatasetId, ...], tuple[DatasetId, ...]]


def _key(statement: Statement) -> _What:
    """What a statement does, whoever does it: its text, the operation, its inputs, its outputs."""
    return (
        statement.sql,
        statement.operation,
        tuple(use.dataset for use in statement.reads),
        tuple(use.dataset for use in statement.writes),
    )


def _shapes(found: list[Statement]) -> dict[_What, Row]:
    """The shapes of statements; one with a gap in its columns is parsed in part."""
    gaps: dict[_What, dict[str, None]] = defaultdict(dict)
    for statement in found:
        gaps[_key(statement)] |= dict.fromkeys(statement.gaps)
    return {what: _shape(what, list(missing)) for what, missing in gaps.items()}


def _shape(what: _What, gaps: list[str]) -> Row:
    sql, operation, reads, writes = what
    dialect = Dialect.SPARK if sql else DIALECT
    datasets = repr(sorted(r.key for r in reads)), repr([w.key for w in writes])
    keys = "\n".join([dialect, operation, *datasets, *filter(None, [sql])])
    return {
        "shape_id": hashlib.sha256(keys.encode()).hexdigest()[:16],
        "dialect": dialect,
        "text": sql or _shape_text(operation, reads, writes),
        "parser": PARSER,
        "outcome": Outcome.PARTIAL if gaps else Outcome.PARSED,
        "reason": _reason(gaps),
    }


def _shape_text(operation: str, reads: Sequence[DatasetId], writes: Sequence[DatasetId]) -> str:
    inputs = ", ".join(map(_display_name, reads))
    text = f"{operation} {', '.join(map(_display_name, writes)) or inputs}"
    return f"{text} <- {inputs}" if reads and writes else text


def _reason(gaps: list[str]) -> str | None:
    """Why a shape is not known in whole, in the words of all parsers; None where it is."""
    columns = [gap for gap in gaps if gap != PATHS_CUT]
    told = [f"columns: {', '.join(columns)}"] if columns else []
    told += [f"inputs: {PATHS_CUT}"] if PATHS_CUT in gaps else []
    return "; ".join(told) or None


def _column_edges(found: list[Statement], shapes: dict[_What, Row], same: Row) -> list[Row]:
    """Each edge once a shape, of statements that did not fail."""
    edges = {
        (shapes[_key(statement)]["shape_id"], edge): None
        for statement in found
        if statement.status is not Status.FAILED
        for edge in statement.edges
    }
    return [
        {
            **same,
            "to_namespace": edge.dataset.namespace,
            "to_name": edge.dataset.name,
            "to_column": edge.column,
            "from_namespace": edge.use.dataset.namespace,
            "from_name": edge.use.dataset.name,
            "from_column": edge.use.column,
            "type": edge.use.subtype.type,
            "subtype": edge.use.subtype,
            "masking": edge.use.masking,
            "shape_id": shape_id,
        }
        for shape_id, edge in edges
    ]


def _display_name(dataset: DatasetId) -> str:
    return str(dataset) if "/" in dataset.name or "://" in dataset.namespace else dataset.name


def _accesses(found: list[Statement], shapes: dict[_What, Row], same: Row) -> list[Row]:
    """One row for each shape, dataset, direction and outcome."""
    return [
        {
            **same,
            "namespace": use.dataset.namespace,
            "name": use.dataset.name,
            "kind": use.kind,
            "direction": direction,
            "operation": statement.operation,
            "shape_id": shapes[_key(statement)]["shape_id"],
            "statements": statement.times,
            **{count: getattr(use, count) for count in COUNTS},
            "first_at": statement.started_at,
            "last_at": statement.ended_at,
            "status": statement.status,
            "evidence": Evidence.OBSERVED,
        }
        for statement in found
        for direction, use in _uses(statement)
    ]


def _uses(statement: Statement) -> Iterator[tuple[Direction, DatasetAccess]]:
    for use in statement.reads:
        yield Direction.READ, use
    for use in statement.writes:
        yield Direction.WRITE, use


def _datasets(found: list[Statement], resolver: DatasetResolver, origin: str) -> list[Row]:
    seen: dict[DatasetId, Row] = {}
    lasting = [statement for statement in found if statement.status is not Status.FAILED]
    for statement in lasting:
        for _, use in _uses(statement):
            row = seen.setdefault(use.dataset, _dataset(use, resolver, statement, origin))
            row["last_seen"] = max(row["last_seen"], statement.ended_at)
            row["columns"] = merge_columns(row["columns"], use.columns)
            row["kind"] = Kind.VIEW if use.kind is Kind.VIEW else row["kind"]
    for statement in sorted(lasting, key=lambda one: one.ended_at):
        for direction, use in _uses(statement):
            row = seen[use.dataset]
            row["dropped_at"] = _dropped(row["dropped_at"], statement, direction)
    for row in seen.values():
        row["columns"] = [{"name": c.name, "type": c.type} for c in row["columns"]]
    return [seen[dataset] for dataset in sorted(seen)]


def _dropped(
    before: datetime | None, statement: Statement, direction: Direction
) -> datetime | None:
    """When the dataset went, if nothing has made it anew since."""
    if statement.operation == "RENAME":
        return statement.ended_at if direction is Direction.READ else None
    if direction is Direction.READ:
        return before
    return statement.ended_at if statement.operation == "DROP" else None


def _dataset(
    use: DatasetAccess, resolver: DatasetResolver, statement: Statement, origin: str
) -> Row:
    return {
        "namespace": use.dataset.namespace,
        "name": use.dataset.name,
        "kind": use.kind,
        "columns": (),
        "symlinks": [
            {"namespace": path.namespace, "name": path.name}
            for path in resolver.symlinks(use.dataset)
        ],
        "first_seen": statement.started_at,
        "last_seen": statement.ended_at,
        "dropped_at": None,
        "origin": origin,
    }
