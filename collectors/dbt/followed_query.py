"""The columns of the results of queries, as plain values that a file can hold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import orjson

from dbt_graft.lineage.frozen import frozen

if TYPE_CHECKING:
    from dbt_graft.collectors.statements.text.names import Name


# A column that has a part in a column of the result, or decides on its rows: the place of its table
# in the query's tables, its name, and the values of a `Subtype` and a `Masking`. In a file a list.
QueryInput = tuple[int, str, str, str]
NamedInputs = Sequence[tuple[str, Sequence[QueryInput]]]


class QueryInputs(NamedTuple):
    """The inputs of a query's result.

    Attributes:
        columns: Names and inputs, in their order; a name is empty where the query gives none.
        rows: Those that decide on rows.
        fields: `address.city`, a field of a struct that the query makes, and its inputs.
    """

    columns: NamedInputs = ()
    rows: Sequence[QueryInput] = ()
    fields: NamedInputs = ()


@frozen
class FollowedQuery:
    """The result of a query.

    Attributes:
        tables: The tables that it reads, folded.
        schemas: A digest of the columns of those tables that were known.
        stored_inputs: Its inputs, in JSON where they come from a file.
    """

    tables: tuple[Name, ...] = ()
    schemas: str = ""
    gaps: Sequence[str] = ()
    stored_inputs: QueryInputs | msgspec.Raw = QueryInputs()

    @property
    def inputs(self) -> QueryInputs:
        """Its inputs; decoding them takes time."""
        if isinstance(self.stored_inputs, QueryInputs):
            return self.stored_inputs
        return QueryInputs(*orjson.loads(memoryview(self.stored_inputs)))


def unite_queries(queries: Sequence[FollowedQuery]) -> FollowedQuery | None:
    """The result of a model that has several queries; None where it has none.

    Columns are those of the first that was followed, with the inputs that they have in any.
    """
    if len(queries) == 1:
        return queries[0]
    all_inputs = [query.inputs for query in queries]
    first = next((at for at, inputs in enumerate(all_inputs) if inputs.columns), None)
    if first is None:
        return queries[0] if queries else None
    named = all_inputs[first]
    tables = tuple(dict.fromkeys(name for query in queries for name in query.tables))
    columns: dict[str | int, set[QueryInput]] = {key: set() for key in _keys(named)}
    rows: set[QueryInput] = set()
    fields: dict[str, set[QueryInput]] = {}
    for query, inputs in zip(queries, all_inputs, strict=True):
        indexes = [tables.index(name) for name in query.tables]
        rows.update(_move_inputs(inputs.rows, indexes))
        for name, field_inputs in inputs.fields:
            fields.setdefault(name, set()).update(_move_inputs(field_inputs, indexes))
        for key, (_, column_inputs) in zip(_keys(inputs), inputs.columns, strict=True):
            if key in columns:
                columns[key].update(_move_inputs(column_inputs, indexes))
    names = zip(_keys(named), named.columns, strict=True)
    return FollowedQuery(
        tables=tables,
        gaps=queries[first].gaps,
        stored_inputs=QueryInputs(
            tuple((name, tuple(sorted(columns[key]))) for key, (name, _) in names),
            tuple(sorted(rows)),
            tuple((name, tuple(sorted(field_inputs))) for name, field_inputs in fields.items()),
        ),
    )


def _keys(inputs: QueryInputs) -> list[str | int]:
    """The columns by their names, folded; those without one by their places."""
    return [name.casefold() or index for index, (name, _) in enumerate(inputs.columns)]


def _move_inputs(inputs: Iterable[QueryInput], indexes: Sequence[int]) -> Iterator[QueryInput]:
    return (
        (indexes[table], column, subtype, masking) for table, column, subtype, masking in inputs
    )


def schema_digest(schemas: Iterable[Sequence[str]]) -> str:
    """A digest of the columns of several tables."""
    text = "\n".join("\t".join(columns) for columns in schemas)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:20]


def query_digest(sql: str, dialect: str) -> str:
    """A digest of a query in a dialect."""
    return hashlib.sha256(f"{dialect}:{sql}".encode("utf-8", "replace")).hexdigest()[:20]
