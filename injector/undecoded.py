"""JSON that stays text: tests, most of a manifest's nodes, and what only a file shall hold.

A graft asks only for the names of tests, and writes them as they were: not decoding them saves a
tenth of its time, and of its memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, KeysView, Mapping
from functools import cached_property
from typing import Any

import msgspec
import orjson

from dbt_graft.injector.malformed import MANIFEST, value_decoder

_NAMES = ("resource_type", "name", "unique_id", "package_name")


class Undecoded(Mapping[str, Any]):
    """An object of JSON, decoded when more than its names is asked for.

    Args:
        content: Its JSON in UTF-8.
        names: Fields that are known.
    """

    def __init__(
        self, content: bytes | msgspec.Raw, names: Mapping[str, str] | None = None
    ) -> None:
        self._content, self._names = content, names or {}

    @property
    def content(self) -> bytes:
        """Its JSON in UTF-8."""
        return bytes(self._content)

    @cached_property
    def _fields(self) -> Mapping[str, Any]:
        try:
            fields: Mapping[str, Any] = orjson.loads(self.content)
        except orjson.JSONDecodeError:
            fields = json.loads(self.content)  # a number is larger than any float
        return fields

    def __getitem__(self, key: str) -> Any:
        return self._names[key] if key in self._names else self._fields[key]

    def get(self, key: str, default: Any = None) -> Any:
        """As that of `Mapping`, in a third of the time."""
        return self._names[key] if key in self._names else self._fields.get(key, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


def decode_manifest(content: bytes) -> dict[str, Any] | None:
    """Decode a manifest up to its tests; None if a value is malformed, or it is no JSON.

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
        check = value_decoder(MANIFEST["nodes"][str]).decode
        sources = (manifest.get("sources") or {}).keys()
        manifest["nodes"] = {
            key: _node(raw, check(raw), sources) for key, raw in split(parts["nodes"]).items()
        }
    # Whoever decodes it otherwise finds the place of what is wrong.
    except (msgspec.MsgspecError, ValueError, RecursionError, KeyError):
        return None
    return manifest


def _node(raw: msgspec.Raw, values: Any, sources: KeysView[str]) -> Any:
    has_names = values.resource_type == "test" and isinstance(values.package_name, str)
    if not has_names or _may_be_promoted(values, sources):
        return orjson.loads(memoryview(raw))
    content = bytes(raw)
    if not content.isascii():  # and perhaps no UTF-8 either
        return orjson.loads(content)
    return Undecoded(content, {key: getattr(values, key) for key in _NAMES})


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
