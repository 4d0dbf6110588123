"""Two captured statements without their literals: what is another in them."""

from __future__ import annotations

import pytest

from dbt_graft.analysis.review.columns import expression_changes
from dbt_graft.analysis.review.compare import outline_changes
from dbt_graft.collectors.statements.columns.tree import NoTreeError
from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.outline.statement import statement_outline
from dbt_graft.collectors.statements.text.dialect import Dialect
from tests.cases import for_each

TSQL, SPARK = Dialect.TSQL, Dialect.SPARK
FILTERS, JOINS = "ROWS other filters", "ROWS other joins"
GRAIN = "ROWS another grain: GROUP BY, DISTINCT, UNION or table functions"
MERGE = "merge t using a on t.id = a.id when matched then update set t.x = a.x"


def changes(old: str, new: str, dialect: Dialect) -> list[str]:
    first, second = (statement_outline(normalise(text, dialect), dialect) for text in (old, new))
    return [
        " ".join(filter(None, (change.verdict.name, change.column, change.text)))
        for change in (*expression_changes(first, second), *outline_changes(first, second))
    ]


@for_each(
    "dialect, old, new, expected",
    [
        (
            SPARK,
            "insert into t select id from a where x > 5",
            "insert into t select id from a where x < 5",
            [FILTERS],
        ),
        (
            SPARK,
            "insert into t select id from a where x > 5 and y = 1",
            "insert into t select id from a where x > 5 or y = 1",
            [FILTERS],
        ),
        (
            SPARK,
            "insert into t select id from a",
            "insert into t select distinct id from a",
            [GRAIN],
        ),
        (
            TSQL,
            "insert t (id) select top 10 id from a",
            "insert t (id) select id from a",
            [FILTERS],
        ),
        (TSQL, "delete top (5) from t where x > 1", "delete from t where x > 1", [FILTERS]),
        (
            TSQL,
            "delete t from t join (select id from a where y > 1) s on s.id = t.id",
            "delete t from t join (select id from a) s on s.id = t.id",
            [FILTERS, JOINS],
        ),
        (
            TSQL,
            MERGE.replace("using a", "using (select id, x from a where y > 1) a"),
            MERGE,
            [FILTERS],
        ),
        (
            SPARK,
            MERGE.replace("using a", "using (select id, x from a where y > 1) a"),
            MERGE.replace("using a", "using (select id, x from a where z > 1) a"),
            [FILTERS],
        ),
        (
            SPARK,
            "insert into t select count(*) as n from a",
            "insert into t select count(1) as n from a",
            [],
        ),
        (
            TSQL,
            "insert t select a.id from a join b on a.id = b.id",
            "insert t select a.id from a left join b on a.id = b.id",
            [JOINS],
        ),
        (
            SPARK,
            "insert into t select id from a union select id from b",
            "insert into t select id from a union all select id from b",
            ["VALUES id another expression", GRAIN],
        ),
        # Values do not count, and the forms that they stand in do.
        (
            SPARK,
            "insert into t select id from a where x > 5",
            "insert into t select id from a where x > 6",
            [],
        ),
        (
            SPARK,
            "insert into t select id from a where x in (1, 2)",
            "insert into t select id from a where x between 1 and 2",
            [FILTERS],
        ),
        # Neither do comments, layout, aliases and dates in the names of temporary tables.
        (SPARK, "insert into t select id from a", "INSERT INTO t -- all\nSELECT q.id FROM a q", []),
        (
            TSQL,
            "select id into #t_20261001 from s_2026_10_01 where x = 1",
            "select z.id into #t_20261002 from s_2026_10_02 z where z.x = 2",
            [],
        ),
        (
            TSQL,
            "insert t select a.id from a, b where a.id = b.id",
            "insert t select a.id from a inner join b on b.id = a.id",
            [],
        ),
        (
            TSQL,
            "update t set x = a.x + 1 from t join a on a.id = t.id",
            "update t set x = a.x - 1 from t join a on a.id = t.id",
            ["VALUES x another expression"],
        ),
        (
            TSQL,
            "update t set x = s.x from m.t t join a s on s.id = t.id",
            "update q set q.x = r.x from m.t as q inner join a as r on q.id = r.id",
            [],
        ),
        (
            TSQL,
            "update p set x = 1 from m.t p join m.t q on p.id = q.parent",
            "update q set x = 1 from m.t p join m.t q on p.id = q.parent",
            [JOINS],
        ),
        (TSQL, "delete from t where x > 1", "delete from t where x < 1", [FILTERS]),
        (
            TSQL,
            f"{MERGE};",
            f"{MERGE.replace('a.x', 'a.y')};",
            ["VALUES x another expression"],
        ),
        (TSQL, f"{MERGE};", f"{MERGE} when not matched by source then delete;", [FILTERS]),
        (
            TSQL,
            "insert t select id from a with (nolock)",
            "insert t select id from a",
            ["UNKNOWN a table hint: another, and what that changes is not known"],
        ),
        (
            SPARK,
            "create table t using delta as select id from a",
            "create table t using parquet as select id from a",
            ["COST how the table is stored: another, for the same rows"],
        ),
    ],
)
def test_a_statement_that_is_another(
    dialect: Dialect, old: str, new: str, expected: list[str]
) -> None:
    assert changes(old, new, dialect) == expected


def test_what_has_no_tree_has_no_outline() -> None:
    with pytest.raises(NoTreeError):
        statement_outline("select from where (", SPARK)
