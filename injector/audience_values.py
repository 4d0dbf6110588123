"""Values of JSON in dbt's artifacts, without what an audience may not see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbt_graft.analysis.audience.described import AudienceView
from dbt_graft.analysis.audience.words import LEFT_OUT, Mentions

# What dbt and its docs page find nodes by.
_IDS = frozenset(
    (
        *("unique_id", "name", "path", "original_file_path", "fqn", "alias", "schema", "database"),
        *("identifier", "resource_type", "package_name", "relation_name"),
        *("depends_on", "refs", "sources", "patch_path", "root_path", "attached_node", "loader"),
        *("source_name", "group", "materialized", "language"),
    )
)
# Where keys are names of people's own, and how deep.
_OPEN = {
    "meta": 99,
    "columns": 1,
    "config": 1,
    "unrendered_config": 1,
    "grants": 1,
    "stats": 1,
    "env": 1,
}
_CODE = frozenset(("raw_code", "compiled_code", "macro_sql", "raw_sql", "compiled_sql"))


def without_hidden(value: Any, view: AudienceView, mentions: Mentions, is_open: int = 0) -> Any:
    """A value of JSON in which text that names what is hidden is empty, and such keys are gone.

    Args:
        is_open: So many levels from here have keys of people's own.
    """
    if isinstance(value, str):
        return "" if mentions(value) else value
    if isinstance(value, list):
        return [
            without_hidden(child, view, mentions, is_open)
            for child in value
            if not (isinstance(child, str) and mentions(child))
        ]
    if not isinstance(value, Mapping):
        return value
    visible: dict[str, Any] = {}
    for key, child in value.items():
        if is_open and mentions(str(key)):
            continue
        if key in _IDS and not is_open:
            visible[key] = _rename_ids(child, view)
        elif key in _CODE:
            is_hidden = isinstance(child, str) and mentions(child)
            visible[key] = f"-- {LEFT_OUT}" if is_hidden else child
        elif key == "checksum":  # Of the code: whoever guesses it could check the guess.
            visible[key] = {"name": "none", "checksum": ""} if isinstance(child, Mapping) else None
        else:
            visible[key] = without_hidden(
                child, view, mentions, _OPEN.get(key, max(is_open - 1, 0))
            )
    return visible


def _rename_ids(value: Any, view: AudienceView) -> Any:
    """Ids, with other names for what is hidden."""
    if isinstance(value, str):
        return view.names(value)
    if isinstance(value, list):
        return [_rename_ids(child, view) for child in value]
    if isinstance(value, Mapping):
        return {key: _rename_ids(child, view) for key, child in value.items()}
    return value


def texts(value: Any) -> Iterator[str]:
    """All strings in a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        for child in value:
            yield from texts(child)
    elif isinstance(value, Mapping):
        for key, child in value.items():
            yield str(key)
            yield from texts(child)
