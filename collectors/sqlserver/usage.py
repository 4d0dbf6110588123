"""Events -> how often which run said what: small, whatever the number of events.

Events with one text become one row, so all that follows grows with the number of distinct texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# A session that said nothing for so long has done its work; what comes next is another run.
_IDLE_SECONDS = 3600
_SAME = (
    *("origin", "block", "piece", "damage", "excerpt", "task", "run", "session", "database"),
    *("text", "level", "status", "hour"),
)


def usage(events: DataFrame) -> DataFrame:
    """Events of one text, run and hour as one row; a damaged event is a row of its own."""
    from pyspark.sql import functions as F  # noqa: N812

    hour = F.floor(F.unix_seconds("ended") / _IDLE_SECONDS)
    damaged = F.col("damage").isNotNull()
    return (
        events.withColumn("hour", hour)
        .withColumn("block", F.when(damaged, F.col("block")))
        .withColumn("piece", F.when(damaged, F.col("piece")))
        .withColumn("excerpt", F.when(damaged, F.col("excerpt")))
        .groupBy(*_SAME)
        .agg(
            F.count("*").alias("times"),
            F.sum("rows").alias("rows"),
            F.min("started").alias("started"),
            # The log's times are cut to milliseconds: a statement began before this.
            F.min(F.least("ended", F.timestamp_micros(F.unix_micros("started") + 1000))).alias(
                "first_started"
            ),
            F.min("ended").alias("first_ended"),
            F.max("ended").alias("last_ended"),
            F.min("sequence").alias("first_sequence"),
            F.max("sequence").alias("last_sequence"),
        )
    )


def with_runs(said: DataFrame, server: str) -> DataFrame:
    """Add `run_id` and `run_started`.

    A run is what the application's name says (`python_task::load::2026-11-20`), else what one
    session of a task does until it is idle for an hour. The id of such a run comes from the
    task, the session and the time at which it began, so that reading a log again gives it again.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    session = Window.partitionBy("task", "run", "session")
    before = session.orderBy("hour").rangeBetween(Window.unboundedPreceding, -1)
    until = session.orderBy("hour").rangeBetween(Window.unboundedPreceding, 0)
    begins = F.min("started").over(Window.partitionBy("task", "run", "session", "hour"))
    idle = F.unix_seconds("begins") - F.unix_seconds("ended_before")
    named = F.col("run") != ""
    digest = F.sha2(
        F.concat_ws("|", F.lit(server), "task", "session", F.unix_micros("begun").cast("string")),
        256,
    )
    return (
        said.withColumn("begins", begins)
        .withColumn("ended_before", F.max("last_ended").over(before))
        .withColumn(
            "begun",
            F.max(
                F.when(F.col("ended_before").isNull() | (idle > _IDLE_SECONDS), F.col("begins"))
            ).over(until),
        )
        .withColumn("run_id", F.when(named, F.col("run")).otherwise(F.substring(digest, 1, 16)))
        .drop("begins", "ended_before", "begun", "hour")
    )
