"""Modules that a script imports: those beside it are followed, others are libraries."""

from __future__ import annotations

import ast
import posixpath

from dbt_graft.collectors.python_code.language.attributes import STARRED, bind, names_of
from dbt_graft.collectors.python_code.language.notebooks import parse_python
from dbt_graft.collectors.python_code.values.limits import LARGEST_FILE
from dbt_graft.collectors.python_code.values.machine import Machine
from dbt_graft.collectors.python_code.values.values import (
    Const,
    Library,
    LineGap,
    ObjectCell,
    Ref,
    Value,
)
from dbt_graft.lineage.code import CodePlace


class UnreadableScriptError(Exception):
    """A file that is no Python; the message is the reason, without any of its text."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__(reason)
        self.line = line


def read_syntax(content: bytes) -> ast.Module:
    """The syntax tree of a file.

    Raises:
        UnreadableScriptError: It has none.
    """
    if len(content) > LARGEST_FILE:
        raise UnreadableScriptError(f"the file is larger than {LARGEST_FILE // 1_000_000} MB")
    if (null := content.find(b"\0")) >= 0:
        line = content.count(b"\n", 0, null) + 1  # Python tells none
        raise UnreadableScriptError("the syntax is not read: no Python 3", line)
    try:
        return parse_python(content)
    except SyntaxError as error:
        reason = "Python 2, or no Python" if "print" in str(error.msg) else "no Python 3"
        raise UnreadableScriptError(
            f"the syntax is not read: {reason}", error.lineno or 1
        ) from None
    except (ValueError, UnicodeError):
        raise UnreadableScriptError("the file is not text in its encoding") from None
    except (RecursionError, MemoryError):
        raise UnreadableScriptError("the code is nested too deeply") from None


def import_names(machine: Machine, node: ast.Import | ast.ImportFrom, scope: Ref) -> None:
    """Bind what an `import` names."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                bind(machine, alias.asname, _module(machine, alias.name, 0), scope)
            else:
                _bind_dotted(machine, alias.name, scope)
        return
    base = _module(machine, node.module or "", node.level)
    for alias in node.names:
        if alias.name == "*":
            if node.level and isinstance(base, Library):
                machine.record.add_gap(machine.gap("the code that it runs is not here"))
            _bind_all(machine, base, scope)
            continue
        bind(machine, alias.asname or alias.name, _member(machine, node, base, alias.name), scope)


def _member(machine: Machine, node: ast.ImportFrom, base: Value, name: str) -> Value:
    if isinstance(base, Ref):
        names = names_of(machine, base).names
        if name in names:
            return names[name]
    dotted = f"{node.module}.{name}" if node.module else name
    inner = _module(machine, dotted, node.level)
    if isinstance(inner, Ref):
        return inner
    return Library(dotted)


def _bind_all(machine: Machine, base: Value, scope: Ref) -> None:
    if isinstance(base, Ref):
        for name, value in names_of(machine, base).names.items():
            if not name.startswith("_"):
                bind(machine, name, value, scope)
    elif isinstance(base, Library):
        for name in _STARRED.get(base.name, "").split():
            bind(machine, name, Library(f"{base.name}.{name}"), scope)
        if base.name == "pyspark.sql.functions":
            bind(machine, STARRED, base, scope)  # it has hundreds


# Libraries whose names scripts import with a star -> the names that matter.
_STARRED = {
    # Those that Python has as well.
    "pyspark.sql.functions": """abs aggregate any ascii bin filter format hash hex max min pow
        reduce reverse round slice sum""",
    "pyspark.sql.types": """ArrayType BinaryType BooleanType ByteType CharType DateType
        DecimalType DoubleType FloatType IntegerType LongType MapType NullType Row ShortType
        StringType StructField StructType TimestampNTZType TimestampType VarcharType""",
    "pyspark.sql": "SparkSession Window",
    "pyspark.sql.window": "Window",
    "sqlalchemy": "create_engine text select Table MetaData Column insert update delete func",
    "pandas": "DataFrame read_sql read_csv read_sql_query concat merge",
    "pathlib": "Path",
}


def _bind_dotted(machine: Machine, dotted: str, scope: Ref) -> None:
    """`import lib.db` binds `lib`, with `db` in it."""
    first, _, rest = dotted.partition(".")
    module = _module(machine, dotted, 0)
    if not rest or not isinstance(module, Ref):
        bind(machine, first, module if not rest else Library(first), scope)
        return
    outer: Value = module
    for name in reversed(rest.split(".")):
        outer = machine.new(ObjectCell({name: outer}))
    bind(machine, first, outer, scope)


# Folders whose modules are imported without the folder: of a package that is installed, of Airflow.
_OF_MODULES = ("src", "plugins")


def _module(machine: Machine, dotted: str, level: int) -> Value:
    """A module beside the script, else a library."""
    parts = dotted.split(".") if dotted else []
    folder = posixpath.dirname(machine.file)
    if level:
        for _ in range(level - 1):
            folder = posixpath.dirname(folder)
        folders = [folder]
    else:
        folders = [*machine.roots, *machine.import_paths]
        folders += [f"{root}/{name}".strip("/") for root in machine.roots for name in _OF_MODULES]
    for base in folders:
        module = _read_module(machine, posixpath.join(base, *parts))
        if module is not None:
            return module
    return Library(dotted or ".")


def _read_module(machine: Machine, path: str) -> Ref | None:
    for file in (f"{path}.py", f"{path}/__init__.py"):
        if file in machine.modules:
            machine.record.add_file(file)
            scope, cells = machine.modules[file]
            if scope.cell not in machine.heap:  # it was imported on another way
                machine.heap = {**cells, **machine.heap}
            return scope
        content = machine.read(file)
        if content is not None:
            return _run_module(machine, file, content)
    return None


def _run_module(machine: Machine, file: str, content: bytes) -> Ref | None:
    scope = machine.new(ObjectCell({"__name__": Const("<module>"), "__file__": Const(file)}))
    machine.modules[file] = scope, {}  # also for a cycle of imports
    cells_before = machine.heap.keys() - {scope.cell}
    try:
        tree = read_syntax(content)
    except UnreadableScriptError as error:
        machine.record.add_gap(LineGap(CodePlace(file, error.line), str(error)))
        return scope
    before = machine.file, machine.line
    machine.file = file
    machine.execute(tree.body, scope)
    machine.file, machine.line = before
    cells = {cell: value for cell, value in machine.heap.items() if cell not in cells_before}
    machine.modules[file] = scope, cells
    return scope


def run_file(machine: Machine, file: str, scope: Ref | None = None) -> None:
    """Follow a file that another one runs: as a program, or in a scope of that one.

    Args:
        scope: None for a program.
    """
    content = machine.read(file)
    if content is None or file in machine.running or file == machine.file:
        return
    before = machine.file, machine.line
    machine.file = file
    machine.running.append(file)
    try:
        machine.execute(read_syntax(content).body, scope or machine.new(ObjectCell()))
    except UnreadableScriptError as error:
        machine.record.add_gap(LineGap(CodePlace(file, error.line), str(error)))
    finally:
        machine.running.pop()
        machine.file, machine.line = before
