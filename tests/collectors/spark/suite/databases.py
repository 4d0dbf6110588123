"""Databases over JDBC: Derby, which comes with Spark, stands for any of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.collectors.spark.suite.case import Instead, case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

URL = "jdbc:derby:memory:shop;create=true"
DRIVER = "org.apache.derby.jdbc.EmbeddedDriver"
LOGIN = {"driver": DRIVER, "user": "APP", "password": "hunter2", "quoteIdentifiers": "false"}
# Of the catalog `crm`.
CRM = "derby/memory:shop.APP"


def fill(spark: SparkSession) -> None:
    """Make the table `PEOPLE` of 3 rows."""
    _people(spark, "PEOPLE")


def _people(spark: SparkSession, table: str) -> None:
    frame = spark.table("raw.customers").selectExpr("id AS ID", "name AS NAME", "age AS AGE")
    frame.write.jdbc(URL, f"APP.{table}", mode="append", properties=LOGIN)


# Before Spark 3.4 the query of a save has no execution of its own that would count what it read.


@case(
    "2 x INSERT jdbc/APP.WRITTEN 6 <- raw.customers 6",
    "INSERT OVERWRITE jdbc/APP.WRITTEN 3 <- raw.customers 3",
    columns="""
    ID   <- raw.customers.id
    NAME <- raw.customers.name
    AGE  <- raw.customers.age
    """,
    older={
        (3, 1): Instead(
            (
                "2 x INSERT jdbc/APP.WRITTEN 6 <- raw.customers",
                "INSERT OVERWRITE jdbc/APP.WRITTEN 3 <- raw.customers",
            )
        ),
    },
)
def jdbc_write(spark: SparkSession, _: Path) -> None:
    _people(spark, "WRITTEN")
    _people(spark, "WRITTEN")
    frame = spark.table("raw.customers").selectExpr("id AS ID", "name AS NAME", "age AS AGE")
    writer = frame.write.format("jdbc").options(url=URL, dbtable="APP.WRITTEN", **LOGIN)
    writer.option("truncate", "true").mode("overwrite").save()


@case(
    "INSERT jdbc/APP.SPENT 1 <- raw.orders 6",
    "INSERT jdbc/APP.SPENT_BY 3 <- raw.orders 6",
    columns="""
    jdbc/APP.SPENT: SPENT    <- raw.orders.amount AGGREGATION
    jdbc/APP.SPENT_BY: ID    <- raw.orders.customer_id
    jdbc/APP.SPENT_BY: SPENT <- raw.orders.amount AGGREGATION
    jdbc/APP.SPENT_BY: *     <- raw.orders.customer_id GROUP_BY
    """,
    since=(4, 0),
)
def jdbc_aggregate(spark: SparkSession, _: Path) -> None:
    facet = spark.sql("SELECT sum(amount) AS SPENT, count(*) AS N FROM raw.orders")
    facet.write.jdbc(URL, "APP.SPENT", properties=LOGIN)
    text = "SELECT customer_id AS ID, sum(amount) AS SPENT FROM raw.orders GROUP BY customer_id"
    spark.sql(text).write.jdbc(URL, "APP.SPENT_BY", properties=LOGIN)


# A plan's text shows 25 columns of a command.
WIDE = [f"C{n}" for n in range(30)]
WIDE_TARGETS = ("ml.wide", "/out/wide", "jdbc/APP.WIDE", f"{CRM}.WIDER", f"{CRM}.WIDEST")


@case(
    "CREATE TABLE AS ml.wide 6 <- raw.orders 6",
    "INSERT /out/wide 6 <- raw.orders 6",
    "INSERT jdbc/APP.WIDE 6 <- raw.orders 6",
    f"CREATE TABLE AS {CRM}.WIDER 6 <- raw.orders 6",
    f"CREATE TABLE AS {CRM}.WIDEST 6 <- raw.orders 6",
    columns="\n".join(
        f"{target}: {column} <- raw.orders.order_id" for target in WIDE_TARGETS for column in WIDE
    ),
    since=(4, 0),
)
def wide_tables(spark: SparkSession, at: Path) -> None:
    wide = spark.table("raw.orders").selectExpr(*(f"order_id AS {column}" for column in WIDE))
    wide.write.saveAsTable("ml.wide")
    wide.write.parquet(f"{at}/out/wide")
    wide.write.jdbc(URL, "APP.WIDE", properties=LOGIN)
    wide.writeTo("crm.APP.WIDER").create()
    wide.writeTo("crm.APP.WIDEST").createOrReplace()


@case(
    "CREATE TABLE AS ml.jdbc_read 2 <- jdbc/APP.PEOPLE 2",
    columns="NAME <- jdbc/APP.PEOPLE.NAME\n* <- jdbc/APP.PEOPLE.AGE FILTER",
)
def jdbc_read(spark: SparkSession, _: Path) -> None:
    frame = spark.read.jdbc(URL, "APP.PEOPLE", properties=LOGIN)
    frame.where("AGE > 30").select("NAME").write.saveAsTable("ml.jdbc_read")


@case(
    "CREATE TABLE AS ml.jdbc_asked 2 <- jdbc/APP.PEOPLE 2",
    "CREATE TABLE AS ml.jdbc_subquery 2 <- jdbc/APP.PEOPLE 2",
    columns="""
    ml.jdbc_asked: LOUD    <- jdbc/APP.PEOPLE.NAME TRANSFORMATION
    ml.jdbc_asked: *       <- jdbc/APP.PEOPLE.AGE FILTER
    ml.jdbc_subquery: LOUD <- jdbc/APP.PEOPLE.NAME TRANSFORMATION
    ml.jdbc_subquery: *    <- jdbc/APP.PEOPLE.AGE FILTER
    """,
)
def jdbc_query(spark: SparkSession, _: Path) -> None:
    text = "SELECT UPPER(NAME) AS LOUD FROM APP.PEOPLE WHERE AGE > 30"
    for table, given in (("asked", {"query": text}), ("subquery", {"dbtable": f"({text}) q"})):
        frame = spark.read.format("jdbc").options(url=URL, **LOGIN, **given).load()
        frame.write.saveAsTable(f"ml.jdbc_{table}")


@case(
    "CREATE TABLE AS ml.jdbc_viewed 2 <- jdbc/APP.PEOPLE 2",
    columns="ID <- jdbc/APP.PEOPLE.ID\n* <- jdbc/APP.PEOPLE.AGE FILTER",
    since=(4, 0),
)
def jdbc_temporary_view(spark: SparkSession, _: Path) -> None:
    spark.sql(
        f"CREATE TEMPORARY VIEW people USING jdbc OPTIONS (url '{URL}', dbtable 'APP.PEOPLE', "
        f"driver '{DRIVER}', user 'APP', password 'hunter2')"
    )
    spark.sql("CREATE TABLE ml.jdbc_viewed AS SELECT ID FROM people WHERE AGE > 30")


@case("2 x SELECT <- jdbc/APP.PEOPLE 6")
def jdbc_split(spark: SparkSession, _: Path) -> None:
    spark.read.jdbc(URL, "APP.PEOPLE", "ID", 0, 3, 2, properties=LOGIN).collect()
    halves = ["ID < 2", "ID >= 2"]
    spark.read.jdbc(URL, "APP.PEOPLE", predicates=halves, properties=LOGIN).collect()


@case(
    "2 x INSERT jdbc/APP.KNOWN 6 <- raw.customers 6",
    "CREATE TABLE ml.known",
    "SELECT <- jdbc/APP.KNOWN 6",
    columns="""
    ID   <- raw.customers.id
    NAME <- raw.customers.name
    AGE  <- raw.customers.age
    """,
    older={
        # The INSERT and the save that it runs: nothing shows that they belong together.
        (3, 1): Instead(
            (
                "3 x INSERT jdbc/APP.KNOWN 6 <- raw.customers",
                "CREATE TABLE ml.known",
                "SELECT <- jdbc/APP.KNOWN 6",
            ),
            """
            ID   <- raw.customers.id, raw.customers.id TRANSFORMATION
            NAME <- raw.customers.name, raw.customers.name TRANSFORMATION
            AGE  <- raw.customers.age, raw.customers.age TRANSFORMATION
            """,
        ),
    },
)
def jdbc_table_in_catalog(spark: SparkSession, _: Path) -> None:
    _people(spark, "KNOWN")
    spark.sql(
        f"CREATE TABLE ml.known USING jdbc OPTIONS (url '{URL}', dbtable 'APP.KNOWN', "
        f"driver '{DRIVER}', user 'APP', password 'hunter2')"
    )
    spark.sql("INSERT INTO ml.known SELECT id, name, age FROM raw.customers")
    spark.table("ml.known").collect()


@case(
    f"CREATE TABLE AS {CRM}.MADE 3 <- raw.customers 3",
    f"INSERT {CRM}.MADE 3 <- raw.customers 3",
    f"SELECT <- {CRM}.MADE 6",
    columns="""
    ID   <- raw.customers.id
    NAME <- raw.customers.name
    """,
    older={
        # The scan has no name, and nothing around it has.
        (3, 5): Instead(
            (
                f"CREATE TABLE AS {CRM}.MADE 3 <- raw.customers 3",
                f"INSERT {CRM}.MADE 3 <- raw.customers 3",
            )
        ),
        # Only the first line of the plan has the inputs of an INSERT into it.
        (3, 1): Instead(
            (
                f"CREATE TABLE AS {CRM}.MADE 3 <- raw.customers",
                f"INSERT {CRM}.MADE 3",
            )
        ),
    },
)
def jdbc_catalog(spark: SparkSession, _: Path) -> None:
    spark.sql("CREATE TABLE crm.APP.MADE AS SELECT id AS ID, name AS NAME FROM raw.customers")
    spark.sql("INSERT INTO crm.APP.MADE SELECT id, name FROM raw.customers")
    spark.sql("SELECT * FROM crm.APP.MADE").collect()


@case(
    f"CREATE TABLE AS {CRM}.REMADE 3 <- raw.customers 3",
    f"CREATE TABLE AS {CRM}.REMADE 6 <- raw.orders 6",
    f"INSERT OVERWRITE {CRM}.REMADE 3 <- raw.customers 3",
    f"DROP {CRM}.REMADE",
    columns="ID <- raw.customers.id, raw.orders.order_id",
    older={
        (3, 1): Instead(
            (
                f"CREATE TABLE AS {CRM}.REMADE 3 <- raw.customers",
                f"CREATE TABLE AS {CRM}.REMADE 6 <- raw.orders",
                f"INSERT OVERWRITE {CRM}.REMADE 3",
                f"DROP {CRM}.REMADE",
            )
        ),
    },
)
def jdbc_catalog_replace(spark: SparkSession, _: Path) -> None:
    people = spark.table("raw.customers").selectExpr("id AS ID")
    people.writeTo("crm.APP.REMADE").create()
    orders = spark.table("raw.orders").selectExpr("order_id AS ID")
    orders.writeTo("crm.APP.REMADE").createOrReplace()
    spark.sql("INSERT OVERWRITE crm.APP.REMADE SELECT id FROM raw.customers")
    spark.sql("DROP TABLE crm.APP.REMADE")


@case(
    f"CREATE TABLE AS {CRM}.GROUPED 6 <- raw.orders 6",
    f"CREATE TABLE AS ml.jdbc_grouped 3 <- {CRM}.GROUPED 3, raw.customers 3",
    columns=f"""
    {CRM}.GROUPED: CUSTOMER_ID <- raw.orders.customer_id
    {CRM}.GROUPED: AMOUNT      <- raw.orders.amount
    ml.jdbc_grouped: name      <- raw.customers.name
    ml.jdbc_grouped: spent     <- {CRM}.GROUPED.AMOUNT AGGREGATION
    ml.jdbc_grouped: *         <- {CRM}.GROUPED.CUSTOMER_ID GROUP_BY
    ml.jdbc_grouped: *         <- {CRM}.GROUPED.CUSTOMER_ID FILTER
    ml.jdbc_grouped: *         <- {CRM}.GROUPED.CUSTOMER_ID JOIN, raw.customers.id JOIN
    """,
    older={
        # The filters of the database are not in the log.
        (3, 5): Instead(
            columns=f"""
            {CRM}.GROUPED: CUSTOMER_ID <- raw.orders.customer_id
            {CRM}.GROUPED: AMOUNT      <- raw.orders.amount
            ml.jdbc_grouped: name      <- raw.customers.name
            ml.jdbc_grouped: spent     <- {CRM}.GROUPED.AMOUNT AGGREGATION
            ml.jdbc_grouped: *         <- {CRM}.GROUPED.CUSTOMER_ID GROUP_BY
            ml.jdbc_grouped: *         <- {CRM}.GROUPED.CUSTOMER_ID JOIN, raw.customers.id JOIN
            """,
        ),
        (3, 1): Instead(
            (
                f"CREATE TABLE AS {CRM}.GROUPED 6 <- raw.orders",
                "CREATE TABLE AS ml.jdbc_grouped 3 <- raw.customers 3",
            ),
            f"""
            {CRM}.GROUPED: CUSTOMER_ID <- raw.orders.customer_id
            {CRM}.GROUPED: AMOUNT      <- raw.orders.amount
            ml.jdbc_grouped: name      <- raw.customers.name
            ml.jdbc_grouped: *         <- raw.customers.id JOIN
            """,
        ),
    },
    extended={
        (3, 5): Instead(
            (
                f"CREATE TABLE AS {CRM}.GROUPED 6 <- raw.orders 6",
                "CREATE TABLE AS ml.jdbc_grouped 3 <- raw.customers 3",
            ),
            f"""
        {CRM}.GROUPED: CUSTOMER_ID <- raw.orders.customer_id
        {CRM}.GROUPED: AMOUNT      <- raw.orders.amount
        ml.jdbc_grouped: name      <- raw.customers.name
        ml.jdbc_grouped: *         <- raw.customers.id JOIN
        """,
        )
    },
)
def jdbc_pushdown(spark: SparkSession, _: Path) -> None:
    spark.sql(
        "CREATE TABLE crm.APP.GROUPED AS "
        "SELECT customer_id AS CUSTOMER_ID, amount AS AMOUNT FROM raw.orders"
    )
    spark.sql(
        "CREATE TABLE ml.jdbc_grouped USING parquet AS SELECT name, spent FROM raw.customers JOIN "
        "(SELECT CUSTOMER_ID, sum(AMOUNT) AS spent FROM crm.APP.GROUPED GROUP BY CUSTOMER_ID) "
        "ON CUSTOMER_ID = id"
    )


@case(
    f"CREATE TABLE {CRM}.CHANGED",
    f"ALTER {CRM}.CHANGED",
    f"RENAME {CRM}.RENAMED <- {CRM}.CHANGED",
    f"DROP {CRM}.RENAMED",
    since=(3, 2),
)
def jdbc_lifecycle(spark: SparkSession, _: Path) -> None:
    spark.sql("CREATE TABLE crm.APP.CHANGED (ID INT)")
    spark.sql("ALTER TABLE crm.APP.CHANGED ADD COLUMNS (NAME STRING)")
    spark.sql("ALTER TABLE crm.APP.CHANGED RENAME TO APP.RENAMED")
    spark.sql("DROP TABLE crm.APP.RENAMED")
