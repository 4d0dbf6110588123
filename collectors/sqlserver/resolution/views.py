"""The definitions of a snapshot's views: each is a task of engine `view`.

Their evidence is `declared`: no log shows a view being read through, but neither does a rule guess
it; the team that made the view defined it, and the server holds it to that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from dbt_graft.collectors.sqlserver.names import FullName
from dbt_graft.collectors.sqlserver.resolution.name_resolver import NameResolver, ResolvedTable
from dbt_graft.collectors.sqlserver.resolution.statement import (
    ResolvedStatement,
    resolve_statement,
)
from dbt_graft.collectors.sqlserver.server.snapshot import ModuleKind, Snapshot
from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.parse import failure, parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.time_limit import UnreadableTextError, run_limited
from dbt_graft.collectors.statements.workers import Worker
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Evidence,
    Records,
    Run,
)

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
    def reads(self) -> list[ResolvedTable]:
        """The tables that the view is made of, once for each name that it has for one."""
        return [
            access.table for access in self.query.accesses if access.direction is Direction.READ
        ]


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
                table.dataset
                for view in views
                for table in definitions_by_dataset[view.dataset].reads
            )
    definitions = list(definitions_by_dataset.values())
    return Records(
        accesses=tuple(access for definition in definitions for access in _accesses(definition)),
        runs=tuple(
            Run(_RUN, definition.view.task, DefinitionKind.VIEW, origin=definition.origin)
            for definition in definitions
        ),
        shapes={
            definition.query.shape.shape_id: definition.query.shape for definition in definitions
        },
        datasets=tuple(dataset for definition in definitions for dataset in _datasets(definition)),
        column_edges=tuple(
            edge for definition in definitions for edge in _column_edges(definition)
        ),
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


def _accesses(definition: _Definition) -> Iterator[Access]:
    view = definition.view
    # A view that was renamed has its old name in its text.
    used = [(view.dataset, Kind.VIEW, Direction.WRITE)]
    kinds = {table.dataset: table.kind for table in definition.reads}
    used += [(dataset, kind, Direction.READ) for dataset, kind in kinds.items()]
    for dataset, kind, direction in used:
        yield Access(
            task=view.task,
            run_id=_RUN,
            dataset=dataset,
            kind=kind,
            direction=direction,
            operation=Operation.CREATE_VIEW,
            shape_id=definition.query.shape.shape_id,
            evidence=Evidence.DECLARED,
            origin=definition.origin,
        )


def _datasets(definition: _Definition) -> Iterator[Dataset]:
    yield Dataset(definition.view.dataset, Kind.VIEW, definition.view.columns)
    for table in definition.reads:
        symlinks = (table.alias,) if table.alias else ()
        yield Dataset(table.dataset, table.kind, table.columns, symlinks)


def _column_edges(definition: _Definition) -> Iterator[ColumnEdge]:
    view, query = definition.view, definition.query
    for edge in query.column_edges:
        yield ColumnEdge(
            task=view.task,
            to_dataset=view.dataset,
            to_column=edge.to_column,
            from_dataset=edge.from_dataset,
            from_column=edge.from_column,
            type=edge.type,
            subtype=edge.subtype,
            masking=bool(edge.masking),
            masked_by=edge.masking,
            shape_id=query.shape.shape_id,
            origin=definition.origin,
            evidence=Evidence.DECLARED,
        )
