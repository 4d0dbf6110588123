"""Followed queries of the last build in a file, so that only what has changed is parsed again.

An entry is of a query's text; it holds as long as the parser and the columns of the tables that
the query reads are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_graft.collectors.dbt.followed_query import FollowedQuery, QueryInput, schema_digest
from dbt_graft.collectors.parsed_file import read_entries, write_entries

if TYPE_CHECKING:
    from dbt_graft.collectors.statements.text.names import Name

_PARSER = ("dbt_graft.collectors.statements.columns", "dbt_graft.collectors.dbt")


class ColumnCache:
    """The followed queries of a file, by the digest of their text."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._used: dict[str, list[Sequence[Any]]] = {}

    @cached_property
    def _entries(self) -> Mapping[str, list[Sequence[Any]]]:
        return read_entries(self._path, *_PARSER)

    def find(self, digest: str, columns: Callable[[Name], Sequence[str]]) -> FollowedQuery | None:
        """The result of a query, if its tables still have the same columns."""
        for entry in self._entries.get(digest, ()):
            query = _query(entry)
            if query.schemas == schema_digest(map(columns, query.tables)):
                self._keep(digest, entry)
                return query
        return None

    def add(self, digest: str, query: FollowedQuery) -> None:
        """Keep a result for the next build."""
        columns, fields = (
            [[name, [[*query_input] for query_input in inputs]] for name, inputs in named]
            for named in (query.columns, query.fields)
        )
        row_inputs = [[*query_input] for query_input in query.row_inputs]
        self._keep(digest, [query.tables, query.schemas, columns, row_inputs, query.gaps, fields])

    def _keep(self, digest: str, entry: Sequence[Any]) -> None:
        # Equal text in two models may read tables of different columns.
        entries = self._used.setdefault(digest, [])
        if entry not in entries:
            entries.append(entry)

    def write(self) -> None:
        """Write what this build used, and nothing else: the file does not grow with history."""
        if self._path and self._used != self._entries:
            write_entries(self._path, self._used, *_PARSER)


def _query(entry: Sequence[Any]) -> FollowedQuery:
    tables, schemas, columns, row_inputs, gaps, fields = entry
    named_inputs, named_fields = (
        tuple(
            (str(name), tuple(QueryInput(*values) for values in inputs)) for name, inputs in named
        )
        for named in (columns, fields)
    )
    return FollowedQuery(
        tuple(map(tuple, tables)),
        schemas,
        named_inputs,
        tuple(QueryInput(*values) for values in row_inputs),
        tuple(gaps),
        named_fields,
    )
