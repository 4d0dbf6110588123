"""Statements added up: a task says the same again and again.

What is kept grows with what is done differently, not with how often it is done.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from dbt_graft.collectors.spark.application.accesses import IN_PLACE, DatasetAccess, merged
from dbt_graft.collectors.spark.application.column_edges import Edge
from dbt_graft.collectors.spark.application.statements import Statement
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import ANY_COLUMN, EdgeType, Status

T = TypeVar("T")

# Of what a task does differently; a log with more is no task's, but names that are made up.
_MOST = 100_000

_Datasets = tuple[DatasetId, ...]
_Same = tuple[str, str, _Datasets, _Datasets, Status]


@dataclass(slots=True)
class StatementTotals:
    """Statements by what they do, to what, and how that ended.

    Attributes:
        left_out: How many there were beyond the most that are kept.
    """

    found: dict[_Same, Statement] = field(default_factory=dict)
    left_out: int = 0

    def add(self, statement: Statement) -> None:
        """Count one in."""
        reads, writes = (
            [use.dataset for use in uses] for uses in (statement.reads, statement.writes)
        )
        does = statement.sql, statement.operation
        key = (*does, tuple(reads), tuple(writes), statement.status)
        before = self.found.get(key)
        if before is None and len(self.found) == _MOST:
            self.left_out += 1
        else:
            self.found[key] = _together(before, statement) if before else statement

    def settled(self, resolver: DatasetResolver) -> list[Statement]:
        """What they come to, by the time they began, now that it is known whose paths are."""
        named = StatementTotals()
        for statement in self.found.values():
            named.add(_named(statement, resolver))
        return sorted(named.found.values(), key=lambda one: one.started_at)


def _together(a: Statement, b: Statement) -> Statement:
    return replace(
        a,
        reads=merged((*a.reads, *b.reads)),
        writes=merged((*a.writes, *b.writes)),
        started_at=min(a.started_at, b.started_at),
        ended_at=max(a.ended_at, b.ended_at),
        edges=_both(a.edges, b.edges),
        gaps=_both(a.gaps, b.gaps),
        times=a.times + b.times,
    )


def _both(a: tuple[T, ...], b: tuple[T, ...]) -> tuple[T, ...]:
    """Each once; most often they are the same."""
    return a if a == b else tuple(dict.fromkeys((*a, *b)))


def _named(statement: Statement, resolver: DatasetResolver) -> Statement:
    """With the tables instead of the paths that they lie in."""
    writes = _owned(statement.writes, resolver)
    reads = _owned(statement.reads, resolver)
    edges = tuple(dict.fromkeys(_edge(edge, resolver) for edge in statement.edges))
    if statement.operation in IN_PLACE:
        itself = {use.dataset for use in writes}
        reads = tuple(use for use in reads if use.dataset not in itself)
        edges = tuple(edge for edge in edges if edge.use.dataset not in itself)
    return replace(
        statement, reads=reads, writes=writes, edges=tuple(e for e in edges if not _is_own(e))
    )


def _owned(uses: Iterable[DatasetAccess], resolver: DatasetResolver) -> tuple[DatasetAccess, ...]:
    return merged(
        replace(use, dataset=owner, kind=Kind.TABLE)
        if (owner := resolver.owner(use.dataset)) != use.dataset
        else use
        for use in uses
    )


def _edge(edge: Edge, resolver: DatasetResolver) -> Edge:
    use = edge.use._replace(dataset=resolver.owner(edge.use.dataset))
    return replace(edge, dataset=resolver.owner(edge.dataset), use=use)


def _is_own(edge: Edge) -> bool:
    """Whether it says that a dataset's rows decide on its rows."""
    decides = edge.column == ANY_COLUMN and edge.use.subtype.type is EdgeType.INDIRECT
    return decides and edge.dataset == edge.use.dataset
