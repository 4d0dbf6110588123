"""Rowsets: what a query can take rows from, with the input columns of each of their columns.

Input columns are those of tables that have a part in a value, each with what happens on the way.

A column that stands for all that are not known (`SELECT *` of a table without a schema, and a
table without a schema itself) is called `*`; any other name found in it is a column of that table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.records import ANY_COLUMN, Masking, Subtype

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


class RowsetColumn(NamedTuple):
    """A column of a rowset, what has a part in it, and the fields of a struct where known."""

    name: str
    inputs: InputColumns
    fields: tuple[RowsetColumn, ...] = ()


class Rowset:
    """Rows with named columns: a table, a derived table, a common table expression, a result.

    Attributes:
        path: Its name, folded; several parts for a table without an alias.
        columns: In their order; one called `*` stands for all that are not known.
        behind: The table that has a column which is not known here: itself, or the one of which a
            query takes all columns by `*`.
        fields: The fields of structs that can be named as columns can, folded.
    """

    __slots__ = (
        *("_exact", "_known", "_stars"),
        *("behind", "columns", "fields", "influences", "path", "table"),
    )
    fields: Mapping[str, InputColumns]

    def __init__(
        self,
        path: Name,
        columns: Sequence[RowsetColumn],
        influences: InputColumns = NOTHING,
        table: Name | None = None,
        fields: Mapping[str, InputColumns] | None = None,
        behind: Name | None = None,
    ) -> None:
        self.path = path
        self.columns = columns
        self.influences = influences
        self.table = table
        self.behind = table or behind
        self.fields = {**(fields or {}), **dict(_fields_below(columns))}
        self._stars = [column for column in columns if column.name == ANY_COLUMN]
        # What can be named, folded: columns, then fields.
        self._known: dict[str, InputColumns] = {}
        # Quoted names that differ in their case only.
        self._exact: dict[str, InputColumns] = {}
        spellings: dict[str, str] = {}
        for column in columns:
            name = column.name.casefold()
            if name not in self._known:
                self._known[name] = column.inputs
                spellings[name] = column.name
            elif column.name != spellings[name]:
                self._exact.setdefault(column.name, column.inputs)
        self._known.pop(ANY_COLUMN, None)
        self._known.update(self.fields)

    @property
    def is_open(self) -> bool:
        """Whether it has columns that are not known."""
        return bool(self._stars)

    def has(self, name: str) -> bool:
        """Whether a column of this name may be there."""
        return self.is_open or name.casefold() in self._known

    def knows(self, name: str) -> bool:
        """Whether a column of this name, folded, is certain to be there."""
        return name in self._known

    def find(self, name: str) -> InputColumns | None:
        """The inputs of a column; None where it is not there or could be in several."""
        if name in self._exact:
            return self._exact[name]
        input_columns = self._known.get(name.casefold())
        if input_columns is not None:
            return input_columns
        if len(self._stars) != 1:
            return None
        return frozenset(
            input_column._replace(column=name)
            if input_column.column == ANY_COLUMN
            else input_column
            for input_column in self._stars[0].inputs
        )

    def place(self, name: str) -> InputColumns | None:
        """The column of this name that a table has, whatever its schema says; None of no table."""
        return None if self.behind is None else frozenset({ColumnInput(self.behind, name)})

    def rename(self, path: Name, names: Sequence[str] = ()) -> Rowset:
        """The same rows under another name, their first columns under these names."""
        if not names:
            return self._alias(path)
        columns = list(self.columns)
        if not self.is_open:
            # Values are folded into one, so VALUES can have fewer columns than names.
            folded = columns[0].inputs if columns and not columns[0].name else NOTHING
            inputs = [column.inputs for column in columns] + [folded] * len(names)
            columns[: len(names)] = map(RowsetColumn, names, inputs)
        return Rowset(path, columns, self.influences, self.table, self.fields)

    def _alias(self, path: Name) -> Rowset:
        """The same rows and columns under another name; of large queries, most are these."""
        alias = Rowset.__new__(Rowset)
        for slot in self.__slots__:
            setattr(alias, slot, getattr(self, slot))
        alias.path = path
        return alias


def _fields_below(columns: Iterable[RowsetColumn]) -> Iterator[tuple[str, InputColumns]]:
    """The fields of structs by their folded paths: `address.geo.lat`."""
    for column in columns:
        for part in column.fields:
            yield f"{column.name}.{part.name}".casefold(), part.inputs
            for path, below in _fields_below([part]):
                yield f"{column.name}.{path}".casefold(), below


def table_rowset(path: Name, table: Name, columns: Iterable[str]) -> Rowset:
    """A table with the columns of its schema; without a schema, `*`.

    BigQuery's schemas have fields of structs too, `address` and `address.city`: these can be named,
    but `*` does not have them.
    """
    table_columns = [
        RowsetColumn(name, frozenset({ColumnInput(table, name)}))
        for name in list(columns) or [ANY_COLUMN]
    ]
    if not any("." in column.name for column in table_columns):
        return Rowset(path, table_columns, table=table)
    names = {column.name.casefold() for column in table_columns}
    fields = {
        column.name.casefold(): column.inputs
        for column in table_columns
        if "." in column.name and column.name.casefold().partition(".")[0] in names
    }
    others = [column for column in table_columns if column.name.casefold() not in fields]
    return Rowset(path, others, table=table, fields=fields)
