"""Plans that Spark shortened in its logs, and databases that it hides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.phrases import count, first_findings, join_names
from dbt_graft.collectors.spark.gap_reasons import PATHS_CUT, PLAN_CUT, PLAN_SHORT, UNKNOWN_DATABASE
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.names import NameRules
from dbt_graft.lineage.records import Direction, Records, Shape

_warning = partial(Finding, "CUT_PLAN", Severity.WARNING)
# Reason of a partly parsed shape -> what Spark cut, what is missing, the setting that avoids it.
_CAUSES = {
    PLAN_CUT: ("plans", "columns", "spark.sql.debug.maxToStringFields=10000"),
    PLAN_SHORT: ("texts of plans", "columns", "spark.sql.maxPlanStringLength=100000000"),
    PATHS_CUT: ("lists of paths", "inputs", "spark.sql.maxMetadataStringLength=100000"),
}


def is_cut(shape: Shape) -> bool:
    """Whether a shape is incomplete because Spark cut its plan."""
    return any(cause in (shape.reason or "") for cause in _CAUSES)


def cut_plans(records: Records) -> Iterator[Finding]:
    """Tasks whose plans Spark cut."""
    applications = {(run.task, run.run_id): run.application_id for run in records.runs}
    for cause, (what, missing, setting) in _CAUSES.items():
        shapes: dict[str, set[str]] = defaultdict(set)
        ran: dict[str, set[str]] = defaultdict(set)
        for access in records.accesses:
            shape = records.shapes.get(access.shape_id)
            if shape and cause in (shape.reason or ""):
                shapes[access.task].add(access.shape_id)
                ran[access.task].add(applications.get((access.task, access.run_id)) or "")
        findings = [
            _warning(
                task,
                f"Spark cut the {what} of {count(len(cut), 'statement')}, so {missing} are missing"
                f"{_where_text(ran[task])}",
                f"set {setting} in its Spark session",
            )
            for task, cut in sorted(shapes.items())
        ]
        yield from first_findings(findings, setting, f"tasks whose {what} Spark cut")


def _where_text(applications: set[str]) -> str:
    ids = sorted(applications - {""})
    return f" ({join_names(ids)})" if ids else ""


def hidden_databases(
    records: Records, rules: NameRules, servers: Iterable[str]
) -> Iterator[Finding]:
    """Tables of databases whose address Spark's log hides, unless a name rule has it.

    Args:
        servers: The SQL Servers of other sources.
    """
    tasks: dict[tuple[str, Direction], set[str]] = defaultdict(set)
    for access in records.accesses:
        if (
            access.dataset.namespace == UNKNOWN_DATABASE
            and rules(access.dataset).namespace == UNKNOWN_DATABASE
        ):
            tasks[_schema(access.dataset), access.direction].add(access.task)
    names = sorted(set(servers))
    server = names[0] if len(names) == 1 else "mssql://HOST:1433"
    for (schema, direction), using in sorted(tasks.items()):
        writes = direction is Direction.WRITE
        rule = f'- {{from: "{UNKNOWN_DATABASE}/{schema}*", to: "{server}/DATABASE.{schema}*"}}'
        yield _warning(
            f"{UNKNOWN_DATABASE}/{schema}*",
            "Spark's log does not show in which database these are that "
            f"{join_names(sorted(using))} {'writes' if writes else 'reads'} over JDBC",
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
