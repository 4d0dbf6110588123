"""Rows of cursors, and the columns that parameters go into."""

from __future__ import annotations

from tests.cases import for_each
from tests.collectors.python_code.follow import edges_of, follow

_HEAD = """\
import pyodbc
con = pyodbc.connect("DSN=a")
cur = con.cursor()
rows = cur.execute("SELECT a, b, c FROM dbo.t").fetchall()
"""


@for_each(
    "lines, expected",
    [
        (
            'cur.executemany("INSERT INTO x (p, q) VALUES (?, ?)", [(r.a, r[1]) for r in rows])',
            "p=a; q=b",
        ),
        ('cur.executemany("INSERT INTO x (p, q, r) VALUES (%s, %s, %s)", rows)', "p=a; q=b; r=c"),
        ('for a, b, c in rows:\n    cur.execute("INSERT INTO x (p) VALUES (?)", a * b)', "p=~a,~b"),
        (
            "for r in rows:\n    if r.c > 1:\n"
            '        cur.execute("INSERT INTO x (p) VALUES (?)", r.a)',
            "p=a; *=filter c",
        ),
        (
            "for r in rows:\n    if r.c > 1:\n        continue\n"
            '    cur.execute("INSERT INTO x (p) VALUES (?)", r.a)',
            "p=a; *=filter c",
        ),
        ('cur.executemany("INSERT INTO x (p) VALUES (:v)", [{"v": r.b} for r in rows])', "p=b"),
        ('cur.executemany("INSERT INTO x (p) VALUES (%(v)s)", [dict(v=r.b) for r in rows])', "p=b"),
        (
            'for r in rows:\n    cur.execute("UPDATE x SET p = ? WHERE k = ?", (r.a, r.b))',
            "p=a; *=filter b",
        ),
        (
            "for r in rows:\n"
            "    cur.execute(\"INSERT INTO x (p) VALUES (HASHBYTES('MD5', ?))\", r.a)",
            "p=~a!HASH",
        ),
        (
            "for r in rows:\n    cur.execute(f\"INSERT INTO x (p, q) VALUES ({r.a}, '{r.b}')\")",
            "p=a; q=b",
        ),
        ('cur.executemany("INSERT INTO x VALUES (?, ?, ?)", rows)', "?*"),
        ('cur.executemany("INSERT INTO x (p, q) VALUES (?, ?)", load())', "p=; q=; ?p; ?q"),
        (
            "names = {r.a: r.b for r in rows}\n"
            'for r in rows:\n    cur.execute("INSERT INTO x (p) VALUES (?)", names[r.c])',
            "p=b,if a,if c",
        ),
        ('cur.executemany("INSERT INTO x (p, q) VALUES (%d, %s)", rows)', "p=a; q=b"),
        (
            "ids, names, _ = zip(*rows)\n"
            'cur.executemany("INSERT INTO x (p, q) VALUES (?, ?)", list(zip(ids, names)))',
            "p=a; q=b",
        ),
        (
            "from itertools import groupby\n"
            "pairs = [(k, max(r.b for r in g)) for k, g in groupby(rows, lambda r: r.a)]\n"
            'cur.executemany("INSERT INTO x (p, q) VALUES (?, ?)", pairs)',
            "p=a; q=+b; *=group a",
        ),
        (
            "from collections import Counter\ncounts = Counter(r.a for r in rows)\n"
            'cur.executemany("INSERT INTO x (p, q) VALUES (?, ?)", counts.items())',
            "p=a; q=; *=group a",
        ),
        (
            "from typing import NamedTuple\nclass Line(NamedTuple):\n    p: int\n    q: int\n"
            "rows = [Line(r.a, q=r.b) for r in rows]\n"
            'cur.executemany("INSERT INTO x (p, q) VALUES (?, ?)", rows)',
            "p=a; q=b",
        ),
        (
            "sums = {}\nfor r in rows:\n    sums[r.a] = sums.get(r.a, 0) + r.b\n"
            'cur.executemany("INSERT INTO x (p, q) VALUES (?, ?)", sums.items())',
            "p=a; q=~b; *=group a",
        ),
    ],
)
def test_rows_go_into_columns(lines: str, expected: str) -> None:
    assert edges_of(follow(f"{_HEAD}{lines}\n")) == expected


@for_each(
    "statement, expected",
    [
        (
            "MERGE x AS t USING (VALUES (?, ?)) AS s (k, v) ON t.k = s.k "
            "WHEN MATCHED THEN UPDATE SET v = s.v "
            "WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v);",
            "v=b; k=a; *=join a",
        ),
        ("INSERT INTO x (k, v) SELECT ?, u.v FROM u WHERE u.w = ?", "k=a; *=filter b"),
        (
            "INSERT INTO x (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v",
            "k=a; v=b",
        ),
        ("DELETE FROM x WHERE k = ? AND v = ?", "*=filter a,filter b"),
        ("UPDATE x SET v = v + ?, w = '?' WHERE k = ? -- ?", "v=~a; *=filter b"),
    ],
)
def test_parameters_of_statements(statement: str, expected: str) -> None:
    script = f'{_HEAD}for r in rows:\n    cur.execute("""{statement}""", (r.a, r.b))\n'
    assert edges_of(follow(script)) == expected


def test_a_statement_has_question_marks_for_its_parameters() -> None:
    script = follow(
        f"{_HEAD}cur.execute(\"UPDATE x SET a = %s WHERE b = '%s' AND c = :c\", rows[0])"
    )
    assert script.targets[0].text == "UPDATE x SET a = ? WHERE b = '%s' AND c = ?"


def test_csv_files_are_read_and_written_by_names() -> None:
    script = follow(
        """\
        import csv
        with open("in.csv") as f, open("out.csv", "w") as g:
            writer = csv.writer(g)
            writer.writerow(["x", "y"])
            for row in csv.DictReader(f):
                writer.writerow([row["a"], int(row["b"])])
        """
    )
    assert edges_of(script) == "x=a; y=~b"
    assert (script.sources[0].text, script.targets[0].text) == ("in.csv", "out.csv")


@for_each(
    "lines, method",
    [
        ('cur.copy_expert("COPY o (x) FROM STDIN", open("f.csv"))', "copy_expert"),
        ('cur.copy_from(open("f.csv"), "o", columns=("x",))', "copy_from"),
        ('with cur.copy("COPY o FROM STDIN") as copy:\n    copy.write_row((1,))', "copy"),
        ('import subprocess\nsubprocess.run(["bcp", "dbo.o", "in", "f.csv"])', "bcp"),
        ('import os\nos.system("/opt/mssql-tools/bin/bcp dbo.o in f.csv -T")', "bcp"),
        (
            "from delta.tables import DeltaTable\n"
            'DeltaTable.forName(spark, "o").merge(s, "o.i = s.i").whenMatchedUpdateAll().execute()',
            "merge",
        ),
        (
            "from delta import DeltaTable\n"
            'DeltaTable.forPath(spark, "/o").alias("o").update("a > 1", {"b": "a"})',
            "update",
        ),
        ('spark.table("s").mergeInto("o", c).whenMatched().updateAll().merge()', "mergeInto"),
        ("cur.execute(\"COPY (SELECT a FROM dbo.t) TO 's3://b'\")", "COPY"),
        ("import duckdb\nduckdb.sql(\"COPY dbo.t TO 'f.csv'\")", "COPY"),
        ('import shutil\nshutil.copy("a", "b")', ""),
        ('import subprocess\nsubprocess.run(["ls"])', ""),
        ("from delta import DeltaTable\nDeltaTable.forName(spark, 'o').delete('a = 1')", ""),
        ("other = {}.copy()", ""),
    ],
)
def test_rows_that_go_past_statements_are_a_gap(lines: str, method: str) -> None:
    spark = "from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n"
    reasons = [gap.reason for gap in follow(_HEAD + spark + lines).gaps]
    assert [reason.split("`")[1] for reason in reasons] == ([method] if method else [])


def test_a_table_of_delta_is_read_by_its_name() -> None:
    script = follow(
        "from delta.tables import DeltaTable\n"
        'DeltaTable.forName(spark, "mart.o").toDF().select("a").write.saveAsTable("p")\n'
    )
    assert edges_of(script) == "a=a"
