"""What was said by whom and what it means -> the rows of the lineage store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from collectors.files import LogFile
from collectors.store import SCHEMAS
from lineage.flow import LIFECYCLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SAME_ACCESS = (
    *("task", "run_id", "namespace", "name", "kind", "direction", "operation", "shape_id"),
    *("status", "origin"),
)


def touched(told: DataFrame) -> DataFrame:
    """One row for each text, statement in it, and dataset that it reads or writes.

    A statement that a run's batch or call already showed is left out where an event of a lower
    kind shows it again. Times in the log are cut to milliseconds; below these, `first_at` carries
    the order in which statements came. A query counts from its beginning, because its rows arrive
    while it runs, anything else from its end.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    shape = Window.partitionBy("task", "run_id", "statement.shape_id")
    same_time = Window.partitionBy("task", "run_id", "first")
    order = F.dense_rank().over(same_time.orderBy("first_sequence", "statement.ordinal")) - 1
    first = F.when(F.col("statement.writes"), F.col("first_ended"))
    return (
        told.withColumn("statement", F.explode("statements"))
        .drop("statements")
        .withColumn("shown", F.min("level").over(shape))
        .where("level = shown")
        .withColumn("first", first.otherwise(F.col("first_started")))
        .withColumn("first_at", F.timestamp_micros(F.unix_micros("first") + order))
        .withColumn("access", F.explode("statement.accesses"))
        .select(
            *("origin", "task", "run_id", "status", "first_at"),
            F.greatest("last_ended", "first_at").alias("last_at"),
            (F.col("times") * F.col("statement.times")).alias("times"),
            F.when(F.col("statement.alone"), F.col("rows")).alias("rows"),
            F.col("statement.shape_id").alias("shape_id"),
            "access.*",
        )
    )


def accesses(touched: DataFrame) -> DataFrame:
    """`accesses`; rows are known where a statement that wrote data was its text's only one."""
    from pyspark.sql import functions as F  # noqa: N812

    data = (F.col("direction") == "write") & ~F.col("operation").isin(*LIFECYCLE, "CREATE VIEW")
    return _with_missing(
        touched.groupBy(*_SAME_ACCESS)
        .agg(
            F.sum("times").alias("statements"),
            F.sum(F.when(data, F.col("rows"))).alias("rows"),
            F.min("first_at").alias("first_at"),
            F.max("last_at").alias("last_at"),
        )
        .withColumn("evidence", F.lit("observed")),
        "accesses",
    )


def runs(told: DataFrame) -> DataFrame:
    """`runs`; one whose last statement on a dataset failed counts as failed."""
    from pyspark.sql import functions as F  # noqa: N812

    touches = F.coalesce(F.size("statements") > 0, F.lit(False))
    return _with_missing(
        told.where("damage IS NULL")
        .groupBy("run_id", "task", "origin")
        .agg(
            F.min("started").alias("started_at"),
            F.max("last_ended").alias("ended_at"),
            F.max_by("status", F.struct(touches, "last_ended", "last_sequence")).alias("status"),
        )
        .withColumn("engine", F.lit("sqlserver")),
        "runs",
    )


def shapes(told: DataFrame) -> DataFrame:
    """`shapes`"""
    columns = ["shape_id", "dialect", "text", "parser", "outcome", "reason"]
    return told.selectExpr("inline(statements)").select(*columns).dropDuplicates(["shape_id"])


def datasets(touched: DataFrame) -> DataFrame:
    """`datasets`: views where one was seen being made, columns where a write named the most."""
    from pyspark.sql import functions as F  # noqa: N812

    dropped = F.col("operation") == "DROP"
    written = (F.col("direction") == "write") & ~dropped
    typed = F.exists("columns", lambda column: column["type"] != "")
    last_drop = F.max(F.when(dropped, F.col("last_at")))
    last_write = F.max(F.when(written, F.col("last_at")))
    return _with_missing(
        touched.where("status != 'failed' AND kind != 'TEMPORARY'")
        .groupBy("namespace", "name", "origin")
        .agg(
            F.when(F.bool_or(F.col("kind") == "VIEW"), "VIEW").otherwise("TABLE").alias("kind"),
            F.max_by("columns", F.struct(typed, F.size("columns"))).alias("columns"),
            F.min("first_at").alias("first_seen"),
            F.max("last_at").alias("last_seen"),
            F.when(last_write.isNull() | (last_write <= last_drop), last_drop).alias("dropped_at"),
        ),
        "datasets",
    )


def column_edges(told: DataFrame) -> DataFrame:
    """`column_edges` of statements that did not fail, each once a task and shape."""
    return (
        told.where("status != 'failed'")
        .selectExpr("task", "origin", "inline(statements)")
        .selectExpr("task", "origin", "shape_id", "inline(column_edges)")
        .distinct()
    )


def rejects(told: DataFrame, blocks: DataFrame) -> DataFrame:
    """`rejects`: damaged events, by the part of the file they are in and their number there."""
    from pyspark.sql import functions as F  # noqa: N812

    number = F.col("piece") - F.col("first_piece") + 1
    return (
        told.where("damage IS NOT NULL")
        .join(blocks, ["origin", "block"])
        .select(
            "origin",
            F.format_string("block at byte %d, event %d", "block", number).alias("position"),
            F.concat(F.lit("the event "), "damage").alias("reason"),
            "excerpt",
        )
    )


def blocks(pieces: DataFrame) -> DataFrame:
    """For each part of a file that Spark read in one go its first piece and how many there are."""
    from pyspark.sql import functions as F  # noqa: N812

    return pieces.groupBy("origin", "block").agg(
        F.min("piece").alias("first_piece"), F.count("*").alias("pieces")
    )


def origins(spark: SparkSession, logs: list[LogFile], blocks: DataFrame) -> DataFrame:
    """All files that were looked at, with the number of events of whatever kind in each."""
    from pyspark.sql import functions as F  # noqa: N812

    listed = spark.createDataFrame(
        [(log.origin, log.position) for log in logs], "origin string, position string"
    )
    counted = blocks.groupBy("origin").agg(F.sum("pieces").alias("events"))
    events = F.coalesce("events", F.lit(0).cast("bigint")).alias("events")
    return listed.join(counted, "origin", "left").select("origin", "position", events)


def _with_missing(frame: DataFrame, table: str) -> DataFrame:
    """A frame with the columns of its table that this collector never knows, empty."""
    from pyspark.sql import functions as F  # noqa: N812

    wanted = frame.sparkSession.createDataFrame([], SCHEMAS[table]).schema
    missing = [field for field in wanted if field.name not in frame.columns]
    return frame.select("*", *[F.lit(None).cast(one.dataType).alias(one.name) for one in missing])
