"""Texts that differ in names only: parsed once, and what comes out is as if each was."""

# ruff: noqa: E501 (one line a case)

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.parse import _parse, parse
from dbt_graft.collectors.statements.shape import ParsedShape
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.text.template import make_template
from tests.cases import for_each
from tests.collectors.statements.columns import test_columns, test_tsql_traffic

TEXTS = [
    "INSERT INTO dw.{0}.fact (a, b) SELECT x.a, y.b FROM crm.{0}.s AS x JOIN crm.{0}.u y ON y.i = x.i",
    "INSERT INTO dw.{0}.fact SELECT * FROM crm.{0}.s",
    "SELECT * INTO #n FROM crm.{0}.s; INSERT INTO dw.{0}.fact (a, b) SELECT * FROM #n",
    "MERGE dw.{0}.fact AS g USING crm.{0}.s AS q ON q.i = g.i WHEN MATCHED THEN UPDATE SET a = q.a;",
    "UPDATE g SET g.a = q.a FROM dw.{0}.fact AS g, crm.{0}.s AS q WHERE q.i = g.i",
    "USE d; INSERT INTO {0}.fact (a) SELECT a FROM {0}.s EXCEPT SELECT b FROM {0}.u",
    "WITH c AS (SELECT a FROM crm.{0}.s) INSERT INTO dw.{0}.fact (a) SELECT a FROM c",
    "TRUNCATE TABLE dw.{0}.fact; DROP TABLE {0}.fact; CREATE TABLE {0}.other (a int)",
    "INSERT INTO t1 ({0}_k, {0}) SELECT o1.{0}_k, MAX({0}_v) AS {0} FROM one.s AS o1 GROUP BY {0}_k",
    "INSERT INTO t1 SELECT *, {0}_v FROM two.s AS {0}_x",
    "INSERT INTO t1 (Ab) SELECT {0}_q.ab FROM three.s AS {0}_q",
]  # fmt: skip
# Statements, whose names are exchanged for others, keywords and functions among them.
STATEMENTS = [
    *((Dialect.TSQL, sql) for sql, *_ in test_tsql_traffic.cases("\n".join(test_tsql_traffic.ALL))),
    *((Dialect(dialect), sql) for dialect, sql, *_ in test_columns.CASES),
]
WORDS = sorted({word for _, sql in STATEMENTS for word in re.findall(r"[A-Za-z_]\w*", sql)})


def columns(database: str | None, table: Name) -> Sequence[str]:
    """The columns of a table, which depend on its schema's name."""
    schemas = {"one": ["a", "b"], "two": ["i", "One_k"], "three": ["AB"]}
    return schemas.get(table[-2:-1][0] if table[1:] else "", [])


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
        for name in ("dbo", "one", "two", "three", "one", "row", "values", "ordinality")
    ],
)
def test_a_text_of_a_template_has_what_it_has_alone(dialect: Dialect, text: str, name: str) -> None:
    text = text.format(name)
    assert sides(parse(text, dialect, columns)) == sides(_parse(text, dialect, columns))


@for_each("seed", range(3_000), quick=300)
def test_other_names_at_random_are_parsed_as_they_are_alone(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    dialect, sql = chance.choice(STATEMENTS)
    normalised = normalise(sql, dialect)
    template = make_template(normalised)
    if template is None:
        return
    names = tuple(
        chance.choice(WORDS) if chance.random() < 0.5 else f"{name}_{chance.randrange(9)}"
        for name in template.names
    )
    text = replace(template, names=names).restore(template.text)
    known = chance.sample(names, min(len(names), 3))
    lookup = [lambda database, table: (), lambda database, table: known][seed % 2]
    alone = _parse(normalise(text, dialect), dialect, lookup)
    assert sides(parse(text, dialect, lookup)) == sides(alone)
