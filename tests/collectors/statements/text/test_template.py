"""Templates: texts that differ in names only have one."""

from __future__ import annotations

from sqlglot.dialects.spark import Spark
from sqlglot.dialects.tsql import TSQL

from dbt_graft.collectors.statements.text.template import known_words, make_template
from tests.cases import for_each

ALIKE = [
    ("SELECT a1 FROM d1.t1", "SELECT a2 FROM d2.t2"),
    ("INSERT INTO a1.t1 (x1) SELECT x1 FROM u1", "INSERT INTO b1.t2 (y1) SELECT y1 FROM u2"),
    (
        "SELECT x1.a1 FROM t1 x1 JOIN t1 y1 ON 1 = 1",
        "SELECT y2.b1 FROM u2 y2 JOIN u2 z2 ON 1 = 1",
    ),
    ("SELECT [a1] FROM [d1].t1", "SELECT [b1] FROM [e1].t2"),
    ("SELECT `a1` FROM t1", "SELECT `b1` FROM t2"),
    ("SELECT FirstName FROM t1", "SELECT LastName FROM t1"),
]
OTHERS = [
    ("SELECT a1 FROM t1 JOIN t1 ON 1 = 1", "SELECT a1 FROM t1 JOIN t2 ON 1 = 1"),
    ("SELECT a1 FROM d1.t1", "SELECT a1 FROM d1.e1.t1"),
    ("SELECT a1 FROM t1", "SELECT t1 FROM t1"),
    ("SELECT a1 AS b1 FROM t1", "SELECT a1 AS a1 FROM t1"),
    ("SELECT a1 FROM t1", "SELECT [a1] FROM t1"),
    ("SELECT a1 FROM t1 q1", "SELECT a1 FROM t1 WITH"),
    ("SELECT a1 FROM t1 FOR SYSTEM_TIME ALL", "SELECT a1 FROM t1 FOR sys_time ALL"),
    ("SELECT q1(a1) FROM t1", "SELECT COUNT(a1) FROM t1"),
]
# A text, and what of it stays in its template.
STAYING = [
    ("SELECT a1 FROM t1 WHERE b1 = N'x'", "SELECT FROM WHERE N"),
    ("SELECT a1 FROM #t1 JOIN t1 ON @b1 = b1", "SELECT FROM t1 JOIN ON b1"),
    ("SELECT a1 FROM d1.T1 JOIN D1.t1 ON 1 = 1", "SELECT FROM d1 T1 JOIN D1 t1 ON"),
    ("SELECT [a1 b1], a1, c1 FROM sys.tables", "SELECT a1 b1 FROM sys tables"),
    ('SELECT "a1-b1", `x1/y1`, a1, y1 FROM t1', "SELECT a1 b1 x1 y1 FROM"),
    ("SELECT g1.STAsText(), sp_x1, a1$b1, b1 FROM t1", "SELECT STAsText sp_x1 a1 b1 FROM"),
    ("SELECT é1, a1?, a1 FROM t1", "SELECT é1 a1 FROM"),
]


@for_each("text, other", ALIKE)
def test_texts_that_differ_in_names_have_one_template(text: str, other: str) -> None:
    first, second = make_template(text), make_template(other)
    assert first
    assert second
    assert first.text == second.text
    assert (first.restore(first.text), second.restore(second.text)) == (text, other)


@for_each("text, other", OTHERS)
def test_other_texts_have_templates_of_their_own(text: str, other: str) -> None:
    texts = [template and template.text for template in (make_template(text), make_template(other))]
    assert texts[0] != texts[1]


@for_each("text, staying", STAYING)
def test_a_name_that_may_mean_something_stays(text: str, staying: str) -> None:
    template = make_template(text)
    assert template
    assert template.restore(template.text) == text
    left = template.text
    for number in range(len(template.names)):
        left = left.replace(f"__Nn{number}", " ")
    assert not set(staying.split()).symmetric_difference(_words(left))


def _words(text: str) -> set[str]:
    words = "".join(sign if sign.isalnum() or sign == "_" else " " for sign in text).split()
    return {word for word in words if not word.isdigit()} - {"AS", "x"}


def test_a_template_of_ours_in_a_text_is_not_replaced_again() -> None:
    assert make_template("SELECT a1 FROM __Nn0") is None


@for_each("dialect", [TSQL, Spark])
def test_the_keywords_of_the_parser_are_known(dialect: type[TSQL] | type[Spark]) -> None:
    parser = dialect.parser_class
    tables = [
        *(dialect.Tokenizer.KEYWORDS, parser.FUNCTIONS, parser.NO_PAREN_FUNCTION_PARSERS),
        *(parser.CONSTRAINT_PARSERS, parser.PROPERTY_PARSERS),
    ]
    words = {word for table in tables for name in table for word in _words(str(name).casefold())}
    assert not words - known_words()
