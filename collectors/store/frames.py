"""Records -> data frames for the store, for collectors that work without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from dbt_graft.collectors.schema import row
from dbt_graft.collectors.store.tables import SCHEMAS, Collected
from dbt_graft.lineage.records import Records

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frames(spark: SparkSession, records: Records, positions: Mapping[str, str]) -> Collected:
    """Records as data frames.

    Args:
        positions: Origin -> the position reached in it. Datasets without an origin get the first.
    """

    def frame(table: str, found: Iterable[Any]) -> DataFrame:
        return spark.createDataFrame([row(one) for one in found], SCHEMAS[table])

    origin = next(iter(positions), "")
    datasets = (replace(one, origin=one.origin or origin) for one in records.datasets)
    listed = spark.createDataFrame(
        [(place, position, 0, 0) for place, position in positions.items()],
        "origin string, position string, events bigint, noise bigint",
    )
    return Collected(
        accesses=frame("accesses", records.accesses),
        runs=frame("runs", records.runs),
        shapes=frame("shapes", records.shapes.values()),
        datasets=frame("datasets", datasets),
        column_edges=frame("column_edges", records.column_edges),
        rejects=frame("rejects", records.rejects),
        origins=listed,
    )


def union(a: Collected, b: Collected) -> Collected:
    """The rows of both."""
    found = {}
    for field in fields(Collected):
        if field.name == "pending":
            continue
        one, other = getattr(a, field.name), getattr(b, field.name)
        both = one is not None and other is not None
        found[field.name] = one.unionByName(other) if both else one if one is not None else other
    return Collected(**found, pending=(*a.pending, *b.pending))
