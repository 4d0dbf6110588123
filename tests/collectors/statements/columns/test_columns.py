"""Column edges of statements: one line a case, `SQL`, edges.

Edges are written `to=from,from`: `t.a` is taken as it is, `~t.a` changed, `!t.a` masked,
`+t.a` aggregated; `FILTER:t.a` and the like decide. The column `*` stands for all.
"""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest

from dbt_graft.collectors.statements.columns.edges import ParsedColumnEdge
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.records import Outcome, Subtype
from tests.cases import for_each

TSQL, SPARK = Dialect.TSQL, Dialect.SPARK
SCHEMA = {
    "t": ["i", "a", "b"],
    "u": ["i", "c", "d"],
    "dbo.n": ["p", "q", "r"],
    "n": ["p", "q", "r"],
    "logs": ["day", "msg"],
}

# fmt: off
BOTH = [
    # projections
    ("SELECT a, b AS x FROM t", "a=t.a x=t.b"),
    ("SELECT t.a FROM t", "a=t.a"),
    ("SELECT x.a FROM s.t AS x", "a=s.t.a"),
    ("SELECT s.t.a FROM s.t", "a=s.t.a"),
    ("SELECT t.a FROM s.t", "a=s.t.a"),
    ("SELECT T.A FROM t", "A=t.A"),
    ("SELECT 1 AS x, NULL AS y FROM t", ""),
    ("SELECT a + b AS x FROM t", "x=~t.a,~t.b"),
    ("SELECT (a) AS x FROM t", "x=t.a"),
    ("SELECT -a AS x FROM t", "x=~t.a"),
    ("SELECT CAST(a AS int) AS x FROM t", "x=~t.a"),
    ("SELECT UPPER(a) AS x FROM t", "x=~t.a"),
    ("SELECT COALESCE(a, b, 0) AS x FROM t", "x=~t.a,~t.b"),
    ("SELECT NULLIF(a, b) AS x FROM t", "x=~t.a,~t.b"),
    ("SELECT CONCAT(a, '-', UPPER(b)) AS x FROM t", "x=~t.a,~t.b"),
    ("SELECT a AS x, a AS y FROM t", "x=t.a y=t.a"),
    ("SELECT my_function(a, b) AS x FROM t", "x=~t.a,~t.b"),
    ("SELECT DISTINCT a FROM t", "a=t.a *=GROUP_BY:t.a"),
    # conditions in values
    ("SELECT CASE WHEN a > 1 THEN b ELSE c END AS x FROM t", "x=CONDITIONAL:t.a,~t.b,~t.c"),
    ("SELECT CASE a WHEN 1 THEN b END AS x FROM t", "x=CONDITIONAL:t.a,~t.b"),
    ("SELECT CASE WHEN a = b THEN 1 ELSE 0 END AS x FROM t", "x=CONDITIONAL:t.a,CONDITIONAL:t.b"),
    ("SELECT SUM(CASE WHEN a = 1 THEN b END) AS x FROM t", "x=CONDITIONAL:t.a,+t.b"),
    ("SELECT CASE WHEN SUM(a) > 1 THEN 'x' END AS x FROM t", "x=CONDITIONAL:t.a"),
    # aggregates
    ("SELECT COUNT(*) AS x FROM t", ""),
    ("SELECT SUM(a) AS x, MAX(b) AS y FROM t", "x=+t.a y=+t.b"),
    ("SELECT SUM(a + b) AS x FROM t", "x=+t.a,+t.b"),
    ("SELECT SUM(a) / COUNT(b) AS x FROM t", "x=+t.a,+t.b"),
    ("SELECT COUNT(DISTINCT a) AS x FROM t", "x=+t.a"),
    ("SELECT a, AVG(b) AS x FROM t GROUP BY a", "a=t.a x=+t.b *=GROUP_BY:t.a"),
    ("SELECT SUM(a) AS x FROM t GROUP BY b, c", "x=+t.a *=GROUP_BY:t.b,GROUP_BY:t.c"),
    ("SELECT a FROM t GROUP BY a HAVING MAX(b) > 1", "a=t.a *=GROUP_BY:t.a,FILTER:t.b"),
    ("SELECT a FROM t GROUP BY UPPER(a)", "a=t.a *=GROUP_BY:t.a"),
    ("SELECT STDDEV(a) AS x FROM t", "x=+t.a"),
    # windows
    ("SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) AS x FROM t", "x=WINDOW:t.a,WINDOW:t.b"),
    ("SELECT SUM(a) OVER (PARTITION BY b) AS x FROM t", "x=+t.a,WINDOW:t.b"),
    ("SELECT LAG(a) OVER (ORDER BY b) AS x FROM t", "x=~t.a,WINDOW:t.b"),
    ("SELECT FIRST_VALUE(a) OVER (ORDER BY b DESC) AS x FROM t", "x=~t.a,WINDOW:t.b"),
    ("SELECT RANK() OVER (ORDER BY SUM(a)) AS x FROM t GROUP BY b", "x=WINDOW:t.a *=GROUP_BY:t.b"),
    ("SELECT SUM(a) OVER w AS x FROM t WINDOW w AS (PARTITION BY b ORDER BY c)", "x=+t.a,WINDOW:t.b,WINDOW:t.c"),
    # what decides on rows
    ("SELECT a FROM t WHERE b = 1", "a=t.a *=FILTER:t.b"),
    ("SELECT a FROM t WHERE b = 1 AND UPPER(c) LIKE 'x'", "a=t.a *=FILTER:t.b,FILTER:t.c"),
    ("SELECT a FROM t ORDER BY b", "a=t.a *=SORT:t.b"),
    ("SELECT a AS x FROM t ORDER BY x DESC", "x=t.a *=SORT:t.a"),
    ("SELECT SUM(a) AS x FROM t ORDER BY x", "x=+t.a *=SORT:t.a"),
    ("SELECT a AS b FROM t ORDER BY b", "b=t.a *=SORT:t.a"),
    ("SELECT a AS b FROM t ORDER BY t.b", "b=t.a *=SORT:t.b"),
    ("SELECT t.a, s.b FROM t JOIN s ON t.i = s.j", "a=t.a b=s.b *=JOIN:t.i,JOIN:s.j"),
    ("SELECT x.a FROM t x LEFT JOIN t y ON x.i = y.p WHERE y.i IS NULL", "a=t.a *=JOIN:t.i,JOIN:t.p,FILTER:t.i"),
    ("SELECT t.a FROM t CROSS JOIN s", "a=t.a"),
    ("SELECT t.a FROM t, s WHERE t.i = s.i", "a=t.a *=FILTER:t.i,FILTER:s.i"),
    ("SELECT a.u, b.foo, c.bar FROM ((a LEFT JOIN b ON b.u = a.u) LEFT JOIN c ON c.u = a.u)", "u=a.u foo=b.foo bar=c.bar *=JOIN:a.u,JOIN:b.u,JOIN:c.u"),
    ("SELECT q.a FROM ((SELECT a, i FROM t) q JOIN s ON s.i = q.i)", "a=t.a *=JOIN:t.i,JOIN:s.i"),
    ("SELECT q.a FROM ((SELECT a FROM t)) q", "a=t.a"),
    # queries in values and conditions
    ("SELECT (SELECT MAX(s.c) FROM s) AS x FROM t", "x=+s.c"),
    ("SELECT (SELECT s.c FROM s WHERE s.i = t.i) AS x FROM t", "x=s.c,FILTER:s.i,FILTER:t.i"),
    ("SELECT a FROM t WHERE i IN (SELECT j FROM s)", "a=t.a *=FILTER:t.i,FILTER:s.j"),
    ("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM s WHERE s.i = t.i)", "a=t.a *=FILTER:s.i,FILTER:t.i"),
    ("SELECT a FROM t WHERE b > (SELECT AVG(b) FROM s)", "a=t.a *=FILTER:t.b,FILTER:s.b"),
    # derived tables
    ("SELECT x.a FROM (SELECT a FROM t) x", "a=t.a"),
    ("SELECT a FROM (SELECT UPPER(b) AS a FROM t) x", "a=~t.b"),
    ("SELECT SUM(a) AS y FROM (SELECT b + 1 AS a FROM t) x", "y=+t.b"),
    ("SELECT a + 1 AS y FROM (SELECT SUM(b) AS a FROM t) x", "y=+t.b"),
    ("SELECT a FROM (SELECT a FROM t WHERE b = 1) x", "a=t.a *=FILTER:t.b"),
    ("SELECT * FROM (SELECT a, b AS c FROM t) x", "a=t.a c=t.b"),
    ("SELECT x.a, y.b FROM (SELECT a, i FROM t) x JOIN (SELECT b, i FROM s) y ON x.i = y.i", "a=t.a b=s.b *=JOIN:t.i,JOIN:s.i"),
    ("SELECT a, c FROM (SELECT a FROM t) x CROSS JOIN (SELECT c FROM s) y", "a=t.a c=s.c"),
    ("SELECT z FROM (SELECT CASE WHEN a > 1 THEN b END AS z FROM t) x", "z=CONDITIONAL:t.a,~t.b"),
    ("SELECT p FROM (SELECT a, b FROM t) x (p, q)", "p=t.a"),
    ("SELECT x.a FROM (SELECT * FROM t) x", "a=t.a"),
    # common table expressions
    ("WITH c AS (SELECT a AS x FROM t) SELECT x FROM c", "x=t.a"),
    ("WITH c (p, q) AS (SELECT a, b FROM t) SELECT q FROM c", "q=t.b"),
    ("WITH c AS (SELECT a FROM t), d AS (SELECT a + 1 AS b FROM c) SELECT b FROM d", "b=~t.a"),
    ("WITH c AS (SELECT a, i FROM t) SELECT x.a, y.a AS b FROM c x JOIN c y ON x.i = y.i", "a=t.a b=t.a *=JOIN:t.i"),
    ("WITH t AS (SELECT a FROM s) SELECT a FROM t", "a=s.a"),
    ("WITH c AS (SELECT a FROM t) SELECT a FROM (SELECT a FROM c) x", "a=t.a"),
    # unions
    ("SELECT a FROM t UNION ALL SELECT b FROM s", "a=t.a,s.b"),
    ("SELECT a, b FROM t UNION SELECT c, d + 1 FROM s", "a=t.a,s.c b=t.b,~s.d *=GROUP_BY:t.a,GROUP_BY:t.b,GROUP_BY:s.c,GROUP_BY:s.d"),
    ("SELECT a FROM t EXCEPT SELECT a FROM s", "a=t.a *=FILTER:t.a,FILTER:s.a"),
    ("SELECT a FROM t INTERSECT SELECT a FROM s", "a=t.a,s.a *=FILTER:t.a,FILTER:s.a"),
    ("SELECT a FROM t EXCEPT SELECT * FROM s", "a=t.a *=FILTER:t.a,FILTER:s.*"),
    ("SELECT a FROM t WHERE b = 1 UNION ALL SELECT a FROM s", "a=t.a,s.a *=FILTER:t.b"),
    ("SELECT a FROM t UNION ALL SELECT b FROM s ORDER BY a", "a=t.a,s.b *=SORT:t.a,SORT:s.b"),
    ("SELECT x FROM (SELECT a AS x FROM t UNION ALL SELECT b FROM s UNION ALL SELECT c FROM r) y", "x=t.a,s.b,r.c"),
    # stars
    ("SELECT * FROM t", "*=t.*"),
    ("SELECT s.*, t.a FROM t JOIN s ON t.i = s.i", "*=s.*,JOIN:t.i,JOIN:s.i a=t.a"),
    ("SELECT y.z FROM (SELECT s.* FROM s) y", "z=s.z"),
    # columns of several tables, none known
    ("SELECT a, t.b FROM t JOIN s ON t.i = s.i", "b=t.b *=JOIN:t.i,JOIN:s.i"),
    ("SELECT a FROM t JOIN (SELECT i FROM s) x ON t.i = x.i", "a=t.a *=JOIN:t.i,JOIN:s.i"),
    # writes
    ("INSERT INTO n (x, y) SELECT a, b FROM t", "x=t.a y=t.b"),
    ("INSERT INTO n (x, y) SELECT 1, UPPER(b) FROM t WHERE c = 1", "y=~t.b *=FILTER:t.c"),
    ("INSERT INTO n (x) SELECT a FROM t UNION ALL SELECT b FROM s", "x=t.a,s.b"),
    ("INSERT INTO n (x, y) VALUES (1, 2)", ""),
    ("INSERT INTO n (x) SELECT p.a FROM (SELECT a FROM t) p", "x=t.a"),
    ("CREATE VIEW n AS SELECT a, b AS x FROM t", "a=t.a x=t.b"),
    ("CREATE VIEW n (x, y) AS SELECT a, SUM(b) FROM t GROUP BY a", "x=t.a y=+t.b *=GROUP_BY:t.a"),
    ("CREATE VIEW n AS WITH c AS (SELECT a FROM t) SELECT a FROM c", "a=t.a"),
    ("UPDATE n SET x = 1", ""),
    ("UPDATE n SET x = y + 1", "x=~n.y"),
    ("UPDATE n SET x = (SELECT MAX(a) FROM t)", "x=+t.a"),
    ("UPDATE n SET (x, y) = (SELECT t.a, t.b + 1 FROM t WHERE t.i = n.i), z = 1", "x=t.a,FILTER:t.i y=~t.b,FILTER:t.i"),
    ("UPDATE n SET (x, y) = (z, 1), (v) = (SELECT MAX(a) FROM t)", "x=n.z v=+t.a"),
    ("UPDATE n SET x = DEFAULT, y = (SELECT MAX(a) FROM t)", "y=+t.a"),
    ("DELETE FROM n WHERE i IN (SELECT i FROM t)", "*=FILTER:t.i"),
    ("MERGE INTO n USING t ON n.i = t.i WHEN MATCHED THEN UPDATE SET x = t.a;", "x=t.a *=JOIN:t.i"),
    ("MERGE INTO n AS g USING t AS s ON g.i = s.i WHEN MATCHED AND s.d = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET g.x = s.a + g.x WHEN NOT MATCHED THEN INSERT (i, x) VALUES (s.i, UPPER(a));", "i=t.i x=~t.a,~n.x *=JOIN:t.i,FILTER:t.d"),
    ("MERGE INTO n USING (SELECT i, SUM(a) AS a FROM t GROUP BY i) s ON n.i = s.i WHEN NOT MATCHED THEN INSERT (i, x) VALUES (i, a);", "i=t.i x=+t.a *=GROUP_BY:t.i,JOIN:t.i"),
    ("TRUNCATE TABLE n", ""),
    ("DROP TABLE n", ""),
]
ONLY_TSQL = [
    ("SELECT x = a, [y-z] = b + 1 FROM t", "x=t.a y-z=~t.b"),
    ("SELECT [t].[a:b] FROM [dbo].[t]", "a:b=dbo.t.a:b"),
    ("SELECT dbo.t.a FROM dbo.t", "a=dbo.t.a"),
    ("SELECT a FROM db..t", "a=db..t.a"),
    ("SELECT a FROM srv.db.dbo.t", "a=srv.db.dbo.t.a"),
    ("SELECT IIF(a > 1, b, c) AS x FROM t", "x=CONDITIONAL:t.a,~t.b,~t.c"),
    ("SELECT ISNULL(a, b) AS x FROM t", "x=~t.a,~t.b"),
    ("SELECT CONVERT(varchar(10), a, 120) AS x FROM t", "x=~t.a"),
    ("SELECT TRY_CAST(a AS int) AS x FROM t", "x=~t.a"),
    ("SELECT DATEDIFF(day, a, b) AS x, DATEADD(month, 1, c) AS y FROM t", "x=~t.a,~t.b y=~t.c"),
    ("SELECT DATEPART(year, a) AS x FROM t", "x=~t.a"),
    ("SELECT HASHBYTES('SHA2_256', a) AS x FROM t", "x=!t.a"),
    ("SELECT CONVERT(char(64), HASHBYTES('SHA2_256', LOWER(a)), 2) AS x FROM t", "x=!t.a"),
    ("SELECT CHECKSUM(a, b) AS x FROM t", "x=!t.a,!t.b"),
    ("SELECT @v AS x, a FROM t", "a=t.a"),
    ("SELECT TOP (5) a FROM t WITH (NOLOCK) ORDER BY b", "a=t.a *=SORT:t.b"),
    ("SELECT STRING_AGG(a, ',') WITHIN GROUP (ORDER BY b) AS x FROM t", "x=+t.a,SORT:t.b"),
    ("SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) OVER (PARTITION BY b) AS x FROM t", "x=+t.a,WINDOW:t.b"),
    ("SELECT COUNT_BIG(*) AS x, COUNT_BIG(a) AS y FROM t", "y=+t.a"),
    ("SELECT j.x FROM t CROSS APPLY OPENJSON(t.doc) WITH (x int '$.x') j", "x=~t.doc *=JOIN:t.doc"),
    ("SELECT s.c FROM t CROSS APPLY (SELECT u.c FROM u WHERE u.i = t.i) s", "c=u.c *=FILTER:u.i,FILTER:t.i"),
    ("SELECT f.v FROM t OUTER APPLY dbo.f(t.a) f", "v=~t.a *=JOIN:t.a"),
    ("SELECT x, a FROM t PIVOT (SUM(v) FOR k IN ([a], [b])) p", "x=t.x a=+t.v,CONDITIONAL:t.k *=GROUP_BY:t.*"),
    ("SELECT i, val FROM t UNPIVOT (val FOR name IN (a, b)) p", "i=t.i val=t.a,t.b *=FILTER:t.a,FILTER:t.b"),
    ("SELECT v.x FROM (VALUES (1), (2)) v (x) CROSS JOIN t", ""),
    ("SELECT a INTO #x FROM t", "a=t.a"),
    ("SELECT t.a FROM t FOR SYSTEM_TIME AS OF '2026-01-01' WHERE b = 1", "a=t.a *=FILTER:t.b"),
    ("INSERT INTO n (x) SELECT TOP 5 a FROM t ORDER BY b", "x=t.a *=SORT:t.b"),
    ("SELECT Year, [Date] FROM t", "Year=t.Year Date=t.Date"),
    ("SELECT LEFT(a, 3) AS x, b COLLATE Latin1_General_CI_AS AS y FROM t", "x=~t.a y=~t.b"),
    ("UPDATE n SET x = CASE WHEN s.a IS NULL THEN n.x ELSE s.a END FROM dbo.n LEFT JOIN s ON s.i = n.i", "x=~dbo.n.x,CONDITIONAL:s.a,~s.a *=JOIN:s.i"),
    ("SELECT a, SUM(b) AS y INTO dbo.n FROM t GROUP BY a", "a=t.a y=+t.b *=GROUP_BY:t.a"),
    ("SELECT a FROM #x", "a=#x.a"),
    ("SELECT v.a FROM @v v", "a=@v.a"),
    ("INSERT INTO #n (x) SELECT a FROM tempdb..#t", "x=#t.a"),
    ("WITH c AS (SELECT a FROM t) INSERT INTO n (x) SELECT a FROM c", "x=t.a"),
    ("WITH r AS (SELECT i, p FROM t UNION ALL SELECT t.i, r.p FROM t JOIN r ON t.p = r.i) SELECT i, p FROM r", "i=t.i p=t.p *=JOIN:t.p,JOIN:t.i"),
    ("CREATE OR ALTER VIEW dbo.n AS SELECT f.a AS x FROM dbo.t AS f WHERE f.b = 1", "x=dbo.t.a *=FILTER:dbo.t.b"),
    ("UPDATE p SET p.x = p.x * 2 FROM d.dbo.n AS p JOIN s ON s.i = p.i WHERE s.c <> 'NL'", "x=~d.dbo.n.x *=JOIN:s.i,FILTER:s.c"),
    ("UPDATE n SET x = s.a FROM n JOIN s ON s.i = n.i", "x=s.a *=JOIN:s.i"),
    ("UPDATE n SET x = s.a FROM n, e, s WHERE MATCH (n-(e)->s) AND s.b = 1", "x=s.a *=FILTER:s.b"),
    ("UPDATE n SET n.x = s.a, y = s.b FROM s WHERE s.i = n.i", "x=s.a y=s.b *=FILTER:s.i"),
    ("UPDATE g SET g.x = s.y FROM dbo.n g JOIN (SELECT i, MAX(a) AS y FROM t GROUP BY i) s ON s.i = g.i", "x=+t.a *=JOIN:t.i,GROUP_BY:t.i"),
    ("WITH c AS (SELECT x AS z, y FROM n) UPDATE c SET z = y", "x=n.y"),
    ("WITH s AS (SELECT i, a FROM t) MERGE n USING s ON n.i = s.i WHEN MATCHED THEN UPDATE SET n.x = s.a;", "x=t.a *=JOIN:t.i"),
    ("MERGE dbo.n AS g USING #s AS s ON g.i = s.i WHEN MATCHED THEN UPDATE SET x = s.a, y = CASE WHEN s.b > 0 THEN s.c END WHEN NOT MATCHED BY TARGET THEN INSERT (i, x) VALUES (s.i, s.a) WHEN NOT MATCHED BY SOURCE THEN DELETE;", "i=#s.i x=#s.a y=CONDITIONAL:#s.b,~#s.c *=JOIN:#s.i"),
    ("exec sp_executesql N'INSERT INTO n (x) SELECT a FROM t WHERE b = @b', N'@b int', @b = 5", "x=t.a *=FILTER:t.b"),
]
ONLY_SPARK = [
    ("SELECT IF(a > 1, b, c) AS x FROM t", "x=CONDITIONAL:t.a,~t.b,~t.c"),
    ("SELECT sha2(a, 256) AS x, md5(b) AS y, mask(c) AS z FROM t", "x=!t.a y=!t.b z=!t.c"),
    ("SELECT xxhash64(a) AS x, hash(b) AS y, sha1(c) AS z FROM t", "x=!t.a y=!t.b z=!t.c"),
    ("SELECT a.b FROM t", "b=~t.a"),
    ("SELECT user FROM t", "user=t.user"),
    ("CREATE TABLE o AS SELECT a.u AS u, b.foo AS foo, c.bar AS bar FROM ((a LEFT JOIN b ON b.u = a.u) LEFT JOIN c ON c.u = a.u)", "u=a.u foo=b.foo bar=c.bar *=JOIN:a.u,JOIN:b.u,JOIN:c.u"),
    ("SELECT t.a.b FROM t", "b=~t.a"),
    ("SELECT m['k'] AS x, l[0] AS y FROM t", "x=~t.m y=~t.l"),
    ("SELECT transform(l, e -> e + b) AS x FROM t", "x=~t.l,~t.b"),
    ("SELECT explode(l) AS x FROM t", "x=~t.l *=JOIN:t.l"),
    ("SELECT explode(m) AS (k, v) FROM t", "k=~t.m v=~t.m *=JOIN:t.m"),
    ("SELECT k, v FROM t LATERAL VIEW explode(m) x AS k, v", "k=~t.m v=~t.m *=JOIN:t.m"),
    ("SELECT a, e FROM t LATERAL VIEW OUTER explode(l) AS e", "a=t.a e=~t.l *=JOIN:t.l"),
    ("SELECT named_struct('p', a, 'q', b) AS x FROM t", "x=~t.a,~t.b"),
    ("SELECT a + 1 AS b, b * 2 AS c FROM t", "b=~t.a c=~t.a"),
    ("SELECT upper(a) AS a, concat(a, '!') AS b FROM t", "a=~t.a b=~t.a"),
    ("SELECT a AS x, UPPER(b) AS y, MAX(c) AS z FROM t GROUP BY 1, 2", "x=t.a y=~t.b z=+t.c *=GROUP_BY:t.a,GROUP_BY:t.b"),
    ("SELECT a, b, COUNT(*) AS n FROM t GROUP BY ROLLUP (1, b)", "a=t.a b=t.b *=GROUP_BY:t.a,GROUP_BY:t.b"),
    ("SELECT a FROM t ORDER BY 1", "a=t.a"),
    ("SELECT a AS x, COUNT(*) AS n FROM t GROUP BY x", "x=t.a *=GROUP_BY:t.a"),
    ("SELECT COUNT(*) FILTER (WHERE a > 1) AS x FROM t", "x=CONDITIONAL:t.a"),
    ("SELECT SUM(b) FILTER (WHERE a > 1) AS x FROM t", "x=+t.b,CONDITIONAL:t.a"),
    ("SELECT collect_list(a) AS x FROM t", "x=+t.a"),
    ("SELECT first(a) AS x FROM t", "x=+t.a"),
    ("SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) = 1", "a=t.a *=FILTER:t.b,FILTER:t.c"),
    ("FROM t SELECT a, b", "a=t.a b=t.b"),
    ("FROM t |> WHERE a > 1 |> SELECT b", "b=t.b *=FILTER:t.a"),
    ("SELECT x.a FROM t VERSION AS OF 3 x", "a=t.a"),
    ("INSERT INTO n (x) SELECT inline(l) FROM t", "x=~t.l *=JOIN:t.l"),
    ("ALTER VIEW n AS SELECT a, b + 1 AS x FROM t WHERE i > 0", "a=t.a x=~t.b *=FILTER:t.i"),
    ("ALTER VIEW n (x, y) AS SELECT a, b FROM t", "x=t.a y=t.b"),
    ("ALTER VIEW n SET TBLPROPERTIES ('k' = 'v')", ""),
    ("FROM t INSERT INTO n (x) SELECT a WHERE b > 1 INSERT OVERWRITE TABLE m (y) SELECT SUM(b)", "x=t.a y=+t.b *=FILTER:t.b"),
    ("FROM t JOIN s ON t.i = s.i INSERT INTO n (x) SELECT t.a INSERT INTO s.m (y) SELECT s.b", "x=t.a y=s.b *=JOIN:t.i,JOIN:s.i"),
    ("FROM (SELECT a, b + 1 AS c FROM t) q INSERT INTO n (x) SELECT q.a INSERT INTO m (y) SELECT q.c", "x=t.a y=~t.b"),
    ("MERGE WITH SCHEMA EVOLUTION INTO n USING t ON n.i = t.i WHEN MATCHED THEN UPDATE SET n.x = t.a", "x=t.a *=JOIN:t.i"),
    ("INSERT WITH SCHEMA EVOLUTION INTO n (x) SELECT a FROM t", "x=t.a"),
    ("UPDATE n SET x = y WHERE z = 1", "x=n.y"),
    ("SELECT a FROM VALUES (1), (2) AS v (a)", ""),
    ("SELECT a.x, b.y FROM a FULL OUTER JOIN b USING (i)", "x=a.x y=b.y *=JOIN:a.i,JOIN:b.i"),
    ("SELECT i, x.a FROM s.t x JOIN s.w y USING (i)", "i=s.t.i a=s.t.a *=JOIN:s.t.i,JOIN:s.w.i"),
    ("SELECT a FROM t SORT BY b", "a=t.a *=SORT:t.b"),
    ("SELECT a FROM t DISTRIBUTE BY b", "a=t.a *=SORT:t.b"),
    ("SELECT a FROM parquet.`/landing/x`", "a=/landing/x.a"),
    ("SELECT * FROM (SELECT k, v, g FROM t) PIVOT (SUM(v) FOR k IN ('a' AS x, 'b' AS y))", "g=t.g x=+t.v,CONDITIONAL:t.k y=+t.v,CONDITIONAL:t.k *=GROUP_BY:t.g"),
    ("SELECT a FROM t LEFT SEMI JOIN s ON t.i = s.i", "a=t.a *=JOIN:t.i,JOIN:s.i"),
    ("CREATE TABLE n USING delta AS SELECT a, b AS x FROM t", "a=t.a x=t.b"),
    ("CREATE OR REPLACE TEMP VIEW n AS SELECT a FROM t", "a=t.a"),
    ("CREATE OR REPLACE TABLE n PARTITIONED BY (a) AS SELECT a FROM t", "a=t.a"),
    ("INSERT OVERWRITE TABLE n (x) SELECT a FROM t", "x=t.a"),
    ("INSERT INTO n BY NAME SELECT a, b AS x FROM t", "a=t.a x=t.b"),
    ("INSERT INTO n (x, y) REPLACE USING (x) SELECT a, b FROM t", "x=t.a y=t.b *=JOIN:t.a"),
    ("INSERT INTO n BY NAME REPLACE USING (a, x) SELECT a, b + 1 AS x FROM t", "a=t.a x=~t.b *=JOIN:t.a,JOIN:t.b"),
    ("INSERT INTO n (x) REPLACE WHERE x > 1 AND y IN (SELECT s.y FROM s WHERE s.d = 2) SELECT a FROM t", "x=t.a *=FILTER:s.y,FILTER:s.d"),
    ("WITH c AS (SELECT a FROM t) INSERT INTO n (x) SELECT a FROM c", "x=t.a"),
    ("INSERT INTO n (x) WITH c AS (SELECT a FROM t) SELECT a FROM c", "x=t.a"),
    ("MERGE INTO n USING t ON n.i = t.i WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *", "*=t.*,JOIN:t.i"),
    ("WITH s AS (SELECT i, a FROM t) MERGE INTO n USING s ON n.i = s.i WHEN MATCHED THEN UPDATE SET n.x = s.a WHEN NOT MATCHED THEN INSERT (i, x) VALUES (s.i, s.a)", "i=t.i x=t.a *=JOIN:t.i"),
    ("MERGE INTO n USING (SELECT i, a AS x FROM t) s ON n.i = s.i WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *", "i=t.i x=t.a *=JOIN:t.i"),
]
WITH_SCHEMA = [
    (TSQL, "SELECT * FROM t", "i=t.i a=t.a b=t.b"),
    (TSQL, "SELECT * FROM t JOIN u ON t.i = u.i", "i=t.i,u.i a=t.a b=t.b c=u.c d=u.d *=JOIN:t.i,JOIN:u.i"),
    (TSQL, "SELECT u.*, a FROM t CROSS JOIN u", "i=u.i c=u.c d=u.d a=t.a"),
    (TSQL, "SELECT a, c FROM t JOIN u ON t.i = u.i", "a=t.a c=u.c *=JOIN:t.i,JOIN:u.i"),
    (TSQL, "SELECT a, z FROM t CROSS JOIN w", "a=t.a z=w.z"),
    (TSQL, "SELECT x.a FROM (SELECT * FROM t) x", "a=t.a"),
    (TSQL, "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE c = b)", "a=t.a *=FILTER:u.c,FILTER:t.b"),
    (TSQL, "INSERT INTO dbo.n SELECT i, a, b FROM t", "p=t.i q=t.a r=t.b"),
    (TSQL, "INSERT INTO dbo.n SELECT * FROM t", "p=t.i q=t.a r=t.b"),
    (TSQL, "INSERT INTO n (q, p) SELECT * FROM (SELECT a, b FROM t) x", "q=t.a p=t.b"),
    (TSQL, "SELECT * INTO m FROM t UNION ALL SELECT * FROM u", "i=t.i,u.i a=t.a,u.c b=t.b,u.d"),
    (SPARK, "SELECT * FROM t JOIN u USING (i)", "i=t.i a=t.a b=t.b c=u.c d=u.d *=JOIN:t.i,JOIN:u.i"),
    (SPARK, "SELECT a, c FROM ((t JOIN u ON t.i = u.i) JOIN dbo.n ON n.p = t.i)", "a=t.a c=u.c *=JOIN:t.i,JOIN:u.i,JOIN:dbo.n.p"),
    (SPARK, "SELECT user, a FROM t", "a=t.a"),
    (SPARK, "SELECT i FROM t JOIN u USING (i)", "i=t.i *=JOIN:t.i,JOIN:u.i"),
    (SPARK, "SELECT * EXCEPT (a) FROM t", "i=t.i b=t.b"),
    (SPARK, "SELECT t.* EXCEPT (a, i) FROM t", "b=t.b"),
    (SPARK, "INSERT INTO n TABLE t", "p=t.i q=t.a r=t.b"),
    (SPARK, "INSERT INTO n SELECT i, a + 1, b FROM t", "p=t.i q=~t.a r=t.b"),
    (SPARK, "INSERT INTO logs PARTITION (day = '2026-11-01') SELECT a FROM t", "msg=t.a"),
    (SPARK, "INSERT INTO logs PARTITION (day) SELECT a, b FROM t", "msg=t.a day=t.b"),
    (SPARK, "FROM u INSERT INTO t SELECT i, c, d INSERT INTO n SELECT d, c, i", "i=u.i a=u.c b=u.d p=u.d q=u.c r=u.i"),
    (SPARK, "MERGE INTO t USING w ON t.i = w.i WHEN MATCHED THEN UPDATE SET *", "i=w.i a=w.a b=w.b *=JOIN:w.i"),
    (SPARK, "MERGE INTO t USING u ON t.i = u.i WHEN NOT MATCHED THEN INSERT *", "i=u.i *=JOIN:u.i"),
    (SPARK, "SELECT * FROM t UNION ALL BY NAME SELECT * FROM u", "i=t.i,u.i a=t.a b=t.b c=u.c d=u.d"),
    (SPARK, "SELECT a FROM t LEFT SEMI JOIN u ON t.i = u.i", "a=t.a *=JOIN:t.i,JOIN:u.i"),
]
INCOMPLETE = [
    ("SELECT a INTO n FROM t JOIN s ON t.i = s.i", "columns not resolved: a column's table is not known"),
    ("SELECT * INTO n FROM t", "columns not resolved: * of a table whose columns are not known"),
    ("INSERT INTO n SELECT a FROM t", "columns not resolved: the target's columns are matched by name"),
    ("INSERT INTO n (x, y) SELECT * FROM t", "columns not resolved: * stands for columns that are not known"),
    ("INSERT INTO n (x) EXEC dbo.p 1", "columns not resolved: those of a procedure's rows are not known"),
    ("UPDATE n SET (x, y) = (SELECT * FROM t)", "columns not resolved: the columns that are assigned together are not known"),
    ("UPDATE n SET (x, y) = ROW(t.a, t.b) FROM t", "columns not resolved: the columns that are assigned together are not known"),
    ("INSERT INTO n (x, y) SELECT TOP 5 a, b FROM t ORDER BY 2 DESC", "columns not resolved: a column's place in ORDER BY was taken out as a value"),
    ("SELECT * INTO n FROM (SELECT s.k, s.m, s.v FROM s) q PIVOT (MAX(v) FOR m IN ('a', 'b')) p", "columns not resolved: the columns of a pivot are not known, * of a table whose columns are not known"),
    ("MERGE n USING s ON n.i = s.i WHEN NOT MATCHED THEN INSERT VALUES (s.i, s.a);", "columns not resolved: the target's columns are not known"),
]
# fmt: on
_MARKS = {"": Subtype.IDENTITY, "~": Subtype.TRANSFORMATION, "+": Subtype.AGGREGATION}


def written(edges: tuple[ParsedColumnEdge, ...]) -> dict[str, set[str]]:
    """Edges between tables as the cases write them; `test_sent_values` has the others."""
    marks = {subtype: mark for mark, subtype in _MARKS.items()}
    found: dict[str, set[str]] = defaultdict(set)
    for edge in (edge for edge in edges if edge.from_table and not edge.is_of_own_rows):
        source = f"{'.'.join(edge.from_table)}.{edge.from_column}"
        mark = "!" if edge.masking else marks.get(edge.subtype, f"{edge.subtype}:")
        found[edge.column].add(mark + source)
    return dict(found)


def expected_edges(text: str) -> dict[str, set[str]]:
    """The result that a case expects."""
    columns = [column.split("=") for column in text.split()]
    return {name: set(sources.split(",")) for name, sources in columns}


CASES = (
    [(dialect, *case) for dialect in Dialect for case in BOTH]
    + [(TSQL, *case) for case in ONLY_TSQL]
    + [(SPARK, *case) for case in ONLY_SPARK]
)


@for_each("dialect, sql, edges", CASES)
def test_columns(dialect: Dialect, sql: str, edges: str) -> None:
    (shape,) = parse(sql, dialect)
    assert written(shape.column_edges) == expected_edges(edges)
    assert "unknown form" not in (shape.reason or "")


@for_each("sql, ordinals", [
    ("INSERT INTO n SELECT a, 1, b + c FROM t", {"1/3": "a", "3/3": "bc"}),
    ("INSERT INTO n SELECT 1, 2, 'x', a FROM t", {"4/4": "a"}),
    ("INSERT INTO n SELECT * FROM t", {"*": "*"}),
    ("INSERT INTO n SELECT t.* FROM t WHERE t.a > 1", {"*": "*"}),
    ("INSERT INTO n SELECT a, t.* FROM t", {}),
    ("INSERT INTO n SELECT * FROM t JOIN u ON t.i = u.i", {}),
    ("INSERT INTO n (p) SELECT a FROM t", {}),
    ("SELECT a INTO n FROM t", {}),
])  # fmt: skip
def test_the_places_of_columns_are_known_where_names_are_not(
    sql: str, ordinals: dict[str, str]
) -> None:
    (shape,) = parse(sql, TSQL)
    sources: dict[str, str] = defaultdict(str)
    for edge in sorted(shape.column_edges, key=lambda edge: edge.from_column):
        if edge.ordinal:
            sources[edge.ordinal] += edge.from_column
    assert sources == ordinals


def columns(database: str | None, table: Name) -> Sequence[str]:
    return SCHEMA.get(".".join(table).casefold(), ())


@for_each("dialect, sql, edges", WITH_SCHEMA)
def test_columns_where_the_schema_is_known(dialect: Dialect, sql: str, edges: str) -> None:
    (shape,) = parse(sql, dialect, columns)
    assert written(shape.column_edges) == expected_edges(edges)
    assert shape.outcome is Outcome.PARSED


@for_each("sql, reason", INCOMPLETE)
def test_a_shape_names_its_missing_columns(sql: str, reason: str) -> None:
    shape = parse(sql, TSQL)[0]
    assert (shape.outcome, shape.reason) == (Outcome.PARTIAL, reason)


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("column", ["_loaded_", "__pk__", "_x_"])
@pytest.mark.parametrize(
    ("sql", "edges"),
    [
        ("INSERT INTO n ({0}) SELECT {0} FROM t", "{0}=t.{0}"),
        ("UPDATE n SET {0} = {0} + 1", "{0}=~n.{0}"),
        ("DELETE FROM n WHERE i IN (SELECT s.{0} FROM s)", "*=FILTER:s.{0}"),
        (
            "MERGE INTO n USING s ON n.{0} = s.{0} WHEN MATCHED THEN UPDATE SET {0} = s.{0} "
            "WHEN NOT MATCHED THEN INSERT ({0}) VALUES (s.{0});",
            "{0}=s.{0} *=JOIN:s.{0}",
        ),
    ],
)
def test_a_column_is_one_whatever_underscores_surround_it(
    sql: str, edges: str, column: str, dialect: Dialect
) -> None:
    (shape,) = parse(sql.format(column), dialect)
    assert written(shape.column_edges) == expected_edges(edges.format(column))


def test_constants_alone_leave_nothing_missing() -> None:
    (shape,) = parse("INSERT INTO n SELECT 1, 'x'", TSQL)
    assert (shape.outcome, shape.column_edges) == (Outcome.PARSED, ())


def test_edges_name_tables_as_the_accesses_do() -> None:
    (shape,) = parse(
        "INSERT INTO DBO.N (x) SELECT T.a FROM Db.DBO.T UNION SELECT b FROM db.dbo.t", TSQL
    )
    names = {access.name for access in shape.accesses}
    assert {edge.table for edge in shape.column_edges} == {("DBO", "N")} <= names
    assert {edge.from_table for edge in shape.column_edges} == {("Db", "DBO", "T")} <= names


def test_a_query_that_writes_nothing_has_a_result_without_a_table() -> None:
    (shape,) = parse("SELECT a FROM t", TSQL)
    assert [edge.table for edge in shape.column_edges] == [()]


def test_a_thousand_unions_do_not_stop_it() -> None:
    sql = "INSERT INTO n (x) " + " UNION ALL ".join(f"SELECT c{i} FROM t" for i in range(700))
    (shape,) = parse(sql, TSQL)
    assert {edge.column for edge in shape.column_edges} <= {"x"}


@for_each(
    "dialect, expression, masked_by",
    [
        (SPARK, "a", ""),
        (SPARK, "left(a, 1)", ""),
        (SPARK, "sha2(a, 256)", "HASH"),
        (SPARK, "MD5(CONCAT(a, 'salt'))", "HASH"),
        (SPARK, "mask(a)", "MASK"),
        (SPARK, "mask_show_last_n(a, 4)", "MASK"),
        (SPARK, "base64(aes_encrypt(a, 'key'))", "ENCRYPT"),
        (SPARK, "mask(md5(a))", "MASK"),
        (SPARK, "sha1(aes_encrypt(a, 'key'))", "ENCRYPT"),
        (TSQL, "HASHBYTES('SHA2_256', a)", "HASH"),
        (TSQL, "CHECKSUM(a)", "HASH"),
        (TSQL, "EncryptByKey(Key_GUID('k'), a)", "ENCRYPT"),
    ],
)
def test_the_operation_that_hides_a_value(
    dialect: Dialect, expression: str, masked_by: str
) -> None:
    (shape,) = parse(f"INSERT INTO n (p) SELECT {expression} FROM t", dialect)
    (edge,) = shape.column_edges
    assert edge.masking == masked_by
