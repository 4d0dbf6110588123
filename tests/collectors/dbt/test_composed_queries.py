"""Queries composed at random of few words: those that a review takes for equal give equal rows.

A change of one place is the business of the fuzz of single changes; here whole steps stand in
another order, at another depth, or over the other side of a join.
"""

from __future__ import annotations

from collections import defaultdict
from random import Random

import duckdb
import pytest
from sqlglot.errors import SqlglotError

from dbt_graft.analysis.review.node import QueryOutline
from dbt_graft.collectors.statements.outline.query import query_outline
from dbt_graft.collectors.statements.text.names import Name
from tests.cases import for_each
from tests.collectors.dbt.test_executed_queries import database, result
from tests.collectors.dbt.test_fuzzed_queries import seeded

__all__ = ["database"]
COLUMNS = ("id", "x", "t")
TERMS = ("x > 2", "t < 3", "id = 1", "x is not null", "not (t = 2 or x = 4)", "t in (1, 2)")
WINDOWS = (
    "row_number() over (partition by id order by x, t)",
    "sum(x) over (partition by id)",
    "count(*) over ()",
)
PARTS = 4  # queries of one depth, of which a deeper one chooses


def composed(rng: Random, depth: int) -> str:
    """A query with the columns id, x and t."""
    source = "raw.a"
    if depth:
        source = f"({composed(rng, depth - 1)})"
    kind = rng.choice(("filter", "filter", "window", "group", "join", "union", "plain", "exists"))
    if kind == "plain":
        return f"select id, x, t from {source} s"
    if kind == "filter":
        return f"select id, x, t from {source} s where {rng.choice(TERMS)}"
    if kind == "window":
        where = rng.choice(("", f" where {rng.choice(TERMS)}"))
        last = rng.choice(("", " qualify row_number() over (partition by id order by x, t) = 1"))
        return f"select id, x, {rng.choice(WINDOWS)} as t from {source} s{where}{last}"
    if kind == "group":
        having = rng.choice(("", " having sum(x) > 4", " having count(*) > 1"))
        return f"select id, sum(x) as x, max(t) as t from {source} s group by id{having}"
    other = rng.choice(("raw.a", f"(select id, x, t from raw.a where {rng.choice(TERMS)})"))
    if kind == "join":
        side = rng.choice(("join", "left join"))
        sides = rng.sample("or", 2)
        pair = f"{rng.choice('or')}.x, {rng.choice('or')}.t"
        on = rng.choice(("o.id = r.id", "o.id = r.t", "o.t = r.id", "o.x = r.x and o.id = r.id"))
        return f"select o.id, {pair} from {source} {sides[0]} {side} {other} {sides[1]} on {on}"
    if kind == "union":
        return f"select id, x, t from {source} s union all select id, t, x from {other} q"
    on = rng.choice(("q.id = s.id", "q.id = q.x", "q.x = s.id and q.t = 1"))
    return f"select id, x, t from {source} s where exists (select 1 from {other} q where {on})"


def outline(query: str, columns: tuple[str, ...]) -> QueryOutline:
    def table(name: Name) -> tuple[str, tuple[str, ...]]:
        return ".".join(name), columns

    return query_outline(query, "duckdb", table)


def likeness(query: QueryOutline) -> tuple[object, ...]:
    """All by which a review sees that two queries differ."""
    columns = tuple(sorted(query.columns.items()))
    return columns, query.rows, query.rest, query.ties, query.windows, query.behind


@for_each("seed, known", [(seed, known) for seed in range(40) for known in (True, False)], quick=2)
def test_what_is_taken_for_equal_gives_equal_rows(
    database: duckdb.DuckDBPyConnection, seed: int, known: bool
) -> None:
    rng = seeded(f"composed {seed}")
    classes: dict[object, set[str]] = defaultdict(set)
    for _ in range(400):
        query = composed(rng, rng.choice((0, 1, 1, 2)))
        try:
            classes[likeness(outline(query, COLUMNS if known else ()))].add(query)
        except SqlglotError as error:  # pragma: no cover
            pytest.fail(f"{query}: {error}")
    several = [sorted(queries) for queries in classes.values() if len(queries) > 1]
    assert several
    for queries in several:
        results = {query: result(database, query) for query in queries}
        first = results[queries[0]]
        assert [query for query in queries if results[query] != first] == [], queries[0]
