"""Streaming queries: their sources and sinks, and what `foreachBatch` does with a batch."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING

from tests.collectors.spark.suite.case import Instead, case

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter


# A batch and what its sink does with it are executions that nothing ties together.
TWICE = {(3, 1): Instead(("2 x SELECT <- /watched 3",))}


def _watched(spark: SparkSession, at: Path) -> DataFrame:
    return spark.readStream.schema("a int, b string").csv(f"{at}/watched")


def _run(writer: DataStreamWriter, at: Path, sink: str = "") -> None:
    """Process what is there; the query is called as the case is."""
    frame = inspect.currentframe()
    assert frame
    assert frame.f_back
    name = frame.f_back.f_code.co_name
    writer = writer.queryName(name).option("checkpointLocation", f"{at}/checkpoints/{name}")
    # Older Sparks have no `availableNow`.
    writer = writer.trigger(once=True)
    (writer.toTable(sink) if sink else writer.start()).awaitTermination()


@case(
    "INSERT /out/stream 3 <- /watched 3",
    columns="a <- /watched.a\nb <- /watched.b\n* <- /watched.a FILTER",
)
def stream_to_files(spark: SparkSession, at: Path) -> None:
    writer = _watched(spark, at).where("a > 0").writeStream.format("parquet")
    _run(writer.option("path", f"{at}/out/stream"), at)


@case(
    "CREATE TABLE ml.streamed",
    "INSERT ml.streamed 3 <- /watched 3",
    columns="a <- /watched.a\nb <- /watched.b",
)
def stream_to_table(spark: SparkSession, at: Path) -> None:
    _run(_watched(spark, at).writeStream, at, "ml.streamed")


@case(
    "CREATE TABLE AS ml.batches 3 <- /watched 3",
    "INSERT /out/batches 3 <- /watched",
    columns="""
    ml.batches: a   <- /watched.a
    /out/batches: b <- /watched.b TRANSFORMATION
    """,
    older={
        (3, 5): Instead(
            ("CREATE TABLE AS ml.batches 3 <- /watched", "INSERT /out/batches 3 <- /watched")
        ),
    },
    # In older ones it runs in a thread that does not say for whom.
    since=(3, 2),
)
def stream_for_each_batch(spark: SparkSession, at: Path) -> None:
    def save(batch: DataFrame, _: int) -> None:
        batch.select("a").write.saveAsTable("ml.batches")
        batch.selectExpr("upper(b) AS b").write.mode("append").json(f"{at}/out/batches")

    _run(_watched(spark, at).writeStream.foreachBatch(save), at)


@case("SELECT <- /watched 3", older=TWICE)
def stream_to_memory(spark: SparkSession, at: Path) -> None:
    counts = _watched(spark, at).groupBy("b").count()
    _run(counts.writeStream.format("memory").outputMode("complete"), at)


@case("SELECT <- /watched 3", older=TWICE)
def stream_to_console(spark: SparkSession, at: Path) -> None:
    _run(_watched(spark, at).writeStream.format("console"), at)


@case(
    "INSERT /out/enriched 2 <- /watched 3, raw.customers 3",
    columns="""
    b    <- /watched.b
    name <- raw.customers.name
    *    <- /watched.a JOIN, raw.customers.id JOIN
    """,
)
def stream_joined(spark: SparkSession, at: Path) -> None:
    people = spark.table("raw.customers")
    frame = _watched(spark, at)
    joined = frame.join(people, frame["a"] == people["id"]).select("b", "name")
    writer = joined.writeStream.format("json").option("path", f"{at}/out/enriched")
    _run(writer, at)
