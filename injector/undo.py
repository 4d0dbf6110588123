"""Undo: the changes from grafted artifacts back to those of dbt.

Both documents share all unchanged objects, so the cost of a comparison grows with the changes, not
with the size. `at` is the path of keys to the changed object:

    {"at": ["nodes", "model.shop.orders"], "set": {"description": "As people wrote it."}}
    {"at": ["sources"], "insert": [["source.shop.raw.customers", "source.shop.raw.orders", {…}]]}
    {"at": ["nodes"], "delete": ["model.python_tasks.raw_orders"]}

`insert` names the key in front, null at the start, so that the order is restored too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import compress
from operator import is_not
from typing import Any

Change = dict[str, Any]

_LOST = object()


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return the changes from `after` back to `before`."""
    all_changes: list[Change] = []
    waiting: list[tuple[list[str], Mapping[str, Any], Mapping[str, Any]]] = [([], before, after)]
    while waiting:
        at, old, new = waiting.pop()
        change: Change = {}
        for key in _changed_keys(old, new):
            value, new_value = old[key], new.get(key, _LOST)
            if value is new_value:
                continue
            if new_value is _LOST:
                change.setdefault("lost", set()).add(key)
            elif isinstance(value, Mapping) and isinstance(new_value, Mapping):
                waiting.append(([*at, key], value, new_value))
            elif type(value) is not type(new_value) or value != new_value:
                change.setdefault("set", {})[key] = value
        if lost := change.pop("lost", None):
            ahead = [None, *old]
            change["insert"] = [
                [behind, key, value]
                for behind, (key, value) in zip(ahead, old.items(), strict=False)
                if key in lost
            ]
        if (lost or len(new) > len(old)) and (added := [key for key in new if key not in old]):
            change["delete"] = added
        if change:
            all_changes.append({"at": at, **change})
    return all_changes


def _changed_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterable[str]:
    """The keys of `old` whose values may be others in `new`."""
    # Most nodes have the same keys, and one other value.
    if [*old] != [*new]:
        return old
    return compress(old, map(is_not, old.values(), new.values()))


def restore(document: dict[str, Any], recorded: list[Change]) -> None:
    """Apply changes, in place.

    Raises:
        KeyError, TypeError: They are not changes of this document.
    """
    for change in recorded:
        inside = document
        for key in change["at"]:
            inside = inside[key]
        inside.update(change.get("set") or {})
        for key in change.get("delete") or ():
            del inside[key]
        if insert := change.get("insert"):
            _insert(inside, insert)


def _insert(inside: dict[str, Any], insert: list[list[Any]]) -> None:
    behind = {ahead: (key, value) for ahead, key, value in insert}
    others = dict(inside)
    inside.clear()
    for ahead in (None, *others):
        if ahead is not None:
            inside[ahead] = others[ahead]
        while ahead in behind:
            ahead, value = behind.pop(ahead)
            inside[ahead] = value
