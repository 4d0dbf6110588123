"""Scans without a table's name: those of tables in a JDBC catalog, before Spark 4.

They look like `Scan …jdbc.JDBCScan$$anon$1@1f [ID#1, …]`. The save around such a query has its
logical plan, which names the table: `SubqueryAlias crm.dbo.orders` over a relation that has the
scan's columns. A query that is no save has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dbt_graft.collectors.spark.application.segments import PlanSegment
from dbt_graft.collectors.spark.plans.arguments import attributes, identifier, split_arguments
from dbt_graft.collectors.spark.sources.scans import Scan

_Table = tuple[tuple[str, ...], frozenset[str]]


def resolve_scans(segments: list[PlanSegment]) -> list[str]:
    """Resolve the tables of scans; those that stay unresolved are removed.

    Returns:
        A reason for each scan that was removed.
    """
    if not any(scan.unresolved for segment in segments for scan in segment.scans):
        return []
    tables = {table for segment in segments for table in _tables(segment)}
    problems = []
    for segment in segments:
        named = [(scan, _name(scan, tables)) for scan in segment.scans]
        segment.scans = [replace(s, table=name) if name else s for s, name in named]
        segment.scans = [scan for scan in segment.scans if scan.table or not scan.unresolved]
        problems += [
            f"execution {segment.execution.id}: {scan.unresolved} reads a table that is not named"
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
