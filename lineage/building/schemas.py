"""Schemas: the columns that datasets have, by the newest log that defines all of them.

A log that makes a table, or overwrites it, names all columns that it has then. Any other names
those that its statements use: they come on top.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import ANY_COLUMN, Column, Dataset, Direction, Records, Status

_BEGINNING = datetime.min.replace(tzinfo=UTC)
_DEFINES = frozenset(
    {
        Operation.CREATE_TABLE,
        Operation.CREATE_TABLE_AS,
        Operation.CREATE_VIEW,
        Operation.INSERT_OVERWRITE,
        Operation.SELECT_INTO,
    }
)


def schemas(
    records: Records, lineage: Lineage, rename: Rename
) -> tuple[Mapping[DatasetId, tuple[Column, ...]], frozenset[DatasetId]]:
    """The columns of each dataset that has some, in the order in which they were first seen.

    Returns:
        They, and the datasets of which a log names all columns: others may have more.

    Args:
        lineage: The lineage that these records make under the names of the rules.
    """
    present = {
        former: dataset for dataset, names in lineage.names.former.items() for former in names
    }
    defined = {
        (access.origin, access.dataset)
        for access in records.accesses
        if access.direction is Direction.WRITE
        and access.operation in _DEFINES
        and access.status is not Status.FAILED
    }
    by_dataset: dict[DatasetId, dict[str, Column]] = {}
    complete: set[DatasetId] = set()
    for dataset in sorted(records.datasets, key=_last_seen):
        name = rename(dataset.id)
        name = present.get(name, name)
        if not dataset.columns or name not in lineage.datasets:
            continue
        if (dataset.origin, dataset.id) in defined:
            by_dataset[name] = {}
            complete.add(name)
        columns = by_dataset.setdefault(name, {})
        for column in dataset.columns:
            key = column.name.casefold()
            if key not in columns or column.type:
                columns[key] = column
    with_schema = frozenset(by_dataset)
    for edge in lineage.column_edges:
        for name, column_name in (
            (edge.to_dataset, edge.to_column),
            (edge.from_dataset, edge.from_column),
        ):
            if name not in with_schema and column_name != ANY_COLUMN:
                by_dataset.setdefault(name, {}).setdefault(
                    column_name.casefold(), Column(column_name)
                )
    columns_by_dataset = {name: tuple(by_dataset[name].values()) for name in sorted(by_dataset)}
    return columns_by_dataset, frozenset(complete)


def _last_seen(dataset: Dataset) -> tuple[datetime, str]:
    return dataset.last_seen or _BEGINNING, dataset.origin
