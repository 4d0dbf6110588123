"""Programs that a script or an operator of Airflow starts: those that are here are followed."""

from __future__ import annotations

import posixpath
import re

from dbt_graft.collectors.python_code.values.machine import Call, Machine
from dbt_graft.collectors.python_code.values.values import UNKNOWN, Value

# `python3 -m etl.load`, `python -u /app/etl/load.py`, `spark-submit --conf a=b load.py`.
_MODULE = re.compile(r"\bpython[\d.]*(?:\s+-[a-zA-Z]+)*?\s+-m\s+([\w.]+)")
_FILE = re.compile(r"(?:^|(?<=[\s'\"=;&|(]))[\w./~-]+\.(?:py|sh)\b")


def run_path(call: Call) -> Value:
    """`runpy.run_path("load.py")`."""
    run_program(call.machine, call.text("path_name", 0) or "")
    return UNKNOWN


def add_import_path(call: Call) -> Value:
    """`sys.path.append(folder)`, `sys.path.insert(0, folder)`."""
    path = call.text("", 1 if call.name == "insert" else 0)
    if path is not None and not path.startswith("/"):
        beside = posixpath.join(posixpath.dirname(call.machine.file), path)
        call.machine.import_paths += map(posixpath.normpath, (path, beside))
    return UNKNOWN


def run_program(machine: Machine, path: str) -> None:
    """Follow a file that is started, if it is here; else a gap tells."""
    file = machine.named_file(path)
    if not file:
        machine.record.add_gap(machine.gap("the program that it starts is not here"))
    elif file.endswith(".sh"):
        text = (machine.read(file) or b"").decode(errors="replace")
        if file not in machine.running:
            machine.running.append(file)
            run_command(machine, text)
            machine.running.pop()
    else:
        machine.run(file)


def run_command(machine: Machine, command: str) -> None:
    """Follow the programs that are started by a command of a shell, as far as it names them."""
    modules = [f"{name.replace('.', '/')}.py" for name in _MODULE.findall(command)]
    for path in dict.fromkeys((*_FILE.findall(command), *modules)):
        run_program(machine, path)
