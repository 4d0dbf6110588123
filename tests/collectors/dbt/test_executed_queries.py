"""Queries that are changed at random and executed: where results differ, a review says so."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import duckdb
import pytest
import sqlglot
from sqlglot.errors import SqlglotError

from tests.collectors.dbt.review_pair import TABLES, review_pair
from tests.collectors.dbt.test_fuzzed_queries import changed, seeded

QUERIES = """
with c as (select id, x, t from raw.a where x > 1), d as (select id, sum(x) as s from c group by id) select c.id, c.t, d.s from c join d on c.id = d.id left join raw.b b on b.id = c.id and b.x > 2
select a.id, b.x, s.t from raw.a a join raw.b b using (id) left join raw.src s using (id) where a.x > 1 and b.t < 4
select id, x from (select id, x, row_number() over (partition by id order by x, t, amount desc) as n from raw.src) q where n = 1
select id, x from raw.a union all select id, t from raw.b union all select x, id from raw.src where x > 2
select coalesce(a.id, b.id) as id, a.x, b.t from raw.a a full join raw.b b on a.id = b.id and a.x = b.x
select * exclude (status) replace (x + 1 as x) from raw.src where status = 'a'
select id, count(*) filter (where x > 1) as n, sum(case when t > 2 then x else 0 end) as s from raw.src group by all
select a.id, a.x from raw.a a where a.id not in (select b.id from raw.b b where b.x > 3 and b.id is not null) or a.t = 2
select distinct on (id) id, x, t from raw.src where id is not null order by id, x desc, t, amount, customer_id, status
select a.id, (select max(b.x) from raw.b b where b.id = a.id and b.t > 1) as m from raw.a a
select id, x from raw.a except select id, x from raw.b where t > 1
select upper(status) as status, sum(x) as x from raw.src where status <> 'b' group by 1 having sum(x) > 3
select id, lag(x) over w as p, sum(x) over (w rows between 1 preceding and current row) as q from raw.src window w as (partition by id order by t, x, amount, customer_id, status)
"""  # noqa: E501
QUIET = ("METADATA", "COST")


@pytest.fixture(scope="module")
def database() -> duckdb.DuckDBPyConnection:
    """The three tables, with some rows."""
    connection = duckdb.connect()
    connection.execute("create schema raw")
    chance = seeded("rows")
    for table in TABLES:
        columns = "id int, x int, t int, status varchar, amount int, customer_id int"
        connection.execute(f"create table raw.{table} ({columns})")
        for _ in range(60):
            numbers = [chance.choice([None, *range(limit)]) for limit in (8, 7, 6)]
            row = [*numbers, chance.choice("abA"), chance.randint(0, 9), chance.randint(1, 4)]
            connection.execute(f"insert into raw.{table} values (?, ?, ?, ?, ?, ?)", row)
    return connection


def result(database: duckdb.DuckDBPyConnection, query: str) -> tuple[list[str], list[str]]:
    """The names of the columns, and the rows, both in order."""
    cursor = database.execute(query)
    names = [column[0].casefold() for column in cursor.description or ()]
    order = sorted(range(len(names)), key=names.__getitem__)
    rows = cursor.fetchall()
    return sorted(names), sorted(repr([row[at] for at in order]) for row in rows)


def mutants(seeds: range) -> Iterator[tuple[str, str]]:
    for query in QUERIES.strip().splitlines():
        tree = sqlglot.parse_one(query, read="duckdb")
        for seed in seeds:
            rng: Random = seeded(f"{query} {seed}")
            try:
                if mutant := changed(tree, rng):
                    yield query, mutant.sql(dialect="duckdb")
            except (SqlglotError, ValueError, AttributeError, TypeError):
                continue


def assert_seen(database: duckdb.DuckDBPyConnection, seeds: range) -> None:
    """Each change that gives another result is seen."""
    count = 0
    for query, text in mutants(seeds):
        try:
            other = result(database, text)
        except duckdb.Error:
            continue
        count += 1
        verdicts = {change.split(" ", 1)[0] for change in review_pair(query, text, "duckdb")}
        if verdicts <= {*QUIET}:
            assert other == result(database, query), (query, text)
    assert count > len(seeds)


def test_another_result_is_seen(database: duckdb.DuckDBPyConnection) -> None:
    assert_seen(database, range(15))


@pytest.mark.exhaustive
def test_another_result_of_many_is_seen(database: duckdb.DuckDBPyConnection) -> None:
    assert_seen(database, range(15, 400))
