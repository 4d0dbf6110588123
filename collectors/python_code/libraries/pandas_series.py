"""Methods of series and of values of columns, by their behaviour; functions of numpy on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.builtin_calls import first_argument
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.libraries.masks import masking_of
from dbt_graft.collectors.python_code.libraries.subscripts import by_label, get_item
from dbt_graft.collectors.python_code.libraries.writing import POLARS_WRITES, WRITE_METHODS
from dbt_graft.collectors.python_code.values.frames import as_frame
from dbt_graft.collectors.python_code.values.machine import (
    NOT_KNOWN,
    Arguments,
    Call,
    Handler,
    owner_of,
)
from dbt_graft.collectors.python_code.values.values import (
    NO_GAPS,
    NOTHING,
    UNKNOWN,
    Class,
    Const,
    Data,
    DictCell,
    Form,
    Frame,
    Function,
    Items,
    Library,
    Method,
    OneOf,
    Thing,
    Value,
    all_gaps,
    all_inputs,
    change,
    combine,
    decided,
    derive,
    is_of_spark,
)
from dbt_graft.lineage.code import CodePlace
from dbt_graft.lineage.records import Subtype


def call_series_method(call: Call) -> Value:
    """A method of a series, an expression or a value; one that is not in the tables changes it."""
    owner = call.owner
    assert isinstance(owner, Data)
    handler = _METHODS.get(call.name)
    return handler(call) if handler else transform(call)


def call_accessor_method(call: Call) -> Value:
    """A method behind `.str`, `.dt`: each value changed by itself."""
    assert isinstance(call.owner, Thing)
    series = replace(call, owner=call.machine.data(call.owner.owner))
    if call.name in {"field", "unnest"}:
        return _fields(series)
    return _expanded(series) if call.name in _EXPANDING else transform(series)


def _fields(call: Call) -> Value:
    """`.struct.field("a", "b")`: columns with the names of fields; of all, these are not known."""
    names = [name for v in call.arguments.positional for name in call.machine.keys(v) or [None]]
    data = transform(replace(call, arguments=Arguments()))
    texts = [name for name in names if isinstance(name, str) and not name.startswith(("*", "^"))]
    if not texts or len(texts) < len(names):
        gap = call.gap("the fields of a struct are not known")
        return replace(data, name=None, origin=gap)
    fields = [replace(data, name=name) for name in texts]
    return fields[0] if len(fields) == 1 else Items(tuple(fields))


def transform(call: Call) -> Data:
    """Values made of the series and of the arguments."""
    machine = call.machine
    owner = machine.data(call.owner)
    masking = masking_of(call.name)
    data = derive([owner, *call.data()], call.place, masking=masking)
    lists = [items for value in call.arguments.values() if (items := machine.items(value))]
    rows = data.rows.union(*(items.rows for items in lists))  # `column.isin(list)`
    is_named = not is_of_spark(owner) or call.name in {"cast", "astype", "try_cast"}
    name = owner.name if is_named else None
    return replace(data, form=owner.form, name=name, index=owner.index, rows=rows)


def aggregate(call: Call) -> Data:
    """One value of many."""
    owner = call.machine.data(call.owner)
    inputs = change(owner.inputs, Subtype.AGGREGATION)
    form = Form.EXPRESSION if owner.form is Form.EXPRESSION else Form.VALUE
    if form is Form.EXPRESSION:
        inputs |= decided(owner, owner.inputs).inputs - owner.inputs
    rows = NOTHING if owner.form is Form.EXPRESSION else owner.rows
    return replace(
        owner,
        inputs=inputs,
        form=form,
        index=(),
        place=call.place,
        rows=rows,
        gaps=all_gaps(owner),
        is_aggregate=True,
    )


def _window(call: Call) -> Value:
    """A value made of those of other rows, which their order decides on."""
    subtype = Subtype.AGGREGATION if call.name.startswith("cum") else Subtype.TRANSFORMATION
    return _ordered(call, call.machine.data(call.owner), subtype)


def _ordered(call: Call, owner: Data, subtype: Subtype) -> Value:
    inputs = change(owner.inputs, subtype) | change(owner.order, Subtype.WINDOW)
    return replace(owner, inputs=inputs, place=call.place, gaps=all_gaps(owner))


def _rank(call: Call) -> Value:
    """A place in an order: of what it orders by."""
    owner = call.machine.data(call.owner)
    inputs = change(owner.inputs, Subtype.WINDOW)
    return replace(owner, inputs=inputs, place=call.place, gaps=all_gaps(owner))


def rolled(call: Call) -> Value:
    """`series.rolling(3).mean()`."""
    thing = call.owner
    assert isinstance(thing, Thing)
    return _ordered(call, call.machine.data(thing.owner), Subtype.AGGREGATION)


def apply(call: Call) -> Value:
    """A function of each value: followed if it is the script's, else all of its inputs."""
    owner = call.machine.data(call.owner)
    function = call.get("func", 0) or call.get("arg", 0) or UNKNOWN
    value = replace(owner, form=Form.VALUE, index=(), name=None, rows=NOTHING)
    extra = call.machine.items(call.get("args")) or Items()
    result = apply_function(call, function, [value, *extra.items])
    data = call.machine.data(result)
    return replace(
        data,
        form=owner.form,
        name=owner.name,
        rows=owner.rows | data.rows,
        order=owner.order,
        index=owner.index,
        gaps=data.gaps | all_gaps(owner),
        place=call.place,
    )


def apply_function(call: Call, function: Value, values: list[Value]) -> Value:
    """The result of a function that a library calls."""
    machine = call.machine
    data = machine.all_parts(values)
    cell = machine.cell(function)
    if isinstance(cell, DictCell):
        if cell.rest is not None and isinstance(cell.rest, Data):
            keys = machine.data(cell.keys).inputs
            return machine.look_up(cell.rest, combine(data).inputs | keys if data else keys)
        mapped = machine.join_all(cell.values)
        return combine([derive(data, call.place), machine.data(mapped)])
    if isinstance(function, Data) and function.form is Form.SERIES:
        keys = all_inputs([*data, *(level for _, level in function.index)])
        chosen = change(keys | function.rows, Subtype.CONDITIONAL)
        return replace(function, inputs=function.inputs | chosen, index=(), rows=NOTHING)
    if isinstance(function, Function | Class | Method | Library):
        return machine.invoke(function, _arguments(call, values))
    if isinstance(function, OneOf):
        return (
            machine.join_all([apply_function(call, item, values) for item in function.values])
            or UNKNOWN
        )
    name = function.value if isinstance(function, Const) else ""
    if isinstance(name, str) and name in AGGREGATES:
        return derive(data, call.place, Subtype.AGGREGATION)
    return derive(data, call.place)


def function_name(function: Value) -> str:
    """The name by which pandas calls a column that a function makes."""
    if isinstance(function, Const):
        return str(function.value)
    if isinstance(function, Function):
        return getattr(function.node, "name", "<lambda_0>")
    if isinstance(function, Library):
        return function.name.rpartition(".")[2]
    return "<unknown>"


def _arguments(call: Call, values: list[Value]) -> Arguments:
    passed = {
        name: value
        for name, value in (call.arguments.named or {}).items()
        if name not in {"func", "axis", "args", "result_type", "na_action", "convert_dtype", "raw"}
    }
    return Arguments(tuple(values), passed)


def _where(call: Call) -> Value:
    """`series.where(condition, other)`."""
    owner = call.machine.data(call.owner)
    condition = call.machine.data(call.get("cond", 0))
    other = call.machine.data(call.get("other", 1))
    inputs = (
        change(owner.inputs) | change(other.inputs) | change(condition.inputs, Subtype.CONDITIONAL)
    )
    gaps = all_gaps(owner) | all_gaps(condition) | all_gaps(other)
    return replace(owner, inputs=inputs, place=call.place, gaps=gaps)


def _rename(call: Call) -> Value:
    owner = call.machine.data(call.owner)
    name = call.machine.key(call.get("index", 0) or call.get("name", 0) or Const(None))
    if name is NOT_KNOWN or not isinstance(name, str | int | tuple):
        return owner
    return replace(owner, name=name, place=call.place if name != owner.name else owner.place)


def _reset_index(call: Call) -> Value:
    owner = call.machine.data(call.owner)
    if owner.form is not Form.SERIES or call.flag("drop"):
        return replace(owner, index=(), order=NOTHING)
    frame = as_frame(call.machine, owner)
    assert frame
    name = call.text("name")
    columns = dict(frame.columns)
    if name:
        (data,) = columns.values()
        columns = {name: replace(data, place=call.place)}
    index = owner.index or (("index", Data()),)
    named = {level if level is not None else "index": data for level, data in index}
    return call.machine.new(replace(frame, columns={**named, **columns}, index=()))


def _to_frame(call: Call) -> Value:
    owner = replace(call.machine.data(call.owner), form=Form.SERIES)
    frame = as_frame(call.machine, owner)
    assert frame
    name = call.text("name", 0)
    if name:
        (data,) = frame.columns.values()
        frame = replace(frame, columns={name: data})
    return call.machine.new(frame)


def _unique(call: Call) -> Value:
    owner = call.machine.data(call.owner)
    if owner.form is Form.VALUE:
        return owner
    return replace(owner, rows=owner.rows | change(owner.inputs, Subtype.GROUP_BY))


def _get(call: Call) -> Value:
    """`series.get(label, default)`."""
    key, default = call.get("key", 0) or UNKNOWN, call.get("default", 1)
    value = get_item(call.machine, call.owner, key)
    return value if default is None else call.machine.join(value, default)


def _replaced(call: Call) -> Value:
    """`series.replace({"a": 1})`: a value that is found in a dictionary, or itself."""
    names = call.get("to_replace", 0)
    if not isinstance(call.machine.cell(names), DictCell):
        return transform(call)
    owner = call.machine.data(call.owner)
    looked_up = call.machine.data(apply_function(call, names or UNKNOWN, [owner]))
    return replace(owner, inputs=change(owner.inputs) | looked_up.inputs, place=call.place)


def _reindexed(call: Call) -> Value:
    """`series.reindex(labels)`."""
    owner, labels = call.machine.data(call.owner), call.machine.data(call.get("index", 0))
    if not labels.inputs:
        return owner
    made = by_label(call.machine, owner, labels)
    name = owner.index[0][0] if owner.index else None
    return replace(made, form=Form.SERIES, index=((name, labels),), rows=labels.rows)


def _filter_values(call: Call) -> Value:
    owner = call.machine.data(call.owner)
    return replace(owner, rows=owner.rows | change(owner.inputs, Subtype.FILTER))


def _exploded(call: Call) -> Value:
    """Rows for the items of lists, as many as each has."""
    owner = call.machine.data(call.owner)
    made = derive([owner], call.place)
    rows = owner.rows | change(owner.inputs, Subtype.JOIN)
    return replace(made, name=owner.name, form=owner.form, index=owner.index, rows=rows)


def _sorted(call: Call) -> Value:
    owner = call.machine.data(call.owner)
    if owner.form is not Form.SERIES:
        return owner
    by = owner.inputs
    if call.name == "sort_index":
        by = all_inputs(level for _, level in owner.index)
    return replace(owner, rows=owner.rows | change(by, Subtype.SORT), order=by)


def _to_list(call: Call) -> Value:
    owner = call.machine.data(call.owner)
    item = replace(owner, form=Form.VALUE, index=(), rows=NOTHING)
    return call.machine.new(Items((), item, owner.rows))


def _to_dict(call: Call) -> Value:
    """`series.to_dict()`: by its labels."""
    owner = call.machine.data(call.owner)
    label = owner.index[0][1] if owner.index else UNKNOWN
    # One value of a group for each of its rows, where it is looked up by them.
    groups = frozenset(item for item in owner.rows if item.subtype is Subtype.GROUP_BY)
    inputs = owner.inputs | change(groups, Subtype.WINDOW)
    item = replace(owner, inputs=inputs, form=Form.VALUE, index=(), rows=NOTHING)
    return call.machine.new(DictCell({}, item, label, (), owner.rows))


def _value_counts(call: Call) -> Value:
    owner = call.machine.data(call.owner)
    groups = change(owner.inputs, Subtype.GROUP_BY)
    if owner.form is Form.EXPRESSION:  # of Polars a struct: the value, and how often it is there
        inputs = change(owner.inputs, Subtype.AGGREGATION)
        return replace(owner, inputs=inputs, rows=owner.rows | groups, place=call.place)
    level = replace(owner, index=(), form=Form.VALUE)
    if owner.library == "polars":
        columns = {owner.name: level, call.text("name") or "count": Data(place=call.place)}
        return call.machine.new(Frame(columns, rows=owner.rows | groups, library="polars"))
    return Data(
        name="count",
        rows=owner.rows | groups,
        index=((owner.name, level),),
        form=Form.SERIES,
        place=call.place,
    )


def _items(call: Call) -> Value:
    owner = call.machine.data(call.owner)
    level = owner.index[0][1] if owner.index else UNKNOWN
    return Items((), Items((level, replace(owner, form=Form.VALUE, index=()))), owner.rows)


def _expanded(call: Call) -> Value:
    """`str.split(expand=True)`: a frame of parts."""
    if call.flag("expand") is not True:
        return transform(call)
    data = replace(transform(call), form=Form.VALUE)
    return call.machine.new(Frame(rest=data, rows=data.rows))


def _agg(call: Call) -> Value:
    value = aggregate(call)
    names = call.keys("func", 0) or []
    if len(names) < 2:
        return value
    columns = {name: value for name in names if isinstance(name, str)}
    return call.machine.new(Frame(dict(columns), library="series"))


def _alias(call: Call) -> Value:
    owner = call.machine.data(call.owner)
    name = call.text("name", 0)
    named = replace(owner, name=name, place=call.place)
    if more := call.arguments.positional[1:]:  # `F.explode("m").alias("key", "value")`
        texts = [name, *map(call.machine.text, more)]
        return Items(tuple(replace(named, name=text) for text in texts))
    return named


def pipe(call: Call) -> Value:
    """`df.pipe(function)`."""
    function, *rest = call.arguments.positional or (UNKNOWN,)
    return call.machine.invoke(function, Arguments((call.owner, *rest), call.arguments.named))


AGGREGATES = words("""
    sum mean avg average count min max median std var first last nunique prod sem skew
    any all mode quantile size idxmin idxmax agg_list n_unique approx_count_distinct kurt
    implode product len""")
_EXPANDING = frozenset({"split", "rsplit", "extract", "partition", "rpartition"})
_TABLE: Mapping[Handler, str] = {
    owner_of: """copy head tail infer_objects convert_dtypes sample
        swapaxes squeeze compute persist asc desc
        asc_nulls_last desc_nulls_last asc_nulls_first desc_nulls_first reverse sort
        view item set_axis to_series cast_same collect""",
    lambda call: replace(call.machine.data(call.owner), order=NOTHING): "to_numpy ravel flatten",
    _sorted: "sort_values sort_index nlargest nsmallest",
    _to_dict: "to_dict",
    _to_list: "tolist to_list iter_rows",
    aggregate: """sum mean avg average count min max median std var first last nunique prod sem skew
        any all mode quantile idxmin idxmax n_unique kurt implode product len""",
    _window: """shift diff pct_change cumsum cumprod cummax cummin cumcount ffill bfill
        interpolate backward_fill forward_fill cum_sum cum_max cum_min cum_prod cum_count""",
    _rank: "rank ordinal_rank",
    lambda call: Thing("rolling", {}, call.owner): "rolling expanding ewm",
    apply: "apply map transform map_elements",
    _where: "where mask",
    _rename: "rename",
    _reset_index: "reset_index",
    _to_frame: "to_frame",
    _filter_values: "dropna drop_nulls drop_nans",
    _exploded: "explode",
    _value_counts: "value_counts",
    _items: "items iteritems",
    _agg: "agg aggregate",
    _alias: "alias name label",
    pipe: "pipe",
    _unique: "unique drop_duplicates",
    _get: "get",
    _replaced: "replace",
    _reindexed: "reindex",
}
SERIES_METHODS: Mapping[str, Handler] = {
    name: handler for handler, names in _TABLE.items() for name in names.split()
}


# Of what is not known too, which may be a frame.
_METHODS = {**WRITE_METHODS, **POLARS_WRITES, **SERIES_METHODS}


def choose(conditions: list[Data], values: list[Data], place: CodePlace) -> Data:
    """One of several values, that conditions decide on."""
    chosen = combine([*values, *conditions])
    inputs = frozenset().union(
        *(change(value.inputs) for value in values),
        *(change(condition.inputs, Subtype.CONDITIONAL) for condition in conditions),
    )
    gaps = NO_GAPS.union(*map(all_gaps, [*values, *conditions]))
    return replace(chosen, inputs=inputs, gaps=gaps, origin=None, place=place, name=None)


def _numpy_where(call: Call) -> Value:
    condition = call.machine.data(call.get("condition", 0))
    values = [call.get("x", 1), call.get("y", 2)]
    if values == [None, None]:
        return derive([condition], call.place)
    return choose([condition], [call.machine.data(value) for value in values], call.place)


def _select(call: Call) -> Value:
    conditions = iterate(call.machine, call.get("condlist", 0) or Items())
    values = iterate(call.machine, call.get("choicelist", 1) or Items())
    default = call.machine.data(call.get("default", 2))
    return choose(
        list(map(call.machine.data, conditions.values)),
        [*map(call.machine.data, values.values), default],
        call.place,
    )


def _converted(call: Call) -> Value:
    """`pd.to_datetime(series)`: of the first argument."""
    value = call.get("arg", 0)
    if call.machine.frame(value) is not None:
        return derive(call.machine.parts(value), call.place)
    data = call.machine.data(value)
    made = derive([data], call.place)
    return replace(made, name=data.name, index=data.index)


def _dummies(call: Call) -> Value:
    frame = call.machine.frame(call.get("data", 0))
    gap = call.gap("columns are named by values")
    names = call.keys("columns") or []
    parts = call.data()
    if frame is not None and names:
        parts = [data for name, data in frame.columns.items() if name in names]
        left = {name: data for name, data in frame.columns.items() if name not in names}
        rest = derive(parts, call.place)
        return call.machine.new(replace(frame, columns=left, rest=replace(rest, origin=gap)))
    rest = derive(parts, call.place)
    return call.machine.new(Frame(rest=replace(rest, origin=gap)))


def _named_agg(call: Call) -> Value:
    return Thing(
        "agg",
        {"column": call.get("column", 0) or UNKNOWN, "aggfunc": call.get("aggfunc", 1) or UNKNOWN},
    )


def _filled(call: Call) -> Value:
    """`np.zeros(n)`: an array whose items the script sets."""
    return call.machine.new(Items((), call.machine.data(call.get("fill_value", 1))))


NUMPY: Mapping[str, Handler] = {
    **dict.fromkeys(
        (
            f"numpy.{name}{like}"
            for name in ("empty", "full", "ones", "zeros")
            for like in ("", "_like")
        ),
        _filled,
    ),
    "numpy.array": first_argument,
    "numpy.asarray": first_argument,
    "numpy.select": _select,
    "numpy.where": _numpy_where,
    "pandas.ExcelWriter": lambda call: call.get("path", 0) or UNKNOWN,
    "pandas.Grouper": lambda call: Thing("grouper", {"by": call.get("key", 0) or Const(None)}),
    "pandas.NamedAgg": _named_agg,
    "pandas.get_dummies": _dummies,
    **dict.fromkeys(
        (
            f"numpy.{name}"
            for name in words(
                """sum mean median min max std var nansum nanmean count_nonzero average"""
            )
        ),
        lambda call: replace(derive(call.data(), call.place, Subtype.AGGREGATION), index=()),
    ),
    **dict.fromkeys(
        words("""pandas.to_datetime pandas.to_numeric pandas.to_timedelta pandas.cut pandas.qcut
            pandas.Timestamp pandas.isna pandas.isnull pandas.notna pandas.notnull
            pandas.Categorical pandas.factorize"""),
        _converted,
    ),
}
