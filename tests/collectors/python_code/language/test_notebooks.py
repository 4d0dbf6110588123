"""Notebooks of Jupyter, Databricks and Fabric: what their cells do, and which are gaps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from dbt_graft.collectors.python_code.code_cache import syntax_digest
from dbt_graft.collectors.python_code.script import Medium
from dbt_graft.collectors.python_code.task_code import task_code
from dbt_graft.lineage.building.bound_names import bind_names
from tests.cases import for_each
from tests.collectors.python_code.follow import follow

HEAD = "# Databricks notebook source\n"
FABRIC = "# Fabric notebook source\n\n# METADATA ********************\n\n# META {}\n"
CELL = "\n# COMMAND ----------\n\n"


def notebook(*cells: str, head: str = HEAD) -> str:
    return head + CELL.join(cells)


def magic(cell: str) -> str:
    return "\n".join(f"# MAGIC {line}".rstrip() for line in cell.splitlines())


def code_of(source: str, files: dict[str, str] | None = None) -> tuple[set[str], list[int]]:
    """Edges as `target.column<source.column`, and the lines with gaps."""
    contents = {name: text.encode() for name, text in {**(files or {}), "n.py": source}.items()}
    code = bind_names(task_code("n.py", contents.get))
    edges = {
        f"{'.'.join(e.to_table)}.{e.to_column}<{'.'.join(e.from_table)}.{e.from_column}"
        for e in code.edges
    }
    return edges, [gap.place.line for gap in code.gaps]


WRITES = 'spark.table("raw.t").select("a").write.saveAsTable("stage.t")'


@for_each(
    "cells, edges, gap_lines",
    [
        ([WRITES], {"stage.t.a<raw.t.a"}, []),
        (
            [magic("%sql\nCREATE OR REPLACE TABLE mart.t AS\nSELECT a AS b FROM raw.t")],
            {"mart.t.b<raw.t.a"},
            [],
        ),
        ([magic("%sql INSERT INTO mart.t (b) SELECT a FROM raw.t")], {"mart.t.b<raw.t.a"}, []),
        (
            [magic("%sql\nUSE CATALOG main;\n-- load\nINSERT INTO m.t (b) SELECT a FROM raw.t;")],
            {"m.t.b<raw.t.a"},
            [],
        ),
        (
            [
                'spark.table("raw.t").select("a").createOrReplaceTempView("v")',
                magic("%sql\ncreate table mart.t as select a as b from v"),
            ],
            {"mart.t.b<raw.t.a"},
            [],
        ),
        (
            [magic("%sql\nselect a from raw.t"), '_sqldf.write.saveAsTable("mart.t")'],
            {"mart.t.a<raw.t.a"},
            [],
        ),
        (
            [magic("%sql\ninsert into mart.t (b) select a from raw.t where d = '${day}'")],
            {"mart.t.b<raw.t.a", "mart.t.*<raw.t.d"},
            [],
        ),
        (["x = 1", magic("%sql\ninsert into ${schema}.t (b) select a from raw.t")], set(), [6]),
        ([magic("%md\n# Title\nwrites mart.t"), magic("%pip install x")], set(), []),
        ([magic("%fs ls /mnt")], set(), []),
        (
            [WRITES, magic('%scala\nspark.table("raw.t").write.saveAsTable("x.t")')],
            {"stage.t.a<raw.t.a"},
            [5],
        ),
        ([magic("%fs cp /mnt/a /mnt/b"), magic("%sh ./load.sh")], set(), [2, 5]),
        ([magic("%sql\nselect 'open")], set(), [3]),
        ([magic(f"%python\n\n{WRITES}")], {"stage.t.a<raw.t.a"}, []),
        ([magic("%run ./not_here")], set(), [2]),
        (['dbutils.notebook.run("./load", 60)', WRITES], {"stage.t.a<raw.t.a"}, [2]),
        (['d = dbutils.widgets.get("day")', f"{WRITES} if d else 0"], {"stage.t.a<raw.t.a"}, []),
    ],
)
def test_a_cell_does_what_its_language_says(
    cells: list[str], edges: set[str], gap_lines: list[int]
) -> None:
    columns, lines = code_of(notebook(*cells))
    assert lines == gap_lines
    assert columns == edges


@for_each(
    "command, file",
    [
        ("%run ./setup", "setup.py"),
        ('%run "./00 set-up"', "00 set-up.py"),
        ("%run ./lib/setup $day=1", "lib/setup.py"),
    ],
)
def test_a_notebook_that_is_run_gives_its_names(command: str, file: str) -> None:
    other = notebook('def source():\n    return spark.table("raw.t").select("a")')
    cells = magic(command), 'source().write.saveAsTable("stage.t")'
    assert code_of(notebook(*cells), {file: other}) == ({"stage.t.a<raw.t.a"}, [])


def test_fabric_s_notebooks_are_read() -> None:
    cell = magic("%%sql\nINSERT INTO mart.t (b) SELECT a FROM raw.t")
    assert code_of(notebook(cell, head=FABRIC)) == ({"mart.t.b<raw.t.a"}, [])


def test_a_statement_is_at_its_line() -> None:
    cell = magic("%sql\nSELECT 1;\n\nINSERT INTO mart.t SELECT a FROM raw.t")
    [target] = follow(notebook("x = 1", cell)).targets
    assert (target.place.line, target.medium) == (8, Medium.STATEMENT)


SPARK: dict[str, Any] = {"kernelspec": {"name": "synapse_pyspark", "language": "Python"}}
JUPYTER: dict[str, Any] = {
    "kernelspec": {"name": "python3", "language": "python"},
    "language_info": {"name": "python"},
}
DATABRICKS: dict[str, Any] = {"application/vnd.databricks.v1+notebook": {"language": "python"}}
SCALA: dict[str, Any] = {"language_info": {"name": "scala"}}
SQL = "%%sql\ninsert into mart.t (b) select a from raw.t"


def jupyter(cells: Sequence[str | list[str]], metadata: dict[str, Any]) -> str:
    listed = [{"cell_type": "markdown", "metadata": {}, "source": ["insert into x.y"]}]
    for source in cells:
        lines = source if isinstance(source, list) else source.splitlines(keepends=True)
        listed.append(
            {"cell_type": "code", "execution_count": None, "source": lines, "metadata": {}}
        )
    document = {"cells": listed, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=1)


@for_each(
    "cells, metadata, edges, gaps",
    [
        ([WRITES], JUPYTER, {"stage.t.a<raw.t.a"}, []),
        (["%pip install x\n!pip list\nx = 1", "", WRITES], JUPYTER, {"stage.t.a<raw.t.a"}, []),
        ([f"%%time\n{WRITES}"], JUPYTER, {"stage.t.a<raw.t.a"}, []),
        ([f"%%capture out --no-stderr\n{WRITES}"], JUPYTER, {"stage.t.a<raw.t.a"}, []),
        ([f"if x:\n    !echo 1\n    {WRITES}"], JUPYTER, {"stage.t.a<raw.t.a"}, []),
        (["!cp a b", f"import os\n{WRITES}"], JUPYTER, {"stage.t.a<raw.t.a"}, ["!cp a b"]),
        ([SQL], SPARK, {"mart.t.b<raw.t.a"}, []),
        ([SQL.replace("%%", "%")], DATABRICKS, {"mart.t.b<raw.t.a"}, []),
        ([SQL], JUPYTER, set(), ["%%sql\\n"]),
        ([WRITES], SCALA, set(), ["spark.table"]),
        (["x = 1\n%sql insert into mart.t (b) select 1"], JUPYTER, set(), ["%sql insert"]),
        (["%%bash\n./load.sh"], JUPYTER, set(), ["%%bash\\n"]),
        (["%%html\n<b>x</b>", "%%javascript\nalert(1)"], JUPYTER, set(), []),
        (["x = !ls", WRITES], JUPYTER, {"stage.t.a<raw.t.a"}, ["x = !ls"]),
    ],
)
def test_a_notebook_of_jupyter_is_read(
    cells: list[str], metadata: dict[str, Any], edges: set[str], gaps: list[str]
) -> None:
    source = jupyter(cells, metadata)
    columns, lines = code_of(source)
    assert columns == edges
    written = [source.splitlines()[line - 1].lstrip(' "') for line in lines]
    assert len(written) == len(gaps)
    assert all(map(str.startswith, written, gaps))


@for_each(
    "notebook",
    [
        {"worksheets": [], "metadata": {}},
        {"cells": [], "metadata": []},
        {"cells": 3, "metadata": {}},
        {"cells": ["x = 1"], "metadata": {}},
        {"cells": [{"cell_type": "code", "source": 3}], "metadata": {}},
        {"cells": [], "metadata": {"language_info": {"name": 3}}},
        {"cells": [], "metadata": {"kernelspec": {"name": None}}},
    ],
)
def test_what_is_no_notebook_of_version_4_is_a_gap(notebook: dict[str, Any]) -> None:
    assert code_of(json.dumps({**notebook, "nbformat": 3})) == (set(), [1])
    syntax_digest({"n.ipynb": json.dumps({**notebook, "nbformat": 3}).encode()})


def test_outputs_of_a_notebook_are_not_compared() -> None:
    before = jupyter(["x = 1"], JUPYTER)
    after = before.replace("null", "7")
    other = before.replace("x = 1", "x = 2")
    digests = [syntax_digest({"n.ipynb": text.encode()}) for text in (before, after, other)]
    assert digests[0] == digests[1] != digests[2]


def test_a_merge_of_a_view_writes_what_it_sets_to_a_constant() -> None:
    merge = """%sql
MERGE INTO mart.t t USING v ON t.a = v.a WHEN MATCHED THEN UPDATE SET t.at = now()
WHEN NOT MATCHED THEN INSERT (a, at) VALUES (v.a, now())"""
    view = 'spark.table("raw.t").select("a").createOrReplaceTempView("v")'
    [target] = follow(notebook(view, magic(merge))).targets
    assert set(target.columns) == {"a", "at"}


def test_in_a_script_these_lines_are_comments() -> None:
    cell = magic("%sql\nINSERT INTO mart.t (b) SELECT a FROM raw.t")
    assert code_of(f"x = 1\n{cell}") == (set(), [])


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        ("%sql\nSELECT a FROM raw.t", "%sql\nSELECT b FROM raw.t", False),
        ("%scala\nval a = 1", "%scala\nval a = 2", False),
        ("%run ./a", "%run ./b", False),
        ("%md\nold", "%md\nnew", True),
    ],
)
def test_what_a_cell_does_is_compared(before: str, after: str, is_same: bool) -> None:
    digests = [
        syntax_digest({"n.py": notebook("x = 1", magic(cell)).encode()}) for cell in (before, after)
    ]
    assert (digests[0] == digests[1]) == is_same
