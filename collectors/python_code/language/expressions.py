"""Expressions of a script, comprehensions among them -> their abstract values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from dbt_graft.collectors.python_code.language.attributes import (
    YIELDS,
    assign,
    get_attribute,
    look_up,
)
from dbt_graft.collectors.python_code.language.calls import evaluate_arguments, new_function
from dbt_graft.collectors.python_code.libraries.column_expressions import is_selector, selector
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.libraries.subscripts import get_item
from dbt_graft.collectors.python_code.values.containers import append
from dbt_graft.collectors.python_code.values.limits import LONGEST_TEXT, MOST_COLUMNS, MOST_ITEMS
from dbt_graft.collectors.python_code.values.machine import (
    NOT_KNOWN,
    Arguments,
    Machine,
    may_be_none,
)
from dbt_graft.collectors.python_code.values.selections import (
    both,
    complement,
    either,
)
from dbt_graft.collectors.python_code.values.texts import concatenate, format_percent, join_path
from dbt_graft.collectors.python_code.values.values import (
    NOTHING,
    UNKNOWN,
    Const,
    Data,
    DictCell,
    Form,
    Inputs,
    Items,
    Method,
    ObjectCell,
    OneOf,
    Ref,
    Thing,
    Value,
    change,
    derive,
    is_count,
)
from dbt_graft.lineage.records import Subtype

_NUMBERS: Mapping[type[ast.operator], Callable[[Any, Any], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def evaluate(machine: Machine, node: ast.expr, scope: Ref) -> Value:
    """The value of an expression."""
    machine.budget.spend()
    rule = _RULES.get(type(node))
    return rule(machine, node, scope) if rule else UNKNOWN


def _attribute(machine: Machine, node: ast.Attribute, scope: Ref) -> Value:
    owner = evaluate(machine, node.value, scope)
    machine.line = node.end_lineno or machine.line
    if isinstance(owner, Data) and node.attr in {"write", "writeStream"}:
        return Thing("spark.writer", {}, owner)  # of a frame that is not known
    value = get_attribute(machine, owner, node.attr)
    if isinstance(value, Method) and isinstance(owner, Data) and owner.inputs:
        return derive([owner], machine.place)  # `day.year`: no method is called
    return value


def _call(machine: Machine, node: ast.Call, scope: Ref) -> Value:
    function = _called(machine, node.func, scope)
    arguments = evaluate_arguments(machine, node, scope)
    line = machine.line
    machine.line = node.func.end_lineno or node.lineno
    value = machine.invoke(function, arguments)
    if isinstance(node.func, ast.Attribute) and _changes_series(machine, function, arguments):
        assign(machine, node.func.value, value, scope)
        value = Const(None)
    machine.line = line
    return value


def _changes_series(machine: Machine, function: Value, arguments: Arguments) -> bool:
    """Whether a call changes a column where it is: `df["a"].fillna(0, inplace=True)`."""
    is_method = isinstance(function, Method) and isinstance(function.owner, Data)
    if not is_method or not isinstance(function, Method):
        return False
    return function.name == "update" or machine.is_true(arguments.get("inplace")) is True


def _called(machine: Machine, node: ast.expr, scope: Ref) -> Value:
    """The function of a call: of a frame a method, whatever names its columns have."""
    if not isinstance(node, ast.Attribute):
        return evaluate(machine, node, scope)
    owner = evaluate(machine, node.value, scope)
    machine.line = node.end_lineno or machine.line
    is_accessor = isinstance(owner, Thing) and owner.role == "accessor"
    if machine.frame(owner) is not None or isinstance(owner, Data) or is_accessor:
        return Method(owner, node.attr)
    return get_attribute(machine, owner, node.attr)


def _subscript(machine: Machine, node: ast.Subscript, scope: Ref) -> Value:
    owner = evaluate(machine, node.value, scope)
    key = evaluate(machine, node.slice, scope)
    machine.line = node.lineno
    return get_item(machine, owner, key)


def _slice(machine: Machine, node: ast.Slice, scope: Ref) -> Value:
    ends = [
        evaluate(machine, end, scope) if end else Const(None) for end in (node.lower, node.upper)
    ]
    return Thing("slice", {"lower": ends[0], "upper": ends[1]})


def _sequence(machine: Machine, node: ast.Tuple | ast.List | ast.Set, scope: Ref) -> Value:
    items: list[Value] = []
    rest: Value | None = None
    for element in node.elts:
        if not isinstance(element, ast.Starred):
            items.append(evaluate(machine, element, scope))
            continue
        spread = iterate(machine, evaluate(machine, element.value, scope))
        items += spread.items
        rest = machine.join_all((rest, spread.rest))
    made = Items(tuple(items), rest)
    return _of_bounded_size(made) if isinstance(node, ast.Tuple) else machine.new(made)


def _of_bounded_size(items: Items) -> Items:
    """The tuple, or if it holds very many values, one of any of them."""
    waiting: list[Value] = [items]
    size = 0
    while waiting:
        value = waiting.pop()
        size += 1
        if size > MOST_ITEMS:
            return Items((), UNKNOWN)
        if isinstance(value, Items):
            waiting += value.items
    return items


def _dict(machine: Machine, node: ast.Dict, scope: Ref) -> Value:
    entries: dict[object, Value] = {}
    rest: Value | None = None
    result = DictCell()
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(machine, value_node, scope)
        if key_node is None:
            spread = machine.cell(value)
            if isinstance(spread, DictCell):
                entries.update(spread.entries)
                rest = machine.join_all((rest, spread.rest))
                result = replace(result, open=spread.open or result.open)
            elif isinstance(value, Items) and value.names:
                entries.update(zip(value.names, value.items, strict=False))
            else:
                rest = machine.join(rest, machine.data(value))
            continue
        key = machine.key(evaluate(machine, key_node, scope))
        if isinstance(key, str | int | float | tuple | bytes) or key is None:
            entries[key] = value
        else:
            rest = machine.join(rest, value)
    return machine.new(replace(result, entries=entries, rest=rest))


def _formatted(machine: Machine, node: ast.JoinedStr, scope: Ref) -> Value:
    pieces: list[Value] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = evaluate(machine, part.value, scope)
            pieces.append(value if not part.format_spec else machine.data(value))
        else:
            pieces.append(evaluate(machine, part, scope))
    return concatenate(machine, pieces)


def _binary(machine: Machine, node: ast.BinOp, scope: Ref) -> Value:
    left = evaluate(machine, node.left, scope)
    right = evaluate(machine, node.right, scope)
    machine.line = node.lineno
    return operate(machine, node.op, left, right)


def operate(machine: Machine, operation: ast.operator, left: Value, right: Value) -> Value:
    """The value of `left + right` and its like."""
    if isinstance(left, Const) and isinstance(right, Const):
        known = _of_constants(operation, left, right)
        if known is not None:
            return known
    if isinstance(operation, ast.Mod) and machine.texts(left):
        return format_percent(machine, left, right)
    if isinstance(operation, ast.Add) and (added := _added(machine, left, right)) is not None:
        return added
    if isinstance(operation, ast.Mult) and (many := _repeated(machine, left, right)) is not None:
        return many
    if (of_sets := _of_sets(machine, operation, left, right)) is not None:
        return of_sets
    if isinstance(operation, ast.Div) and machine.texts(right):  # Path / "file"
        return join_path(machine, [left, right])
    first, second = machine.cell(left), machine.cell(right)
    if isinstance(first, DictCell) and isinstance(second, DictCell):
        return machine.new(replace(first, entries={**first.entries, **second.entries}))
    if machine.frame(left) or machine.frame(right):
        return _frames(machine, left, right)
    return machine.derived([left, right])


def _added(machine: Machine, left: Value, right: Value) -> Value | None:
    """Texts or lists behind each other; None for other values."""
    are_text = [bool(machine.texts(side)) for side in (left, right)]
    if all(are_text) or (any(are_text) and not (_has_form(left) or _has_form(right))):
        return concatenate(machine, [left, right])
    return _added_lists(machine, left, right)


def _left_out(machine: Machine, left: Value, right: Value) -> Value | None:
    """`set(a) - set(b)`; None for other values."""
    items, gone = machine.items(left), machine.keys(right)
    if items is None or gone is None or isinstance(right, Const):
        return None
    return Items(tuple(item for item in items.items if machine.key(item) not in gone), items.rest)


def _of_sets(machine: Machine, operation: ast.operator, left: Value, right: Value) -> Value | None:
    """`set(a) - set(b)`, `cs.numeric() - cs.by_name("id")`; None for other values."""
    rule = _SETS.get(type(operation))
    if isinstance(operation, ast.Sub) and (left_out := _left_out(machine, left, right)) is not None:
        return left_out
    if rule is None or not is_selector(left) or not is_selector(right):
        return None
    return selector(rule(str(left.name), str(right.name)))


_SETS: Mapping[type[ast.operator], Callable[[str, str], str]] = {
    ast.BitAnd: both,
    ast.BitOr: either,
    ast.Sub: lambda left, right: both(left, complement(right)),
}


def _frames(machine: Machine, left: Value, right: Value) -> Value:
    frame = machine.frame(left) or machine.frame(right)
    assert frame
    other = right if machine.frame(left) else left
    second = machine.frame(other)
    extra = [] if second else [machine.data(other)]
    columns = {name: derive([data, *extra], machine.place) for name, data in frame.columns.items()}
    if second:
        for name, data in second.columns.items():
            columns[name] = derive(
                [columns[name], data] if name in columns else [data], machine.place
            )
    return machine.new(replace(frame, columns=columns))


def _has_form(value: Value) -> bool:
    return isinstance(value, Data) and (value.form is not Form.VALUE or bool(value.inputs))


def _of_constants(operation: ast.operator, left: Const, right: Const) -> Value | None:
    rule = _NUMBERS.get(type(operation))
    a, b = left.value, right.value
    if isinstance(a, str) and isinstance(operation, ast.Mod):
        return None
    if isinstance(operation, ast.Mult) and not all(
        isinstance(side, int | float) and abs(side) < 1e9 for side in (a, b)
    ):
        sizes = [len(side) if isinstance(side, str | bytes) else side for side in (a, b)]
        numbers = [size for size in sizes if isinstance(size, int)]
        if len(numbers) < 2 or numbers[0] * numbers[1] > 10_000:
            return UNKNOWN
    if rule is None:
        return None
    if isinstance(a, str | bytes) and isinstance(b, str | bytes) and len(a) + len(b) > LONGEST_TEXT:
        return UNKNOWN
    try:
        result = rule(a, b)
    except (TypeError, ValueError, ArithmeticError):
        return None
    assert isinstance(result, str | int | float | bytes | complex)
    return Const(result)


def _repeated(machine: Machine, left: Value, right: Value) -> Value | None:
    """A list as many times as a number says; None for other values."""
    for side, count in ((left, machine.key(right)), (right, machine.key(left))):
        items = machine.items(side)
        if items is not None and (is_count(left) or is_count(right)):
            return machine.new(Items((), machine.join_all(items.values), items.rows))
        if items is None or items.rest is not None or not isinstance(count, int):
            continue
        if 0 <= count * len(items.items) <= MOST_ITEMS:
            return machine.new_list(items.items * count)
    return None


def _added_lists(machine: Machine, left: Value, right: Value) -> Value | None:
    first, second = machine.items(left), machine.items(right)
    if first is None or second is None:
        return None
    if first.rest is None:
        items, rest = (*first.items, *second.items), second.rest
    else:
        items, rest = first.items, machine.join_all([first.rest, *second.items, second.rest])
    if len(items) > MOST_ITEMS:
        items, rest = (), machine.join_all([*items[:1], rest])
    added = Items(items, rest, first.rows | second.rows)
    return added if isinstance(left, Items) else machine.new(added)


def _unary(machine: Machine, node: ast.UnaryOp, scope: Ref) -> Value:
    value = evaluate(machine, node.operand, scope)
    if isinstance(node.op, ast.Not):
        truth = machine.is_true(value)
        if truth is None:
            return machine.derived([value]) if isinstance(value, Data) else UNKNOWN
        return Const(not truth)
    if isinstance(value, Const) and isinstance(value.value, int | float):
        if isinstance(node.op, ast.USub):
            return Const(-value.value)
        return value
    if isinstance(node.op, ast.Invert) and is_selector(value):
        return selector(complement(str(value.name)))  # `~cs.by_name("id")`
    return machine.derived([value])


def _boolean(machine: Machine, node: ast.BoolOp, scope: Ref) -> Value:
    values = []
    for operand in node.values:
        value = evaluate(machine, operand, scope)
        truth = machine.is_true(value)
        if truth is isinstance(node.op, ast.Or):
            values.append(value)
            break
        if truth is None or operand is node.values[-1]:
            values.append(value)
    return machine.join_all(values) or UNKNOWN


def _compare(machine: Machine, node: ast.Compare, scope: Ref) -> Value:
    values = [evaluate(machine, item, scope) for item in (node.left, *node.comparators)]
    if len(values) == 2 and isinstance(node.ops[0], ast.Is | ast.IsNot):
        return _is_none(machine, values[0], values[1], isinstance(node.ops[0], ast.Is))
    if len(values) == 2 and any(map(is_count, values)):
        return _compare_count(machine, node.ops[0], values)
    if all(isinstance(value, Const) for value in values) and len(values) == 2:
        rule = _COMPARISONS.get(type(node.ops[0]))
        first, second = (value.value for value in values if isinstance(value, Const))
        if rule:
            try:
                return Const(bool(rule(first, second)))
            except TypeError:
                return UNKNOWN
    if len(values) == 2 and isinstance(node.ops[0], ast.In | ast.NotIn):
        keys = machine.keys(values[1]) if not isinstance(values[1], Const) else None
        key = machine.key(values[0])
        if keys is not None and isinstance(values[0], Const):
            return Const((key in keys) is isinstance(node.ops[0], ast.In))
        values[1] = machine.items(values[1]) or values[1]
    return replace(machine.derived(values), index=())


def _compare_count(machine: Machine, operation: ast.cmpop, values: list[Value]) -> Value:
    """`len(df) == 0`: there are rows."""
    number = values[1] if is_count(values[0]) else values[0]
    if not isinstance(number, Const) or number.value not in (0, 1):
        return machine.derived(values)
    if isinstance(operation, ast.Eq) and number.value == 0:
        return Const(False)
    if isinstance(operation, ast.Gt | ast.NotEq) and number.value == 0:
        return Const(True)
    if isinstance(operation, ast.Lt | ast.GtE) and number.value == 1:
        return Const(isinstance(operation, ast.GtE))
    return machine.derived(values)


def _is_none(machine: Machine, value: Value, other: Value, negated: bool) -> Value:
    if isinstance(other, Const) and other.value is None:
        if isinstance(value, Const):
            return Const((value.value is None) is negated)
        if isinstance(value, Data | OneOf):
            return machine.derived([value]) if isinstance(value, Data) else UNKNOWN
        deciding = machine.condition(value)
        return Data(deciding) if deciding or may_be_none(value) else Const(not negated)
    return UNKNOWN


def _conditional(machine: Machine, node: ast.IfExp, scope: Ref) -> Value:
    test = evaluate(machine, node.test, scope)
    truth = machine.is_true(test)
    if truth is not None:
        return evaluate(machine, node.body if truth else node.orelse, scope)
    body = evaluate(machine, node.body, scope)
    other = evaluate(machine, node.orelse, scope)
    return machine.decide(machine.join(body, other), machine.condition(test))


def _walrus(machine: Machine, node: ast.NamedExpr, scope: Ref) -> Value:
    value = evaluate(machine, node.value, scope)
    assign(machine, node.target, value, scope)
    return value


def _yield(machine: Machine, node: ast.Yield | ast.YieldFrom, scope: Ref) -> Value:
    value = evaluate(machine, node.value, scope) if node.value else Const(None)
    yields = look_up(machine, YIELDS, scope)
    if isinstance(yields, Ref):
        if isinstance(node, ast.YieldFrom):
            items = iterate(machine, value)
            for item in items.items:
                append(machine, yields, item)
            if items.rest:
                append(machine, yields, items.rest, many=True)
        else:
            append(machine, yields, value)
    return UNKNOWN


Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp


def comprehend(machine: Machine, node: Comprehension, scope: Ref) -> Value:
    """The list or dictionary that a comprehension makes."""
    inner = machine.new(ObjectCell(parent=scope))
    items: list[Value] = []
    entries: dict[object, Value] = {}
    any_items: list[Value] = []
    any_keys: list[Value] = []
    rows: Inputs = NOTHING
    for key_value, value, is_any, decided in _iterations(machine, node, 0, inner):
        rows |= decided
        if not isinstance(node, ast.DictComp):
            (any_items if is_any else items).append(value)
        elif (key := machine.key(key_value)) is NOT_KNOWN:
            any_items.append(value)
            any_keys.append(key_value)
        else:
            entries[key] = value
    rest = machine.join_all(any_items)
    if isinstance(node, ast.DictComp):
        return machine.new(DictCell(entries, rest, machine.join_all(any_keys), (), rows))
    return machine.new(Items(tuple(items), rest, rows))


def _iterations(
    machine: Machine,
    node: Comprehension,
    level: int,
    scope: Ref,
    is_any: bool = False,
    rows: Inputs = NOTHING,
) -> Iterator[tuple[Value, Value, bool, Inputs]]:
    """Each key and value, whether it stands for any number of them, and what decides on it."""
    if level == len(node.generators):
        key = machine.evaluate(node.key, scope) if isinstance(node, ast.DictComp) else UNKNOWN
        value = node.value if isinstance(node, ast.DictComp) else node.elt
        yield key, machine.evaluate(value, scope), is_any, rows
        return
    generator = node.generators[level]
    items = iterate(machine, machine.evaluate(generator.iter, scope))
    ways = [(item, is_any) for item in items.items[:MOST_COLUMNS]]
    if items.rest is not None:
        ways.append((items.rest, True))
    for item, unsure in ways:
        assign(machine, generator.target, item, scope)
        decided = rows | items.rows
        for condition in generator.ifs:
            test = machine.evaluate(condition, scope)
            truth = machine.is_true(test)
            if truth is False:
                break
            decided |= change(machine.condition(test), Subtype.FILTER)
            unsure = unsure or truth is None
        else:
            yield from _iterations(machine, node, level + 1, scope, unsure, decided)


_RULES: Mapping[type[ast.expr], Callable[..., Value]] = {
    ast.Attribute: _attribute,
    ast.Await: lambda machine, node, scope: evaluate(machine, node.value, scope),
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.Call: _call,
    ast.Compare: _compare,
    ast.Constant: lambda _, node, __: UNKNOWN if node.value is Ellipsis else Const(node.value),
    ast.Dict: _dict,
    ast.DictComp: comprehend,
    ast.GeneratorExp: comprehend,
    ast.IfExp: _conditional,
    ast.JoinedStr: _formatted,
    ast.Lambda: new_function,
    ast.List: _sequence,
    ast.ListComp: comprehend,
    ast.Name: lambda machine, node, scope: look_up(machine, node.id, scope),
    ast.NamedExpr: _walrus,
    ast.Set: _sequence,
    ast.SetComp: comprehend,
    ast.Slice: _slice,
    ast.Starred: lambda machine, node, scope: evaluate(machine, node.value, scope),
    ast.Subscript: _subscript,
    ast.Tuple: _sequence,
    ast.UnaryOp: _unary,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
}
