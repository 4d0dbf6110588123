"""Models that read from outside of their database: the file, stage or table is an input."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from dbt_graft.lineage.dataset import DatasetId
from tests.cases import for_each
from tests.collectors.dbt.project import DbtProject

# Adapter, query -> its column edges.
READ = [
    ("duckdb", "select id as payment_id, amount from read_parquet('d.parquet')", "amount<-file/shop/d.parquet.amount payment_id<-file/shop/d.parquet.id"),
    ("duckdb", "select p.id from read_csv('s3://lake/raw/payments/*.csv', delim = ';') p", "id<-s3://lake/raw/payments.id"),
    ("duckdb", "select id from read_json_auto(['a/1.json', 'a/2.json'])", "id<-file/shop/a.id"),
    ("duckdb", "select id from delta_scan('s3://lake/orders')", "id<-s3://lake/orders.id"),
    ("duckdb", "select id from iceberg_scan('s3://lake/orders')", "id<-s3://lake/orders.id"),
    ("duckdb", "select id from 'data/orders.csv'", "id<-file/shop/data/orders.csv.id"),
    ("duckdb", "select id from postgres_scan('host=crm dbname=shop user=x password=y', 'public', 'orders')", "id<-postgres://crm:5432/shop.public.orders.id"),
    ("duckdb", "select t.n from read_csv('d.csv') as t(n)", "n<-file/shop/d.csv.*"),
    ("snowflake", "select $1:id::int as payment_id from @raw.stage/payments.json", "payment_id<-pg/@db.raw.stage/payments.json.$1:T"),
    ("snowflake", "select t.$2 as amount from @stage t", "amount<-pg/@db.s.stage.$2"),
    ("bigquery", "select id from EXTERNAL_QUERY('proj.eu.conn', 'SELECT id FROM pay')", "id<-proj.eu.conn/pay.id"),
    ("databricks", "select id from read_files('s3://b/x', format => 'json')", "id<-s3://b/x.id"),
    ("databricks", "select id from stream read_files('/Volumes/x/y', format => 'json')", "id<-dbfs/Volumes/x/y.id"),
    ("databricks", "select id from delta.`s3://b/Orders`", "id<-s3://b/Orders.id"),
    ("spark", "select id from parquet.`/lake/orders`", "id<-file/lake/orders.id"),
    ("clickhouse", "select id from s3('https://b/x.parquet', 'Parquet')", "id<-https://b/x.parquet.id"),
    ("clickhouse", "select id from s3Cluster('main', 's3://b/x.parquet', 'Parquet')", "id<-s3://b/x.parquet.id"),
    ("clickhouse", "select id from postgresql('crm:5432', 'shop', 'orders', 'me', 'secret')", "id<-postgres://crm:5432/shop.public.orders.id"),
    ("clickhouse", "select id from mysql('crm:3306', 'shop', 'orders', 'me', 'secret')", "id<-mysql://crm:3306/shop.orders.id"),
    ("postgres", "select id from dblink('dbname=x', 'select id from t') as t(id int)", "id<-pg/x.public.t.id"),
    ("postgres", "select n from dblink('host=crm dbname=x', 'select id from a.t where day > 1') as t(n int)", "*<-postgres://crm:5432/x.a.t.day:FILTER n<-postgres://crm:5432/x.a.t.id"),
    ("postgres", "select id from dblink('dbname=x', 'select id from x.public.t') as t(id int)", "id<-pg/x.public.t.id"),
    ("fabric", "select id from OPENROWSET(BULK 'https://a/x/*.parquet', FORMAT='PARQUET') AS r", "id<-https://a/x.id"),
    ("fabric", "select id from OPENROWSET(BULK 'https://a/x/*.csv', FORMAT='CSV') WITH (id int 1) AS r", "id<-https://a/x.id"),
]  # fmt: skip


@for_each("adapter, sql, edges", READ)
def test_the_columns_come_from_outside(adapter: str, sql: str, edges: str) -> None:
    project = DbtProject(adapter)
    project.model("m", sql)
    assert project.full_edges("m").replace("TRANSFORMATION", "T") == edges
    assert project.follow().gaps == {}


@for_each(
    "adapter, source, function",
    [
        ("duckdb", "read_parquet(getenv('PLACE'))", "read_parquet"),
        ("duckdb", "postgres_scan('', 'public', 'orders')", "postgres_scan"),
        ("snowflake", "table(my_udtf('x'))", "my_udtf"),
        ("bigquery", "EXTERNAL_QUERY('proj.eu.conn', 'CALL load()')", "external_query"),
        ("bigquery", "d.my_tvf('x')", "my_tvf"),
        ("databricks", "read_kafka(bootstrapServers => 'x', subscribe => 'y')", "read_kafka"),
        ("clickhouse", "s3(named_collection)", "s3"),
        ("clickhouse", "file('x.csv')", "file"),
        ("clickhouse", "remote('h:9000', db.t)", "remote"),
        ("snowflake", "table(information_schema.query_history())", "query_history"),
        ("oracle", "table(shop.rows_of('x'))", "rows_of"),
        ("trino", "table(pg.system.query(query => 'select id from t'))", "query"),
        ("postgres", "dblink('conn', 'select id from t') as t(id int)", "dblink"),
        ("fabric", "OPENROWSET(BULK 'x/*.parquet', DATA_SOURCE = 'lake') AS r", "openrowset"),
        ("fabric", "OPENROWSET(BULK N'C:\\x.jpg', SINGLE_BLOB) AS r", "openrowset"),
        ("fabric", "OPENQUERY(srv, 'select id from t') AS r", "openquery"),
    ],
)
def test_a_place_that_is_not_written_is_a_gap(adapter: str, source: str, function: str) -> None:
    project = DbtProject(adapter)
    key = project.model("m", f"select id from {source}")
    assert project.follow().gaps == {key: f"a table function is not followed: {function}"}


@for_each(
    "adapter, source",
    [
        ("duckdb", "range(10) t(id)"),
        ("postgres", "generate_series(1, 10) as id"),
        ("snowflake", "table(generator(rowcount => 10)) as t(id)"),
        ("clickhouse", "(select number as id from numbers(10))"),
        ("databricks", "explode(array(1, 2)) as t(id)"),
        ("bigquery", "unnest([1, 2]) as id"),
    ],
)
def test_rows_that_a_function_makes_of_constants_are_no_gap(adapter: str, source: str) -> None:
    project = DbtProject(adapter)
    project.model("m", f"select id from {source}")
    assert (project.edges("m"), project.follow().gaps) == ("", {})


def test_a_file_of_which_no_column_is_taken_is_an_input() -> None:
    project = DbtProject("duckdb")
    key = project.model("m", "select count(*) as n from read_parquet('d.parquet')")
    followed = project.follow()
    assert followed.reads == {key: (DatasetId("file", "/shop/d.parquet"),)}
    assert (followed.edges[key], followed.gaps) == ((), {})


def test_a_file_of_a_source_is_the_source() -> None:
    project = DbtProject("duckdb")
    source = project.source("orders", "id amount")
    project.files["lake/orders.parquet"] = project.datasets[source]
    project.model("m", "select * from read_parquet('lake/orders.parquet')", reads=source)
    assert project.edges("m") == "amount<-orders.amount id<-orders.id"


def test_an_ephemeral_model_passes_on_what_it_reads() -> None:
    project = DbtProject("duckdb")
    ephemeral = project.model(
        "e", "select 1 as one from 'd.csv'", config={"materialized": "ephemeral"}
    )
    key = project.model("m", "select one from __dbt__cte__e", reads=ephemeral)
    assert project.follow().reads == {key: (DatasetId("file", "/shop/d.csv"),)}


def test_no_secret_of_a_place_is_kept() -> None:
    project = DbtProject("clickhouse")
    project.model("m", "select id from url('https://me:s3cret@b/x.csv?token=s3cret', 'CSV')")
    assert "s3cret" not in str(project.follow())
