"""An expression -> the columns that have a part in its value, and which part.

Conditions of CASE and IF decide (CONDITIONAL), a window orders or groups (WINDOW), arguments of an
aggregate are aggregated; a column alone is itself, anything else changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from sqlglot import exp

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.statements.columns.query_scope import UNPLACED, QueryScope
from dbt_graft.collectors.statements.columns.rowsets import (
    NOTHING,
    SENT,
    VARIABLE,
    InputColumns,
    Rowset,
    RowsetColumn,
    sent_as,
    transform_inputs,
)
from dbt_graft.collectors.statements.columns.tree import name_pattern
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.tokens import keywords
from dbt_graft.lineage.records import ANY_COLUMN, Masking, Subtype

# Function -> how its result hides the value.
MASKING: Mapping[str, Masking] = {
    name: masking
    for masking, names in (
        (
            Masking.HASH,
            """BINARY_CHECKSUM CHECKSUM CITYHASH64 CITY_HASH64 CRC32 CRYPT DIGEST FARMHASH64
            FARM_FINGERPRINT FNV_HASH FUNC_SHA1 HALFMD5 HASH HASHBYTES HASHROW HASH_MD5 HMAC
            HMAC_SHA256 HMAC_SHA512 MASK_HASH MD5 MD5_BINARY MD5_DIGEST MD5_HEX MD5_NUMBER_LOWER64
            MD5_NUMBER_UPPER64 MURMUR3 MURMURHASH2_64 MURMURHASH3_128 MURMURHASH3_32
            MURMURHASH3_64 M_D5_NUMBER_LOWER64 M_D5_NUMBER_UPPER64 ORA_HASH SHA SHA1 SHA1_BINARY
            SHA1_DIGEST SHA1_HEX SHA2 SHA224 SHA256 SHA2_BINARY SHA2_DIGEST SHA2_HEX SHA384 SHA512
            SIPHASH128 SIPHASH64 STANDARD_HASH S_H_A1_DIGEST S_H_A2_DIGEST XXH3 XXHASH32
            XXHASH64""",
        ),
        (
            Masking.ENCRYPT,
            """AES_ENCRYPT DES_ENCRYPT DETERMINISTIC_ENCRYPT ENCRYPT ENCRYPTBYASYMKEY
            ENCRYPTBYCERT ENCRYPTBYKEY ENCRYPTBYPASSPHRASE ENCRYPT_RAW PGP_PUB_ENCRYPT
            PGP_SYM_ENCRYPT""",
        ),
        (Masking.MASK, "MASK MASK_FIRST_N MASK_LAST_N MASK_SHOW_FIRST_N MASK_SHOW_LAST_N"),
    )
    for name in keywords(names)
}
# Aggregates that sqlglot does not know.
_AGGREGATES = keywords(
    """APPROX_PERCENTILE_CONT APPROX_PERCENTILE_DISC CHECKSUM_AGG EVERY HISTOGRAM_NUMERIC JSONB_AGG
    JSONB_OBJECT_AGG JSON_AGG JSON_GROUP_ARRAY JSON_GROUP_OBJECT MEAN OBJECT_AGG PRODUCT STD TRY_AVG
    TRY_SUM XMLAGG"""
)
# Functions that make several rows of their arguments, among those that sqlglot does not know.
_ROW_MAKERS = words("""
    explode_outer generate_subscripts inline_outer json_array_elements json_array_elements_text
    json_each json_each_text json_object_keys jsonb_array_elements jsonb_array_elements_text
    jsonb_each jsonb_each_text jsonb_object_keys posexplode_outer regexp_split_to_table
    string_to_table""")
# Lists that are as long for any values.
WRITTEN_OUT = (exp.Array, exp.Map, exp.VarMap)
# Dialects in which `->` is JSON's only, though sqlglot reads it as a lambda in brackets.
_JSON_ARROWS = frozenset({"postgres", "redshift", "mysql"})
# Functions that sqlglot does not know, whose first argument is a keyword.
_UNIT_FIRST = keywords("DATE_BUCKET TIMESTAMPADD TIMESTAMPDIFF")
_WITHOUT_INPUTS = (
    *(exp.Boolean, exp.DataType, exp.Identifier, exp.Literal),
    *(exp.NextValueFor, exp.Null, exp.Var),
)
# Functions that take the value of one row among many.
_OF_ONE_ROW = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue)


def inputs(node: exp.Expr | None, scope: QueryScope) -> InputColumns:
    """The inputs of an expression's value; of a query, those of its rows and their values."""
    if node is None:
        return NOTHING
    rule = _RULES.get(type(node))
    if rule:
        return rule(node, scope)
    if isinstance(node, exp.Query):
        return _query(node, scope)
    return _function_inputs(node, node.iter_expressions(), scope)


def clause_inputs(node: exp.Expr | None, scope: QueryScope, subtype: Subtype) -> InputColumns:
    """The inputs that decide in a clause: the columns of WHERE with FILTER, of ON with JOIN…"""
    return transform_inputs(inputs(node, scope), subtype)


def inputs_of_all(nodes: Iterable[exp.Expr], scope: QueryScope) -> InputColumns:
    """The inputs of several expressions."""
    column_sets = [input_columns for node in nodes if (input_columns := inputs(node, scope))]
    # One set alone stays the same object, whose hash is known.
    return (
        NOTHING.union(*column_sets)
        if len(column_sets) > 1
        else column_sets[0]
        if column_sets
        else NOTHING
    )


def _function_inputs(
    node: exp.Expr, arguments: Iterable[exp.Expr], scope: QueryScope
) -> InputColumns:
    input_columns = inputs_of_all(arguments, scope)
    if not input_columns:
        return NOTHING
    name = _function(node)
    aggregate = isinstance(node, exp.AggFunc) and not isinstance(node, _OF_ONE_ROW)
    subtype = Subtype.TRANSFORMATION
    if aggregate or name in _AGGREGATES:
        subtype = Subtype.AGGREGATION
    if SENT in input_columns and (
        len(input_columns) > 1 or any(map(_is_made_by_server, node.walk()))
    ):
        input_columns -= {SENT}  # a + ?, DATEADD(day, ?, GETDATE())
    return transform_inputs(input_columns, subtype, masking=MASKING.get(name, Masking.NONE))


def _is_made_by_server(node: exp.Expr) -> bool:
    """A function without arguments: GETDATE(), NEWID()."""
    return isinstance(node, exp.Func) and not any(node.iter_expressions())


def _anonymous(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """A function that sqlglot does not know."""
    name, arguments = _function(node), node.expressions
    if name in _UNIT_FIRST:  # DATE_BUCKET(week, 1, a)
        return _function_inputs(node, arguments[1:], scope)
    if name.casefold() in _ROW_MAKERS:
        return made_rows(arguments, scope)
    if name in {"CHOOSE", "ELT"}:
        return _branch_inputs(arguments[:1], arguments[1:], scope)
    if name == "MULTIIF":  # multiIf(condition, value, …, value)
        return _branch_inputs(arguments[:-1:2], [*arguments[1:-1:2], arguments[-1]], scope)
    if name.startswith("DICTGET"):  # the first argument is a dictionary's name
        return _function_inputs(node, arguments[1:], scope)
    if _function(node) == "IDENTITY":  # IDENTITY(int, 1, 1) numbers rows
        return NOTHING
    return _function_inputs(node, node.iter_expressions(), scope)


def made_rows(arguments: Sequence[exp.Expr], scope: QueryScope) -> InputColumns:
    """The inputs of a function in SELECT that makes several rows of its arguments."""
    scope.lists |= list_inputs(arguments, scope)
    return transform_inputs(inputs_of_all(arguments, scope), Subtype.TRANSFORMATION)


def list_inputs(arguments: Iterable[exp.Expr], scope: QueryScope) -> InputColumns:
    """The inputs that decide how many rows are made of arguments: none of lists written out."""
    lists = [argument for argument in arguments if not isinstance(argument, WRITTEN_OUT)]
    return transform_inputs(inputs_of_all(lists, scope), Subtype.JOIN)


def _function(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return node.name.upper()
    return node.sql_name() if isinstance(node, exp.Func) else ""


def _column(node: exp.Expr, scope: QueryScope) -> InputColumns:
    if not isinstance(node, exp.Column):
        return NOTHING
    if isinstance(node.this, exp.Parameter | exp.Star):  # t.$1, t.*
        rowsets = scope.find_rowsets(tuple(part.name.casefold() for part in node.parts[:-1]))
        is_star = isinstance(node.this, exp.Star)
        return _rows(rowsets) if is_star else _at_position(node.this.this, rowsets)
    if scope.expressions and len(node.args) < 2:
        name = node.name.casefold()
        if name in scope.expressions:
            return _named_expression(name, scope)
    return scope.resolve(node)


def _named_expression(name: str, scope: QueryScope) -> InputColumns:
    """The inputs of what has an alias anywhere in SELECT; inside of it, the name is a column's."""
    expression = scope.expressions.pop(name)
    if isinstance(expression, exp.Expr):
        expression = inputs(expression, scope)
    scope.expressions[name] = expression
    return expression


def _rows(rowsets: Iterable[Rowset]) -> InputColumns:
    return NOTHING.union(*(column.inputs for rowset in rowsets for column in rowset.columns))


def _columns(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """`COLUMNS('regex')`: each of its columns in turn, or in WHERE all of them."""
    if scope.star is not None:
        return scope.star
    columns = [column for rowset in scope.rowsets for column in rowset.columns]
    pattern = name_pattern(node.this.name if isinstance(node.this, exp.Literal) else "")
    if pattern is None:
        return scope.context.gap("columns(…) is not known")
    return NOTHING.union(*(column.inputs for column in columns if pattern.search(column.name)))


def _numbered(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """`#1` of DuckDB: a column of the sources by its place."""
    columns = [column for rowset in scope.rowsets for column in rowset.columns]
    for place, column in enumerate(columns, 1):
        if column.name == ANY_COLUMN:
            break
        if node.name == str(place):
            return column.inputs
    return scope.context.gap(UNPLACED)


def _count(node: exp.Expr, scope: QueryScope) -> InputColumns:
    is_of_rows = isinstance(node.this, exp.Star) or (
        isinstance(node.this, exp.Column) and (isinstance(node.this.this, exp.Star))
    )
    return NOTHING if is_of_rows else _function_inputs(node, node.iter_expressions(), scope)


def _comprehension(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """`[x.a FOR x IN list IF x.b > 1]`."""
    items = transform_inputs(inputs(node.args["iterator"], scope), Subtype.TRANSFORMATION)
    inside = scope.inner(Rowset((), [RowsetColumn(node.expression.name, items)]))
    condition = clause_inputs(node.args.get("condition"), inside, Subtype.TRANSFORMATION)
    value = transform_inputs(inputs(node.this, inside), Subtype.TRANSFORMATION)
    return items | value | condition


def _exists(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """The inputs that decide on the rows of a query; EXISTS does not look at their values."""
    if isinstance(node.this, exp.Query) and not isinstance(node.this, exp.SetOperation):
        return scope.context.query(node.this, scope).influences
    return _function_inputs(node, node.iter_expressions(), scope)


def _decode(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """`DECODE(value, search, result, search, result, default)`."""
    value, *pairs = node.expressions
    default = [pairs.pop()] if len(pairs) % 2 else []
    return _branch_inputs([value, *pairs[::2]], [*pairs[1::2], *default], scope)


def _combinator(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """`sumIf(a, condition)` in ClickHouse."""
    arguments = node.expressions
    if not node.name.casefold().endswith("if") or len(arguments) < 2:
        return _function_inputs(node, node.iter_expressions(), scope)
    value = transform_inputs(inputs_of_all(arguments[:-1], scope), Subtype.AGGREGATION)
    return value | clause_inputs(arguments[-1], scope, Subtype.CONDITIONAL)


def _dot(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """A field of a value, or in DuckDB a function after its first argument: `a.upper()`."""
    row = node.this.this if isinstance(node.this, exp.Paren) else None
    if isinstance(row, exp.Column) and scope.find_rowsets((row.name.casefold(),)):  # (t).a
        return scope.resolve(exp.column(node.expression.name, table=row.name))
    if (value := _field_of_struct(node.this, node.expression)) is not None:
        return inputs(value, scope)
    arguments = list(node.iter_expressions())
    if isinstance(node.this, exp.Identifier) and isinstance(node.expression, exp.Func):
        is_chain = scope.context.dialect == "duckdb"
        arguments = [exp.column(node.this.copy()), node.expression] if is_chain else arguments
    return _function_inputs(node, arguments, scope) | _value_of_function(node, scope)


def _bracket(node: exp.Expr, scope: QueryScope) -> InputColumns:
    if len(node.expressions) == 1:
        value = _field_of_struct(node.this, node.expressions[0])
        if value is not None:
            return inputs(value, scope)
    return _function_inputs(node, node.iter_expressions(), scope)


def _field_of_struct(struct: exp.Expr, name: exp.Expr) -> exp.Expr | None:
    """The value of a field of a struct that is made on the spot: `struct(a AS x, b AS y).x`."""
    while isinstance(struct, exp.Paren):
        struct = struct.this
    if not isinstance(struct, exp.Struct) or not isinstance(name, exp.Identifier | exp.Literal):
        return None
    for place, field in enumerate(struct.expressions, 1):
        is_named = isinstance(field, exp.PropertyEQ)
        own = field.this.name if is_named else field.output_name
        if name.name.casefold() in {own.casefold(), str(place)}:
            return field.expression if is_named else field
    return None


def _value_of_function(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """The value of a function of T-SQL's users, `dbo.rate(a)`, where it is known."""
    function = node.expression
    if scope.context.dialect != Dialect.TSQL or not isinstance(function, exp.Anonymous):
        return NOTHING
    name = (*(part.name for part in node.this.find_all(exp.Identifier)), function.name)
    columns = scope.context.columns(name)  # in FROM, a function has columns of other names
    is_of_value = [column.casefold() for column in columns] == [function.name.casefold()]
    return frozenset({ColumnInput(name, columns[0])}) if is_of_value else NOTHING


def _lambda(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """`x -> x + a`, in which x is no column; but `j -> 'a'` takes a value out of JSON."""
    input_columns = inputs(node.this, scope)
    if scope.context.dialect in _JSON_ARROWS or isinstance(node.this, exp.Literal):
        columns = [exp.column(parameter.copy()) for parameter in node.expressions]
        input_columns |= transform_inputs(inputs_of_all(columns, scope), Subtype.TRANSFORMATION)
    return input_columns


def _position(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """`$1` in Snowflake: a column by its place; `@a` of T-SQL that was filled from a table."""
    number = node.this
    if scope.context.holding_data and f"@{node.name.casefold()}" in scope.context.holding_data:
        return frozenset({ColumnInput(VARIABLE, node.name)})
    if scope.context.dialect != "snowflake" or not isinstance(number, exp.Literal):
        return NOTHING
    return _at_position(number, scope.rowsets)


def _at_position(number: exp.Expr, rowsets: Sequence[Rowset]) -> InputColumns:
    rowset = rowsets[0] if len(rowsets) == 1 else None
    if rowset is None or not number.is_int:
        return NOTHING
    if rowset.is_open:  # a file of a stage, for one
        return rowset.find(f"${number.this}") or NOTHING
    at = int(number.this) - 1
    return rowset.columns[at].inputs if at < len(rowset.columns) else NOTHING


def _query(node: exp.Expr, scope: QueryScope) -> InputColumns:
    rowset = scope.context.query(node, scope)
    return rowset.influences.union(*(column.inputs for column in rowset.columns))


def _case(node: exp.Expr, scope: QueryScope) -> InputColumns:
    branches = [branch for branch in node.args.get("ifs") or () if isinstance(branch, exp.If)]
    values = [branch.args.get("true") for branch in branches] + [node.args.get("default")]
    conditions = [node.this, *(branch.this for branch in branches)]
    return _branch_inputs(conditions, values, scope)


def _if(node: exp.Expr, scope: QueryScope) -> InputColumns:
    return _branch_inputs([node.this], [node.args.get("true"), node.args.get("false")], scope)


def _branch_inputs(
    conditions: Iterable[exp.Expr | None], values: Iterable[exp.Expr | None], scope: QueryScope
) -> InputColumns:
    deciding = inputs_of_all(filter(None, conditions), scope)
    chosen = inputs_of_all(filter(None, values), scope)
    return transform_inputs(deciding, Subtype.CONDITIONAL) | transform_inputs(
        chosen, Subtype.TRANSFORMATION
    )


def _window(node: exp.Expr, scope: QueryScope) -> InputColumns:
    value = transform_inputs(inputs(node.this, scope), Subtype.TRANSFORMATION)
    return value | window_inputs(node, scope)


def window_inputs(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """The inputs of a window; for `OVER w`, those of its definition in the clause WINDOW too."""
    frame = [*(node.args.get("partition_by") or ()), node.args.get("order")]
    named = scope.windows.get(node.alias.casefold(), NOTHING)
    # `MAX(a) KEEP (DENSE_RANK LAST ORDER BY b)` of Oracle has no window.
    subtype = Subtype.SORT if node.args.get("over") == "KEEP" else Subtype.WINDOW
    return named | transform_inputs(inputs_of_all(filter(None, frame), scope), subtype)


def _filter(node: exp.Expr, scope: QueryScope) -> InputColumns:
    condition = clause_inputs(node.expression, scope, Subtype.CONDITIONAL)
    return inputs(node.this, scope) | condition


def _equal(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """`a = ?`: what the task sends is its `a`."""
    sides = (node.this, node.expression)
    if _may_correlate(node, scope):
        return scope.context.gap(UNPLACED)
    input_columns = inputs_of_all(sides, scope)
    if SENT in input_columns:
        for side in sides:
            if isinstance(side, exp.Column):
                input_columns = sent_as(input_columns, side.name)
    return transform_inputs(input_columns, Subtype.TRANSFORMATION)


def _may_correlate(node: exp.Expr, scope: QueryScope) -> bool:
    """Whether `a = b` may compare a column of a subquery with one of the query around it.

    That is more likely than two columns of one table, and nothing tells which is whose.
    """
    sides = [s for s in (node.this, node.expression) if isinstance(s, exp.Column) and not s.table]
    query = node.find_ancestor(exp.Select) if len(sides) > 1 else None
    place = query and query.parent
    while isinstance(place, exp.Subquery):
        place = place.parent
    is_nested = place is not None and not isinstance(place, exp.From | exp.Join | exp.CTE)
    return is_nested and scope.may_be_outer({side.name.casefold() for side in sides})


def _ordered_group(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """`STRING_AGG(a, ',') WITHIN GROUP (ORDER BY b)`; PERCENTILE_CONT takes what it orders by."""
    value, order = inputs(node.this, scope), inputs(node.expression, scope)
    return value | transform_inputs(order, Subtype.SORT if value else Subtype.AGGREGATION)


def _ordered_values(node: exp.Expr, scope: QueryScope) -> InputColumns:
    """ORDER BY inside an aggregate's brackets; elsewhere, its columns alone."""
    value, order = inputs(node.this, scope), inputs_of_all(node.expressions, scope)
    return value | transform_inputs(order, Subtype.SORT) if node.this else order


_RULES: Mapping[type[exp.Expr], Callable[[exp.Expr, QueryScope], InputColumns]] = {
    **dict.fromkeys((exp.Alias, exp.Paren), lambda node, scope: inputs(node.this, scope)),
    **dict.fromkeys(_WITHOUT_INPUTS, lambda node, scope: NOTHING),
    **dict.fromkeys(
        (exp.Explode, exp.ExplodeOuter, exp.Inline, exp.Posexplode, exp.PosexplodeOuter),
        lambda node, scope: made_rows(list(node.iter_expressions()), scope),
    ),
    exp.Anonymous: _anonymous,
    exp.Bracket: _bracket,
    exp.Case: _case,
    exp.Column: _column,
    exp.Columns: _columns,
    exp.CombinedAggFunc: _combinator,
    exp.Comprehension: _comprehension,
    exp.Count: _count,
    exp.DecodeCase: _decode,
    exp.Dot: _dot,
    exp.EQ: _equal,
    # `ELT(place, value, value)`
    exp.Elt: lambda node, scope: _branch_inputs([node.this], node.expressions, scope),
    exp.Exists: _exists,
    exp.Filter: _filter,
    exp.If: _if,
    exp.Lambda: _lambda,
    exp.Nvl2: _if,
    exp.Order: _ordered_values,
    exp.Parameter: _position,
    # A parameter, or a literal that was taken out.
    exp.Placeholder: lambda node, scope: frozenset({SENT}) if scope.context.sends else NOTHING,
    exp.PositionalColumn: _numbered,
    exp.Star: lambda node, scope: _rows(scope.rowsets),  # `STRUCT(*)`
    exp.Window: _window,
    exp.WithinGroup: _ordered_group,
}
