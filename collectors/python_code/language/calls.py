"""Calls: arguments to parameters, functions and classes of the script, and libraries."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from dbt_graft.collectors.python_code.language.attributes import (
    RETURN,
    YIELDS,
    bind,
    get_attribute,
    names_of,
)
from dbt_graft.collectors.python_code.libraries.call_table import call_library, call_method
from dbt_graft.collectors.python_code.libraries.databases import is_connection
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.libraries.masks import masking_of
from dbt_graft.collectors.python_code.libraries.operators import note_search_paths, run_operator
from dbt_graft.collectors.python_code.values.limits import DEEPEST_CALLS
from dbt_graft.collectors.python_code.values.machine import Arguments, Call, Machine
from dbt_graft.collectors.python_code.values.values import (
    NOTHING,
    UNKNOWN,
    Class,
    Const,
    Data,
    DictCell,
    Function,
    Items,
    Library,
    Method,
    ObjectCell,
    OneOf,
    Ref,
    Thing,
    Value,
    derive,
)
from dbt_graft.lineage.code import UNKNOWN_PART
from dbt_graft.lineage.records import Subtype


def evaluate_arguments(machine: Machine, node: ast.Call, scope: Ref) -> Arguments:
    """The arguments of a call."""
    positional: list[Value] = []
    named: dict[str, Value] = {}
    more: list[Value] = []
    for argument in node.args:
        value = machine.evaluate(
            argument.value if isinstance(argument, ast.Starred) else argument, scope
        )
        if not isinstance(argument, ast.Starred):
            positional.append(value)
            continue
        items = iterate(machine, value)
        positional += items.items
        if items.rest is not None:
            more.append(items.rest)
    for keyword in node.keywords:
        value = machine.evaluate(keyword.value, scope)
        if keyword.arg is not None:
            named[keyword.arg] = value
            continue
        cell = machine.cell(value)
        if isinstance(cell, DictCell):
            named.update({key: item for key, item in cell.entries.items() if isinstance(key, str)})
            if cell.rest is not None or cell.open:
                more.append(value)
        else:
            more.append(value)
    return Arguments(tuple(positional), named, tuple(more))


def invoke(machine: Machine, function: Value, arguments: Arguments) -> Value:
    """The result of calling a value, which may be a task of Airflow, or make one."""
    machine.budget.spend()
    note_search_paths(machine, arguments)
    task = _task_of_call(machine, function, arguments)
    if not task:
        return _call_value(machine, function, arguments)
    with machine.record.of_task(task):
        result = _call_value(machine, function, arguments)
        if not isinstance(function, Function):
            run_operator(Call(machine, function, "", arguments))
        if isinstance(function, Function):
            machine.record.add_result(result)
    return result


def _task_of_call(machine: Machine, function: Value, arguments: Arguments) -> str:
    """The id of the task of Airflow that a call of an operator, or of its function, is of."""
    match function:
        case Function():
            return function.task
        case Library() | Class():
            name = function.name if isinstance(function, Library) else function.node.name
            task = arguments.get("task_id") if _OPERATOR.match(name) else None
            return (machine.text(task) or UNKNOWN_PART) if task else ""
        case Method(name="xcom_push"):
            machine.record.add_result(UNKNOWN)  # which the task hands on
    return ""


_OPERATOR = re.compile(r"airflow\.|.*(?:Operator|Sensor)$")


def _call_value(machine: Machine, function: Value, arguments: Arguments) -> Value:
    match function:
        case OneOf():
            results = [invoke(machine, item, arguments) for item in function.values]
            return machine.join_all(results) or UNKNOWN
        case Function():
            return _call_function(machine, function, arguments)
        case Class():
            return _instance(machine, function, arguments)
        case Library(name="builtins.getattr") if machine.text(arguments.get("", 1)):
            name = machine.text(arguments.get("", 1)) or ""
            return get_attribute(machine, arguments.get("", 0) or UNKNOWN, name)
        case Library():
            name = function.name.rpartition(".")[2]
            return call_library(Call(machine, function, name, arguments))
        case Method():
            return call_method(Call(machine, function.owner, function.name, arguments))
        case Ref() if isinstance(machine.cell(function), ObjectCell):
            inner = get_attribute(machine, function, "__call__")
            if isinstance(inner, Function):
                return invoke(machine, inner, arguments)
            if is_connection(machine, function):  # of `sessionmaker()`
                return function
    parts = machine.all_parts(arguments.values())
    data = derive([machine.data(function), *parts], machine.place)
    return replace(data, origin=machine.gap("a function is called that is not known"))


def new_function(
    machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Ref
) -> Function:
    """A function or lambda with the values of its defaults."""
    defaults = node.args.defaults
    by_keyword = node.args.kw_defaults
    return Function(
        node,
        scope,
        machine.file,
        tuple(machine.evaluate(default, scope) for default in defaults),
        tuple(machine.evaluate(default, scope) if default else None for default in by_keyword),
    )


def _call_function(machine: Machine, function: Function, arguments: Arguments) -> Value:
    node = function.node
    machine.called.add(node)
    machine.record.add_call(function.file, node)
    if machine.stack.count(node) > 1 or len(machine.stack) >= DEEPEST_CALLS:
        data = derive(machine.all_parts(arguments.values()), machine.place)
        return replace(data, origin=machine.gap("a function calls itself"))
    scope = machine.new(ObjectCell(parent=function.scope))
    _bind_parameters(machine, function, arguments, scope)
    before = machine.file, machine.line, machine.conditions, machine.control, machine.ended
    machine.file, machine.ended, machine.conditions = function.file, [], NOTHING
    machine.stack.append(node)
    try:
        if isinstance(node, ast.Lambda):
            return machine.evaluate(node.body, scope)
        return _masked(_run_body(machine, node, scope), node.name)
    finally:
        machine.stack.pop()
        machine.join_ended()
        machine.file, machine.line, machine.conditions, machine.control, machine.ended = before


def _masked(value: Value, name: str) -> Value:
    """The result of a function that is called `mask_email` or the like."""
    masking = masking_of(name, is_method=False)
    if not masking or not isinstance(value, Data):
        return value
    changed = (item for item in value.inputs if item.subtype is Subtype.TRANSFORMATION)
    masked = frozenset(item.then(item.subtype, masking) for item in changed)
    others = (item for item in value.inputs if item.subtype is not Subtype.TRANSFORMATION)
    return replace(value, inputs=masked.union(others))


def _run_body(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Ref) -> Value:
    is_generator = any(isinstance(part, ast.Yield | ast.YieldFrom) for part in own_nodes(node))
    yields = machine.new(Items()) if is_generator else None
    if yields:
        bind(machine, YIELDS, yields, scope)
    machine.execute(node.body, scope)
    machine.join_ended()
    if yields:
        return yields
    return names_of(machine, scope).names.get(RETURN, Const(None))


def own_nodes(function: ast.AST) -> list[ast.AST]:
    """The nodes of a function's body without those of functions inside."""
    nodes: list[ast.AST] = []
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
    return nodes


def _bind_parameters(
    machine: Machine, function: Function, arguments: Arguments, scope: Ref
) -> None:
    parameters = function.node.args
    positional = list(arguments.positional)
    if function.bound_to is not None:
        positional.insert(0, function.bound_to)
    named = dict(arguments.named or {})
    values: dict[str, Value] = {}
    filler = machine.join_all(arguments.more)
    places = [*parameters.posonlyargs, *parameters.args]
    first_default = len(places) - len(function.defaults)
    for at, parameter in enumerate(places):
        if at < len(positional):
            values[parameter.arg] = positional[at]
        elif parameter.arg in named:
            values[parameter.arg] = named.pop(parameter.arg)
        elif at >= first_default:
            values[parameter.arg] = function.defaults[at - first_default]
        else:
            values[parameter.arg] = _spread(machine, filler, parameter.arg)
            if parameter.arg in {"spark", "spark_session"} and not machine.parts(filler):
                values[parameter.arg] = Thing("spark")
    if parameters.vararg:
        values[parameters.vararg.arg] = Items(tuple(positional[len(places) :]), filler)
    for parameter, default in zip(parameters.kwonlyargs, function.keyword_defaults, strict=True):
        values[parameter.arg] = named.pop(parameter.arg, default or UNKNOWN)
    if parameters.kwarg:
        values[parameters.kwarg.arg] = machine.new(DictCell(dict(named), filler))
    cell = names_of(machine, scope)
    machine.put(scope, replace(cell, names=values))


def _spread(machine: Machine, filler: Value | None, name: str) -> Value:
    cell = machine.cell(filler)
    if isinstance(cell, DictCell):
        return cell.entries.get(name) or cell.rest or UNKNOWN
    if filler is not None:
        return filler
    return Data(origin=machine.gap(f"the argument {name!r} is not known"))


def _instance(machine: Machine, cls: Class, arguments: Arguments) -> Value:
    instance = machine.new(ObjectCell(of=cls))
    init = get_attribute(machine, instance, "__init__")
    if isinstance(init, Function):
        invoke(machine, init, arguments)
    elif cls.is_dataclass or any(getattr(base, "is_dataclass", False) for base in cls.bases):
        _set_fields(machine, cls, instance, arguments)
    elif arguments.named:
        machine.put(instance, ObjectCell(dict(arguments.named), cls))
    after = get_attribute(machine, instance, "__post_init__")
    if isinstance(after, Function):
        invoke(machine, after, Arguments())
    return instance


def _set_fields(machine: Machine, cls: Class, instance: Ref, arguments: Arguments) -> None:
    positional = list(arguments.positional)
    named = dict(arguments.named or {})
    values: dict[str, Value] = {}
    for name, default in _fields(machine, cls):
        values[name] = positional.pop(0) if positional else named.pop(name, default)
    machine.put(instance, ObjectCell(values, cls))


def _fields(machine: Machine, cls: Class) -> list[tuple[str, Value]]:
    fields: list[tuple[str, Value]] = []
    for base in cls.bases:
        if isinstance(base, Class):
            fields += _fields(machine, base)
    names = names_of(machine, cls.scope).names
    for statement in cls.node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            fields.append((statement.target.id, names.get(statement.target.id, UNKNOWN)))
    return fields
