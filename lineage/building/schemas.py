"""Schemas: the columns that datasets have, by the newest log that defines all of them.

A log that makes a table, or overwrites it, names all columns that it has then. Any other names
those that its statements use: they come on top.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from dbt_graft.lineage.building.event_runs import is_event
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    ANY_COLUMN,
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Status,
)

_BEGINNING = datetime.min.replace(tzinfo=UTC)
# A log and a dataset.
_Part = tuple[str, DatasetId]


@frozen
class Schema:
    """The columns of a dataset in the order in which they were first seen.

    Attributes:
        defined_at: When a statement named all columns that it had then; None where none did.
    """

    columns: tuple[Column, ...]
    defined_at: datetime | None


def logged_schemas(
    recorded: Iterable[tuple[DatasetId, Dataset]], accesses: Iterable[Access]
) -> dict[DatasetId, Schema]:
    """The schemas of the datasets of which a log names columns.

    Args:
        recorded: What each log says of a dataset, below the dataset's name of today.
        accesses: Under the names of today.
    """
    defined, created = _definitions(accesses)
    columns: dict[DatasetId, dict[str, Column]] = {}
    defined_at: dict[DatasetId, datetime | None] = {}
    for name, dataset in sorted(recorded, key=_last_seen):
        if not dataset.columns:
            continue
        at = None
        if dataset.has_all_columns:
            part = dataset.origin, name
            at = defined.get(part, None if part in created else dataset.last_seen)
            at = at or (created.get(part) if name not in columns else None)
        if at or name not in columns:
            columns[name], defined_at[name] = {}, at
            folded = {column.name.casefold(): column for column in dataset.columns}
            if len(folded) == len(dataset.columns):  # as most often
                columns[name] = folded
                continue
        for column in dataset.columns:
            earlier = columns[name].setdefault(column.name.casefold(), column)
            if column.type not in ("", earlier.type):
                columns[name][column.name.casefold()] = Column(earlier.name, column.type)
    return {name: Schema((*columns[name].values(),), defined_at[name]) for name in columns}


def _definitions(
    accesses: Iterable[Access],
) -> tuple[Mapping[_Part, datetime], Mapping[_Part, datetime]]:
    """The times at which statements named all columns of a dataset, and created a table.

    `CREATE TABLE IF NOT EXISTS` leaves a table that is there as it is: one counts as defined where
    its log drops it, too. An event that says that a table was made knows it.
    """
    defined: dict[_Part, datetime] = {}
    created: dict[_Part, datetime] = {}
    dropped: set[_Part] = set()
    for access in accesses:
        if access.direction is Direction.READ or access.status is Status.FAILED:
            continue
        operation, part = access.operation, (access.origin, access.dataset)
        if operation.removes:
            dropped.add(part)
        elif operation.defines:
            may_be_there = operation is Operation.CREATE_TABLE and not is_event(access)
            times = created if may_be_there else defined
            times[part] = max(times.get(part, _BEGINNING), access.last_at or _BEGINNING)
    made_anew = {part: at for part, at in created.items() if part in dropped}
    return {**made_anew, **defined}, created


def columns_used_later(
    schemas: Mapping[DatasetId, Schema], edges: Iterable[ColumnEdge], accesses: Iterable[Access]
) -> dict[DatasetId, tuple[Column, ...]]:
    """The columns that edges name since all columns of a dataset were defined, without these.

    What else edges name was there before: it is gone.

    Args:
        edges: Each as often as logs have it.
    """
    defined = {name: schema.defined_at for name, schema in schemas.items() if schema.defined_at}
    listed = {
        name: {column.name.casefold() for column in schemas[name].columns} for name in defined
    }
    missing: dict[tuple[str, str, str], set[tuple[DatasetId, str]]] = defaultdict(set)
    for edge in edges if defined else ():
        ends = (edge.to_dataset, edge.to_column), (edge.from_dataset, edge.from_column)
        for dataset, name in ends:
            if dataset in listed and name.casefold() not in listed[dataset]:
                missing[edge.origin, edge.task, edge.shape_id].add((dataset, name))
    used_at: dict[tuple[str, str, str], datetime] = {}
    for access in accesses if missing else ():
        use = access.origin, access.task, access.shape_id
        if access.last_at and use in missing:
            used_at[use] = max(used_at.get(use, _BEGINNING), access.last_at)
    later: dict[DatasetId, dict[str, Column]] = defaultdict(dict)
    for use, columns in missing.items():
        for dataset, name in sorted(columns):
            # Of code and of what people wrote nobody knows the time.
            is_later = use not in used_at or used_at[use] >= defined[dataset]
            if is_later and name != ANY_COLUMN:
                later[dataset].setdefault(name.casefold(), Column(name))
    return {dataset: (*columns.values(),) for dataset, columns in later.items()}


def _last_seen(recorded: tuple[DatasetId, Dataset]) -> tuple[datetime, str]:
    _, dataset = recorded
    return dataset.last_seen or _BEGINNING, dataset.origin
