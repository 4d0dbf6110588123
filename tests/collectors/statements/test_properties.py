"""Properties of all T-SQL: quoting keeps names, splitting keeps tables, shapes keep no values."""

from hypothesis import given
from hypothesis import strategies as st

from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import Direction
from tests.cases import for_each

TSQL = Dialect.TSQL

# A name as people quote it: anything but control characters, `?` (a value unknown) and a sign of
# a temporary table in front.
NAMES = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="?"), min_size=1, max_size=30
).filter(lambda name: name[0] not in "#@")
WORDS = st.from_regex(r"[a-z][a-z0-9_]{2,12}x_", fullmatch=True)
VALUES = st.one_of(
    st.integers().map(str),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20).map(
        lambda text: "N'" + text.replace("'", "''") + "'"
    ),
    st.binary(max_size=8).map(lambda data: f"0x{data.hex()}"),
)
STATEMENTS = [
    "SELECT a FROM {0} x JOIN {1} y ON x.i = y.i WHERE x.a = {2}",
    "INSERT INTO {0} (a, b) VALUES ({2}, {2})",
    "INSERT INTO {0} SELECT * FROM {1} WHERE a = {2}",
    "UPDATE x SET a = {2} FROM {0} x JOIN {1} y ON x.i = y.i",
    "DELETE FROM {0} WHERE i IN (SELECT i FROM {1} WHERE b = {2})",
    "MERGE {0} AS x USING {1} AS y ON x.i = y.i WHEN MATCHED THEN UPDATE SET a = {2};",
    "WITH c AS (SELECT * FROM {0}) SELECT * FROM c WHERE a = {2}",
    "SELECT * INTO {0} FROM {1} WHERE a = {2}",
    "TRUNCATE TABLE {0}",
    "IF EXISTS (SELECT 1 FROM {0} WHERE a = {2}) DROP TABLE {1}",
    "EXEC sp_executesql N'SELECT a FROM {0} WHERE b = @b', N'@b int', {2}",
    "DECLARE @v nvarchar(50) = {2}",
]
_filled = st.builds(
    lambda statement, one, other, value: statement.format(one, other, value),
    st.sampled_from(STATEMENTS),
    WORDS,
    WORDS,
    VALUES,
)


def tables(text: str) -> set[tuple[str, Direction, str]]:
    return {
        (".".join(access.name), access.direction, access.operation)
        for shape in parse(text, TSQL)
        for access in shape.accesses
    }


@given(st.lists(NAMES, min_size=1, max_size=4), st.sampled_from(["[]", '""']))
def test_a_quoted_name_is_found_as_it_was_written(parts: list[str], quotes: str) -> None:
    first, last = quotes
    name = ".".join(first + part.replace(last, last * 2) + last for part in parts)
    (shape,) = parse(f"SELECT a FROM {name} WHERE b = 1", TSQL)
    assert [access.name for access in shape.accesses] == [tuple(parts)]


@given(st.lists(_filled, max_size=6), st.sampled_from([";", "\n;\n", "\nGO\n", "\ngo 3\r\n", "\n"]))
def test_statements_touch_the_same_tables_alone_and_together(
    statements: list[str], between: str
) -> None:
    together = tables(between.join(statements))
    assert together == set().union(*(tables(statement) for statement in statements))


@given(st.sampled_from(STATEMENTS), WORDS, WORDS, VALUES, VALUES)
def test_other_values_give_the_same_shape(
    statement: str, one: str, other: str, value: str, another: str
) -> None:
    assert normalise(statement.format(one, other, value), TSQL) == normalise(
        statement.format(one, other, another), TSQL
    )


@given(st.sampled_from(STATEMENTS[:-1]), WORDS, WORDS, WORDS, VALUES)
def test_other_names_give_another_shape(
    statement: str, one: str, other: str, another: str, value: str
) -> None:
    same = one == another
    ids = [
        [shape.shape_id for shape in parse(statement.format(name, other, value), TSQL)]
        for name in (one, another)
    ]
    assert (ids[0] == ids[1]) is same


@given(st.sampled_from(STATEMENTS), st.text(st.sampled_from("qjzk"), min_size=8, max_size=12))
def test_no_value_is_in_a_shape(statement: str, secret: str) -> None:
    for quoted in (f"'{secret}'", f"N'x {secret}'"):
        assert secret not in repr(parse(statement.format("one_x", "two_x", quoted), TSQL))


@given(st.text(st.sampled_from("[]\"'`-/*;.,()?@#$ =\nabNE019"), max_size=60))
def test_normalising_twice_changes_nothing_of_any_text(text: str) -> None:
    once = normalise(text, TSQL)
    assert normalise(once, TSQL) == once


@for_each("statement", STATEMENTS[:-1])
def test_the_statements_of_these_tests_touch_tables(statement: str) -> None:
    assert tables(statement.format("one", "two", "5"))
