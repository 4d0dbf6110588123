"""Tables and variables that earlier statements of a session leave to later ones.

A line is a text, and the column edges of its last statement, `target=source`; a reason behind them
says why columns are missing.
"""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from tests.cases import for_each
from tests.collectors.statements.columns.test_tsql_traffic import expected_edges, found_edges

TSQL = """
SELECT s.id, s.name INTO #n FROM stg.P s; INSERT INTO dw.P (pid, pname) SELECT * FROM #n | P.pid=#n.id P.pname=#n.name
SELECT s.id, 1 AS one, GETDATE() AS at INTO #n FROM stg.P s; INSERT INTO dw.P (a, b, c) SELECT x.* FROM #n AS x | P.a=#n.id P.b=#n.one P.c=#n.at
SELECT s.id INTO #n FROM stg.P s SELECT * INTO #m FROM #n INSERT INTO dw.P (a) SELECT * FROM #m | P.a=#m.id
CREATE TABLE #n (id int PRIMARY KEY, name varchar(20), CONSTRAINT c CHECK (id > 0)); INSERT INTO dw.P (a, b) SELECT * FROM #n | P.a=#n.id P.b=#n.name
DECLARE @n TABLE (id int, name varchar(20)); INSERT INTO dw.P (a, b) SELECT * FROM @n | P.a=@n.id P.b=@n.name
DECLARE @x int, @n AS TABLE (id int); INSERT INTO dw.P (a) SELECT n.* FROM @n n | P.a=@n.id
CREATE TABLE #n (id int IDENTITY(1, 1), name varchar(20)); INSERT INTO #n SELECT s.name FROM dbo.s s | #n.*=s.name | columns not resolved: the target has other columns than those that are inserted
CREATE TABLE #n (id int, name varchar(20)); INSERT INTO #n SELECT s.i, s.name FROM dbo.s s | #n.id=s.i #n.name=s.name
SELECT a INTO #n FROM dbo.s; DROP TABLE #n; SELECT b, c INTO #n FROM dbo.s; INSERT INTO dw.P (x, y) SELECT * FROM #n | P.x=#n.b P.y=#n.c
IF @x = 1 SELECT a INTO #n FROM dbo.s ELSE SELECT b INTO #n FROM dbo.s INSERT INTO dw.P (x) SELECT * FROM #n | P.*=#n.* | columns not resolved: * stands for columns that are not known
SELECT a INTO #n FROM dbo.s; ALTER TABLE #n ADD b int; INSERT INTO dw.P (x, y) SELECT * FROM #n | P.*=#n.* | columns not resolved: * stands for columns that are not known
SELECT * INTO #n FROM dbo.s; INSERT INTO dw.P (x) SELECT * FROM #n | P.*=#n.* | columns not resolved: * stands for columns that are not known
SELECT s.id INTO dbo.made FROM stg.P s; INSERT INTO dw.P (a) SELECT * FROM dbo.made | P.a=made.id
SELECT k, v INTO #n FROM dbo.s; INSERT INTO dw.P (x) SELECT n.k FROM #n n JOIN dbo.u u ON u.k = n.k WHERE v > 1 | P.*=JOIN:u.k,JOIN:#n.k,FILTER:#n.v P.x=#n.k
CREATE PROCEDURE p AS SELECT s.id INTO #n FROM stg.P s; INSERT INTO dw.P (a) SELECT * FROM #n | P.a=#n.id
DECLARE @v int; SELECT @v = MAX(id) FROM dbo.s; INSERT INTO dw.P (a) VALUES (@v) | - | columns not resolved: what a variable holds is not followed
DECLARE @v int = (SELECT MAX(id) FROM dbo.s); INSERT INTO dw.P (a) SELECT @v + x FROM dbo.u | P.a=~u.x | columns not resolved: what a variable holds is not followed
DECLARE @v int = (SELECT MAX(id) FROM dbo.s), @w decimal(9, 2) = 5, @u int; INSERT INTO dw.P (a, b) SELECT @w, @u | -
DECLARE @v int = dbo.f(1), @w int = 5; INSERT INTO dw.P (a) SELECT @w | -
DECLARE @w int = 5, @v int = dbo.f(1); INSERT INTO dw.P (a) SELECT @v | - | columns not resolved: what a variable holds is not followed
SET @v = (SELECT MAX(id) FROM dbo.s) SET @w = @v + 1 UPDATE dw.P SET a = @w | - | columns not resolved: what a variable holds is not followed
DECLARE c CURSOR FOR SELECT id FROM dbo.s; OPEN c; FETCH NEXT FROM c INTO @i, @j; INSERT INTO dw.P (a) VALUES (@j) | - | columns not resolved: what a variable holds is not followed
EXEC dbo.next_id @id OUTPUT; INSERT INTO dw.P (a) VALUES (@id) | - | columns not resolved: what a variable holds is not followed
EXEC sp_executesql N'SELECT @x = MAX(id) FROM dbo.s', N'@x int OUTPUT', @x = @id OUTPUT; INSERT INTO dw.P (a) VALUES (@id) | - | columns not resolved: what a variable holds is not followed
EXEC sp_executesql N'SELECT @x = MAX(id) FROM dbo.s WHERE i = @i', N'@i int, @x int OUTPUT', 1, @id OUT; UPDATE dw.P SET a = @id | - | columns not resolved: what a variable holds is not followed
EXEC sp_executesql N'SET @x = @i + 1', N'@i int, @x int OUTPUT', 1, @id OUT; UPDATE dw.P SET a = @id | -
CREATE FUNCTION dbo.f() RETURNS @r TABLE (a int PRIMARY KEY, b int) AS BEGIN INSERT INTO @r SELECT x, y FROM dbo.s | @r.a=s.x @r.b=s.y
CREATE PROCEDURE p @v int, @w dbo.w READONLY AS INSERT INTO dw.P (a, b) SELECT @v, w.x FROM @w w | P.b=@w.x | columns not resolved: what a variable holds is not followed
CREATE PROCEDURE p @v nvarchar(max) AS UPDATE dw.P SET a = j.a FROM OPENJSON(@v) WITH (a int) AS j | - | columns not resolved: what a variable holds is not followed
CREATE PROCEDURE p @v int AS INSERT INTO dw.P (a) SELECT x FROM dbo.u WHERE y = @v | P.*=FILTER:u.y P.a=u.x
SELECT @v = MAX(id) FROM dbo.s; DELETE FROM dw.P WHERE id > @v | -
SELECT a FROM dbo.s WHERE @v IS NULL OR @v = a; INSERT INTO dw.P (a) VALUES (@v) | -
UPDATE dbo.s SET @v = a, b = b + 1 WHERE c = 1; INSERT INTO dw.P (a) VALUES (@v) | - | columns not resolved: what a variable holds is not followed
SELECT @u = 1, @v = (SELECT MAX(a) FROM dbo.s), @w = a FROM dbo.s; INSERT INTO dw.P (a, b) VALUES (@w, 1) | - | columns not resolved: what a variable holds is not followed
SELECT @v = 1; INSERT INTO dw.P (a) VALUES (@v) | -
DECLARE @v int = 5; INSERT INTO dw.P (a, b) SELECT @v, x FROM dbo.u | P.b=u.x
"""
SPARK = """
CREATE TABLE n AS SELECT s.id, upper(s.name) AS name FROM stg.p s; INSERT INTO dw.p (pid, pname) SELECT * FROM n | p.pid=n.id p.pname=n.name
CREATE OR REPLACE TEMP VIEW v AS SELECT id, name FROM stg.p; CREATE TABLE t AS SELECT * FROM v | t.id=v.id t.name=v.name
CREATE TABLE n USING delta AS SELECT id FROM stg.p; INSERT INTO t (a) SELECT x.* FROM n x | t.a=n.id
CACHE TABLE c AS SELECT id FROM stg.p; CREATE TABLE t AS SELECT * FROM c | t.id=c.id
CREATE TABLE IF NOT EXISTS n AS SELECT id FROM stg.p; CREATE TABLE t AS SELECT * FROM n | t.*=n.* | columns not resolved: * of a table whose columns are not known
CREATE TABLE n (id int, name string); INSERT INTO n SELECT a, b FROM s | n.id=s.a n.name=s.b
"""
CASES = [
    (dialect, *line.split(" | "))
    for dialect, lines in ((Dialect.TSQL, TSQL), (Dialect.SPARK, SPARK))
    for line in lines.splitlines()
    if line
]


@for_each("dialect, sql, edges, reason", [(*case, "")[:4] for case in CASES])
def test_columns_that_earlier_statements_leave(
    dialect: Dialect, sql: str, edges: str, reason: str
) -> None:
    shape = parse(sql, dialect)[-1]
    assert found_edges([shape]) == expected_edges(edges)
    assert (shape.reason or "") == reason


def test_the_same_statement_means_what_the_table_is_by_then() -> None:
    text = "SELECT a INTO #n FROM s; SELECT * INTO t FROM #n; DROP TABLE #n; DROP TABLE t; "
    shapes = parse(text + text.replace("SELECT a", "SELECT b"), Dialect.TSQL)
    copies = [found_edges([shape]) for shape in shapes if shape.reads == {"#n"}]
    assert copies == [{"t.a": {"#n.a"}}, {"t.b": {"#n.b"}}]
