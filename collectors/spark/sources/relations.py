"""Scans of logical plans: the relations inside the plan of a save or view.

| text | source |
|---|---|
| `LogicalRelation parquet, [a#1], `c`.`db`.`t`, false`, `Relation c.db.t[a#1] …` | the table |
| `HiveTableRelation [`db`.`t`, …]`, `HiveTableRelation `db`.`t`, …` | the table |
| `LogicalRelation parquet, [a#1], CatalogTable(⏎Database: db⏎Table: t⏎…` (Spark 3.1) | the table |
| `UnresolvedRelation [db, t], [], false` (views of Spark 3.1) | the table |
| `RelationV2[a#1] lake.db.t`, `DataSourceV2Relation …` | the table |
| `Relation[a#1] JDBCRelation(dbo.t) [numPartitions=1]` | see `jdbc` |

A relation of files does not name them: a scan with the same columns does.

Sources of RDDs: where a plan begins with an RDD, its rows were read before.

`spark.createDataFrame(df.rdd.map(f))`, `df.localCheckpoint()` and `sc.textFile(path)` make plans
that scan an RDD (`Scan ExistingRDD … MapPartitionsRDD[317] at …`). Jobs log the parents
of each RDD, and what the first of them read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.spark.plans.arguments import (
    attributes,
    bracket_items,
    column_list,
    identifier,
    split_arguments,
)
from dbt_graft.collectors.spark.plans.tree import Operator, PlanNode
from dbt_graft.collectors.spark.sources.connectors import described_table
from dbt_graft.collectors.spark.sources.jdbc import jdbc_relation
from dbt_graft.collectors.spark.sources.scans import Scan, read_scan

_NUMBER = re.compile(r"\b\w*RDD\[(?P<id>\d{1,18})\] at ")
_SCAN = re.compile(r"\w*Scan(?: |$)")
_INFERENCE = re.compile(r"(?:CSV|Json|XML)File: ")
_NEXT_PATH = re.compile(r",(?=[\w+.-]+:/)")

# The scans and paths that each RDD was made of, by its id.
Rdds = Mapping[int, tuple[str, ...]]


def scanned_rdd(operator: Operator) -> int | None:
    """The id of the RDD that an operator scans; None for other operators."""
    if operator.kind not in ("Scan", "RDDScan") or operator.fields.get("Location"):
        return None
    match = _NUMBER.search(operator.arguments)
    return int(match["id"]) if match else None


def hides_files(label: str) -> bool:
    """Whether an RDD's label is a scan of files that it does not name: `Scan parquet `."""
    if not _SCAN.match(label):
        return False
    try:
        read_scan(PlanNode(label.strip(), label))
    except LookupError:
        return True
    return False


def infers_schema(label: str) -> bool:
    """Whether an RDD is Spark's own, for the columns of files: `CSVFile: file:/in/a,file:/in/b`."""
    return _INFERENCE.match(label) is not None


def labelled_scan(label: str, ids: tuple[int, ...] = ()) -> Scan | None:
    """Return the scan of an RDD's label; None where the label names no dataset.

    Args:
        ids: The ids of the columns that a plan has of it.
    """
    if not _SCAN.match(label):
        paths = _NEXT_PATH.split(_INFERENCE.sub("", label)) if infers_schema(label) else [label]
        return Scan(paths=tuple(paths), ids=ids, from_rdd=True)
    try:
        scan = read_scan(PlanNode(label.strip(), label))
    except LookupError:
        return None  # Files without a table, which an RDD's scope does not name.
    return Scan(scan.table, ids=ids, external=scan.external, from_rdd=True) if scan else None


_KINDS = words("""
    DataSourceV2Relation DataSourceV2ScanRelation HiveTableRelation LogicalRelation Relation
    RelationV2 UnresolvedCatalogRelation UnresolvedRelation""")
_COLUMNS = re.compile(r"\[[^\[\]]*#\d{1,18}L?[^\[\]]*\]")
_QUOTED = re.compile(r"(?:^|[\[ ])(?P<name>`[^`]+`(?:\.`[^`]+`)*)")
_NAMED = re.compile(r"(?:\[[^\]]*\] )?(?P<name>[\w$-]+(?:\.[\w$-]+)+)(?=[\[, ]|$)")


def relation_scan(operator: Operator) -> Scan | None:
    """Return what a relation of a logical plan reads; None where it does not name it."""
    if operator.kind not in _KINDS:
        return None
    text = operator.arguments
    listed = column_list(text)
    columns = _COLUMNS.search(text) if not listed else None
    ids = tuple(c.id for c in attributes(columns.group() if columns else listed))
    if external := jdbc_relation(text, text):
        return Scan(external=external, ids=ids)
    if operator.kind == "UnresolvedRelation":
        # One part may be the name of a common table expression.
        parts = tuple(bracket_items(split_arguments(text)[0]))
        return Scan(parts) if len(parts) > 1 else None
    if described := described_table(text):
        return Scan(described, ids=ids)
    quoted = next(filter(None, map(_QUOTED.match, split_arguments(text))), None)
    behind = text.removeprefix(f"{listed} ") if listed else text
    named = quoted or (_NAMED.match(behind) if operator.kind != "LogicalRelation" else None)
    table = identifier(named["name"]) if named else ()
    # A table of a JDBC catalog, without the catalog's name.
    lacks_catalog = "V2" in operator.kind and len(table) < 3
    return Scan(table, ids=ids) if table and not lacks_catalog else None
