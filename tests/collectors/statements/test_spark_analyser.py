"""Spark's own parser as an independent label: it finds the same tables as we do.

Left out is what Spark does not parse (Databricks, Hive, cut text), and what it finds only when it
runs: texts and paths in strings, the conditions of scripts. At least `_LEAST` cases remain.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.lineage.records import Direction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LEAST = 270
_LATER = re.compile(
    r"^(?:ALTER|BEGIN|CALL|EXECUTE|EXPLAIN|LOAD|UNCACHE)\b"
    r"|DIRECTORY|IDENTIFIER|read_files|table_changes|OPTIONS \(.*path"
)
_RELATION = re.compile(r"'UnresolvedRelation \[([^\]]+)\], \[([^\]]*)\]")
_PATTERN = re.compile(r"'UnresolvedTableOrView \[([^\]]+)\], CREATE TABLE LIKE")
_CHANGES = ("INSERT", "UPDATE", "DELETE", "MERGE")


def _statements() -> list[str]:
    """The SQL of all tables of Spark cases beside this file."""
    found: list[str] = []
    for path in sorted(Path(__file__).parent.glob("test_spark_*.py")):
        if path != Path(__file__):
            spec = importlib.util.spec_from_file_location(path.stem, path)
            assert spec
            assert spec.loader
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            found += [case[0] for case in module.CASES if not _LATER.search(case[0])]
    return found


def _by_spark(spark: SparkSession, sql: str) -> tuple[set[str], set[str]] | None:
    """Names that Spark's parser says are read and changed; None where it cannot parse."""
    assert spark._jvm is not None
    rules = spark._jvm.org.apache.spark.sql.catalyst.analysis
    try:
        plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(sql)
        tree = rules.CTESubstitution.apply(plan).treeString()
    except Exception:  # py4j's, around whatever Spark throws
        return None
    reads = {_dotted(name) for name in _PATTERN.findall(tree)}
    writes: set[str] = set()
    for name, options in _RELATION.findall(tree):
        (writes if "__required_write_privileges__" in options else reads).add(_dotted(name))
    return reads, writes


def _by_us(sql: str) -> tuple[set[str], set[str]]:
    accesses = [access for shape in parse(sql, Dialect.SPARK) for access in shape.accesses]
    reads = {".".join(a.name).casefold() for a in accesses if a.direction is Direction.READ}
    changed = [a for a in accesses if a.direction is Direction.WRITE]
    writes = {".".join(a.name).casefold() for a in changed if a.operation.startswith(_CHANGES)}
    return reads, writes


def _dotted(parts: str) -> str:
    """`parquet, /x` is the path, else the parts are a name."""
    *_, last = names = parts.split(", ")
    return re.sub(r"@v\d+$", "", last) if "/" in last else ".".join(names).casefold()


@pytest.mark.spark
def test_sparks_parser_finds_the_same_tables(spark: SparkSession) -> None:
    labels = {sql: _by_spark(spark, sql) for sql in _statements()}
    labelled = {sql: label for sql, label in labels.items() if label is not None}
    assert len(labelled) >= _LEAST
    ours = {sql: _by_us(sql) for sql in labelled}
    different = {sql: (ours[sql], labelled[sql]) for sql in ours if ours[sql] != labelled[sql]}
    assert not different
