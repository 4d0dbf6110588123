"""Statements of a script: what they assign, and what follows from where they lead."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from dbt_graft.collectors.python_code.language.attributes import (
    RETURN,
    assign,
    bind,
    get_attribute,
    make_outer,
    names_of,
)
from dbt_graft.collectors.python_code.language.calls import new_function
from dbt_graft.collectors.python_code.language.expressions import operate
from dbt_graft.collectors.python_code.language.modules import import_names
from dbt_graft.collectors.python_code.language.notebooks import UnreadCell
from dbt_graft.collectors.python_code.libraries.iteration import iterate
from dbt_graft.collectors.python_code.values.containers import remove_entries
from dbt_graft.collectors.python_code.values.frames import without_columns
from dbt_graft.collectors.python_code.values.joins import Heap
from dbt_graft.collectors.python_code.values.limits import MOST_ITERATIONS
from dbt_graft.collectors.python_code.values.machine import Machine
from dbt_graft.collectors.python_code.values.values import (
    UNKNOWN,
    Class,
    Const,
    Data,
    Form,
    Function,
    Inputs,
    Items,
    Library,
    Method,
    ObjectCell,
    Ref,
    Thing,
    Value,
    change,
)
from dbt_graft.lineage.records import Subtype


def execute(machine: Machine, body: Sequence[ast.stmt], scope: Ref) -> bool:
    """Follow statements; False if they leave the function or the loop."""
    for statement in body:
        machine.budget.spend()
        machine.line = statement.lineno
        rule = _RULES.get(type(statement))
        if rule and rule(machine, statement, scope) is False:
            return False
    return True


def _assign(machine: Machine, node: ast.Assign, scope: Ref) -> None:
    value = machine.evaluate(node.value, scope)
    for target in node.targets:
        machine.line = node.lineno
        assign(machine, target, value, scope)


def _annotated(machine: Machine, node: ast.AnnAssign, scope: Ref) -> None:
    if node.value is not None:
        value = machine.evaluate(node.value, scope)
        machine.line = node.lineno
        assign(machine, node.target, value, scope)


def _augmented(machine: Machine, node: ast.AugAssign, scope: Ref) -> None:
    load = ast.copy_location(_loading(node.target), node.target)
    before = machine.evaluate(load, scope)
    value = machine.evaluate(node.value, scope)
    machine.line = node.lineno
    result = operate(machine, node.op, before, value)
    is_sum = machine.loop_mark and isinstance(node.target, ast.Name | ast.Subscript)
    if is_sum and isinstance(result, Data) and result.form is Form.VALUE:
        result = replace(result, inputs=change(result.inputs, Subtype.AGGREGATION))
    assign(machine, node.target, result, scope)


def _loading(target: ast.Name | ast.Attribute | ast.Subscript) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    if isinstance(target, ast.Attribute):
        return ast.Attribute(target.value, target.attr, ast.Load(), end_lineno=target.end_lineno)
    return ast.Subscript(target.value, target.slice, ast.Load())


def _delete(machine: Machine, node: ast.Delete, scope: Ref) -> None:
    for target in node.targets:
        if isinstance(target, ast.Subscript):
            owner = machine.evaluate(target.value, scope)
            frame = machine.frame(owner)
            names = machine.keys(machine.evaluate(target.slice, scope))
            if names is None or not isinstance(owner, Ref):
                continue
            if frame is not None:
                machine.put(owner, without_columns(frame, names))
            else:
                remove_entries(machine, owner, names)


def _if(machine: Machine, node: ast.If, scope: Ref) -> bool:
    test = machine.evaluate(node.test, scope)
    truth = machine.is_true(test)
    if truth is not None:
        return machine.execute(node.body if truth else node.orelse, scope)
    deciding = machine.condition(test)
    return branch(
        machine,
        [partial(machine.execute, body, scope) for body in (node.body, node.orelse)],
        deciding,
        [node.body, node.orelse],
    )


def branch(
    machine: Machine,
    ways: Sequence[Callable[[], bool]],
    deciding: Inputs,
    bodies: Sequence[Sequence[ast.stmt]],
) -> bool:
    """Follow one of several ways; False if none of them goes on."""
    start, control, conditions = machine.heap, machine.control, machine.conditions
    filters = change(deciding, Subtype.FILTER)
    heaps: list[Heap] = []
    left: Heap = {}
    leaves = False
    for way, body in zip(ways, bodies, strict=True):
        machine.heap = machine.copied(start)
        machine.control = control | filters
        machine.conditions = conditions | filters
        if way():
            heaps.append(machine.heap)
            continue
        left.update(machine.heap)
        if not (body and isinstance(body[-1], ast.Raise)):
            machine.ended.append(machine.heap)
            leaves = True
    machine.control, machine.conditions = control, conditions
    if leaves:  # what follows is reached by the others alone
        machine.control |= filters
        machine.conditions |= filters
    # A module that was imported on a way that ended is imported.
    machine.heap = {**left, **(heaps[0] if heaps else machine.heap)}
    if not heaps:
        return False
    for heap in heaps[1:]:
        machine.join_heaps(machine.heap, heap, deciding)
    return True


def _for(machine: Machine, node: ast.For | ast.AsyncFor, scope: Ref) -> bool:
    items = iterate(machine, machine.evaluate(node.iter, scope))
    control, conditions, ended = machine.control, machine.conditions, machine.ended
    machine.control |= items.rows
    machine.ended = []
    known, rest = items.items, items.rest
    if len(known) > MOST_ITERATIONS:
        known, rest = (), machine.join_all(items.values)
    for item in known:
        _iterate(machine, node, item, scope)
    if rest is not None:
        _iterate_any(machine, node, rest, scope)
    machine.control, machine.conditions, machine.ended = control, conditions, ended
    machine.execute(node.orelse, scope)
    return True


def _iterate(
    machine: Machine, node: ast.For | ast.AsyncFor | ast.While, item: Value, scope: Ref
) -> None:
    control, conditions = machine.control, machine.conditions
    if not isinstance(node, ast.While):
        machine.line = node.lineno
        assign(machine, node.target, item, scope)
    machine.execute(node.body, scope)
    machine.join_ended()
    machine.control, machine.conditions = control, conditions


def _iterate_any(
    machine: Machine, node: ast.For | ast.AsyncFor | ast.While, item: Value, scope: Ref
) -> None:
    """Twice: what an iteration leaves, the next finds; of each item only once."""
    mark = machine.loop_mark
    parts = item.items if isinstance(item, Items) else (item,)
    rows = {part.cell: machine.heap[part.cell] for part in parts if isinstance(part, Ref)}
    leaves = any(isinstance(part, ast.Break) for part in ast.walk(node))
    for _ in range(2):
        before = {**machine.heap, **rows}
        machine.heap = machine.copied(before)
        machine.loop_mark = machine.new(ObjectCell()).cell
        _iterate(machine, node, item, scope)
        changed = {cell: machine.heap[cell] for cell in rows} if not leaves else {}
        machine.join_heaps(before, machine.heap)
        machine.heap.update(changed)
    machine.loop_mark = mark


def _while(machine: Machine, node: ast.While, scope: Ref) -> bool:
    test = machine.evaluate(node.test, scope)
    if machine.is_true(test) is False:
        return machine.execute(node.orelse, scope)
    ended = machine.ended
    machine.ended = []
    _iterate_any(machine, node, UNKNOWN, scope)
    machine.ended = ended
    return True


def _with(machine: Machine, node: ast.With | ast.AsyncWith, scope: Ref) -> bool:
    for item in node.items:
        value = machine.evaluate(item.context_expr, scope)
        if item.optional_vars is not None:
            assign(machine, item.optional_vars, _entered(machine, value), scope)
    return machine.execute(node.body, scope)


def _entered(machine: Machine, value: Value) -> Value:
    cell = machine.cell(value)
    if isinstance(cell, Items):  # of a generator: @contextmanager
        return machine.join_all(iterate(machine, value).values) or UNKNOWN
    if isinstance(cell, ObjectCell):
        enter = get_attribute(machine, value, "__enter__")
        if isinstance(enter, Function):
            return machine.call(enter)
    return value


def _try(machine: Machine, node: ast.Try | ast.TryStar, scope: Ref) -> bool:
    goes_on = machine.execute(node.body, scope) and machine.execute(node.orelse, scope)
    after = machine.heap
    for handler in node.handlers:
        machine.heap = machine.copied(after)
        if handler.name:
            bind(machine, handler.name, UNKNOWN, scope)
        if machine.execute(handler.body, scope):
            machine.join_heaps(after, machine.heap)
            after = machine.heap
            goes_on = True
        else:
            if not isinstance(handler.body[-1], ast.Raise):
                machine.ended.append(machine.heap)
            after = {**machine.heap, **after}
    machine.heap = after
    return machine.execute(node.finalbody, scope) and goes_on


def _return(machine: Machine, node: ast.Return, scope: Ref) -> bool:
    value = machine.evaluate(node.value, scope) if node.value else Const(None)
    value = machine.decide(value, machine.conditions)
    before = names_of(machine, scope).names.get(RETURN)
    bind(machine, RETURN, machine.join(before, value), scope)
    return False


def _match(machine: Machine, node: ast.Match, scope: Ref) -> bool:
    subject = machine.evaluate(node.subject, scope)
    deciding = machine.condition(subject)
    ways: list[Callable[[], bool]] = [lambda: True]
    bodies: list[Sequence[ast.stmt]] = [[]]
    for case in node.cases:
        pattern = case.pattern
        if isinstance(pattern, ast.MatchValue) and isinstance(subject, Const):
            value = machine.evaluate(pattern.value, scope)
            if value == subject:
                return machine.execute(case.body, scope)
            continue
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
            ways.pop(0)
            bodies.pop(0)
            if pattern.name:
                bind(machine, pattern.name, subject, scope)
        ways.append(partial(machine.execute, case.body, scope))
        bodies.append(case.body)
    return branch(machine, ways, deciding, bodies)


def _leave(*_: object) -> bool:
    return False


# -- functions and classes that the script defines


_PROPERTIES = frozenset({"builtins.property", "functools.cached_property"})
_COLUMN_FUNCTIONS = (
    Library("pyspark.sql.functions.udf"),
    Library("pyspark.sql.functions.pandas_udf"),
)
_FIELDS = frozenset(
    {
        *("dataclasses.dataclass", "attr.s", "attr.dataclass", "attrs.define", "attrs.frozen"),
        *("pydantic.dataclasses.dataclass", "attr.define"),
    }
)
_AIRFLOW_TASK = re.compile(r"airflow\.(?:decorators|sdk)\.task(?:\.|$)")
_MODELS = frozenset(
    {
        "pydantic.BaseModel",
        "typing.NamedTuple",
        "pydantic_settings.BaseSettings",
        "sqlmodel.SQLModel",
    }
)


def _function(machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Ref) -> None:
    """A function with its decorators; one of a library is taken to pass it through."""
    task = _airflow_task(machine, node, scope)
    if task:
        machine.record.add_task(task)
    function: Value = replace(new_function(machine, node, scope), task=task)
    for decorator_node in reversed(node.decorator_list):
        decorator = machine.evaluate(decorator_node, scope)
        if isinstance(decorator, Library) and decorator.name in _PROPERTIES:
            assert isinstance(function, Function)
            function = replace(function, is_property=True)
        elif decorator == Method(Thing("udf"), "__call__") or decorator in _COLUMN_FUNCTIONS:
            function = machine.call(decorator, function)
        elif isinstance(decorator, Function):
            decorated = machine.call(decorator, function)
            function = decorated if isinstance(decorated, Function) else function
    bind(machine, node.name, function, scope)


def _airflow_task(
    machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Ref
) -> str:
    """The id of the task of Airflow that a function is: of `@task`, `@task(task_id="load")`."""
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else ast.Call(decorator, [], [])
        value = machine.evaluate(call.func, scope)
        if isinstance(value, Library) and _AIRFLOW_TASK.match(value.name):
            named = (item.value for item in call.keywords if item.arg == "task_id")
            return next((machine.text(machine.evaluate(n, scope)) or "" for n in named), node.name)
    return ""


def _class(machine: Machine, node: ast.ClassDef, scope: Ref) -> None:
    """A class with its attributes and methods."""
    inner = machine.new(ObjectCell(parent=scope))
    machine.execute(node.body, inner)
    bases = tuple(machine.evaluate(base, scope) for base in node.bases)
    decorators = [
        machine.evaluate(item.func if isinstance(item, ast.Call) else item, scope)
        for item in node.decorator_list
    ]
    has_fields = any(isinstance(d, Library) and d.name in _FIELDS for d in decorators) or any(
        (isinstance(base, Library) and base.name in _MODELS)
        or (isinstance(base, Class) and base.is_dataclass)
        for base in bases
    )
    bind(machine, node.name, Class(node, inner, bases, has_fields), scope)


def _unread(machine: Machine, *_: object) -> None:
    machine.record.add_gap(machine.gap("a cell that is no Python is not read"))


# -- all of them


_RULES: Mapping[type[ast.stmt], Callable[..., object]] = {
    ast.AnnAssign: _annotated,
    ast.Assign: _assign,
    ast.AsyncFor: _for,
    ast.AsyncFunctionDef: _function,
    ast.AsyncWith: _with,
    ast.AugAssign: _augmented,
    ast.Break: _leave,
    ast.ClassDef: _class,
    ast.Continue: _leave,
    ast.Delete: _delete,
    ast.Expr: lambda machine, node, scope: machine.evaluate(node.value, scope),
    ast.For: _for,
    ast.FunctionDef: _function,
    ast.Global: make_outer,
    ast.If: _if,
    ast.Import: import_names,
    ast.ImportFrom: import_names,
    ast.Match: _match,
    ast.Nonlocal: make_outer,
    ast.Raise: _leave,
    ast.Return: _return,
    ast.Try: _try,
    ast.TryStar: _try,
    UnreadCell: _unread,
    ast.While: _while,
    ast.With: _with,
}
