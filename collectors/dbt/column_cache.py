"""Followed queries of the last build in a file, so that only what has changed is parsed again.

An entry is of a query's text; it holds as long as the parser and the columns of the tables that
the query reads are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_graft.collectors.dbt.followed_query import FollowedQuery, schema_digest
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
            names, schemas, *rest = entry
            tables = tuple(map(tuple, names))
            if schemas == schema_digest(map(columns, tables)):
                self._keep(digest, entry)
                return FollowedQuery(tables, schemas, *rest)
        return None

    def add(self, digest: str, query: FollowedQuery) -> None:
        """Keep a result for the next build."""
        entry = (query.tables, query.schemas, query.columns, query.row_inputs, query.gaps)
        self._keep(digest, (*entry, query.fields))

    def _keep(self, digest: str, entry: Sequence[Any]) -> None:
        # Equal text in two models may read tables of different columns.
        entries = self._used.setdefault(digest, [])
        if entry not in entries:
            entries.append(entry)

    def write(self) -> None:
        """Write what this build used, and nothing else: the file does not grow with history."""
        if self._path and self._used != self._entries:
            write_entries(self._path, self._used, *_PARSER)
