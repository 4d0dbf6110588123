"""Statements added up: a task runs the same statement again and again.

Memory grows with the number of distinct statements, not with how often they run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from dbt_graft.collectors.spark.application.accesses import IN_PLACE, merge_accesses
from dbt_graft.collectors.spark.application.statement import PlanStatement, StatementKey
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.statement import DatasetAccess, StatementEdge
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import ANY_COLUMN, EdgeType, Status

T = TypeVar("T")

# Distinct statements of a task; a log with more makes up names.
_MOST = 100_000


@dataclass(slots=True)
class StatementTotals:
    """Statements by what they do, how they ended, and whether they infer a schema.

    Attributes:
        left_out: The number of distinct statements beyond the limit.
    """

    statements: dict[tuple[StatementKey, Status, bool], PlanStatement] = field(default_factory=dict)
    left_out: int = 0

    def add(self, statement: PlanStatement) -> None:
        """Add one statement."""
        key = statement.key, statement.status, statement.infers_schema
        before = self.statements.get(key)
        if before is None and len(self.statements) == _MOST:
            self.left_out += 1
        else:
            self.statements[key] = _add_statements(before, statement) if before else statement

    def resolve(self, resolver: DatasetResolver) -> list[PlanStatement]:
        """The totals in order of their start, with tables instead of the paths they lie in."""
        named = StatementTotals()
        for statement in self.statements.values():
            named.add(_resolve_statement(statement, resolver))
        return sorted(named.statements.values(), key=lambda total: total.first_at)


def drop_inferences(
    statements: Iterable[PlanStatement], read: Iterable[DatasetId], resolver: DatasetResolver
) -> list[PlanStatement]:
    """Leave out inferences of the columns of files that other statements read.

    Args:
        read: The datasets that any statement reads; an inference may read one file of a folder.
    """
    names = {name for dataset in read for name in (dataset, *resolver.symlinks(dataset))}
    return [
        statement
        for statement in statements
        if not (
            statement.infers_schema and any(_is_covered(r.dataset, names) for r in statement.reads)
        )
    ]


def _is_covered(dataset: DatasetId, read: set[DatasetId]) -> bool:
    """Whether a path, or a folder around it, is read."""
    name = dataset.name
    while name and DatasetId(dataset.namespace, name) not in read:
        name = name.rpartition("/")[0]
    return bool(name)


def _add_statements(a: PlanStatement, b: PlanStatement) -> PlanStatement:
    return replace(
        a,
        reads=merge_accesses((*a.reads, *b.reads)),
        writes=merge_accesses((*a.writes, *b.writes)),
        first_at=min(a.first_at, b.first_at),
        last_at=max(a.last_at, b.last_at),
        edges=_union(a.edges, b.edges),
        gaps=_union(a.gaps, b.gaps),
        times=a.times + b.times,
    )


def _union(a: tuple[T, ...], b: tuple[T, ...]) -> tuple[T, ...]:
    """Each once; most often both are equal."""
    return a if a == b else tuple(dict.fromkeys((*a, *b)))


def _resolve_statement(statement: PlanStatement, resolver: DatasetResolver) -> PlanStatement:
    writes = _resolve_accesses(statement.writes, resolver)
    reads = _resolve_accesses(statement.reads, resolver)
    edges = tuple(dict.fromkeys(_resolve_edge(edge, resolver) for edge in statement.edges))
    if statement.operation in IN_PLACE:
        targets = {access.dataset for access in writes}
        reads = tuple(access for access in reads if access.dataset not in targets)
        edges = tuple(edge for edge in edges if edge.from_dataset not in targets)
    edges = tuple(edge for edge in edges if not _is_self_influence(edge))
    return replace(statement, reads=reads, writes=writes, edges=edges)


def _resolve_accesses(
    accesses: Iterable[DatasetAccess], resolver: DatasetResolver
) -> tuple[DatasetAccess, ...]:
    return merge_accesses(
        access._replace(dataset=owner, kind=Kind.TABLE)
        if (owner := resolver.owner(access.dataset)) != access.dataset
        else access
        for access in accesses
    )


def _resolve_edge(edge: StatementEdge, resolver: DatasetResolver) -> StatementEdge:
    to, source = resolver.owner(edge.to_dataset), resolver.owner(edge.from_dataset)
    if to is edge.to_dataset and source is edge.from_dataset:
        return edge
    return edge._replace(to_dataset=to, from_dataset=source)


def _is_self_influence(edge: StatementEdge) -> bool:
    """Whether an edge only shows that a dataset's rows decide on its own rows."""
    decides = edge.to_column == ANY_COLUMN and edge.subtype.type is EdgeType.INDIRECT
    return decides and edge.to_dataset == edge.from_dataset
