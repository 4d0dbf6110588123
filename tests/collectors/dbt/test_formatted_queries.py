"""Formatters of SQL: whatever they do to a query is no change of a model.

Each effect is in our own words; `make test-all` lets sqlfluff and sqlfmt format the queries that
others are made of, where they are on the path.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.collectors.dbt.review_pair import WRITTEN_OTHERWISE, review_pair
from tests.collectors.dbt.test_fuzzed_queries import queries_of

EFFECTS = {
    "a line for each column": (
        "select id, x from raw.src where x > 1 and t < 5",
        "select\n    id,\n    x\nfrom raw.src\nwhere\n    x > 1\n    and t < 5\n",
    ),
    "commas that lead": (
        "select id,\n  x,\n  t from raw.src",
        "select id\n  , x\n  , t from raw.src",
    ),
    "words in upper case": (
        "select id, sum(x) as s from raw.src group by id order by id",
        "SELECT id, SUM(x) AS s FROM raw.src GROUP BY id ORDER BY id",
    ),
    "types, NULL and TRUE in another case": (
        "select cast(x as INT) as v, NULL as n, TRUE as f from raw.src",
        "select cast(x as int) as v, null as n, true as f from raw.src",
    ),
    "spaces around operators": (
        "select id,x+t*2 as v from raw.src where x>=1",
        "select id, x + t * 2 as v from raw.src where x >= 1",
    ),
    "comments on lines of their own": (
        "select id, -- the key\n  x /* amount */ from raw.src",
        "select\n    -- the key\n    id,\n    /* amount */\n    x\nfrom raw.src",
    ),
    "no semicolon, an empty line at the end": (
        "select id from raw.src;",
        "select id from raw.src\n\n",
    ),
    "AS of columns": (
        "select x v, upper(status) s from raw.src",
        "select x as v, upper(status) as s from raw.src",
    ),
    "AS of tables": (
        "select a.id from raw.a a join raw.b b on a.id = b.id",
        "select a.id from raw.a as a join raw.b as b on a.id = b.id",
    ),
    "an alias that nothing uses": ("select id from raw.src as s", "select id from raw.src"),
    "an alias that is the name": (
        "select x as x, id as id from raw.src",
        "select x, id from raw.src",
    ),
    "an alias for each table, and a longer one": (
        "select a.id, b.x from raw.a a join raw.b b on a.id = b.id",
        "select first_a.id, second_b.x from raw.a as first_a join raw.b as second_b"
        " on first_a.id = second_b.id",
    ),
    "names with the table that they are of": (
        "select id, x from raw.src where t > 1",
        "select src.id, src.x from raw.src as src where src.t > 1",
    ),
    "INNER of a join": (
        "select a.id from raw.a a join raw.b b on a.id = b.id",
        "select a.id from raw.a a inner join raw.b b on a.id = b.id",
    ),
    "sides of a join's condition": (
        "select a.id from raw.a a left join raw.b b on b.id = a.id",
        "select a.id from raw.a a left join raw.b b on a.id = b.id",
    ),
    "ASC of an order": (
        "select id, row_number() over (partition by x order by t, id desc) as n from raw.src",
        "select id, row_number() over (partition by x order by t asc, id desc) as n from raw.src",
    ),
    "<> and !=": ("select id from raw.src where x <> 1", "select id from raw.src where x != 1"),
    "count(1) and count(*)": (
        "select id, count(1) as n from raw.src group by id",
        "select id, count(*) as n from raw.src group by id",
    ),
    "DISTINCT with brackets": (
        "select distinct(id), x from raw.src",
        "select distinct id, x from raw.src",
    ),
    "brackets around nothing that needs them": (
        "select (x) as v from raw.src where (x > 1) and ((t < 5))",
        "select x as v from raw.src where x > 1 and t < 5",
    ),
    "ELSE NULL": (
        "select case when x > 1 then t else null end as v from raw.src",
        "select case when x > 1 then t end as v from raw.src",
    ),
    "CASE within ELSE": (
        "select case when x > 1 then 'a' else case when x > 0 then 'b' else 'c' end end as v"
        " from raw.src",
        "select case when x > 1 then 'a' when x > 0 then 'b' else 'c' end as v from raw.src",
    ),
    "CASE that is COALESCE": (
        "select case when x is null then t else x end as v from raw.src",
        "select coalesce(x, t) as v from raw.src",
    ),
    "a query in FROM that becomes a CTE": (
        "select a.id, s.x from raw.a a join (select id, x from raw.b where x > 1) s on s.id = a.id",
        "with s as (select id, x from raw.b where x > 1)"
        " select a.id, s.x from raw.a a join s on a.id = s.id",
    ),
    "a CTE that nothing reads": (
        "with c as (select id from raw.a), d as (select x from raw.b) select id from c",
        "with c as (select id from raw.a) select id from c",
    ),
    "a list of values by lines": (
        "select id from raw.src where x in (1, 2, 3)",
        "select id from raw.src where x in (\n    1,\n    2,\n    3\n)",
    ),
}
IN_DIALECTS = {
    "casts by `::`": (
        "postgres",
        "select x::int as v from raw.src",
        "select cast(x as int) as v from raw.src",
    ),
    "CONVERT and CAST": (
        "tsql",
        "select convert(int, x) as v from raw.src",
        "select cast(x as int) as v from raw.src",
    ),
    "spaces between the parts of a name": (
        "tsql",
        "select [id], x from [wh].[raw].[src]",
        "select [id], x\nfrom [wh]. [raw]. [src]",
    ),
    "IFNULL and COALESCE": (
        "snowflake",
        "select ifnull(x, 0) as v from raw.src",
        "select coalesce(x, 0) as v from raw.src",
    ),
    "UNION and UNION DISTINCT": (
        "bigquery",
        "select id from raw.a union distinct select id from raw.b",
        "(select id from raw.a) union distinct (select id from raw.b)",
    ),
    "USING and ON": (
        "duckdb",
        "select a.id, b.x from raw.a a join raw.b b using (id)",
        "select a.id, b.x from raw.a a join raw.b b on a.id = b.id",
    ),
    "quotes that a name does not need": (
        "postgres",
        'select "id", "x" from raw."src"',
        "select id, x from raw.src",
    ),
    "quotes of strings": (
        "bigquery",
        'select id from raw.src where status = "a"',
        "select id from raw.src where status = 'a'",
    ),
    "a comma at the end": ("bigquery", "select id, x, from raw.src", "select id, x from raw.src"),
}
DIALECTS = ("snowflake", "bigquery", "postgres", "tsql", "spark")


@for_each(
    "dialect, old, new",
    [
        *(
            pytest.param(dialect, *pair, id=f"{effect}, {dialect}")
            for effect, pair in EFFECTS.items()
            for dialect in DIALECTS
        ),
        *(pytest.param(*case, id=effect) for effect, case in IN_DIALECTS.items()),
    ],
)
def test_what_a_formatter_does_is_no_change(dialect: str, old: str, new: str) -> None:
    for before, after in ((old, new), (new, old)):
        assert review_pair(before, after, dialect) in ([WRITTEN_OTHERWISE], []), (before, after)


# The rules of sqlfluff that move columns or take a name's quotes or alias away make another query
# of some; sqlfmt reads `//` as a comment, and breaks a long line of T-SQL within `[a name]`, which
# is another name then: what a review says of these is true.
SQLFLUFF = ("sqlfluff", "fix", "--rules", "all", "--exclude-rules", "ST06,AL09,AL05,RF06")
SQLFMT = ("sqlfmt", "--quiet")
_OTHER_QUERIES = {("sqlfmt", "duckdb"): "//"}
_OF_SQLFLUFF = {"spark": "sparksql"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("command", [SQLFLUFF, SQLFMT], ids=lambda command: command[0])
@pytest.mark.parametrize(
    "dialect", [*DIALECTS, "duckdb", "databricks", "redshift", "trino", "mysql", "clickhouse"]
)
def test_formatters_change_nothing(tmp_path: Path, dialect: str, command: tuple[str, ...]) -> None:
    program = shutil.which(command[0])
    if not program:
        pytest.skip(f"{command[0]} is not installed")
    known = {"sqlfmt": "clickhouse" if dialect == "clickhouse" else "polyglot"}
    named = known.get(command[0], _OF_SQLFLUFF.get(dialect, dialect))
    files = {tmp_path / f"{at}.sql": query for at, query in enumerate(queries_of(dialect))}
    for file, query in files.items():
        file.write_text(f"{query}\n")
    subprocess.run(
        [program, *command[1:], "--dialect", named, str(tmp_path)], capture_output=True, check=False
    )
    formatted = 0
    for file, query in files.items():
        text = file.read_text()
        if _OTHER_QUERIES.get((command[0], dialect), "\n") in query:
            continue
        formatted += text != f"{query}\n"
        assert review_pair(query, text, dialect) in ([WRITTEN_OTHERWISE], []), (query, text)
    assert formatted
