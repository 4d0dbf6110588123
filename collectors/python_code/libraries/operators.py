"""Operators of Airflow that run SQL or a program: both are followed as the task's work."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace

from dbt_graft.collectors.python_code.libraries.builtin_calls import read_beside
from dbt_graft.collectors.python_code.libraries.databases import execute_text
from dbt_graft.collectors.python_code.libraries.programs import run_command, run_program
from dbt_graft.collectors.python_code.values.machine import Arguments, Call, Machine
from dbt_graft.collectors.python_code.values.values import Const, Value, alternatives

_STATEMENTS = ("sql", "hql")
_PROGRAMS = ("application", "python_file", "py_file", "main")
_FILE_OF_SQL = re.compile(r"\S+\.(?:sql|hql)", re.IGNORECASE)


def note_search_paths(machine: Machine, arguments: Arguments) -> None:
    """Note the folders of files of SQL that a call of `DAG` names."""
    machine.search_paths += _texts(machine, arguments.get("template_searchpath"))


def run_operator(call: Call) -> None:
    """Follow the SQL and the programs of a call that makes a task."""
    machine = call.machine
    for name in _STATEMENTS:
        for statement in _values(machine, call.get(name)):
            _run_statement(call, statement)
    for name in _PROGRAMS:
        for path in _texts(machine, call.get(name)):
            if path.endswith(".py"):
                run_program(machine, path)
            elif name == "application":
                machine.record.add_gap(machine.gap("the program that it starts is not of Python"))
    for command in _texts(machine, call.get("bash_command")):
        run_command(machine, command)


def _values(machine: Machine, value: Value | None) -> list[Value]:
    """A value, or the items of a list."""
    items = machine.items(value)
    return items.values if items is not None else [*alternatives(value)]


def _texts(machine: Machine, value: Value | None) -> list[str]:
    return [text for item in _values(machine, value) for text in machine.texts(item)]


def _run_statement(call: Call, statement: Value) -> None:
    """A statement, or the file that holds it."""
    machine = call.machine
    text = (machine.text(statement) or "").strip()
    if _FILE_OF_SQL.fullmatch(text):
        paths = [*(posixpath.join(folder, text) for folder in machine.search_paths), text]
        content = next(filter(None, (read_beside(machine, path) for path in paths)), None)
        if content is None:
            machine.record.add_gap(machine.gap("the file of its SQL is not here"))
            return
        statement = Const(content)
    execute_text(replace(call, name="execute"), statement, [])
