"""A script -> what it reads and writes, and the columns between; the door of the package."""

from __future__ import annotations

import ast

from dbt_graft.collectors.python_code.language.attributes import get_attribute
from dbt_graft.collectors.python_code.language.calls import invoke
from dbt_graft.collectors.python_code.language.expressions import evaluate
from dbt_graft.collectors.python_code.language.modules import UnreadableScriptError, read_syntax
from dbt_graft.collectors.python_code.language.statements import execute
from dbt_graft.collectors.python_code.script import ReadFile, Script
from dbt_graft.collectors.python_code.values.limits import BudgetError
from dbt_graft.collectors.python_code.values.machine import Arguments, Language, Machine
from dbt_graft.collectors.python_code.values.record import ScriptRecord
from dbt_graft.collectors.python_code.values.values import Class, Function, LineGap, ObjectCell, Ref
from dbt_graft.lineage.code import CodePlace
from dbt_graft.lineage.errors import exception_summary

_LANGUAGE = Language(evaluate, execute, invoke)


def follow_script(file: str, read_file: ReadFile) -> Script:
    """Follow the columns of a script, without running any of it.

    Args:
        file: The script, as a POSIX path below the project's root.
        read_file: A file by such a path -> its content; None if there is none.

    Never raises: code that cannot be followed is a gap with its line.
    """
    record = ScriptRecord()
    machine = Machine(record, read_file, file, _LANGUAGE)
    content = machine.read(file)
    try:
        if content is None:
            raise UnreadableScriptError("the file does not exist")
        tree = read_syntax(content)
        scope = machine.new(ObjectCell())
        machine.modules[file] = scope
        machine.execute(tree.body, scope)
        if not record.has_targets:
            _call_functions(machine, tree, scope)
    except UnreadableScriptError as error:
        record.add_gap(LineGap(CodePlace(file, error.line), str(error)))
    except BudgetError as error:
        record.add_gap(LineGap(machine.place, str(error)))
    except RecursionError:
        record.add_gap(LineGap(machine.place, "the code is nested too deeply"))
    except Exception as error:  # a fault of ours: what was followed so far stays, with a gap
        reason = f"not followed to its end ({exception_summary(error)})"
        record.add_gap(LineGap(machine.place, reason))
    return record.script()


def _call_functions(machine: Machine, tree: ast.Module, scope: Ref) -> None:
    """Follow the functions and methods that the script leaves for others to call."""
    for node in tree.body:
        value = machine.names(scope).get(getattr(node, "name", ""))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node not in machine.called and isinstance(value, Function):
                machine.invoke(value, Arguments())
        elif isinstance(value, Class) and node is value.node:
            _call_methods(machine, value)


def _call_methods(machine: Machine, of: Class) -> None:
    instance = machine.invoke(of, Arguments())
    for name, method in machine.names(of.scope).items():
        is_new = isinstance(method, Function) and method.node not in machine.called
        if is_new and not name.startswith("__"):
            machine.invoke(get_attribute(machine, instance, name), Arguments())
