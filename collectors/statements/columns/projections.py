"""The list between SELECT and FROM -> the columns of the result: expressions, stars, COLUMNS."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import translate

from sqlglot import exp

from dbt_graft.collectors.statements.columns.expressions import inputs, inputs_of_all, made_rows
from dbt_graft.collectors.statements.columns.query_scope import QueryScope
from dbt_graft.collectors.statements.columns.rowsets import (
    NOTHING,
    InputColumns,
    RowsetColumn,
    transform_inputs,
)
from dbt_graft.collectors.statements.columns.tree import like_pattern, name_pattern
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

# They leave a struct as it is, or take one of many.
_AROUND = (exp.Alias, exp.Bracket, exp.Limit, exp.Paren)


def struct_fields(node: exp.Expr, scope: QueryScope) -> Sequence[RowsetColumn]:
    """The fields of a struct; none where it is none, or they are not known.

    `ARRAY_AGG(t ORDER BY a LIMIT 1)[OFFSET(0)]` has the columns of t.
    """
    while isinstance(node, _AROUND):
        node = node.this
    make = _STRUCTS.get(type(node))
    return make(node, scope) if make else ()


def _ordered_fields(node: exp.Expr, scope: QueryScope) -> Sequence[RowsetColumn]:
    order = transform_inputs(inputs_of_all(node.expressions, scope), Subtype.SORT)
    fields = struct_fields(node.this, scope)
    return [RowsetColumn(field.name, field.inputs | order) for field in fields]


def _aggregated_fields(node: exp.Expr, scope: QueryScope) -> Sequence[RowsetColumn]:
    return [
        RowsetColumn(field.name, transform_inputs(field.inputs, Subtype.AGGREGATION))
        for field in struct_fields(node.this, scope)
    ]


def _constructor_fields(node: exp.Expr, scope: QueryScope) -> Sequence[RowsetColumn]:
    fields = []
    for expression in node.expressions:
        is_named = isinstance(expression, exp.PropertyEQ)
        value, name = (
            (expression.expression, expression.this.name)
            if is_named
            else (expression, expression.output_name)
        )
        fields.append(RowsetColumn(name, inputs(value, scope), tuple(struct_fields(value, scope))))
    return fields


def _row_fields(node: exp.Expr, scope: QueryScope) -> Sequence[RowsetColumn]:
    """The columns of a table whose name stands for its rows."""
    if node.args.get("table"):
        return ()
    rowsets = scope.find_rowsets((node.name.casefold(),))
    return rowsets[0].columns if rowsets else ()


_STRUCTS: Mapping[type[exp.Expr], Callable[[exp.Expr, QueryScope], Sequence[RowsetColumn]]] = {
    exp.AnyValue: _aggregated_fields,
    exp.ArrayAgg: _aggregated_fields,
    exp.Column: _row_fields,
    exp.Order: _ordered_fields,
    exp.Struct: _constructor_fields,
}


_WITH_STRUCTS = frozenset({"bigquery", "databricks", "duckdb", "spark"})
# sqlglot's names of functions have underscores where they are not the engine's, but for these.
_ENGINES_NAMES = frozenset({"row_number", "dense_rank", "array_agg", "first_value", "last_value"})
_OPERATORS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Connector, exp.Predicate, exp.Not)
_WITH_COLUMNS = frozenset({"duckdb", "clickhouse"})


def project_columns(node: exp.Expr, scope: QueryScope, position: int) -> Iterable[RowsetColumn]:
    """The columns that one projection makes.

    Args:
        position: The number of columns before it, by which BigQuery names those without a name.
    """
    if type(node) is exp.Column and type(node.this) is exp.Identifier:  # most of them
        input_columns = inputs(node, scope)
        return [
            RowsetColumn(
                node.this.name, input_columns, _fields_of_struct(node, input_columns, scope)
            )
        ]
    star = node.this if isinstance(node, exp.Column) else node
    if isinstance(star, exp.Star):
        parts = node.parts[:-1] if isinstance(node, exp.Column) else []
        return _star_columns(star, tuple(part.name.casefold() for part in parts), scope)
    if isinstance(node, exp.EQ) and isinstance(node.this, exp.Parameter | exp.Placeholder):
        # `@v = a` goes into no column; `'x' = a` into one whose name was taken out.
        is_variable = isinstance(node.this, exp.Parameter)
        return [] if is_variable else [RowsetColumn("", inputs(node.expression, scope))]
    if scope.context.dialect in _WITH_COLUMNS:
        many = _expand_columns(node, scope)
        if many is not None:
            return many
    if isinstance(node, exp.Aliases):
        return _aliased_columns(node, scope)
    if made := made_columns(node, scope):
        return made
    input_columns = inputs(node, scope)
    if isinstance(node, exp.Alias) and isinstance(node.args["alias"], exp.Placeholder):
        return [RowsetColumn("", input_columns)]
    if isinstance(node, exp.Placeholder):
        return [RowsetColumn("", input_columns)]
    name = "" if isinstance(node, exp.Literal) else node.output_name
    name = name or engines_name(node, scope.context.dialect, position)
    return [RowsetColumn(name, input_columns, _fields_of_struct(node, input_columns, scope))]


def _aliased_columns(node: exp.Aliases, scope: QueryScope) -> list[RowsetColumn]:
    """The columns of `stack(2, 'x', x, 'y', y) AS (name, value)`."""
    names = [alias.name for alias in node.expressions]
    made = made_columns(node.this, scope)
    if len(made) != len(names):
        made = [RowsetColumn(ANY_COLUMN, inputs(node, scope))] * len(names)
    return [RowsetColumn(name, column.inputs) for name, column in zip(names, made, strict=True)]


_OF_ANY_TYPE = (exp.Column, exp.Dot, exp.Bracket)


def made_columns(node: exp.Expr, scope: QueryScope) -> list[RowsetColumn]:
    """The columns of an expression that makes several: `(s).*`, Spark's `inline(items)`."""
    if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Star):
        fields = struct_fields(node.this, scope)
        return list(fields) or [_made(ANY_COLUMN, [node.this], scope)]
    if scope.context.dialect == "duckdb" and isinstance(node, exp.Explode):
        # A list has one column, a struct those of its fields.
        is_struct = isinstance(node.this, exp.Column) and len(node.this.parts) == 1
        return (
            list(_fields((node.this.name.casefold(),), scope))
            if is_struct
            else [RowsetColumn(ANY_COLUMN, made_rows([node.this], scope))]
        )
    if scope.context.dialect not in {"spark", "databricks"}:
        return []
    function = node.name.casefold() if isinstance(node, exp.Anonymous) else ""
    if isinstance(node, exp.Inline) or function in {"inline", "inline_outer"}:
        return _inlined(node.expressions[0] if function else node.this, scope)
    if isinstance(node, exp.Stack):
        return _stacked(node, scope)
    if function == "json_tuple":
        count = len(node.expressions) - 1
        return [_made(f"c{place}", node.expressions, scope) for place in range(count)]
    if isinstance(node, exp.Explode) and isinstance(node.this, _OF_ANY_TYPE):
        # An array's `col`, or a map's key and value.
        return [RowsetColumn(ANY_COLUMN, made_rows([node.this], scope))]
    if isinstance(node, exp.Posexplode):
        return [RowsetColumn(name, made_rows([node.this], scope)) for name in ("pos", "col")]
    if isinstance(node, exp.Explode) and isinstance(node.this, exp.Map | exp.VarMap):
        parts = {"key": node.this.args["keys"], "value": node.this.args["values"]}
        return [_made(name, [part], scope) for name, part in parts.items()]
    return []


def _stacked(node: exp.Stack, scope: QueryScope) -> list[RowsetColumn]:
    """The columns of `stack(2, …)`; how many there are is not known where literals are gone."""
    if not node.this.is_int:
        return [RowsetColumn(ANY_COLUMN, inputs(node, scope))]
    width = math.ceil(len(node.expressions) / int(node.this.name))
    by_place = [node.expressions[place::width] for place in range(width)]
    return [_made(f"col{place}", values, scope) for place, values in enumerate(by_place)]


def _inlined(structs: exp.Expr, scope: QueryScope) -> list[RowsetColumn]:
    """The fields of an array's structs; the first one names them."""
    elements = structs.expressions if isinstance(structs, exp.Array) else []
    fields = [struct_fields(element, scope) for element in elements]
    if not fields or not all(fields) or len({*map(len, fields)}) > 1:
        return [RowsetColumn(ANY_COLUMN, made_rows([structs], scope))]
    return [
        RowsetColumn(
            alike[0].name,
            transform_inputs(
                NOTHING.union(*(field.inputs for field in alike)), Subtype.TRANSFORMATION
            ),
        )
        for alike in zip(*fields, strict=True)
    ]


def _made(name: str, values: Iterable[exp.Expr], scope: QueryScope) -> RowsetColumn:
    input_columns = inputs_of_all(values, scope)
    return RowsetColumn(name, transform_inputs(input_columns, Subtype.TRANSFORMATION))


def _fields_of_struct(
    node: exp.Expr, input_columns: InputColumns, scope: QueryScope
) -> tuple[RowsetColumn, ...]:
    """The fields of a projection that makes a struct, or takes one."""
    if scope.context.tables is not None or scope.context.dialect not in _WITH_STRUCTS:
        return ()
    column = node.this if isinstance(node, exp.Alias) else node
    if isinstance(column, exp.Column) and (fields := _taken_fields(column, scope)):
        return fields
    is_copied = len(input_columns) == 1 and next(iter(input_columns)).subtype is Subtype.IDENTITY
    return () if is_copied else tuple(struct_fields(node, scope))


def _taken_fields(node: exp.Column, scope: QueryScope) -> tuple[RowsetColumn, ...]:
    """The fields of `s`, `t.s` or `s.inner`, where a query below makes that struct."""
    path = [part.name.casefold() for part in node.parts]
    rowsets = scope.find_rowsets((path[0],)) if len(path) > 1 else []
    columns: Sequence[RowsetColumn] = [
        column for rowset in rowsets or scope.rowsets if rowset.fields for column in rowset.columns
    ]
    for name in path[1:] if rowsets else path:
        alike = [column for column in columns if column.name.casefold() == name]
        if len(alike) != 1:
            return ()
        columns = alike[0].fields
    return tuple(columns)


def engines_name(node: exp.Expr, dialect: str, position: int) -> str:
    """The name that the engine gives to an expression without one."""
    if dialect == "bigquery":
        return f"f{position}_"
    if dialect in {"postgres", "redshift"}:
        inner = node.this if isinstance(node, exp.Window) else node
        if isinstance(inner, exp.Anonymous):
            return inner.name.casefold()
        if isinstance(inner, exp.Func) and not isinstance(inner, exp.Binary):
            name = inner.sql_name().casefold()
            return name if "_" not in name or name in _ENGINES_NAMES else ""
        return "?column?"
    if dialect in {"spark", "databricks"} and isinstance(node, exp.Explode):
        return "col"
    if node.find(exp.Literal):  # these are not published
        return ""
    return _name_in_spark(node) if dialect in {"spark", "databricks"} else node.sql(dialect)


def _name_in_spark(node: exp.Expr) -> str:
    """`sum((a + b))` for `SUM(t.a + t.b)`: brackets around operators only, columns alone."""

    def simplify(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column):
            return exp.column(part.this)
        if isinstance(part, exp.Paren):
            return part.this
        if isinstance(part, exp.Star):
            return exp.Literal.number(1)  # COUNT(*)
        return exp.Paren(this=part.copy()) if isinstance(part, _OPERATORS) else part

    # Each part is replaced after those inside of it.
    root = exp.Paren(this=node.copy())
    for part in reversed(list(root.this.walk())):
        part.replace(simplify(part))
    return root.this.sql("spark", normalize_functions="lower")


def _star_columns(
    star: exp.Expr, qualifier: tuple[str, ...], scope: QueryScope
) -> Iterator[RowsetColumn]:
    """The columns of `*` and `t.*`, with EXCEPT, REPLACE, RENAME and ILIKE."""
    args = star.args
    left_out = {column.name.casefold() for column in args.get("except_") or ()}
    replaced: dict[str, InputColumns] = {
        alias.alias.casefold(): inputs(alias, scope) for alias in args.get("replace") or ()
    }
    renamed = {alias.this.name.casefold(): alias.alias for alias in args.get("rename") or ()}
    pattern = like_pattern(args["ilike"].name) if args.get("ilike") else None
    seen: set[str] = set()
    rowsets = scope.find_rowsets(qualifier) if qualifier else scope.rowsets
    for rowset in rowsets:
        for column in rowset.columns:
            name = column.name.casefold()
            is_shared = name in scope.shared and not qualifier
            if name in left_out or (is_shared and name in seen):
                continue
            if pattern and name != ANY_COLUMN and not pattern.fullmatch(name):
                continue
            seen.add(name)
            input_columns = scope.shared[name] if is_shared else column.inputs
            is_copied = name not in replaced and not is_shared
            yield RowsetColumn(
                renamed.get(name, column.name),
                replaced.get(name, input_columns),
                column.fields if is_copied else (),
            )
    if qualifier and not rowsets:
        yield from _fields(qualifier, scope)


def _fields(qualifier: tuple[str, ...], scope: QueryScope) -> Iterator[RowsetColumn]:
    """`s.*` of a struct."""
    structs = [
        column.fields
        for rowset in scope.rowsets
        for column in rowset.columns
        if column.fields and column.name.casefold() == qualifier[-1]
    ]
    if structs:
        yield from structs[0]
        return
    parts = [exp.to_identifier(part) for part in qualifier]
    column = exp.Column(this=parts[-1])
    for key, part in zip(("table", "db", "catalog"), reversed(parts[:-1]), strict=False):
        column.set(key, part)
    input_columns = inputs(column, scope)
    yield RowsetColumn(ANY_COLUMN, transform_inputs(input_columns, Subtype.TRANSFORMATION))


def _expand_columns(node: exp.Expr, scope: QueryScope) -> list[RowsetColumn] | None:
    """The columns of `COLUMNS('regex')`, `MIN(COLUMNS(*))`, `* LIKE 'a%'`, `* APPLY(sum)`."""
    if type(node) in _NAME_PATTERNS and isinstance(node.this, exp.Star):
        return list(_named_alike(node, scope))
    if isinstance(node, exp.Apply):
        function = exp.func(node.expression.name, exp.Columns(this=exp.Star()))
        return _apply_each(function, _all_columns(scope), scope)
    if isinstance(node, exp.Column) or not (selector := node.find(exp.Columns)):
        return None
    which = selector.this
    columns = selected_columns(which, scope)
    if columns is None:
        scope.context.gap("columns(…) is not known")
        input_columns = NOTHING.union(*(column.inputs for column in _all_columns(scope)))
        return [RowsetColumn(ANY_COLUMN, input_columns)]
    if selector.args.get("unpack"):  # COALESCE(*COLUMNS(…)): one value of all
        of_all = NOTHING.union(*(column.inputs for column in columns))
        columns = [RowsetColumn(node.output_name, of_all)]
    elif node.alias:  # AS 'new_\\1'
        pattern = which.this if isinstance(which, exp.Literal) else ""
        new_name = node.alias.replace("\\0", r"\g<0>")
        columns = [c._replace(name=_renamed(c.name, pattern, new_name)) for c in columns]
    return _apply_each(node, columns, scope)


def selected_columns(which: exp.Expr, scope: QueryScope) -> list[RowsetColumn] | None:
    """The columns of `COLUMNS(*)` and `COLUMNS('regex')`; None of any other list."""
    if isinstance(which, exp.Star):
        return list(_star_columns(which, (), scope))
    if isinstance(which, exp.Literal) and (pattern := name_pattern(which.this)):
        return [column for column in _all_columns(scope) if pattern.search(column.name)]
    return None


def _renamed(name: str, pattern: str, new_name: str) -> str:
    match = re.search(pattern, name, re.IGNORECASE)
    try:
        return match.expand(new_name) if match else new_name
    except (re.error, IndexError):
        return name


# Operators between `*` and a pattern of names -> the pattern as a regular expression.
_NAME_PATTERNS: Mapping[type[exp.Expr], Callable[[str], re.Pattern[str] | None]] = {
    exp.Glob: lambda text: name_pattern(translate(text)),
    exp.ILike: like_pattern,
    exp.Like: like_pattern,
    exp.SimilarTo: name_pattern,
}


def _named_alike(node: exp.Expr, scope: QueryScope) -> Iterator[RowsetColumn]:
    """The columns of `* LIKE 'a%'`, `* EXCLUDE (a) NOT LIKE 'a%'`."""
    pattern = _NAME_PATTERNS[type(node)](node.expression.name)
    if pattern is None:
        scope.context.gap("columns(…) is not known")
    is_negated = bool(node.args.get("negate"))
    for column in _star_columns(node.this, (), scope):
        if pattern is None or column.name == ANY_COLUMN:
            yield RowsetColumn(ANY_COLUMN, column.inputs)
        elif bool(pattern.fullmatch(column.name)) is not is_negated:
            yield column


def _all_columns(scope: QueryScope) -> list[RowsetColumn]:
    return [column for rowset in scope.rowsets for column in rowset.columns]


def _apply_each(
    node: exp.Expr, columns: Iterable[RowsetColumn], scope: QueryScope
) -> list[RowsetColumn]:
    new_columns = []
    for column in columns:
        scope.star = column.inputs
        new_columns.append(RowsetColumn(column.name, inputs(node, scope)))
    scope.star = None
    return new_columns
