"""Labels of tables, columns and other nodes: what tags and `meta` say of their sensitivity.

Labels are returned as people wrote them, also those that no classification is called: an audience
must not see what nobody can classify. Only values that deny it (`pii: false`) are no labels.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dbt_graft.analysis.privacy.classification import classification
from dbt_graft.injector.inherited import meta
from dbt_graft.injector.manifest import Node, string_tags

# Keys whose value is a class of data: it is the label.
_CLASSES = ("sensitivity", "classification", "data_classification", "security_classification")
# Other keys about sensitivity, in `meta` and before the colon of a tag: `pii`, `pii_type`.
_KEY = re.compile(
    r"(?:^|_)(?:s?pii|phi|gdpr|hipaa|personal|personal_data|privacy|sensitiv\w*|confidential\w*"
    r"|classif\w*|restricted|secret|secrecy|policy_tags|masking_policy|column_mask"
    r"|databricks_tags)(?:_|$)"
)
# Tags without a value that say more than their first word: `pii_name`.
_KIND = re.compile(r"(?:s?pii|phi|gdpr|hipaa)_")
# Platforms have labels of their own beside `meta`.
_OF_PLATFORMS = ("policy_tags", "databricks_tags", "column_mask", "masking_policy")
_LABELLED = ("meta", "source_meta", "tags", *_OF_PLATFORMS)
# Written by `privacy: {in_dbt: …}` beside the label: the column that it comes from.
_NO_LABELS = frozenset({"classification_from", "graft"})
# What pages show for a tag, and for a key that is true.
_SHOWN = {
    "pii": "PII",
    "contains_pii": "PII",
    "has_pii": "PII",
    "is_pii": "PII",
    "phi": "PHI",
    "gdpr": "GDPR",
    "personal_data": "personal data",
    "personal": "personal data",
}
_TRUE = frozenset({"true", "yes", "y", "1"})
_FALSE = frozenset({"", "none", "no", "n", "false", "0", "null"})
_LONGEST = 40
# `contains-pii`, `containsPII`.
_BETWEEN_WORDS = re.compile(r"[\s-]+|(?<=[a-z])(?=[A-Z])")


def labels(nodes: Iterable[Node]) -> tuple[str, ...]:
    """The labels of a table, or of any other node.

    Several sources may describe a table, and each of them labels it.
    """
    return tuple(dict.fromkeys(label for node in nodes for label in _labels(node)))


def _labels(node: Node) -> Iterator[str]:
    config = node["config"] if isinstance(node.get("config"), Mapping) else {}
    values = {**meta([config]), **meta([node])}
    for part in (config, node):
        values |= {key: part[key] for key in _OF_PLATFORMS if part.get(key)}
    yield from _value_labels(values)
    yield from _tag_labels((*string_tags(node), *string_tags(config)))


def column_labels(nodes: Iterable[Node]) -> dict[str, tuple[str, ...]]:
    """Column -> its labels, of those that have any."""
    described: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        columns = node.get("columns")
        for name, column in columns.items() if isinstance(columns, Mapping) else ():
            if isinstance(column, Mapping) and _may_have_labels(column):
                described[str(name)].append(column)
    return {name: texts for name, columns in described.items() if (texts := labels(columns))}


def _may_have_labels(column: Node) -> bool:
    """Whether anything can label a column: most have empty tags and `meta`, of many thousands."""
    config = column.get("config")
    labels_config = isinstance(config, Mapping) and any(map(config.get, _LABELLED))
    return labels_config or any(map(column.get, _LABELLED))


def _value_labels(values: Mapping[str, Any]) -> Iterator[str]:
    folded = {_key(key): value for key, value in values.items()}
    for key in _CLASSES:
        yield from _classes(key, folded.get(key))
    for key, value in folded.items():
        if key in _CLASSES or key in _NO_LABELS:
            continue
        if _KEY.search(key):
            yield from _marks(key, value)
        elif isinstance(value, Mapping):
            yield from _value_labels(value)


def _classes(key: str, value: Any) -> Iterator[str]:
    """The values of a key such as `classification`."""
    if isinstance(value, list | tuple):
        for part in value:
            yield from _classes(key, part)
    elif isinstance(value, Mapping):
        yield from _marks(key, value)
    elif value is not None and str(value).strip().casefold() not in _FALSE:
        text = str(value).strip()
        yield _SHOWN.get(text.casefold(), text[:_LONGEST])


def _marks(key: str, value: Any) -> Iterator[str]:
    """The labels of a key such as `pii`, which is true or has a value of the team's own."""
    if isinstance(value, Mapping):
        inside = list(_value_labels(value))
        # `privacy: {level: 3}`: nobody can read it, and it says something.
        yield from inside or (
            label for name, part in value.items() for label in _marks(f"{key}.{name}", part)
        )
        return
    for part in value if isinstance(value, list | tuple) else (value,):
        text = "" if part is None else str(part).strip()
        if text.casefold() in _TRUE:
            yield _SHOWN.get(key, key)
        elif text.casefold() not in _FALSE:
            yield f"{key}: {text}"[:_LONGEST]


def _tag_labels(tags: Iterable[str]) -> Iterator[str]:
    for tag in tags:
        key, _, value = tag.replace("=", ":").partition(":")
        key = _key(key)
        if value and key in _CLASSES:
            yield from _classes(key, value)
        elif value and _KEY.search(key):
            yield from _marks(key, value)
        elif not value and (key in _SHOWN or classification(key) is not None or _KIND.match(key)):
            yield _SHOWN.get(key, key)


def _key(text: object) -> str:
    return _BETWEEN_WORDS.sub("_", str(text).strip()).casefold()
