"""Fold all batches of a store on Spark: however many there are, memory stays flat."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds

from dbt_graft.collectors.arrow_frames import to_table
from dbt_graft.collectors.schema import arrow, ddl, records
from dbt_graft.collectors.store.batches import OpenStore
from dbt_graft.collectors.store.fold.files import FoldWriter, sum_by_day
from dbt_graft.collectors.store.fold.read import days_since
from dbt_graft.collectors.store.fold.tables import FOLD_TABLES, REPEATS, SHORT, FoldedShape
from dbt_graft.collectors.store.fold.tasks import (
    IS_RUN,
    ORIGIN,
    PART_DDL,
    PLACE,
    PREFIX,
    Repeats,
    folding_tasks,
    read_table,
)
from dbt_graft.collectors.store.tables import TABLES
from dbt_graft.lineage.building.event_runs import EVENT_SHAPE
from dbt_graft.lineage.fold.runs import NEWEST
from dbt_graft.lineage.fold.scope import FoldScope, fold_scope
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Run, RunRepeats, UsageRepeats

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

# The place of a row: the number of its file, and its number in it.
_ROW_BITS = 34
# What rows have of their batch.
_OF_BATCH = "sequence bigint, purges boolean"
_DAYS = ("task_days", "usage_days")
_AS_THEY_ARE = ("rejects", "task_metadata", "dataset_metadata")
_TIMES = ("first_seen", "last_seen", "dropped_at")


def folding_on(
    spark: SparkSession, newest: int = NEWEST, before: datetime | None = None
) -> Callable[[OpenStore, FoldWriter], None]:
    """A function that folds all batches of a store; see `fold_write.fold_store`."""

    def fold_all(snapshot: OpenStore, writer: FoldWriter) -> None:
        _SparkFold(spark, snapshot, writer).write(newest, before)

    return fold_all


class _SparkFold:
    def __init__(self, spark: SparkSession, snapshot: OpenStore, writer: FoldWriter) -> None:
        self._spark = spark
        self._snapshot = snapshot
        self._writer = writer
        self._parts = f"{writer.folder}/parts"

    def write(self, newest: int, before: datetime | None) -> None:
        """Fold, and write all of it."""
        from pyspark.sql import functions as sql

        read = self._stored_rows("origins").where("purges or not coalesce(closed, false)")
        origins = read.groupBy("origin").agg(
            sql.max("sequence").alias("last"), sql.bool_or("closed").alias("closed")
        )
        origins = origins.localCheckpoint(eager=True)
        runs, accesses = self._live_rows("runs", origins), self._live_rows("accesses", origins)
        scope = self._scope(runs, accesses)
        rows = _place_rows(runs, accesses).repartition(self._partitions(), "task")
        folded = rows.sortWithinPartitions("task", "key").mapInArrow(
            folding_tasks(scope, newest, before, self._repeats()), PART_DDL
        )
        parts_path = f"{self._snapshot.place}/{self._parts}"
        folded.write.parquet(parts_path)
        self._write_parts()
        parts = self._spark.read.schema(PART_DDL).parquet(parts_path)
        settled = parts.where(sql.col("name") == ORIGIN).select("origin").distinct()
        settled = settled.withColumn("in_fold", sql.expr("true"))
        origins = origins.join(settled, "origin", "left").withColumn(
            "settled", sql.when(sql.expr("in_fold or closed"), sql.expr("true"))
        )
        origins = origins.localCheckpoint(eager=True)
        self._write_origins(origins)
        for name in _AS_THEY_ARE:
            self._writer.table(name, _sort_rows(self._live_rows(name, origins)))
        self._write_once("datasets", origins)
        self._write_once("column_edges", origins)
        self._write_shapes(origins)
        self._snapshot.files.delete_dir(f"{self._snapshot.root}/{self._parts}")
        self._writer.finish(scope.namespaces)

    def _partitions(self) -> int:
        rows = sum(
            file.rows or 0
            for batch in self._snapshot.batches
            for file in batch.files
            if file.table == "accesses"
        )
        return max(8, rows // 1_000_000)

    def _repeats(self) -> Repeats:
        """The counts that purges left, by task."""
        repeats = Repeats()
        for _, rows in self._snapshot.tables("run_repeats"):
            for run_repeats in records(RunRepeats, rows):
                repeats.runs[run_repeats.task].append(run_repeats)
        for _, rows in self._snapshot.tables("usage_repeats"):
            for usage in records(UsageRepeats, rows):
                repeats.usages[usage.task].append(usage)
        return repeats

    def _stored_rows(self, table: str) -> DataFrame:
        """All rows of a table, each with its place and the sequence of its batch."""
        from pyspark.sql import functions as sql

        files = [
            (file.path, number << _ROW_BITS, batch.sequence, batch.purged_before is not None)
            for number, (batch, file) in enumerate(
                (batch, file)
                for batch in self._snapshot.batches
                for file in batch.files
                if file.table == table
            )
        ]
        schema = ddl(TABLES[table])
        if not files:
            return self._spark.createDataFrame([], f"{schema}, {PLACE} bigint, {_OF_BATCH}")
        file_frame = self._spark.createDataFrame(files, f"path string, base bigint, {_OF_BATCH}")
        read = self._spark.read.schema(schema).parquet(
            *(f"{self._snapshot.place}/{path}" for path, *_ in files)
        )
        path = sql.regexp_extract("_metadata.file_path", r"([^/]+/batch_id=[^/]+/[^/]+)$", 1)
        placed = read.withColumns({"path": path, "row": sql.col("_metadata.row_index")})
        # Of `origins`: that of the batch that read the log, before it was merged.
        placed = placed.drop("sequence")
        return (
            placed.join(sql.broadcast(file_frame), "path")
            .withColumn(PLACE, sql.col("base") + sql.col("row"))
            .drop("path", "row", "base")
        )

    def _live_rows(self, table: str, origins: DataFrame) -> DataFrame:
        """The rows of a table that are of the newest batch of their origin."""
        from pyspark.sql import functions as sql

        newest = origins.select("origin", sql.col("last").alias("sequence"))
        return self._stored_rows(table).join(newest, ["origin", "sequence"], "left_semi")

    def _scope(self, runs: DataFrame, accesses: DataFrame) -> FoldScope:
        from pyspark.sql import functions as sql

        special = runs.where(sql.col("job").isNotNull() | (sql.col("engine") == "dbt"))
        renames = [str(operation) for operation in Operation if operation.renames]
        renamed = accesses.where(sql.col("operation").isin(renames))
        return fold_scope(
            records(Run, to_table(special.select(*arrow(Run).names))),
            records(Access, to_table(renamed.select(*arrow(Access).names))),
        )

    def _write_parts(self) -> None:
        """Write what came of runs and accesses, in the order in which logs had them."""
        tables: dict[str, list[pa.Table]] = defaultdict(list)
        for name, content in self._contents():
            if name.endswith("keys"):
                self._writer.table(name, read_table(content))
            else:
                tables[name].append(read_table(content))
        for beginning in ("", SHORT):
            for name in ("runs", "accesses"):
                if parts := tables[f"{beginning}{name}"]:
                    rows = pa.concat_tables(parts).sort_by(PLACE)
                    self._writer.table(f"{beginning}{name}", rows)
            for name in REPEATS:
                if parts := tables[f"{beginning}{name}"]:
                    rows = pa.concat_tables(parts)
                    rows = rows.sort_by([(column, "ascending") for column in rows.column_names])
                    self._writer.table(f"{beginning}{name}", rows)
        for name in _DAYS:
            tables_of_days = [*tables[name], *days_since(self._snapshot, None, name)]
            if tables_of_days:
                self._writer.table(name, sum_by_day(name, tables_of_days))

    def _contents(self) -> Iterator[tuple[str, bytes]]:
        dataset = ds.dataset(
            f"{self._snapshot.root}/{self._parts}",
            filesystem=self._snapshot.files,
            format="parquet",
        )
        wanted = ds.field("name") != ORIGIN
        for batch in dataset.to_batches(columns=["name", "content"], filter=wanted, batch_size=64):
            yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)

    def _write_origins(self, origins: DataFrame) -> None:
        from pyspark.sql import functions as sql

        open_origins = origins.where(sql.col("settled").isNull()).select(
            "origin", sql.col("last").alias("sequence")
        )
        self._writer.table("origins", to_table(open_origins.orderBy("origin")))

    def _write_once(self, table: str, origins: DataFrame) -> None:
        """Write the rows of a table; of settled logs each row once."""
        from pyspark.sql import functions as sql

        settled = origins.where("settled").select("origin", "settled")
        rows = self._live_rows(table, origins).join(settled, "origin", "left")
        is_apart = sql.col("settled").isNull()
        if table == "column_edges":
            is_apart = is_apart | sql.col("shape_id").startswith(EVENT_SHAPE)
        rows = rows.withColumn("apart", sql.when(is_apart, sql.col(PLACE)))
        names = arrow(FOLD_TABLES[table]).names
        ways = [column for column in names if column != "origin" and column not in _TIMES]
        first_rows = rows.groupBy(*ways, "apart").agg(
            sql.min_by("origin", PLACE).alias("origin"),
            sql.min(PLACE).alias(PLACE),
            *_times(names),
        )
        self._writer.table(table, _sort_rows(first_rows))

    def _write_shapes(self, origins: DataFrame) -> None:
        from pyspark.sql import functions as sql

        live = sql.broadcast(
            origins.groupBy(sql.col("last").alias("sequence")).agg(
                sql.coalesce(sql.max("settled"), sql.expr("false")).alias("settled")
            )
        )
        rows = self._stored_rows("shapes").join(live, "sequence")
        names = arrow(FoldedShape).names
        apart = sql.when(~sql.col("settled"), sql.col(PLACE))
        last = sql.max_by(sql.struct(*names), sql.col(PLACE)).alias("last")
        shapes = rows.withColumn("apart", apart).groupBy("shape_id", "apart").agg(last)
        shapes = shapes.select("last.*").orderBy("sequence", "shape_id")
        self._writer.table("shapes", to_table(shapes))


def _times(names: list[str]) -> list[Column]:
    from pyspark.sql import functions as sql

    return [
        (sql.min if name == "first_seen" else sql.max)(name).alias(name)
        for name in _TIMES
        if name in names
    ]


def _sort_rows(rows: DataFrame) -> pa.Table:
    return to_table(rows).sort_by(PLACE)


def _place_rows(runs: DataFrame, accesses: DataFrame) -> DataFrame:
    """Runs and accesses in one frame, each with the key of its group."""
    from pyspark.sql import functions as sql

    parent_or_own = sql.coalesce("parent_run_id", "run_id")
    parents = runs.groupBy("task", "run_id").agg(sql.max_by(parent_or_own, PLACE).alias("key"))
    started = parents.where(sql.col("key") != sql.col("run_id"))

    def with_keys(rows: DataFrame, kind: type) -> DataFrame:
        columns = [sql.col(column).alias(f"{PREFIX[kind]}{column}") for column in arrow(kind).names]
        plain = rows.select("task", "run_id", PLACE, *columns)
        key = sql.coalesce("key", "run_id").alias("key")
        is_run = sql.lit(kind is Run).alias(IS_RUN)
        columns_by_name = [sql.col(f"{PREFIX[kind]}{column}") for column in arrow(kind).names]
        return plain.join(started, ["task", "run_id"], "left").select(
            "task", key, PLACE, is_run, *columns_by_name
        )

    # Columns of their own: structs take Spark many times as long to hand over.
    return with_keys(runs, Run).unionByName(with_keys(accesses, Access), allowMissingColumns=True)
