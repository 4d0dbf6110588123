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
"""

from __future__ import annotations

import re

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.spark.plans.arguments import (
    attributes,
    bracket_items,
    column_list,
    identifier,
    split_arguments,
)
from dbt_graft.collectors.spark.plans.tree import Operator
from dbt_graft.collectors.spark.sources.connectors import described_table
from dbt_graft.collectors.spark.sources.jdbc import jdbc_relation
from dbt_graft.collectors.spark.sources.scans import Scan

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
