"""Queries that are changed at random, in 14 dialects: a change of the tree is never layout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType

from tests.cases import for_each
from tests.collectors.dbt.review_pair import COLUMNS, WRITTEN_OTHERWISE, review_pair

DIALECTS = (
    *("snowflake", "bigquery", "postgres", "duckdb", "tsql", "spark", "databricks", "redshift"),
    *("trino", "clickhouse", "mysql", "oracle", "hive", "sqlite"),
)
# Everything in them decides on the result.
COMMON = """
select id, x + t as v, upper(status) as s from src where x > 1 and t < 5 or status = 'a'
select a.id, b.x as v from a left join b on a.id = b.id and b.t > 3 where a.x is not null
select id, sum(x) as v, count(distinct t) as n from src where id <> 7 group by id having sum(x) > 2
select id, case when x > 1 then 'a' when x > 0 then 'b' else 'c' end as v from src
select id, cast(x as int) as v, coalesce(t, 0) as w, x - t as d from src
select id, x from a union all select id, t from b
select id, x from src where id in (1, 2, 3) and x between 4 and 6 and status like 'a%'
select id, x from src where exists (select 1 from a where a.id = src.id and a.x > 2)
with c as (select id, sum(x) as v from a group by id) select b.id, c.v from b join c on b.id = c.id
select id, row_number() over (partition by id order by t desc) as v from src
select id, x from src where x > (select max(x) from a where t = 1)
select distinct id, x from src
"""
_OTHERS = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.GT: exp.LT,
    exp.LT: exp.GTE,
    exp.Add: exp.Sub,
    exp.Sub: exp.Add,
    exp.And: exp.Or,
    exp.Or: exp.And,
    exp.Sum: exp.Max,
    exp.Max: exp.Min,
    exp.Upper: exp.Lower,
    exp.Union: exp.Intersect,
}
# What no result depends on, and what would make another sentence of it.
_FREE = {"alias", "quoted", "comments", "big_int", "is_nvl", "nulls_first", "table", "db"}
# Of names in quotes, functions of one dialect and literals, the case counts.
_NAMES = {TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.HINT}
_WITHOUT = (exp.Alias, exp.TableAlias, exp.CTE, exp.Identifier, exp.Literal, exp.DataType)


def seeded(text: str) -> Random:
    """Random numbers that are the same each time."""
    return Random(text)  # noqa: S311


def queries_of(dialect: str, *, few: bool = False) -> list[str]:
    """The queries of a dialect: the common ones, and those of the pairs that change.

    Args:
        few: Of the common ones each third; dialects that follow one another have all.
    """
    common = COMMON.strip().splitlines()
    if few:
        common = common[DIALECTS.index(dialect) % 3 :: 3]
    blocks = Path(__file__).with_name("changed_pairs.txt").read_text().split("\n\n")[1:]
    pairs = [block.split("\n") for block in blocks]
    own = [line for head, *lines in pairs if head.split()[0] == dialect for line in lines if line]
    return [*common, *own]


def changed(tree: exp.Expr, rng: Random) -> exp.Expr | None:
    """A copy of a tree with a node that is another; None where nothing came of it."""
    kinds = (_other_value, _other_class, _swapped, _without_argument, _without_element)
    for _ in range(20):
        copy = tree.copy()
        nodes = [node for node in copy.walk() if not isinstance(node, exp.TableAlias)]
        if rng.choice(kinds)(rng.choice(nodes), rng):
            return copy
    return None


def _other_value(node: exp.Expr, rng: Random) -> bool:
    if isinstance(node, exp.Literal):
        node.set("this", f"{node.this}9" if node.is_string else str(int(float(node.this)) + 1))
        return True
    # What a query around it does not name may be another column.
    is_spare = isinstance(node.parent, exp.Select) and node.parent.parent is not None
    if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier) and not is_spare:
        name = rng.choice([name for name in COLUMNS.split() if name != node.name])
        node.set("this", exp.to_identifier(name))
        return True
    return False


def _other_class(node: exp.Expr, _: Random) -> bool:
    other = _OTHERS.get(type(node))
    if not other or not node.parent:
        return False
    node.replace(other(**node.args))
    return True


def _swapped(node: exp.Expr, _: Random) -> bool:
    if not isinstance(node, exp.Sub | exp.Div | exp.GT | exp.LT | exp.Like | exp.Except):
        return False
    left, right = node.this, node.expression
    node.set("this", right)
    node.set("expression", left)
    return True


def _without_argument(node: exp.Expr, rng: Random) -> bool:
    optional = [
        key
        for key, value in node.args.items()
        if value
        and not node.arg_types.get(key)
        and key not in _FREE
        # PostgreSQL reads rows without columns, too; what is around may not name them.
        and not (_is_inner(node) and key == "expressions")
    ]
    if not optional or isinstance(node, _WITHOUT):
        return False
    node.set(rng.choice(optional), None)
    return True


def _without_element(node: exp.Expr, rng: Random) -> bool:
    lists = [
        key
        for key, value in node.args.items()
        if isinstance(value, list)
        and len(value) > 1
        and not (_is_inner(node) and key == "expressions")
    ]
    if not lists:
        return False
    values = node.args[rng.choice(lists)]
    del values[rng.randrange(len(values))]
    return True


def _is_inner(node: exp.Expr) -> bool:
    return isinstance(node, exp.Select) and node.parent is not None


def canonical(sql: str, dialect: str) -> str:
    """The tree of a query as text, without what makes no difference in these queries."""
    tree = sqlglot.parse_one(sql, read=dialect)
    for node in list(tree.find_all(exp.Paren)):
        node.replace(node.this)
    for join in tree.find_all(exp.Join):
        _simplify(join)
    for fetch in tree.find_all(exp.Fetch):
        fetch.set("direction", None)
    for name in tree.find_all(exp.Identifier):
        if dialect == "snowflake" and name.name.isupper():
            name.replace(exp.to_identifier(name.name.lower()))
    for node in tree.find_all(exp.Exists):
        if isinstance(node.this, exp.Select):
            node.this.set("expressions", [])
    for node in reversed(list(tree.find_all(exp.And, exp.Or, exp.EQ, exp.NEQ))):
        sides = sorted((node.this, node.expression), key=repr)
        node.set("this", sides[0])
        node.set("expression", sides[1])
    return repr(tree)


def _simplify(join: exp.Join) -> None:
    """Leave out the words of a join that say nothing, and their order."""
    words = {join.side, join.kind} - {"", "CROSS", "INNER", "OUTER"}
    for key in ("side", "kind"):
        join.args.pop(key, None)
    join.set("kind", " ".join(sorted(words)))
    if isinstance(join.args.get("on"), exp.Boolean):
        join.set("on", None)


def mutants(dialect: str, seeds: range) -> Iterator[tuple[str, str]]:
    """Queries, each with one that is changed, as text that can be read again."""
    for query in queries_of(dialect, few=len(seeds) == 1):
        try:
            tree = sqlglot.parse_one(query, read=dialect)
        except SqlglotError:
            continue
        for seed in seeds:
            rng = seeded(f"{dialect} {query} {seed}")
            mutant = changed(tree, rng)
            if mutant is None:
                continue
            try:
                text = mutant.sql(dialect=dialect)
                base = tree.sql(dialect=dialect)
                if text != base and canonical(text, dialect) != canonical(base, dialect):
                    yield base, text
            except (SqlglotError, ValueError, AttributeError, TypeError):
                continue


def assert_never_layout(dialect: str, seeds: range) -> None:
    """No query that was changed is called written otherwise."""
    count = 0
    for base, text in mutants(dialect, seeds):
        count += 1
        changes = review_pair(base, text, dialect)
        assert changes, (base, text)
        assert changes != [WRITTEN_OTHERWISE], (base, text)
    assert count > len(seeds)


@for_each("dialect", DIALECTS)
def test_a_change_of_the_tree_is_never_layout(dialect: str) -> None:
    assert_never_layout(dialect, range(1))


@pytest.mark.exhaustive
@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_change_of_many_is_layout(dialect: str) -> None:
    assert_never_layout(dialect, range(200))


def laid_out(sql: str, dialect: str, rng: Random) -> str:
    """A query with other spaces, comments and case of its words, and the same tokens."""
    pieces, at = [], 0
    for token in sqlglot.tokenize(sql, read=dialect):
        gap = sql[at : token.start]
        if gap or (pieces and rng.random() < 0.1 and pieces[-1] in "(,)"):
            gap = rng.choice((" ", "\n", "\n    ", "  ", " /* a 'comment' */ ", " -- x > 1\n"))
        text = sql[token.start : token.end + 1]
        if token.token_type not in _NAMES and not token.token_type.name.endswith("_STRING"):
            text = rng.choice((text, text.upper(), text.lower()))
        pieces += [gap, text]
        at = token.end + 1
    return "".join([*pieces, sql[at:]])


@for_each("dialect", DIALECTS)
@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(20), marks=pytest.mark.exhaustive)])
def test_layout_is_never_a_change(dialect: str, seeds: range) -> None:
    for query in queries_of(dialect, few=len(seeds) == 1):
        for seed in seeds:
            text = laid_out(query, dialect, seeded(f"{query} {seed}"))
            changes = review_pair(query, text, dialect)
            assert changes in ([WRITTEN_OTHERWISE], []), (query, text)
