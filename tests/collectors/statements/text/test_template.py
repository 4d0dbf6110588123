"""Templates: texts that differ in the names of their tables only have one."""

from __future__ import annotations

from dbt_graft.collectors.statements.text.template import make_template
from tests.cases import for_each

ALIKE = [
    ("SELECT a FROM d.t1", "SELECT a FROM d.t2"),
    ("INSERT INTO a.b.t (x) SELECT x FROM s.u1", "INSERT INTO a.c.t (x) SELECT x FROM s.u2"),
    ("MERGE INTO d.t1 USING d.u ON 1 = 1", "MERGE INTO d.t2 USING e.w ON 1 = 1"),
    ("SELECT x.a FROM d.t1 AS x JOIN d.t1 y ON 1 = 1", "SELECT x.a FROM e.u x JOIN e.u y ON 1 = 1"),
]
OTHERS = [
    ("SELECT a FROM d.t JOIN d.t ON 1 = 1", "SELECT a FROM d.t JOIN d.u ON 1 = 1"),
    ("SELECT a FROM d.t", "SELECT a FROM d.e.t"),
    ("SELECT a FROM d.t", "SELECT b FROM d.t"),
]
NONE = [
    "SELECT a FROM t",
    "SELECT t.a FROM d.t",
    "SELECT d.t.a FROM d.t",
    "SELECT EXTRACT(day FROM x.a) FROM d.t x",
    "SELECT EXTRACT(day FROM t.a) FROM d.t",
    "SELECT d.f(a) FROM d.t",
    "SELECT a FROM d.f(1)",
    "SELECT a FROM d.t JOIN D.T ON 1 = 1",
    "SELECT a FROM sys.tables",
    "SELECT a FROM tempdb.dbo.t",
    "SELECT a FROM [d].[t]",
    "SELECT a FROM d.[t]",
    "SELECT a FROM parquet.`/x`",
    "UPDATE t SET a = 1 FROM d.t",
    "SELECT a FROM d.t x, d.t y",
    "SELECT a FROM __t0_0.__t0_1",
]


@for_each("one, other", ALIKE)
def test_texts_that_differ_in_names_of_tables_have_one_template(one: str, other: str) -> None:
    first, second = make_template(one), make_template(other.replace(" AS ", " AS "))
    assert first
    assert second
    assert first.restore(first.text) == one
    assert second.restore(second.text) == other
    assert first.text.replace(" AS ", " ") == second.text.replace(" AS ", " ")


@for_each("one, other", OTHERS)
def test_other_texts_have_templates_of_their_own(one: str, other: str) -> None:
    texts = [template and template.text for template in (make_template(one), make_template(other))]
    assert texts[0] != texts[1]


@for_each("text", NONE)
def test_a_name_that_may_stand_elsewhere_is_not_replaced(text: str) -> None:
    template = make_template(text)
    assert template is None or template.restore(template.text) == text
    assert template is None or "d.t" not in text
