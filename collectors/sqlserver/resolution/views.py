"""What the views of a snapshot are made of: each a task of engine `view`, its definition.

The evidence is `declared`: nobody saw a view being read through, but neither does a rule guess it;
the team that made the view said what it is made of, and the server holds it to that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from dbt_graft.collectors.sqlserver.resolution.lookup import NameResolver
from dbt_graft.collectors.sqlserver.resolution.names import FullName
from dbt_graft.collectors.sqlserver.resolution.statement import Row, statement
from dbt_graft.collectors.sqlserver.server.snapshot import ModuleKind, Snapshot
from dbt_graft.collectors.statements.parse import failure, normalise, parse
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.workers import Worker
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.model import VIEW
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    EdgeType,
    Evidence,
    Outcome,
    Records,
    Run,
    Shape,
    Subtype,
)

_RUN = "definition"
_PARTS = 3  # database, schema and name


@dataclass(frozen=True, slots=True)
class _View:
    place: FullName
    dataset: DatasetId
    columns: tuple[Column, ...]
    text: str

    @property
    def task(self) -> str:
        """Named with its server: two servers may have a view of one name."""
        return str(self.dataset)


class _Defined(NamedTuple):
    """A view, what its definition means, and where that comes from."""

    view: _View
    row: Row
    origin: str


def view_records(
    snapshot: Snapshot, touched: Iterable[DatasetId], server: str, label: str
) -> Records:
    """The definitions of the views that are touched, and of the views that these are made of.

    Args:
        touched: Datasets that runs use; those of other servers and what is no view are left out.
        server: The namespace of the snapshot's server.
        label: How origins name the snapshot. Each view is an origin of its own,
            `<label>#Shop.dbo.v_orders`, so that what is said of it later replaces it alone.
    """
    lookup = NameResolver(server, snapshot)
    found: dict[DatasetId, _Defined] = {}
    waiting = dict.fromkeys(touched)
    with Worker(partial(_meaning, lookup), partial(_failed, lookup)) as worker:
        while waiting:
            views = [view for one in waiting if one not in found and (view := _view(one, lookup))]
            for view, row in zip(views, worker.map(views), strict=True):
                found[view.dataset] = _Defined(view, row, f"{label}#{view.dataset.name}")
            waiting = dict.fromkeys(
                DatasetId(access["namespace"], access["name"])
                for view in views
                for access in found[view.dataset].row["accesses"]
                if access["direction"] == Direction.READ.value
            )
    defined = list(found.values())
    return Records(
        accesses=tuple(access for one in defined for access in _accesses(one)),
        runs=tuple(Run(_RUN, d.view.task, VIEW, origin=d.origin) for d in defined),
        shapes={d.row["shape_id"]: _shape(d.row) for d in defined},
        datasets=tuple(dataset for one in defined for dataset in _datasets(one)),
        column_edges=tuple(edge for one in defined for edge in _column_edges(one)),
    )


def _view(dataset: DatasetId, lookup: NameResolver) -> _View | None:
    parts = dataset.name.split(".", 2)
    if dataset.namespace.casefold() != lookup.server.casefold() or len(parts) < _PARTS:
        return None
    place = FullName("", *parts)
    module, relation = lookup.module(place), lookup.relation(place)
    if module is None or module.kind is not ModuleKind.VIEW:
        return None
    return _View(place, dataset, relation.columns if relation else (), module.text)


def _meaning(lookup: NameResolver, view: _View) -> Row:
    lookup = lookup.within(view.place.schema)

    def columns(used: str | None, table: Name) -> Sequence[str]:
        return lookup.columns(used or view.place.database, table)

    shapes = parse(view.text, Dialect.TSQL, columns)
    creates = next((one for one in shapes if one.writes), None)
    if creates is None:
        return _failed(lookup, view, "there is no CREATE VIEW in its definition")
    return statement(creates, view.place.database, lookup)


def _failed(lookup: NameResolver, view: _View, reason: str) -> Row:
    shape = failure(normalise(view.text, Dialect.TSQL), Dialect.TSQL, reason)
    return statement(shape, view.place.database, lookup)


def _accesses(defined: _Defined) -> Iterator[Access]:
    view, row, origin = defined
    reads = {
        DatasetId(access["namespace"], access["name"]): Kind(access["kind"])
        for access in row["accesses"]
        if access["direction"] == Direction.READ.value
    }
    # A view that was renamed has its old name in its text.
    used = [(view.dataset, Kind.VIEW, Direction.WRITE)]
    used += [(dataset, kind, Direction.READ) for dataset, kind in reads.items()]
    for dataset, kind, direction in used:
        yield Access(
            *(view.task, _RUN, dataset, kind, direction, Operation.CREATE_VIEW, row["shape_id"]),
            evidence=Evidence.DECLARED,
            origin=origin,
        )


def _shape(row: Row) -> Shape:
    return Shape(
        row["shape_id"],
        row["dialect"],
        row["text"],
        row["parser"],
        Outcome(row["outcome"]),
        row["reason"],
    )


def _datasets(defined: _Defined) -> Iterator[Dataset]:
    view, row, _ = defined
    yield Dataset(view.dataset, Kind.VIEW, view.columns)
    for access in row["accesses"]:
        if access["direction"] == Direction.READ.value:
            alias = access["alias"]
            yield Dataset(
                DatasetId(access["namespace"], access["name"]),
                Kind(access["kind"]),
                tuple(Column(one["name"], one["type"]) for one in access["columns"]),
                (DatasetId(alias["namespace"], alias["name"]),) if alias else (),
            )


def _column_edges(defined: _Defined) -> Iterator[ColumnEdge]:
    view, row, origin = defined
    for edge in row["column_edges"]:
        yield ColumnEdge(
            task=view.task,
            to_dataset=view.dataset,
            to_column=edge["to_column"],
            from_dataset=DatasetId(edge["from_namespace"], edge["from_name"]),
            from_column=edge["from_column"],
            type=EdgeType(edge["type"]),
            subtype=Subtype(edge["subtype"]),
            masking=edge["masking"],
            shape_id=row["shape_id"],
            origin=origin,
        )
