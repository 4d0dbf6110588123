"""Functions of columns, by their names: `F.sum("a")`, `pl.concat_str("a", "b")`, `F.udf(…)`."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.column_expressions import (
    as_expression,
    is_polars,
    items_of,
    named,
    selector,
)
from dbt_graft.collectors.python_code.libraries.column_selections import (
    col,
    is_of_selectors,
    is_of_spark_functions,
)
from dbt_graft.collectors.python_code.libraries.masks import masking_of
from dbt_graft.collectors.python_code.libraries.pandas_series import (
    AGGREGATES,
    aggregate,
    call_series_method,
)
from dbt_graft.collectors.python_code.values.machine import Arguments, Call
from dbt_graft.collectors.python_code.values.selections import is_selection, names_of
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Data,
    Form,
    Function,
    Key,
    Library,
    Method,
    Thing,
    Value,
    change,
    derive,
)
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

# Functions of rows' order, which only their window's columns go into.
_NUMBERING = words(
    "row_number rank dense_rank percent_rank cume_dist ntile monotonically_increasing_id"
)

# Functions whose texts after the first are columns too.
_VARIADIC = words("""
    coalesce concat cov duration rolling_corr rolling_cov arg_sort_by
    greatest least struct array datediff months_between corr covar_samp nvl ifnull
    nullif concat_str sum_horizontal max_horizontal min_horizontal mean_horizontal any_horizontal
    all_horizontal cum_sum_horizontal date datetime time
    create_map arrays_zip hash xxhash64 countDistinct count_distinct
    concat_list concat_arr list linear_space linear_spaces arctan2 business_day_count
    add_months array_except array_intersect array_repeat array_union arrays_overlap
    atan2 bit_get btrim contains covar_pop date_add date_diff date_sub dateadd endswith equal_null
    find_in_set get getbit grouping_id hypot ilike left levenshtein like log make_date
    make_interval make_timestamp map_concat map_from_arrays map_zip_with mask max_by min_by
    named_struct nanvl nvl2 overlay parse_url pmod position pow power regexp regexp_count
    regexp_instr regexp_like regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2
    regr_slope repeat replace right rlike sequence slice split_part stack startswith substr
    substring to_char to_number try_add try_divide try_element_at try_multiply try_subtract
    width_bucket zip_with array_insert counter_diff elt hll_union hmac jaro_winkler_similarity
    java_method ltrim make_dt_interval make_time make_timestamp_ltz make_timestamp_ntz
    make_ym_interval printf reflect regexp_extract_all regr_sxx regr_sxy regr_syy rtrim sentences
    str_to_map time_diff time_trunc to_binary to_time to_timestamp_ltz to_timestamp_ntz
    to_unix_timestamp to_varchar trim try_mod try_parse_url try_reflect try_to_binary try_to_number
    try_to_time try_to_timestamp aggregate reduce fold cum_fold cum_reduce""")
# The beginnings of the names of more such functions.
_VARIADIC_KINDS = (
    *("aes_", "kll_sketch_get", "kll_sketch_merge", "st_", "theta_", "try_aes_", "try_make_"),
    *("tuple_", "vector_", "xpath"),
)

# Functions whose first text is no column: a format, a separator, a unit.
_TEXT_FIRST = words("""
    bucket call_function call_udf concat_ws date_part date_trunc datepart extract format
    format_string locate timestamp_add timestamp_diff""")

# Functions whose named texts are columns, without these.
_NAMED, OPTIONS = words("struct duration date datetime time"), words("time_unit schema eager")
# Named arguments of Polars' functions whose texts are columns.
_NAMED_COLUMNS = words("exprs start end step a b x y column columns condition num_samples")
# Functions of Polars whose first two texts are columns, the third a step.
_FROM_TO = frozenset(
    f"{kind}_{ranges}"
    for kind in ("date", "datetime", "int", "time")
    for ranges in ("range", "ranges")
)

_CONSTANT = words("""
    current_date current_timestamp now rand randn uuid input_file_name spark_partition_id""")


def all_columns(call: Call) -> Value:
    """`pl.all()`, `cs.all()`."""
    if is_of_selectors(call.owner):
        return selector(ANY_COLUMN)
    return named(ANY_COLUMN) if not call.arguments.positional else aggregate_of(call)


def aggregate_of(call: Call) -> Value:
    """`pl.sum("a", "b")`: of columns by their names."""
    if not call.arguments.positional:
        return call_function(call)
    return aggregate(replace(call, owner=col(call)))


def each_column(call: Call) -> Value:
    """`pl.cum_sum("a", "b")`: a method of columns by their names."""
    return call_series_method(replace(call, owner=col(call), arguments=Arguments()))


def _arguments(call: Call) -> list[Data]:
    """The columns that a function gets, also by their names; functions of them are followed."""
    name = call.name
    arguments: list[Data] = []
    is_variadic = name in _VARIADIC or name.startswith(_VARIADIC_KINDS)
    is_sqlalchemy = isinstance(call.owner, Library) and call.owner.name.startswith("sqlalchemy")
    for at, value in enumerate(call.arguments.positional):
        if isinstance(value, Function):  # of the items of what goes before
            item = replace(derive(arguments, call.place), form=Form.EXPRESSION)
            value = call.machine.call(value, *[item] * len(value.node.args.args))
        is_name = (at > 0) if name in _TEXT_FIRST else (at == 0 or is_variadic)
        is_name = is_name or (at == 1 and name in _FROM_TO)
        for part in items_of(call.machine, value):
            is_column = is_name and not (at and part == UNKNOWN)  # further ones may be numbers
            is_column = is_column and not is_sqlalchemy
            arguments.append(as_expression(call.machine, part, text_is_column=is_column))
    arguments += call.machine.all_parts(call.arguments.more)
    for key, value in (call.arguments.named or {}).items():
        is_column = (name in _NAMED and key not in OPTIONS) or (
            key in _NAMED_COLUMNS and is_polars(call.owner)
        )
        parts = items_of(call.machine, value) if is_column else [value]
        arguments += (
            as_expression(call.machine, part, text_is_column=is_column and part != UNKNOWN)
            for part in parts
        )
    return arguments


def call_function(call: Call) -> Value:
    """A function of columns, by its name: an aggregate, a number of rows, or a change."""
    name = call.name
    if name in _CONSTANT:
        return Data(form=Form.EXPRESSION, name=name)
    if name in {"lit", "typedLit"}:  # of a value that was read before
        literal = call.machine.data(call.get("", 0))
        label = "literal" if is_polars(call.owner) else "?"
        return replace(literal, form=Form.EXPRESSION, name=label)
    arguments = _arguments(call)
    if name == "broadcast":
        return call.get("df", 0) or UNKNOWN
    if name in {"desc", "asc"} and arguments:
        return arguments[0]
    if name in _NUMBERING:
        return Data(form=Form.EXPRESSION, name=f"{name}()", place=call.place)
    is_count = name in {"count", "len"} and all(
        not data.inputs or data.name in {ANY_COLUMN, "1"} for data in arguments
    )
    is_spark = is_of_spark_functions(call.owner)
    if is_count:
        name = "count(1)" if is_spark else name
        return Data(form=Form.EXPRESSION, name=name, place=call.place, is_aggregate=True)
    is_aggregate = name in _MORE_AGGREGATES or (name in AGGREGATES and name != "size")
    subtype = Subtype.AGGREGATION if is_aggregate else Subtype.TRANSFORMATION
    data = derive(arguments, call.place, subtype, masking_of(name, is_method=False))
    makes_rows = is_spark and name in _MAKES_ROWS
    if name in _RANGES:  # as many rows as there are between them
        data = replace(data, rows=data.rows | change(data.inputs, Subtype.JOIN))
    if name == "arg_where":
        data = replace(data, rows=data.rows | change(data.inputs, Subtype.FILTER))
    label = _label(call, arguments)
    library = "spark" if is_spark else data.library
    made = replace(
        data, name=label, form=Form.EXPRESSION, is_aggregate=is_aggregate, library=library
    )
    return replace(made, makes_rows=True) if makes_rows else made


def _label(call: Call, arguments: list[Data]) -> Key:
    """The name of a function's column: that of the first argument, or its own text."""
    if is_of_spark_functions(call.owner):
        return _SPARK_LABELS.get(call.name) or _labelled(call.name, arguments)
    label: Key = arguments[0].name if arguments else None
    label = _POLARS_LABELS.get(call.name, label) if is_polars(call.owner) else label
    return next(iter(names_of(label) or ()), None) if is_selection(label) else label


def _labelled(name: str, arguments: list[Data]) -> str | None:
    """The text of a function's call in Spark, `?` for literals; None where one is not known."""
    texts: list[str] = []
    for data in arguments:
        is_plain = all(item.subtype is Subtype.IDENTITY for item in data.inputs)
        if data.inputs and not is_plain and "(" not in str(data.name):
            return None  # `a + 1`
        texts.append(str(data.name or "?"))
    if name in {"countDistinct", "count_distinct"}:
        return f"count(DISTINCT {', '.join(texts)})"
    return f"{SPARK_NAMES.get(name, name)}({', '.join(texts)})"


_POLARS_LABELS = {
    "cum_sum_horizontal": "cum_sum",
    "cum_fold": "cum_fold",
    "cum_reduce": "cum_reduce",
    "date": "date",
    "duration": "literal",
    "fold": "literal",
    "ones": "ones",
    "repeat": "literal",
    "time": "time",
    "zeros": "zeros",
}
# The columns of these are structs.
_SPARK_LABELS = {"window": "window", "session_window": "session_window"}

SPARK_NAMES = {"mean": "avg", "sumDistinct": "sum", "sum_distinct": "sum"}

_MORE_AGGREGATES = words("""
    countDistinct count_distinct approx_count_distinct collect_list collect_set stddev variance
    stddev_pop var_pop var_samp stddev_samp sumDistinct sum_distinct first_value last_value
    max_by min_by percentile_approx kurtosis skewness bool_or bool_and string_agg group_concat
    array_agg any_value bit_and bit_or bit_xor corr count_if covar_pop covar_samp every listagg
    percentile regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope some try_avg
    try_sum""")

_RANGES = words("arange date_range datetime_range int_range linear_space time_range")

_MAKES_ROWS = words("explode explode_outer posexplode posexplode_outer inline inline_outer")


def user_defined(call: Call) -> Value:
    """`F.udf(function)`, or the decorator `@F.udf(returnType=…)`."""
    function = call.get("f", 0)
    traits = {"function": function} if isinstance(function, Function) else {}
    return Method(Thing("udf", traits), "__call__")


def call_user_defined(call: Call) -> Value:
    """A function of the script's on columns; of a decorator, the function that it makes."""
    machine = call.machine
    function = call.owner.traits.get("function") if isinstance(call.owner, Thing) else None
    if function is None:
        return user_defined(call)
    given = call.arguments.positional
    columns = (replace(as_expression(machine, value), form=Form.VALUE) for value in given)
    made = machine.data(machine.call(function, *columns))
    return replace(made, form=Form.EXPRESSION, name="udf", place=call.place)
