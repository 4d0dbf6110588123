"""Expressions of columns that a frame gives their values later: `pl.col("a")`, `F.when(…)`."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.libraries.pandas_series import call_series_method, choose
from dbt_graft.collectors.python_code.values.machine import Call, Machine
from dbt_graft.collectors.python_code.values.selections import is_selection, names_of
from dbt_graft.collectors.python_code.values.values import (
    PENDING,
    UNKNOWN,
    Const,
    Data,
    Form,
    Library,
    Text,
    Thing,
    Value,
    derive,
)


def named(name: str) -> Data:
    """A column by its name; one with a dot stays in backticks, which says that it has no fields."""
    name = name if "." in name else name.strip("`")
    pending = ColumnInput(PENDING, name)
    return Data(frozenset({pending}), name=name, form=Form.EXPRESSION)


# Stands as the library of Polars' selectors, of which `~`, `-`, `&` and `|` make others.
SELECTORS = "polars.selectors"


def selector(name: str) -> Data:
    """The selector of columns under a name for several."""
    return replace(named(name), library=SELECTORS)


def is_selector(value: Value) -> TypeGuard[Data]:
    """Whether it is a selector, of which nothing was made."""
    return isinstance(value, Data) and value.library == SELECTORS and not value.place


def as_expression(machine: Machine, value: Value | None, *, text_is_column: bool = True) -> Data:
    """A value as an expression; a text is the name of a column, `when` one of several values."""
    if isinstance(value, Thing) and value.role == "when":
        return value_of_when(machine, value)
    if isinstance(value, Const) and isinstance(value.value, str) and text_is_column:
        return named(value.value)
    if isinstance(value, Thing) and value.role == "struct":
        made = machine.derived([value.traits["all"]])
        name = next(iter(names_of(made.name) or ()), None) if is_selection(made.name) else made.name
        return replace(made, form=Form.EXPRESSION, name=name)
    if text_is_column and (value == UNKNOWN or isinstance(value, Library | Text)):
        gap = machine.gap("a column whose name is not known")
        return Data(gaps=frozenset({gap}), form=Form.EXPRESSION)
    data = machine.data(value)
    return replace(data, form=Form.EXPRESSION)


def is_polars(value: Value) -> bool:
    return isinstance(value, Library) and value.name.startswith("polars")


def items_of(machine: Machine, value: Value) -> list[Value]:
    items = machine.items(value)
    return items.values if items is not None else [value]


def when(call: Call) -> Value:
    """`pl.when(condition).then(value)`, `F.when(condition, value)`."""
    machine = call.machine
    if is_polars(call.owner):
        conditions = machine.new_list([conditions_of(call)])
        return Thing("when", {"conditions": conditions, "values": machine.new_list([])})
    condition = as_expression(machine, call.get("condition", 0), text_is_column=False)
    conditions = machine.new_list([condition])
    value = call.get("value", 1)
    values = machine.new_list([value] if value is not None else [])
    return Thing("when", {"conditions": conditions, "values": values, "spark": Const(True)})


def conditions_of(call: Call) -> Data:
    """Conditions of Polars that hold together: expressions, and `column=value`."""
    machine = call.machine
    parts = [as_expression(machine, v) for v in call.arguments.positional]
    equal = (call.arguments.named or {}).items()
    parts += [machine.derived([named(name), value]) for name, value in equal]
    return replace(derive(parts, call.place), form=Form.EXPRESSION)


def call_when_method(call: Call) -> Value:
    """`.then(…)`, `.when(…)`, `.otherwise(…)`, and what is done with the value."""
    machine, owner = call.machine, call.owner
    assert isinstance(owner, Thing)
    conditions = list(iterate(machine, owner.traits["conditions"]).items)
    values = list(iterate(machine, owner.traits["values"]).items)
    is_spark = "spark" in owner.traits
    if call.name == "when" and is_spark:
        conditions.append(machine.data(call.get("condition", 0)))
        values += call.arguments.positional[1:]
    elif call.name == "when":
        conditions.append(conditions_of(call))
    elif call.name in {"then", "otherwise"}:
        added = call.arguments.values()
        values += added if is_spark else [as_expression(machine, value) for value in added]
    lists = {"conditions": machine.new_list(conditions), "values": machine.new_list(values)}
    thing = Thing("when", {**owner.traits, **lists})
    if call.name in {"when", "then"}:
        return thing
    value = value_of_when(machine, thing)
    if call.name == "otherwise":
        return value
    return call_series_method(replace(call, owner=value))


def value_of_when(machine: Machine, thing: Thing) -> Data:
    """The value of `when`: one of several."""
    conditions = [machine.data(v) for v in iterate(machine, thing.traits["conditions"]).items]
    values = [machine.data(v) for v in iterate(machine, thing.traits["values"]).items]
    name = values[0].name if values and "spark" not in thing.traits else None
    return replace(choose(conditions, values, machine.place), form=Form.EXPRESSION, name=name)


def case(call: Call) -> Value:
    """`case((condition, value), …, else_=value)`."""
    machine = call.machine
    pairs = [iterate(machine, value).items for value in call.arguments.positional]
    last = call.get("else_")
    values = [*(pair[1] for pair in pairs if len(pair) == 2), *([last] if last else [])]
    conditions = [machine.data(pair[0]) for pair in pairs if len(pair) == 2]
    return choose(conditions, list(map(machine.data, values)), call.place)
