"""A contract of the Data Contract Specification (datacontract.com) as one of the Open Standard.

https://github.com/datacontract/datacontract-specification, 0.9 to 1.2. It ended in favour of the
Open Data Contract Standard, and what it has beside that is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt_graft.analysis.privacy.classification import Classification, classification

# Service level -> the key of its value.
_LEVELS = {
    "availability": "percentage",
    "backup": "interval",
    "freshness": "threshold",
    "frequency": "interval",
    "latency": "threshold",
    "retention": "period",
    "support": "time",
}
_COLUMN_OF = ("timestampField", "sourceTimestampField")
# Words for a frequency that are no length of time.
_INTERVALS = {"hourly": "1h", "daily": "1d", "weekly": "1w", "monthly": "30d", "yearly": "365d"}
_BOUNDS = ("enum", "format", "maxLength", "maximum", "minLength", "minimum", "pattern")
_DEEPEST = 20


def to_standard(contract: Mapping[str, Any]) -> dict[str, Any]:
    """The contract as a document of the standard; what is of another form stays as it is."""
    info, definitions = _mapping(contract.get("info")), _mapping(contract.get("definitions"))
    return {
        "kind": "DataContract",
        "apiVersion": "v3.0.0",
        "id": contract.get("id"),
        "name": info.get("title"),
        "version": info.get("version"),
        "status": info.get("status"),
        "description": {"purpose": info.get("description")},
        "tags": contract.get("tags"),
        "team": {"name": info.get("owner")},
        "servers": [
            {"server": name, **_mapping(server)}
            for name, server in _mapping(contract.get("servers")).items()
        ],
        "schema": [
            {
                "name": name,
                "physicalType": _mapping(model).get("type"),
                "quality": _mapping(model).get("quality"),
                "properties": _properties(_mapping(model).get("fields"), definitions),
            }
            for name, model in _mapping(contract.get("models")).items()
        ],
        "slaProperties": [
            _service_level(name, _mapping(level))
            for name, level in _mapping(contract.get("servicelevels")).items()
        ],
    }


def _properties(fields: Any, definitions: Mapping[str, Any], depth: int = 0) -> list[Any]:
    if depth > _DEEPEST:
        return []
    return [
        _property(str(name), _mapping(field), definitions, depth)
        for name, field in _mapping(fields).items()
    ]


def _property(
    name: str, field: Mapping[str, Any], definitions: Mapping[str, Any], depth: int
) -> dict[str, Any]:
    definition = _mapping(definitions.get(str(field.get("$ref", "")).rpartition("/")[2]))
    of = {**definition, **field}
    items = _mapping(of.get("items"))
    return {
        "name": name,
        "physicalType": of.get("type"),
        "classification": _classification(of),
        "required": of.get("required"),
        "unique": of.get("unique"),
        "primaryKey": of.get("primaryKey", of.get("primary")),
        "tags": of.get("tags"),
        "quality": of.get("quality"),
        "logicalTypeOptions": {key: of[key] for key in _BOUNDS if key in of},
        "properties": _properties(of.get("fields"), definitions, depth + 1),
        "items": {"properties": _properties(items.get("fields"), definitions, depth + 1)},
    }


def _classification(field: Mapping[str, Any]) -> Any:
    """The label of a field; PII where the flag `pii` says more than it."""
    label = field.get("classification")
    level = classification(str(label or ""))
    is_pii = field.get("pii") is True
    return "pii" if is_pii and (level is None or level < Classification.PII) else label


def _service_level(name: str, level: Mapping[str, Any]) -> dict[str, Any]:
    value = level.get(_LEVELS.get(name, ""), level.get("cron"))
    return {
        "property": name,
        "value": _INTERVALS.get(str(value).casefold(), value),
        "element": next((level[key] for key in _COLUMN_OF if key in level), None),
    }


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
