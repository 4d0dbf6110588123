"""Records as an audience may see them: without text, and without names, of what is hidden.

Text that names it is empty. Keys by which records find each other cannot be: in them another name
stands for it, the same one everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any

from dbt_graft.analysis.audience.words import WORD, HiddenWords, Mentions
from dbt_graft.lineage.dataset import DatasetId

# Keys by which records find each other.
_KEYS = frozenset(
    (
        *("name", "task", "run_id", "run_ids", "parent_run_id", "invocation_id", "node_id"),
        *("shape_id", "shapes", "gaps", "origin", "engine", "engines", "dbt_ids", "dialect"),
    )
)


class Pseudonyms:
    """Names for what is hidden where there has to be one: `left_out_1`.

    They follow from nothing but their order in what is visible: no guess at a name can be checked
    against them, and they do not count what is hidden.
    """

    def __init__(self, words: HiddenWords) -> None:
        self._mentions, self._visible = words.mentions(), words.visible
        self._pseudonyms: dict[str, str] = {}
        self._numbers: dict[str, int] = {}

    def hide(self, digests: Iterable[str]) -> None:
        """Replace digests of hidden text, in this order and after all others.

        No page has them: they are numbered apart.
        """
        for number, digest in enumerate(digests):
            self._pseudonyms[digest] = f"left_out_text_{number:08}"

    def __call__(self, key: str) -> str:
        """The key, with pseudonyms in the place of words that name what is hidden."""
        pseudonym = self._pseudonyms.get(key)
        if pseudonym is None:
            is_visible = not self._mentions(key) or key.casefold() in self._visible
            pseudonym = self._pseudonyms[key] = key if is_visible else self._without(key)
        return key if pseudonym == key else pseudonym

    def _without(self, key: str) -> str:
        replaced = WORD.sub(
            lambda word: self._name(word[0]) if self._mentions(word[0]) else word[0], key
        )
        return self._name(key) if self._mentions(replaced) else replaced

    def _name(self, key: str) -> str:
        return f"left_out_{self._numbers.setdefault(key.casefold(), len(self._numbers) + 1)}"


def blank_text(value: Any, mentions: Mentions) -> Any:
    """A record, or several, in which text that names what is hidden is empty."""
    if isinstance(value, Enum | DatasetId):
        return value
    if isinstance(value, str):
        return "" if mentions(value) else value
    if isinstance(value, tuple):
        return tuple(
            blank_text(part, mentions)
            for part in value
            if not (isinstance(part, str) and not isinstance(part, Enum) and mentions(part))
        )
    if isinstance(value, Mapping):
        return {key: blank_text(content, mentions) for key, content in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        changed = {}
        for name in _fields(type(value)):
            before = getattr(value, name)
            if name not in _KEYS and before and not isinstance(before, int | float):
                after = blank_text(before, mentions)
                if after is not before and after != before:
                    changed[name] = after
        return replace(value, **changed) if changed else value
    return value


def rename_keys(value: Any, names: Pseudonyms) -> Any:
    """A record, or several, with other names for what is hidden in all keys."""
    if value is None or isinstance(value, Enum | int | float):
        return value
    if isinstance(value, str):
        return names(value)
    if isinstance(value, DatasetId):
        name = names(value.name)
        return value if name == value.name else DatasetId(value.namespace, name)
    if isinstance(value, tuple | frozenset):
        parts = [rename_keys(part, names) for part in value]
        same = all(after is before for after, before in zip(parts, value, strict=True))
        return value if same else _rebuild(value, parts)
    if isinstance(value, Mapping):
        pairs = [
            (rename_keys(key, names), rename_keys(content, names)) for key, content in value.items()
        ]
        if all(a is c and b is d for (a, b), (c, d) in zip(pairs, value.items(), strict=True)):
            return value
        return dict(sorted(pairs, key=_key))
    if is_dataclass(value) and not isinstance(value, type):
        changed = {}
        for name in _fields(type(value)):
            before = getattr(value, name)
            if before and (after := rename_keys(before, names)) is not before:
                changed[name] = after
        return replace(value, **changed) if changed else value
    return value


def _key(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def _rebuild(value: Any, parts: list[Any]) -> Any:
    return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.init)
