"""Data that leaves plans and comes back: RDDs, checkpoints, caches, pandas, a task's functions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from tests.collectors.spark.suite.case import Instead, case

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

# In the extended layout a scan of an RDD does not say of which: the job does.
NO_NUMBER = "the plan does not show of which RDD its columns are"
OPAQUE = "a user function takes and returns all columns at once"


@case(
    "CREATE TABLE AS ml.rdd_mapped 6 <- raw.orders 6",
    columns="id <- raw.orders.* TRANSFORMATION",
    gaps=OPAQUE,
    older={(3, 5): Instead(("CREATE TABLE AS ml.rdd_mapped 6 <- raw.orders",))},
    workers=True,
    extended={(3, 5): Instead(("CREATE TABLE AS ml.rdd_mapped 6 <- raw.orders",), "", NO_NUMBER)},
)
def rdd_mapped(spark: SparkSession, _: Path) -> None:
    rows = spark.table("raw.orders").rdd.map(lambda row: (row.order_id,))
    spark.createDataFrame(rows, "id int").write.saveAsTable("ml.rdd_mapped")


@case(
    "CREATE TABLE AS ml.rdd_to_frame 3 <- raw.customers 3",
    columns="id <- raw.customers.* TRANSFORMATION\nname <- raw.customers.* TRANSFORMATION",
    gaps=OPAQUE,
    inferred="""
    id   <- raw.customers.id TRANSFORMATION
    name <- raw.customers.name TRANSFORMATION
    """,
    older={(3, 5): Instead(("CREATE TABLE AS ml.rdd_to_frame 3 <- raw.customers",))},
    workers=True,
    extended={
        (3, 5): Instead(("CREATE TABLE AS ml.rdd_to_frame 3 <- raw.customers",), "", NO_NUMBER, "")
    },
)
def rdd_to_frame(spark: SparkSession, _: Path) -> None:
    rows = spark.table("raw.customers").rdd.filter(lambda row: row.age > 0)
    pairs = rows.map(lambda row: (row.id, row.name)).repartition(1)
    pairs.toDF("id int, name string").write.saveAsTable("ml.rdd_to_frame")


@case(
    "CREATE TABLE AS ml.lines 2 <- /landing/notes.txt",
    columns="line <- /landing/notes.txt.* TRANSFORMATION",
    gaps=OPAQUE,
    workers=True,
    extended={
        (3, 5): Instead(("CREATE TABLE AS ml.lines 2 <- /landing/notes.txt",), "", NO_NUMBER)
    },
)
def rdd_of_text(spark: SparkSession, at: Path) -> None:
    lines = spark.sparkContext.textFile(f"{at}/landing/notes.txt").map(lambda line: (line,))
    lines.toDF("line string").write.saveAsTable("ml.lines")


@case(
    "INSERT /out/texts 2 <- /landing/orders",
    columns="text <- /landing/orders.* TRANSFORMATION",
    gaps=OPAQUE,
    workers=True,
    extended={(3, 5): Instead(("INSERT /out/texts 2 <- /landing/orders",), "", NO_NUMBER)},
)
def rdd_of_whole_files(spark: SparkSession, at: Path) -> None:
    texts = spark.sparkContext.wholeTextFiles(f"{at}/landing/orders").map(lambda pair: (pair[1],))
    texts.toDF("text string").write.parquet(f"{at}/out/texts")


@case(
    "CREATE TABLE AS ml.rdd_joined 3 <- raw.customers 3, raw.orders 6",
    columns="""
    name  <- raw.customers.* TRANSFORMATION, raw.orders.* TRANSFORMATION
    count <- raw.customers.* TRANSFORMATION, raw.orders.* TRANSFORMATION
    """,
    gaps=OPAQUE,
    inferred="name <- raw.customers.name TRANSFORMATION",
    older={(3, 5): Instead(("CREATE TABLE AS ml.rdd_joined 3 <- raw.customers, raw.orders",))},
    workers=True,
    extended={
        (3, 5): Instead(
            ("CREATE TABLE AS ml.rdd_joined 3 <- raw.customers, raw.orders",), "", NO_NUMBER, ""
        )
    },
)
def rdd_joined(spark: SparkSession, _: Path) -> None:
    orders = spark.table("raw.orders").rdd.map(lambda row: (row.customer_id, 1))
    counts = orders.reduceByKey(lambda a, b: a + b, 1)
    people = spark.table("raw.customers").rdd.map(lambda row: (row.id, row.name))
    joined = people.join(counts, 1).map(lambda pair: pair[1])
    joined.toDF("name string, count int").write.saveAsTable("ml.rdd_joined")


@case(
    "CREATE TABLE AS ml.checkpointed 3 <- raw.customers",
    "SELECT <- raw.customers 3",
    columns="id <- raw.customers.id\nname <- raw.customers.name TRANSFORMATION",
)
def local_checkpoint(spark: SparkSession, _: Path) -> None:
    frame = spark.table("raw.customers").selectExpr("id", "upper(name) AS name")
    frame.localCheckpoint().write.saveAsTable("ml.checkpointed")


@case(
    "INSERT /out/checkpointed 3 <- raw.customers",
    "SELECT <- raw.customers 3",
    columns="id <- raw.customers.id",
    older={
        (3, 1): Instead(
            ("INSERT /out/checkpointed 3 <- raw.customers", "SELECT <- raw.customers 6")
        )
    },
)
def checkpoint(spark: SparkSession, at: Path) -> None:
    frame = spark.table("raw.customers").select("id", "name")
    frame.checkpoint().select("id").write.parquet(f"{at}/out/checkpointed")


@case(
    "SELECT <- raw.customers 3",
    "CREATE TABLE AS ml.cached_a 3 <- raw.customers",
    "CREATE TABLE AS ml.cached_b 3 <- raw.customers",
    columns="""
    ml.cached_a: id    <- raw.customers.id
    ml.cached_a: loud  <- raw.customers.name TRANSFORMATION
    ml.cached_b: loud  <- raw.customers.name TRANSFORMATION
    """,
)
def cached(spark: SparkSession, _: Path) -> None:
    frame = spark.table("raw.customers").selectExpr("id", "upper(name) AS loud").cache()
    frame.count()
    frame.write.saveAsTable("ml.cached_a")
    frame.select("loud").write.saveAsTable("ml.cached_b")
    frame.unpersist()


@case(
    "CREATE TABLE AS ml.sums 3 <- raw.orders",
    "CREATE TABLE AS ml.sums_again 3 <- raw.orders",
    "CREATE TABLE AS ml.large_sums 1 <- raw.orders",
    "SELECT <- raw.orders 6",
    columns="""
    ml.sums: customer_id  <- raw.orders.customer_id
    ml.sums: total        <- raw.orders.amount AGGREGATION
    ml.sums: *            <- raw.orders.customer_id GROUP_BY
    ml.sums_again: again  <- raw.orders.amount AGGREGATION
    ml.sums_again: *      <- raw.orders.customer_id GROUP_BY
    ml.large_sums: total  <- raw.orders.amount AGGREGATION
    ml.large_sums: *      <- raw.orders.customer_id GROUP_BY, raw.orders.amount FILTER
    """,
    since=(4, 0),
)
def cached_sums(spark: SparkSession, _: Path) -> None:
    from pyspark.sql.functions import sum as total

    orders = spark.table("raw.orders").groupBy("customer_id")
    sums = orders.agg(total("amount").alias("total")).persist()
    sums.collect()
    sums.write.saveAsTable("ml.sums")
    again = orders.agg(total("amount").alias("again"))
    again.select("again").write.saveAsTable("ml.sums_again")
    sums.where("total > 50").select("total").write.saveAsTable("ml.large_sums")


@case(
    "INSERT /out/signs 6 <- raw.orders 6",
    "INSERT /out/signed 3 <- /out/signs 6",
    columns="""
    /out/signs: Amount (EUR); net <- raw.orders.amount
    /out/signs: a AS b            <- raw.orders.order_id
    /out/signs: x[0]              <- raw.orders.customer_id
    /out/signed: x[0]             <- /out/signs.x[0]
    /out/signed: sum(a AS b)      <- /out/signs.a AS b AGGREGATION
    /out/signed: most (net        <- /out/signs.Amount (EUR); net AGGREGATION
    /out/signed: *                <- /out/signs.x[0] GROUP_BY
    """,
    since=(4, 0),
)
def names_with_signs(spark: SparkSession, at: Path) -> None:
    names = {"Amount (EUR); net": "amount", "a AS b": "order_id", "x[0]": "customer_id"}
    columns = (f"{column} AS `{name}`" for name, column in names.items())
    spark.table("raw.orders").selectExpr(*columns).write.json(f"{at}/out/signs")
    spark.read.json(f"{at}/out/signs").createOrReplaceTempView("signs")
    values = "sum(`a AS b`), max(`Amount (EUR); net`) AS `most (net`"
    spark.sql(f"SELECT `x[0]`, {values} FROM signs GROUP BY 1").write.json(f"{at}/out/signed")


@case(
    "CREATE TABLE AS ml.persisted 6 <- raw.customers 3, raw.orders 6",
    columns="""
    name   <- raw.customers.name
    amount <- raw.orders.amount
    *      <- raw.customers.id JOIN, raw.orders.customer_id JOIN
    """,
)
def persisted(spark: SparkSession, _: Path) -> None:
    people = spark.table("raw.customers").select("id", "name").persist()
    joined = spark.table("raw.orders").join(people, people["id"] == F.col("customer_id"))
    joined.select("name", "amount").write.saveAsTable("ml.persisted")


@case(
    "SELECT <- raw.orders 6",
    "CREATE TABLE AS ml.of_cache 3 <- raw.orders",
    columns="""
    customer_id <- raw.orders.customer_id
    top         <- raw.orders.amount AGGREGATION
    *           <- raw.orders.customer_id GROUP_BY
    """,
)
def cached_table(spark: SparkSession, _: Path) -> None:
    spark.sql("CACHE TABLE hot AS SELECT customer_id, amount FROM raw.orders")
    spark.sql(
        "CREATE TABLE ml.of_cache USING parquet AS "
        "SELECT customer_id, max(amount) AS top FROM hot GROUP BY customer_id"
    )
    spark.sql("UNCACHE TABLE hot")


@case(
    "SELECT <- raw.customers 3",
    "CREATE TABLE AS ml.through_pandas 3",
    inferred="""
    id  <- raw.customers.id TRANSFORMATION
    age <- raw.customers.age TRANSFORMATION
    """,
    workers=True,
)
def through_pandas(spark: SparkSession, _: Path) -> None:
    frame = spark.table("raw.customers").select("id", "age").toPandas()
    frame["age"] += 1
    spark.createDataFrame(frame).write.saveAsTable("ml.through_pandas")


@case(
    "2 x SELECT <- raw.customers 6",
    "CREATE TABLE AS ml.through_rows 3",
    inferred="id <- raw.customers.id TRANSFORMATION",
    workers=True,
)
def through_rows(spark: SparkSession, _: Path) -> None:
    rows = spark.table("raw.customers").collect()
    made = spark.createDataFrame([(row.id, 0.5) for row in rows], "id int, score double")
    made.write.saveAsTable("ml.through_rows")
    list(spark.table("raw.customers").toLocalIterator())


@case("CREATE TABLE AS ml.numbers 5")
def numbers(spark: SparkSession, _: Path) -> None:
    spark.range(5).write.saveAsTable("ml.numbers")


@case(
    "CREATE TABLE AS ml.udf 3 <- raw.customers 3",
    columns="""
    both <- raw.customers.name TRANSFORMATION, raw.customers.email TRANSFORMATION
    id   <- raw.customers.id
    *    <- raw.customers.age FILTER
    """,
    workers=True,
)
def udf(spark: SparkSession, _: Path) -> None:
    both = F.udf(lambda name, email: f"{name}{email}", "string")
    grown = F.udf(lambda age: age > 18, "boolean")
    frame = spark.table("raw.customers").where(grown("age"))
    frame.select(both("name", "email").alias("both"), "id").write.saveAsTable("ml.udf")


@case(
    "CREATE TABLE AS ml.sql_udf 3 <- raw.customers 3",
    columns="loud <- raw.customers.name TRANSFORMATION",
    workers=True,
)
def sql_udf(spark: SparkSession, _: Path) -> None:
    spark.udf.register("shout", lambda name: f"{name}!", "string")
    spark.sql(
        "CREATE TABLE ml.sql_udf USING parquet AS SELECT shout(name) AS loud FROM raw.customers"
    )


@case(
    "CREATE TABLE AS ml.pandas_scalar 6 <- raw.orders 6",
    columns="""
    order_id <- raw.orders.order_id
    taxed    <- raw.orders.amount TRANSFORMATION, raw.orders.customer_id TRANSFORMATION
    """,
    workers=True,
)
def pandas_scalar(spark: SparkSession, _: Path) -> None:
    taxed = F.pandas_udf(lambda amount, who: amount * 1.2 + who, "double")
    frame = spark.table("raw.orders")
    frame.select("order_id", taxed("amount", "customer_id").alias("taxed")).write.saveAsTable(
        "ml.pandas_scalar"
    )


@case(
    "CREATE TABLE AS ml.pandas_mean 2 <- raw.orders 6",
    columns="""
    dt   <- raw.orders.dt
    mean <- raw.orders.amount AGGREGATION
    *    <- raw.orders.dt GROUP_BY
    """,
    workers=True,
    extended={
        (3, 5): Instead(
            columns="""
    dt   <- raw.orders.dt
    mean <- raw.orders.amount TRANSFORMATION
    *    <- raw.orders.dt GROUP_BY
    """
        )
    },
)
def pandas_mean(spark: SparkSession, _: Path) -> None:
    mean = F.pandas_udf(lambda v: v.mean(), "double", F.PandasUDFType.GROUPED_AGG)
    frame = spark.table("raw.orders").groupBy("dt").agg(mean("amount").alias("mean"))
    frame.write.saveAsTable("ml.pandas_mean")


@case(
    "CREATE TABLE AS ml.pandas_map 6 <- raw.orders 6",
    columns="half <- raw.orders.order_id TRANSFORMATION, raw.orders.amount TRANSFORMATION",
    gaps=OPAQUE,
    workers=True,
)
def pandas_map(spark: SparkSession, _: Path) -> None:
    def halves(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield (frame[["amount"]] / 2).rename(columns={"amount": "half"})

    orders = spark.table("raw.orders").select("order_id", "amount")
    orders.mapInPandas(halves, "half double").write.saveAsTable("ml.pandas_map")


@case(
    "CREATE TABLE AS ml.pandas_apply 3 <- raw.orders 6",
    columns="""
    customer_id <- raw.orders.customer_id TRANSFORMATION, raw.orders.amount TRANSFORMATION
    amount      <- raw.orders.customer_id TRANSFORMATION, raw.orders.amount TRANSFORMATION
    *           <- raw.orders.customer_id GROUP_BY
    """,
    gaps=OPAQUE,
    workers=True,
)
def pandas_apply(spark: SparkSession, _: Path) -> None:
    orders = spark.table("raw.orders").select("customer_id", "amount").groupBy("customer_id")
    first = orders.applyInPandas(lambda frame: frame.head(1), "customer_id int, amount double")
    first.write.saveAsTable("ml.pandas_apply")


@case(
    "CREATE TABLE AS ml.pandas_cogroup 3 <- raw.customers 3, raw.orders 6",
    columns="""
    name <- raw.customers.id TRANSFORMATION, raw.customers.name TRANSFORMATION
    name <- raw.orders.customer_id TRANSFORMATION
    *    <- raw.customers.id GROUP_BY, raw.orders.customer_id GROUP_BY
    """,
    gaps=OPAQUE,
    workers=True,
)
def pandas_cogroup(spark: SparkSession, _: Path) -> None:
    people = spark.table("raw.customers").select("id", "name").groupBy("id")
    orders = spark.table("raw.orders").select("customer_id").groupBy("customer_id")
    both = people.cogroup(orders).applyInPandas(lambda a, _: a[["name"]], "name string")
    both.write.saveAsTable("ml.pandas_cogroup")
