"""Followed queries of the last build in a file, so that only what has changed is parsed again.

An entry is of a query's text; it holds as long as the parser and the columns of the tables that
the query reads are the same. A file that is damaged counts as none.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import orjson

from dbt_graft.collectors.dbt import followed_query
from dbt_graft.collectors.dbt.followed_query import FollowedQuery, QueryInput, schema_digest
from dbt_graft.collectors.statements import columns as column_parser
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.replaced_file import replace_file

_log = logging.getLogger(__name__)


class ColumnCache:
    """The followed queries of a file, by the digest of their text.

    Args:
        path: None keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._entries = _read(path) if path else {}
        self._used: dict[str, list[Sequence[Any]]] = {}

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
        if not self._path or self._used == self._entries:
            return
        content = orjson.dumps(self._used)
        try:
            replace_file(self._path, b"\n".join((_head(content), content)))
        except OSError:
            # The next build parses again, no more.
            _log.debug("the columns of dbt's models are not kept", exc_info=True)


@cache
def _parser() -> str:
    """The version of the parser: sqlglot's, and a digest of our code on top of it."""
    digest = hashlib.sha256()
    for package in (column_parser, followed_query):
        folder = resources.files(package.__package__ or package.__name__)
        for file in sorted(folder.iterdir(), key=lambda path: path.name):
            if file.name.endswith(".py"):
                digest.update(file.read_bytes())
    return f"sqlglot {metadata.version('sqlglot')} {digest.hexdigest()[:12]}"


def _head(content: bytes) -> bytes:
    """The first line of the file: the parser that made the content, and a digest of it."""
    return f"{_parser()} {hashlib.sha256(content).hexdigest()}".encode()


def _read(path: Path) -> dict[str, list[Sequence[Any]]]:
    try:
        head, _, content = path.read_bytes().partition(b"\n")
    except OSError:
        return {}
    entries: dict[str, list[Sequence[Any]]] = {}
    if head == _head(content):
        entries = orjson.loads(content)
    return entries


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
