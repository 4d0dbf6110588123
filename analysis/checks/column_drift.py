"""Drift of columns: dbt's catalog and YAML, against the columns that logs show."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from dbt_graft.analysis.checks.column_types import is_same_type
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Column, Dataset

# Some projects test expressions: `lower(mail)`, `doc->>'id'`.
_NAME = re.compile(r"[^()'<>|:*]+")
# Columns that tables have without being made with them, in Spark, Delta, Iceberg and databases.
_HIDDEN = frozenset(
    [
        "_metadata",
        "_file",
        "_pos",
        "_spec_id",
        "_partition",
        "_deleted",
        "_change_type",
        "_change_ordinal",
        "_commit_version",
        "_commit_timestamp",
        "_commit_snapshot_id",
        "_tmp_metadata_row_index",
        "_partitiontime",
        "_partitiondate",
        "_table_suffix",
        "_file_name",
        "ctid",
        "xmin",
        "xmax",
        "cmin",
        "cmax",
        "tableoid",
        "rowid",
        "rownum",
        "ora_rowscn",
    ]
)


class ColumnDriftStatus(StrEnum):
    """The status of a column on which dbt and the logs do not agree.

    UNDECLARED: a task reads or writes it, and the catalog lacks it. PHANTOM: YAML describes it, and
    neither the catalog nor a log has it. RETYPED: a log shows another type than the catalog.
    """

    UNDECLARED = "UNDECLARED"
    PHANTOM = "PHANTOM"
    RETYPED = "RETYPED"


@frozen
class ColumnDrift:
    """A column on which dbt and the logs do not agree.

    Attributes:
        in_catalog, seen: Its types; empty where it is not there, or its type is not known.
        seen_at: When a log last showed it.
    """

    dataset: DatasetId
    column: str
    status: ColumnDriftStatus
    in_catalog: str = ""
    seen: str = ""
    seen_at: datetime | None = None


@frozen
class DbtColumns:
    """The columns that dbt knows of its nodes.

    Attributes:
        cataloged: Dataset -> its columns in catalog.json; without those that it lacks.
        described: Dataset -> the columns that YAML names.
    """

    cataloged: Mapping[DatasetId, Sequence[Column]]
    described: Mapping[DatasetId, Sequence[str]]


def column_drift(
    dbt_columns: DbtColumns, seen: Iterable[Dataset], written_at: Mapping[DatasetId, datetime]
) -> list[ColumnDrift]:
    """The columns on which they do not agree, by dataset.

    Args:
        seen: What logs show of datasets, one record for each set of columns, with its times.
        written_at: The last write of datasets: what was seen before may be gone by right.
    """
    by_dataset: dict[DatasetId, list[Dataset]] = defaultdict(list)
    for record in seen:
        if record.id in dbt_columns.cataloged and record.columns:
            by_dataset[record.id].append(record)
    drifts: list[ColumnDrift] = []
    for dataset, columns in sorted(dbt_columns.cataloged.items()):
        current = _newest_columns(by_dataset[dataset], written_at.get(dataset))
        cataloged = {column.name.casefold(): column for column in columns}
        drifts += _compare_columns(dataset, cataloged, current)
        for name in dbt_columns.described.get(dataset, ()):
            if not _is_among(name, cataloged.keys() | current.keys()):
                drifts.append(ColumnDrift(dataset, name, ColumnDriftStatus.PHANTOM))
    return drifts


_Seen = Mapping[str, tuple[Column, datetime | None]]


def _newest_columns(records: Iterable[Dataset], since: datetime | None) -> _Seen:
    """Folded name -> the column as the newest record shows it, of the time since the last write."""
    newest: dict[str, tuple[Column, datetime | None]] = {}
    dated = [record for record in records if record.last_seen is not None]
    for record in sorted(dated, key=lambda record: record.last_seen or datetime.min):
        if since is None or (record.last_seen and record.last_seen >= since):
            newest |= {
                column.name.casefold(): (column, record.last_seen) for column in record.columns
            }
    return newest


def _compare_columns(
    dataset: DatasetId, cataloged: Mapping[str, Column], current: _Seen
) -> Iterator[ColumnDrift]:
    for key, (column, at) in sorted(current.items()):
        catalog_column = cataloged.get(key)
        if catalog_column is None:
            if _is_among(column.name, cataloged.keys()):
                continue
            status = ColumnDriftStatus.UNDECLARED
            yield ColumnDrift(dataset, column.name, status, seen=column.type, seen_at=at)
        elif (
            column.type
            and catalog_column.type
            and not is_same_type(column.type, catalog_column.type)
        ):
            status = ColumnDriftStatus.RETYPED
            yield ColumnDrift(
                dataset, catalog_column.name, status, catalog_column.type, column.type, at
            )


def _is_among(name: str, columns: Collection[str]) -> bool:
    """Whether columns have a name, or what it is a field of; so of what is no column of a table."""
    folded = name.strip('"`').casefold()
    if folded in _HIDDEN or not _NAME.fullmatch(folded):
        return True
    parts = folded.split(".")
    return any(".".join(parts[:end]) in columns for end in range(1, len(parts) + 1))
