"""numpy's functions, and pandas' on columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.builtin_calls import first_argument
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.values.machine import Call, Handler
from dbt_graft.collectors.python_code.values.values import (
    NO_GAPS,
    UNKNOWN,
    Const,
    Data,
    Frame,
    Items,
    ListCell,
    Thing,
    Value,
    all_gaps,
    change,
    combine,
    derive,
)
from dbt_graft.lineage.records import Subtype


def choose(call: Call, conditions: list[Data], values: list[Data]) -> Data:
    """One of several values, that conditions decide on."""
    chosen = combine([*values, *conditions])
    inputs = frozenset().union(
        *(change(value.inputs) for value in values),
        *(change(condition.inputs, Subtype.CONDITIONAL) for condition in conditions),
    )
    gaps = NO_GAPS.union(*map(all_gaps, [*values, *conditions]))
    return replace(chosen, inputs=inputs, gaps=gaps, origin=None, place=call.place, name=None)


def _where(call: Call) -> Value:
    condition = call.machine.data(call.get("condition", 0))
    values = [call.get("x", 1), call.get("y", 2)]
    if values == [None, None]:
        return derive([condition], call.place)
    return choose(call, [condition], [call.machine.data(value) for value in values])


def _select(call: Call) -> Value:
    conditions = iterate(call.machine, call.get("condlist", 0) or Items())
    values = iterate(call.machine, call.get("choicelist", 1) or Items())
    default = call.machine.data(call.get("default", 2))
    return choose(
        call,
        list(map(call.machine.data, conditions.values)),
        [*map(call.machine.data, values.values), default],
    )


def _converted(call: Call) -> Value:
    """`pd.to_datetime(series)`: of the first argument."""
    value = call.get("arg", 0)
    if call.machine.frame(value) is not None:
        return derive(call.machine.parts(value), call.place)
    data = call.machine.data(value)
    made = derive([data], call.place)
    return replace(made, name=data.name, index=data.index)


def _aggregated(call: Call) -> Value:
    return replace(derive(call.data(), call.place, Subtype.AGGREGATION), index=())


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
    return call.machine.new(ListCell((), call.machine.data(call.get("fill_value", 1))))


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
    "numpy.where": _where,
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
        _aggregated,
    ),
    **dict.fromkeys(
        words("""pandas.to_datetime pandas.to_numeric pandas.to_timedelta pandas.cut pandas.qcut
            pandas.Timestamp pandas.isna pandas.isnull pandas.notna pandas.notnull
            pandas.Categorical pandas.factorize"""),
        _converted,
    ),
}
