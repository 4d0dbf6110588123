"""Values that a client sends, in T-SQL: which columns of a table they go into."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import Outcome
from tests.cases import for_each

# The statement, and the columns that get what is sent: `a=a`, `~` where it is changed on the way.
SENT = """
# drivers
INSERT INTO y (a, b, c) VALUES (?, ?, ?) | a=a b=b c=c
INSERT INTO [y] ([a b], [c]) VALUES (@P1, @P2) | a_b=a_b c=c
INSERT INTO y (a, b) VALUES (?, ?), (?, ?), (?, ?) | a=a b=b
INSERT INTO y (a, b) VALUES (1, N'x'), (2, NULL) | a=a b=b
INSERT INTO y (a, b) VALUES (@P1, GETDATE()) | a=a
INSERT INTO y (a, b) VALUES (@P1, NEWID()), (@P2, NEWID()) | a=a
INSERT INTO y (a, d) VALUES (?, DATEADD(day, -1, SYSUTCDATETIME())) | a=a
INSERT INTO y (a, b) VALUES (CAST(? AS INT), ISNULL(?, 0)) | a=~a b=~b
exec sp_executesql N'INSERT INTO y (a) VALUES (@P1)',N'@P1 int',5 | a=a
INSERT INTO y (a, b) OUTPUT inserted.id SELECT p0, p1 FROM (VALUES (?, ?, 0), (?, ?, 1)) AS i(p0, p1, n) ORDER BY n | a=a b=b
INSERT INTO y (a, b) SELECT ?, ? UNION ALL SELECT ?, ? | a=a b=b
INSERT INTO y (a, b) SELECT * FROM OPENJSON(?) WITH (k int, b int) | a=~a b=~b
INSERT BULK dbo.y ([a] int, [b] nvarchar(50) COLLATE Latin1_General_CI_AS) WITH (TABLOCK) | a=a b=b
# columns by place need the table's, which are known here of z (a, b)
INSERT INTO y VALUES (?, ?) | -
INSERT INTO z VALUES (?, ?) | a=a b=b
INSERT INTO y SELECT ?, ? | -
# changes of rows
UPDATE y SET a = ?, m = GETDATE() WHERE id = ? | *=FILTER:id a=a
UPDATE y SET a = a + ? | -
UPDATE y SET a = ? WHERE id IN (?, ?) AND k = ? | *=FILTER:k a=a
DELETE FROM y WHERE id = ? | *=FILTER:id
MERGE y AS t USING (VALUES (?, ?)) AS s(id, v) ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = s.v WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.v); | *=JOIN:id a=a id=id
MERGE y AS t USING (SELECT ? AS id) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = ? WHEN NOT MATCHED THEN INSERT (id, a) VALUES (?, ?); | *=JOIN:id a=a id=id
# what no client sends, or nobody knows under which name
INSERT INTO y (a, b) SELECT ?, b FROM x | -
INSERT INTO y (a) SELECT a FROM @rows | -
INSERT INTO y (a) EXEC dbo.p ? | -
INSERT INTO y DEFAULT VALUES | -
EXEC dbo.p ?, ? | -
SELECT ? AS a | -
SELECT ? AS a INTO y | -
CREATE VIEW v AS SELECT 1 AS a | -
BULK INSERT dbo.y FROM 'c:/a.csv' | -
DECLARE @a int = 1; INSERT INTO y (a) VALUES (@a) | -
"""  # noqa: E501


def cases() -> list[tuple[str, str]]:
    lines = [line for line in SENT.splitlines() if line and not line.startswith("#")]
    return [(sql, sent) for sql, _, sent in (line.rpartition(" | ") for line in lines)]


def sent_values(sql: str) -> str:
    """The columns that get what is sent as the cases write them."""

    def columns(database: str | None, table: tuple[str, ...]) -> list[str]:
        return ["a", "b"] if table[-1] == "z" else []

    found = []
    for shape in parse(sql, Dialect.TSQL, columns):
        for edge in shape.column_edges:
            if not edge.from_table:
                mark = {"IDENTITY": "", "TRANSFORMATION": "~"}.get(edge.subtype, f"{edge.subtype}:")
                found.append(f"{edge.column}={mark}{edge.from_column}".replace(" ", "_"))
    return " ".join(sorted(set(found))) or "-"


@for_each("sql, sent", cases())
def test_sent_values(sql: str, sent: str) -> None:
    assert sent_values(sql) == sent


@pytest.mark.parametrize(
    "sql",
    ["INSERT INTO y VALUES (?, ?)", "INSERT INTO y SELECT ?, ?", "INSERT BULK y (a int)"],
)
def test_values_without_a_column_leave_nothing_missing(sql: str) -> None:
    (shape,) = parse(sql, Dialect.TSQL)
    assert (shape.outcome, shape.reason) == (Outcome.PARSED, None)


def test_spark_sends_no_values_as_text() -> None:
    (shape,) = parse("INSERT INTO y (a) VALUES (1)", Dialect.SPARK)
    assert shape.column_edges == ()
