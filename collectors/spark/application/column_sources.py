"""What the leaves of an application's plans read, column by column.

A leaf is a scan, a logical relation, or an RDD. Of an RDD with a plan behind it the columns are
those of that plan: a checkpoint keeps them under their ids, and `foreachBatch` is given those of
its batch. Behind any other RDD there is code of the task: only the datasets are known.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from dbt_graft.collectors.spark.application.segments import PlanSegment
from dbt_graft.collectors.spark.plans.arguments import (
    Attribute,
    attributes,
    bracketed,
    plain_expressions,
)
from dbt_graft.collectors.spark.plans.columns import NOTHING, ColumnInput, ColumnInputs, PlanSource
from dbt_graft.collectors.spark.plans.operators import trace_columns
from dbt_graft.collectors.spark.plans.text import Operator
from dbt_graft.collectors.spark.sources.databases import JdbcDatabase
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.spark.sources.jdbc import ExternalTable, query_columns
from dbt_graft.collectors.spark.sources.plan_text import plan_text, scan_node
from dbt_graft.collectors.spark.sources.rdds import scanned_rdd
from dbt_graft.collectors.spark.sources.relations import relation_scan
from dbt_graft.collectors.spark.sources.scans import Scan, read_scan
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ANY_COLUMN, EdgeType, Subtype

_ENGINE_QUERY = "External engine query"
_NAME = re.compile(r"[A-Za-z_]\w*(?!\w*\()")


@dataclass(frozen=True, slots=True)
class CachedColumns:
    """Columns of a plan that others begin with, and what decided on its rows."""

    columns: tuple[tuple[Attribute, ColumnInputs], ...]
    influences: ColumnInputs


@dataclass(frozen=True, slots=True)
class ColumnSources:
    """What the application's plans read.

    Attributes:
        scans: By the ids of their columns.
        bridges: The same of what RDDs were made of.
        checkpoints: By the ids of their columns.
        batches: Of streaming queries, by their executions.
    """

    resolver: DatasetResolver
    scans: dict[int, Scan] = field(default_factory=dict)
    bridges: dict[int, list[Scan]] = field(default_factory=dict)
    checkpoints: dict[int, CachedColumns] = field(default_factory=dict)
    batches: dict[int, CachedColumns] = field(default_factory=dict)

    def learn(self, scan: Scan) -> None:
        """Take note of what the columns of a scan are, and of where its table lies."""
        self.resolver.learn(scan.table, scan.paths)
        for column in scan.ids:
            if not scan.bridged:
                self.scans[column] = scan
            elif scan not in self.bridges.setdefault(column, []):
                self.bridges[column].append(scan)

    def adopt(self, root: Operator) -> None:
        """Take relations that no scan has the columns of for another one of the same columns: an
        exchange that is reused is scanned once.
        """
        alike: dict[tuple[str, ...], list[list[Attribute]]] = defaultdict(list)
        for operator in root.walk():
            if operator.kind == "Relation" and operator.text.startswith("["):
                columns = attributes(operator.text.partition("]")[0])
                alike[*(one.name for one in columns), operator.text.rpartition("]")[2]].append(
                    columns
                )
        for copies in alike.values():
            known = [self.scans[o.id] for columns in copies for o in columns if o.id in self.scans]
            if len({(scan.table, scan.paths) for scan in known}) == 1:
                for columns in copies:
                    if not any(one.id in self.scans for one in columns):
                        self.scans.update((one.id, known[0]) for one in columns)

    def keep(self, query: PlanSegment) -> None:
        """Take note of the columns of a query that other plans begin with."""
        plan = plan_text(query.execution.text)
        if plan.root is None:
            return
        trace = trace_columns(plan, plan.root, lambda *leaf: self.source(*leaf))
        columns = trace.columns_of(plan.root)
        kept = CachedColumns(
            tuple((one, trace.known.get(one.id, NOTHING)) for one in columns),
            frozenset(trace.influences),
        )
        # Executions that are nested in a batch are settled with it.
        self.batches.clear()
        self.batches[query.execution.id] = kept
        self.checkpoints.update((one.id, kept) for one in columns)

    def source(
        self, operator: Operator, columns: Iterable[Attribute], batch: int = -1
    ) -> PlanSource | None:
        """What a leaf of a plan reads; None for one that reads nothing that lasts.

        Args:
            batch: The execution that the plan's own is nested in.
        """
        if scanned_rdd(operator) is not None or operator.kind == "LogicalRDD":
            return self._of_cached(list(columns), batch) or self._of_rdd(columns)
        scan = next((self.scans[one.id] for one in columns if one.id in self.scans), None)
        scan = scan or relation_scan(operator)
        if scan is None:
            try:
                scan = read_scan(scan_node(operator))
            except LookupError:
                return None
        return self._source(scan, operator) if scan else None

    def _of_cached(self, columns: list[Attribute], batch: int) -> PlanSource | None:
        """What a checkpoint's or batch's plan says of its columns."""
        ids = [one.id for one in columns]
        kept = next((self.checkpoints[id_] for id_ in ids if id_ in self.checkpoints), None)
        if kept:
            by_id = {one.id: uses for one, uses in kept.columns}
            found = {one.name.casefold(): by_id.get(one.id, NOTHING) for one in columns}
            return PlanSource(columns=found, influences=kept.influences)
        kept = self.batches.get(batch)
        if kept is None or [one.name for one in columns] != [one.name for one, _ in kept.columns]:
            return None
        found = {one.name.casefold(): uses for one, uses in kept.columns}
        return PlanSource(columns=found, influences=kept.influences)

    def _of_rdd(self, columns: Iterable[Attribute]) -> PlanSource | None:
        """Of rows that code of the task made only the datasets are known."""
        found: dict[str, ColumnInputs] = {}
        known = True
        for one in columns:
            bridges = self.bridges.get(one.id, ())
            known = known and not bridges
            # A checkpoint whose own execution the log lacks still has the ids of its scan.
            scan = self.scans.get(one.id)
            own = [(scan, one.name, Subtype.IDENTITY)] if scan and not bridges else []
            found[one.name.casefold()] = frozenset(
                ColumnInput(dataset, name, how)
                for scan, name, how in (
                    *own,
                    *((bridge, ANY_COLUMN, Subtype.TRANSFORMATION) for bridge in bridges),
                )
                for dataset, _ in self.resolver.read(scan)
            )
        return PlanSource(columns=found, is_known=known) if any(found.values()) else None

    def _source(self, scan: Scan, operator: Operator) -> PlanSource:
        datasets = tuple(dataset for dataset, _ in self.resolver.read(scan))
        database = self.resolver.scan_database(scan)
        if query := operator.fields.get(_ENGINE_QUERY):
            found = _of_query(ExternalTable(f"({query.strip()}) q"), database)
            if found.columns:
                columns = found.columns | _aggregates(operator, datasets)
                return PlanSource(datasets, columns, found.influences)
        if scan.external and scan.external.is_query:
            found = _of_query(scan.external, database)
            return PlanSource(datasets, found.columns, found.influences, bool(found.columns))
        if aggregates := _aggregates(operator, datasets):
            return PlanSource(datasets, *_grouped(operator, datasets, aggregates))
        pushed = scan.external.pushed if scan.external else ()
        filters = {ColumnInput(d, name, Subtype.FILTER) for d in datasets for name in pushed}
        return PlanSource(datasets, influences=frozenset(filters))


def _aggregates(operator: Operator, datasets: Iterable[DatasetId]) -> dict[str, ColumnInputs]:
    """The columns that the database aggregated, which stand behind those it grouped by."""
    functions = plain_expressions(operator.fields.get("PushedAggregates", "[]"))
    made = attributes(operator.fields.get("Output", ""))[-len(functions) :] if functions else []
    return {
        one.name.casefold(): frozenset(
            ColumnInput(dataset, found.group(), Subtype.AGGREGATION)
            for dataset in datasets
            for found in _NAME.finditer(function.replace("DISTINCT ", ""))
        )
        for one, function in zip(made, functions, strict=False)
    }


def _grouped(
    operator: Operator, datasets: Iterable[DatasetId], aggregates: dict[str, ColumnInputs]
) -> tuple[dict[str, ColumnInputs], ColumnInputs]:
    """The columns of what a database grouped, and those that it grouped by."""
    columns = {
        one.name.casefold(): frozenset(ColumnInput(dataset, one.name) for dataset in datasets)
        for one in attributes(operator.fields.get("Output", ""))
    }
    keys = bracketed(operator.fields.get("PushedGroupByExpressions", "[]"))
    by = {ColumnInput(dataset, key, Subtype.GROUP_BY) for dataset in datasets for key in keys}
    return columns | aggregates, frozenset(by)


def _of_query(query: ExternalTable, database: JdbcDatabase) -> PlanSource:
    columns: dict[str, ColumnInputs] = {}
    influences: set[ColumnInput] = set()
    for one in query_columns(query, database):
        use = ColumnInput(one.dataset, one.from_column, one.subtype, one.masking)
        if one.column == ANY_COLUMN and one.subtype.type is EdgeType.INDIRECT:
            influences.add(use)
        else:
            name = one.column.casefold()
            columns[name] = columns.get(name, frozenset()) | {use}
    return PlanSource(columns=columns, influences=frozenset(influences))
