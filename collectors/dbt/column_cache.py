"""Followed queries of the last build in a file, so that only what has changed is parsed again.

An entry is of a query's text; it holds as long as the parser and the columns of the tables that
the query reads are the same. That of a model has what a build asks of each one, so that its columns
need not be made for it; it holds as long as all that they are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dbt_graft.collectors.dbt.followed_query import FollowedQuery, schema_digest
from dbt_graft.collectors.parsed_file import read_entries, write_entries

if TYPE_CHECKING:
    from dbt_graft.collectors.statements.text.names import Name

# The packages that the columns of a model are made by.
FOLLOWING = (
    "dbt_graft.collectors",
    "dbt_graft.collectors.dbt",
    "dbt_graft.collectors.statements.columns",
    "dbt_graft.lineage",
    "dbt_graft.lineage.graphs",
)


class ModelSummary(NamedTuple):
    """The facts of a model that a build asks of each one.

    Attributes:
        gap: The reason why some of its columns could not be followed; empty where all were.
        starred: The columns that its SQL takes by `*` alone, see `Definition.starred`.
    """

    gap: str
    starred: Sequence[str]


class ColumnCache:
    """The followed queries of a file, by the digest of their text, and models by their identity."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._used: dict[str, list[Sequence[Any]]] = {}
        self._used_models: dict[str, Sequence[Any]] = {}

    @cached_property
    def _content(self) -> Mapping[str, Any]:
        return read_entries(self._path, *FOLLOWING) or {"queries": {}, "models": {}}

    @property
    def _entries(self) -> Mapping[str, list[Sequence[Any]]]:
        entries: Mapping[str, list[Sequence[Any]]] = self._content["queries"]
        return entries

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

    def summary(self, identity: str, make: Callable[[], ModelSummary]) -> ModelSummary:
        """The summary of a model: the known one, else what is made now.

        Args:
            identity: See `DefinitionEdges.identity`.
        """
        entry = self._content["models"].get(identity)
        if entry is None:
            gap, starred = make()
            entry = [gap, [*starred]]
        self._used_models[identity] = entry
        return ModelSummary(*entry)

    def write(self) -> None:
        """Write what this build used, and nothing else: the file does not grow with history."""
        used = {"queries": self._used, "models": self._used_models}
        if self._path and used != self._content:
            write_entries(self._path, used, *FOLLOWING)
