"""Tables where a statement names them, and comparisons of their columns with dates."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt_graft.collectors.statements.periods.expressions import DateExpression
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.frozen import frozen


@frozen
class DateCondition:
    """A comparison of a column with dates.

    Attributes:
        qualifier: The table or alias before the column; empty without one.
        values: The right side; more than one of BETWEEN.
        is_date: The column's time of day is cut off.
    """

    qualifier: str
    column: str
    operator: str
    values: tuple[DateExpression, ...]
    is_date: bool = False


@dataclass(slots=True)
class TableMention:
    """A table where a statement names it.

    Attributes:
        changes: Its rows are deleted or updated.
        removes: They are deleted.
        is_limited: Something else than the conditions limits which ones: a join, TOP, OR.
        sure: The conditions are on this table; else on one of those beside it that has the column.
    """

    name: Name
    alias: str = ""
    changes: bool = False
    removes: bool = False
    is_limited: bool = False
    sure: bool = True
    conditions: list[DateCondition] = field(default_factory=list)

    def is_called(self, qualifier: str) -> bool:
        """Whether a column's qualifier means it."""
        return qualifier.casefold() in (self.alias, "" if self.alias else self.name[-1].casefold())
