"""What Spark left out of its logs, and the setting that keeps it in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from dbt_graft.collectors.spark.source import PATHS_CUT, PLAN_CUT, UNKNOWN_DATABASE
from dbt_graft.graft.doctor.words import at_most, count, named
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.findings import Finding, Severity
from dbt_graft.lineage.names import NameRules
from dbt_graft.lineage.records import Direction, Records, Shape

# Why a shape is not known in whole -> what is missing, and what would have kept it.
_CAUSES = {
    PLAN_CUT: ("plans", "columns", "spark.sql.debug.maxToStringFields=10000"),
    PATHS_CUT: ("lists of paths", "inputs", "spark.sql.maxMetadataStringLength=100000"),
}


def is_cut(shape: Shape) -> bool:
    """Whether Spark, not graft, is the reason that a shape is not known in whole."""
    return any(cause in (shape.reason or "") for cause in _CAUSES)


def cut_plans(records: Records) -> Iterator[Finding]:
    """Tasks whose plans the log shows in part only."""
    applications = {(run.task, run.run_id): run.application_id for run in records.runs}
    for cause, (what, missing, setting) in _CAUSES.items():
        shapes: dict[str, set[str]] = defaultdict(set)
        ran: dict[str, set[str]] = defaultdict(set)
        for access in records.accesses:
            shape = records.shapes.get(access.shape_id)
            if shape and cause in (shape.reason or ""):
                shapes[access.task].add(access.shape_id)
                ran[access.task].add(applications.get((access.task, access.run_id)) or "")
        found = [
            Finding(
                Severity.WARNING,
                task,
                f"Spark cut the {what} of {count(len(cut), 'statement')}, so {missing} are missing"
                f"{_where(ran[task])}",
                f"let its session set {setting}",
            )
            for task, cut in sorted(shapes.items())
        ]
        yield from at_most(found, setting, f"tasks whose {what} Spark cut")


def _where(applications: set[str]) -> str:
    known = sorted(applications - {""})
    return f" ({named(known)})" if known else ""


def hidden_databases(
    records: Records, rules: NameRules, servers: Iterable[str]
) -> Iterator[Finding]:
    """Tables of databases whose address Spark does not show, and no name rule tells.

    Args:
        servers: The SQL Servers that are known by other logs.
    """
    tasks: dict[tuple[str, Direction], set[str]] = defaultdict(set)
    for access in records.accesses:
        if (
            access.dataset.namespace == UNKNOWN_DATABASE
            and rules(access.dataset).namespace == UNKNOWN_DATABASE
        ):
            tasks[_schema(access.dataset), access.direction].add(access.task)
    known = sorted(set(servers))
    server = known[0] if len(known) == 1 else "mssql://HOST:1433"
    for (schema, direction), using in sorted(tasks.items()):
        writes = direction is Direction.WRITE
        rule = f'- {{from: "{UNKNOWN_DATABASE}/{schema}*", to: "{server}/DATABASE.{schema}*"}}'
        yield Finding(
            Severity.WARNING,
            f"{UNKNOWN_DATABASE}/{schema}*",
            "Spark's log does not show in which database these are that "
            f"{named(sorted(using))} {'writes' if writes else 'reads'} over JDBC",
            f"write under `names` in graft.yml: {rule}"
            + (
                "; or set spark.sql.redaction.options.regex=(?i)secret|password|token"
                if writes
                else "; or read through a catalog, spark.sql.catalog.<name>.url"
            ),
        )


def _schema(table: DatasetId) -> str:
    """`dbo.` of `dbo.Orders`"""
    head, dot, _ = table.name.rpartition(".")
    return f"{head}{dot}"
