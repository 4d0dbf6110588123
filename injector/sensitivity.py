"""The sensitivity of tables and columns, as tags and `meta` of the dbt project name it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dbt_graft.injector.inherited import merged, meta
from dbt_graft.injector.manifest import Node, string_tags

# Keys of `meta` whose value is a class of data, and classes that need no protection.
_CLASSES = ("sensitivity", "classification", "data_classification", "security_classification")
_HARMLESS = frozenset({"", "public", "internal", "none", "no", "low", "false", "unclassified"})
# Tags, and keys of `meta` that are true or false -> what pages show.
_LABELS = {
    "pii": "PII",
    "contains_pii": "PII",
    "has_pii": "PII",
    "is_pii": "PII",
    "phi": "PHI",
    "gdpr": "GDPR",
    "personal": "personal data",
    "personal_data": "personal data",
    "sensitive": "sensitive",
    "confidential": "confidential",
    "restricted": "restricted",
    "secret": "secret",
}
_TRUE = frozenset({"true", "yes", "y", "1"})
_LONGEST = 40


def sensitivity(nodes: Iterable[Node]) -> str:
    """The sensitivity of a table, which several sources may describe; empty where none names it."""
    known = list(nodes)
    in_config = meta(node["config"] for node in known if isinstance(node.get("config"), Mapping))
    return _named(
        {**in_config, **meta(known)}, (tag for node in known for tag in string_tags(node))
    )


def column_sensitivities(nodes: Iterable[Node]) -> dict[str, str]:
    """Column -> its sensitivity, of those that have one."""
    found = {
        str(name): sensitivity([column])
        for name, column in merged(nodes, "columns").items()
        if isinstance(column, Mapping)
    }
    return {name: label for name, label in found.items() if label}


def _named(values: Mapping[str, Any], tags: Iterable[str]) -> str:
    folded = {str(key).casefold().replace("-", "_"): value for key, value in values.items()}
    for key in _CLASSES:
        value = folded.get(key)
        if isinstance(value, str) and value.strip().casefold() not in _HARMLESS:
            words = value.strip()
            return _LABELS.get(words.casefold(), words[:_LONGEST])
    marks = {key for key, value in folded.items() if str(value).strip().casefold() in _TRUE}
    marks |= {tag.strip().casefold().replace("-", "_") for tag in tags}
    return next((label for mark, label in _LABELS.items() if mark in marks), "")
