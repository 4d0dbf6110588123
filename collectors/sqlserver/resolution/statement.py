"""A shape -> the statement on a server: full names, kinds, columns and column edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from zlib import crc32

from dbt_graft.collectors.sqlserver.resolution.name_resolver import NameResolver
from dbt_graft.collectors.statement import DatasetAccess, Statement, StatementEdge
from dbt_graft.collectors.statements.shape import ParsedShape, shape_id
from dbt_graft.collectors.statements.statement_shape import NOT_RESOLVED, NOT_SUPPORTED
from dbt_graft.collectors.statements.text.files import split_data_source
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.collectors.statements.text.variables import UNKNOWN
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.gaps import may_touch_more
from dbt_graft.lineage.graphs.columns import compose
from dbt_graft.lineage.records import Direction, EdgeType, Evidence, Outcome, Shape, Subtype


@frozen(kw_only=True)
class ResolvedStatement(Statement):
    """A statement of a text that was sent, with the datasets that its names stand for.

    Its evidence is INFERRED for a statement of a procedure that was called: the log does not show
    that it ran.

    Attributes:
        alone: Nothing else of that text touches a dataset, so that the text's rows are its rows.
        hides: It runs what no text shows, and no dataset of it is known: dynamic SQL, or a
            procedure that no snapshot has.
        inside: The procedures, folded and without schema, that a log has to show the inside of to
            show what it does; of dynamic SQL none has a name.
    """

    shape: Shape
    ordinal: int = 0
    alone: bool = False
    hides: bool = False
    inside: frozenset[str] = frozenset()

    @property
    def counts(self) -> bool:
        """Whether it touches a dataset, or may touch one."""
        if self.has_rows:
            return True
        is_supported = not (self.shape.reason or "").startswith(NOT_SUPPORTED)
        return is_supported and may_touch_more(self.shape)

    @property
    def has_rows(self) -> bool:
        """Whether rows of its text may be of it; those of functions are not."""
        touches = bool(self.reads or self.writes)
        return touches or self.hides or self.shape.outcome is Outcome.FAILED


def resolve_statement(
    shape: ParsedShape, database: str, resolver: NameResolver, procedure: str | None = None
) -> ResolvedStatement:
    """A statement on a server, as the first of its text.

    Args:
        procedure: That in whose text the statement stands; None for one that a log shows.
    """
    reads: list[DatasetAccess] = []
    writes: list[DatasetAccess] = []
    datasets: dict[Name, DatasetId] = {}
    outcome, reason = shape.outcome, shape.reason
    hides, hidden = bool(reason) and UNKNOWN in shape.text, list[Name]()
    hides |= reason == NOT_RESOLVED
    if not reason and (hidden := resolver.unknown_procedures(shape.calls, database)):
        outcome, hides = Outcome.PARTIAL, True
        reason = f"what the procedure {'.'.join(hidden[0])} does is not known"
    for table in shape.accesses:
        access = resolver.access(table, database)
        if access is None:
            source, _ = split_data_source(table.name[-1])
            if source:
                outcome = Outcome.PARTIAL
                reason = f"no snapshot says where the data source {source} is"
            continue
        if procedure and table.name[-1].startswith("@"):
            access = access._replace(dataset=_variable(access.dataset, procedure))
        datasets[table.name] = access.dataset
        (reads if table.direction is Direction.READ else writes).append(access)
    # Two texts of which one knows more, of a variable or of a temporary table, are two shapes.
    key = f"{shape.shape_id}-{crc32(reason.encode()):08x}" if reason else shape.shape_id
    return ResolvedStatement(
        shape=Shape(
            shape_id=key,
            dialect=shape.dialect.value,
            text=shape.text,
            parser=shape.parser,
            outcome=outcome,
            reason=reason,
        ),
        shape_id=key,
        reads=tuple(reads),
        writes=tuple(writes),
        edges=tuple(_column_edges(shape, datasets, is_body=procedure is not None)),
        evidence=Evidence.INFERRED if procedure else Evidence.OBSERVED,
        procedure=procedure,
        hides=hides and not (reads or writes),
        inside=procedure_names(hidden),
    )


def hidden_calls(
    shape: ParsedShape, database: str, resolver: NameResolver, procedure: str | None = None
) -> Iterator[ResolvedStatement]:
    """The procedures that no snapshot has and a statement runs that touches datasets itself.

    `INSERT t EXEC p` writes t, whatever else p does.
    """
    names = resolver.unknown_procedures(shape.calls, database) if shape.accesses else ()
    for name in names:
        text = f"EXEC {'.'.join(name)}"
        call = replace(
            shape,
            shape_id=shape_id(text, shape.dialect),
            text=text,
            outcome=Outcome.PARSED,
            reason=None,
            accesses=(),
            column_edges=(),
            calls=(name,),
            result=(),
        )
        yield resolve_statement(call, database, resolver, procedure)


def procedure_names(names: Iterable[Name]) -> frozenset[str]:
    """The names of procedures as events of their statements have them: without schema, folded."""
    return frozenset(name[-1].casefold() for name in names)


def _variable(dataset: DatasetId, procedure: str) -> DatasetId:
    """A table variable of a procedure, which no other sees: `@t~` and a number."""
    number = crc32(procedure.casefold().encode())
    return DatasetId(dataset.namespace, f"{dataset.name}~{number}")


def _column_edges(
    shape: ParsedShape, datasets: Mapping[Name, DatasetId], *, is_body: bool
) -> Iterator[StatementEdge]:
    """The edges between datasets, SQL Server's own catalog left out.

    A query's result goes into the task's memory, and what it sends comes from there; the values in
    a procedure's text do not.
    """
    edges = shape.column_edges
    into = MEMORY if any(edge.subtype.type is EdgeType.DIRECT for edge in edges) else None
    for edge in edges:
        target = datasets.get(edge.table) if edge.table else into
        if edge.from_table:
            source, subtype = datasets.get(edge.from_table), edge.subtype
        else:
            source = None if is_body else MEMORY
            subtype = compose(Subtype.TRANSFORMATION, edge.subtype)
        if target and source:
            yield StatementEdge(
                target,
                edge.column,
                source,
                edge.from_column,
                subtype,
                masking=bool(edge.masking),
                masked_by=edge.masking,
                ordinal=edge.ordinal,
            )
