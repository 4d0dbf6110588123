"""The columns of tables that have a part in a value, each with what happens to it on the way."""

from __future__ import annotations

from functools import lru_cache

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.records import Masking, Subtype

InputColumns = frozenset[ColumnInput[Name]]
NOTHING: InputColumns = frozenset()
# A parameter or literal: the task sends it, out of its memory. The column has the name of the one
# that it is written into, or compared with, as soon as that is known.
SENT: ColumnInput[Name] = ColumnInput((), "")

# The source of what a variable holds that was filled from a table.
VARIABLE: Name = ("@",)


def sent_as(inputs: InputColumns, column: str) -> InputColumns:
    """The inputs of a column's value, with what the task sends under the column's name."""
    if not any(input_column.source == () for input_column in inputs):
        return inputs
    return frozenset(
        input_column._replace(column=column)
        if input_column.source == () and not input_column.column
        else input_column
        for input_column in inputs
    )


@lru_cache(maxsize=4096)
def transform_inputs(
    inputs: InputColumns, subtype: Subtype, *, masking: Masking = Masking.NONE
) -> InputColumns:
    """The inputs of a value that is made from a value with these inputs."""
    return frozenset(input_column.then(subtype, masking) for input_column in inputs)
