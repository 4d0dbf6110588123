"""A script -> what it reads and writes, and the columns between; the door of the package."""

from __future__ import annotations

import ast
from collections.abc import Callable

from dbt_graft.collectors.python_code.calls import invoke
from dbt_graft.collectors.python_code.expressions import evaluate
from dbt_graft.collectors.python_code.limits import BudgetError
from dbt_graft.collectors.python_code.machine import Arguments, Language, Machine
from dbt_graft.collectors.python_code.modules import UnreadableScriptError, read_syntax
from dbt_graft.collectors.python_code.record import ScriptRecord
from dbt_graft.collectors.python_code.script import Script
from dbt_graft.collectors.python_code.statements import execute
from dbt_graft.collectors.python_code.values import Function, LineGap, ObjectCell, Ref
from dbt_graft.lineage.code import CodePlace
from dbt_graft.lineage.errors import exception_summary

_LANGUAGE = Language(evaluate, execute, invoke)


def follow_script(file: str, read_file: Callable[[str], bytes | None]) -> Script:
    """Follow the columns of a script, without running any of it.

    Args:
        file: The script, as a POSIX path below the project's root.
        read_file: A file by such a path -> its content; None if there is none.

    Never raises: code that cannot be followed is a gap with its line.
    """
    record = ScriptRecord()
    machine = Machine(record, read_file, file, _LANGUAGE)
    content = machine.read(file)
    record.files.setdefault(file)
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
    except Exception as error:  # of ours: what was followed so far is told, and that it ends here
        reason = f"not followed to its end ({exception_summary(error)})"
        record.add_gap(LineGap(machine.place, reason))
    return record.script()


def _call_functions(machine: Machine, tree: ast.Module, scope: Ref) -> None:
    """Follow the functions that the script leaves for others to call: of a DAG, of a Lambda."""
    cell = machine.cell(scope)
    assert isinstance(cell, ObjectCell)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node not in machine.called:
            function = cell.names.get(node.name)
            if isinstance(function, Function):
                machine.invoke(function, Arguments())
