"""Columns that Spark's functions make of one: their names depend on its type."""

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.python_code.follow import edges_of, follow

_HEAD = """\
from pyspark.sql import SparkSession, functions as F
s = SparkSession.builder.getOrCreate().table("raw.s")
"""


@for_each(
    "columns, expected",
    [
        ('"id", F.explode("m")', "id=id; *=join m; ?*"),
        ('"id", F.posexplode(F.col("m"))', "id=id; *=join m; ?*"),
        ('"*", F.explode("m")', "*=*,join m; ?*"),
        ('F.explode("m").alias("v")', "v=~m; *=join m"),
        ('F.explode("m").alias("k", "v")', "k=~m; v=~m; *=join m"),
        ('F.explode(F.split("m", ","))', "col=~m; *=join m"),
        ('F.posexplode_outer(F.array("a", "b"))', "pos=~a,~b; col=~a,~b; *=join a,join b"),
        ('F.explode(F.create_map("a", "b"))', "key=~a,~b; value=~a,~b; *=join a,join b"),
        ("F.expr('explode(m)')", "*=join m; ?*"),
        ("F.expr('stack(2, a, b)')", "?*"),
        ("F.expr('a +')", "?*"),
        ("F.expr(\"explode(split(m, ','))\")", "col=~m; *=join m"),
        ('F.explode("m")).select("col"', "col=~m; *=join m"),
        ('F.explode("m")).select(F.col("key"), F.col("value")', "key=~m; value=~m; *=join m"),
    ],
)
def test_the_columns_of_explode(columns: str, expected: str) -> None:
    script = follow(f'{_HEAD}s.select({columns}).write.saveAsTable("o")\n')
    assert edges_of(script) == expected
