"""The document of a data contract: what lineage needs; all else may be there, in any form.

A contract of the Data Contract Specification (datacontract.com) as one of the Open Standard.

https://github.com/datacontract/datacontract-specification, 0.9 to 1.2. It ended in favour of the
Open Data Contract Standard, and what it has beside that is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from dbt_graft.lineage.redaction import redact_json
from dbt_graft.lineage.section import without_empty_keys

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
        "classification": of.get("classification"),
        "customProperties": [{"property": "pii", "value": of.get("pii")}],
        "required": of.get("required"),
        "unique": of.get("unique"),
        "primaryKey": of.get("primaryKey", of.get("primary")),
        "tags": of.get("tags"),
        "quality": of.get("quality"),
        "logicalTypeOptions": {key: of[key] for key in _BOUNDS if key in of},
        "properties": _properties(of.get("fields"), definitions, depth + 1),
        "items": {"properties": _properties(items.get("fields"), definitions, depth + 1)},
    }


def _service_level(name: str, level: Mapping[str, Any]) -> dict[str, Any]:
    value = level.get(_LEVELS.get(name, ""), level.get("cron"))
    return {
        "property": name,
        "value": _INTERVALS.get(str(value).casefold(), value),
        "element": next((level[key] for key in _COLUMN_OF if key in level), None),
    }


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


NO_CONTRACT = "is not a data contract: it must hold `kind: DataContract`"
_VARIABLE = re.compile(r"\$\{\w+(?::-(?P<otherwise>[^}]*))?\}")


def as_list(value: Any) -> Any:
    """A value, of which tools write one alone without the list."""
    return [value] if isinstance(value, str) else value


class Part(BaseModel):
    """A mapping of which some keys are read."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_empty_keys(cls, value: Any) -> Any:
        return without_empty_keys(value)


class NestedPart(Part):
    properties: tuple[PropertyPart, ...] = ()


class MapPart(Part):
    value: NestedPart | None = None


class PropertyPart(Part):
    name: str
    physical_name: str = Field(default="", alias="physicalName")
    logical_type: str = Field(default="", alias="logicalType")
    physical_type: str = Field(default="", alias="physicalType")
    options: Any = Field(default=None, alias="logicalTypeOptions")
    classification: str = ""
    required: Any = False
    unique: Any = False
    primary_key: Any = Field(default=False, alias="primaryKey")
    quality: Any = None
    custom: Any = Field(default=None, alias="customProperties")
    tags: Any = None
    partitioned: Any = False
    partition_position: Any = Field(default=None, alias="partitionKeyPosition")
    properties: tuple[PropertyPart, ...] = ()
    items: NestedPart | None = None
    map: MapPart | None = None

    @property
    def fields(self) -> tuple[PropertyPart, ...]:
        """The fields of an object, of the items of an array, and of the values of a map."""
        values = self.map.value if self.map else None
        nested = (part.properties for part in (self.items, values) if part)
        return (*self.properties, *(field for properties in nested for field in properties))


class ObjectPart(Part):
    name: str
    physical_name: str = Field(default="", alias="physicalName")
    physical_type: str = Field(default="", alias="physicalType")
    quality: Any = None
    properties: tuple[PropertyPart, ...] = ()


class ServerPart(Part):
    server: str = ""
    type: str = ""
    host: str = ""
    port: str = ""
    location: str = Field(default="", validation_alias=AliasChoices("location", "path"))
    environment: str = ""
    topic: str = ""
    database: str = ""
    catalog: str = ""
    project: str = ""
    schema_name: str = Field(default="", alias="schema")
    dataset: str = ""
    namespace: str = ""

    @property
    def schemas(self) -> str:
        """The database and the schema, as far as they are there: `main.raw`."""
        return ".".join(filter(None, self.place))

    @property
    def place(self) -> tuple[str, str]:
        """The database and the schema, empty where they are not written."""
        database = self.database or self.catalog or self.project
        schema = self.schema_name or self.dataset or self.namespace
        return resolve_variables(database), resolve_variables(schema)

    @property
    def is_production(self) -> bool:
        """Whether its name or its environment says so."""
        return f"{self.environment} {self.server}".casefold().lstrip().startswith("prod")


class SlaPart(Part):
    property: str
    value: Any = None
    unit: str = ""
    element: str = Field(default="", validation_alias=AliasChoices("element", "column"))


class TeamMember(Part):
    username: str = ""
    name: str = ""
    role: str = ""


class CustomPart(Part):
    property: str = ""
    value: Any = None


class TeamPart(Part):
    """The team: before version 3.1 the list of its members; some write its name only."""

    name: str = ""
    members: tuple[TeamMember, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _one_form(cls, value: Any) -> Any:
        if isinstance(value, list):
            return {"members": value}
        return {"name": value} if isinstance(value, str) else value


class ContractDocument(Part):
    kind: Literal["DataContract"]
    api_version: str = Field(alias="apiVersion")
    id: str = Field(validation_alias=AliasChoices("id", "uuid"))
    name: str = ""
    version: str = ""
    status: str = ""
    description: Any = None
    tags: Annotated[tuple[str, ...], BeforeValidator(as_list)] = ()
    servers: tuple[ServerPart, ...] = ()
    tables: tuple[ObjectPart, ...] = Field(default=(), alias="schema")
    team: TeamPart = TeamPart()
    custom: tuple[CustomPart, ...] = Field(default=(), alias="customProperties")
    sla: tuple[SlaPart, ...] = Field(default=(), alias="slaProperties")
    default_element: str = Field(default="", alias="slaDefaultElement")

    @model_validator(mode="before")
    @classmethod
    def _is_contract(cls, value: Any) -> Any:
        """The document without secrets, as some write into servers and descriptions."""
        if isinstance(value, dict):
            if "dataContractSpecification" in value:
                value = to_standard(value)
            if not value.keys() & {"kind", "apiVersion"}:
                raise ValueError(NO_CONTRACT)
        return redact_json(value)


def resolve_variables(text: str) -> str:
    """A text with the defaults of its variables; empty where one of them has none."""
    variables = [*_VARIABLE.finditer(text)]
    if any(variable["otherwise"] is None for variable in variables):
        return ""
    return _VARIABLE.sub(lambda variable: variable["otherwise"], text)
