"""The definitions of a snapshot's views: each is a task of engine `view`.

Their evidence is `declared`: no log shows a view being read through, but neither does a rule guess
it; the team that made the view defined it, and the server holds it to that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from dbt_graft.collectors.sqlserver.names import FullName
from dbt_graft.collectors.sqlserver.resolution.name_resolver import NameResolver
from dbt_graft.collectors.sqlserver.resolution.statement import (
    ResolvedStatement,
    resolve_statement,
)
from dbt_graft.collectors.sqlserver.server.snapshot import ModuleKind, Snapshot
from dbt_graft.collectors.statement import (
    DatasetAccess,
    Statement,
    access_records,
    column_edge_records,
)
from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.parse import failure, parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.time_limit import UnreadableTextError, run_limited
from dbt_graft.collectors.statements.workers import Worker
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Column, Dataset, Evidence, Records, Run

_RUN = "definition"
_PARTS = 3  # database, schema and name


@dataclass(frozen=True, slots=True)
class _View:
    name: FullName
    dataset: DatasetId
    columns: tuple[Column, ...]
    text: str

    @property
    def task(self) -> str:
        """Named with its server: two servers may have a view of one name."""
        return str(self.dataset)


@dataclass(frozen=True, slots=True)
class _Definition:
    """A view, the query that defines it, and the origin of that."""

    view: _View
    query: ResolvedStatement
    origin: str

    @property
    def statement(self) -> Statement:
        """The definition as a statement; a view that was renamed has its old name in its text."""
        view, query = self.view, self.query
        kinds = {access.dataset: access.kind for access in query.reads}
        return Statement(
            query.shape_id,
            reads=tuple(DatasetAccess(*entry, Operation.CREATE_VIEW) for entry in kinds.items()),
            writes=(DatasetAccess(view.dataset, Kind.VIEW, Operation.CREATE_VIEW),),
            edges=tuple(edge._replace(to_dataset=view.dataset) for edge in query.edges),
            run=Run(_RUN, view.task, DefinitionKind.VIEW, origin=self.origin),
            evidence=Evidence.DECLARED,
        )


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
    definitions_by_dataset: dict[DatasetId, _Definition] = {}
    waiting = dict.fromkeys(touched)
    with Worker(partial(_query, resolver), partial(_failed_query, resolver)) as worker:
        while waiting:
            views = [
                view
                for dataset in waiting
                if dataset not in definitions_by_dataset and (view := _view(dataset, resolver))
            ]
            for view, query in zip(views, worker.map(views), strict=True):
                definitions_by_dataset[view.dataset] = _Definition(
                    view, query, f"{label}#{view.dataset.name}"
                )
            waiting = dict.fromkeys(
                access.dataset
                for view in views
                for access in definitions_by_dataset[view.dataset].query.reads
            )
    definitions = list(definitions_by_dataset.values())
    statements = [definition.statement for definition in definitions]
    return Records(
        accesses=tuple(access_records(statements)),
        runs=tuple(statement.run for statement in statements),
        shapes={definition.query.shape_id: definition.query.shape for definition in definitions},
        datasets=tuple(dataset for definition in definitions for dataset in _datasets(definition)),
        column_edges=tuple(column_edge_records(statements)),
    )


def _view(dataset: DatasetId, resolver: NameResolver) -> _View | None:
    parts = dataset.name.split(".", 2)
    if dataset.namespace.casefold() != resolver.server.casefold() or len(parts) < _PARTS:
        return None
    name = FullName("", *parts)
    module, relation = resolver.module(name), resolver.relation(name)
    if module is None or module.kind is not ModuleKind.VIEW:
        return None
    return _View(name, dataset, relation.columns if relation else (), module.text)


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


def _datasets(definition: _Definition) -> Iterator[Dataset]:
    yield Dataset(definition.view.dataset, Kind.VIEW, definition.view.columns)
    for access in definition.query.reads:
        symlinks = (access.alias,) if access.alias else ()
        yield Dataset(access.dataset, access.kind, access.columns, symlinks)
