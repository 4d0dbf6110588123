"""A data contract in the YAML of the Open Data Contract Standard, 3.0 and 3.1.

https://bitol-io.github.io/open-data-contract-standard. Only what lineage needs is read; all else
may be there, in any form.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from dbt_graft.collectors.checked_yaml import read_yaml
from dbt_graft.collectors.contracts.column_promises import column_promise, is_true
from dbt_graft.collectors.contracts.document import (
    NO_CONTRACT,
    ContractDocument,
    ObjectPart,
    PropertyPart,
    ServerPart,
)
from dbt_graft.collectors.contracts.promises import Promise, promised
from dbt_graft.lineage.contracts import ContractColumn, ContractTable, DataContract
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.privacy.classification import classification

_LARGEST = 5_000_000  # bytes
_MOST_NODES = 500_000  # with all aliases followed
_ENDED = ("retired",)
_QUOTES = str.maketrans("", "", '`"[]')


def read_contract(path: Path) -> DataContract | None:
    """The contract in a file; None of one that has ended.

    Raises:
        GraftError: It cannot be read, or is no contract of version 3; with the line.
    """
    _check_size(path)
    found = read_yaml(path, ContractDocument, NO_CONTRACT, partial(_check_aliases, path))
    if not found.api_version.lstrip("v").startswith("3."):
        raise GraftError(
            f"`apiVersion` is {found.api_version}; contracts of version 3 can be read",
            place=str(path),
            remedy="convert it: docs/contracts.md",
        )
    if found.status.casefold() in _ENDED:
        return None
    promises = [
        Promise(one.property, one.value, one.unit, one.element or found.default_element)
        for one in found.sla
    ]
    tables = [
        ContractTable(
            tuple(dict.fromkeys(_names(found.servers, one))), tuple(_columns(one.properties, ""))
        )
        for one in found.tables
    ]
    return DataContract(
        found.id,
        found.name or found.id,
        str(path),
        found.version,
        _owner(found),
        _text(found.description),
        found.tags,
        promised(tables, promises),
    )


def _check_size(path: Path) -> None:
    try:
        is_large = path.stat().st_size > _LARGEST
    except OSError:
        return  # `read_yaml` says it better.
    if is_large:
        raise GraftError(
            "is larger than 5 MB, too large for a contract",
            place=str(path),
            remedy="write a contract for some of its tables each",
        )


def _check_aliases(path: Path, tree: yaml.Node) -> None:
    """Refuse small files of nested aliases, which would fill the memory."""
    if _nodes(tree, {}) > _MOST_NODES:
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


def _names(servers: Sequence[ServerPart], one: ObjectPart) -> Iterator[str]:
    for text in filter(None, (one.physical_name, one.name)):
        table = text.translate(_QUOTES)
        for server in servers:
            schemas = server.schemas.split(".") if server.schemas else []
            yield from (".".join((*schemas[at:], table)) for at in range(len(schemas)))
        yield table


def _columns(properties: Sequence[PropertyPart], above: str) -> Iterator[ContractColumn]:
    for place, one in enumerate(properties, 1):
        name = f"{above}{one.physical_name or one.name}"
        type_name = one.logical_type.casefold()
        promise = column_promise(one, _label(one))
        yield ContractColumn(name, _label(one), _partition(one, place), type_name, promise)
        yield from _columns(one.fields, f"{name}.")


def _label(one: PropertyPart) -> str:
    """The classification; else the first tag that is one."""
    tags = one.tags if isinstance(one.tags, list) else []
    named = (tag for tag in tags if isinstance(tag, str) and classification(tag) is not None)
    return one.classification.strip() or next(named, "")


def _partition(one: PropertyPart, place: int) -> int:
    """The place among the partition columns; that among all columns where none is written."""
    if not is_true(one.partitioned):
        return 0
    written = str(one.partition_position)
    return int(written) if written.isdecimal() and int(written) else place


def _owner(contract: ContractDocument) -> str:
    """The team's name, else who has the role of an owner; no addresses of people."""
    if contract.team.name:
        return contract.team.name
    owners = [one for one in contract.team.members if "owner" in one.role.casefold()]
    names = [name for one in owners for name in (one.username, one.name)]
    names += [
        one.value
        for one in contract.custom
        if one.property.casefold() == "owner" and isinstance(one.value, str)
    ]
    return next((one for one in names if one and "@" not in one), "")


def _text(description: Any) -> str:
    if isinstance(description, dict):
        description = description.get("purpose")
    return description.strip() if isinstance(description, str) else ""
