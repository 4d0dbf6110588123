"""JDBC URLs of every form name the database as OpenLineage does, and hold no secret."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.spark.sources.databases import database_of, name_parts
from tests.cases import for_each

SQL_SERVER = [
    ("sqlserver://crm:1433;databaseName=Shop", "mssql://crm:1433/Shop.dbo.Orders"),
    ("sqlserver://CRM;database=Shop;encrypt=true", "mssql://crm:1433/Shop.dbo.Orders"),
    ("sqlserver://crm:1444;DatabaseName={Shop};user=a", "mssql://crm:1444/Shop.dbo.Orders"),
    (
        "sqlserver://;serverName=crm;portNumber=1444;databaseName=Shop",
        "mssql://crm:1444/Shop.dbo.Orders",
    ),
    ("sqlserver://;server=crm;port=1444;database=Shop", "mssql://crm:1444/Shop.dbo.Orders"),
    ("sqlserver://crm\\east:1444;databaseName=Shop", "mssql://crm:1444/Shop.dbo.Orders"),
    ("sqlserver://crm\\east;databaseName=Shop", "mssql://crm\\east/Shop.dbo.Orders"),
    ("sqlserver://crm;instanceName=east;databaseName=Shop", "mssql://crm\\east/Shop.dbo.Orders"),
    ("sqlserver://;serverName=crm\\east;databaseName=Shop", "mssql://crm\\east/Shop.dbo.Orders"),
    ("sqlserver://[::1]:1433;databaseName=Shop", "mssql://[::1]:1433/Shop.dbo.Orders"),
    (
        "sqlserver://a.database.windows.net:1433;database=Shop;password={x;y=z}",
        "mssql://a.database.windows.net:1433/Shop.dbo.Orders",
    ),
    (
        "sqlserver://crm;password={a}}b;databaseName=No};databaseName=Shop",
        "mssql://crm:1433/Shop.dbo.Orders",
    ),
    ("sqlserver://crm:1433", "mssql://crm:1433/dbo.Orders"),
    (
        "sqlserver://x.datawarehouse.fabric.microsoft.com:1433;database=Shop",
        "fabric-warehouse://x.datawarehouse.fabric.microsoft.com/Shop.dbo.Orders",
    ),
    ("jtds:sqlserver://crm:1433/Shop;user=a", "mssql://crm:1433/Shop.dbo.Orders"),
    ("microsoft:sqlserver://crm:1433;DatabaseName=Shop", "mssql://crm:1433/Shop.dbo.Orders"),
]
OTHERS = [
    ("postgresql://pg:5432/shop", "postgres://pg:5432/shop.public.Orders"),
    (
        "postgresql://joe:hunter2@pg/shop?user=x&password=hunter2",
        "postgres://pg:5432/shop.public.Orders",
    ),
    ("postgresql://a:1,b:2/shop?currentSchema=raw", "postgres://a:1/shop.raw.Orders"),
    ("mysql://db/shop?useSSL=false", "mysql://db:3306/shop.Orders"),
    ("oracle:thin:scott/tiger@//ora:1521/XE", "oracle://ora:1521/XE.Orders"),
    ("oracle:thin:@ora:1521:XE", "oracle://ora:1521/XE.Orders"),
    ("oracle:thin:@tcps://ora:2484/XE", "oracle://ora:2484/XE.Orders"),
    ("ch://h/shop", "clickhouse://h:8123/shop.Orders"),
    ("teradata://h/DATABASE=shop,USER=u", "teradata://h:1025/shop.Orders"),
    (
        "oracle:thin:@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=ora)(PORT=1522))(CONNECT_DATA=(SERVICE_NAME=XE)))",
        "oracle://ora:1522/XE.Orders",
    ),
    (
        "redshift://c.eu.redshift.amazonaws.com:5439/dev",
        "redshift://c.eu.redshift.amazonaws.com:5439/dev.public.Orders",
    ),
    (
        "snowflake://org-acc.snowflakecomputing.com/?db=DW&schema=RAW",
        "snowflake://org-acc/DW.RAW.Orders",
    ),
    (  # as OpenLineage and dbt's profile have it
        "snowflake://xy12345.eu-west-1.snowflakecomputing.com/?db=DW&schema=RAW",
        "snowflake://xy12345.eu-west-1.aws/DW.RAW.Orders",
    ),
    (
        "snowflake://xy12345.west-europe.azure.snowflakecomputing.com:443/?db=DW&schema=RAW",
        "snowflake://xy12345.west-europe.azure/DW.RAW.Orders",
    ),
    ("db2://h:50000/shop:user=a;password=hunter2;", "db2://h:50000/shop.Orders"),
    ("derby:memory:shop;create=true;password=hunter2", "derby/memory:shop.Orders"),
]


@for_each("url, dataset", [*SQL_SERVER, *OTHERS])
def test_a_url_and_a_table_make_a_dataset(url: str, dataset: str) -> None:
    assert str(database_of(f"jdbc:{url}").table(("Orders",))) == dataset


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("Orders",), "Shop.dbo.Orders"),
        (("sales", "Orders"), "Shop.sales.Orders"),
        (("Crm", "dbo", "Orders"), "Crm.dbo.Orders"),
        (("Crm", "", "Orders"), "Crm.dbo.Orders"),
        (("srv", "Crm", "dbo", "Orders"), "Crm.dbo.Orders"),
    ],
)
def test_what_a_name_leaves_out_is_the_connections(parts: tuple[str, ...], name: str) -> None:
    assert database_of("jdbc:sqlserver://crm;databaseName=Shop").table(parts).name == name


@for_each(
    "url, parts, name",
    [
        ("mysql://h/shop", ("sales", "orders"), "sales.orders"),  # of another database
        ("mariadb://h/shop", ("def", "sales", "orders"), "sales.orders"),
        ("clickhouse://h/shop", ("orders",), "shop.orders"),
        ("teradata://h/DATABASE=shop", ("sales", "orders"), "sales.orders"),
    ],
)
def test_where_a_database_has_no_schemas_two_parts_are_database_and_table(
    url: str, parts: tuple[str, ...], name: str
) -> None:
    assert database_of(f"jdbc:{url}").table(parts).name == name


@pytest.mark.parametrize("url", ["", "*********(redacted)", "jdbc:", "postgresql://pg/shop"])
def test_a_text_that_is_no_url_names_no_database(url: str) -> None:
    assert str(database_of(url).table(("dbo", "Orders"))) == "jdbc/dbo.Orders"


@for_each(
    "text, parts",
    [
        ("dbo.Orders", ("dbo", "Orders")),
        ("[dbo].[Order ]] Lines]", ("dbo", "Order ] Lines")),
        ('"APP"."CUST"', ("APP", "CUST")),
        ("`shop`.`orders`", ("shop", "orders")),
        ("Crm..Orders", ("Crm", "", "Orders")),
        ("(select 1) q", ()),
        ("", ()),
    ],
)
def test_names_are_read_in_every_databases_quotes(text: str, parts: tuple[str, ...]) -> None:
    assert name_parts(text) == parts
