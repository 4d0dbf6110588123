"""Columns that the SQL of a model takes by `*` alone."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.dbt.edges import starred_columns

COLUMNS = ("id", "Amount", "sent at", "address.city")


@pytest.mark.parametrize(
    ("sql", "starred"),
    [
        ("select * from raw.orders", {"id", "amount", "sent at", "address.city"}),
        ("with o as (select * from raw.orders) select * from o where ID > 0",
         {"amount", "sent at", "address.city"}),
        ('select *, "Sent at"::date as day from raw.orders', {"id", "amount", "address.city"}),
        ("select *, address.city from raw.orders", {"id", "amount", "sent at"}),
        ("select *, address.zip from raw.orders", {"id", "amount", "sent at", "address.city"}),
        ("select * -- without id\nfrom raw.orders -- nor the amount",
         {"id", "amount", "sent at", "address.city"}),
        ("/* -- */ select *, amount + 1 as more from raw.orders",
         {"id", "sent at", "address.city"}),
        ("select *, '-- ' || id as x from raw.orders", {"amount", "sent at", "address.city"}),
        ("select id, amount from raw.orders", set()),
        ("select count(*) from raw.orders", {"id", "amount", "sent at", "address.city"}),
        ("select *, count(distinct id) as n from raw.orders group by 1",
         {"amount", "sent at", "address.city"}),
        ("select * except (amount) from raw.orders", {"id", "sent at", "address.city"}),
        # All columns count in these, and no name is needed.
        ("select * from raw.orders union all select * from raw.more", set()),
        ("select distinct * from raw.orders", set()),
        ("select * from raw.orders natural join raw.lines", set()),
        ("select * from raw.orders group by all", set()),
        ("select * from raw.orders except (select * from raw.more)", set()),
        ("select * from raw.orders except ((select * from raw.more))", set()),
    ],
)  # fmt: skip
def test_columns_that_no_word_of_a_query_names_are_taken_by_star(
    sql: str, starred: set[str]
) -> None:
    assert {*starred_columns(sql, COLUMNS)} == starred
