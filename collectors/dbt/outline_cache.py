"""Outlines of earlier reviews in a file, so that only what is new is parsed.

An entry is of a query's text; it holds as long as the parser and the columns of the tables that
the query reads are the same.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_graft.analysis.review.node import QueryOutline
from dbt_graft.collectors.parsed_file import from_entry, read_entries, to_entry, write_entries
from dbt_graft.collectors.statements.outline.keys import digest

if TYPE_CHECKING:  # The parser takes as long to import as a review of equal models.
    from dbt_graft.collectors.statements.outline.scope import OutlineTables
    from dbt_graft.collectors.statements.text.names import Name

_PARSER = (
    "dbt_graft.analysis.review",
    "dbt_graft.collectors.statements.outline",
    "dbt_graft.collectors.statements.columns",
)
_MOST = 20_000  # entries that are kept
Outcome = tuple[QueryOutline | None, str]


class OutlineCache:
    """The outlines of a file, by the digest of their text."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._entries = read_entries(path, *_PARSER)
        self._is_new = False

    def find(self, key: str, tables: OutlineTables) -> Outcome | None:
        """The outline of a text, if its tables still have the same columns."""
        entry = self._entries.get(key)
        if entry is None or entry[1] != _schema(map(tuple, entry[0]), tables):
            return None
        self._entries[key] = self._entries.pop(key)  # the last that is dropped
        return entry[2] and from_entry(entry[2]), entry[3]

    def add(
        self,
        key: str,
        names: Collection[Name],
        tables: OutlineTables,
        outline: QueryOutline | None,
        problem: str,
    ) -> None:
        """Keep an outline for the next review."""
        self._entries.pop(key, None)
        self._entries[key] = [
            names,
            _schema(names, tables),
            outline and to_entry(outline),
            problem,
        ]
        self._is_new = True

    def write(self) -> None:
        """Write what is known now, if that is more than before."""
        if self._path and self._is_new:
            write_entries(self._path, dict(list(self._entries.items())[-_MOST:]), *_PARSER)


def _schema(names: Any, tables: OutlineTables) -> str:
    """The digest of the tables that a query names, with their columns."""
    parts = []
    for name in names:
        table, columns = tables(name)
        parts += [*name, table, *columns, "/"]
    return digest(*parts)
