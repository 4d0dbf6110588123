"""The columns of tables that have a part in a value, each with what happens to it on the way."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.graphs.columns import compose
from dbt_graft.lineage.records import Masking, Subtype


class InputColumn(NamedTuple):
    """A column of a table has a part in a value.

    Attributes:
        masking: The operation that hides the column's own value.
    """

    table: Name
    column: str
    subtype: Subtype = Subtype.IDENTITY
    masking: Masking = Masking.NONE


InputColumns = frozenset[InputColumn]
NOTHING: InputColumns = frozenset()
# A parameter or literal: the task sends it, out of its memory. The column has the name of the one
# that it is written into, or compared with, as soon as that is known.
SENT = InputColumn((), "")


def sent_as(inputs: InputColumns, column: str) -> InputColumns:
    """The inputs of a column's value, with what the task sends under the column's name."""
    if not any(input_column.table == () for input_column in inputs):
        return inputs
    return frozenset(
        input_column._replace(column=column)
        if input_column.table == () and not input_column.column
        else input_column
        for input_column in inputs
    )


@lru_cache(maxsize=4096)
def transform_inputs(
    inputs: InputColumns, subtype: Subtype, *, masking: Masking = Masking.NONE
) -> InputColumns:
    """The inputs of a value that is made from a value with these inputs."""
    if not inputs:
        return NOTHING
    return frozenset(
        InputColumn(
            input_column.table,
            input_column.column,
            compose(subtype, input_column.subtype),
            input_column.masking.then(masking),
        )
        for input_column in inputs
    )
