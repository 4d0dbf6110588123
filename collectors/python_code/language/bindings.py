"""Names of a script: scopes, assignments to names, attributes, items and tuples of them."""

from __future__ import annotations

import ast
import builtins
from dataclasses import replace

from dbt_graft.collectors.python_code.language.attributes import name_index, set_attribute
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.libraries.subscripts import LOCATORS, set_item, with_values
from dbt_graft.collectors.python_code.values.machine import Machine
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Const,
    Library,
    ListCell,
    ObjectCell,
    Ref,
    Thing,
    Value,
)

# Names of a scope that no code can write.
YIELDS = "<yields>"
RETURN = "<return>"
_OUTER = "<outer> "
_BUILTINS = frozenset(dir(builtins))


def names_of(machine: Machine, scope: Ref) -> ObjectCell:
    """The names of a scope."""
    cell = machine.heap[scope.cell]
    assert isinstance(cell, ObjectCell)
    return cell


def look_up(machine: Machine, name: str, scope: Ref) -> Value:
    """The value of a name."""
    at: Ref | None = scope
    while at is not None:
        cell = names_of(machine, at)
        if name in cell.names:
            return cell.names[name]
        at = cell.parent
    if name == "__name__":
        return Const("__main__")
    if name == "__file__":
        return Const(machine.file)
    if name == "spark":  # notebooks have one
        return Thing("spark")
    return Library(f"builtins.{name}") if name in _BUILTINS else UNKNOWN


def bind(machine: Machine, name: str, value: Value, scope: Ref) -> None:
    """Give a name a value."""
    cell = names_of(machine, scope)
    if _OUTER + name in cell.names:
        scope = _outer_scope(machine, name, scope)
        cell = names_of(machine, scope)
    machine.put(scope, replace(cell, names={**cell.names, name: value}))


def make_outer(machine: Machine, names: list[str], scope: Ref) -> None:
    """Note that names belong to an outer scope: `global`, `nonlocal`."""
    cell = names_of(machine, scope)
    marks = {_OUTER + name: Const(None) for name in names}
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
        rest = machine.new(ListCell(tuple(taken), items.rest))
        values = [*values[:starred], rest, *values[len(values) - after :]]
    elif missing > 0:
        filler = items.rest or machine.data(value)
        values += [filler] * missing
    for target, item in zip(targets, values, strict=False):
        assign(machine, target, item, scope)
