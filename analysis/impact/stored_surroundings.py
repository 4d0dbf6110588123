"""The surroundings of an impact graph as bytes: tests and owners, consumers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, fields
from typing import Any

from dbt_graft.analysis.impact.answer import Surroundings
from dbt_graft.analysis.impact.stored_graph import Sections
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description, NodeTest, Role
from dbt_graft.lineage.frozen import frozen

_CONSUMER = tuple(field.name for field in fields(Consumer))


def surroundings_sections(around: Surroundings) -> dict[str, bytes]:
    """Surroundings as bytes, by the names of their parts.

    Of descriptions only names, owners and tests are stored.
    """
    described = {
        _key(dataset): (
            *_pair(dataset),
            *(
                description.node_id,
                description.name,
                description.role,
                description.owner,
                [*map(astuple, description.tests)],
            ),
        )
        for dataset, description in around.descriptions.items()
        if description.owner or description.tests
    }
    consumers = [
        [_encode(getattr(consumer, name)) for name in _CONSUMER] for consumer in around.consumers
    ]
    return {
        "descriptions": _json(described),
        "consumers": _json(consumers),
        "owners": _json(dict(around.owners)),
        "open_tasks": _json([*around.open_tasks]),
    }


def read_surroundings(sections: Sections) -> Surroundings:
    """The surroundings that these bytes are of."""
    consumers = (dict(zip(_CONSUMER, row, strict=True)) for row in _value(sections["consumers"]))
    return Surroundings(
        _StoredDescriptions(_value(sections["descriptions"])),
        tuple(
            Consumer(
                **{
                    **attributes,
                    "reads": tuple(DatasetId(*read) for read in attributes["reads"]),
                    "known_reads": tuple(DatasetId(*read) for read in attributes["known_reads"]),
                    "tags": tuple(attributes["tags"]),
                    "columns": tuple(
                        (DatasetId(*read), name) for read, name in attributes["columns"]
                    ),
                }
            )
            for attributes in consumers
        ),
        _value(sections["owners"]),
        tuple(_value(sections["open_tasks"])),
    )


@frozen
class _StoredDescriptions(Mapping[DatasetId, Description]):
    """Descriptions by dataset, made when they are asked for."""

    rows: Mapping[str, Sequence[Any]]

    def __getitem__(self, dataset: DatasetId) -> Description:
        return _description(self.rows[_key(dataset)])

    def get(self, dataset: DatasetId, default: Any = None) -> Any:
        """The description of a dataset; most of many datasets have none."""
        row = self.rows.get(_key(dataset))
        return default if row is None else _description(row)

    def __iter__(self) -> Iterator[DatasetId]:
        return (DatasetId(*row[:2]) for row in self.rows.values())

    def __len__(self) -> int:
        return len(self.rows)


def _description(row: Sequence[Any]) -> Description:
    namespace, name, node_id, node_name, role, owner, tests = row
    node_tests = tuple(NodeTest(*test) for test in tests)
    return Description(
        DatasetId(namespace, name), node_id, node_name, Role(role), owner=owner, tests=node_tests
    )


def _key(dataset: DatasetId) -> str:
    return "\0".join(dataset.key)


def _encode(value: object) -> object:
    if isinstance(value, tuple):
        return [_encode(member) for member in value]
    return _pair(value) if isinstance(value, DatasetId) else value


def _pair(dataset: DatasetId) -> tuple[str, str]:
    return dataset.namespace, dataset.name


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _value(section: bytes | memoryview) -> Any:
    return json.loads(bytes(section))
