"""Sources of the columns in an application's plans: what each leaf of a plan reads.

A leaf is a scan, a logical relation, or an RDD. An RDD with a plan behind it has the columns of
that plan: a checkpoint keeps their ids, and `foreachBatch` gets the columns of its batch. Behind
any other RDD is code of the task, so that only the datasets are known, and the names: rows that the
task made, also in Python (`createDataFrame`), come from its memory.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import field

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.spark.application.segments import PlanSegment
from dbt_graft.collectors.spark.plans.arguments import (
    Attribute,
    attributes,
    bracket_items,
    plain_expressions,
)
from dbt_graft.collectors.spark.plans.columns import NOTHING, ColumnInputs, PlanSource
from dbt_graft.collectors.spark.plans.operators import trace_columns
from dbt_graft.collectors.spark.plans.tree import Operator
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.spark.sources.jdbc import ExternalTable, query_source
from dbt_graft.collectors.spark.sources.plan_text import plan_text, scan_node
from dbt_graft.collectors.spark.sources.relations import relation_scan, scanned_rdd
from dbt_graft.collectors.spark.sources.scans import CHANGE_COLUMNS, Scan, read_scan
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

_ENGINE_QUERY = "External engine query"
_EMPTY = "<empty>"
_LOCAL_ROWS = frozenset({"LocalRelation", "LocalTableScan"})
_NAME = re.compile(r"[A-Za-z_]\w*(?!\w*\()")


@frozen
class CachedColumns:
    """Columns of a plan that other plans begin with, and the influences on its rows."""

    columns: tuple[tuple[Attribute, ColumnInputs], ...]
    influences: ColumnInputs


@frozen
class ColumnSources:
    """The sources of columns by the columns' ids, which are unique in an application.

    Attributes:
        rdd_scans: The scans behind the RDD that has the column.
        checkpoints: The checkpointed plan of each column.
        batches: The plans of streaming batches, by the ids of their executions.
    """

    resolver: DatasetResolver
    scans: dict[int, Scan] = field(default_factory=dict)
    rdd_scans: dict[int, list[Scan]] = field(default_factory=dict)
    checkpoints: dict[int, CachedColumns] = field(default_factory=dict)
    batches: dict[int, CachedColumns] = field(default_factory=dict)

    def learn(self, scan: Scan) -> None:
        """Remember the columns of a scan, and the location of its table."""
        self.resolver.learn(scan.table, scan.paths, by_path=scan.by_path)
        for column in scan.ids:
            if not scan.from_rdd:
                self.scans[column] = scan
            elif scan not in self.rdd_scans.setdefault(column, []):
                self.rdd_scans[column].append(scan)

    def match_reused(self, root: Operator) -> None:
        """Match relations that no scan has the columns of with a scanned relation of the same
        columns: a reused exchange is scanned once.
        """
        alike: dict[tuple[str, ...], list[list[Attribute]]] = defaultdict(list)
        for operator in root.walk():
            if operator.kind == "Relation" and operator.text.startswith("["):
                columns = attributes(operator.text.partition("]")[0])
                alike[
                    *(column.name for column in columns), operator.text.rpartition("]")[2]
                ].append(columns)
        for copies in alike.values():
            scans = [self.scans[o.id] for columns in copies for o in columns if o.id in self.scans]
            if len({(scan.table, scan.paths) for scan in scans}) == 1:
                for columns in copies:
                    if not any(column.id in self.scans for column in columns):
                        self.scans.update((column.id, scans[0]) for column in columns)

    def cache(self, query: PlanSegment) -> None:
        """Remember the columns of a query that other plans begin with."""
        plan = plan_text(query.execution.text)
        if plan.root is None:
            return
        trace = trace_columns(plan, plan.root, lambda *leaf: self.source(*leaf))
        columns = trace.columns_of(plan.root)
        cached = CachedColumns(
            tuple((column, trace.inputs_by_id.get(column.id, NOTHING)) for column in columns),
            frozenset(trace.influences),
        )
        # A batch and the executions nested in it are settled together.
        self.batches.clear()
        self.batches[query.execution.id] = cached
        self.checkpoints.update((column.id, cached) for column in columns)

    def source(
        self, operator: Operator, columns: Iterable[Attribute], batch: int = -1
    ) -> PlanSource | None:
        """Return what a leaf of a plan reads; None where it reads no dataset and no memory.

        Args:
            batch: The execution that the plan's own is nested in.
        """
        if scanned_rdd(operator) is not None or operator.kind == "LogicalRDD":
            rdd = self._cached_source(list(columns), batch) or self._rdd_source(columns)
            return rdd or PlanSource((MEMORY,))
        scan = next((self.scans[column.id] for column in columns if column.id in self.scans), None)
        scan = scan or relation_scan(operator)
        if scan is None:
            try:
                scan = read_scan(scan_node(operator))
            except LookupError:
                return None
        if scan is None and operator.kind in _LOCAL_ROWS and _EMPTY not in operator.arguments:
            return PlanSource((MEMORY,))
        return self._source(scan, operator) if scan else None

    def _cached_source(self, columns: list[Attribute], batch: int) -> PlanSource | None:
        """The source of columns that a checkpoint's or batch's plan has."""
        ids = [column.id for column in columns]
        cached = next((self.checkpoints[id_] for id_ in ids if id_ in self.checkpoints), None)
        if cached:
            by_id = {column.id: inputs for column, inputs in cached.columns}
            inputs_by_name = {
                column.name.casefold(): by_id.get(column.id, NOTHING) for column in columns
            }
            return PlanSource(columns=inputs_by_name, influences=cached.influences)
        cached, names = self.batches.get(batch), [column.name for column in columns]
        if cached is None or names != [column.name for column, _ in cached.columns]:
            return None
        inputs_by_name = {column.name.casefold(): inputs for column, inputs in cached.columns}
        return PlanSource(columns=inputs_by_name, influences=cached.influences)

    def _rdd_source(self, columns: Iterable[Attribute]) -> PlanSource | None:
        """The datasets of rows that code of the task made."""
        inputs_by_name: dict[str, ColumnInputs] = {}
        is_known = True
        for column in columns:
            rdd_scans = self.rdd_scans.get(column.id, ())
            is_known = is_known and not rdd_scans
            # A checkpoint whose own execution is not in the log still has the ids of its scan.
            scan = self.scans.get(column.id)
            direct = [(scan, column.name, Subtype.IDENTITY)] if scan and not rdd_scans else []
            memory = frozenset({ColumnInput(MEMORY, column.name)} if rdd_scans else ())
            inputs_by_name[column.name.casefold()] = memory | frozenset(
                ColumnInput(dataset, name, how)
                for scan, name, how in (
                    *direct,
                    *((rdd_scan, ANY_COLUMN, Subtype.TRANSFORMATION) for rdd_scan in rdd_scans),
                )
                for dataset, _ in self.resolver.read(scan)
            )
        return (
            PlanSource(columns=inputs_by_name, is_known=is_known)
            if any(inputs_by_name.values())
            else None
        )

    def _source(self, scan: Scan, operator: Operator) -> PlanSource:
        datasets = tuple(dataset for dataset, _ in self.resolver.read(scan))
        database = self.resolver.scan_database(scan)
        if query := operator.fields.get(_ENGINE_QUERY):
            source = query_source(ExternalTable(f"({query.strip()}) q"), database)
            if source.columns:
                columns = source.columns | _aggregates(operator, datasets)
                return PlanSource(datasets, columns, source.influences)
        if scan.external and scan.external.is_query:
            source = query_source(scan.external, database)
            return PlanSource(datasets, source.columns, source.influences, bool(source.columns))
        if aggregates := _aggregates(operator, datasets):
            return PlanSource(datasets, *_grouped_columns(operator, datasets, aggregates))
        pushed = scan.external.pushed if scan.external else ()
        filters = {ColumnInput(d, name, Subtype.FILTER) for d in datasets for name in pushed}
        added = CHANGE_COLUMNS if scan.of_changes else frozenset()
        return PlanSource(datasets, influences=frozenset(filters), added=added)


def _aggregates(operator: Operator, datasets: Iterable[DatasetId]) -> dict[str, ColumnInputs]:
    """The columns that the database aggregated; they follow those that it grouped by."""
    functions = plain_expressions(operator.fields.get("PushedAggregates", "[]"))
    columns = attributes(operator.fields.get("Output", ""))[-len(functions) :] if functions else []
    return {
        column.name.casefold(): frozenset(
            ColumnInput(dataset, match.group(), Subtype.AGGREGATION)
            for dataset in datasets
            for match in _NAME.finditer(function.replace("DISTINCT ", ""))
        )
        for column, function in zip(columns, functions, strict=False)
    }


def _grouped_columns(
    operator: Operator, datasets: Iterable[DatasetId], aggregates: dict[str, ColumnInputs]
) -> tuple[dict[str, ColumnInputs], ColumnInputs]:
    """The columns of an aggregation in the database, and its grouping columns as influences."""
    columns = {
        column.name.casefold(): frozenset(ColumnInput(dataset, column.name) for dataset in datasets)
        for column in attributes(operator.fields.get("Output", ""))
    }
    keys = bracket_items(operator.fields.get("PushedGroupByExpressions", "[]"))
    by = {ColumnInput(dataset, key, Subtype.GROUP_BY) for dataset in datasets for key in keys}
    return columns | aggregates, frozenset(by)
