"""A statement's tree -> its column edges: which column that it writes comes from which.

Inputs that decide on rows (JOIN, FILTER, GROUP_BY, SORT) act on all columns of the target and lead
to its column `*`, as in the `dataset` list of OpenLineage's column lineage; those that decide on
one value (CONDITIONAL, WINDOW) lead to that column. A `*` at the end of a direct edge stands for
columns that are not known: `SELECT *` of a table without a schema.
https://openlineage.io/docs/spec/facets/dataset-facets/column_lineage_facet
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from typing import NamedTuple

from sqlglot import exp

from dbt_graft.collectors.statements.columns.expressions import (
    clause_inputs,
    inputs,
    inputs_of_all,
)
from dbt_graft.collectors.statements.columns.queries import add_ctes, query_rowset
from dbt_graft.collectors.statements.columns.query_scope import QueryContext, QueryScope
from dbt_graft.collectors.statements.columns.rowsets import (
    NOTHING,
    SENT,
    VARIABLE,
    InputColumns,
    Rowset,
    RowsetColumn,
    sent_as,
    table_rowset,
    transform_inputs,
)
from dbt_graft.collectors.statements.columns.sources import add_sources, find_table, table_parts
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import (
    ANY_COLUMN,
    MATCHED_BY_NAME,
    OPEN_STAR,
    EdgeType,
    Masking,
    Subtype,
)


def fill(
    collector: EdgeCollector,
    rowset: Rowset,
    names: Sequence[str] = (),
    ordinals: Sequence[str] = (),
) -> None:
    """Put the columns of a query into the target's, by position where these have names.

    Args:
        ordinals: The places of the columns in a target whose names are only guessed.
    """
    context = collector.scope.context
    # One column of a value is that column: `INSERT INTO t (x) SELECT inline(items)`.
    is_single = len(names) == len(rowset.columns) == 1 and not any(
        input_column.column == ANY_COLUMN for input_column in rowset.columns[0].inputs
    )
    if names and (rowset.is_open or len(names) < len(rowset.columns)) and not is_single:
        context.gap("* stands for columns that are not known")
        names = [ANY_COLUMN] * len(rowset.columns)
    elif rowset.is_open and collector.target:
        context.gap(OPEN_STAR)
    result = [*names, *(column.name for column in rowset.columns[len(names) :])]
    if not rowset.is_open and all(result) and ANY_COLUMN not in result:
        collector.result = tuple(result)
    for at, column in enumerate(rowset.columns):
        name = names[at] if at < len(names) else column.name
        if name:
            ordinal = ordinals[at] if ordinals else ""
            collector.add_edges(name, column.inputs, ordinal=ordinal)
        elif column.inputs - {SENT}:
            context.gap("a column's name was taken out as a value")
    collector.add_row_edges(rowset.influences)


def target_rowset(node: exp.Expr, scope: QueryScope) -> Rowset:
    """The rowset that UPDATE or MERGE change: an alias or a name in FROM, or one of its own."""
    name = table_parts(node)[-1:] if isinstance(node, exp.Table) else ()
    for rowset in scope.rowsets:
        if name and rowset.path[-1:] == name:
            return rowset
    first = len(scope.rowsets)
    add_sources(node, scope)
    return scope.rowsets[first]


def assign(
    assignments: Iterable[exp.Expr],
    collector: EdgeCollector,
    scope: QueryScope,
    target: Rowset,
    condition: exp.Expr | None,
    joins: InputColumns = NOTHING,
) -> None:
    """`SET a = b`: through a derived table or common table expression into the table below.

    Args:
        condition, joins: What decides which rows are changed, the table's own columns among it:
            `SET size = ? WHERE amount > ?`.
    """
    for column, input_columns in _assigned(assignments, scope):
        qualifier = tuple(part.name.casefold() for part in column.parts[:-1])
        rowset = next(iter(scope.find_rowsets(qualifier)), target) if qualifier else target
        for below in rowset.find(column.name) or rowset.place(column.name) or ():
            if below.subtype is Subtype.IDENTITY:
                itself = _deciding_itself(condition, joins, scope, below.source)
                deciding = transform_inputs(itself, Subtype.CONDITIONAL)
                collector.add_edges(below.column, input_columns | deciding, below.source)


def _assigned(
    assignments: Iterable[exp.Expr], scope: QueryScope
) -> Iterator[tuple[exp.Column, InputColumns]]:
    """The columns on the left with what goes into them: `a = b`, `(a, b) = (SELECT …)`."""
    for assignment in assignments:
        left, right = assignment.this, assignment.args.get("expression")
        if not isinstance(assignment, exp.EQ) or isinstance(left, exp.Parameter):
            continue  # a variable, for one
        columns = left.expressions if isinstance(left, exp.Tuple) else [left.unnest()]
        if isinstance(right, exp.Query) and len(columns) > 1:
            rowset = scope.context.query(right, scope)
            values = [column.inputs | rowset.influences for column in rowset.columns]
            values = [] if rowset.is_open else values
        elif isinstance(right, exp.Tuple):
            values = [inputs(value, scope) for value in right.expressions]
        else:
            # DEFAULT is read as the name of a column.
            is_default = isinstance(right, exp.Column) and right.sql().upper() == "DEFAULT"
            values = [NOTHING if is_default else inputs(right, scope)]
        if len(columns) != len(values):
            scope.context.gap("the columns that are assigned together are not known")
            continue
        for column, input_columns in zip(columns, values, strict=True):
            if isinstance(column, exp.Column):
                yield column, input_columns


# Tables of a session: all that is in them comes from elsewhere and goes elsewhere.
_SESSION_SIGNS = ("#", "@")


def _deciding_itself(
    condition: exp.Expr | None, joins: InputColumns, scope: QueryScope, table: Name
) -> InputColumns:
    """A table's own columns that decide which of its rows are changed.

    Of a table that lasts, the keys by which rows are found do not count: they place values.
    """
    if table[-1].startswith(_SESSION_SIGNS):
        deciding = joins | inputs(condition, scope)
    else:
        parts = _conjuncts(condition) if condition else ()
        deciding = inputs_of_all([part for part in parts if not _is_key(part)], scope)
    return frozenset(end for end in deciding if end.source == table)


def _conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        yield from _conjuncts(condition.this)
        yield from _conjuncts(condition.expression)
    else:
        yield condition


def _is_key(condition: exp.Expr) -> bool:
    """Whether rows are found by `a = b`, `a = ?` or a query."""
    is_equal = isinstance(condition, exp.EQ | exp.NullSafeEQ)
    is_of_column = any(isinstance(side, exp.Column) for side in condition.iter_expressions())
    return (is_equal and is_of_column) or condition.find(exp.Query) is not None


@frozen
class ParsedColumnEdge:
    """A column of a table that a statement reads has a part in one that it writes.

    Attributes:
        table: The table written, named as the statement's accesses name it; empty for the result
            of a query that writes nothing.
        column: `*` for all of them, or where it is not known which.
        from_table: Empty for what the task sends, as parameters or literals.
        masking: The operation that hides the value.
        ordinal: As in `ColumnEdge`.
    """

    table: Name
    column: str
    from_table: Name
    from_column: str
    subtype: Subtype
    masking: Masking = Masking.NONE
    ordinal: str = ""

    @property
    def is_of_own_rows(self) -> bool:
        """Whether a table's own columns decide which of its rows are changed: no data moves."""
        return (
            self.from_table == self.table != ()
            and self.subtype.type is EdgeType.INDIRECT
            and (
                not self.subtype.is_of_one_value
                or self.column.casefold() in (ANY_COLUMN, self.from_column.casefold())
            )
        )


@dataclass(slots=True)
class EdgeCollector:
    """The edges of one statement that leads to one target.

    Attributes:
        result: The columns of the query that fills it; empty where one is not known.
    """

    scope: QueryScope
    target: Name
    edges: dict[ParsedColumnEdge, None]
    row_inputs: InputColumns = NOTHING
    result: tuple[str, ...] = ()

    def add_edges(
        self, column: str, inputs: InputColumns, table: Name | None = None, ordinal: str = ""
    ) -> None:
        """Add the inputs of a column of the target, or of another table."""
        target = self.target if table is None else table
        for input_column in sorted(sent_as(inputs, "" if column == ANY_COLUMN else column)):
            if input_column.source == VARIABLE:
                if input_column.subtype.type is EdgeType.DIRECT:
                    self.scope.context.gap("what a variable holds is not followed")
                continue
            edge = ParsedColumnEdge(target, column, *input_column, ordinal=ordinal)
            # What decides on rows of a table of the session goes on to others: `_delete` adds it.
            is_short = edge.is_of_own_rows and target[-1].startswith(_SESSION_SIGNS)
            if input_column.column and not is_short:
                self.edges[edge] = None

    def add_row_edges(self, inputs: InputColumns) -> None:
        """Add the inputs that decide on the rows of the target."""
        self.row_inputs |= inputs
        self.add_edges(ANY_COLUMN, inputs)

    @property
    def columns(self) -> Sequence[str]:
        """The target's columns as the schema has them."""
        return self.scope.context.columns(self.target)


def merge(tree: exp.Expr, collector: EdgeCollector) -> None:
    """Add the edges of a MERGE."""
    scope = collector.scope
    target = target_rowset(tree.this, scope)
    first = len(scope.rowsets)
    collector.add_row_edges(add_sources(tree.args["using"], scope))
    sources = scope.rowsets[first:]
    source = Rowset((), [column for rowset in sources for column in rowset.columns])
    joins = clause_inputs(tree.args.get("on"), scope, Subtype.JOIN).union(
        *(rowset.influences for rowset in sources)
    )
    collector.add_row_edges(joins)
    only_source = collector.scope.inner(*sources)
    whens = tree.args.get("whens")
    for when in whens.expressions if whens else ():
        condition = when.args.get("condition")
        collector.add_row_edges(clause_inputs(condition, scope, Subtype.FILTER))
        action = when.args.get("then")
        if not isinstance(action, exp.Insert | exp.Update):
            continue
        if any(isinstance(part, exp.Star) for part in (action.this, *action.expressions)):
            fill(collector, _same_names(source, collector.columns))
        elif isinstance(action, exp.Update):
            assign(action.expressions, collector, scope, target, condition, joins)
        elif action.expression:
            _insert_values(action, collector, only_source)


def _same_names(source: Rowset, columns: Sequence[str]) -> Rowset:
    """`UPDATE SET *`, `INSERT *`: the columns of the source that the target has too."""
    shared = [
        RowsetColumn(name, input_columns)
        for name in columns
        if (input_columns := source.find(name)) is not None
    ]
    return Rowset((), shared or source.columns)


def _insert_values(action: exp.Expr, collector: EdgeCollector, scope: QueryScope) -> None:
    named = [column.name for column in action.this.expressions] if action.this else []
    names = named or collector.columns
    values = action.expression.expressions
    if len(names) < len(values):
        scope.context.gap("the target's columns are not known")
    if len(values) == 1:
        values = values * len(names)  # equal values were folded into one
    for name, value in zip(names, values, strict=False):
        collector.add_edges(name, inputs(value, scope))


_log = logging.getLogger(__name__)

_NAMED = (exp.Alias, exp.Column, exp.Star)
_CHANGES = (exp.Delete, exp.Insert, exp.Merge, exp.Update)


class FollowedColumns(NamedTuple):
    """The columns of a statement, as far as they are known.

    Attributes:
        result: The columns of the query that fills its target; empty where one is not known.
    """

    edges: tuple[ParsedColumnEdge, ...]
    gap: str = ""
    result: tuple[str, ...] = ()


def column_edges(
    tree: exp.Expr,
    reads: Sequence[Name],
    writes: Sequence[Name],
    dialect: Dialect,
    columns: Callable[[Name], Sequence[str]] = lambda _: (),
    outputs: Sequence[exp.Expr] = (),
    holding_data: frozenset[str] = frozenset(),
) -> FollowedColumns:
    """The column edges of a statement, and why some are missing where some are.

    Args:
        tree: Small enough to be walked by recursion.
        outputs: What OUTPUT … INTO writes, as INSERT … SELECT.
        holding_data: The variables, folded, that were filled from tables.
    """
    tables = {tuple(part.casefold() for part in name if part): name for name in (*writes, *reads)}
    sends = dialect is Dialect.TSQL and not reads and isinstance(tree, _CHANGES)
    context = QueryContext(
        dialect.value, tables, columns, query_rowset, sends, holding_data=holding_data
    )
    collector = EdgeCollector(QueryScope(context), writes[0] if writes else (), {})
    follow = _STATEMENTS.get(type(tree), _query if isinstance(tree, exp.Query) else None)
    if follow is None:
        return FollowedColumns((), "not supported for this statement" if reads and writes else "")
    try:
        add_ctes(tree, collector.scope)
        follow(tree, collector)
        for output in outputs:
            _output(output, collector)
    except (AttributeError, IndexError, KeyError, TypeError, RecursionError):
        # sqlglot's trees have no schema: a form that we do not know costs its columns only.
        _log.debug("a statement has an unknown form", exc_info=True)
        context.gap("the statement has an unknown form")
    gap = ", ".join(context.gaps) if writes else ""
    edges = tuple(collector.edges)
    if isinstance(tree, exp.Create):  # the files of an external table are written with it
        edges += tuple(replace(edge, table=other) for other in writes[1:] for edge in edges)
    return FollowedColumns(edges, gap, collector.result)


def _query(tree: exp.Expr, collector: EdgeCollector) -> None:
    fill(collector, query_rowset(tree, collector.scope))


def _define(tree: exp.Expr, collector: EdgeCollector) -> None:
    """`CREATE VIEW v AS SELECT …`, `CACHE TABLE`, `ALTER VIEW`; other changes have no columns."""
    for query in tree.args.get("actions") or [tree.expression]:
        if isinstance(query, exp.Query):
            fill(collector, query_rowset(query, collector.scope), _column_names(tree.this))


def _column_names(target: exp.Expr | None) -> list[str]:
    """The columns in brackets after a target."""
    return [column.name for column in target.expressions] if isinstance(target, exp.Schema) else []


def _insert(tree: exp.Expr, collector: EdgeCollector) -> None:
    source = tree.expression or tree.args.get("source")  # INSERT INTO n TABLE t
    if not isinstance(source, exp.Query | exp.Table | exp.Values):
        return
    rowset = query_rowset(source, collector.scope)
    named = _column_names(tree.this)
    names = named or _positions(tree, collector)
    ordinals: list[str] = []
    is_less = not rowset.is_open and len(rowset.columns) < len(names)
    if isinstance(source, exp.Values):
        rowset = rowset.rename((), names)
    elif is_less and not named and collector.scope.context.dialect == Dialect.TSQL:
        # Those that SQL Server fills itself are left out, and no list says which these are.
        collector.scope.context.gap("the target has other columns than those that are inserted")
        names = [ANY_COLUMN] * len(rowset.columns)
    filled = any(column.inputs - {SENT} for column in rowset.columns)
    if filled and not (names or tree.args.get("by_name")):
        collector.scope.context.gap(MATCHED_BY_NAME)
        names, ordinals = _guessed_names(source, rowset), _ordinals(rowset)
    fill(collector, rowset, names, ordinals)
    names = [*names, *(column.name for column in rowset.columns[len(names) :])]
    inserted = zip(names, (column.inputs for column in rowset.columns), strict=False)
    excluded = Rowset(("excluded",), list(starmap(RowsetColumn, inserted)))
    for key in tree.args.get("using") or ():  # REPLACE USING (a)
        keys = excluded.find(key.name) or NOTHING
        collector.add_row_edges(transform_inputs(keys, Subtype.JOIN))
    scope = collector.scope.inner(excluded).inner()
    conflict, where = tree.args.get("conflict"), tree.args.get("where")
    if conflict or where:
        _replace(conflict, where, target_rowset(_table(tree), scope), collector, scope)


def _table(insert: exp.Expr) -> exp.Table:
    table: exp.Table = insert.this.this if isinstance(insert.this, exp.Schema) else insert.this
    return table


def _replace(
    conflict: exp.Expr | None,
    where: exp.Expr | None,
    target: Rowset,
    collector: EdgeCollector,
    scope: QueryScope,
) -> None:
    """`ON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE …`; `REPLACE WHERE …` of Databricks."""
    changed = conflict and conflict.args.get("where")
    for condition in (changed, where):
        collector.add_row_edges(clause_inputs(condition, scope, Subtype.FILTER))
    if conflict:
        assign(conflict.expressions, collector, scope, target, changed and changed.this)


def _guessed_names(source: exp.Expr, rowset: Rowset) -> list[str]:
    """The columns of a target by those of a query: a name that is not alone tells nothing."""
    if rowset.is_open or len(source.expressions) != len(rowset.columns):
        return []
    names = Counter(column.name.casefold() for column in rowset.columns)
    return [
        column.name
        if isinstance(node, _NAMED) and names[column.name.casefold()] == 1
        else ANY_COLUMN
        for node, column in zip(source.expressions, rowset.columns, strict=True)
    ]


def _ordinals(rowset: Rowset) -> list[str]:
    """The places of a query's columns among those of its target; none where not all are known."""
    width = len(rowset.columns)
    if not rowset.is_open:
        return [f"{at}/{width}" for at in range(1, width + 1)]
    is_star = width == 1 and len(rowset.columns[0].inputs) == 1
    return [ANY_COLUMN] if is_star else []


def _inserts(tree: exp.Expr, collector: EdgeCollector) -> None:
    """`FROM t INSERT INTO a SELECT … INSERT INTO b SELECT …`: each SELECT is of what FROM names."""
    context = collector.scope.context
    for insert in tree.expressions:
        target = _inserted_table(insert, context)
        if target is None:
            continue
        insert.expression.set("from_", exp.From(this=tree.args["source"].copy()))
        _insert(insert, EdgeCollector(collector.scope, target, collector.edges))


def _inserted_table(insert: exp.Expr, context: QueryContext) -> Name | None:
    name = find_table(table_parts(_table(insert)), context)
    if name is None:
        context.gap("the statement has an unknown form")
    return name


def _output(insert: exp.Expr, collector: EdgeCollector) -> None:
    """OUTPUT … INTO: the rows that a statement changes, before and after, go into another table."""
    target = _inserted_table(insert, collector.scope.context)
    if target is None:
        return
    changed = [
        table_rowset((name,), collector.target, collector.columns)
        for name in ("inserted", "deleted")
    ]
    other = EdgeCollector(collector.scope.inner(*changed), target, collector.edges)
    _insert(insert, other)
    other.add_row_edges(collector.row_inputs)


def _positions(tree: exp.Expr, collector: EdgeCollector) -> list[str]:
    """The target's columns after its schema; those of PARTITION (…) come last or not at all."""
    if tree.args.get("by_name"):
        return []
    partition = tree.find(exp.Partition)
    parts = partition.expressions if partition else []
    static = {part.this.name.casefold() for part in parts if isinstance(part, exp.EQ)}
    dynamic = [part.name for part in parts if not isinstance(part, exp.EQ)]
    partitioned = static | {name.casefold() for name in dynamic}
    first = [name for name in collector.columns if name.casefold() not in partitioned]
    return [*first, *dynamic] if first else []


def _update(tree: exp.Expr, collector: EdgeCollector) -> None:
    scope = collector.scope
    source = tree.args.get("from_")
    joins = add_sources(source.this, scope) if source else NOTHING
    if tree.this.args.get("joins"):  # MySQL
        joins |= add_sources(tree.this, scope)
        target = scope.rowsets[0]
    else:
        target = target_rowset(tree.this, scope)
    joins |= _influences(scope)
    where = tree.args.get("where")
    collector.add_row_edges(joins | clause_inputs(where, scope, Subtype.FILTER))
    assign(tree.expressions, collector, scope, target, where and where.this, joins)


def _influences(scope: QueryScope) -> InputColumns:
    return NOTHING.union(*(rowset.influences for rowset in scope.rowsets))


def _delete(tree: exp.Expr, collector: EdgeCollector) -> None:
    scope = collector.scope
    named: list[exp.Expr] = tree.args.get("tables") or []
    joins = NOTHING
    # The target comes last: JOIN … USING (a) among the others is not of its column.
    for source in [*(tree.args.get("using") or ()), tree.this or named[0]]:
        joins |= add_sources(source, scope)
    for target in named:
        target_rowset(target, scope)
    joins |= _influences(scope)
    where = tree.args.get("where")
    collector.add_row_edges(joins | clause_inputs(where, scope, Subtype.FILTER))
    table = collector.target
    if table and table[-1].startswith(_SESSION_SIGNS):  # what is left goes on to others
        itself = _deciding_itself(where and where.this, joins, scope, table)
        for input_column in transform_inputs(itself, Subtype.FILTER):
            collector.edges[ParsedColumnEdge(table, ANY_COLUMN, *input_column)] = None


_STATEMENTS: Mapping[type[exp.Expr], Callable[[exp.Expr, EdgeCollector], None]] = {
    **dict.fromkeys((exp.Alter, exp.Cache, exp.Create), _define),
    exp.Delete: _delete,
    exp.Insert: _insert,
    exp.Merge: merge,
    exp.MultitableInserts: _inserts,
    exp.Update: _update,
}
