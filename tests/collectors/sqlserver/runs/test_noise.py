"""Captured texts that are left out by rule, and those that never are."""

from __future__ import annotations

from dbt_graft.collectors.sqlserver.runs.noise import CATALOG, DRIVER, FORMAT, HEALTH, noise
from tests.cases import for_each

NOISE = [
    ("exec sp_datatype_info_100 @data_type=0,@ODBCVer=4", DRIVER),
    ("exec sys.sp_datatype_info 12", DRIVER),
    ("exec [sys].sp_columns_100 N'Orders',N'dbo',NULL,NULL,@ODBCVer=4", DRIVER),
    ("exec sp_describe_undeclared_parameters N'INSERT INTO dbo.t VALUES (@P1)'", DRIVER),
    ("EXEC sp_describe_first_result_set N'SELECT * FROM dbo.t'", DRIVER),
    ("sp_tables N'%'", DRIVER),
    ("exec sp_columns N'update', N'select'", DRIVER),
    ("SET FMTONLY ON select * from dbo.t SET FMTONLY OFF", FORMAT),
    ("SET FMTONLY ON select * from dbo.t SET FMTONLY OFF SET NO_BROWSETABLE OFF;", FORMAT),
    ("SET FMTONLY OFF; SET NO_BROWSETABLE ON; SET FMTONLY ON; select a from dbo.t", FORMAT),
    ("SELECT 1", HEALTH),
    ("/* ping */ -- now\n select 1;", HEALTH),
    ("SELECT 1 AS alive", HEALTH),
    ("SELECT 1 FROM DUAL", HEALTH),
    ("SELECT @@VERSION", HEALTH),
    ("SELECT DB_NAME(), SUSER_SNAME(), sysdatetime()", HEALTH),
    ("SELECT CAST('test plain returns' AS VARCHAR(60)) AS anon_1", HEALTH),
    ("select CAST(SERVERPROPERTY('ProductVersion') AS VARCHAR)", HEALTH),
    ("exec sp_executesql N'SELECT schema_name()'", HEALTH),
    ("SELECT name FROM sys.databases WHERE name = 'dbo.t'", CATALOG),
    ("exec sp_executesql N'SELECT * FROM [sys].[objects] WHERE a = N''a''',N'@P1 int',1", CATALOG),
    (
        "SELECT [INFORMATION_SCHEMA].[TABLES].[TABLE_NAME] FROM [INFORMATION_SCHEMA].[TABLES] "
        "WHERE [INFORMATION_SCHEMA].[TABLES].[TABLE_SCHEMA] = CAST(@P1 AS NVARCHAR(max))",
        CATALOG,
    ),
    ("SELECT value FROM fn_listextendedproperty(NULL, 'schema', 'dbo', 'table', 't')", CATALOG),
    ("SELECT * FROM sys.fn_my_permissions(NULL, 'SERVER')", CATALOG),
    ("SELECT COUNT(*) FROM master..spt_values", CATALOG),
    ("IF EXISTS (SELECT 1 FROM sys.schemas WHERE name = 'x') SELECT 1 ELSE SELECT 0", CATALOG),
    ("WITH o AS (SELECT * FROM sys.objects) SELECT name FROM o", CATALOG),
]  # fmt: skip

SIGNAL = [
    "EXEC sp_columns N'Orders'; UPDATE dbo.t SET a = 1",
    "exec sp_helptext 'p' exec dbo.load",
    "sp_tables; commit",
    "EXEC sp_help N'dbo.t'\nSELECT a FROM dbo.t",
    "",
    "INSERT INTO dbo.t VALUES (1)",
    "insert bulk dbo.t ([a] INT)",
    "SELECT * FROM dbo.t",
    "SELECT 1 FROM dual.t",
    "SELECT * FROM dbo.t WHERE EXISTS (SELECT 1 FROM sys.objects)",
    "SELECT * FROM dbo.sysorders",
    "SELECT name INTO #t FROM sys.objects",
    "SELECT name INTO dbo.t FROM sys.objects",
    "IF EXISTS (SELECT 1 FROM sys.objects) EXEC dbo.load",
    "IF OBJECT_ID('tempdb..#t') IS NOT NULL DROP TABLE #t",
    "INSERT INTO dbo.log SELECT name FROM sys.objects",
    "SELECT 1; COMMIT",
    "SELECT dbo.next_number()",
    "SELECT * FROM dbo.f_orders('sys.objects')",
    "exec sp_executesql N'INSERT INTO dbo.t SELECT * FROM sys.objects'",
    "exec sp_rename 'dbo.a', 'b'",
    "exec dbo.sp_columns_of_ours",
    "EXEC Shop.dbo.sp_help_customers",
    "SET FMTONLY ON select * from dbo.t SET FMTONLY OFF DELETE FROM dbo.t",
    "SET FMTONLY OFF; DELETE FROM dbo.t",
    "/* SELECT 1 */ DELETE FROM dbo.t /* */ SELECT 1 -- sys",
    "SET IMPLICIT_TRANSACTIONS ON SELECT 1",
    "SELECT 'sys.objects' FROM dbo.t",
]


@for_each("text, rule", NOISE)
def test_left_out(text: str, rule: str) -> None:
    assert noise(text) == rule


@for_each("text", SIGNAL)
def test_never_left_out(text: str) -> None:
    assert noise(text) is None


def test_blanks_without_end_cost_no_more_than_their_length() -> None:
    assert noise(" " * 19_000 + "x") is None
    assert noise("/*" * 9_000) is None
    assert noise("-- \n" * 4_000 + "x") is None
