"""The SQL of a view that only passes a table on, where the log has nothing but its plan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dbt_graft.collectors.spark.application.segments import PlanSegment
from dbt_graft.collectors.spark.plans.tree import Operator
from dbt_graft.collectors.spark.sources.commands import CommandRole
from dbt_graft.collectors.statement import DatasetAccess
from dbt_graft.lineage.dataset import DatasetId

_TABLES = frozenset({"LogicalRelation", "HiveTableRelation", "Relation", "RelationV2"})
_THROUGH = frozenset({"Project", "SubqueryAlias"})
_COLUMN = re.compile(r"[^\s,\[\]#()]+#\d+L?")
_PLAIN = re.compile(rf"\[\s*(?:{_COLUMN.pattern}(?:\s*,\s*{_COLUMN.pattern})*)\s*\]")


def view_text(
    segment: PlanSegment, reads: Iterable[DatasetAccess], writes: Sequence[DatasetAccess]
) -> str:
    """`CREATE VIEW raw.v AS SELECT * FROM raw.orders`; empty for any other statement.

    By it `lineage.pass_through` makes the view another name of the table.
    """
    command = next(iter(segment.operator.inside), None) if segment.operator else None
    if segment.role is not CommandRole.VIEW or command is None or not passes_on(command):
        return ""
    tables = {access.dataset for access in reads}
    renames_columns = segment.target is None or segment.target.columns
    if len(tables) != 1 or len(writes) != 1 or renames_columns:
        return ""
    view, table = (_quote_name(dataset) for dataset in (writes[0].dataset, *tables))
    return " ".join(("CREATE VIEW", view, "AS SELECT * FROM", table))


def _quote_name(dataset: DatasetId) -> str:
    parts = [dataset.name] if dataset.is_path else dataset.name.split(".")
    return ".".join(part if part.isidentifier() else f"`{part}`" for part in parts)


def passes_on(command: Operator) -> bool:
    """Whether the view that a command makes is all of one table.

    Args:
        command: The logical command, with the plan of the view's query below it.
    """
    tables = []
    columns: list[set[str]] = []
    for operator in list(command.walk())[1:]:
        if operator.kind in _TABLES:
            tables.append({*_COLUMN.findall(operator.arguments or operator.name)})
        elif operator.kind not in _THROUGH:
            return False
        elif operator.kind == "Project":
            if not _PLAIN.fullmatch(operator.arguments.strip()):
                return False
            columns.append({*_COLUMN.findall(operator.arguments)})
    return len(tables) == 1 and bool(tables[0]) and all(names == tables[0] for names in columns)
