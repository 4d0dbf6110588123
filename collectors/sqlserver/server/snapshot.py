"""A snapshot of a SQL Server's databases in one JSON file, so that collecting needs no server.

    {"format": "dbt-graft sqlserver snapshot", "version": 1, "server": "CRM",
     "taken_at": "2026-11-21T02:15:00+00:00",
     "databases": {"Shop": {
       "relations": {"dbo.Orders": {"kind": "TABLE", "columns": {"OrderId": "int"}}},
       "synonyms": {"dbo.Ledger": "[Finance].[dbo].[Entries]"},
       "data_sources": {"lake": "https://acc.blob.core.windows.net/lake"},
       "modules": {"dbo.LoadOrders": {"kind": "PROCEDURE", "text": "CREATE PROCEDURE …"}}}}}

The file is meant for version control: it has one order, one line a column, and no literal of any
module. `collectors.sqlserver.server.catalog_queries` takes a snapshot over a connection.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import orjson

from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.errors import GraftError, write_error
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Column
from dbt_graft.replaced_file import replace_file

VERSION = 1
_FORMAT = "dbt-graft sqlserver snapshot"
_RELATIONS = (Kind.TABLE, Kind.VIEW)
_AGAIN = (
    "take it again: graft logs sqlserver-snapshot --connection env:GRAFT_MSSQL --out snapshot.json"
)

# `@day AS date` declares a parameter, too.
_HEAD = re.compile(r"(?P<name>@[\w@#$]+)(?:\s+AS\b)?|\bAS\b", re.IGNORECASE)

_T = TypeVar("_T")


class ModuleKind(StrEnum):
    """The kind of an object that is defined by SQL text."""

    VIEW = "VIEW"
    PROCEDURE = "PROCEDURE"
    FUNCTION = "FUNCTION"
    TRIGGER = "TRIGGER"


@frozen
class SnapshotRelation:
    """A table or view: `kind` is TABLE or VIEW; columns in their order, types as `varchar(20)`."""

    kind: Kind
    columns: tuple[Column, ...] = ()


@frozen
class Module:
    """The definition of a view, procedure, function or trigger, its literals taken out."""

    kind: ModuleKind
    text: str


@frozen
class SnapshotDatabase:
    """One database; keys are `schema.name` as the server writes them, without brackets.

    Attributes:
        synonyms: Synonym -> the name that it stands for, as it was written: one to four parts,
            in brackets or not. What it leaves out is the synonym's own database or `dbo`.
        data_sources: External data source -> where it lies.
    """

    relations: Mapping[str, SnapshotRelation] = field(default_factory=dict)
    synonyms: Mapping[str, str] = field(default_factory=dict)
    modules: Mapping[str, Module] = field(default_factory=dict)
    data_sources: Mapping[str, str] = field(default_factory=dict)
    _relations: Mapping[str, SnapshotRelation] = field(init=False, repr=False, compare=False)
    _synonyms: Mapping[str, str] = field(init=False, repr=False, compare=False)
    _modules: Mapping[str, Module] = field(init=False, repr=False, compare=False)
    _data_sources: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_relations", _fold_keys(self.relations))
        object.__setattr__(self, "_synonyms", _fold_keys(self.synonyms))
        object.__setattr__(self, "_modules", _fold_keys(self.modules))
        object.__setattr__(self, "_data_sources", _fold_keys(self.data_sources))

    def relation(self, name: str) -> SnapshotRelation | None:
        """The table or view `schema.name`, whatever its case."""
        return self._relations.get(name.casefold())

    def synonym(self, name: str) -> str | None:
        """The name that the synonym `schema.name` stands for, whatever its case."""
        return self._synonyms.get(name.casefold())

    def module(self, name: str) -> Module | None:
        """The module `schema.name`, whatever its case."""
        return self._modules.get(name.casefold())

    def data_source(self, name: str) -> str | None:
        """The place of the external data source of this name, whatever its case."""
        return self._data_sources.get(name.casefold())


@frozen
class Snapshot:
    """The databases of a server at one time.

    Attributes:
        server: What the server calls itself, and a name of four parts begins with.
        taken_at: Aware, to the second.
    """

    server: str
    taken_at: datetime
    databases: Mapping[str, SnapshotDatabase] = field(default_factory=dict)
    _databases: Mapping[str, SnapshotDatabase] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_databases", _fold_keys(self.databases))

    def database(self, name: str) -> SnapshotDatabase | None:
        """A database, whatever the case of its name."""
        return self._databases.get(name.casefold())

    def procedure_parameters(self) -> dict[str, tuple[str, ...]]:
        """Procedure, without schema and in lower case -> its parameters in their order.

        Events have no schema: procedures of one name with other parameters are left out.
        """
        parameters: dict[str, set[tuple[str, ...]]] = {}
        for database in self.databases.values():
            for name, module in database.modules.items():
                if module.kind is ModuleKind.PROCEDURE:
                    procedure = name.rpartition(".")[2].casefold()
                    parameters.setdefault(procedure, set()).add(_parameters(module.text))
        return {name: found.pop() for name, found in parameters.items() if len(found) == 1}


def _parameters(text: str) -> tuple[str, ...]:
    """The names between `CREATE PROCEDURE` and `AS`."""
    names: list[str] = []
    for word in _HEAD.finditer(text):
        if not word["name"]:
            break
        names.append(word["name"].casefold())
    return tuple(names)


def write_snapshot(snapshot: Snapshot, path: Path) -> None:
    """Write a snapshot; the same one is always the same bytes.

    Raises:
        GraftError: The file cannot be written.
    """
    document = {
        "format": _FORMAT,
        "version": VERSION,
        "server": snapshot.server,
        "taken_at": snapshot.taken_at.isoformat(timespec="seconds"),
        "databases": {
            name: _database_json(base) for name, base in _sort_by_name(snapshot.databases)
        },
    }
    content = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    try:
        replace_file(path, content)
    except OSError as error:
        raise write_error(error, path, "name a file that you may write") from error


def read_snapshot(path: Path) -> Snapshot:
    """Read what `write_snapshot` wrote.

    Raises:
        GraftError: There is no such file, it is cut off or no snapshot, or of another version.
    """
    try:
        document = orjson.loads(path.read_bytes())
    except OSError as error:
        raise GraftError(
            f"the snapshot cannot be read: {error.strerror}", place=str(path), remedy=_AGAIN
        ) from error
    except orjson.JSONDecodeError as error:
        raise GraftError(
            f"this is not JSON, or cut off: {error.msg}",
            place=f"{path}, line {error.lineno}",
            remedy=_AGAIN,
        ) from error
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise GraftError("this is not a snapshot of a SQL Server", place=str(path), remedy=_AGAIN)
    if document.get("version") != VERSION:
        raise GraftError(
            f"the snapshot's version is not {VERSION}, which this dbt-graft reads",
            place=str(path),
            remedy=_AGAIN,
        )
    try:
        return _snapshot(document)
    except _WrongError as error:
        raise GraftError(str(error), place=str(path), remedy=_AGAIN) from error


class _WrongError(Exception):
    def __init__(self, keys: tuple[str, ...], wanted: str) -> None:
        super().__init__(f"`{' > '.join(keys)}` should be {wanted}")


def _snapshot(document: Mapping[str, Any]) -> Snapshot:
    taken_at = _text(document.get("taken_at"), "taken_at")
    try:
        time = datetime.fromisoformat(taken_at)
    except ValueError as error:
        raise _WrongError(("taken_at",), "a time") from error
    if time.tzinfo is None:
        raise _WrongError(("taken_at",), "a time with its time zone")
    return Snapshot(
        server=_text(document.get("server"), "server"),
        taken_at=time,
        databases={
            name: _database(base, "databases", name)
            for name, base in _object(document.get("databases"), "databases").items()
        },
    )


def _database(base: Any, *keys: str) -> SnapshotDatabase:
    base = _object(base, *keys)

    def part(name: str, missing: Any = None) -> Iterable[tuple[str, Any]]:
        return _object(base.get(name, missing), *keys, name).items()

    return SnapshotDatabase(
        relations={n: _relation(r, *keys, "relations", n) for n, r in part("relations")},
        synonyms={n: _text(s, *keys, "synonyms", n) for n, s in part("synonyms")},
        modules={n: _module(m, *keys, "modules", n) for n, m in part("modules")},
        data_sources={
            n: _text(s, *keys, "data_sources", n) for n, s in part("data_sources", missing={})
        },
    )


def _relation(relation: Any, *keys: str) -> SnapshotRelation:
    relation = _object(relation, *keys)
    kind = relation.get("kind")
    if kind not in _RELATIONS:
        raise _WrongError((*keys, "kind"), " or ".join(_RELATIONS))
    columns = _object(relation.get("columns"), *keys, "columns")
    return SnapshotRelation(
        Kind(kind),
        tuple(Column(n, _text(t, *keys, "columns", n)) for n, t in columns.items()),
    )


def _module(module: Any, *keys: str) -> Module:
    module = _object(module, *keys)
    kind = module.get("kind")
    if kind not in tuple(ModuleKind):
        raise _WrongError((*keys, "kind"), "one of " + ", ".join(ModuleKind))
    return Module(ModuleKind(kind), _text(module.get("text"), *keys, "text"))


def _object(value: Any, *keys: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _WrongError(keys, "an object")
    return value


def _text(value: Any, *keys: str) -> str:
    if not isinstance(value, str):
        raise _WrongError(keys, "text")
    return value


def _database_json(base: SnapshotDatabase) -> dict[str, Any]:
    return {
        "relations": {
            name: {
                "kind": relation.kind,
                "columns": {column.name: column.type for column in relation.columns},
            }
            for name, relation in _sort_by_name(base.relations)
        },
        "synonyms": dict(_sort_by_name(base.synonyms)),
        **({"data_sources": dict(_sort_by_name(base.data_sources))} if base.data_sources else {}),
        "modules": {
            name: {"kind": module.kind, "text": module.text}
            for name, module in _sort_by_name(base.modules)
        },
    }


def _sort_by_name(items: Mapping[str, _T]) -> list[tuple[str, _T]]:
    """By name without case, as people look for it; then by case, so that there is one order."""
    return sorted(items.items(), key=lambda item: (item[0].casefold(), item[0]))


def _fold_keys(items: Mapping[str, _T]) -> dict[str, _T]:
    return {name.casefold(): item for name, item in items.items()}
