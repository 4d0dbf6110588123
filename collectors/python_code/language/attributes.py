"""Attributes of values, names of scopes, and assignments to both, to items and tuples of them.

An attribute is a column, a method, or a name of a module or an object.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from dataclasses import replace

from dbt_graft.collectors.name_tables import words
from dbt_graft.collectors.python_code.libraries.call_table import FRAME_METHODS
from dbt_graft.collectors.python_code.libraries.column_expressions import named
from dbt_graft.collectors.python_code.libraries.databases import COLUMN_NAME, RESULT, ROLE
from dbt_graft.collectors.python_code.libraries.iteration import column_names, iterate
from dbt_graft.collectors.python_code.libraries.pandas_groups import GROUP_METHODS
from dbt_graft.collectors.python_code.libraries.sqlalchemy_calls import model_column, table_frame
from dbt_graft.collectors.python_code.libraries.subscripts import (
    LOCATORS,
    as_column,
    set_item,
    with_values,
)
from dbt_graft.collectors.python_code.values.containers import get_entry, row_entries
from dbt_graft.collectors.python_code.values.frames import column, name_columns, row_of
from dbt_graft.collectors.python_code.values.machine import Arguments, Machine, to_value
from dbt_graft.collectors.python_code.values.values import (
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
    ObjectCell,
    OneOf,
    Ref,
    Text,
    Thing,
    Value,
    count_of,
    derive,
)

_ACCESSORS = words("str dt cat list struct arr bin json")
_ROW_METHODS = frozenset({"_asdict", "asDict", "get", "keys", "values", "items"})
_SERIES = frozenset({"values", "array", "T", "real", "index_values"})


def get_attribute(machine: Machine, owner: Value, name: str) -> Value:
    """`owner.name`."""
    match owner:
        case OneOf():
            results = [get_attribute(machine, item, name) for item in owner.values]
            return machine.join_all(results) or UNKNOWN
        case Ref():
            return _of_cell(machine, owner, name) or Method(owner, name)
        case Library():
            is_column = owner.name == "polars.col"
            return named(name) if is_column else Library(f"{owner.name}.{name}")
        case Class():
            value = _of_class(machine, owner, name, owner) or Method(owner, name)
            return model_column(machine, owner, name, value)
        case Data():
            return _of_data(owner, name)
        case Items() if name in owner.names or (owner.open and name not in _ROW_METHODS):
            return get_entry(machine, row_entries(owner), Const(name)) or UNKNOWN
        case Items() if name == "str":
            return Thing("names", {"items": owner})
        case Thing():
            return _of_thing(machine, owner, name)
        case Const() | Text() if name in {"stem", "name", "suffix", "parent"}:
            return _of_path(machine, owner, name)
    return Method(owner, name)


def _of_cell(machine: Machine, owner: Ref, name: str) -> Value | None:
    cell = machine.cell(owner)
    if isinstance(cell, ObjectCell):
        return _of_object(machine, owner, cell, name)
    if isinstance(cell, Frame):
        return _of_frame(machine, owner, cell, name)
    if isinstance(cell, DictCell) and name not in _ROW_METHODS:
        return cell.entries.get(name)  # of a row that is a series
    return None


def _of_path(machine: Machine, owner: Const | Text, name: str) -> Value:
    text = machine.text(owner)
    if text is None or isinstance(owner, Text):
        return Data() if name != "parent" else owner
    folder, _, last = text.rpartition("/")
    stem, dot, suffix = last.rpartition(".")
    parts = {"parent": folder, "name": last, "stem": stem or last, "suffix": dot + suffix}
    return Const(parts[name])


def _of_object(machine: Machine, owner: Value, cell: ObjectCell, name: str) -> Value:
    if name in cell.names:
        return cell.names[name]
    if cell.of is None:
        return _of_cursor(machine, owner, cell, name) if ROLE in cell.names else UNKNOWN
    attribute = _of_class(machine, cell.of, name, owner)
    if attribute is None:
        return cell.names.get("*") or Method(owner, name)
    if isinstance(attribute, Function) and attribute.is_property:
        return machine.call(attribute)
    return attribute


def _of_cursor(machine: Machine, owner: Value, cell: ObjectCell, name: str) -> Value:
    frame = machine.frame(cell.names.get(RESULT))
    if name == "description" and frame is not None and not frame.open and not frame.rest:
        return Items(tuple(Items((to_value(column),)) for column in frame.columns))
    if name == "description" and frame is not None and frame.open and not frame.columns:
        return Items((), Items((COLUMN_NAME,)))
    return UNKNOWN if name in {"description", "rowcount", "lastrowid"} else Method(owner, name)


def _of_class(machine: Machine, owner: Class, name: str, bound_to: Value) -> Value | None:
    cell = machine.heap[owner.scope.cell]
    assert isinstance(cell, ObjectCell)
    if name in cell.names:
        value = cell.names[name]
        is_method = isinstance(value, Function) and value.bound_to is None
        if is_method and isinstance(value, Function):
            decorators = {
                getattr(item, "id", "") for item in getattr(value.node, "decorator_list", ())
            }
            if "staticmethod" in decorators:
                return value
            if "classmethod" in decorators:
                return replace(value, bound_to=owner)
            return replace(value, bound_to=bound_to) if bound_to is not owner else value
        return value
    for base in owner.bases:
        if isinstance(base, Class):
            inherited = _of_class(machine, base, name, bound_to)
            if inherited is not None:
                return inherited
    if name == "__name__":
        return Const(owner.node.name)
    return None


def _of_frame(machine: Machine, owner: Value, frame: Frame, name: str) -> Value:
    if name == "c" and frame.library == "query":
        return Thing("columns", {}, owner)
    if name == "T":
        return machine.invoke(Method(owner, "transpose"), Arguments())
    rule = _FRAME_ATTRIBUTES.get(name)
    if rule is not None and name not in frame.columns:
        return rule(owner, frame)
    is_method = name in FRAME_METHODS
    if name in frame.columns and not is_method:
        return column(machine, frame, name)
    if not is_method and (frame.open or frame.rest) and not name.startswith("_"):
        return column(machine, frame, name)
    return Method(owner, name)


def _locator(name: str) -> Callable[[Value, Frame], Value]:
    return lambda owner, frame: Thing(name, {}, owner)


def _index(owner: Value, frame: Frame) -> Value:
    if frame.index:
        level, data = frame.index[0]
        return replace(data, name=level, form=Form.SERIES, rows=data.rows | frame.rows)
    return Data(form=Form.SERIES, rows=frame.rows)


def _array(owner: Value, frame: Frame) -> Value:
    return Thing("array", {"items": Items((), replace(row_of(frame), names=()), frame.rows)})


_FRAME_ATTRIBUTES: Mapping[str, Callable[[Value, Frame], Value]] = {
    **{name: _locator(name) for name in ("loc", "iloc", "at", "iat", "na")},
    **dict.fromkeys(words("dtypes schema width isStreaming ndim"), lambda owner, frame: UNKNOWN),
    "shape": lambda owner, frame: Items((count_of(frame.rows, frame.values), UNKNOWN)),
    **dict.fromkeys(words("rdd stat plot style str"), lambda owner, frame: owner),
    "columns": lambda owner, frame: column_names(frame),
    "empty": lambda owner, frame: Const(False),
    **dict.fromkeys(("height", "size"), lambda owner, frame: count_of(frame.rows, frame.values)),
    "index": _index,
    "values": _array,
    **dict.fromkeys(
        ("write", "writeStream"), lambda owner, frame: Thing("spark.writer", {}, owner)
    ),
}


def _of_data(owner: Data, name: str) -> Value:
    if owner.form is not Form.VALUE and name in _ACCESSORS:
        return Thing("accessor", {"accessor": Const(name)}, owner)
    if owner.form is Form.EXPRESSION and name == "name":
        return Thing("name", {}, owner)
    if owner.form is Form.SERIES and name in LOCATORS:
        return Thing(name, {}, owner)
    if owner.form is Form.SERIES and name == "name":
        return to_value(owner.name)
    if owner.form is Form.SERIES and name in _SERIES:
        return replace(owner, order=NOTHING)  # its labels are gone
    if owner.form is Form.SERIES and name in {"size", "shape"}:
        count = count_of(owner.rows, [owner])
        return count if name == "size" else Items((count,))
    if owner.form is Form.SERIES and name == "index":
        level = owner.index[0][1] if owner.index else Data()
        return replace(level, form=Form.SERIES, rows=level.rows | owner.rows)
    return Method(owner, name)


def _of_thing(machine: Machine, owner: Thing, name: str) -> Value:
    if name in owner.traits:
        return owner.traits[name]
    if owner.role == "spark" and name in {"read", "readStream"}:
        return Thing("spark.reader")
    if owner.role == "na" and owner.owner is not None:  # `df.na.drop()` drops rows
        return Method(owner.owner, {"drop": "dropna", "fill": "fillna"}.get(name, name))
    if owner.role == "sa.table" and name in {"c", "columns"}:
        return Thing("columns", {}, machine.new(table_frame(machine, owner)))
    if owner.role == "columns":
        frame = machine.frame(owner.owner)
        if frame is not None:
            return column(machine, frame, name)
    if owner.role == "groups" and name not in GROUP_METHODS:
        return replace(owner, traits={**owner.traits, "selected": Const(name)})
    if owner.role == "accessor" and name in _PARTS:
        data = machine.data(owner.owner)
        return replace(derive([data], machine.place), name=data.name, index=data.index)
    return Method(owner, name)


# Attributes behind `.dt` and `.str` that are no methods.
_PARTS = words("""
    year month day hour minute second microsecond nanosecond date time dayofweek day_of_week weekday
    dayofyear day_of_year quarter days seconds total_days is_month_start is_month_end is_leap_year
    is_quarter_start is_quarter_end is_year_start is_year_end tz daysinmonth days_in_month week
    weekofyear codes categories""")


def name_index(machine: Machine, owner: Value, name: Value) -> None:
    """`df.index.name = name`."""
    cell, key = machine.cell(owner), machine.key(name)
    if isinstance(cell, Frame) and isinstance(owner, Ref) and len(cell.index) < 2:
        data = cell.index[0][1] if cell.index else Data()
        machine.put(owner, replace(cell, index=((key if isinstance(key, str) else None, data),)))


def set_attribute(machine: Machine, owner: Value, name: str, value: Value) -> None:
    """`owner.name = value`."""
    cell = machine.cell(owner)
    if isinstance(cell, ObjectCell) and isinstance(owner, Ref):
        machine.put(owner, replace(cell, names={**cell.names, name: value}))
    elif isinstance(owner, Class):
        set_attribute(machine, owner.scope, name, value)
    elif isinstance(cell, Frame) and isinstance(owner, Ref):
        if name == "columns":
            machine.put(owner, name_columns(machine, cell, value))
        elif name == "index":
            data = machine.data(value)
            machine.put(owner, replace(cell, index=((data.name, data),) if data.inputs else ()))
        elif name in cell.columns or (name not in FRAME_METHODS and (cell.open or cell.rest)):
            machine.put(owner, cell.with_column(name, as_column(machine, cell, value)))


# Names of a scope that no code can write.
YIELDS = "<yields>"
RETURN = "<return>"
_OUTER = "<outer> "
# The library of which a scope has all names: `from lib import *`.
STARRED = "*"
_BUILTINS = frozenset(dir(builtins))
# Those that notebooks of Databricks and of Synapse and Fabric have without an import.
_NOTEBOOK_LIBRARIES = frozenset(["dbutils", "mssparkutils", "notebookutils"])


def names_of(machine: Machine, scope: Ref) -> ObjectCell:
    """The names of a scope."""
    cell = machine.heap[scope.cell]
    assert isinstance(cell, ObjectCell)
    return cell


def look_up(machine: Machine, name: str, scope: Ref) -> Value:
    """The value of a name."""
    at: Ref | None = scope
    starred: Value | None = None
    while at is not None:
        cell = names_of(machine, at)
        if name in cell.names:
            return cell.names[name]
        starred = cell.names.get(STARRED, starred)
        at = cell.parent
    if name == "__name__":
        return Const("__main__")
    if name == "__file__":
        return Const(machine.file)
    if name == "spark":  # notebooks have one
        return Thing("spark")
    if name in _NOTEBOOK_LIBRARIES:
        return Library(name)
    if name in _BUILTINS:
        return Library(f"builtins.{name}")
    return Library(f"{starred.name}.{name}") if isinstance(starred, Library) else UNKNOWN


def bind(machine: Machine, name: str, value: Value, scope: Ref) -> None:
    """Give a name a value."""
    cell = names_of(machine, scope)
    if _OUTER + name in cell.names:
        scope = _outer_scope(machine, name, scope)
        cell = names_of(machine, scope)
    machine.put(scope, replace(cell, names={**cell.names, name: value}))


def make_outer(machine: Machine, node: ast.Global | ast.Nonlocal, scope: Ref) -> None:
    """Note that names belong to an outer scope."""
    cell = names_of(machine, scope)
    marks = {_OUTER + name: Const(None) for name in node.names}
    machine.put(scope, replace(cell, names={**cell.names, **marks}))


def _outer_scope(machine: Machine, name: str, scope: Ref) -> Ref:
    at = scope
    while (parent := names_of(machine, at).parent) is not None:
        at = parent
        if name in names_of(machine, at).names:
            break
    return at


def assign(machine: Machine, target: ast.expr, value: Value, scope: Ref) -> None:
    """Assign a value to a target."""
    match target:
        case ast.Name():
            bind(machine, target.id, value, scope)
        case ast.Tuple() | ast.List():
            _unpack(machine, target.elts, value, scope)
        case ast.Attribute(value=ast.Attribute(value=frame, attr="index"), attr="name"):
            name_index(machine, machine.evaluate(frame, scope), value)
        case ast.Attribute():
            owner = machine.evaluate(target.value, scope)
            set_attribute(machine, owner, target.attr, value)
        case ast.Subscript():
            owner = machine.evaluate(target.value, scope)
            key = machine.evaluate(target.slice, scope)
            if (changed := with_values(machine, owner, key, value)) is not None:
                _assign_series(machine, target.value, changed, scope)
            else:
                set_item(machine, owner, key, value)
        case ast.Starred():
            assign(machine, target.value, value, scope)
        case _:
            pass


def _assign_series(machine: Machine, target: ast.expr, series: Value, scope: Ref) -> None:
    """Give the name of a series, which its item was set of, the changed one."""
    if isinstance(target, ast.Attribute) and target.attr in LOCATORS:
        target = target.value
    if isinstance(target, ast.Name):
        bind(machine, target.id, series, scope)


def _unpack(machine: Machine, targets: list[ast.expr], value: Value, scope: Ref) -> None:
    items = iterate(machine, value)
    values: list[Value] = list(items.items)
    starred = next((at for at, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
    missing = len(targets) - len(values)
    if starred is not None:
        after = len(targets) - starred - 1
        taken = values[starred : len(values) - after]
        rest = machine.new(Items(tuple(taken), items.rest))
        values = [*values[:starred], rest, *values[len(values) - after :]]
    elif missing > 0:
        filler = items.rest or machine.data(value)
        values += [filler] * missing
    for target, item in zip(targets, values, strict=False):
        assign(machine, target, item, scope)
