"""Configuration and properties of dbt's nodes, as a review compares them.

`config` has the values and `unrendered_config` how they are written, as dbt's own `state:modified`
compares them; what stands in neither, each kind of node has as properties of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import orjson

from dbt_graft.analysis.review.settings import ReviewedSetting, Settings, is_dbt_setting
from dbt_graft.collectors.dbt.models import Document
from dbt_graft.collectors.statements.outline.keys import digest

# These are compared elsewhere: as relation, materialization, contract, description, or as a node
# that is no longer there.
_TEXTS = {"tags", "meta", "docs", "description"}
_ELSEWHERE = {
    *("alias", "schema", "database", "target_schema", "target_database", "materialized"),
    *("contract", "enabled"),
}
_DEFAULTS: dict[str, Any] = {
    "lookback": 1,
    "on_schema_change": "ignore",
    "on_configuration_change": "apply",
    "severity": "ERROR",
    "fail_calc": "count(*)",
    "warn_if": "!= 0",
    "error_if": "!= 0",
    "access": "protected",
    "maturity": None,
}
# Kind -> the properties that are no configuration.
_PROPERTIES: dict[str, tuple[str, ...]] = {
    "model": ("access", "group", "latest_version", "deprecation_date", "fqn"),
    "seed": ("group", "fqn"),
    "snapshot": ("group", "fqn"),
    "test": ("description", "fqn"),
    "source": (
        *("freshness", "loaded_at_field", "loaded_at_query", "quoting", "external", "loader"),
        "fqn",
    ),
    "exposure": ("type", "owner", "maturity", "url", "label", "depends_on", "fqn"),
    "metric": ("type", "type_params", "filter", "time_granularity", "label", "fqn"),
    "semantic_model": (
        *("model", "defaults", "entities", "dimensions", "measures", "primary_entity", "label"),
        "fqn",
    ),
    "saved_query": ("query_params", "exports", "label", "fqn"),
    "function": ("arguments", "returns", "fqn"),
    "unit_test": ("given", "expect", "overrides", "versions", "description", "fqn"),
}
_ENVIRONMENT = re.compile(r"\b(?:target|env_var)\b")
_VARIABLE = re.compile(r"\bvar\s*\(")
_PLAIN = re.compile(r"[A-Za-z_+]{1,30}|\d{4}-\d\d-\d\d")


def node_settings(node: Document) -> dict[str, ReviewedSetting]:
    """The configuration and properties of a node, by name, without those that are as by default."""
    kind = str(node.get("resource_type"))
    written = node.get("unrendered_config") or {}
    elsewhere = _ELSEWHERE if kind in ("test", "unit_test") else _ELSEWHERE | _TEXTS
    settings = {}
    for name, value in (node.get("config") or {}).items():
        text = written.get(name, written.get(name.replace("-", "_")))
        if name not in elsewhere and (setting := _setting(name, value, text)):
            settings[name.replace("-", "_")] = setting
    for name in _PROPERTIES.get(kind, ()):
        value = node.get(name)
        if name == "depends_on":
            value = sorted((value or {}).get("nodes") or ())
        if setting := _setting(name, value, written.get(name)):
            settings[name] = setting
    return settings


def test_settings(test: Document, macros: str) -> dict[str, ReviewedSetting]:
    """The configuration, arguments and query of a test.

    Args:
        macros: The digest of the macros behind it.
    """
    metadata = test.get("test_metadata")
    parts: dict[str, Any] = {"macros": macros}
    if isinstance(metadata, Mapping):
        arguments = metadata.get("kwargs") or {}
        left_out = ("model", "column_name")
        parts["test_arguments"] = {
            key: value for key, value in arguments.items() if key not in left_out
        }
    else:
        parts["query"] = test.get("raw_code")
    made = {name: setting for name, value in parts.items() if (setting := _setting(name, value))}
    return node_settings(test) | made


def _setting(name: str, value: Any, written: Any = None) -> ReviewedSetting | None:
    if value is None or value in ("", [], {}):
        return None
    value = _without_nothing(value)
    if name == "severity" and isinstance(value, str):
        value = value.upper()
    if value is None or value == _DEFAULTS.get(name.replace("-", "_")):
        return None
    text = "" if written is None else setting_text(_without_nothing(written))
    shown = str(value) if isinstance(value, bool | int) else ""
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        shown = value
    by_environment = bool(_ENVIRONMENT.search(text)) and not _VARIABLE.search(text)
    return ReviewedSetting(
        digest(setting_text(value)), digest(text) if text else "", shown, by_environment
    )


def _without_nothing(value: Any) -> Any:
    """A value without what is empty in it, which one version of dbt writes and another does not."""
    if isinstance(value, Mapping):
        parts = {key: _without_nothing(part) for key, part in value.items()}
        return {key: part for key, part in parts.items() if part is not None} or None
    if isinstance(value, list):
        return [_without_nothing(part) for part in value] or None
    return None if value == "" else value


def setting_text(value: Any) -> str:
    """A value as text, of which equal values have one."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=str).decode()


def written_relation(node: Document) -> tuple[str, str]:
    """The relation of a node as it is configured, and the schema it is built in.

    What the target decides is left out: CI builds in a schema of its own. Where a source is, its
    own properties say. What a variable decides counts as it is in this version.
    """
    place = ".".join(str(node.get(key) or "") for key in ("database", "schema")).casefold()
    identifier = node.get("identifier") or node.get("alias") or node.get("name") or ""
    written, config = node.get("unrendered_config"), node.get("config") or {}
    if node.get("resource_type") == "source":
        parts = [
            _part(node.get(f"unrendered_{key}") or node.get(key), node.get(key))
            for key in ("database", "schema")
        ]
        return ".".join([*parts, str(identifier)]), place
    if not isinstance(written, Mapping):
        return f".{config.get('schema') or ''}.{identifier}", place
    # A snapshot may have words of its own for both.
    keys = ("database", "target_database"), ("schema", "target_schema")
    parts = ["".join(_part(written.get(key), config.get(key)) for key in places) for places in keys]
    name = _part(written.get("alias"), config.get("alias"))
    return ".".join([*parts, str(name or node.get("identifier") or node.get("name") or "")]), place


def _part(written: Any, rendered: Any) -> str:
    """A part of a relation's name as it is written, or as a variable makes it."""
    text = str(written or "")
    return str(rendered or text) if _VARIABLE.search(text) else text


def _macro_texts(manifest: Document) -> dict[str, str]:
    macros: Document = manifest.get("macros") or {}
    return {key: str(macro.get("macro_sql") or "") for key, macro in macros.items()}


class MacroDigests:
    """The macros of a project: the digest of those that a node may use and that are others.

    Args:
        other: The manifest that it is compared with.
    """

    def __init__(self, manifest: Document, other: Document) -> None:
        macros: Document = manifest.get("macros") or {}
        self._texts = _macro_texts(manifest)
        texts = _macro_texts(other)
        self._others = {
            key for key in {*self._texts, *texts} if self._texts.get(key) != texts.get(key)
        }
        self._used = {
            key: tuple((macro.get("depends_on") or {}).get("macros") or ())
            for key, macro in macros.items()
        }
        self._named: dict[str, bool] = {}
        self._known: dict[tuple[str, ...], str] = {}
        self.all = digest(*(f"{key} {text}" for key, text in sorted(self._texts.items())))

    def of(self, node: Document) -> str:
        """The digest of the macros behind a node that are others; empty where none is."""
        if not self._others:
            return ""
        named = tuple((node.get("depends_on") or {}).get("macros") or ())
        if named not in self._known:
            reached: set[str] = set()
            waiting = [macro for macro in named if macro]
            while waiting:
                macro = waiting.pop()
                if macro not in reached:
                    reached.add(macro)
                    waiting += [other for other in self._used.get(macro, ()) if other]
            texts = [f"{key} {self._texts.get(key)}" for key in sorted(reached & self._others)]
            self._known[named] = digest(*texts) if texts else ""
        return self._known[named]

    def read(self, settings: Settings, code: str) -> Settings:
        """Settings, of which those that nobody reads are marked: a team may have its own.

        Args:
            code: That of the node itself, before it is compiled.
        """
        return {
            name: setting._replace(is_unread=not (is_dbt_setting(name) or self._name(name, code)))
            for name, setting in settings.items()
        }

    def _name(self, name: str, code: str) -> bool:
        if name not in self._named:
            self._named[name] = any(name in text for text in self._texts.values())
        return self._named[name] or bool(re.search(rf"\b{re.escape(name)}\b(?!\s*=)", code))

    def replacing(self, packages: Collection[str]) -> Iterator[tuple[str, str]]:
        """The macros that stand for one of dbt's own, and the digests of their texts."""
        parts = {key: key.split(".") for key in self._texts}
        own = {name[-1] for name in parts.values() if name[1:2] and name[1] in packages}
        for key, name in sorted(parts.items()):
            is_own = len(name) < 3 or name[1] in packages
            if not is_own and (name[-1] in own or name[-1].startswith("materialization_")):
                yield key, digest(self._texts[key])
