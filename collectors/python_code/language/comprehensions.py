"""Comprehensions, and loops of one expression."""

from __future__ import annotations

import ast

from dbt_graft.collectors.python_code.language.bindings import assign
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.values.limits import MOST_COLUMNS
from dbt_graft.collectors.python_code.values.machine import NOT_KNOWN, Machine
from dbt_graft.collectors.python_code.values.values import (
    NOTHING,
    UNKNOWN,
    DictCell,
    Inputs,
    ListCell,
    ObjectCell,
    Ref,
    Value,
    change,
)
from dbt_graft.lineage.records import Subtype

Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


def comprehend(machine: Machine, node: Comprehension, scope: Ref) -> Value:
    """The list or dictionary that a comprehension makes."""
    inner = machine.new(ObjectCell(parent=scope))
    made = _Made()
    _loop(machine, node, 0, inner, made, is_any=False, rows=NOTHING)
    if isinstance(node, ast.DictComp):
        keys = machine.join_all(made.any_keys)
        rest = machine.join_all(made.any)
        return machine.new(DictCell(made.entries, rest, keys, (), made.rows))
    rest = machine.join_all(made.any)
    return machine.new(ListCell(tuple(made.items), rest, made.rows))


class _Made:
    def __init__(self) -> None:
        self.items: list[Value] = []
        self.entries: dict[object, Value] = {}
        self.any: list[Value] = []
        self.any_keys: list[Value] = []
        self.rows: Inputs = NOTHING


def _loop(
    machine: Machine,
    node: Comprehension,
    level: int,
    scope: Ref,
    made: _Made,
    *,
    is_any: bool,
    rows: Inputs,
) -> None:
    if level == len(node.generators):
        _add(machine, node, scope, made, is_any=is_any, rows=rows)
        return
    generator = node.generators[level]
    items = iterate(machine, machine.evaluate(generator.iter, scope))

    def follow(item: Value, unsure: bool) -> None:
        assign(machine, generator.target, item, scope)
        decided = rows | items.rows
        for condition in generator.ifs:
            test = machine.evaluate(condition, scope)
            truth = machine.is_true(test)
            if truth is False:
                return
            decided |= change(machine.condition(test), Subtype.FILTER)
            unsure = unsure or truth is None
        _loop(machine, node, level + 1, scope, made, is_any=unsure, rows=decided)

    for item in items.items[:MOST_COLUMNS]:
        follow(item, is_any)
    if items.rest is not None:
        follow(items.rest, True)


def _add(
    machine: Machine,
    node: Comprehension,
    scope: Ref,
    made: _Made,
    *,
    is_any: bool,
    rows: Inputs,
) -> None:
    made.rows |= rows
    if not isinstance(node, ast.DictComp):
        value = machine.evaluate(node.elt, scope)
        (made.any if is_any else made.items).append(value)
        return
    key_value = machine.evaluate(node.key, scope)
    key, value = machine.key(key_value), machine.evaluate(node.value, scope)
    if key is NOT_KNOWN:
        made.any.append(value)
        made.any_keys.append(key_value if key_value is not None else UNKNOWN)
    else:
        made.entries[key] = value
