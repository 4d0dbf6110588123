"""The last resort: sql-metadata finds the tables, the last SQL keyword before one its direction.

The rule takes the target of SELECT INTO for a read and the source of a MERGE for a write, so it
decides only where the token scan does not support a statement, and its shapes are marked.
"""

from __future__ import annotations

import re

from sql_metadata import Parser

from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Direction

_KEYWORD = re.compile(
    r"\b(SELECT|INSERT|REPLACE|UPDATE|DELETE|MERGE|TRUNCATE|DROP|CREATE|ALTER)\b", re.IGNORECASE
)
_OPERATIONS = {"REPLACE": Operation.INSERT, "CREATE": Operation.CREATE_TABLE}


def last_keyword(text: str) -> list[TableAccess]:
    """The tables of a statement without literals.

    Raises:
        ValueError: sql-metadata does not support it either.
    """
    try:
        tables = Parser(text, disable_logging=True).tables
    except Exception as error:
        # Its errors are of many classes, sqlglot's and Python's own among them.
        raise ValueError(f"sql-metadata: {type(error).__name__}") from error
    return [_access(text, table) for table in tables]


def _access(text: str, table: str) -> TableAccess:
    at = text.casefold().find(table.casefold())
    keywords = _KEYWORD.findall(text[: max(at, 0)])
    keyword = keywords[-1].upper() if keywords else "SELECT"
    operation = _OPERATIONS.get(keyword) or Operation(keyword)
    direction = Direction.READ if operation is Operation.SELECT else Direction.WRITE
    name = tuple(part.strip('[]`"') for part in table.split("."))
    return TableAccess(name, direction, operation)
