"""A compiled query -> the columns of its result; needs the parser."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from dbt_graft.collectors.dbt.followed_query import (
    FollowedQuery,
    QueryInput,
    QueryInputs,
    schema_digest,
)
from dbt_graft.collectors.statements.columns.query_columns import query_columns
from dbt_graft.collectors.statements.columns.rowsets import InputColumns, RowsetColumn
from dbt_graft.collectors.statements.columns.tree import NoTreeError
from dbt_graft.collectors.statements.text.names import Name


def follow_query(sql: str, dialect: str, columns: Callable[[Name], Sequence[str]]) -> FollowedQuery:
    """Follow the columns of a query; one that cannot be parsed has only a gap."""
    try:
        query = query_columns(sql, dialect, columns)
    except NoTreeError as error:
        return FollowedQuery(schemas=schema_digest(()), gaps=(str(error),))
    indexes = {name: index for index, name in enumerate(query.tables)}

    def query_inputs(input_columns: InputColumns) -> tuple[QueryInput, ...]:
        return tuple(
            sorted(
                (indexes[column.source], column.column, str(column.subtype), str(column.masking))
                for column in input_columns
                if column.source in indexes
            )
        )

    return FollowedQuery(
        tables=query.tables,
        schemas=schema_digest(map(columns, query.tables)),
        gaps=query.gaps,
        stored_inputs=QueryInputs(
            tuple((column.name, query_inputs(column.inputs)) for column in query.columns),
            query_inputs(query.row_inputs),
            tuple((name, query_inputs(inputs)) for name, inputs in _fields(query.columns)),
        ),
    )


def _fields(columns: Iterable[RowsetColumn], path: str = "") -> Iterator[tuple[str, InputColumns]]:
    for column in columns:
        name = f"{path}{column.name}"
        if path:
            yield name, column.inputs
        yield from _fields(column.fields, f"{name}.")
