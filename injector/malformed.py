"""Malformed values in dbt's artifacts: values of another type than dbt's schemas say.

Each one is ignored, with a notice, so that the rest of the artifact can be used; a node without
its `resource_type`, `name` or `unique_id` is ignored altogether. Types below are those of the
values that we or dbt's docs page read, see https://schemas.getdbt.com/dbt/manifest/v12.json,
/dbt/catalog/v1.json and /dbt/sources/v3.json on the same host.
"""

from __future__ import annotations

from pathlib import Path
from types import GenericAlias
from typing import Any

import msgspec

from dbt_graft.injector.manifest import PARTS

# A type is a Python type, or a tuple of them; `[type]` a list of it, `{str: type}` an object with
# any keys, `{"key": type}` an object with known ones among others. Null stands for a missing value.
JsonType = Any

_SCALAR = (str, int, float)
_EDGES = {str: [str]}
_OWNER = {"name": _SCALAR}
_DEPENDS_ON = {"nodes": [str], "macros": [str]}
_SCALARS = (
    *("package_name", "database", "schema", "alias", "identifier", "source_name", "description"),
    *("source_description", "group", "loader", "raw_code", "relation_name", "label", "type", "url"),
    *("attached_node", "file_key_name", "version", "original_file_path", "loaded_at_field"),
    *("loaded_at_query", "column_name"),
)
_REQUIRED = ("resource_type", "name", "unique_id")
_NODE = {
    **dict.fromkeys((*_REQUIRED, *_SCALARS), _SCALAR),
    "columns": {str: dict},
    "config": {"materialized": _SCALAR, "meta": dict, "contract": dict},
    "depends_on": _DEPENDS_ON,
    "fqn": list,
    "freshness": dict,
    "given": list,
    "meta": dict,
    "owner": _OWNER,
    "quoting": dict,
    "refs": list,
    "source_meta": dict,
    "sources": [[_SCALAR]],
    "tags": list,
    "test_metadata": {"name": _SCALAR, "kwargs": dict},
    "unrendered_config": dict,
}
_ENTRY = {
    "metadata": dict.fromkeys(("type", "database", "schema", "name", "owner", "comment"), _SCALAR),
    "columns": {str: dict},
    "stats": {str: dict},
}

MANIFEST: JsonType = {
    "metadata": {
        **dict.fromkeys(("adapter_type", "dbt_version", "project_name", "generated_at"), _SCALAR),
        "env": dict,
    },
    **{part: {str: _NODE} for part in PARTS},
    "macros": {str: {"package_name": _SCALAR, "depends_on": _DEPENDS_ON}},
    "docs": {str: {"name": _SCALAR}},
    "groups": {str: {"owner": _OWNER}},
    "group_map": _EDGES,
    "parent_map": _EDGES,
    "child_map": _EDGES,
    "disabled": {str: [_NODE]},
    "selectors": dict,
}
CATALOG: JsonType = {"metadata": dict, "nodes": {str: _ENTRY}, "sources": {str: _ENTRY}}
SOURCES: JsonType = {"results": [{"unique_id": str, "status": _SCALAR, "max_loaded_at": _SCALAR}]}

_SHOWN = 100
_MALFORMED = object()
_NAMES = {dict: "an object", list: "a list", str: "text", bool: "a truth value", type(None): "null"}


# By the identity of what is expected, which is held.
_decoders: dict[int, tuple[JsonType, msgspec.json.Decoder[Any]]] = {}


class _Object(msgspec.Struct, gc=False):
    """An object with any keys."""


def is_well_formed(content: bytes, expected: JsonType) -> bool:
    """Whether no value is malformed in an artifact, as in most; False if it is no JSON.

    Args:
        content: The file; text that no type is expected of may be no UTF-8.
        expected: `MANIFEST`, `CATALOG` or `SOURCES`.
    """
    try:
        value_decoder(expected).decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def value_decoder(expected: JsonType) -> msgspec.json.Decoder[Any]:
    """Return what decodes the values that types are expected of, those of objects to attributes.

    It raises errors of msgspec where one is malformed.
    """
    # They are constants, and to make the classes takes as long as to decode a small manifest.
    if id(expected) not in _decoders:
        _decoders[id(expected)] = expected, msgspec.json.Decoder(_checked_type(expected))
    return _decoders[id(expected)][1]


def _checked_type(expected: JsonType) -> Any:
    """A type that msgspec decodes just what is well-formed to, without what is not expected."""
    if expected is dict:
        return _Object
    if isinstance(expected, tuple):
        return str | int | float | bool
    if expected is list:
        return list[msgspec.Raw]  # whatever is in it
    if isinstance(expected, list):
        return GenericAlias(list, (_checked_type(expected[0]),))
    if isinstance(expected, type):
        return expected
    if str in expected:
        inside = _checked_type(expected[str])
        return GenericAlias(dict, (str, inside if _is_object(expected[str]) else inside | None))
    fields: list[Any] = [
        (key, _checked_type(value) | None, None) for key, value in expected.items()
    ]
    if expected is _NODE:
        fields = [(key, str) for key in _REQUIRED] + fields[len(_REQUIRED) :]
    return msgspec.defstruct("CheckedObject", fields, gc=False)


def without_malformed(
    document: dict[str, Any], expected: JsonType, path: Path
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a document without its malformed values, and a notice for each of the first 100.

    What is well-formed is shared with the original, which is not changed.

    Args:
        document: A parsed artifact.
        expected: `MANIFEST`, `CATALOG` or `SOURCES`.
        path: The file, for the notices.
    """
    notices: list[str] = []
    usable = _usable(document, expected, (), notices)
    shown = [f"{path}: {notice}; ignored" for notice in notices[:_SHOWN]]
    if len(notices) > _SHOWN:
        shown.append(f"{path}: {len(notices) - _SHOWN:,} more values are malformed; ignored")
    return usable, tuple(shown)


def _usable(value: Any, expected: JsonType, at: tuple[str, ...], notices: list[str]) -> Any:
    """The value, or a copy without malformed parts; `_MALFORMED` if it is of another type."""
    plain = isinstance(expected, (type, tuple))
    if not isinstance(value, expected if plain else type(expected)):
        notices.append(f"{' > '.join(at)} is {_name(type(value))}, not {_expected_name(expected)}")
        return _MALFORMED
    if isinstance(expected, list):
        return _usable_items(value, expected[0], at, notices)
    if isinstance(expected, dict):
        if expected is _NODE and (missing := [key for key in _REQUIRED if not _has(value, key)]):
            notices.append(f"{' > '.join(at)} has no valid `{missing[0]}`")
            return _MALFORMED
        return _usable_values(value, expected, at, notices)
    return value


def _usable_items(
    values: list[Any], expected: JsonType, at: tuple[str, ...], notices: list[str]
) -> list[Any]:
    usable = [
        _usable(value, expected, (*at, str(index)), notices) for index, value in enumerate(values)
    ]
    if all(new is old for new, old in zip(usable, values, strict=True)):
        return values
    return [value for value in usable if value is not _MALFORMED]


def _usable_values(
    values: dict[str, Any], expected: JsonType, at: tuple[str, ...], notices: list[str]
) -> dict[str, Any]:
    of_all = expected.get(str)
    changed = {}
    for key, value in values.items():
        wanted = of_all or expected.get(key)
        # Null for a missing value, but a node or a column is never null.
        if wanted is None or (value is None and not (of_all and _is_object(wanted))):
            continue
        if (new := _usable(value, wanted, (*at, key), notices)) is not value:
            changed[key] = new
    if not changed:
        return values
    return {key: new for key, new in {**values, **changed}.items() if new is not _MALFORMED}


def _is_object(expected: JsonType) -> bool:
    return expected is dict or isinstance(expected, dict)


def _has(node: dict[str, Any], key: str) -> bool:
    return isinstance(node.get(key), str)


def _expected_name(expected: JsonType) -> str:
    if isinstance(expected, tuple):
        return "text or a number"
    return _name(expected if isinstance(expected, type) else type(expected))


def _name(kind: type) -> str:
    return _NAMES.get(kind, "a number")
