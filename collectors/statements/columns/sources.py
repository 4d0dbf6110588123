"""The sources of a query -> rowsets: tables, derived tables, functions, PIVOT, JOIN by JOIN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.statements.columns.expressions import (
    WRITTEN_OUT,
    clause_inputs,
    inputs,
    list_inputs,
)
from dbt_graft.collectors.statements.columns.outside_rows import (
    called_function,
    function_name,
    not_followed,
    outside_rows,
)
from dbt_graft.collectors.statements.columns.pivots import pivot_rowset
from dbt_graft.collectors.statements.columns.projections import made_columns
from dbt_graft.collectors.statements.columns.query_scope import QueryContext, QueryScope
from dbt_graft.collectors.statements.columns.rowsets import (
    NOTHING,
    InputColumns,
    Rowset,
    RowsetColumn,
    table_rowset,
    transform_inputs,
)
from dbt_graft.collectors.statements.columns.tree import identifier_name
from dbt_graft.collectors.statements.text.names import Name
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

# The columns of table functions that have names of their own.
_RESULTS = {
    "generateseries": ["value"],
    "openjson": ["key", "value", "type"],
    "string_split": ["value", "ordinal"],
}


# Functions for a table by a value, or for the result of another query.
_OTHER_TABLES = frozenset({"dynamicidentifier", "result_scan"})
# Functions that make rows of their arguments alone, among those that sqlglot does not know.
_GENERATORS = words("""
    dual explode explode_outer flatten generate_series generate_subscripts generaterandom
    generator inline inline_outer json_array_elements json_array_elements_text json_each
    json_each_text json_object_keys json_populate_record json_populate_recordset json_table
    json_to_record json_to_recordset json_tree jsonb_array_elements jsonb_array_elements_text
    jsonb_each jsonb_each_text jsonb_object_keys jsonb_populate_record jsonb_populate_recordset
    jsonb_to_record jsonb_to_recordset null numbers numbers_mt openjson openxml posexplode
    posexplode_outer range regexp_matches regexp_split_to_table sequence split_to_table stack
    string_split string_to_table strtok_split_to_table unnest values xmltable zeros zeros_mt""")
# Functions that make as many rows of any value.
_OF_FIXED_ROWS = frozenset({"json_tuple", "stack"})
# FROM t, t.items
_ARRAYS_IN_FROM = frozenset({"bigquery", "redshift"})


def add_sources(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """Add the sources after FROM or JOIN to a scope; return the inputs of the join conditions."""
    deciding = NOTHING
    if isinstance(node, exp.Final):  # FROM t FINAL
        node = node.this
    if _is_bracket(node):
        deciding |= _add_bracket(node, scope)
    else:
        scope.rowsets.append(pivot_rowset(node, _rowset(node, scope), scope))
    return deciding | add_joins(node, scope)


def _is_bracket(node: exp.Expr) -> bool:
    """Whether brackets hold sources: `(a JOIN b ON …)`, `((SELECT …) q JOIN b ON …)`."""
    if not isinstance(node, exp.Subquery):
        return False
    inner = node.this
    is_source = isinstance(inner, exp.Subquery) and (inner.alias or inner.args.get("joins"))
    return bool(is_source) or isinstance(inner, exp.Table) or _is_bracket(inner)


def _add_bracket(node: exp.Expr, scope: QueryScope) -> InputColumns:
    path, names = _alias(node)
    if not path:
        return add_sources(node.this, scope)
    inside = scope.inner()
    deciding = add_sources(node.this, inside)
    columns = [column for rowset in inside.rowsets for column in rowset.columns]
    influences = NOTHING.union(*(rowset.influences for rowset in inside.rowsets))
    scope.rowsets.append(Rowset((), columns, influences).rename(path, names))
    return deciding


def add_joins(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """Add the tables joined to a scope; return the inputs of the join conditions."""
    deciding = NOTHING
    for join in node.args.get("joins") or ():
        if join.args.get("kind") == "ARRAY":
            deciding |= _array_join(join, scope)
            continue
        first = len(scope.rowsets)
        deciding |= add_sources(join.this, scope)
        for condition in ("on", "match_condition"):
            deciding |= clause_inputs(join.args.get(condition), scope, Subtype.JOIN)
        names = [shared.name for shared in join.args.get("using") or ()]
        if join.args.get("method") == "NATURAL":
            names = _shared_names(scope, first)
        for name in names:
            deciding |= _share(name, join, scope, first)
        if join.args.get("kind") in {"SEMI", "ANTI"} and scope.context.dialect != "clickhouse":
            # The rows of the other table only decide.
            deciding |= NOTHING.union(*(rowset.influences for rowset in scope.rowsets[first:]))
            del scope.rowsets[first:]
    for lateral in node.args.get("laterals") or ():
        scope.rowsets.append(_rowset(lateral, scope))
    return deciding


def _array_join(join: exp.Expr, scope: QueryScope) -> InputColumns:
    """`ARRAY JOIN a, b AS c` of ClickHouse: an element takes the place of an array."""
    deciding = list_inputs((join.this, *join.expressions), scope)
    for array in (join.this, *join.expressions):
        items = transform_inputs(inputs(array, scope), Subtype.TRANSFORMATION)
        if array.alias:
            scope.rowsets.append(Rowset((), [RowsetColumn(array.alias, items)]))
        else:
            scope.shared[array.output_name.casefold()] = items
    return deciding


def _shared_names(scope: QueryScope, first: int) -> list[str]:
    """The columns that both sides of a NATURAL JOIN have."""
    if any(rowset.is_open for rowset in scope.rowsets):
        scope.context.gap("a natural join of tables whose columns are not known")
        return []
    left = {column.name.casefold() for rowset in scope.rowsets[:first] for column in rowset.columns}
    right = [column.name for rowset in scope.rowsets[first:] for column in rowset.columns]
    return [name for name in right if name.casefold() in left]


def _share(name: str, join: exp.Expr, scope: QueryScope, first: int) -> InputColumns:
    """Make a column of USING one; return both sides, which decide."""
    folded = name.casefold()
    left = scope.shared.get(folded) or _first(scope.rowsets[:first], name)
    right = _first(scope.rowsets[first:], name)
    match join.args.get("side"):
        case "RIGHT":
            shared = right
        case "FULL":
            shared = transform_inputs(left | right, Subtype.TRANSFORMATION)
        case _:
            shared = left or right
    scope.shared[folded] = shared
    return transform_inputs(left | right, Subtype.JOIN)


def _first(rowsets: Sequence[Rowset], name: str) -> InputColumns:
    """A column of the first rowset that has it."""
    candidates = [rowset for rowset in rowsets if rowset.knows(name.casefold())]
    return next(filter(None, (rowset.find(name) for rowset in candidates or rowsets)), NOTHING)


def _rowset(node: exp.Expr, scope: QueryScope) -> Rowset:
    path, names = _alias(node)
    if isinstance(node, exp.Table):
        return _table(node, path, names, scope)
    inner = node.this if isinstance(node, exp.Lateral) else node
    if isinstance(inner, exp.Query | exp.Values):
        return scope.context.query(inner, scope).rename(path, names)
    if isinstance(inner, exp.Unnest):
        return _unnest(inner, path, names, scope)
    if isinstance(inner, exp.AtIndex | exp.Alias | exp.Pivot) and not path:
        return _items(inner, scope)
    outside = outside_rows(inner, path, names, scope) if scope.context.tables is None else None
    if outside is not None:
        return outside
    rows = _function_rows(inner, path, names, scope)
    if not isinstance(inner, exp.Dot):
        return rows
    return _followed_rows(tuple(part.name.casefold() for part in inner.parts), rows, scope.context)


def _unnest(node: exp.Expr, path: Name, names: Sequence[str], scope: QueryScope) -> Rowset:
    """The items of arrays side by side, and with WITH ORDINALITY or WITH OFFSET their places."""
    arrays = [
        transform_inputs(inputs(array, scope), Subtype.TRANSFORMATION) for array in node.expressions
    ]
    input_columns = NOTHING.union(*arrays)
    # The items' fields are not known.
    items = ["unnest", ANY_COLUMN] if scope.context.dialect == "duckdb" else [ANY_COLUMN]
    columns = [RowsetColumn(name, input_columns) for name in names or items]
    if len(names) == len(arrays):
        columns = [RowsetColumn(*pair) for pair in zip(names, arrays, strict=True)]
    offset = node.args.get("offset")
    if offset:
        columns.append(
            RowsetColumn(offset.name if isinstance(offset, exp.Expr) else "offset", input_columns)
        )
    return Rowset(path, columns, list_inputs(node.expressions, scope))


def _items(node: exp.Expr, scope: QueryScope) -> Rowset:
    """`FROM t, t.items AS item AT place` and `UNPIVOT t.object AS value AT key` of Redshift."""
    input_columns = transform_inputs(inputs(node.find(exp.Column), scope), Subtype.TRANSFORMATION)
    names = [alias.alias for alias in node.find_all(exp.Alias)]
    places = [at.expression.name for at in node.find_all(exp.AtIndex)]
    columns = [RowsetColumn(name, input_columns) for name in (*names, *places)]
    return Rowset((), columns, transform_inputs(input_columns, Subtype.JOIN))


def _function_rows(
    function: exp.Expr, path: Name, names: Sequence[str], scope: QueryScope
) -> Rowset:
    """The rows of a table function: each column comes from its arguments, of `stack` and `inline`
    from those in its place.
    """
    gaps = dict(scope.context.gaps)
    input_columns = transform_inputs(
        inputs(function, scope.inner(*scope.rowsets)), Subtype.TRANSFORMATION
    )
    defined = (exp.OpenJSONColumnDef, exp.JSONColumnDef)
    named = names or [column.name for column in function.find_all(*defined)]
    kind = function.name if isinstance(function, exp.Anonymous) else function.key
    if kind.casefold() in _OTHER_TABLES:
        scope.context.gap("a table is named while the query runs")
    elif scope.context.tables is None and not input_columns and _is_unknown(function):
        # Names among its arguments are no columns.
        scope.context.gaps = gaps
        scope.context.gap(not_followed(function_name(called_function(function))))
    if kind.casefold() == "generateseries" and scope.context.dialect == "duckdb":
        named = named or ["range", "generate_series"]
    made = made_columns(called_function(function), scope.inner(*scope.rowsets))
    made = [column for column in made if column.name != ANY_COLUMN]
    named = named or _RESULTS.get(kind.casefold()) or [column.name for column in made]
    if not named and scope.context.dialect == "postgres":
        named = list(path)  # one value alone has the name of the table
    named = [*named, ANY_COLUMN] if named == list(path) else named or [ANY_COLUMN]
    first = next(called_function(function).iter_expressions(), None)
    is_fixed = kind.casefold() in _OF_FIXED_ROWS or isinstance(first, WRITTEN_OUT)
    deciding = NOTHING if is_fixed else transform_inputs(input_columns, Subtype.JOIN)
    by_place = [column.inputs for column in made]
    values = by_place if len(made) == len(named) else [input_columns] * len(named)
    columns = [RowsetColumn(name, value) for name, value in zip(named, values, strict=True)]
    return Rowset(path, columns, deciding)


def _is_unknown(function: exp.Expr) -> bool:
    """Whether a table function may read something that its arguments do not name as a column."""
    called = called_function(function)
    kinds = (exp.Anonymous, exp.ReadCSV, exp.ReadParquet)
    return isinstance(called, kinds) and function_name(called) not in _GENERATORS


def _table(node: exp.Table, path: Name, names: Sequence[str], scope: QueryScope) -> Rowset:
    parts = table_parts(node)
    if (
        len(parts) > 1
        and scope.context.dialect in _ARRAYS_IN_FROM
        and scope.find_rowsets(parts[:1])
    ):
        return _array(parts, path, scope)
    cte = scope.ctes.get(parts[0]) if len(parts) == 1 else None
    if cte is not None:
        return cte.rename(path or parts, names)
    outside = outside_rows(node, path, names, scope) if scope.context.tables is None else None
    if outside is not None:
        return outside
    if isinstance(node.this, exp.SemanticView):
        return _semantic_view(node.this, path, scope)
    if isinstance(node.this, exp.Func):
        rows = _function_rows(node.this, path, names, scope)
        return _followed_rows((*parts, node.this.name.casefold()), rows, scope.context)
    if scope.context.tables is None and parts == ("dual",):
        return Rowset(path or parts, [])
    table = find_table(parts, scope.context)
    if table is None or not parts:
        scope.context.gap("a table is not among those found" if parts else "an unknown source")
        return Rowset(path or parts, [RowsetColumn(ANY_COLUMN, NOTHING)])
    columns = scope.context.columns(table)
    return table_rowset(path or parts, table, columns).rename(path or parts, names)


def _followed_rows(function: Name, rows: Rowset, context: QueryContext) -> Rowset:
    """The rows of a function whose columns are known: the arguments have a part in each."""
    name = find_table(function, context) if context.tables else None
    columns = context.columns(name) if name else ()
    if name is None or not columns:
        return rows
    arguments = rows.columns[0].inputs
    return Rowset(
        rows.path or function,
        [RowsetColumn(c, arguments | {ColumnInput(name, c)}) for c in columns],
        rows.influences,
    )


def _semantic_view(view: exp.Expr, path: Name, scope: QueryScope) -> Rowset:
    """The dimensions, facts and metrics of a view of Snowflake, which are like its columns."""
    table = find_table(table_parts(view.this), scope.context)
    return table_rowset(path, table, ()) if table else Rowset(path, [])


def _array(parts: Name, path: Name, scope: QueryScope) -> Rowset:
    """The items of an array of a table before it: `FROM t, t.items AS item`."""
    column = exp.column(parts[-1], *reversed(parts[:-1]))
    input_columns = transform_inputs(inputs(column, scope), Subtype.TRANSFORMATION)
    columns = [RowsetColumn(name, input_columns) for name in (*path, ANY_COLUMN)]
    return Rowset((), columns, transform_inputs(input_columns, Subtype.JOIN))


def table_parts(node: exp.Table) -> Name:
    """The parts of a table's name, folded, without those left out."""
    return tuple(part for part in _parts(node) if part)


def _parts(node: exp.Table) -> Iterator[str]:
    for key in ("catalog", "db", "this"):
        part = node.args.get(key)
        while isinstance(part, exp.Dot):
            yield part.this.name.casefold()
            part = part.expression
        if isinstance(part, exp.Parameter | exp.Identifier):
            yield identifier_name(part)


def find_table(parts: Name, context: QueryContext) -> Name | None:
    """The table as the token scan names it: temporary ones and paths by one part, others in full.

    A query that runs on a linked server names its tables without the server.
    """
    if context.tables is None:
        context.read[parts] = None
        return parts
    table = context.tables.get(parts) or context.tables.get(parts[-1:])
    if table or not parts:
        return table
    ending = [name for key, name in context.tables.items() if key[-len(parts) :] == parts]
    return ending[0] if len(ending) == 1 else None


def _alias(node: exp.Expr) -> tuple[Name, list[str]]:
    alias = node.args.get("alias")
    if not isinstance(alias, exp.TableAlias):
        return (), []
    path = (alias.name.casefold(),) if alias.name else ()
    return path, [column.name for column in alias.args.get("columns") or ()]
