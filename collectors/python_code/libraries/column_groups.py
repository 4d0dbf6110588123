"""Groups by expressions of columns: `df.groupBy("a").agg(…)`, `.pivot(…)`."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from dbt_graft.collectors.python_code.libraries.column_functions import SPARK_NAMES
from dbt_graft.collectors.python_code.libraries.evaluated_columns import (
    all_of,
    condition,
    evaluate_columns,
)
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.libraries.pandas_frames import unknown_method
from dbt_graft.collectors.python_code.values.frames import as_keys, find_column, with_rows
from dbt_graft.collectors.python_code.values.machine import NOT_KNOWN, Call
from dbt_graft.collectors.python_code.values.values import (
    NOTHING,
    UNKNOWN,
    Const,
    Data,
    DictCell,
    Frame,
    Items,
    Key,
    Thing,
    Value,
    all_gaps,
    all_inputs,
    change,
    combine,
    decided,
    derive,
)
from dbt_graft.lineage.code import UNKNOWN_PART
from dbt_graft.lineage.records import ANY_COLUMN, Subtype


def group_rows(call: Call) -> Value:
    """`df.groupBy("a")`, `df.group_by(pl.col("a"), b=…)`."""
    pairs = all_of(call, call.frame, (*call.arguments.positional, *call.arguments.more))
    for key, value in (call.arguments.named or {}).items():
        if key != "maintain_order":
            pairs += ((key, data) for _, data in all_of(call, call.frame, [value]))
    return Thing("column groups", {"keys": key_pairs(pairs)}, call.owner)


def key_pairs(pairs: Iterable[tuple[Key, Data]]) -> Items:
    """The columns that rows are grouped by, each with its name."""
    return Items(
        tuple(
            Items((Const(name) if isinstance(name, str) else UNKNOWN, data)) for name, data in pairs
        )
    )


def call_column_groups(call: Call) -> Value:
    """`.agg(…)`, `.count()`, `.sum("a")` of groups by expressions, `.pivot(…)` of Spark's."""
    machine, owner = call.machine, call.owner
    assert isinstance(owner, Thing)
    if call.name == "pivot":
        name, values = call.get("pivot_col", 0) or UNKNOWN, call.get("values", 1) or UNKNOWN
        before = machine.frame(owner.owner) or Frame()
        by = combine([data for _, data in all_of(call, before, [name])])
        return replace(owner, traits={**owner.traits, "by": by, "values": values})
    made = _of_groups(call)
    frame = machine.frame(made)
    return made if frame is None or "by" not in owner.traits else _pivoted(call, frame, owner)


def _pivoted(call: Call, frame: Frame, groups: Thing) -> Value:
    """Aggregates as columns, each of the rows that have one of the values, which names it."""
    machine = call.machine
    pairs = iterate(machine, groups.traits["keys"]).items
    keys = [machine.key(iterate(machine, pair).items[0]) for pair in pairs]
    by, values = machine.data(groups.traits["by"]), machine.keys(groups.traits["values"])
    columns = {name: data for name, data in frame.columns.items() if name in keys}
    aggregates = {name: data for name, data in frame.columns.items() if name not in keys}
    if values is None or frame.rest is not None:
        rest = derive([*aggregates.values(), by], call.place)
        gap = call.gap("columns are named by values")
        return machine.new(replace(frame, columns=columns, rest=replace(rest, origin=gap)))
    chosen = change(by.inputs, Subtype.CONDITIONAL)
    for value in values:
        for name, data in aggregates.items():
            key = f"{value}_{name}" if len(aggregates) > 1 else str(value)
            gaps = all_gaps(data) | all_gaps(by)
            columns[key] = replace(data, inputs=data.inputs | chosen, gaps=gaps)
    return machine.new(replace(frame, columns=columns))


def _of_groups(call: Call) -> Value:
    machine, owner = call.machine, call.owner
    assert isinstance(owner, Thing)
    frame = machine.frame(owner.owner) or Frame()
    pairs = [iterate(machine, pair).items for pair in iterate(machine, owner.traits["keys"]).items]
    keys: dict[Key, Data] = {machine.key(name): machine.data(data) for name, data in pairs}
    deciding = all_inputs(machine.data(data) for _, data in pairs)
    rows = frame.rows | change(deciding, Subtype.GROUP_BY)
    window = NOTHING
    if "is_rolling" in owner.traits:  # each row stays, with what is made of those before it
        rows, window = frame.rows, change(deciding, Subtype.WINDOW)
    base = replace(frame, open=(), rest=None, rows=rows, order=NOTHING)
    if keys.pop(NOT_KNOWN, None) is not None:
        base = base.with_gap(call.gap("a column that rows are grouped by has a name not known"))
    if (of_rows := _rows_of_groups(call, replace(frame, rows=rows), keys)) is not None:
        return of_rows
    if call.name in {"applyInPandas", "apply", "map_groups", "mapGroups"}:
        return unknown_method(replace(call, owner=machine.new(base)))
    if call.name == "agg":
        made = _aggregated(call, frame, keys)
        base = replace(base, open=made.open, rest=made.rest)
        columns = dict(made.columns)
    elif call.name == "len" or (call.name == "count" and not call.arguments.positional):
        columns = {call.text("name", 0) or call.name: Data(place=call.place)}
    else:
        is_spark = frame.library == "spark"
        # Polars' are options: `.quantile(0.5)`.
        given = call.arguments.positional if is_spark else ()
        names = [key for value in given for key in machine.keys(value) or []]
        if not names and (is_spark or frame.open):
            base = base.with_gap(call.gap("which of the columns are numbers is not known"))
        label = "{}({})" if is_spark else "{1}"
        function = SPARK_NAMES.get(call.name, call.name)
        columns = {
            label.format(function, name): derive(
                [find_column(machine, frame, name)], call.place, Subtype.AGGREGATION
            )
            for name in as_keys(names or [n for n in frame.columns if n not in keys])
        }
    columns = {name: replace(d, inputs=d.inputs | window) for name, d in columns.items()}
    return machine.new(replace(base, columns={**keys, **columns}))


def _rows_of_groups(call: Call, frame: Frame, keys: Mapping[Key, Data]) -> Value | None:
    """Rows of each group as they are, as methods of Polars choose them; None of other methods."""
    machine, values = call.machine, call.arguments.positional
    if call.name in {"head", "tail"}:
        return machine.new(replace(frame, columns={**keys, **frame.columns}))
    if call.name == "having" and isinstance(call.owner, Thing):
        deciding = all_inputs(condition(call, frame, value) for value in values)
        return replace(call.owner, owner=machine.new(with_rows(frame, deciding, Subtype.FILTER)))
    if call.name == "map_groups" and values:
        made = machine.call(values[0], machine.new(frame))
        return made if machine.frame(made) is not None else None
    return None


def _aggregated(call: Call, frame: Frame, keys: Container[Key]) -> Frame:
    machine = call.machine
    cell = machine.cell(call.get("", 0))
    gap = call.gap("aggregates have names that are not known")
    if isinstance(cell, DictCell):
        columns: dict[Key, Data] = {
            f"{_function(call, value)}({1 if name == ANY_COLUMN else name})": derive(
                [find_column(machine, frame, name)] if name != ANY_COLUMN else [],
                call.place,
                Subtype.AGGREGATION,
            )
            for name, value in cell.entries.items()
        }
        return Frame(columns, rest=Data(origin=gap) if cell.rest else None)
    made = evaluate_columns(call, frame, call.arguments.positional, call.arguments.named, keys)
    columns = {name: _of_group(call, data, frame) for name, data in made.columns.items()}
    made = replace(made, columns=columns)
    return replace(made, rest=Data(origin=gap)) if call.arguments.more else made


def _function(call: Call, value: Value) -> str:
    name = call.machine.text(value) or UNKNOWN_PART
    return SPARK_NAMES.get(name, name)


def _of_group(call: Call, data: Data, frame: Frame) -> Data:
    """A value of a group: made of its rows, of Polars without an aggregate the list of them."""
    if not data.is_aggregate and frame.library == "polars":
        data = replace(data, inputs=change(data.inputs, Subtype.AGGREGATION))
    return replace(decided(data, data.inputs), place=data.place or call.place)
