"""Files that T-SQL reads and writes: BULK INSERT, COPY INTO, OPENROWSET(BULK …), external tables."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.dataset import Kind
from tests.cases import for_each

NOT_KNOWN = "the file that is read is not known"

READ = [
    ("BULK INSERT dbo.t FROM 'C:\\in\\x.csv' WITH (FIRSTROW = 2)", {"C:\\in\\x.csv"}),
    ("BULK INSERT [d b].dbo.t FROM N'\\\\fs\\in\\x.csv'", {"\\\\fs\\in\\x.csv"}),
    ("bulk insert #t from '/in/x.csv' with (rowterminator = '\\n')", {"/in/x.csv"}),
    (
        "COPY INTO dbo.t (a 1, b DEFAULT 2 3) FROM 'https://a.blob.core.windows.net/c/x.csv'"
        ", 'https://a.blob.core.windows.net/c/y.csv' WITH (FILE_TYPE = 'CSV')",
        {"https://a.blob.core.windows.net/c/x.csv", "https://a.blob.core.windows.net/c/y.csv"},
    ),
    (
        "SELECT * FROM OPENROWSET(BULK 'abfss://c@a.dfs.core.windows.net/x/*.parquet',"
        " FORMAT = 'PARQUET') AS r JOIN dbo.t t ON t.i = r.i",
        {"abfss://c@a.dfs.core.windows.net/x/*.parquet", "dbo.t"},
    ),
    ("EXEC ('BULK INSERT dbo.t FROM ''C:\\in\\x.csv''')", {"C:\\in\\x.csv"}),
    ("BULK INSERT t FROM 'x.csv' WITH (ORDER (a ASC), DATA_SOURCE = 'lake')", {"data_source://lake/x.csv"}),
    ("SELECT a INTO t FROM OPENROWSET(BULK '/x/*.csv', FORMAT = 'CSV', DATA_SOURCE = N'my lake') r", {"data_source://my lake/x/*.csv"}),
    ("SELECT a INTO t FROM OPENROWSET(BULK '/x.csv', SINGLE_CLOB) r JOIN OPENROWSET(BULK 'y.csv', DATA_SOURCE = 'lake', SINGLE_CLOB) s ON 1 = 1", {"/x.csv", "data_source://lake/y.csv"}),
    ("BULK INSERT t FROM 'https://h/x.csv' WITH (DATA_SOURCE = 'lake')", {"https://h/x.csv"}),
    ("DECLARE @f nvarchar(9) = N'C:\\x.csv'; EXEC (N'BULK INSERT t FROM ''' + @f + '''')", {"C:\\x.csv"}),
]  # fmt: skip
AS = "FILE_FORMAT = f) AS SELECT a FROM u"
WRITTEN = [
    (f"CREATE EXTERNAL TABLE t WITH (LOCATION = N'/out/x', DATA_SOURCE = lake, {AS}", {"t", "data_source://lake/out/x"}, None),
    (f"CREATE EXTERNAL TABLE [my t] WITH (DATA_SOURCE = [my ]]lake], LOCATION = 'x/', {AS}", {"my t", "data_source://my ]lake/x/"}, None),
    (f"CREATE EXTERNAL TABLE t (location, [LOCATION = 'y']) WITH (LOCATION = 'abfss://c@a.dfs.core.windows.net/x', {AS}", {"t", "abfss://c@a.dfs.core.windows.net/x"}, None),
    (f"CREATE EXTERNAL TABLE t WITH (LOCATION = 'x', DATA_SOURCE = 'a/b', {AS}", {"t"}, "the file that is written is not known"),
    (f"CREATE EXTERNAL TABLE t WITH (LOCATION = @place, DATA_SOURCE = lake, {AS}", {"t"}, "the file that is written is not known"),
    # It reads them, when it is asked.
    ("CREATE EXTERNAL TABLE t (a int) WITH (LOCATION = '/in', DATA_SOURCE = lake, FILE_FORMAT = f)", {"t"}, None),
]  # fmt: skip
NO_FILE = [
    ("BULK INSERT t FROM 'x.csv' WITH (FORMATFILE = 'DATA_SOURCE = 1')", NOT_KNOWN),
    ("BULK INSERT t FROM '/in/x.csv' WITH (DATA_SOURCE = @lake)", NOT_KNOWN),
    ("BULK INSERT t FROM 'x.csv' WITH (DATA_SOURCE = 'a/b')", NOT_KNOWN),
    ("EXEC (N'BULK INSERT t FROM ''' + @file + '''')", NOT_KNOWN),
    ("SELECT a INTO t FROM OPENROWSET('Microsoft.ACE.OLEDB.12.0', 'Excel 12.0;Database=C:\\x.xlsx', 'SELECT * FROM [S$]') r", "what OPENROWSET reads is not known"),
]  # fmt: skip
SECRETS = [
    "COPY INTO t FROM 'https://a.blob.core.windows.net/c/x?sv=1&sig=secret99'",
    "BULK INSERT t FROM 'https://me:secret99@host/c/x.csv'",
    "SELECT * FROM OPENROWSET(BULK 'https://h/x.csv?token=secret99', SINGLE_CLOB) r",
    f"CREATE EXTERNAL TABLE t WITH (LOCATION = 'https://a.net/c/x?sv=1&sig=secret99', {AS}",
    "COPY INTO t FROM 'https://h/x' WITH (CREDENTIAL = (IDENTITY = 'SAS', SECRET = 'secret99'))",
]


@for_each("sql, reads", READ)
def test_a_file_is_an_input(sql: str, reads: set[str]) -> None:
    shape = parse(sql, Dialect.TSQL)[-1]
    assert shape.reads == reads
    assert {a.kind for a in shape.accesses if a.name[-1] in reads - {"dbo.t"}} == {Kind.PATH} or (
        reads == {"dbo.t"}
    )


@for_each("sql, writes, reason", WRITTEN)
def test_the_files_of_an_external_table_are_written_with_it(
    sql: str, writes: set[str], reason: str | None
) -> None:
    (shape,) = parse(sql, Dialect.TSQL)
    assert (shape.writes, shape.reason) == (writes, reason)


@for_each("sql, reason", NO_FILE)
def test_a_file_whose_place_is_not_known_is_a_gap(sql: str, reason: str) -> None:
    shape = parse(sql, Dialect.TSQL)[-1]
    assert (shape.reads, shape.reason) == (set(), reason)


@for_each("sql", SECRETS)
def test_no_secret_of_a_path_stays(sql: str) -> None:
    assert "secret99" not in normalise(sql, Dialect.TSQL)


def test_a_long_path_stays() -> None:
    path = "C:\\" + "in\\" * 60 + "x.csv"
    (shape,) = parse(f"BULK INSERT t FROM '{path}'", Dialect.TSQL)
    assert shape.reads == {path}
