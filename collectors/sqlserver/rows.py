"""Segments of runs and their resolved texts -> the rows of the lineage store, as data frames.

resolved segments -> distinct statements -> statement accesses -> `accesses`, `datasets`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from dbt_graft.collectors.schema import column_names
from dbt_graft.collectors.sqlserver.resolution.statement import ResolvedAccess, ResolvedEdge
from dbt_graft.collectors.sqlserver.runs.captured import Level
from dbt_graft.collectors.sqlserver.runs.segment import SegmentKind
from dbt_graft.collectors.sqlserver.runs.temporaries import SUFFIX_SEPARATOR, TABLE_SEPARATOR
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.store import SCHEMAS
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Direction, Outcome, Shape, Status

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_SAME_ACCESS = (
    *("task", "run_id", "namespace", "name", "kind", "direction", "operation", "shape_id"),
    *("status", "evidence", "procedure", "origin"),
)
_UNKNOWN_HANDLE = "ran a statement that was prepared before the capture began"


def statement_accesses(statements: DataFrame) -> DataFrame:
    """One row for each statement of a text and dataset that it reads or writes.

    Times in the log are cut to milliseconds; below these, `first_at` and `last_at` carry the order
    in which statements came. A query counts from its beginning, because its rows arrive while it
    runs, anything else from its end. A statement that a rollback took back has failed.

    Args:
        statements: As `distinct_statements` gives them.
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
    status = F.when(taken_back, Status.FAILED.value).otherwise(F.col("status"))
    return (
        statements.withColumn("status", status)
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
            *_columns(ResolvedAccess, "access", datasets=("name",)),
        )
    )


def _columns(record: type, struct: str, datasets: tuple[str, ...]) -> list[Column]:
    """The columns of a nested record; those that name a dataset get the name of one table."""
    from pyspark.sql import functions as F  # noqa: N812

    return [
        (
            _dataset_name(f"{struct}.{name}") if name in datasets else F.col(f"{struct}.{name}")
        ).alias(name)
        for name in column_names(record)
    ]


def _dataset_name(name: str) -> Column:
    """A dataset's name; a temporary table or table variable gets a name that no other has.

    A variable lives as long as the request that declares it.
    """
    from pyspark.sql import functions as F  # noqa: N812

    tables = F.str_to_map("temporaries", F.lit(TABLE_SEPARATOR), F.lit(SUFFIX_SEPARATOR))
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


def distinct_statements(resolved: DataFrame) -> DataFrame:
    """Each statement once, however many events of its request show it.

    Where a request's own statements were recorded as they ended, they show what it did; its text
    may hold more (the other branch of an IF). A request of which only a part was seen counts where
    no other shows its statements. The statements of a procedure are inferred from its text where
    the run shows the inside of none.

    Args:
        resolved: Rows of `RunSegment`, each with the statements of its text.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    request = Window.partitionBy("task", "run_id", "request")
    shape = Window.partitionBy("task", "run_id", "statement.shape_id")
    ended = (F.col("level") == int(Level.STATEMENT)) & (F.col("request") != "")
    inside = (F.col("level") == int(Level.INSIDE)) & (F.col("procedure") != "")
    succeeded = F.col("status") == Status.OK.value
    asked = (F.col("level") == int(Level.REQUEST)) & succeeded
    shown = Window.partitionBy("task", "run_id", "statement.shape_id", "request")
    complete = F.col("request") != ""
    return (
        resolved.where(F.col("kind") == SegmentKind.STATEMENT.value)
        .withColumn("explained", F.max(ended).over(request))
        .where(~(asked & F.col("explained")))
        .withColumn("inside", F.max(inside).over(Window.partitionBy("task", "run_id")))
        .withColumn("inferred", F.when(~F.col("inside"), F.col("inferred")))
        .withColumn(
            "statement", F.explode(F.concat("statements", F.coalesce("inferred", F.array())))
        )
        .drop("statements", "inferred")
        .withColumn("nearest", F.min("level").over(shown))
        .withColumn("complete", F.max(complete).over(shape))
        .where((F.col("level") == F.col("nearest")) & (~F.col("complete") | complete))
    )


def accesses(statement_accesses: DataFrame) -> DataFrame:
    """`accesses`; rows are known where a statement that wrote data was its text's only one."""
    from pyspark.sql import functions as F  # noqa: N812

    is_write = F.col("direction") == Direction.WRITE.value
    writes_rows = is_write & _is_operation(lambda operation: operation.writes_rows)
    return _with_missing(
        statement_accesses.groupBy(*_SAME_ACCESS).agg(
            F.sum("times").alias("statements"),
            F.sum(F.when(writes_rows, F.col("rows"))).alias("rows"),
            F.min("first_at").alias("first_at"),
            F.max("last_at").alias("last_at"),
        ),
        "accesses",
    )


def runs(resolved: DataFrame) -> DataFrame:
    """`runs`; one whose last statement on a dataset failed counts as failed."""
    from pyspark.sql import functions as F  # noqa: N812

    touches = F.coalesce(F.size("statements") > 0, F.lit(False))
    return _with_missing(
        resolved.groupBy("run_id", "task", "origin")
        .agg(
            F.min("started").alias("started_at"),
            F.max("last_ended").alias("ended_at"),
            F.max_by("status", F.struct(touches, "last_ended", "last_sequence")).alias("status"),
        )
        .withColumn("engine", F.lit("sqlserver")),
        "runs",
    )


def shapes(statements: DataFrame, resolved: DataFrame) -> DataFrame:
    """`shapes`; a handle whose text no log shows is a shape that failed."""
    from pyspark.sql import functions as F  # noqa: N812

    text = F.format_string("EXEC sp_execute %d -- session %s", "handle", "session")
    unresolved = resolved.where(F.col("kind") == SegmentKind.UNRESOLVED_HANDLE.value).select(
        F.concat(F.lit("lost-"), F.substring(F.sha2(text, 256), 1, 20)).alias("shape_id"),
        F.lit(Dialect.TSQL.value).alias("dialect"),
        text.alias("text"),
        F.lit("").alias("parser"),
        F.lit(Outcome.FAILED.value).alias("outcome"),
        F.lit(_UNKNOWN_HANDLE).alias("reason"),
    )
    parsed = statements.select("statement.*").select(*column_names(Shape))
    return parsed.unionByName(unresolved).dropDuplicates(["shape_id"])


def datasets(statement_accesses: DataFrame) -> DataFrame:
    """`datasets`: a view where a statement made one, columns of the write that named the most."""
    from pyspark.sql import functions as F  # noqa: N812

    is_write = F.col("direction") == Direction.WRITE.value
    # The old name is what a rename reads.
    renamed = _is_operation(lambda operation: operation.renames) & ~is_write
    dropped = _is_operation(lambda operation: operation.removes) | renamed
    typed = F.exists("columns", lambda column: column["type"] != "")
    last_drop = F.max(F.when(dropped, F.col("last_at")))
    last_write = F.max(F.when(is_write & ~dropped, F.col("last_at")))
    is_view = F.bool_or(F.col("kind") == Kind.VIEW.value)
    alias = F.struct(F.col("alias_namespace").alias("namespace"), F.col("alias_name").alias("name"))
    symlink = F.when(F.col("alias_name").isNotNull(), alias)
    return _with_missing(
        statement_accesses.where(F.col("status") != Status.FAILED.value)
        .where(F.col("kind") != Kind.TEMPORARY.value)
        .groupBy("namespace", "name", "origin")
        .agg(
            F.when(is_view, Kind.VIEW.value).otherwise(Kind.TABLE.value).alias("kind"),
            F.max_by("columns", F.struct(typed, F.size("columns"))).alias("columns"),
            F.sort_array(F.collect_set(symlink)).alias("symlinks"),
            F.min("first_at").alias("first_seen"),
            F.max("last_at").alias("last_seen"),
            F.when(last_write.isNull() | (last_write <= last_drop), last_drop).alias("dropped_at"),
        ),
        "datasets",
    )


def column_edges(statements: DataFrame) -> DataFrame:
    """`column_edges`, each once a task and shape; `accesses` shows which failed."""
    from pyspark.sql import functions as F  # noqa: N812

    return (
        statements.withColumn("edge", F.explode("statement.column_edges"))
        .select(
            *("task", "origin", "statement.shape_id"),
            *_columns(ResolvedEdge, "edge", datasets=("to_name", "from_name")),
        )
        .distinct()
    )


def rejects(segments: DataFrame) -> DataFrame:
    """`rejects`"""
    from pyspark.sql import functions as F  # noqa: N812

    damaged = segments.where(F.col("kind") == SegmentKind.DAMAGE.value)
    return damaged.select("origin", "position", "reason", "excerpt")


def origins(spark: SparkSession, positions: Mapping[str, str], segments: DataFrame) -> DataFrame:
    """All logs that were read, with the number of events of any kind in each.

    Args:
        positions: The position that the store notes for each origin.
    """
    from pyspark.sql import functions as F  # noqa: N812

    def count(kind: SegmentKind) -> Column:
        return F.sum(F.when(F.col("kind") == kind.value, F.col("times")).otherwise(0))

    listed = spark.createDataFrame(list(positions.items()), "origin string, position string")
    counted = segments.groupBy("origin").agg(
        count(SegmentKind.EVENTS).alias("events"), count(SegmentKind.NOISE).alias("noise")
    )
    return listed.join(counted, "origin", "left").fillna(0, ["events", "noise"])


def open_sessions(run_segments: DataFrame, server: str) -> DataFrame:
    """`sessions`: those that go on in the next log."""
    from pyspark.sql import functions as F  # noqa: N812

    goes_on = F.col("kind").isin(SegmentKind.RUNNING.value, SegmentKind.PREPARED.value)
    return (
        run_segments.where(goes_on)
        .withColumnRenamed("kind", "act")
        .withColumn("server", F.lit(server))
    )


def _is_operation(question: Callable[[Operation], bool]) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.col("operation").isin(*(one.value for one in Operation if question(one)))


def _with_missing(frame: DataFrame, table: str) -> DataFrame:
    """A frame with the columns of its table that this collector never knows, empty."""
    from pyspark.sql import functions as F  # noqa: N812

    wanted = frame.sparkSession.createDataFrame([], SCHEMAS[table]).schema
    missing = [field for field in wanted if field.name not in frame.columns]
    return frame.select("*", *[F.lit(None).cast(one.dataType).alias(one.name) for one in missing])
