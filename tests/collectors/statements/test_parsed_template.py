"""Texts that differ in names of tables only: parsed once, and what comes out is as if each was."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

from collections.abc import Sequence

from dbt_graft.collectors.statements.parse import _parse, parse
from dbt_graft.collectors.statements.shape import ParsedShape
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from tests.cases import for_each

TEXTS = [
    "INSERT INTO dw.{0}.fact (a, b) SELECT x.a, y.b FROM crm.{0}.s AS x JOIN crm.{0}.u y ON y.i = x.i",
    "INSERT INTO dw.{0}.fact SELECT * FROM crm.{0}.s",
    "SELECT * INTO #n FROM crm.{0}.s; INSERT INTO dw.{0}.fact (a, b) SELECT * FROM #n",
    "MERGE dw.{0}.fact AS g USING crm.{0}.s AS q ON q.i = g.i WHEN MATCHED THEN UPDATE SET a = q.a;",
    "UPDATE g SET g.a = q.a FROM dw.{0}.fact AS g, crm.{0}.s AS q WHERE q.i = g.i",
    "USE d; INSERT INTO {0}.fact (a) SELECT a FROM {0}.s EXCEPT SELECT b FROM {0}.u",
    "WITH c AS (SELECT a FROM crm.{0}.s) INSERT INTO dw.{0}.fact (a) SELECT a FROM c",
    "TRUNCATE TABLE dw.{0}.fact; DROP TABLE {0}.fact; CREATE TABLE {0}.other (a int)",
]  # fmt: skip


def columns(database: str | None, table: Name) -> Sequence[str]:
    """The columns of a table, which depend on its schema's name."""
    return {"one": ["a", "b"], "two": ["i", "k"]}.get(table[-2:-1][0] if table[1:] else "", [])


def sides(shapes: Sequence[ParsedShape]) -> list[object]:
    return [
        (s.shape_id, s.text, s.outcome, s.reason, s.reads, s.writes, s.result, {*s.column_edges})
        for s in shapes
    ]


@for_each(
    "dialect, text, name",
    [
        (dialect, text, name)
        for dialect in Dialect
        for text in TEXTS
        for name in ("dbo", "one", "two", "three", "one")
    ],
)
def test_a_text_of_a_template_has_what_it_has_alone(dialect: Dialect, text: str, name: str) -> None:
    text = text.format(name)
    assert sides(parse(text, dialect, columns)) == sides(_parse(text, dialect, columns))
