"""Canaries: words that stand nowhere else, one in each string field that a schema allows.

A schema is walked, not listed: a field that a new version of it brings has its canary at once.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote

HIDDEN, SEEN = "zzk", "yyk"
HIDDEN_WORD = re.compile(HIDDEN + "[a-z2-7]{9}7")
AT = datetime(2026, 11, 20, 4, tzinfo=UTC)
_FORMATS = {
    "date-time": "{at}",
    "date": "2026-11-20",
    "time": "04:00:00",
    "uri": "https://{word}.example.com/{word}?of={beside}",
    "uuid": "{uuid}",
}
# Fields that hold names of the thing itself or of its columns, and of no person.
_OWN_NAME = re.compile(r"(?<!owner)\.(name|physicalName|namespace|field|\w*column)$")
# Forms of text that patterns ask for.
_FORMS = ("{word}", "spark/{word}.{word}", "spark/{word}.{word}.{word}")
_SCALARS: dict[str, Any] = {"boolean": True, "integer": 1, "number": 1.0, "null": None}
_NOTHING = object()


@dataclass
class Canaries:
    """Makes canaries and remembers where each stands.

    Attributes:
        owner: What they belong to; the paths of its fields begin with it.
        prefix: HIDDEN or SEEN.
        beside: Text in each field beside its canary.
        fields: Canary -> the path of its field.
    """

    owner: str
    prefix: str = HIDDEN
    beside: str = ""
    fields: dict[str, str] = field(default_factory=dict)

    def name(self, path: str) -> str:
        """The canary of a field, alone; the same each time."""
        digest = hashlib.blake2b(f"{self.owner} {path}".encode()).digest()
        word = f"{self.prefix}{base64.b32encode(digest)[:9].decode().lower()}7"
        self.fields[word] = f"{self.owner}: {path}"
        return word

    def text(self, path: str) -> str:
        """The content of a field; a name of the thing itself has nothing beside its canary."""
        beside = "" if _OWN_NAME.search(path) else self.beside
        return f"{self.name(path)} {beside}".strip()


@dataclass(frozen=True)
class SchemaWalk:
    """A JSON schema, of which objects with canaries in all strings are made.

    Attributes:
        document: The document that `#/…` points into.
        others: `$id` -> further documents, which it refers to.
        depth: So often a definition may stand inside itself.
    """

    document: Mapping[str, Any]
    others: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    depth: int = 1

    def filled(self, schema: Any, canaries: Canaries, path: str) -> Any:
        """A value of a schema with a canary in each string, each item and each free key."""
        return self._value(schema, canaries, path, ())

    def _value(self, schema: Any, canaries: Canaries, path: str, above: tuple[str, ...]) -> Any:
        if not isinstance(schema, Mapping):
            return canaries.text(path)
        if "$ref" in schema:
            return self._referred(schema["$ref"], canaries, path, above)
        if "const" in schema or "enum" in schema:
            return schema["const"] if "const" in schema else schema["enum"][0]
        options = schema.get("anyOf") or schema.get("oneOf")
        if options and "properties" not in schema:
            values = [self._value(option, canaries, path, above) for option in options]
            return max(values, key=lambda value: len([*strings(value)]))
        kind = schema.get("type")
        if kind == "object" or schema.keys() & {"properties", "allOf", "patternProperties"}:
            return self._object(schema, canaries, path, above)
        if kind == "array":
            return [*self._items(schema, canaries, path, above)]
        if kind in _SCALARS:
            return _SCALARS[kind]
        return _formed(schema, canaries, path)

    def _referred(self, target: str, canaries: Canaries, path: str, above: tuple[str, ...]) -> Any:
        if above.count(target) >= self.depth:
            return _NOTHING
        file, _, pointer = target.partition("#")
        walk = SchemaWalk(self.others[file], self.others, self.depth) if file else self
        schema: Any = walk.document
        for key in pointer.strip("/").split("/"):
            schema = schema[key] if key else schema
        return walk._value(schema, canaries, path, (*above, target))

    def _object(
        self, schema: Mapping[str, Any], canaries: Canaries, path: str, above: tuple[str, ...]
    ) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for part in schema.get("allOf", ()):
            value = self._value(part, canaries, path, above)
            result |= value if isinstance(value, dict) else {}
        for key, part in schema.get("properties", {}).items():
            result[key] = self._value(part, canaries, f"{path}.{key}", above)
        for number, part in enumerate(self._of_free_keys(schema)):
            key = f"{path}.{{{number}}}"
            result[canaries.name(f"{key} key")] = self._value(part, canaries, key, above)
        for pattern, part in schema.get("patternProperties", {}).items():
            key = _formed({"pattern": pattern}, canaries, f"{path}.{{}} key")
            result[key] = self._value(part, canaries, f"{path}.{{}}", above)
        return {key: value for key, value in result.items() if value is not _NOTHING}

    def _of_free_keys(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        free = schema.get("additionalProperties")
        if isinstance(free, Mapping):
            yield from free.get("anyOf") or [free]
        elif free or (free is None and "properties" not in schema and "allOf" not in schema):
            # Anything may stand there: a text, a list, a mapping.
            yield {}
            yield {"type": "array", "items": {}}
            yield {"type": "object", "additionalProperties": {"type": "string"}}

    def _items(
        self, schema: Mapping[str, Any], canaries: Canaries, path: str, above: tuple[str, ...]
    ) -> Iterator[Any]:
        items = schema.get("items", {})
        options = items.get("anyOf") if isinstance(items, Mapping) else None
        for number, part in enumerate(schema.get("prefixItems") or options or [items]):
            value = self._value(part, canaries, f"{path}[{number}]", above)
            if value is not _NOTHING:
                yield value


def _formed(schema: Mapping[str, Any], canaries: Canaries, path: str) -> str:
    form = _FORMATS.get(str(schema.get("format")))
    if form:
        word = canaries.name(path)
        digest = hashlib.md5(word.encode(), usedforsecurity=False).hexdigest()
        uuid = "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:]))
        beside = quote(canaries.beside)
        return form.format(word=word, at=AT.isoformat(), uuid=uuid, beside=beside)
    if pattern := schema.get("pattern"):
        forms = (form.format(word=canaries.name(path)) for form in _FORMS)
        return next((text for text in forms if re.search(pattern, text)), "")
    return canaries.text(path)


def strings(value: Any) -> Iterator[str]:
    """All texts in a value of JSON, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)


def filled_record(kind: type, canaries: Canaries, path: str, /, **fixed: Any) -> Any:
    """A dataclass with a canary in each text field.

    Args:
        fixed: The values of fields that have to be as they are.
    """
    hints = get_type_hints(kind)
    names = [item.name for item in fields(kind) if item.init and item.name not in fixed]
    values = {name: _of_type(hints[name], canaries, f"{path}.{name}") for name in names}
    return kind(**fixed, **{name: value for name, value in values.items() if value is not _NOTHING})


def _of_type(hint: Any, canaries: Canaries, path: str) -> Any:
    arguments = [item for item in get_args(hint) if item not in (NoneType, Ellipsis)]
    if get_origin(hint) in (UnionType, Union):
        return _of_type(arguments[0], canaries, path)
    if get_origin(hint) is tuple:
        value = _of_type(arguments[0], canaries, f"{path}[]")
        return _NOTHING if value is _NOTHING else (value,)
    if not isinstance(hint, type):
        return _NOTHING
    if issubclass(hint, Enum):
        return next(iter(hint))
    if is_dataclass(hint):
        return filled_record(hint, canaries, path) if _is_text(hint) else _NOTHING
    plain: dict[type, Any] = {bool: False, int: 1, float: 1.0, datetime: AT}
    return canaries.text(path) if hint is str else plain.get(hint, _NOTHING)


def _is_text(kind: type) -> bool:
    """Whether the fields of a dataclass are texts or lists of them: those need no rules."""
    return all(hint in (str, tuple[str, ...]) for hint in get_type_hints(kind).values())
