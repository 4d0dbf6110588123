"""Rows that T-SQL makes in FROM: nested joins, JSON, files, changes with OUTPUT, functions.

A line is a case as in `test_tsql_traffic`: `SQL | edges`, or `| edges | reason`.
"""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

import re
from collections.abc import Sequence

from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from tests.cases import for_each
from tests.collectors.statements.columns.test_tsql_traffic import (
    expected_edges,
    found_edges,
    full_reason,
)

SCHEMA = {
    "known": ["i", "a", "b"],
    "other": ["i", "c", "d"],
    "stale": ["orderkey", "totalprice"],
    "fn_open": ["id", "total"],
}

JOINS = """
INSERT INTO dw.J (a, b) SELECT t1.a, t2.b FROM ((stg.T1 AS t1 LEFT JOIN stg.T2 AS t2 ON t2.id = t1.id) LEFT JOIN stg.T3 AS t3 ON t3.id = t2.id) | J.*=JOIN:T2.id,JOIN:T1.id,JOIN:T3.id J.a=T1.a J.b=T2.b
INSERT INTO dw.J (a, c) SELECT a, c FROM ((known LEFT JOIN other ON known.i = other.i) LEFT JOIN dbo.x ON x.k = known.i) | J.*=JOIN:known.i,JOIN:other.i,JOIN:x.k J.a=known.a J.c=other.c
INSERT INTO dw.J (a) SELECT q.a FROM ((SELECT s.a, s.i FROM dbo.s s) q JOIN dbo.u u ON u.i = q.i) | J.*=JOIN:s.i,JOIN:u.i J.a=s.a
INSERT INTO dw.J (a) SELECT q.a FROM ((SELECT s.a FROM dbo.s s)) q | J.a=s.a
INSERT INTO dw.J (a) SELECT s.a FROM (((dbo.s s))) | J.a=s.a
INSERT INTO dw.J (a, b) SELECT s.a, w.b FROM dbo.s s JOIN ((dbo.u u JOIN dbo.w w ON w.i = u.i) JOIN dbo.x x ON x.i = w.i) ON u.i = s.i | J.*=JOIN:w.i,JOIN:u.i,JOIN:x.i,JOIN:s.i J.a=s.a J.b=w.b
UPDATE t SET a = s.x FROM ((dbo.t t JOIN dbo.s s ON s.i = t.i) JOIN dbo.u u ON u.i = s.i) | t.*=JOIN:s.i,JOIN:u.i t.a=s.x
"""
JSON = """
INSERT INTO dw.Line (oid, sku, qty) SELECT o.id, j.sku, j.qty FROM stg.Doc o CROSS APPLY OPENJSON(o.doc) WITH (sku varchar(20) '$.sku', qty int '$.qty') AS j | Line.oid=Doc.id Line.sku=~Doc.doc Line.qty=~Doc.doc Line.*=JOIN:Doc.doc
INSERT INTO dbo.t (a) SELECT j.a FROM dbo.s CROSS APPLY OPENJSON(doc, '$.items') WITH (a decimal(10, 2) '$."a b"', b nvarchar(max) AS JSON) j WHERE j.b IS NOT NULL | t.*=FILTER:s.doc,JOIN:s.doc t.a=~s.doc
INSERT INTO dbo.t (a) SELECT a FROM dbo.s CROSS APPLY OPENJSON(s.doc) WITH (a nvarchar(4000)) | t.a=~s.doc t.*=JOIN:s.doc
INSERT INTO dbo.t (a) SELECT [a b] FROM dbo.s CROSS APPLY OPENJSON(s.doc) WITH ([a b] nvarchar(40) 'lax $.a', c datetime2(3)) WHERE c > '2026-01-01' | t.*=FILTER:s.doc,JOIN:s.doc t.a=~s.doc
INSERT INTO dbo.t (a, b) SELECT a, b FROM OPENJSON(@json) WITH (a varchar(10), b int) | -
INSERT INTO dbo.t (a, b) SELECT p.a, q.b FROM dbo.s CROSS APPLY OPENJSON(doc) WITH (a char(2), l nvarchar(max) AS JSON) AS p CROSS APPLY OPENJSON(p.l) WITH (b int '$.b') AS q | t.a=~s.doc t.b=~s.doc t.*=JOIN:s.doc
UPDATE t SET a = j.a FROM dbo.t t CROSS APPLY OPENJSON(t.doc) WITH (a varchar(9) '$.a') j | t.a=~t.doc
MERGE dbo.t AS t USING (SELECT * FROM dbo.s CROSS APPLY OPENJSON(doc) WITH (i int, a varchar(9))) AS s ON s.i = t.i WHEN MATCHED THEN UPDATE SET a = s.a; | t.*=JOIN:s.doc t.a=~s.doc
INSERT INTO dbo.t (a) SELECT JSON_OBJECT('k': s.x, 'l': s.y) FROM dbo.s s | t.a=~s.x,~s.y
INSERT INTO dbo.t (a) SELECT JSON_OBJECT('k':s.x NULL ON NULL) FROM dbo.s s | t.a=~s.x
INSERT INTO dbo.t (a) SELECT JSON_OBJECT(s.n: JSON_ARRAY(s.x, s.y ABSENT ON NULL) RETURNING json) FROM dbo.s s | t.a=~s.n,~s.x,~s.y
INSERT INTO dbo.t (a) SELECT JSON_ARRAY(s.x, 1, NULL NULL ON NULL) FROM dbo.s s | t.a=~s.x
INSERT INTO dbo.t (a) SELECT JSON_ARRAY() FROM dbo.s s | -
INSERT INTO dbo.t (a) SELECT JSON_VALUE(s.doc, '$.a' RETURNING decimal(10, 2)) FROM dbo.s s | t.a=~s.doc
INSERT INTO dbo.t (a) SELECT JSON_QUERY(s.doc, '$.a' WITH ARRAY WRAPPER) FROM dbo.s s | t.a=~s.doc
INSERT INTO dbo.t (a, b) SELECT JSON_OBJECTAGG(s.k : s.v NULL ON NULL), JSON_ARRAYAGG(s.v ORDER BY s.d NULL ON NULL) FROM dbo.s s | t.a=+s.k,+s.v t.b=+s.v,SORT:s.d
INSERT INTO dbo.t (a) SELECT x.a FROM OPENXML(@doc, '/r/o', 2) WITH (a varchar(10) '@a', b int 'b') AS x JOIN dbo.s s ON s.i = x.b | t.*=JOIN:s.i
INSERT INTO dbo.t (a) SELECT a FROM OPENXML(@doc, '/r/o', 2) WITH dbo.s | -
"""
FILES = """
INSERT INTO dbo.t (a) SELECT f.a FROM OPENROWSET(BULK 'https://acc.blob.core.windows.net/lake/in/*.parquet', FORMAT = 'PARQUET') AS f | t.a=*.parquet.a
INSERT INTO dbo.t (a, b) SELECT * FROM OPENROWSET(BULK 'C:\\in\\x.csv', FORMAT = 'CSV', FIRSTROW = 2) WITH (x varchar(10), y int 2) AS f | t.a=x.csv.x t.b=x.csv.y
INSERT INTO dbo.t (a) SELECT BulkColumn FROM OPENROWSET(BULK N'\\\\fs\\share\\x.json', SINGLE_CLOB) AS j | t.a=x.json.BulkColumn
INSERT INTO dbo.t (a) SELECT r.v FROM OPENROWSET(BULK '/in/x.json', SINGLE_CLOB) AS j CROSS APPLY OPENJSON(j.BulkColumn) WITH (v varchar(10)) AS r | t.a=~x.json.BulkColumn t.*=x.json.BulkColumn
"""
COMPOSED = """
INSERT INTO dw.Hist (id, old) SELECT x.id, x.old FROM (DELETE FROM dw.Cur OUTPUT deleted.id, deleted.v AS old WHERE v > 1) AS x | Hist.*=FILTER:Cur.v Hist.id=Cur.id Hist.old=Cur.v
INSERT INTO dbo.log (i, act) SELECT m.i, m.act FROM (MERGE dbo.t AS t USING dbo.s AS s ON s.i = t.i WHEN MATCHED THEN UPDATE SET a = s.x OUTPUT $action, deleted.i) AS m (act, i) WHERE m.act = 'UPDATE'; | t.*=JOIN:s.i t.a=s.x log.*=JOIN:s.i,JOIN:t.i log.i=t.i
INSERT INTO dbo.log (i, b) SELECT u.i, u.b FROM (UPDATE t SET a = s.x OUTPUT inserted.i, deleted.a AS b FROM dbo.t t JOIN dbo.s s ON s.i = t.i) u | t.*=JOIN:s.i t.a=s.x log.*=JOIN:s.i,JOIN:t.i log.i=t.i log.b=t.a
INSERT dbo.log (i) SELECT i FROM (INSERT INTO dbo.t (a) OUTPUT inserted.i SELECT s.x FROM dbo.s s) n | t.a=s.x log.i=t.i
"""
FUNCTIONS = """
INSERT INTO dbo.t (a) SELECT f.total FROM dbo.s s CROSS APPLY dbo.fn_open(s.x) f | t.a=fn_open.total,~s.x t.*=JOIN:s.x
INSERT INTO dbo.t (a, b) SELECT * FROM dbo.fn_open(1) | t.a=fn_open.id t.b=fn_open.total
INSERT INTO dbo.t (a) SELECT f.v FROM dbo.s s CROSS APPLY dbo.fn(s.x, 1) f | t.a=~s.x t.*=JOIN:s.x | ! what the function dbo.fn reads is not known
INSERT INTO dbo.t (bkt) SELECT DATE_BUCKET(week, 1, s.d) FROM dw.S s | t.bkt=~S.d
INSERT INTO dbo.t (bkt) SELECT DATE_BUCKET(week, 1, d, CAST('2026-01-01' AS date)) FROM dw.S | t.bkt=~S.d
INSERT INTO dbo.t (a, b, c) SELECT DATETRUNC(iso_week, d), DATENAME(weekday, d), DATEDIFF_BIG(ns, d, e) FROM dw.S | t.a=~S.d t.b=~S.d t.c=~S.d,~S.e
INSERT INTO dbo.t (a) SELECT {fn TIMESTAMPADD(SQL_TSI_DAY, 1, d)} FROM dw.S | t.a=~S.d
INSERT INTO dbo.t (a) SELECT TRIM(LEADING 'x' FROM s.n) FROM dw.S s | t.a=~S.n
INSERT INTO dbo.t (a, b, c, d) SELECT USER, SYSTEM_USER, CURRENT_TIMESTAMP, SESSION_USER FROM dw.S | -
INSERT INTO dbo.t (a) SELECT [USER] FROM dw.S | t.a=S.USER
INSERT INTO dbo.t (a) SELECT s.[User] FROM dw.S s WHERE CURRENT_USER = s.o | t.*=FILTER:S.o t.a=S.User
"""
PLACED = """
INSERT INTO dbo.tgt (a) SELECT o.new_column FROM stale AS o | tgt.a=stale.new_column
INSERT INTO dbo.tgt (a) SELECT new_column FROM stale | tgt.a=stale.new_column
INSERT INTO dbo.tgt (a) SELECT new_column FROM stale, known | - | a column's table is not known
INSERT INTO dbo.tgt (a) SELECT o.orderkey FROM stale o WHERE EXISTS (SELECT 1 FROM known WHERE i = new_column) | tgt.*=FILTER:known.i tgt.a=stale.orderkey | a column's table is not known
UPDATE o SET o.new_column = k.a FROM stale o JOIN known k ON k.i = o.orderkey | stale.*=JOIN:known.i stale.new_column=known.a
MERGE stale AS o USING known AS k ON k.i = o.orderkey WHEN MATCHED THEN UPDATE SET new_column = k.new_too; | stale.*=JOIN:known.i stale.new_column=known.new_too
INSERT INTO known SELECT o.orderkey, o.totalprice FROM stale o | known.*=stale.orderkey,stale.totalprice | the target has other columns than those that are inserted
"""


def cases(text: str) -> list[tuple[str, str, str]]:
    lines = [line.split(" | ") for line in text.splitlines() if line]
    return [(sql, edges, *(reason or [""])) for sql, edges, *reason in lines]


def columns(database: str | None, table: Name) -> Sequence[str]:
    return SCHEMA.get(table[-1], ())


ALL = (JOINS, JSON, FILES, COMPOSED, FUNCTIONS, PLACED)


@for_each("sql, edges, reason", cases("\n".join(ALL)))
def test_columns_of_rows_made_in_from(sql: str, edges: str, reason: str) -> None:
    shapes = parse(sql, Dialect.TSQL, columns)
    found = {
        name: {re.sub(r"([~+]?).*[/\\]", r"\1", source) for source in sources}
        for name, sources in found_edges(shapes).items()
    }
    full = full_reason(reason)
    assert found == expected_edges(edges)
    assert [shape.reason for shape in shapes if shape.reason] == ([full] if reason else [])
