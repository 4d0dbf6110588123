"""Functions and classes that a script defines."""

from __future__ import annotations

import ast
from dataclasses import replace

from dbt_graft.collectors.python_code.language.calls import new_function
from dbt_graft.collectors.python_code.values.machine import Machine
from dbt_graft.collectors.python_code.values.values import (
    Class,
    Function,
    Library,
    Method,
    ObjectCell,
    Ref,
    Thing,
    Value,
)

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
_MODELS = frozenset(
    {
        "pydantic.BaseModel",
        "typing.NamedTuple",
        "pydantic_settings.BaseSettings",
        "sqlmodel.SQLModel",
    }
)


def define_function(
    machine: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Ref
) -> Value:
    """A function with its decorators; one of a library is taken to pass it through."""
    function: Value = new_function(machine, node, scope)
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
    return function


def define_class(machine: Machine, node: ast.ClassDef, scope: Ref) -> Class:
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
    return Class(node, inner, bases, has_fields)
