"""JSON that stays text: tests, most of a manifest's nodes, columns, what only a file shall hold.

A graft asks only for the names of tests and of columns, and writes them as they were: decoding
them would take a sixth of its time, and of its memory.
"""

from __future__ import annotations

import json
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from functools import cached_property
from typing import Any

import msgspec
import orjson

from dbt_graft.injector.malformed import MANIFEST, value_decoder

_NODE = MANIFEST["nodes"][str]
_NAMES = ("resource_type", "name", "unique_id", "package_name")
# So much of the columns stands rarely twice in a node.
_BEGINNING = 64
_NULL, _EMPTY = b"null", b"{}"


_decode_columns = value_decoder(_NODE["columns"]).decode


class Undecoded(Mapping[str, Any]):
    """An object of JSON, decoded when more than its names is asked for.

    Args:
        content: Its JSON in UTF-8.
        names: Fields that are known.
        keys: The keys of all its fields, if they are known.
    """

    def __init__(
        self,
        content: bytes | msgspec.Raw,
        names: Mapping[str, str] | None = None,
        keys: tuple[str, ...] = (),
    ) -> None:
        self._content, self._names, self._keys = content, names or {}, keys

    @property
    def content(self) -> bytes:
        """Its JSON in UTF-8."""
        return bytes(self._content)

    @cached_property
    def _fields(self) -> dict[str, Any]:
        try:
            fields: dict[str, Any] = orjson.loads(self.content)
        except orjson.JSONDecodeError:
            fields = json.loads(self.content)  # a number is larger than any float
        return fields

    def __getitem__(self, key: str) -> Any:
        return self._names[key] if key in self._names else self._fields[key]

    def get(self, key: str, default: Any = None) -> Any:
        """As that of `Mapping`, in a third of the time."""
        return self._names[key] if key in self._names else self._fields.get(key, default)

    def items(self) -> ItemsView[str, Any]:
        """As that of `Mapping`, in a fifth of the time."""
        return self._fields.items()

    def values(self) -> ValuesView[Any]:
        """As `items`."""
        return self._fields.values()

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys or self._fields)

    def __len__(self) -> int:
        return len(self._keys or self._fields)


def decode_manifest(content: bytes) -> dict[str, Any] | None:
    """Decode a manifest up to its tests and columns; None if it is malformed, or no JSON.

    Its nodes are checked and decoded in turn: at once they would take much memory twice.
    """
    split = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
    try:
        parts = split(content)
        manifest: dict[str, Any] = dict.fromkeys(parts)
        for part, raw in parts.items():
            if part != "nodes":
                manifest[part] = orjson.loads(memoryview(raw))
                if part in MANIFEST and manifest[part] is not None:
                    value_decoder(MANIFEST[part]).decode(raw)
        check = _node_decoder().decode
        sources = (manifest.get("sources") or {}).keys()
        manifest["nodes"] = {
            key: _node(raw, check(raw), sources) for key, raw in split(parts["nodes"]).items()
        }
    # Whoever decodes it otherwise finds the place of what is wrong.
    except (msgspec.MsgspecError, ValueError, RecursionError, KeyError):
        return None
    return manifest


def _node_decoder() -> msgspec.json.Decoder[Any]:
    """The decoder of the values of a node, in which its columns stay text."""
    columns = ("columns", msgspec.Raw, msgspec.Raw(_NULL))
    checked = value_decoder(_NODE).type
    return msgspec.json.Decoder(
        msgspec.defstruct("CheckedNode", [columns], bases=(checked,), gc=False)
    )


def _node(raw: msgspec.Raw, values: Any, sources: KeysView[str]) -> Any:
    content, columns = bytes(raw), bytes(values.columns)
    keys = () if columns in (_NULL, _EMPTY) else tuple(_decode_columns(columns))
    has_names = values.resource_type == "test" and isinstance(values.package_name, str)
    if has_names and not _may_be_promoted(values, sources):
        if not content.isascii():  # and perhaps no UTF-8 either
            return orjson.loads(content)
        return Undecoded(raw, {key: getattr(values, key) for key in _NAMES})
    at = content.find(columns[:_BEGINNING])
    if keys and content.startswith(columns, at):
        node = orjson.loads(b"%bnull%b" % (content[:at], content[at + len(columns) :]))
        # Else the same text stands before them, in a field of its own.
        if node["columns"] is None:
            node["columns"] = _columns(values.columns, keys)
            return node
    return orjson.loads(content)


def _columns(raw: msgspec.Raw, keys: tuple[str, ...]) -> Undecoded:
    content = bytes(raw)
    if not content.isascii():
        content.decode()  # Nobody else sees whether it is UTF-8.
    # dbt-core writes blanks, which no other value of a model has when it is written again.
    is_spaced = b'": ' in content
    return Undecoded(msgspec.json.format(content, indent=-1) if is_spaced else raw, keys=keys)


def _may_be_promoted(values: Any, sources: KeysView[str]) -> bool:
    """Whether a node refers to a source in a way that `promote` looks for."""
    parents = (values.depends_on and values.depends_on.nodes) or ()
    return bool(
        not sources.isdisjoint((*parents, values.attached_node))
        or values.sources
        or values.given
        or "source" in str(values.raw_code)
        or str(values.file_key_name).startswith("sources.")
    )
