"""Queries and their columns: each makes the table `q.<name>`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from tests.collectors.spark.suite.case import Instead, case, query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS, PEOPLE = "<- raw.orders 6", "<- raw.customers 3"

# ---- Project: expressions.

query(
    "renamed",
    "SELECT id AS `the id`, name AS who, age + 1 AS older FROM raw.customers",
    f"3 {PEOPLE}",
    """
    the id <- raw.customers.id
    who    <- raw.customers.name
    older  <- raw.customers.age TRANSFORMATION
    """,
    since=(3, 3),
)
query(
    "constants",
    "SELECT id, 'a, b' AS label, 1 AS one, current_date() AS today, count(*) OVER () AS n, "
    "uuid() AS key FROM raw.customers",
    f"3 {PEOPLE}",
    "id <- raw.customers.id",
)
query(
    "cased",
    "SELECT CASE WHEN amount > 15 THEN order_id ELSE customer_id END AS big, "
    "if(dt > 'a', customer_id, 1) AS late, coalesce(amount, 0) AS sure, "
    "nullif(order_id, 3) AS some FROM raw.orders",
    f"6 {ORDERS}",
    """
    big  <- raw.orders.amount CONDITIONAL, raw.orders.order_id TRANSFORMATION
    big  <- raw.orders.customer_id TRANSFORMATION
    late <- raw.orders.dt CONDITIONAL, raw.orders.customer_id TRANSFORMATION
    sure <- raw.orders.amount TRANSFORMATION
    some <- raw.orders.order_id CONDITIONAL, raw.orders.order_id TRANSFORMATION
    """,
)
query(
    "digests",
    "SELECT sha2(email, 256) AS digest, md5(name) AS short, hash(id, age) AS number, "
    "xxhash64(email) AS long, mask(name) AS starred, substr(email, 1, 2) AS two FROM raw.customers",
    f"3 {PEOPLE}",
    """
    digest  <- raw.customers.email TRANSFORMATION masked
    short   <- raw.customers.name TRANSFORMATION masked
    number  <- raw.customers.id TRANSFORMATION masked
    number  <- raw.customers.age TRANSFORMATION masked
    long    <- raw.customers.email TRANSFORMATION masked
    starred <- raw.customers.name TRANSFORMATION masked
    two     <- raw.customers.email TRANSFORMATION
    """,
    since=(3, 4),
)
query(
    "nested_fields",
    "SELECT addr.city, addr.zip AS zip, tags[0] AS tag, attrs['k'] AS k, "
    "named_struct('a', order_id, 'b', amount) AS pair, array(order_id, customer_id) AS ids, "
    "map(dt, amount) AS m FROM raw.orders",
    f"6 {ORDERS}",
    """
    city <- raw.orders.addr TRANSFORMATION
    zip  <- raw.orders.addr TRANSFORMATION
    tag  <- raw.orders.tags TRANSFORMATION
    k    <- raw.orders.attrs TRANSFORMATION
    pair <- raw.orders.order_id TRANSFORMATION, raw.orders.amount TRANSFORMATION
    ids  <- raw.orders.order_id TRANSFORMATION, raw.orders.customer_id TRANSFORMATION
    m    <- raw.orders.dt TRANSFORMATION, raw.orders.amount TRANSFORMATION
    """,
)
query(
    "higher_order",
    "SELECT transform(tags, t -> concat(t, dt)) AS tagged, "
    "filter(tags, t -> t <> cast(order_id AS string)) AS few, "
    "aggregate(tags, 0, (n, t) -> n + length(t)) AS long, "
    "map_keys(attrs) AS keys, size(tags) AS many FROM raw.orders",
    f"6 {ORDERS}",
    """
    tagged <- raw.orders.tags TRANSFORMATION, raw.orders.dt TRANSFORMATION
    few    <- raw.orders.tags TRANSFORMATION, raw.orders.order_id TRANSFORMATION
    long   <- raw.orders.tags TRANSFORMATION
    keys   <- raw.orders.attrs TRANSFORMATION
    many   <- raw.orders.tags TRANSFORMATION
    """,
)
query(
    "json_and_dates",
    "SELECT get_json_object(name, '$.a') AS j, from_json(email, 'a INT') AS parsed, "
    "to_json(named_struct('id', id)) AS made, date_add(to_date('2026-01-01'), age) AS later, "
    "regexp_replace(name, '#12', ' AS x#13') AS odd FROM raw.customers",
    f"3 {PEOPLE}",
    """
    j      <- raw.customers.name TRANSFORMATION
    parsed <- raw.customers.email TRANSFORMATION
    made   <- raw.customers.id TRANSFORMATION
    later  <- raw.customers.age TRANSFORMATION
    odd    <- raw.customers.name TRANSFORMATION
    """,
)

# ---- Filter, sort, limit, sample, distinct.

query(
    "filtered",
    "SELECT name FROM raw.customers WHERE age BETWEEN 30 AND 31 AND (email LIKE '%@shop' OR id "
    "IN (1, 2)) AND name IS NOT NULL",
    f"2 {PEOPLE}",
    """
    name <- raw.customers.name
    *    <- raw.customers.age FILTER, raw.customers.email FILTER, raw.customers.id FILTER
    *    <- raw.customers.name FILTER
    """,
)
query(
    "of_a_day",
    "SELECT order_id FROM raw.orders WHERE dt = '2026-01-02' AND amount > 15",
    "2 <- raw.orders 3",
    """
    order_id <- raw.orders.order_id
    *        <- raw.orders.dt FILTER, raw.orders.amount FILTER
    """,
)
query(
    "sorted",
    "SELECT order_id FROM raw.orders ORDER BY amount DESC, dt LIMIT 3",
    f"3 {ORDERS}",
    "order_id <- raw.orders.order_id\n* <- raw.orders.amount SORT, raw.orders.dt SORT",
)
query(
    "limited",
    "SELECT DISTINCT customer_id, dt FROM raw.orders",
    f"6 {ORDERS}",
    """
    customer_id <- raw.orders.customer_id
    dt          <- raw.orders.dt
    *           <- raw.orders.customer_id GROUP_BY, raw.orders.dt GROUP_BY
    """,
)


@case(
    "CREATE TABLE AS ml.deduplicated 3 <- raw.orders 6",
    columns="""
    customer_id <- raw.orders.customer_id
    order_id    <- raw.orders.order_id AGGREGATION
    *           <- raw.orders.customer_id GROUP_BY
    """,
)
def deduplicated(spark: SparkSession, _: Path) -> None:
    frame = spark.table("raw.orders").select("customer_id", "order_id")
    frame.dropDuplicates(["customer_id"]).write.saveAsTable("ml.deduplicated")


@case(
    "CREATE TABLE AS ml.sampled 6 <- raw.orders 6",
    columns="order_id <- raw.orders.order_id",
)
def sampled(spark: SparkSession, _: Path) -> None:
    frame = spark.table("raw.orders").select("order_id").sample(1.0, 7)
    frame.repartition(2).limit(100).write.saveAsTable("ml.sampled")


@case(
    "CREATE TABLE AS ml.cleaned 3 <- raw.customers 3",
    columns="""
    id   <- raw.customers.id
    name <- raw.customers.name TRANSFORMATION, raw.customers.name CONDITIONAL
    age  <- raw.customers.age TRANSFORMATION
    *    <- raw.customers.name FILTER
    """,
)
def cleaned(spark: SparkSession, _: Path) -> None:
    frame = spark.table("raw.customers").drop("email").na.drop(subset=["name"])
    frame = frame.na.fill({"age": 0}).na.replace("Jane 1", "Joan", "name")
    frame.write.saveAsTable("ml.cleaned")


# ---- Aggregates.

query(
    "grouped",
    "SELECT customer_id, sum(amount) AS spent, count(*) AS n, count(order_id) AS counted, "
    "avg(amount) AS mean, min(dt) AS first_day, max_by(order_id, amount) AS best, "
    "collect_list(dt) AS days, approx_count_distinct(dt) AS several, "
    "percentile(amount, 0.5) AS middle, stddev(amount) AS wide "
    "FROM raw.orders GROUP BY customer_id HAVING sum(amount) > 0",
    f"3 {ORDERS}",
    """
    customer_id <- raw.orders.customer_id
    spent       <- raw.orders.amount AGGREGATION
    counted     <- raw.orders.order_id AGGREGATION
    mean        <- raw.orders.amount AGGREGATION
    first_day   <- raw.orders.dt AGGREGATION
    best        <- raw.orders.order_id AGGREGATION, raw.orders.amount AGGREGATION
    days        <- raw.orders.dt AGGREGATION
    several     <- raw.orders.dt AGGREGATION
    middle      <- raw.orders.amount AGGREGATION
    wide        <- raw.orders.amount AGGREGATION
    *           <- raw.orders.customer_id GROUP_BY, raw.orders.amount FILTER
    """,
)
query(
    "grouped_by_expression",
    "SELECT substr(dt, 1, 7) AS month, sum(amount * 2) + 1 AS spent, "
    "sum(amount) / count(order_id) AS ratio FROM raw.orders GROUP BY substr(dt, 1, 7)",
    f"1 {ORDERS}",
    """
    month <- raw.orders.dt TRANSFORMATION
    spent <- raw.orders.amount AGGREGATION
    ratio <- raw.orders.amount AGGREGATION, raw.orders.order_id AGGREGATION
    *     <- raw.orders.dt GROUP_BY
    """,
)
query(
    "distinct_counts",
    "SELECT dt, count(DISTINCT customer_id) AS people, count(DISTINCT order_id) AS orders, "
    "sum(amount) AS spent FROM raw.orders GROUP BY dt",
    f"2 {ORDERS}",
    """
    dt     <- raw.orders.dt
    people <- raw.orders.customer_id AGGREGATION
    orders <- raw.orders.order_id AGGREGATION
    spent  <- raw.orders.amount AGGREGATION
    *      <- raw.orders.dt GROUP_BY
    """,
)
query(
    "filtered_aggregates",
    "SELECT sum(amount) FILTER (WHERE dt > '2026-01-01') AS late, "
    "count(DISTINCT customer_id) FILTER (WHERE order_id > 1) AS some, "
    "count(*) FILTER (WHERE amount > 15) AS big FROM raw.orders",
    f"1 {ORDERS}",
    """
    late <- raw.orders.amount AGGREGATION, raw.orders.dt CONDITIONAL
    some <- raw.orders.customer_id AGGREGATION, raw.orders.order_id CONDITIONAL
    big  <- raw.orders.amount CONDITIONAL
    """,
)
query(
    "rolled_up",
    "SELECT customer_id, dt, sum(amount) AS spent FROM raw.orders "
    "GROUP BY ROLLUP (customer_id, dt)",
    f"10 {ORDERS}",
    """
    customer_id <- raw.orders.customer_id
    dt          <- raw.orders.dt
    spent       <- raw.orders.amount AGGREGATION
    *           <- raw.orders.customer_id GROUP_BY, raw.orders.dt GROUP_BY
    """,
)
query(
    "cubed",
    "SELECT customer_id, dt, grouping(dt) AS is_all, max(amount) AS top FROM raw.orders "
    "GROUP BY customer_id, dt WITH CUBE",
    f"12 {ORDERS}",
    """
    customer_id <- raw.orders.customer_id
    dt          <- raw.orders.dt
    top         <- raw.orders.amount AGGREGATION
    *           <- raw.orders.customer_id GROUP_BY, raw.orders.dt GROUP_BY
    """,
)
query(
    "grouping_sets",
    "SELECT customer_id, dt, count(order_id) AS n FROM raw.orders "
    "GROUP BY GROUPING SETS ((customer_id), (dt))",
    f"5 {ORDERS}",
    """
    customer_id <- raw.orders.customer_id
    dt          <- raw.orders.dt
    n           <- raw.orders.order_id AGGREGATION
    *           <- raw.orders.customer_id GROUP_BY, raw.orders.dt GROUP_BY
    """,
)


@case(
    "CREATE TABLE AS ml.pivoted 3 <- raw.orders 6",
    columns="""
    customer_id <- raw.orders.customer_id
    one         <- raw.orders.amount AGGREGATION, raw.orders.dt CONDITIONAL
    two         <- raw.orders.amount AGGREGATION, raw.orders.dt CONDITIONAL
    *           <- raw.orders.customer_id GROUP_BY, raw.orders.dt GROUP_BY
    """,
)
def pivoted(spark: SparkSession, _: Path) -> None:
    days = ["2026-01-01", "2026-01-02"]
    wide = spark.table("raw.orders").groupBy("customer_id").pivot("dt", days).sum("amount")
    wide.toDF("customer_id", "one", "two").write.saveAsTable("ml.pivoted")


query(
    "unpivoted",
    "SELECT id, field, value FROM raw.customers UNPIVOT (value FOR field IN (name, email))",
    f"6 {PEOPLE}",
    """
    id    <- raw.customers.id
    value <- raw.customers.name, raw.customers.email
    *     <- raw.customers.name FILTER, raw.customers.email FILTER
    """,
    since=(3, 4),
)

# ---- Joins and subqueries.

query(
    "joined",
    "SELECT c.name, o.amount * 2 AS twice FROM raw.orders o JOIN raw.customers c "
    "ON o.customer_id = c.id AND o.amount > c.age WHERE o.dt > '2026-01-01'",
    "1 <- raw.customers 3, raw.orders 3",
    """
    name  <- raw.customers.name
    twice <- raw.orders.amount TRANSFORMATION
    *     <- raw.orders.customer_id JOIN, raw.customers.id JOIN, raw.orders.amount JOIN
    *     <- raw.customers.age JOIN, raw.orders.dt FILTER
    """,
)
for _name, _how in (("left", "LEFT"), ("full", "FULL"), ("right", "RIGHT")):
    query(
        f"joined_{_name}",
        f"SELECT name, order_id FROM raw.orders {_how} JOIN raw.customers ON customer_id = id",
        "6 <- raw.customers 3, raw.orders 6",
        """
        name     <- raw.customers.name
        order_id <- raw.orders.order_id
        *        <- raw.orders.customer_id JOIN, raw.customers.id JOIN
        """,
    )
query(
    "joined_using",
    "SELECT id, a.name, b.email FROM raw.customers a FULL JOIN raw.customers b USING (id)",
    "3 <- raw.customers 6",
    """
    id    <- raw.customers.id TRANSFORMATION
    name  <- raw.customers.name
    email <- raw.customers.email
    *     <- raw.customers.id JOIN
    """,
)
query(
    "crossed",
    "SELECT name, order_id FROM raw.customers CROSS JOIN raw.orders",
    "18 <- raw.customers 3, raw.orders 6",
    "name <- raw.customers.name\norder_id <- raw.orders.order_id",
)
query(
    "ranged",
    "SELECT /*+ MERGE(c) */ name, order_id FROM raw.orders JOIN raw.customers c "
    "ON amount BETWEEN age - 20 AND age",
    "7 <- raw.customers 3, raw.orders 6",
    """
    name     <- raw.customers.name
    order_id <- raw.orders.order_id
    *        <- raw.orders.amount JOIN, raw.customers.age JOIN
    """,
)
query(
    "semi_joined",
    "SELECT name FROM raw.customers LEFT SEMI JOIN raw.orders ON customer_id = id AND amount > 15",
    "3 <- raw.customers 3, raw.orders 6",
    """
    name <- raw.customers.name
    *    <- raw.customers.id JOIN, raw.orders.customer_id JOIN, raw.orders.amount FILTER
    """,
)
query(
    "of_those_in",
    "SELECT order_id FROM raw.orders WHERE customer_id IN "
    "(SELECT id FROM raw.customers WHERE name <> 'a')",
    "6 <- raw.customers 3, raw.orders 6",
    """
    order_id <- raw.orders.order_id
    *        <- raw.orders.customer_id JOIN, raw.customers.id JOIN, raw.customers.name FILTER
    """,
)
query(
    "of_those_not_in",
    "SELECT order_id FROM raw.orders WHERE customer_id NOT IN (SELECT age FROM raw.customers)",
    "6 <- raw.customers 3, raw.orders 6",
    "order_id <- raw.orders.order_id\n* <- raw.orders.customer_id JOIN, raw.customers.age JOIN",
)
query(
    "without",
    "SELECT name FROM raw.customers c WHERE NOT EXISTS "
    "(SELECT 1 FROM raw.orders o WHERE o.customer_id = c.id AND o.amount > 1000)",
    "3 <- raw.customers 3, raw.orders 0",
    """
    name <- raw.customers.name
    *    <- raw.customers.id JOIN, raw.orders.customer_id JOIN, raw.orders.amount FILTER
    """,
)
query(
    "existing_or",
    "SELECT name FROM raw.customers c WHERE age > 31 OR EXISTS "
    "(SELECT 1 FROM raw.orders o WHERE o.customer_id = c.id)",
    "3 <- raw.customers 3, raw.orders 6",
    """
    name <- raw.customers.name
    *    <- raw.customers.id JOIN, raw.orders.customer_id JOIN, raw.customers.age FILTER
    *    <- raw.customers.id FILTER, raw.orders.customer_id FILTER
    """,
)
query(
    "scalar",
    "SELECT order_id, (SELECT max(id) FROM raw.customers) AS newest FROM raw.orders "
    "WHERE amount > (SELECT avg(age) FROM raw.customers)",
    "2 <- raw.customers 3, raw.orders 6",
    """
    order_id <- raw.orders.order_id
    newest   <- raw.customers.id AGGREGATION
    *        <- raw.orders.amount FILTER, raw.customers.age FILTER
    """,
    older={(3, 1): Instead(("CREATE TABLE AS q.scalar 2 <- raw.customers 6, raw.orders 6",))},
)
query(
    "correlated",
    "SELECT name, (SELECT sum(amount) FROM raw.orders WHERE customer_id = id) AS spent "
    "FROM raw.customers",
    "3 <- raw.customers 3, raw.orders 6",
    """
    name  <- raw.customers.name
    spent <- raw.orders.amount AGGREGATION
    *     <- raw.orders.customer_id GROUP_BY, raw.orders.customer_id JOIN, raw.customers.id JOIN
    """,
)
query(
    "pruned",
    "SELECT order_id, name FROM raw.orders JOIN raw.customers "
    "ON dt = concat('2026-01-0', cast(id AS string)) WHERE age = 31",
    "3 <- raw.customers 3, raw.orders 3",
    """
    order_id <- raw.orders.order_id
    name     <- raw.customers.name
    *        <- raw.orders.dt JOIN, raw.customers.id JOIN, raw.customers.age FILTER
    """,
)
query(
    "shared",
    "WITH t AS (SELECT customer_id, sum(amount) AS s FROM raw.orders GROUP BY customer_id) "
    "SELECT a.customer_id, a.s, b.s AS again FROM t a JOIN t b ON a.customer_id = b.customer_id",
    "3 <- raw.orders 6",
    """
    customer_id <- raw.orders.customer_id
    s           <- raw.orders.amount AGGREGATION
    again       <- raw.orders.amount AGGREGATION
    *           <- raw.orders.customer_id GROUP_BY, raw.orders.customer_id JOIN
    """,
)
query(
    "joined_itself",
    "SELECT a.order_id, b.amount FROM raw.orders a JOIN raw.orders b ON a.order_id = b.customer_id",
    "6 <- raw.orders 12",
    """
    order_id <- raw.orders.order_id
    amount   <- raw.orders.amount
    *        <- raw.orders.order_id JOIN, raw.orders.customer_id JOIN
    """,
)


@case(
    "CREATE TABLE AS ml.not_adaptive 3 <- raw.customers 3, raw.orders 6",
    columns="""
    name  <- raw.customers.name
    spent <- raw.orders.amount AGGREGATION
    *     <- raw.customers.id JOIN, raw.orders.customer_id JOIN, raw.customers.name GROUP_BY
    """,
)
def not_adaptive(spark: SparkSession, _: Path) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    spark.sql(
        "SELECT name, sum(amount) AS spent FROM raw.orders JOIN raw.customers ON customer_id = id "
        "GROUP BY name"
    ).write.saveAsTable("ml.not_adaptive")


# ---- Windows, generators, sets.

query(
    "ranked",
    "SELECT order_id, row_number() OVER (PARTITION BY customer_id ORDER BY amount) AS nth, "
    "sum(amount) OVER (PARTITION BY dt) AS total, lag(amount, 1) OVER (ORDER BY order_id) AS "
    "before, rank() OVER (ORDER BY dt DESC) AS place FROM raw.orders",
    f"6 {ORDERS}",
    """
    order_id <- raw.orders.order_id
    nth      <- raw.orders.customer_id WINDOW, raw.orders.amount WINDOW
    total    <- raw.orders.amount AGGREGATION, raw.orders.dt WINDOW
    before   <- raw.orders.amount TRANSFORMATION, raw.orders.order_id WINDOW
    place    <- raw.orders.dt WINDOW
    """,
)


@case(
    "CREATE TABLE AS ml.newest 3 <- raw.orders 6",
    columns="""
    customer_id <- raw.orders.customer_id
    order_id    <- raw.orders.order_id
    *           <- raw.orders.customer_id FILTER, raw.orders.dt FILTER
    """,
)
def newest(spark: SparkSession, _: Path) -> None:
    latest = Window.partitionBy("customer_id").orderBy(F.desc("dt"))
    frame = spark.table("raw.orders").withColumn("nth", F.row_number().over(latest))
    frame.where("nth = 1").select("customer_id", "order_id").write.saveAsTable("ml.newest")


query(
    "exploded",
    "SELECT order_id, tag FROM raw.orders LATERAL VIEW explode(tags) t AS tag",
    f"12 {ORDERS}",
    "order_id <- raw.orders.order_id\ntag <- raw.orders.tags TRANSFORMATION\n"
    "* <- raw.orders.tags JOIN",
)
query(
    "exploded_map",
    "SELECT order_id, at, tag, key, value FROM raw.orders LATERAL VIEW OUTER posexplode(tags) t "
    "AS at, tag LATERAL VIEW explode(attrs) u AS key, value",
    f"12 {ORDERS}",
    """
    order_id <- raw.orders.order_id
    at       <- raw.orders.tags TRANSFORMATION
    tag      <- raw.orders.tags TRANSFORMATION
    key      <- raw.orders.attrs TRANSFORMATION
    value    <- raw.orders.attrs TRANSFORMATION
    *        <- raw.orders.tags JOIN
    *        <- raw.orders.attrs JOIN
    """,
)
query(
    "stacked",
    "SELECT id, stack(2, 'name', name, 'email', email) AS (field, value) FROM raw.customers",
    f"6 {PEOPLE}",
    """
    id    <- raw.customers.id
    value <- raw.customers.name, raw.customers.email
    """,
)
query(
    "inlined",
    "SELECT order_id, zip, city FROM raw.orders LATERAL VIEW inline(array(addr)) t AS zip, city",
    f"6 {ORDERS}",
    """
    order_id <- raw.orders.order_id
    zip      <- raw.orders.addr TRANSFORMATION
    city     <- raw.orders.addr TRANSFORMATION
    """,
)
query(
    "united",
    "SELECT order_id AS id, dt AS label FROM raw.orders "
    "UNION ALL SELECT id, name FROM raw.customers",
    "9 <- raw.customers 3, raw.orders 6",
    """
    id    <- raw.orders.order_id, raw.customers.id
    label <- raw.orders.dt, raw.customers.name
    """,
)
query(
    "united_distinct",
    "SELECT customer_id AS id FROM raw.orders UNION SELECT id FROM raw.customers",
    "3 <- raw.customers 3, raw.orders 6",
    """
    id <- raw.orders.customer_id, raw.customers.id
    *  <- raw.orders.customer_id GROUP_BY, raw.customers.id GROUP_BY
    """,
)
query(
    "intersected",
    "SELECT customer_id AS id FROM raw.orders INTERSECT SELECT id FROM raw.customers",
    "3 <- raw.customers 3, raw.orders 6",
    """
    id <- raw.orders.customer_id
    *  <- raw.orders.customer_id JOIN, raw.customers.id JOIN, raw.orders.customer_id GROUP_BY
    """,
)
query(
    "subtracted",
    "SELECT order_id AS id FROM raw.orders EXCEPT SELECT id FROM raw.customers",
    "3 <- raw.customers 3, raw.orders 6",
    """
    id <- raw.orders.order_id
    *  <- raw.orders.order_id JOIN, raw.customers.id JOIN, raw.orders.order_id GROUP_BY
    """,
)


@case(
    "CREATE TABLE AS ml.united_by_name 9 <- raw.customers 3, raw.orders 6",
    columns="""
    id   <- raw.orders.order_id, raw.customers.id
    name <- raw.customers.name
    dt   <- raw.orders.dt
    """,
)
def united_by_name(spark: SparkSession, _: Path) -> None:
    orders = spark.table("raw.orders").selectExpr("order_id AS id", "dt")
    people = spark.table("raw.customers").select("name", "id")
    orders.unionByName(people, allowMissingColumns=True).write.saveAsTable("ml.united_by_name")


LAGS = ", ".join(f"lag(id, {n}) OVER (ORDER BY age) AS c{n}" for n in range(40))


def _lags(of: int) -> str:
    of_each = "raw.customers.id TRANSFORMATION, raw.customers.age WINDOW"
    return "\n".join(f"c{n} <- {of_each}" for n in range(of))


query(
    "wide",
    f"SELECT {LAGS} FROM raw.customers",
    f"3 {PEOPLE}",
    _lags(25),
    gaps="the plan is truncated: raise spark.sql.debug.maxToStringFields",
    older={(3, 5): Instead(columns=_lags(24))},
)


@case("CREATE TABLE AS ml.whole 3 <- raw.customers 3", columns=_lags(40))
def wide_and_whole(spark: SparkSession, _: Path) -> None:
    spark.conf.set("spark.sql.debug.maxToStringFields", "10000")
    spark.sql(f"SELECT {LAGS} FROM raw.customers").write.saveAsTable("ml.whole")
