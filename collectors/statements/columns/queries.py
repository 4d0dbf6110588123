"""A query -> its result: the columns, and the inputs that decide which rows there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from sqlglot import exp

from dbt_graft.collectors.statements.columns.dialect_rules import (
    ALIASES_FIRST,
    GROUP_ALIASES_FIRST,
    LATERAL_ALIASES,
    NO_GROUP_ALIASES,
    SOURCES_FIRST_IN_ORDERS,
    VALUES_NAMES,
    WHERE_ALIASES,
)
from dbt_graft.collectors.statements.columns.expressions import (
    clause_inputs,
    inputs,
    inputs_of_all,
    window_inputs,
)
from dbt_graft.collectors.statements.columns.pivots import pivot_statement
from dbt_graft.collectors.statements.columns.projections import project_columns
from dbt_graft.collectors.statements.columns.query_scope import QueryScope
from dbt_graft.collectors.statements.columns.rowsets import (
    NOTHING,
    InputColumns,
    Rowset,
    RowsetColumn,
    transform_inputs,
)
from dbt_graft.collectors.statements.columns.sources import add_joins, add_sources
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.records import ANY_COLUMN, Subtype


def connect_inputs(connect: exp.Expr, scope: QueryScope) -> InputColumns:
    """START WITH … CONNECT BY …, a join of a table with itself."""
    start = clause_inputs(connect.args.get("start"), scope, Subtype.FILTER)
    return start | clause_inputs(connect.args.get("connect"), scope, Subtype.JOIN)


def match_inputs(match: exp.Expr, scope: QueryScope) -> InputColumns:
    """MATCH_RECOGNIZE: the measures of a pattern in sorted rows; `up.a` is `a` of such a row."""
    source = scope.rowsets[-1]
    variables = {
        column.parts[0].name.casefold() for column in match.find_all(exp.Column) if column.table
    }
    inside = scope.inner(*(Rowset((name,), source.columns) for name in variables)).inner(source)
    partition = match.args.get("partition_by") or []
    order = match.args.get("order")
    window = transform_inputs(
        inputs_of_all([*partition, *([order] if order else [])], inside), Subtype.WINDOW
    )
    rows = match.args.get("rows")
    remaining = [
        RowsetColumn(expression.output_name, inputs(expression, inside)) for expression in partition
    ]
    if rows is not None and rows.name.upper().startswith("ALL"):
        remaining = list(source.columns)
    measures = [
        RowsetColumn(
            measure.this.output_name,
            transform_inputs(inputs(measure.this, inside), Subtype.TRANSFORMATION) | window,
        )
        for measure in match.args.get("measures") or ()
    ]
    alias = match.args.get("alias")
    path = (alias.name.casefold(),) if alias and alias.name else source.path
    scope.rowsets[-1] = Rowset(path, [*remaining, *measures], source.influences)
    return transform_inputs(inputs_of_all(match.args.get("define") or (), inside), Subtype.FILTER)


_ORDERS = ("order", "sort", "cluster", "distribute")
# A recursive query is followed again until its columns stay the same, but not more often.
_MOST_ROUNDS = 4


def query_rowset(node: exp.Expr, outer: QueryScope) -> Rowset:
    """The rows of a SELECT, of a set operation (UNION…), of TABLE or VALUES.

    Common table expressions of the query are known in it and below.
    """
    scope = outer.inner()
    add_ctes(node, scope)
    if isinstance(node, exp.SetOperation):
        return _order_rows(node, _union(node, scope), scope)
    if isinstance(node, exp.Select):
        return _select(node, scope)
    if isinstance(node, exp.Subquery | exp.Paren):
        return _order_rows(node, query_rowset(node.this, scope), scope)
    if isinstance(node, exp.Table):  # TABLE t
        add_sources(node, scope)
        return scope.rowsets[0]
    if isinstance(node, exp.Pivot):
        add_sources(node.this, scope)
        return pivot_statement(node, scope.rowsets[0], scope)
    return _values(node, scope)


def _values(node: exp.Expr, scope: QueryScope) -> Rowset:
    """VALUES: columns with the inputs of their place in all rows, and the names of the dialect."""
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
    prefix, first = VALUES_NAMES.get(scope.context.dialect, ("", 0))
    return Rowset(
        (),
        [
            RowsetColumn(
                f"{prefix}{at}" if prefix else "", inputs_of_all(filter(None, values), scope)
            )
            for at, values in enumerate(zip_longest(*rows), start=first)
        ],
    )


def add_ctes(node: exp.Expr, scope: QueryScope) -> None:
    """Make the common table expressions of a statement known in a scope."""
    clause = node.args.get("with_")
    for cte in clause.expressions if clause else ():
        name = cte.alias.casefold()
        if cte.args.get("scalar"):  # ClickHouse: WITH a + 1 AS b
            scope.constants = {**scope.constants, name: cte.this}
            continue
        names = [column.name for column in cte.args["alias"].args.get("columns") or ()]
        body = cte.this
        if isinstance(body, exp.SetOperation) and any(
            table.name.casefold() == name for table in body.find_all(exp.Table)
        ):
            # A recursive one begins with the branch that does not name it.
            rowset = query_rowset(body.left, scope).rename((name,), names)
            for _ in range(_MOST_ROUNDS):
                scope.ctes[name], before = rowset, rowset.columns
                rowset = query_rowset(body, scope).rename((name,), names)
                if rowset.columns == before:
                    break
            scope.ctes[name] = rowset
            continue
        scope.ctes[name] = query_rowset(body, scope).rename((name,), names)


def _union(node: exp.SetOperation, scope: QueryScope) -> Rowset:
    # A thousand UNIONs are nested to the left.
    operations, left = [node], node.this
    while isinstance(left, exp.SetOperation) and not left.args.get("with_"):
        operations.append(left)
        left = left.this
    rowset = query_rowset(left, scope)
    for operation in reversed(operations):
        other = query_rowset(operation.expression, scope)
        compared = _compared_values(operation, (rowset, other))
        if isinstance(operation, exp.Except):
            # The values of the second query only decide.
            rowset = Rowset((), rowset.columns, rowset.influences | other.influences | compared)
            continue
        is_aligned = scope.context.tables is None and _stars_alike(rowset, other)
        if operation.args.get("by_name") and not is_aligned:
            columns = list(_pair_by_name(rowset, other))
        else:
            columns = list(_pair_by_place(rowset, other, is_aligned))
        if (
            operation.args.get("by_name")
            and str(operation.args.get("kind") or "").upper() == "INNER"
        ):
            columns = [
                column for column in columns if rowset.has(column.name) and other.has(column.name)
            ]
        rowset = Rowset((), columns, rowset.influences | other.influences | compared)
    return rowset


def _compared_values(operation: exp.SetOperation, rowsets: Iterable[Rowset]) -> InputColumns:
    """The values that decide which rows remain; UNION ALL compares none."""
    if isinstance(operation, exp.Union):
        if not operation.args.get("distinct"):
            return NOTHING
        subtype = Subtype.GROUP_BY
    else:
        subtype = Subtype.FILTER
    return _all_inputs((column for rowset in rowsets for column in rowset.columns), subtype)


def _all_inputs(columns: Iterable[RowsetColumn], subtype: Subtype) -> InputColumns:
    return transform_inputs(NOTHING.union(*(column.inputs for column in columns)), subtype)


def _pair_by_place(left: Rowset, right: Rowset, is_aligned: bool) -> Iterator[RowsetColumn]:
    if not is_aligned and (left.is_open or right.is_open):
        # It is not known which columns belong together.
        yield from left.columns
        yield from right.columns
        return
    for left_column, right_column in zip(left.columns, right.columns, strict=False):
        yield RowsetColumn(left_column.name, left_column.inputs | right_column.inputs)


def _stars_alike(left: Rowset, right: Rowset) -> bool:
    """Whether both have one `*`, at the same place: then the columns around it match."""
    stars = [
        [at for at, column in enumerate(rowset.columns) if column.name == ANY_COLUMN]
        for rowset in (left, right)
    ]
    return stars[0] == stars[1] and len(stars[0]) == 1 and len(left.columns) == len(right.columns)


def _pair_by_name(left: Rowset, right: Rowset) -> Iterator[RowsetColumn]:
    for column in left.columns:
        yield RowsetColumn(column.name, column.inputs | (right.find(column.name) or NOTHING))
    yield from (column for column in right.columns if not left.knows(column.name.casefold()))


def _select(node: exp.Select, scope: QueryScope) -> Rowset:
    args = node.args
    source = args.get("from_")
    deciding = add_sources(source.this, scope) if source else NOTHING
    deciding |= add_joins(node, scope)
    deciding |= NOTHING.union(*(rowset.influences for rowset in scope.rowsets))
    if args.get("match"):
        deciding |= match_inputs(args["match"], scope)
    if args.get("connect"):
        scope.levels = True
        deciding |= connect_inputs(args["connect"], scope)
    for window in args.get("windows") or ():
        scope.windows[window.name.casefold()] = window_inputs(window, scope)
    columns = _projections(node, scope)
    deciding |= scope.lists
    if args.get("kind") == "VALUE":  # SELECT AS VALUE: the row is a struct
        columns = list(columns[0].fields) or [RowsetColumn(ANY_COLUMN, columns[0].inputs)]
    if args.get("for_"):  # FOR JSON, FOR XML: one text of all
        columns = [
            RowsetColumn(column.name, transform_inputs(column.inputs, Subtype.TRANSFORMATION))
            for column in columns
        ]
    deciding |= _filters(args, scope) | _groups(node, columns, scope)
    rows = Rowset((), columns, deciding, behind=_table_behind(node, scope))
    return _order_rows(node, rows, scope)


def _table_behind(node: exp.Select, scope: QueryScope) -> Name | None:
    """The table of which a query takes all columns by `*`, and nothing of another one."""
    if len(scope.rowsets) != 1:
        return None
    takes_all = any(
        isinstance(star, exp.Star) and not any(star.args.values())
        for star in (p.this if isinstance(p, exp.Column) else p for p in node.expressions)
    )
    return scope.rowsets[0].behind if takes_all else None


def _filters(args: Mapping[str, Any], scope: QueryScope) -> InputColumns:
    """The inputs of WHERE, which knows the aliases of SELECT in some dialects only."""
    aliases = scope.aliases
    if scope.context.dialect not in WHERE_ALIASES:
        scope.aliases = {}
    where = clause_inputs(args.get("where"), scope, Subtype.FILTER)
    where |= clause_inputs(args.get("prewhere"), scope, Subtype.FILTER)
    scope.aliases = aliases
    return where


def _groups(node: exp.Select, columns: Sequence[RowsetColumn], scope: QueryScope) -> InputColumns:
    """The inputs of the clauses that follow WHERE and make fewer rows of many."""
    if scope.context.dialect in NO_GROUP_ALIASES:
        scope.aliases = {}
    args, deciding = node.args, NOTHING
    if args.get("group"):
        deciding |= _group_inputs(args["group"], node.expressions, columns, scope)
    for clause in ("having", "qualify"):
        deciding |= clause_inputs(args.get(clause), scope, Subtype.FILTER)
    if distinct := args.get("distinct"):
        on = distinct.args.get("on")  # DISTINCT ON (a)
        deciding |= (
            clause_inputs(on, scope, Subtype.GROUP_BY)
            if on
            else _all_inputs(columns, Subtype.GROUP_BY)
        )
    limit = args.get("limit")
    if limit and limit.args.get("expressions"):  # LIMIT 1 BY a
        deciding |= transform_inputs(inputs_of_all(limit.expressions, scope), Subtype.GROUP_BY)
    return deciding


def _projections(node: exp.Select, scope: QueryScope) -> list[RowsetColumn]:
    """The columns of SELECT; from left to right they become aliases, if they can be named so."""
    dialect = scope.context.dialect
    if dialect in ALIASES_FIRST:
        aliases = {
            projection.alias.casefold(): projection.this
            for projection in node.expressions
            if projection.alias
        }
        scope.expressions = {**scope.constants, **aliases}
    aliases_now = scope.aliases if dialect in LATERAL_ALIASES else {}
    columns: list[RowsetColumn] = []
    for projection in node.expressions:
        for column in project_columns(projection, scope, len(columns)):
            columns.append(column)
            aliases_now.setdefault(column.name.casefold(), column.inputs)
    if dialect != Dialect.TSQL:
        scope.aliases = aliases_now
    return columns


def _order_rows(node: exp.Expr, rowset: Rowset, scope: QueryScope) -> Rowset:
    """The same rows, sorted: ORDER BY names columns of the result first, then of the sources.

    In some dialects an expression in it names those of the sources first.
    """
    for clause in ("limit", "offset"):
        count = node.args.get(clause)
        if count and count.find(exp.Query):  # LIMIT (SELECT …); else it is a number or a variable
            counted = clause_inputs(count.expression, scope, Subtype.FILTER)
            rowset = Rowset(
                rowset.path, rowset.columns, rowset.influences | counted, behind=rowset.behind
            )
    orders = [node.args[clause] for clause in _ORDERS if node.args.get(clause)]
    if not orders:
        return rowset
    columns = [column for column in rowset.columns if column.name != ANY_COLUMN]
    result = Rowset((), columns if scope.rowsets else rowset.columns)
    inside = scope.inner(result)
    has_sources = scope.rowsets and scope.context.dialect in SOURCES_FIRST_IN_ORDERS
    computed = scope if has_sources else inside
    is_cut = bool(node.args.get("limit") or node.args.get("offset"))
    sort_inputs = [
        _order_inputs(order, rowset.columns, inside, computed, is_cut) for order in orders
    ]
    deciding = transform_inputs(NOTHING.union(*sort_inputs), Subtype.SORT)
    influences = rowset.influences | deciding
    return Rowset(rowset.path, rowset.columns, influences, behind=rowset.behind)


# -- GROUP BY and ORDER BY, which name columns of the result by place, by alias, or all of them


def _group_inputs(
    group: exp.Expr,
    projections: Sequence[exp.Expr],
    columns: Sequence[RowsetColumn],
    scope: QueryScope,
) -> InputColumns:
    """The inputs of `GROUP BY a, 2, ALL, ROLLUP (b)`; `?` is a place, taken out as a value."""
    input_columns, keys = NOTHING, list(_group_keys(group))
    if group.args.get("all") or any(isinstance(key, exp.Placeholder) for key in keys):
        input_columns = inputs_of_all(
            [projection for projection in projections if not _is_aggregated(projection)], scope
        )
    for node in keys:
        input_columns |= _at_place(node, columns) or _by_alias(node, scope) or inputs(node, scope)
    return transform_inputs(input_columns, Subtype.GROUP_BY)


def _group_keys(node: exp.Expr) -> Iterator[exp.Expr]:
    """The keys of a grouping, of each set in ROLLUP, CUBE and GROUPING SETS too."""
    for part in node.iter_expressions():
        if isinstance(part, exp.Cube | exp.GroupingSets | exp.Paren | exp.Rollup | exp.Tuple):
            yield from _group_keys(part)
        else:
            yield part


def _order_inputs(
    order: exp.Expr,
    columns: Sequence[RowsetColumn],
    scope: QueryScope,
    computed: QueryScope,
    is_cut: bool,
) -> InputColumns:
    """The inputs of `ORDER BY a, 2, ALL`; of `ORDER BY a + 1` in the scope for what is computed.

    Args:
        is_cut: Only the first of the sorted rows are taken.
    """
    input_columns = NOTHING
    for node in order.expressions:
        value = node.this if isinstance(node, exp.Ordered) else node
        if isinstance(value, exp.Placeholder) and is_cut:
            scope.context.gap("a column's place in ORDER BY was taken out as a value")
        elif isinstance(value, exp.Var) and value.name.upper() == "ALL":
            input_columns = input_columns.union(*(column.inputs for column in columns))
        else:
            around = scope if isinstance(value, exp.Column) else computed
            input_columns |= _at_place(value, columns) or inputs(value, around)
    return input_columns


def _at_place(node: exp.Expr, columns: Sequence[RowsetColumn]) -> InputColumns:
    if not isinstance(node, exp.Literal) or not node.is_int:
        return NOTHING
    at = int(node.this) - 1
    return columns[at].inputs if at < len(columns) else NOTHING


def _by_alias(node: exp.Expr, scope: QueryScope) -> InputColumns:
    is_name = isinstance(node, exp.Column) and len(node.parts) == 1
    if not is_name or scope.context.dialect not in GROUP_ALIASES_FIRST:
        return NOTHING
    return scope.aliases.get(node.name.casefold(), NOTHING)


def _is_aggregated(projection: exp.Expr) -> bool:
    """Whether a projection has an aggregate that is no window function."""
    return any(
        not isinstance(aggregate.parent, exp.Window)
        for aggregate in projection.find_all(exp.AggFunc)
    )
