"""Names without quotes that look like keywords are the names of tables."""

from __future__ import annotations

from collections.abc import Callable

from tests.cases import for_each

Compare = Callable[[str, str, str], None]

TSQL = [
    ("SELECT v.a FROM version v", "version", ""),
    ("SELECT a FROM timestamp AS t, version", "timestamp version", ""),
    ("SELECT * FROM a JOIN cluster.nodes n ON n.i = a.i", "a cluster.nodes", ""),
    ("SELECT * FROM output o WHERE o.a = 1", "output", ""),
    ("SELECT * FROM left.a JOIN right.b ON 1 = 1", "left.a right.b", ""),
    ("SELECT * FROM semi s JOIN anti ON 1 = 1", "semi anti", ""),
    ("SELECT * FROM minus m", "minus", ""),
    ("SELECT * FROM apply", "apply", ""),
    ("SELECT * FROM dbo.t CROSS JOIN limit", "dbo.t limit", ""),
    ("SELECT a INTO output.b FROM limit.c", "limit.c", "SELECT INTO output.b"),
    (
        "INSERT INTO output.sales_stage SELECT * FROM output.sales",
        "output.sales",
        "INSERT output.sales_stage",
    ),
    ("INSERT INTO end.t SELECT * FROM use.x", "use.x", "INSERT end.t"),
    (
        "INSERT INTO t SELECT a FROM plan p WHERE EXISTS (SELECT 1 FROM using u)",
        "plan using",
        "INSERT t",
    ),
    ("UPDATE output SET a = 1", "", "UPDATE output"),
    ("DELETE FROM version WHERE a = 1", "", "DELETE version"),
    ("TRUNCATE TABLE timestamp", "", "TRUNCATE timestamp"),
    (
        "MERGE INTO cluster.nodes AS t USING version v ON 1 = 1 WHEN MATCHED THEN DELETE;",
        "version",
        "MERGE cluster.nodes",
    ),
    (
        "DELETE FROM t OUTPUT deleted.a INTO output.log FROM t JOIN sort.s ON 1 = 1",
        "t sort.s",
        "DELETE t INSERT output.log",
    ),
]
SPARK = [
    ("SELECT * FROM default.people10m", "default.people10m", ""),
    ("FROM default.a SELECT *", "default.a", ""),
    ("SELECT * FROM timestamp t", "timestamp", ""),
    ("SELECT * FROM version VERSION AS OF 3", "version", ""),
    ("SELECT * FROM t TIMESTAMP AS OF '2020-01-01'", "t", ""),
    ("SELECT * FROM a JOIN output o USING (x)", "a output", ""),
    ("SELECT * FROM a, window w WHERE x = 1", "a window", ""),
    ("SELECT * FROM limit", "limit", ""),
    ("SELECT * FROM a LIMIT 5", "a", ""),
    ("SELECT * FROM lateral.x", "lateral.x", ""),
    (
        "CREATE TABLE default.x AS SELECT * FROM default.y",
        "default.y",
        "CREATE TABLE AS default.x",
    ),
    ("INSERT INTO TABLE table.x SELECT * FROM natural.y", "natural.y", "INSERT table.x"),
    # A value, or a name that goes on with one, is no table to the tree either.
    ("SELECT * FROM ${db}.t JOIN u ON a = 1", "u", ""),
    ("SELECT * FROM t_${day} WHERE a = 1", "", ""),
]


@for_each("sql, reads, writes", TSQL)
def test_tsql(sql: str, reads: str, writes: str, tsql_tables: Compare) -> None:
    tsql_tables(sql, reads, writes)


@for_each("sql, reads, writes", SPARK)
def test_spark(sql: str, reads: str, writes: str, tables: Compare) -> None:
    tables(sql, reads, writes)
