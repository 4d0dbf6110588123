"""Outlines of earlier reviews in a file, so that only what is new is parsed.

An entry is of a query's text; it holds as long as the parser and the columns of the tables that
the query reads are the same. A file that is damaged counts as none, and can be deleted.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import orjson

from dbt_graft.analysis.review.node import OutlinedCast, QueryOutline
from dbt_graft.collectors.statements import columns as column_rules
from dbt_graft.collectors.statements import outline as outline_rules
from dbt_graft.collectors.statements.outline.scope import OutlineTables, digest
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.replaced_file import replace_file

_log = logging.getLogger(__name__)
_SETS = ("filters", "joins", "grain", "sources", "ties", "rest", "costs", "windows")
_MOST = 20_000  # entries that are kept
Outcome = tuple[QueryOutline | None, str]


class OutlineCache:
    """The outlines of a file, by the digest of their text.

    Args:
        path: None keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._entries: dict[str, list[Any]] = _read(path) if path else {}
        self._is_new = False

    def find(self, key: str, tables: OutlineTables) -> Outcome | None:
        """The outline of a text, if its tables still have the same columns."""
        entry = self._entries.get(key)
        if entry is None or entry[1] != _schema(map(tuple, entry[0]), tables):
            return None
        self._entries[key] = self._entries.pop(key)  # the last that is dropped
        return _outline(entry[2]) if entry[2] else None, entry[3]

    def add(
        self,
        key: str,
        names: Collection[Name],
        tables: OutlineTables,
        outline: QueryOutline | None,
        problem: str,
    ) -> None:
        """Keep an outline for the next review.

        Args:
            names: The tables that the query names.
        """
        self._entries.pop(key, None)
        self._entries[key] = [names, _schema(names, tables), outline and _json(outline), problem]
        self._is_new = True

    def write(self) -> None:
        """Write what is known now, if that is more than before."""
        if not self._path or not self._is_new:
            return
        content = orjson.dumps(dict(list(self._entries.items())[-_MOST:]))
        try:
            replace_file(self._path, b"\n".join((_head(content), content)))
        except OSError:
            # The next review parses again, no more.
            _log.debug("the outlines of a review are not kept", exc_info=True)


def _schema(names: Any, tables: OutlineTables) -> str:
    """The digest of the tables that a query names, with their columns."""
    parts = []
    for name in names:
        table, columns = tables(name)
        parts += [*name, table, *columns, "/"]
    return digest(*parts)


def _json(outline: QueryOutline) -> dict[str, Any]:
    return {
        "columns": list(outline.columns.items()),
        "rows": outline.rows,
        "behind": outline.behind,
        "casts": [[name, *cast] for name, cast in outline.casts.items()],
        **{name: sorted(getattr(outline, name)) for name in _SETS},
    }


def _outline(entry: dict[str, Any]) -> QueryOutline:
    return QueryOutline(
        columns=dict(entry["columns"]),
        is_open=bool(entry["behind"]),
        rows=entry["rows"],
        behind=entry["behind"],
        casts={name: OutlinedCast(*cast) for name, *cast in entry["casts"]},
        filters=frozenset(entry["filters"]),
        joins=frozenset(entry["joins"]),
        grain=frozenset(entry["grain"]),
        sources=frozenset(entry["sources"]),
        ties=frozenset(entry["ties"]),
        rest=frozenset((place, value) for place, value in entry["rest"]),
        costs=frozenset((place, value) for place, value in entry["costs"]),
        windows=frozenset((function, rows) for function, rows in entry["windows"]),
    )


@cache
def _parser() -> str:
    """The version of the parser: sqlglot's, and a digest of our code on top of it."""
    made = hashlib.sha256()
    for package in (outline_rules, column_rules):
        for file in sorted(resources.files(package.__name__).iterdir(), key=lambda path: path.name):
            if file.name.endswith(".py"):
                made.update(file.read_bytes())
    return f"sqlglot {metadata.version('sqlglot')} {made.hexdigest()[:12]}"


def _head(content: bytes) -> bytes:
    """The first line of the file: the parser that made the content, and a digest of it."""
    return f"{_parser()} {hashlib.sha256(content).hexdigest()}".encode()


def _read(path: Path) -> dict[str, list[Any]]:
    try:
        head, _, content = path.read_bytes().partition(b"\n")
    except OSError:
        return {}
    entries: dict[str, list[Any]] = {}
    if head == _head(content):
        entries = orjson.loads(content)
    return entries
