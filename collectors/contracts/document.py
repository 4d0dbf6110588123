"""The document of a data contract: what lineage needs; all else may be there, in any form."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field, model_validator

from dbt_graft.collectors.contracts.specification import to_standard
from dbt_graft.lineage.redaction import redact_json
from dbt_graft.lineage.section import YamlMapping

NO_CONTRACT = "is no data contract: it must hold `kind: DataContract`"
_VARIABLE = re.compile(r"\$\{\w+(?::-(?P<otherwise>[^}]*))?\}")


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class Part(YamlMapping):
    """A mapping of which some keys are read."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)


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
        database = self.database or self.catalog or self.project
        schema = self.schema_name or self.dataset or self.namespace
        return ".".join(filter(None, map(resolve_variables, (database, schema))))

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
    tags: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = ()
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
