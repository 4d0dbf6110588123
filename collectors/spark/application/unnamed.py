"""Scans without a table's name: those of tables in a JDBC catalog, before Spark 4.

They look like `Scan …jdbc.JDBCScan$$anon$1@1f [ID#1, …]`. The save around such a query has its
logical plan, which names the table: `SubqueryAlias crm.dbo.orders` over a relation that has the
scan's columns. A query that is no save has none.

Catalogs that commands show as objects only: `…SparkCatalog@1bd39ee8, raw.totals`.

The log has the class of the object, and several catalogs may be of the same class. What the
command runs writes to the table by its full name (`IcebergWrite(table=lake.raw.totals)`), or the
text of the statement has it. An object is the same catalog in the whole application.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dbt_graft.collectors.spark.application.segments import PlanSegment, Problem
from dbt_graft.collectors.spark.plans.arguments import attributes, identifier, split_arguments
from dbt_graft.collectors.spark.plans.tree import Operator
from dbt_graft.collectors.spark.sources.commands import CommandRole
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.spark.sources.scans import Scan
from dbt_graft.collectors.statement import DatasetAccess
from dbt_graft.lineage.dataset import DatasetId

_TABLES = frozenset({"LogicalRelation", "HiveTableRelation", "Relation", "RelationV2"})
_THROUGH = frozenset({"Project", "SubqueryAlias"})
_COLUMN = re.compile(r"[^\s,\[\]#()]+#\d+L?")
_PLAIN = re.compile(rf"\[\s*(?:{_COLUMN.pattern}(?:\s*,\s*{_COLUMN.pattern})*)\s*\]")


def view_text(
    segment: PlanSegment, reads: Iterable[DatasetAccess], writes: Sequence[DatasetAccess]
) -> str:
    """`CREATE VIEW raw.v AS SELECT * FROM raw.orders`; empty for any other statement.

    By it `lineage.pass_through` makes the view another name of the table.
    """
    command = next(iter(segment.operator.inside), None) if segment.operator else None
    if segment.role is not CommandRole.VIEW or command is None or not passes_on(command):
        return ""
    tables = {access.dataset for access in reads}
    renames_columns = segment.target is None or segment.target.columns
    if len(tables) != 1 or len(writes) != 1 or renames_columns:
        return ""
    view, table = (_quote_name(dataset) for dataset in (writes[0].dataset, *tables))
    return " ".join(("CREATE VIEW", view, "AS SELECT * FROM", table))


def _quote_name(dataset: DatasetId) -> str:
    parts = [dataset.name] if dataset.is_path else dataset.name.split(".")
    return ".".join(part if part.isidentifier() else f"`{part}`" for part in parts)


def passes_on(command: Operator) -> bool:
    """Whether the view that a command makes is all of one table.

    Args:
        command: The logical command, with the plan of the view's query below it.
    """
    tables = []
    columns: list[set[str]] = []
    for operator in list(command.walk())[1:]:
        if operator.kind in _TABLES:
            tables.append({*_COLUMN.findall(operator.arguments or operator.name)})
        elif operator.kind not in _THROUGH:
            return False
        elif operator.kind == "Project":
            if not _PLAIN.fullmatch(operator.arguments.strip()):
                return False
            columns.append({*_COLUMN.findall(operator.arguments)})
    return len(tables) == 1 and bool(tables[0]) and all(names == tables[0] for names in columns)


# `df.write.format("iceberg").save("raw.t")`, which uses the catalog that Iceberg adds by itself.
_SAVE = re.compile(r"\.DataFrameWriter\.save\(")


def name_catalogs(segments: Sequence[PlanSegment], resolver: DatasetResolver) -> list[Problem]:
    """Teach a resolver the names of catalogs; targets in a catalog without a name are removed."""
    for segment in segments:
        names = _catalogs_of_writes(segment, segments)
        if segment.target and segment.target.catalog and len(names) == 1:
            resolver.catalogs[segment.target.catalog] = names.pop()
    problems = []
    for segment in segments:
        if not (segment.target and segment.target.table):
            continue
        saves = bool(_SAVE.search(segment.execution.details))
        candidates = resolver.catalogs_of(segment.target.catalog, may_be_default=saves)
        by_text = [name for name in candidates if _has_full_name(segment, name)]
        if len(by_text) == 1:
            resolver.catalogs[segment.target.catalog] = by_text[0]
        elif len(candidates) > 1:
            table, options = ".".join(segment.target.table), " or ".join(candidates)
            reason = f"{table} is in the catalog {options}, and the log does not tell in which"
            problems.append((segment.execution.id, reason))
            segment.target = None
    return problems


def _catalogs_of_writes(segment: PlanSegment, segments: Iterable[PlanSegment]) -> set[str]:
    """The catalogs of the table that a command names, as the writes inside it name it."""
    table = segment.target.table if segment.target else ()
    written = (
        inner.target.table
        for inner in segments
        if inner.target and segment.execution.encloses(inner.execution)
    )
    return {name[0] for name in written if table and name[1:] == table}


def _has_full_name(segment: PlanSegment, catalog: str) -> bool:
    """Whether the text of a statement has the full name of its target."""
    table = segment.target.table if segment.target else ()
    name = r"\.".join(rf"`?{re.escape(part)}`?" for part in (catalog, *table))
    return bool(re.search(rf"(?<![\w.]){name}(?!\w)", segment.execution.sql, re.IGNORECASE))


_Table = tuple[tuple[str, ...], frozenset[str]]


def resolve_scans(segments: list[PlanSegment]) -> list[Problem]:
    """Resolve the tables of scans; those that stay unresolved are removed."""
    if not any(scan.unresolved for segment in segments for scan in segment.scans):
        return []
    tables = {table for segment in segments for table in _tables(segment)}
    problems = []
    for segment in segments:
        named = [(scan, _name(scan, tables)) for scan in segment.scans]
        segment.scans = [replace(s, table=name) if name else s for s, name in named]
        segment.scans = [scan for scan in segment.scans if scan.table or not scan.unresolved]
        problems += [
            (segment.execution.id, f"{scan.unresolved} reads a table that is not named")
            for scan, name in named
            if scan.unresolved and not name
        ]
    return list(dict.fromkeys(problems))


def _tables(segment: PlanSegment) -> Iterator[_Table]:
    for operator in segment.operator.walk() if segment.operator else ():
        for relation in operator.children if operator.kind == "SubqueryAlias" else ():
            if "JDBCTable(" in relation.arguments:
                lists = [
                    argument
                    for argument in split_arguments(relation.arguments)
                    if argument[:1] == "["
                ]
                columns = attributes(lists[0]) if lists else []
                yield identifier(operator.arguments), frozenset(column.name for column in columns)


def _name(scan: Scan, tables: set[_Table]) -> tuple[str, ...]:
    """The only table that has a scan's columns; aggregates in the database are named by numbers."""
    names = {column.name for column in scan.columns if not column.name.isdigit()}
    fits = {name for name, columns in tables if names <= columns} if scan.unresolved else set()
    return fits.pop() if len(fits) == 1 else ()
