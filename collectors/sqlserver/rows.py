"""What was said by whom and what it means -> the rows of the lineage store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dbt_graft.collectors.sqlserver.runs.captured import Level
from dbt_graft.collectors.sqlserver.runs.segment import SegmentKind
from dbt_graft.collectors.sqlserver.runs.temporaries import BEHIND, BETWEEN
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.store import SCHEMAS
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Outcome

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_SAME_ACCESS = (
    *("task", "run_id", "namespace", "name", "kind", "direction", "operation", "shape_id"),
    *("status", "evidence", "procedure", "origin"),
)
_ACCESS = ("namespace", "kind", "direction", "operation", "columns", "alias")
_EDGE = (
    *("to_namespace", "to_column", "from_namespace", "from_column", "type", "subtype", "masking"),
)
_WRITE_ROWS = [one.value for one in Operation if one.writes_rows]
_LOST = "ran a statement that was prepared before the capture began"


def touched(once: DataFrame) -> DataFrame:
    """One row for each text, statement in it, and dataset that it reads or writes.

    Times in the log are cut to milliseconds; below these, `first_at` and `last_at` carry the order
    in which statements came. A query counts from its beginning, because its rows arrive while it
    runs, anything else from its end. What a rollback took back has failed.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    same_time = Window.partitionBy("task", "run_id", "first")
    order = F.dense_rank().over(same_time.orderBy("first_sequence", "statement.ordinal")) - 1
    same_end = Window.partitionBy("task", "run_id", "last_ended")
    last_order = F.dense_rank().over(same_end.orderBy("last_sequence", "statement.ordinal")) - 1
    last_at = F.timestamp_micros(F.unix_micros("last_ended") + last_order)
    first = F.when(F.col("statement.writes"), F.col("first_ended"))
    taken_back = F.col("undone") & F.col("statement.writes")
    return (
        once.withColumn("status", F.when(taken_back, "failed").otherwise(F.col("status")))
        .withColumn("first", first.otherwise(F.col("first_started")))
        .withColumn("first_at", F.timestamp_micros(F.unix_micros("first") + order))
        .withColumn("last_at", F.greatest(last_at, "first_at"))
        .withColumn("access", F.explode("statement.accesses"))
        .select(
            *("origin", "task", "run_id", "status", "first_at", "last_at"),
            (F.col("times") * F.col("statement.times")).alias("times"),
            F.when(F.col("statement.alone"), F.col("rows")).alias("rows"),
            F.col("statement.shape_id").alias("shape_id"),
            F.col("statement.evidence").alias("evidence"),
            F.coalesce("statement.procedure", F.nullif("procedure", F.lit(""))).alias("procedure"),
            *(F.col(f"access.{name}") for name in _ACCESS),
            _told_apart("access.name").alias("name"),
        )
    )


def _told_apart(name: str) -> Column:
    """A dataset's name; where it is a temporary table's or a table variable's, of that one only.

    A variable lives as long as the request that declares it.
    """
    from pyspark.sql import functions as F  # noqa: N812

    tables = F.str_to_map("temporaries", F.lit(BETWEEN), F.lit(BEHIND))
    table = F.coalesce(F.try_element_at(tables, F.lower(name)), F.lit("0"))
    request = F.when(F.col("request").isin("", "alone"), F.col("text_id")).otherwise(
        F.xxhash64("request")
    )
    variable = F.abs(request % 1_000_000_007)
    return (
        F.when(F.col(name).rlike("^#[^#]"), F.concat_ws("~", name, table))
        .when(F.col(name).startswith("@"), F.concat_ws("~", name, variable.cast("string")))
        .otherwise(F.col(name))
    )


def once(told: DataFrame) -> DataFrame:
    """Each statement once, however many events of its request show it.

    Where a request's own statements were recorded as they ended, they tell what it did; what it
    asked for may not have been done (the other branch of an IF). A request of which only a part
    was seen counts where no other shows its statements. What a procedure does is inferred from its
    text where the run shows the inside of none.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    request = Window.partitionBy("task", "run_id", "request")
    shape = Window.partitionBy("task", "run_id", "statement.shape_id")
    ended = (F.col("level") == int(Level.STATEMENT)) & (F.col("request") != "")
    inside = (F.col("level") == int(Level.INSIDE)) & (F.col("procedure") != "")
    asked = (F.col("level") == int(Level.REQUEST)) & (F.col("status") == "ok")
    shown = Window.partitionBy("task", "run_id", "statement.shape_id", "request")
    return (
        told.where(F.col("act") == SegmentKind.SAID.value)
        .withColumn("explained", F.max(ended).over(request))
        .where(~(asked & F.col("explained")))
        .withColumn("inside", F.max(inside).over(Window.partitionBy("task", "run_id")))
        .withColumn("inferred", F.when(~F.col("inside"), F.col("inferred")))
        .withColumn(
            "statement", F.explode(F.concat("statements", F.coalesce("inferred", F.array())))
        )
        .drop("statements", "inferred")
        .withColumn("nearest", F.min("level").over(shown))
        .withColumn("whole", F.max(F.col("request") != "").over(shape))
        .where((F.col("level") == F.col("nearest")) & (~F.col("whole") | (F.col("request") != "")))
    )


def accesses(touched: DataFrame) -> DataFrame:
    """`accesses`; rows are known where a statement that wrote data was its text's only one."""
    from pyspark.sql import functions as F  # noqa: N812

    data = (F.col("direction") == "write") & F.col("operation").isin(*_WRITE_ROWS)
    return _with_missing(
        touched.groupBy(*_SAME_ACCESS).agg(
            F.sum("times").alias("statements"),
            F.sum(F.when(data, F.col("rows"))).alias("rows"),
            F.min("first_at").alias("first_at"),
            F.max("last_at").alias("last_at"),
        ),
        "accesses",
    )


def runs(told: DataFrame) -> DataFrame:
    """`runs`; one whose last statement on a dataset failed counts as failed."""
    from pyspark.sql import functions as F  # noqa: N812

    touches = F.coalesce(F.size("statements") > 0, F.lit(False))
    return _with_missing(
        told.groupBy("run_id", "task", "origin")
        .agg(
            F.min("started").alias("started_at"),
            F.max("last_ended").alias("ended_at"),
            F.max_by("status", F.struct(touches, "last_ended", "last_sequence")).alias("status"),
        )
        .withColumn("engine", F.lit("sqlserver")),
        "runs",
    )


def shapes(once: DataFrame, told: DataFrame) -> DataFrame:
    """`shapes`; a handle that nobody can tell the text of is one that failed."""
    from pyspark.sql import functions as F  # noqa: N812

    columns = ["shape_id", "dialect", "text", "parser", "outcome", "reason"]
    text = F.format_string("EXEC sp_execute %d -- session %s", "handle", "session")
    lost = told.where(F.col("act") == SegmentKind.LOST.value).select(
        F.concat(F.lit("lost-"), F.substring(F.sha2(text, 256), 1, 20)).alias("shape_id"),
        F.lit(Dialect.TSQL.value).alias("dialect"),
        text.alias("text"),
        F.lit("").alias("parser"),
        F.lit(Outcome.FAILED.value).alias("outcome"),
        F.lit(_LOST).alias("reason"),
    )
    parsed = once.select("statement.*").select(*columns)
    return parsed.unionByName(lost).dropDuplicates(["shape_id"])


def datasets(touched: DataFrame) -> DataFrame:
    """`datasets`: views where one was seen being made, columns where a write named the most."""
    from pyspark.sql import functions as F  # noqa: N812

    renamed = (F.col("operation") == "RENAME") & (F.col("direction") == "read")
    dropped = (F.col("operation") == "DROP") | renamed
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
            F.sort_array(F.collect_set("alias")).alias("symlinks"),
            F.min("first_at").alias("first_seen"),
            F.max("last_at").alias("last_seen"),
            F.when(last_write.isNull() | (last_write <= last_drop), last_drop).alias("dropped_at"),
        ),
        "datasets",
    )


def column_edges(once: DataFrame) -> DataFrame:
    """`column_edges`, each once a task and shape; whether it failed, the accesses tell."""
    from pyspark.sql import functions as F  # noqa: N812

    return (
        once.withColumn("edge", F.explode("statement.column_edges"))
        .select(
            *("task", "origin", "statement.shape_id"),
            *(F.col(f"edge.{name}") for name in _EDGE),
            _told_apart("edge.to_name").alias("to_name"),
            _told_apart("edge.from_name").alias("from_name"),
        )
        .distinct()
    )


def rejects(segments: DataFrame) -> DataFrame:
    """`rejects`"""
    from pyspark.sql import functions as F  # noqa: N812

    damaged = segments.where(F.col("act") == SegmentKind.DAMAGE.value)
    return damaged.select(
        "origin", "position", "reason", F.coalesce("excerpt", F.lit("")).alias("excerpt")
    )


def origins(spark: SparkSession, positions: Mapping[str, str], segments: DataFrame) -> DataFrame:
    """All logs that were looked at, with the number of events of whatever kind in each.

    Args:
        positions: What the store is to know of each origin.
    """
    from pyspark.sql import functions as F  # noqa: N812

    def count(act: SegmentKind) -> Column:
        return F.sum(F.when(F.col("act") == act.value, F.col("times")).otherwise(0))

    listed = spark.createDataFrame(list(positions.items()), "origin string, position string")
    counted = segments.groupBy("origin").agg(
        count(SegmentKind.SEEN).alias("events"), count(SegmentKind.NOISE).alias("noise")
    )
    return listed.join(counted, "origin", "left").fillna(0, ["events", "noise"])


def sessions(said: DataFrame, server: str) -> DataFrame:
    """`sessions`"""
    from pyspark.sql import functions as F  # noqa: N812

    goes_on = F.col("act").isin(SegmentKind.RUNNING.value, SegmentKind.PREPARED.value)
    return said.where(goes_on).withColumn("server", F.lit(server))


def _with_missing(frame: DataFrame, table: str) -> DataFrame:
    """A frame with the columns of its table that this collector never knows, empty."""
    from pyspark.sql import functions as F  # noqa: N812

    wanted = frame.sparkSession.createDataFrame([], SCHEMAS[table]).schema
    missing = [field for field in wanted if field.name not in frame.columns]
    return frame.select("*", *[F.lit(None).cast(one.dataType).alias(one.name) for one in missing])
