"""Queries in T-SQL, and the names in them: one line a case, SQL, reads, writes."""

# ruff: noqa: E501 (one line a case)

from collections.abc import Callable

from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.text.dialect import Dialect
from tests.cases import for_each

# fmt: off
CASES = [
    # names
    ("SELECT * FROM t", "t", ""),
    ("SELECT * FROM dbo.t", "dbo.t", ""),
    ("SELECT * FROM Shop.dbo.t", "Shop.dbo.t", ""),
    ("SELECT * FROM srv.Shop.dbo.t", "srv.Shop.dbo.t", ""),
    ("SELECT * FROM Shop..t", "Shop..t", ""),
    ("SELECT * FROM srv.Shop..t", "srv.Shop..t", ""),
    ("SELECT * FROM srv...t", "srv...t", ""),
    ("SELECT * FROM [Shop].[dbo].[t]", "Shop.dbo.t", ""),
    ("SELECT * FROM [Shop] . [dbo] . [t]", "Shop.dbo.t", ""),
    ("SELECT * FROM [odd]]name]", "odd]name", ""),
    ("SELECT * FROM [with.dot].[t]", "with.dot.t", ""),
    ('SELECT * FROM "Shop"."dbo"."t"', "Shop.dbo.t", ""),
    ('SELECT * FROM "say ""hi"""', 'say "hi"', ""),
    ("SELECT * FROM [select].[from]", "select.from", ""),
    ("SELECT * FROM Straße JOIN данные ON 1 = 1 JOIN 表 ON 1 = 1", "Straße данные 表", ""),
    ("SELECT * FROM T, t, [T], dbo.T", "T dbo.T", ""),
    ("SELECT * FROM dbo.t$1 JOIN a#b ON 1 = 1 JOIN _c ON 1 = 1", "dbo.t$1 a#b _c", ""),
    ("SELECT * FROM #t", "#t", ""),
    ("SELECT * FROM ##t", "##t", ""),
    ("SELECT * FROM @t", "@t", ""),
    ("SELECT * FROM tempdb..#t", "#t", ""),
    ("SELECT * FROM tempdb.dbo.##t", "##t", ""),
    ("SELECT * FROM [#t] x", "#t", ""),
    ("SELECT * FROM dbo.[t]WHERE a=1", "dbo.t", ""),
    ("SELECT*FROM[t]", "t", ""),
    ("SELECT 1FROM t", "t", ""),
    ("SELECT a\r\nFROM\r\n\tdbo.t\r\nWHERE a = 1\r\n", "dbo.t", ""),
    # joins
    ("SELECT * FROM a, b", "a b", ""),
    ("SELECT * FROM a x, b AS y, c", "a b c", ""),
    ("SELECT * FROM a JOIN b ON a.i = b.i", "a b", ""),
    ("SELECT * FROM a INNER HASH JOIN b ON a.i = b.i", "a b", ""),
    ("SELECT * FROM a LEFT OUTER LOOP JOIN b ON a.i = b.i", "a b", ""),
    ("SELECT * FROM a INNER REMOTE JOIN srv.d.dbo.b ON a.i = b.i", "a srv.d.dbo.b", ""),
    ("SELECT * FROM a RIGHT JOIN b ON a.i = b.i FULL OUTER JOIN c ON 1 = 1", "a b c", ""),
    ("SELECT * FROM a CROSS JOIN b CROSS JOIN c", "a b c", ""),
    ("SELECT * FROM a LEFT JOIN (b JOIN c ON b.i = c.i) ON a.i = b.i", "a b c", ""),
    ("SELECT * FROM a LEFT JOIN b JOIN c ON b.i = c.i ON a.i = b.i", "a b c", ""),
    ("SELECT * FROM ((a JOIN b ON 1 = 1) JOIN c ON 1 = 1) JOIN d ON 1 = 1", "a b c d", ""),
    ("SELECT * FROM a x JOIN a y ON x.i = y.parent", "a", ""),
    ("SELECT * FROM a CROSS APPLY (SELECT TOP 1 * FROM b WHERE b.i = a.i ORDER BY d) x", "a b", ""),
    ("SELECT * FROM a OUTER APPLY dbo.f(a.i) x JOIN b ON 1 = 1", "a b", ""),
    ("SELECT * FROM dbo.f(1, 'x') x, b", "b", ""),
    ("SELECT * FROM Shop.dbo.f(DEFAULT) AS x", "", ""),
    ("SELECT * FROM f((SELECT MAX(i) FROM a)) x", "a", ""),
    # subqueries
    ("SELECT * FROM (SELECT * FROM a) AS x (p, q)", "a", ""),
    ("SELECT (SELECT COUNT(*) FROM b WHERE b.i = a.i) AS n FROM a", "a b", ""),
    ("SELECT * FROM a WHERE i = (SELECT MAX(i) FROM b)", "a b", ""),
    ("SELECT * FROM a WHERE i > ALL (SELECT i FROM b) OR i = ANY (SELECT i FROM c)", "a b c", ""),
    ("SELECT * FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.i = a.i)", "a b", ""),
    ("SELECT TOP (SELECT n FROM limits) * FROM a", "limits a", ""),
    ("SELECT CASE WHEN EXISTS (SELECT 1 FROM b) THEN 1 ELSE (SELECT 2 FROM c) END FROM a", "a b c", ""),
    ("SELECT * FROM a ORDER BY (SELECT MAX(i) FROM b)", "a b", ""),
    ("SELECT i, COUNT(*) FROM a GROUP BY i HAVING COUNT(*) > (SELECT n FROM b)", "a b", ""),
    ("SELECT * FROM a JOIN b ON a.i IN (SELECT i FROM c)", "a b c", ""),
    ("SELECT COALESCE((SELECT TOP 1 x FROM b), (SELECT TOP 1 x FROM c)) FROM a", "a b c", ""),
    ("(SELECT * FROM a) UNION (SELECT * FROM b)", "a b", ""),
    ("SELECT * FROM a UNION SELECT * FROM b INTERSECT SELECT * FROM c EXCEPT SELECT * FROM d", "a b c d", ""),
    ("SELECT * FROM (SELECT * FROM a UNION ALL SELECT * FROM b) x, c", "a b c", ""),
    # common table expressions
    ("WITH c AS (SELECT * FROM a) SELECT * FROM c", "a", ""),
    ("WITH c (x) AS (SELECT i FROM a), d (y) AS (SELECT x FROM c) SELECT * FROM d, c", "a", ""),
    ("WITH c AS (SELECT * FROM a) SELECT * FROM dbo.c", "a dbo.c", ""),
    ("WITH [c d] AS (SELECT * FROM a) SELECT * FROM [C D]", "a", ""),
    ("WITH tree AS (SELECT i FROM a WHERE p IS NULL UNION ALL SELECT a.i FROM a JOIN tree ON a.p = tree.i) SELECT * FROM tree OPTION (MAXRECURSION 0)", "a", ""),
    ("WITH c AS (SELECT * FROM a) SELECT * FROM (SELECT * FROM c) x WHERE EXISTS (SELECT 1 FROM c)", "a", ""),
    ("WITH XMLNAMESPACES ('urn:x' AS x) SELECT d.query('/x:a') FROM docs", "docs", ""),
    ("WITH XMLNAMESPACES (DEFAULT 'urn:x'), c AS (SELECT * FROM a) SELECT * FROM c FOR XML PATH", "a", ""),
    # hints, temporal, sampling
    ("SELECT * FROM a WITH (NOLOCK) JOIN b (NOLOCK) ON 1 = 1, c WITH (READPAST, ROWLOCK)", "a b c", ""),
    ("SELECT * FROM a x WITH (INDEX = ix_a), b AS y WITH (INDEX (1, 2), FORCESEEK (ix (c)))", "a b", ""),
    ("SELECT * FROM a (NOLOCK) x JOIN b (INDEX(ix)) ON 1 = 1", "a b", ""),
    ("SELECT * FROM a (FORCESCAN) x, b (SNAPSHOT) y", "a b", ""),
    ("SELECT * FROM a FOR SYSTEM_TIME AS OF '2026-01-01' AS x JOIN b ON 1 = 1", "a b", ""),
    ("SELECT * FROM a FOR SYSTEM_TIME BETWEEN @x AND @y, b", "a b", ""),
    ("SELECT * FROM a FOR SYSTEM_TIME FROM '2026-01-01' TO '2026-02-01', b", "a b", ""),
    ("SELECT * FROM a FOR SYSTEM_TIME CONTAINED IN (@x, @y) h, b", "a b", ""),
    ("SELECT * FROM a FOR SYSTEM_TIME ALL, b", "a b", ""),
    ("SELECT * FROM a TABLESAMPLE SYSTEM (10 PERCENT) REPEATABLE (5), b", "a b", ""),
    ("SELECT * FROM a OPTION (HASH JOIN, LOOP JOIN, RECOMPILE, USE HINT ('FORCE_DEFAULT'))", "a", ""),
    ("SELECT * FROM a OPTION (TABLE HINT (a, INDEX (ix)), OPTIMIZE FOR (@x = 5))", "a", ""),
    # pivots, windows, functions
    ("SELECT * FROM a PIVOT (SUM(x) FOR m IN ([1], [2])) p JOIN b ON 1 = 1", "a b", ""),
    ("SELECT * FROM (SELECT m, x FROM a) s PIVOT (COUNT(x) FOR m IN (jan, feb)) AS p, b", "a b", ""),
    ("SELECT * FROM a UNPIVOT (v FOR c IN (x, y)) u CROSS JOIN b", "a b", ""),
    ("SELECT ROW_NUMBER() OVER (PARTITION BY a, b ORDER BY c DESC) FROM t, u", "t u", ""),
    ("SELECT SUM(x) OVER w FROM t WINDOW w AS (PARTITION BY a ORDER BY b)", "t", ""),
    ("SELECT SUM(x) OVER (ORDER BY y ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t", "t", ""),
    ("SELECT STRING_AGG(x, ',') WITHIN GROUP (ORDER BY y) FROM t", "t", ""),
    ("SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) OVER () FROM t", "t", ""),
    ("SELECT TRIM(BOTH 'x' FROM c), TRIM('y' FROM d) FROM t", "t", ""),
    ("SELECT * FROM t WHERE a IS NOT DISTINCT FROM b AND c IS DISTINCT FROM d", "t", ""),
    ("SELECT a AT TIME ZONE 'UTC' FROM t", "t", ""),
    ("SELECT NEXT VALUE FOR dbo.seq, a FROM t", "t", ""),
    ("SELECT LEFT(a, 1), RIGHT(b, 2) FROM t", "t", ""),
    ("SELECT CAST(a AS int), CONVERT(date, b, 120), TRY_CAST(c AS decimal(9, 2)) FROM t", "t", ""),
    ("SELECT * FROM t GROUP BY GROUPING SETS ((a, b), (a), ())", "t", ""),
    ("SELECT a FROM t GROUP BY ROLLUP (a, b), CUBE (c, d)", "t", ""),
    ("SELECT a, b FROM t GROUP BY a, b WITH ROLLUP", "t", ""),
    ("SELECT TOP 10 PERCENT WITH TIES a FROM t ORDER BY a", "t", ""),
    ("SELECT a FROM t ORDER BY a OFFSET 10 ROWS FETCH NEXT 5 ROWS ONLY", "t", ""),
    ("SELECT DISTINCT a FROM t", "t", ""),
    ("SELECT x = a, 'y' = b FROM t", "t", ""),
    ("SELECT @x = a, @y += b FROM t", "t", ""),
    ("SELECT t.*, u.a FROM t, u", "t u", ""),
    ("SELECT $IDENTITY, $ROWGUID FROM t", "t", ""),
    # rows, XML, JSON, text search
    ("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v (i, n) JOIN t ON 1 = 1", "t", ""),
    ("SELECT * FROM OPENJSON(@j, '$.items') WITH (i int, n nvarchar(50) '$.name') j, t", "t", ""),
    ("SELECT * FROM t CROSS APPLY OPENJSON(t.doc) WITH (a int, b nvarchar(max) AS JSON) j", "t", ""),
    ("SELECT * FROM OPENXML(@h, '/a', 1) WITH (i int) x JOIN t ON 1 = 1", "t", ""),
    ("SELECT * FROM OPENXML(@h, '/a') WITH dbo.like_this", "", ""),
    ("SELECT n.c.value('@a', 'int') FROM @x.nodes('/a/b') AS n(c)", "", ""),
    ("SELECT n.c.value('.', 'int') FROM t CROSS APPLY t.doc.nodes('/a') AS n(c)", "t", ""),
    ("SELECT * FROM STRING_SPLIT(@s, ',') s JOIN t ON t.n = s.value", "t", ""),
    ("SELECT * FROM GENERATE_SERIES(1, 10) g, t", "t", ""),
    ("SELECT a FROM t FOR XML AUTO, ELEMENTS XSINIL, TYPE", "t", ""),
    ("SELECT a FROM t FOR XML RAW('row'), ROOT('rows')", "t", ""),
    ("SELECT STUFF((SELECT ',' + n FROM u FOR XML PATH('')), 1, 1, '') FROM t FOR JSON AUTO, INCLUDE_NULL_VALUES", "t u", ""),
    ("SELECT a FROM t FOR BROWSE", "t", ""),
    ("SELECT * FROM t WHERE CONTAINS((a, b), 'x') OR FREETEXT(*, 'y')", "t", ""),
    ("SELECT * FROM CONTAINSTABLE(dbo.t, a, 'x', 10) k JOIN u ON k.[KEY] = u.i", "dbo.t u", ""),
    ("SELECT * FROM FREETEXTTABLE(t, *, 'x') k", "t", ""),
    ("SELECT * FROM CHANGETABLE(CHANGES dbo.t, @v) c LEFT JOIN dbo.t x ON x.i = c.i", "dbo.t", ""),
    ("SELECT * FROM CHANGETABLE(VERSION t, (i), (1)) c", "t", ""),
    ("SELECT * FROM sys.dm_exec_requests r CROSS APPLY sys.dm_exec_sql_text(r.sql_handle) x", "sys.dm_exec_requests", ""),
    # graph
    ("SELECT p.n FROM Person p, likes, Person q WHERE MATCH(p-(likes)->q)", "Person likes", ""),
    ("SELECT a.n FROM Person a, friend f, Person b, friend g, Person c WHERE MATCH(a-(f)->b<-(g)-c)", "Person friend", ""),
    ("SELECT LAST_VALUE(q.n) WITHIN GROUP (GRAPH PATH) FROM Person p, friend FOR PATH f, Person FOR PATH q WHERE MATCH(SHORTEST_PATH(p(-(f)->q)+))", "Person friend", ""),
    # other servers
    ("SELECT * FROM OPENQUERY(srv, 'SELECT a FROM Shop.dbo.t WHERE n = ''x''') q", "srv.Shop.dbo.t", ""),
    ("SELECT * FROM OPENQUERY([my srv], 'SELECT * FROM a JOIN b ON 1 = 1') q JOIN c ON 1 = 1", "my srv...a my srv...b c", ""),
    ("SELECT * FROM OPENQUERY(srv, 'EXEC dbo.p') q, t", "t", ""),
    ("SELECT * FROM OPENROWSET('MSOLEDBSQL', 'Server=other;Trusted_Connection=yes', 'SELECT * FROM d.dbo.t') q", "other.d.dbo.t", ""),
    ("SELECT * FROM OPENROWSET('MSOLEDBSQL', 'other'; 'me'; 'pw', d.dbo.t) q", "other.d.dbo.t", ""),
    ("SELECT * FROM OPENQUERY(srv, 'SELECT `a b` FROM `d`.`t` LIMIT 10') q", "srv..d.t", ""),
    ("SELECT * FROM OPENQUERY(srv, 'SELECT a FROM `p-1.d.t`') q", "srv...p-1.d.t", ""),
    ("SELECT p.s FROM PREDICT(MODEL = @m, DATA = d.dbo.t AS d, RUNTIME = ONNX) WITH (s float) AS p", "d.dbo.t", ""),
    ("SELECT p.s FROM PREDICT(MODEL = (SELECT m FROM models WHERE i = 1), DATA = t AS d) WITH (s float) p", "models t", ""),
    ("WITH c AS (SELECT a FROM t) SELECT p.s FROM PREDICT(MODEL = @m, DATA = c AS d) WITH (s float) p", "t", ""),
    ("SELECT t.a FROM VECTOR_SEARCH(TABLE = dbo.t AS t, COLUMN = v, SIMILAR_TO = @v, METRIC = 'cosine', TOP_N = 10) s JOIN u ON 1 = 1", "dbo.t u", ""),
    ("SELECT * FROM OPENROWSET('SQLNCLI', 'Server=other;Database=d;Uid=me', 'SELECT * FROM t JOIN e.s.u ON 1 = 1') q", "other.d..t other.e.s.u", ""),
    ("SELECT * FROM OPENROWSET('SQLNCLI', 'Data Source=other;Initial Catalog=d-b', dbo.t) q", "other.d-b.dbo.t", ""),
    ("SELECT * FROM OPENROWSET(BULK 'c:\\x.csv', FORMATFILE = 'c:\\x.fmt') b JOIN t ON 1 = 1", "c:\\x.csv t", ""),
    ("SELECT BulkColumn FROM OPENROWSET(BULK 'x.json', SINGLE_CLOB) j", "", ""),
    ("SELECT * FROM OPENDATASOURCE('MSOLEDBSQL', 'Data Source=other;Integrated Security=SSPI').d.dbo.t x", "other.d.dbo.t", ""),
    # comments and strings
    ("SELECT a /* FROM x */ FROM t -- JOIN y", "t", ""),
    ("SELECT a FROM t /* one /* two */ FROM x */ JOIN u ON 1 = 1", "t u", ""),
    ("SELECT 'FROM x', N'JOIN y', 'it''s FROM z' FROM t", "t", ""),
    ("SELECT a FROM t WHERE n LIKE '%[a-z]%' AND [select from x] = 1", "t", ""),
    ("SELECT a FROM t--x\nJOIN u ON 1 = 1", "t u", ""),
    # ODBC's escapes
    ("SELECT {fn CONCAT(a, b)}, {d '2026-01-01'}, {t '10:00:00'} FROM t", "t", ""),
    ("SELECT * FROM {oj a LEFT OUTER JOIN {oj b LEFT OUTER JOIN c ON 1 = 1} ON 1 = 1}", "a b c", ""),
    ("SELECT * FROM t WHERE a LIKE '\\%' {escape '\\'} AND d < {ts '2026-01-01 00:00:00'}", "t", ""),
    ("{call dbo.p(1, 'x')}", "", ""),
    ("{? = call dbo.p(?)}", "", ""),
    # what only looks
    ("DBCC CHECKTABLE ('t')", "", ""),
    ("PRINT 'SELECT * FROM t'", "", ""),
    ("GRANT SELECT, INSERT ON dbo.t TO someone", "", ""),
    ("CREATE INDEX ix ON dbo.t (a) INCLUDE (b) WHERE c = 1", "", ""),
    ("CREATE STATISTICS s ON dbo.t (a) WITH FULLSCAN", "", ""),
    ("UPDATE STATISTICS dbo.t WITH FULLSCAN", "", ""),
    ("SET IDENTITY_INSERT dbo.t ON", "", ""),
    ("KILL 55", "", ""),
]
# fmt: on


@for_each("sql, reads, writes", CASES)
def test_tables_of_queries(
    sql: str, reads: str, writes: str, tsql_tables: Callable[[str, str, str], None]
) -> None:
    tsql_tables(sql, reads, writes)


def test_names_in_double_quotes_stay_where_a_name_can_stand(
    tsql_tables: Callable[[str, str, str], None],
) -> None:
    sql = 'SELECT "a b", SUM("c") AS "d" FROM "s"."t" "x" JOIN "u" ON "x"."i" = "u"."i"'
    tsql_tables(sql, "s.t u", "")
    assert normalise(sql, Dialect.TSQL) == sql
