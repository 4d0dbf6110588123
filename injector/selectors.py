"""Selectors of a manifest (https://docs.getdbt.com/reference/node-selection/yaml-selectors).

A `source:` selector of a promoted source becomes a selector of its model. One that selects other
sources too, as `source:raw` may, becomes the union of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

# Package, source name and table of a source, and its model if it is promoted.
Table = tuple[str, str, str, str | None]

_METHOD = re.compile(r"(?P<before>[@+\d]*)source:(?P<value>[^+]+)(?P<after>\+?\d*)")


def selecting_models(selectors: Mapping[str, Any], tables: Iterable[Table]) -> dict[str, Any]:
    """Return the selectors with promoted sources replaced by their models."""
    all_tables = list(tables)
    return {
        key: {**selector, "definition": _selection(selector["definition"], all_tables)}
        if isinstance(selector, dict) and "definition" in selector
        else selector
        for key, selector in selectors.items()
    }


def _find_models(value: str, tables: list[Table]) -> tuple[list[str], bool]:
    """Return the models of a `source:` selector, and whether it selects other sources too.

    Args:
        value: `raw`, `raw.orders` or `shop.raw.orders`, with `*` as a wildcard.
    """
    wanted = value.split(".")
    models, has_others = [], False
    for package, group, table, model in tables:
        name = (package, group, table) if len(wanted) > 2 else (group, table)
        if all(map(fnmatchcase, name, wanted)):
            models += [model] if model else []
            has_others = has_others or not model
    return list(dict.fromkeys(models)), has_others


def _selection(value: Any, tables: list[Table]) -> Any:
    if isinstance(value, list):
        return [_selection(item, tables) for item in value]
    if isinstance(value, str):
        match = _METHOD.fullmatch(value)
        names, has_others = _find_models(match["value"], tables) if match else ([], False)
        models = [f"{match['before']}{name}{match['after']}" for name in names] if match else []
        return _union([value] if has_others else [], models) if models else value
    if not isinstance(value, dict):
        return value
    if value.get("method") == "source":
        names, has_others = _find_models(str(value.get("value")), tables)
        if names:
            # dbt would take a member of a union that excludes for an exclusion alone.
            base = {key: item for key, item in value.items() if key != "exclude"}
            methods = [{**base, "method": "fqn", "value": name} for name in names]
            union = _union([base] if has_others else [], methods)
            if "exclude" not in value:
                return union
            return {"union": [union, {"exclude": _selection(value["exclude"], tables)}]}
    return {key: _selection(item, tables) for key, item in value.items()}


def _union(sources: list[Any], models: list[Any]) -> Any:
    members = [*sources, *models]
    return members[0] if len(members) == 1 else {"union": members}
