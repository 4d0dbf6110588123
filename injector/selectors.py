"""Selectors of a manifest (https://docs.getdbt.com/reference/node-selection/yaml-selectors).

What `source:` found and is a model now is found by its name. A selector that finds sources too, as
`source:raw` may, becomes the union of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

# Package, group and table of a source, and the name of the model it became.
Table = tuple[str, str, str, str | None]

_METHOD = re.compile(r"(?P<before>[@+\d]*)source:(?P<value>[^+]+)(?P<after>\+?\d*)")


def selecting_models(selectors: Mapping[str, Any], tables: Iterable[Table]) -> dict[str, Any]:
    """The selectors with each promoted source named as the model that it is."""
    known = list(tables)
    return {
        key: {**told, "definition": _selection(told["definition"], known)}
        if isinstance(told, dict) and "definition" in told
        else told
        for key, told in selectors.items()
    }


def _found(value: str, tables: list[Table]) -> tuple[list[str], bool]:
    """The models that a `source:` selector finds, and whether it still finds a source too.

    Args:
        value: As dbt reads it: `raw`, `raw.orders`, `shop.raw.orders`; `*` stands for anything.
    """
    wanted = value.split(".")
    found, left = [], False
    for package, group, table, model in tables:
        told = (package, group, table) if len(wanted) > 2 else (group, table)
        if all(map(fnmatchcase, told, wanted)):
            found += [model] if model else []
            left = left or not model
    return list(dict.fromkeys(found)), left


def _selection(value: Any, tables: list[Table]) -> Any:
    if isinstance(value, list):
        return [_selection(item, tables) for item in value]
    if isinstance(value, str):
        match = _METHOD.fullmatch(value)
        names, left = _found(match["value"], tables) if match else ([], False)
        told = [f"{match['before']}{name}{match['after']}" for name in names] if match else []
        return _union([value] if left else [], told) if told else value
    if not isinstance(value, dict):
        return value
    if value.get("method") == "source":
        names, left = _found(str(value.get("value")), tables)
        methods = [{**value, "method": "fqn", "value": name} for name in names]
        return _union([value] if left else [], methods) if methods else value
    return {key: _selection(item, tables) for key, item in value.items()}


def _union(sources: list[Any], models: list[Any]) -> Any:
    found = [*sources, *models]
    return found[0] if len(found) == 1 else {"union": found}
