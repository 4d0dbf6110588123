"""A data contract in the YAML of the Open Data Contract Standard, 3.0 to 3.2.

https://bitol-io.github.io/open-data-contract-standard. Only what lineage needs is read; all else
may be there, in any form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from dbt_graft.analysis.checks.contract_servers import TableServer
from dbt_graft.analysis.checks.contracts import ContractColumn, ContractTable, DataContract
from dbt_graft.analysis.privacy.classification import classification
from dbt_graft.collectors.checked_yaml import read_yaml
from dbt_graft.collectors.contracts.document import (
    NO_CONTRACT,
    ContractDocument,
    ObjectPart,
    PropertyPart,
    ServerPart,
    as_list,
    resolve_variables,
)
from dbt_graft.collectors.contracts.promises import (
    Promise,
    apply_promises,
    column_bounds,
    column_promise,
    is_true,
)
from dbt_graft.lineage.errors import GraftError

_LARGEST = 5_000_000  # bytes
_MOST_NODES = 500_000  # with all aliases followed
_ENDED = ("retired",)
# `s3://lake/{model}/*.json`
_VARIABLE_PART = re.compile(r"\{\w+\}")
_QUOTES = str.maketrans("", "", '`"[]')


def read_contract(path: Path) -> DataContract | None:
    """The contract in a file; None of one that has ended.

    Raises:
        GraftError: It cannot be read, or is no contract of version 3; with the line.
    """
    _check_size(path)
    document = read_yaml(path, ContractDocument, NO_CONTRACT, partial(_check_aliases, path))
    if not document.api_version.lstrip("v").startswith("3."):
        raise GraftError(
            f"`apiVersion` is {document.api_version}; contracts of version 3 can be read",
            place=str(path),
            remedy="convert it: docs/declared.md#data-contracts",
        )
    if document.status.casefold() in _ENDED:
        return None
    promises = [
        Promise(sla.property, sla.value, sla.unit, sla.element or document.default_element)
        for sla in document.sla
    ]
    tables = [
        ContractTable(
            tuple(dict.fromkeys(_names(document.servers, table))),
            tuple(_columns(table.properties, "")),
            servers=tuple(_servers(document, table)),
            promises=tuple(column_bounds(table)),
        )
        for table in document.tables
    ]
    return DataContract(
        document.id,
        document.name or document.id,
        str(path),
        document.version,
        _owner(document),
        _text(document.description),
        document.tags,
        apply_promises(tables, promises),
        document.status.strip().casefold(),
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
    if _count_nodes(tree, {}) > _MOST_NODES:
        raise GraftError("has too many nested aliases", place=str(path))


def _count_nodes(node: yaml.Node, counts: dict[int, int]) -> int:
    if id(node) not in counts:
        counts[id(node)] = _MOST_NODES + 1  # A node inside itself has no end.
        children: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            children = node.value
        elif isinstance(node, yaml.MappingNode):
            children = [child for pair in node.value for child in pair]
        counts[id(node)] = 1 + sum(_count_nodes(child, counts) for child in children)
    return counts[id(node)]


def _names(servers: Sequence[ServerPart], table: ObjectPart) -> Iterator[str]:
    for names in _spellings(table):
        for name in names:
            for server in servers:
                yield from _names_on(server, name)
            yield name


def _spellings(table: ObjectPart) -> Iterator[list[str]]:
    """The physical name and the logical one, each with all of its parts and with fewer of them.

    The schema stays: `main.raw.orders` may be `raw.orders`, which says less of where it is.
    """
    for text in filter(None, (table.physical_name, table.name)):
        name = text.strip().translate(_QUOTES)
        if "/" in name:  # a location, or a dataset by its namespace: `spark/raw.orders`
            yield [name]
            continue
        # `project:dataset.table` is BigQuery's.
        parts = [part.strip() for part in name.replace(":", ".").split(".")]
        yield [".".join(parts[at:]) for at in range(max(len(parts) - 1, 1))]


def _names_on(server: ServerPart, table_name: str) -> Iterator[str]:
    schemas = server.schemas.split(".") if server.schemas else []
    yield from (".".join((*schemas[at:], table_name)) for at in range(len(schemas)))


def _servers(document: ContractDocument, table: ObjectPart) -> Iterator[TableServer]:
    """Those of production first; a topic without a server lies on Kafka."""
    servers = document.servers
    texts = [name for names in _spellings(table) for name in names]
    is_topic = table.physical_type.casefold() == "topic"
    for server in sorted(servers, key=lambda server: not server.is_production):
        names = [name for text in texts for name in (*_names_on(server, text), text)]
        location = resolve_variables(server.location)
        location = _VARIABLE_PART.sub(lambda _: texts[0], location)
        if server.topic and len(document.tables) == 1:
            names.insert(0, server.topic)
        database, schema = server.place
        # DuckDB's is a file; `a.b` as a schema is a database with one.
        database = "" if server.type.casefold() == "duckdb" else database
        *above, schema = f"{database}.{schema}".split(".")
        yield TableServer(
            *(server.type.casefold(), server.host, location, tuple(dict.fromkeys(names))),
            *(above[-1], schema, _digits(server.port)),
        )
    if is_topic and not servers:
        yield TableServer("kafka", names=tuple(texts))


def _digits(port: str) -> str:
    """A port, of a variable its default; empty for one that is not known."""
    text = resolve_variables(port).strip()
    return text if text.isdecimal() else ""


def _columns(properties: Sequence[PropertyPart], above: str) -> Iterator[ContractColumn]:
    for position, column in enumerate(properties, 1):
        own_name = column.physical_name or column.name
        name = f"{above}{own_name.strip().translate(_QUOTES)}"
        type_name = column.logical_type.casefold()
        labels = tuple(dict.fromkeys(_labels(column)))
        promise = column_promise(column, max(labels, key=_level, default=""))
        yield ContractColumn(name, labels, _partition(column, position), type_name, promise)
        yield from _columns(column.fields, f"{name}.")


def _labels(column: PropertyPart) -> Iterator[str]:
    """The classification, and the tags and custom properties that name one."""
    if text := column.classification.strip():
        yield text
    tags = as_list(column.tags)
    for text in (*(tags if isinstance(tags, list) else ()), *_custom_texts(column.custom)):
        if isinstance(text, str) and classification(text) is not None:
            yield text


def _custom_texts(custom: Any) -> Iterator[str]:
    """Properties of people's own, as tags have them: `pii`, which is true, `sensitivity: secret`.

    The standard has no `pii`: who converts a contract of the specification before it gets one here.
    """
    for entry in custom if isinstance(custom, list) else ():
        if isinstance(entry, dict):
            key, value = str(entry.get("property")), entry.get("value")
            yield key if is_true(value) else f"{key}: {value}"


def _level(label: str) -> int:
    level = classification(label)
    return -1 if level is None else level


def _partition(column: PropertyPart, position: int) -> int:
    """The place among the partition columns; that among all columns where none is written."""
    if not is_true(column.partitioned):
        return 0
    written = str(column.partition_position)
    return int(written) if written.isdecimal() and int(written) else position


def _owner(contract: ContractDocument) -> str:
    """The team's name, else who has the role of an owner; no addresses of people."""
    if contract.team.name:
        return contract.team.name
    owners = [member for member in contract.team.members if "owner" in member.role.casefold()]
    names = [name for owner in owners for name in (owner.username, owner.name)]
    names += [
        custom.value
        for custom in contract.custom
        if custom.property.casefold() == "owner" and isinstance(custom.value, str)
    ]
    return next((name for name in names if name and "@" not in name), "")


def _text(description: Any) -> str:
    if isinstance(description, dict):
        description = description.get("purpose")
    return description.strip() if isinstance(description, str) else ""
