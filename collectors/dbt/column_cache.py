"""Followed queries of the last build in a file, so that only what has changed is parsed again.

An entry is of a query's text; it holds as long as the parser and the columns of the tables that
the query reads are the same. That of a model has what a build asks of each one, so that its columns
need not be made for it; it holds as long as all that they are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import orjson

from dbt_graft.collectors.dbt.followed_query import FollowedQuery, schema_digest
from dbt_graft.collectors.parsed_file import read_content, write_content

if TYPE_CHECKING:
    from dbt_graft.collectors.statements.text.names import Name

# The packages that the columns of a model are made by.
FOLLOWING = (
    "dbt_graft.analysis.render",
    "dbt_graft.collectors",
    "dbt_graft.collectors.dbt",
    "dbt_graft.collectors.statements.columns",
    "dbt_graft.collectors.statements.text",
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
    starred: tuple[str, ...]


class _QueryEntry(msgspec.Struct, array_like=True, gc=False):
    """A followed query.

    Attributes:
        inputs: In JSON: few models are asked for theirs.
    """

    tables: tuple[tuple[str, ...], ...]
    schemas: str
    gaps: tuple[str, ...]
    inputs: msgspec.Raw

    def is_of(self, other: _QueryEntry) -> bool:
        """Whether both are of equal tables, which gives equal results."""
        return (self.tables, self.schemas) == (other.tables, other.schemas)


class _ColumnContent(msgspec.Struct):
    """The content of a file."""

    queries: dict[str, list[_QueryEntry]] = {}
    models: dict[str, ModelSummary] = {}


class ColumnCache:
    """The followed queries of a file, by the digest of their text, and models by their identity."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._used = _ColumnContent()

    @cached_property
    def _known(self) -> _ColumnContent:
        content = read_content(self._path, *FOLLOWING)
        return msgspec.json.decode(content or b"{}", type=_ColumnContent)

    def find(self, digest: str, columns: Callable[[Name], Sequence[str]]) -> FollowedQuery | None:
        """The result of a query, if its tables still have the same columns."""
        for entry in self._known.queries.get(digest, ()):
            schemas = schema_digest(map(columns, entry.tables))
            if entry.schemas == schemas:
                self._keep(digest, entry)
                return FollowedQuery(entry.tables, schemas, entry.gaps, entry.inputs)
        return None

    def add(self, digest: str, query: FollowedQuery) -> None:
        """Keep a result for the next build."""
        inputs = msgspec.Raw(orjson.dumps([*query.inputs]))
        self._keep(digest, _QueryEntry(query.tables, query.schemas, tuple(query.gaps), inputs))

    def _keep(self, digest: str, entry: _QueryEntry) -> None:
        # Equal text in two models may read tables of different columns.
        entries = self._used.queries.setdefault(digest, [])
        if not any(map(entry.is_of, entries)):
            entries.append(entry)

    def summary(self, identity: str, make: Callable[[], ModelSummary]) -> ModelSummary:
        """The summary of a model: the known one, else what is made now.

        Args:
            identity: See `DefinitionEdges.identity`.
        """
        summary = self._known.models.get(identity) or make()
        self._used.models[identity] = summary
        return summary

    def write(self) -> None:
        """Write what this build used, and nothing else: the file does not grow with history."""
        if self._path and self._used != self._known:
            write_content(self._path, msgspec.json.encode(self._used), *FOLLOWING)
