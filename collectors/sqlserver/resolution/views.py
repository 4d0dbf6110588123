"""The definitions of a snapshot's views and inline functions: each is a task of engine `view`.

Their evidence is `declared`: no log shows a view being read through, but neither does a rule guess
it; the team that made the view defined it, and the server holds it to that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from dbt_graft.collectors.sqlserver.names import FullName
from dbt_graft.collectors.sqlserver.resolution.name_resolver import NameResolver
from dbt_graft.collectors.sqlserver.resolution.statement import ResolvedStatement, resolve_statement
from dbt_graft.collectors.sqlserver.server.snapshot import Snapshot
from dbt_graft.collectors.statement import (
    DatasetAccess,
    Statement,
    access_records,
    column_edge_records,
)
from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.shape import failure
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.time_limit import UnreadableTextError, run_limited
from dbt_graft.collectors.statements.workers import Worker
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Column, Dataset, Evidence, Records, Run

_RUN = "definition"
_PARTS = 3  # database, schema and name


@frozen
class _View:
    name: FullName
    dataset: DatasetId
    columns: tuple[Column, ...]
    text: str


def view_records(
    snapshot: Snapshot, touched: Iterable[DatasetId], server: str, label: str
) -> Records:
    """The definitions of the views that are touched, and of the views that these are made of.

    Args:
        touched: Datasets that runs use; those of other servers and those that are no views are
            left out.
        server: The namespace of the snapshot's server.
        label: The snapshot in origins. Each view is an origin of its own,
            `<label>#Shop.dbo.v_orders`, so that a later definition replaces it alone.
    """
    resolver = NameResolver(server, snapshot)
    definitions: dict[DatasetId, tuple[_View, ResolvedStatement]] = {}
    waiting = dict.fromkeys(touched)
    with Worker(partial(_query, resolver), partial(_failed_query, resolver)) as worker:
        while waiting:
            views = [
                view
                for dataset in waiting
                if dataset not in definitions and (view := _view(dataset, resolver))
            ]
            queries = worker.map(views)
            definitions |= {pair[0].dataset: pair for pair in zip(views, queries, strict=True)}
            waiting = dict.fromkeys(access.dataset for query in queries for access in query.reads)
    statements = [_statement(*pair, label) for pair in definitions.values()]
    return Records(
        accesses=tuple(access_records(statements)),
        runs=tuple(statement.run for statement in statements),
        shapes={query.shape_id: query.shape for _, query in definitions.values()},
        datasets=tuple(dataset for pair in definitions.values() for dataset in _datasets(*pair)),
        column_edges=tuple(column_edge_records(statements)),
    )


def _view(dataset: DatasetId, resolver: NameResolver) -> _View | None:
    parts = dataset.name.split(".", 2)
    if dataset.namespace.casefold() != resolver.server.casefold() or len(parts) < _PARTS:
        return None
    name = FullName("", *parts)
    text, relation = resolver.definition(name), resolver.relation(name)
    if not text:
        return None
    return _View(name, dataset, relation.columns if relation else (), text)


def _query(resolver: NameResolver, view: _View) -> ResolvedStatement:
    resolver = resolver.within(view.name.schema)

    def columns(used: str | None, table: Name) -> Sequence[str]:
        return resolver.columns(used or view.name.database, table)

    shapes = parse(view.text, Dialect.TSQL, columns)
    creates = next((shape for shape in shapes if shape.writes), None)
    if creates is None:
        return _failed_query(resolver, view, "there is no CREATE VIEW in its definition")
    return resolve_statement(creates, view.name.database, resolver)


def _failed_query(resolver: NameResolver, view: _View, reason: str) -> ResolvedStatement:
    try:
        text = run_limited(normalise, view.text, Dialect.TSQL)
    except UnreadableTextError:
        text = ""
    shape = failure(text, Dialect.TSQL, reason)
    return resolve_statement(shape, view.name.database, resolver)


def _statement(view: _View, query: ResolvedStatement, label: str) -> Statement:
    """A definition; a view that was renamed has its old name in its text."""
    kinds = {access.dataset: access.kind for access in query.reads}
    # Named with its server: two servers may have a view of one name.
    run = Run(_RUN, str(view.dataset), DefinitionKind.VIEW, origin=f"{label}#{view.dataset.name}")
    return Statement(
        query.shape_id,
        reads=tuple(DatasetAccess(*entry, Operation.CREATE_VIEW) for entry in kinds.items()),
        writes=(DatasetAccess(view.dataset, Kind.VIEW, Operation.CREATE_VIEW),),
        edges=tuple(edge._replace(to_dataset=view.dataset) for edge in query.edges),
        run=run,
        evidence=Evidence.DECLARED,
    )


def _datasets(view: _View, query: ResolvedStatement) -> Iterator[Dataset]:
    yield Dataset(view.dataset, Kind.VIEW, view.columns)
    for access in query.reads:
        symlinks = (access.alias,) if access.alias else ()
        yield Dataset(access.dataset, access.kind, access.columns, symlinks)
