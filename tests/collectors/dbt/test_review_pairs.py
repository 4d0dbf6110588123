"""Pairs of queries: what gives other rows or values is seen, what gives the same is no change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import for_each
from tests.collectors.dbt.review_pair import COLUMNS, WRITTEN_OTHERWISE, review_pair

HARMLESS = ("METADATA", "COST", "ADDITIVE")
ALL = "snowflake bigquery postgres duckdb tsql spark trino redshift mysql clickhouse databricks"


def pairs(name: str) -> list[list[str]]:
    """The head, the old and the new query of each pair in a file."""
    text = Path(__file__).with_name(name).read_text()
    _, *blocks = text.strip().split("\n\n")
    return [block.split("\n") for block in blocks]


CHANGES = [(*head.split(), old, new) for head, old, new in pairs("changed_pairs.txt")]
EQUAL = [
    (dialect, old, new)
    for head, old, new in pairs("equal_pairs.txt")
    for dialect in head.replace("all", ALL).split()
]
# Each pair in the first of its dialects.
EQUAL_ONCE = {(old, new): (dialect, old, new) for dialect, old, new in reversed(EQUAL)}


@for_each("dialect, verdict, old, new", CHANGES)
def test_other_rows_and_values_are_seen(dialect: str, verdict: str, old: str, new: str) -> None:
    worst = review_pair(old, new, dialect)[0].split(" ", 1)[0]
    assert worst == verdict or (verdict == "?" and worst not in HARMLESS)


@for_each("dialect, verdict, old, new", CHANGES)
def test_without_a_catalog_nothing_is_silent(
    dialect: str, verdict: str, old: str, new: str
) -> None:
    worst = review_pair(old, new, dialect, "")[0].split(" ", 1)[0]
    assert worst in {verdict, "UNKNOWN"} or (verdict == "?" and worst not in HARMLESS)


@pytest.mark.parametrize("columns", [COLUMNS, pytest.param("", marks=pytest.mark.exhaustive)])
@for_each("dialect, old, new", EQUAL)
def test_equal_logic_is_no_change(dialect: str, old: str, new: str, columns: str) -> None:
    assert review_pair(old, new, dialect, columns) == [WRITTEN_OTHERWISE]
    assert review_pair(new, old, dialect, columns) == [WRITTEN_OTHERWISE]


@for_each("dialect, old, new", EQUAL_ONCE.values())
def test_equal_logic_is_no_change_without_a_catalog(dialect: str, old: str, new: str) -> None:
    assert review_pair(old, new, dialect, "") == [WRITTEN_OTHERWISE]


BEHIND = "UNKNOWN its columns are behind a `*` of a table whose columns are not known"
GRAIN = "ROWS another grain: GROUP BY, DISTINCT, UNION or table functions"


@for_each(
    "dialect, old, new, changes",
    [
        (
            "duckdb",
            "select * replace (x * 2 as x) from raw.src",
            "select * replace (x * 3 as x) from raw.src",
            ["VALUES x another expression"],
        ),
        (
            "snowflake",
            "select * rename (x as a) from raw.src",
            "select * rename (x as b) from raw.src",
            ["BREAKING a renamed to b: the same expression"],
        ),
        (
            "snowflake",
            "select * ilike '%id%' from raw.src",
            "select * ilike '%amount%' from raw.src",
            [BEHIND],
        ),
        (
            "duckdb",
            "select distinct on (id) id, x from raw.src order by id, t",
            "select distinct on (id) id, x from raw.src order by id, t desc",
            [GRAIN],
        ),
        (
            "postgres",
            "select distinct on (customer_id) id from raw.src",
            "select distinct on (status) id from raw.src",
            [GRAIN],
        ),
        (
            "postgres",
            "select id, sum(x) over w as s from raw.src window w as (partition by id)",
            "select id, sum(x) over w as s from raw.src window w as (order by t)",
            ["VALUES s another expression"],
        ),
        (
            "duckdb",
            "select * from (select id, x from raw.src) pivot (sum(x) for id in (1, 2))",
            "select * from (select id, x from raw.src) pivot (max(x) for id in (1, 3))",
            ["BREAKING 2 removed", "VALUES 1 another expression", "ADDITIVE 3 added"],
        ),
        (
            "bigquery",
            "select as struct id, x from raw.src",
            "select id, x from raw.src",
            ["UNKNOWN SELECT AS: another, and what that changes is not known"],
        ),
        (
            "tsql",
            "select id, x from raw.src for json auto",
            "select id, x from raw.src for json path",
            ["UNKNOWN FOR: another, and what that changes is not known"],
        ),
        (
            "snowflake",
            'select "Id" from raw.src',
            "select id from raw.src",
            ["BREAKING Id removed", "ADDITIVE id added"],
        ),
        # A conversion is known without a catalog.
        (
            "postgres",
            "select cast(x as varchar(20)) as v from raw.src",
            "with s as (select cast(x as varchar(10)) as v from raw.src) select v from s",
            ["BREAKING v varchar(20) is varchar(10) now"],
        ),
        (
            "spark",
            "select x from raw.src",
            "select cast(x as int) as x from raw.src",
            ["VALUES x converted to int now"],
        ),
        # What decides on how alone.
        (
            "spark",
            "select id from raw.src",
            "select id from raw.src order by id",
            ["COST ORDER BY: another, for the same rows"],
        ),
        (
            "spark",
            "select /*+ broadcast(b) */ a.id from raw.a a, raw.b b",
            "select a.id from raw.a a, raw.b b",
            ["COST a hint: another, for the same rows"],
        ),
        (
            "spark",
            "select id, x from raw.src",
            "select x, id from raw.src",
            ["METADATA its columns stand in another order"],
        ),
    ],
)
def test_each_kind_of_change_has_its_words(
    dialect: str, old: str, new: str, changes: list[str]
) -> None:
    assert review_pair(old, new, dialect, "") == changes
