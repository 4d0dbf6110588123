"""The columns of tables that have a part in a value, each with what happens to it on the way."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.columns import compose
from dbt_graft.lineage.records import Subtype


class InputColumn(NamedTuple):
    """A column of a table has a part in a value.

    Attributes:
        masking: The value hides the column's own.
    """

    table: Name
    column: str
    subtype: Subtype = Subtype.IDENTITY
    masking: bool = False


InputColumns = frozenset[InputColumn]
NOTHING: InputColumns = frozenset()


@lru_cache(maxsize=4096)
def transformed(inputs: InputColumns, subtype: Subtype, *, masking: bool = False) -> InputColumns:
    """The inputs of a value that is made from a value with these inputs."""
    if not inputs:
        return NOTHING
    return frozenset(
        InputColumn(one.table, one.column, compose(subtype, one.subtype), one.masking or masking)
        for one in inputs
    )
