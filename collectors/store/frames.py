"""Records -> tables of the store as data frames, for what a collector finds without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from dbt_graft.collectors.store import SCHEMAS, Collected
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Dataset, Records

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frames(spark: SparkSession, records: Records, positions: Mapping[str, str]) -> Collected:
    """What `collectors.store.commit` takes.

    Args:
        positions: For each origin the position that was reached in it. A dataset belongs to the
            first of them.
    """

    def frame(table: str, rows: Iterable[Mapping[str, Any]]) -> DataFrame:
        return spark.createDataFrame([dict(row) for row in rows], SCHEMAS[table])

    origin = next(iter(positions), "")
    listed = spark.createDataFrame(
        [(place, position, 0, 0) for place, position in positions.items()],
        "origin string, position string, events bigint, noise bigint",
    )
    return Collected(
        accesses=frame("accesses", map(_row, records.accesses)),
        runs=frame("runs", map(_row, records.runs)),
        shapes=frame("shapes", map(_row, records.shapes.values())),
        datasets=frame("datasets", (_dataset(one, origin) for one in records.datasets)),
        column_edges=frame("column_edges", map(_row, records.column_edges)),
        rejects=frame("rejects", map(_row, records.rejects)),
        origins=listed,
    )


def union(a: Collected, b: Collected) -> Collected:
    """Both together."""
    found = {}
    for field in fields(Collected):
        one, other = getattr(a, field.name), getattr(b, field.name)
        both = one is not None and other is not None
        found[field.name] = one.unionByName(other) if both else one if one is not None else other
    return Collected(**found)


def _row(record: Any) -> dict[str, Any]:
    """A record's fields as the store's columns; `to_dataset` is `to_namespace` and `to_name`."""
    row: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, DatasetId):
            before = field.name.removesuffix("dataset")
            row |= {f"{before}namespace": value.namespace, f"{before}name": value.name}
        else:
            row[field.name] = getattr(value, "value", value)
    return row


def _dataset(dataset: Dataset, origin: str) -> dict[str, Any]:
    return {
        "namespace": dataset.id.namespace,
        "name": dataset.id.name,
        "kind": dataset.kind.value,
        "columns": [{"name": column.name, "type": column.type} for column in dataset.columns],
        "symlinks": [{"namespace": s.namespace, "name": s.name} for s in dataset.symlinks],
        "first_seen": dataset.first_seen,
        "last_seen": dataset.last_seen,
        "dropped_at": dataset.dropped_at,
        "origin": origin,
    }
