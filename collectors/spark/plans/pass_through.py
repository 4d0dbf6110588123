"""Plans of `CREATE VIEW` that pass all rows and columns of one table on, under their own names."""

from __future__ import annotations

import re

from dbt_graft.collectors.spark.plans.tree import Operator

_TABLES = frozenset({"LogicalRelation", "HiveTableRelation", "Relation", "RelationV2"})
_THROUGH = frozenset({"Project", "SubqueryAlias"})
_COLUMN = re.compile(r"[^\s,\[\]#()]+#\d+L?")
_PLAIN = re.compile(rf"\[\s*(?:{_COLUMN.pattern}(?:\s*,\s*{_COLUMN.pattern})*)\s*\]")


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
