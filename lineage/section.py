"""Mappings that people write into files such as `graft.yml`: dataclasses with rules for fields.

Pydantic checks a file by them, where one is read: who only uses what was read imports none of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from dbt_graft.lineage.frozen import frozen


class Limits:
    """The limits of a field, by pydantic's names of constraints: `min_length=1`, `ge=0`."""

    def __init__(self, **constraints: Any) -> None:
        self.constraints = constraints

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        return {**handler(source), **self.constraints}


@frozen
class Checked:
    """A function that returns the value of a field, or raises a ValueError.

    Attributes:
        first: It gets the value as the file has it, before its type is checked.
    """

    function: Callable[[Any], Any]
    first: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: Callable[[Any], Any]) -> Any:
        kind = "function-before" if self.first else "function-after"
        function = {"type": "no-info", "function": self.function}
        return {"type": kind, "function": function, "schema": handler(source)}


def written_as(pattern: str, advice: str) -> Checked:
    """A text that a pattern matches; an error advises how to write it."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(advice)
        return text

    return Checked(check)


@dataclass(frozen=True, slots=True, eq=False)
class JsonSchema:
    """The JSON schema of a field, where its type does not say it."""

    schema: Mapping[str, Any]

    def __get_pydantic_json_schema__(self, _core: Any, _handler: Any) -> dict[str, Any]:
        return dict(self.schema)


Text = Annotated[str, Limits(strip_whitespace=True, min_length=1)]


class Section:
    """A mapping in a file, as a dataclass; a key that it does not have is an error.

    `key:` without a value is no key, as if it were commented out. A field whose key has another
    name says so in its metadata: `{"key": "from"}`.
    """

    __slots__ = ()
    __pydantic_config__: Mapping[str, Any]

    def __init_subclass__(cls) -> None:
        cls.__pydantic_config__ = {"extra": "forbid", "alias_generator": cls._key}

    @classmethod
    def _key(cls, name: str) -> str:
        return section_keys(cls)[name]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Callable[[Any], Any]) -> Any:
        return Checked(without_empty_keys, first=True).__get_pydantic_core_schema__(source, handler)


def section_keys(section: type[Any]) -> dict[str, str]:
    """Field of a section -> its key in the file."""
    return {field.name: field.metadata.get("key", field.name) for field in fields(section)}


def without_empty_keys(value: Any) -> Any:
    """A mapping without the keys that have no value; anything else as it is."""
    if not isinstance(value, dict):
        return value
    return {key: entry for key, entry in value.items() if entry is not None}
