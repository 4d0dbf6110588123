"""Columns of T-SQL that sqlglot alone does not parse, or parses otherwise: hints, TOP, XML methods.

A line is a statement and its edges, `target.column<source.column:SUBTYPE`; nothing else comes out.
"""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.shape import ParsedShape
from dbt_graft.collectors.statements.text.dialect import Dialect
from tests.cases import for_each

CASES = """
INSERT INTO dbo.t WITH (TABLOCK) (a, b) SELECT x, y FROM dbo.s | t.a<s.x:IDENTITY t.b<s.y:IDENTITY
INSERT INTO dbo.t WITH (TABLOCKX, KEEPIDENTITY) (a) SELECT x FROM dbo.s WITH (NOLOCK) | t.a<s.x:IDENTITY
INSERT INTO [dbo].[t] WITH (TABLOCK) ([a b]) SELECT s.[x y] FROM [dbo].[s] AS s | t.a_b<s.x_y:IDENTITY
INSERT TOP (10) INTO dbo.t (a) SELECT x FROM dbo.s | t.a<s.x:IDENTITY
INSERT TOP (10) PERCENT INTO dbo.t (a) SELECT x FROM dbo.s | t.a<s.x:IDENTITY
INSERT INTO dbo.t (a) SELECT x FROM dbo.s OPTION (RECOMPILE, MAXDOP 1) | t.a<s.x:IDENTITY
INSERT INTO dbo.t (a) SELECT x FROM dbo.s OPTION (USE HINT ('DISABLE_OPTIMIZER_ROWGOAL')) | t.a<s.x:IDENTITY
INSERT INTO dbo.t (a) OUTPUT inserted.a SELECT x FROM dbo.s | t.a<s.x:IDENTITY
INSERT INTO dbo.t (a) SELECT s.x FROM dbo.s s INNER HASH JOIN dbo.u u ON u.i = s.i | t.*<s.i:JOIN t.*<u.i:JOIN t.a<s.x:IDENTITY
INSERT INTO dbo.t (a) SELECT s.x FROM dbo.s s LEFT LOOP JOIN dbo.u u ON u.i = s.i | t.*<s.i:JOIN t.*<u.i:JOIN t.a<s.x:IDENTITY
INSERT INTO dbo.t (a) SELECT s.x.value('(/r/a)[1]', 'int') FROM dbo.s s | t.a<s.x:TRANSFORMATION
INSERT INTO dbo.t (a) SELECT x.value('(/r/a)[1]', 'int') FROM dbo.s | t.a<s.x:TRANSFORMATION
INSERT INTO dbo.t (a) SELECT x.query('/r') FROM dbo.s | t.a<s.x:TRANSFORMATION
INSERT INTO dbo.t (a) SELECT y FROM dbo.s WHERE x.exist('/r') = 1 | t.*<s.x:FILTER t.a<s.y:IDENTITY
INSERT INTO dbo.t (a) SELECT n.c.value('@a', 'int') FROM dbo.s CROSS APPLY x.nodes('/r') AS n(c) | t.*<s.x:JOIN t.a<s.x:TRANSFORMATION
INSERT INTO dbo.t (collate) SELECT collate FROM dbo.s | t.collate<s.collate:IDENTITY
INSERT INTO dbo.t (a) SELECT x COLLATE Latin1_General_CI_AS FROM dbo.s | t.a<s.x:TRANSFORMATION
SELECT x INTO dbo.t FROM dbo.s OPTION (USE HINT ('FORCE_LEGACY_CARDINALITY_ESTIMATION')) | t.x<s.x:IDENTITY
SELECT TOP (10) WITH TIES x INTO #t FROM dbo.s ORDER BY y | #t.*<s.y:SORT #t.x<s.x:IDENTITY
CREATE OR ALTER VIEW dbo.v (a) AS SELECT x FROM dbo.s | v.a<s.x:IDENTITY
ALTER VIEW dbo.v AS SELECT x FROM dbo.s | v.x<s.x:IDENTITY
ALTER VIEW dbo.v (a) WITH SCHEMABINDING AS SELECT x FROM dbo.s | v.a<s.x:IDENTITY
CREATE TABLE dbo.t WITH (DISTRIBUTION = HASH(a), CLUSTERED COLUMNSTORE INDEX) AS SELECT x AS a FROM dbo.s | t.a<s.x:IDENTITY
CREATE TABLE dbo.t WITH (HEAP, DISTRIBUTION = ROUND_ROBIN) AS SELECT x AS a FROM dbo.s | t.a<s.x:IDENTITY
CREATE TABLE dbo.t WITH (CLUSTERED COLUMNSTORE INDEX, DISTRIBUTION = REPLICATE) AS SELECT x FROM dbo.s | t.x<s.x:IDENTITY
UPDATE TOP (10) dbo.t SET a = s.x FROM dbo.t JOIN dbo.s s ON s.i = t.i | t.*<s.i:JOIN t.a<s.x:IDENTITY
UPDATE t SET a += s.x FROM dbo.t t JOIN dbo.s s ON s.i = t.i | t.*<s.i:JOIN t.a<s.x:TRANSFORMATION t.a<t.a:TRANSFORMATION
UPDATE t SET t.a -= s.x FROM dbo.t t JOIN dbo.s s ON s.i = t.i | t.*<s.i:JOIN t.a<s.x:TRANSFORMATION t.a<t.a:TRANSFORMATION
UPDATE dbo.t SET a *= b | t.a<t.a:TRANSFORMATION t.a<t.b:TRANSFORMATION
UPDATE dbo.t WITH (ROWLOCK) SET a = b | t.a<t.b:IDENTITY
UPDATE dbo.t SET a = b OUTPUT deleted.a WHERE c = 1 | t.a<t.b:IDENTITY
UPDATE t SET a = s.x FROM dbo.t t JOIN dbo.s s ON s.i = t.i OPTION (MAXDOP 1, USE HINT ('X')) | t.*<s.i:JOIN t.a<s.x:IDENTITY
MERGE TOP (5) INTO dbo.t t USING dbo.s s ON s.i = t.i WHEN MATCHED THEN UPDATE SET t.a += s.x; | t.*<s.i:JOIN t.a<s.x:TRANSFORMATION t.a<t.a:TRANSFORMATION
MERGE dbo.t WITH (HOLDLOCK) AS t USING dbo.s AS s ON s.i = t.i WHEN NOT MATCHED THEN INSERT (a) VALUES (s.x) OUTPUT $action; | t.*<s.i:JOIN t.a<s.x:IDENTITY
DELETE TOP (10) FROM dbo.t WHERE i IN (SELECT i FROM dbo.s) | t.*<s.i:FILTER
"""


def _cases(text: str) -> list[tuple[str, ...]]:
    return [tuple(line.split(" | ")) for line in text.strip().splitlines()]


def _edges(shape: ParsedShape) -> list[str]:
    return sorted(
        f"{edge.table[-1]}.{edge.column}<{edge.from_table[-1]}.{edge.from_column}:{edge.subtype}".replace(
            " ", "_"
        )
        for edge in shape.column_edges
        if not edge.is_of_own_rows
    )


@for_each("sql, edges", _cases(CASES))
def test_the_columns_are_exact(sql: str, edges: str) -> None:
    (shape,) = parse(sql, Dialect.TSQL)
    assert (shape.reason, _edges(shape)) == (None, sorted(edges.split()))
