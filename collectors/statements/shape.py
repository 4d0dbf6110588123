"""The shape of a statement: its text without literals, and the tables and columns in it."""

from __future__ import annotations

import hashlib

from dbt_graft.collectors.statements.columns.edges import ParsedColumnEdge
from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.length import LONGEST
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Direction, Outcome

# Raised when the same text may give another shape, so that old and new shapes never mix.
VERSION = 10


@frozen
class ParsedShape:
    """A statement with its literals taken out, and the tables it reads and writes.

    Attributes:
        shape_id: Stable across processes and machines; holds the version of the shaping.
        parser: The library that found the tables: `sqlglot` (its tokens) or, as the last resort,
            `sql-metadata`.
        outcome: PARSED where sqlglot's tree confirms the tables and all columns were followed,
            PARTIAL where not, FAILED where no table could be found.
        verb: The words that the statement begins with, or its operation: `SET`, `SELECT INTO`,
            `CREATE PROCEDURE`.
        database: The database that `USE` chose earlier in the same text; None before a `USE`.
        module: The procedure, function or trigger in whose definition the statement stands: it
            runs when that is called, and did not when the text ran.
        calls: The procedures that it calls, as written; of T-SQL only.
        result: The columns of the query that fills its target; empty where one is not known.
    """

    shape_id: str
    dialect: Dialect
    text: str
    parser: str
    outcome: Outcome
    reason: str | None
    verb: str
    accesses: tuple[TableAccess, ...]
    database: str | None = None
    module: str | None = None
    column_edges: tuple[ParsedColumnEdge, ...] = ()
    calls: tuple[Name, ...] = ()
    result: tuple[str, ...] = ()

    @property
    def reads(self) -> set[str]:
        """The names of the tables that it reads, dotted."""
        return self._names(Direction.READ)

    @property
    def writes(self) -> set[str]:
        """The names of the tables that it writes, dotted."""
        return self._names(Direction.WRITE)

    def _names(self, direction: Direction) -> set[str]:
        return {".".join(a.name) for a in self.accesses if a.direction is direction}


def failure(text: str, dialect: Dialect, reason: str) -> ParsedShape:
    """The shape of a normalised text that could not be read, and why."""
    return ParsedShape(
        shape_id(text, dialect), dialect, text[:LONGEST], "sqlglot", Outcome.FAILED, reason, "", ()
    )


def shape_id(text: str, dialect: Dialect) -> str:
    """The id of a normalised text, the same on all machines."""
    return f"{VERSION}-{hashlib.sha256(f'{dialect}:{text}'.encode()).hexdigest()[:20]}"
