"""Data frames of Spark <-> Arrow tables; PySpark 3.5 needs another way than 4."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def to_frame(spark: SparkSession, table: pa.Table) -> DataFrame:
    """A table of records as a data frame."""
    from pyspark.sql import DataFrame

    if hasattr(DataFrame, "toArrow"):
        return spark.createDataFrame(table)
    from pyspark.sql.pandas.types import from_arrow_schema

    return spark.createDataFrame(table.to_pylist(), from_arrow_schema(table.schema))


def to_table(frame: DataFrame) -> pa.Table:
    """The rows of a data frame, in the memory of this process."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    from pyspark.sql.pandas.types import to_arrow_schema

    batches = cast("list[pa.RecordBatch]", frame._collect_as_arrow())
    return pa.Table.from_batches(batches, None if batches else to_arrow_schema(frame.schema))
