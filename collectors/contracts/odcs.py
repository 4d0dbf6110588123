"""A data contract in the YAML of the Open Data Contract Standard, 3.0 and 3.1.

https://bitol-io.github.io/open-data-contract-standard. Only what lineage needs is read; all else
may be there, in any form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from dbt_graft.collectors.checked_yaml import read_yaml
from dbt_graft.lineage.contracts import ContractColumn, ContractTable, DataContract
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.quality.times import length, time_of_day

_LARGEST = 5_000_000  # bytes
_MOST_NODES = 500_000  # with all aliases followed
# Names of SLA properties, with the short ones of the standard.
_AGES = ("latency", "ly", "freshness")
_AVAILABLE = ("timeofavailability", "ta")
_ENDED = ("retired",)


class _Loose(BaseModel):
    """A mapping of which some keys are read; `key:` without a value is no key."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _without_empty_keys(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: one for key, one in value.items() if one is not None}


class _Property(_Loose):
    name: str
    physical_name: str = Field(default="", alias="physicalName")
    classification: str = ""
    properties: tuple[_Property, ...] = ()
    items: _Items | None = None


class _Items(_Loose):
    properties: tuple[_Property, ...] = ()


class _Object(_Loose):
    name: str
    physical_name: str = Field(default="", alias="physicalName")
    properties: tuple[_Property, ...] = ()


class _Server(_Loose):
    database: str = ""
    catalog: str = ""
    project: str = ""
    schema_name: str = Field(default="", alias="schema")
    dataset: str = ""


class _Sla(_Loose):
    property: str
    value: Any = None
    unit: str = ""
    element: str = ""


class _TeamMember(_Loose):
    username: str = ""
    role: str = ""


class _Team(_Loose):
    name: str = ""
    members: tuple[_TeamMember, ...] = ()


class _Contract(_Loose):
    kind: Literal["DataContract"]
    api_version: str = Field(alias="apiVersion")
    id: str
    name: str = ""
    version: str = ""
    status: str = ""
    description: Any = None
    tags: tuple[str, ...] = ()
    servers: tuple[_Server, ...] = ()
    tables: tuple[_Object, ...] = Field(default=(), alias="schema")
    team: _Team | tuple[_TeamMember, ...] = _Team()
    sla: tuple[_Sla, ...] = Field(default=(), alias="slaProperties")
    default_element: str = Field(default="", alias="slaDefaultElement")


def read_contract(path: Path) -> DataContract | None:
    """The contract in a file; None of one that has ended.

    Raises:
        GraftError: It cannot be read, or is no contract of version 3; with the line.
    """
    _check_size(path)
    found = read_yaml(path, _Contract, "is no data contract: it must hold `kind: DataContract`")
    if not found.api_version.lstrip("v").startswith("3."):
        raise GraftError(
            f"`apiVersion` is {found.api_version}; contracts of version 3 can be read",
            place=str(path),
            remedy="convert it: docs/contracts.md",
        )
    if found.status.casefold() in _ENDED:
        return None
    return DataContract(
        found.id,
        found.name or found.id,
        str(path),
        found.version,
        _owner(found.team),
        _text(found.description),
        found.tags,
        tuple(_table(found, one) for one in found.tables),
    )


def _check_size(path: Path) -> None:
    """Refuse files that would fill the memory: large ones, and small ones of nested aliases."""
    try:
        if path.stat().st_size > _LARGEST:
            raise GraftError("is too large for a contract", place=str(path))
        tree = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        return  # `read_yaml` says it better.
    if tree and _nodes(tree, {}) > _MOST_NODES:
        raise GraftError("has too many nested aliases", place=str(path))


def _nodes(node: yaml.Node, known: dict[int, int]) -> int:
    """The number of nodes with all aliases followed."""
    if id(node) not in known:
        known[id(node)] = _MOST_NODES + 1  # A node inside itself has no end.
        children: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            children = node.value
        elif isinstance(node, yaml.MappingNode):
            children = [one for pair in node.value for one in pair]
        known[id(node)] = 1 + sum(_nodes(one, known) for one in children)
    return known[id(node)]


def _table(contract: _Contract, one: _Object) -> ContractTable:
    slo = deadline = ""
    for sla in contract.sla:
        element = sla.element or contract.default_element
        tables = {part.strip().split(".")[0].casefold() for part in element.split(",")}
        if element and tables.isdisjoint((one.name.casefold(), one.physical_name.casefold())):
            continue
        word = sla.property.casefold()
        if word in _AGES and not slo:
            slo = _length(sla)
        elif word in _AVAILABLE and not deadline:
            deadline = _clock(sla.value)
    return ContractTable(
        tuple(dict.fromkeys(_names(contract.servers, one))),
        tuple(_columns(one.properties, "")),
        slo,
        deadline,
    )


def _names(servers: Sequence[_Server], one: _Object) -> Iterator[str]:
    for table in filter(None, (one.physical_name, one.name)):
        for server in servers:
            schema = server.schema_name or server.dataset
            database = server.database or server.catalog or server.project
            if schema and database:
                yield f"{database}.{schema}.{table}"
            if schema:
                yield f"{schema}.{table}"
        yield table


def _columns(properties: Sequence[_Property], above: str) -> Iterator[ContractColumn]:
    for one in properties:
        name = f"{above}{one.physical_name or one.name}"
        yield ContractColumn(name, one.classification.strip())
        of_items = one.items.properties if one.items else ()
        yield from _columns((*one.properties, *of_items), f"{name}.")


def _length(sla: _Sla) -> str:
    """`4` and `d` as `4d`; empty where it is no length of time."""
    unit = {"min": "m", "minute": "m"}.get(sla.unit.casefold(), sla.unit.casefold()[:1])
    text = str(sla.value).strip()
    return next((one for one in (f"{text}{unit}", text) if length(one)), "")


def _clock(value: Any) -> str:
    """A time of day as text: YAML reads `08:00` as a number of minutes."""
    text = f"{value // 60:02}:{value % 60:02}" if isinstance(value, int) else str(value).strip()
    return text if time_of_day(text) else ""


def _owner(team: _Team | tuple[_TeamMember, ...]) -> str:
    """The team's name, else who has the role of an owner; no addresses of people."""
    if isinstance(team, _Team) and team.name:
        return team.name
    members = team.members if isinstance(team, _Team) else team
    owners = (one.username for one in members if "owner" in one.role.casefold())
    return next((one for one in owners if one and "@" not in one), "")


def _text(description: Any) -> str:
    if isinstance(description, dict):
        description = description.get("purpose")
    return description.strip() if isinstance(description, str) else ""
