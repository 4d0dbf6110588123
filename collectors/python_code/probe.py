"""The outputs that another expression in a script changes, by following the script with a probe.

Where two versions of a script differ in expressions alone, a column that no table has is added to
each expression that is new: the columns and rows that it reaches are those that may be others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import TypeGuard

from dbt_graft.collectors.python_code.language.notebooks import parse_python
from dbt_graft.collectors.python_code.script import ReadFile, Script, ScriptEdge
from dbt_graft.collectors.python_code.task_code import compose_code, follow_script, task_code
from dbt_graft.lineage.code import CodeEdge, CodeGap, TaskCode, id_of_task
from dbt_graft.lineage.records import ANY_COLUMN

_PROBE = "graft_probe"
_PRELUDE = """
import pandas as graft_pandas
graft_probe = graft_pandas.read_sql_table("graft_probe", None)["value"]
"""
# Calls and functions may do anything with it; lists name columns.
_NO_VALUES = (ast.Call, ast.Lambda, ast.List, ast.Tuple, ast.Set, ast.Slice, ast.Starred)


class _OtherStructureError(Exception):
    """The versions differ in more than expressions whose effect a probe shows."""


def changed_outputs(
    old: bytes, file: str, read_file: ReadFile, task: str = "", script: str = ""
) -> tuple[CodeEdge, ...]:
    """The edges by which changed expressions reach what a script writes, or a task in it.

    Args:
        old: The file before; the others must be the same.
        file, read_file: The file now, as for `follow_script`.
        script: The script that uses it, if it is not the script itself.

    Returns:
        Edges from a table that is none; none where the effect of the change is not known.
    """
    new = read_file(file) or b""
    try:
        before, after = parse_python(old), parse_python(new)
        changed = list(_changed_expressions(before, after))
        _Wrapper({id(node) for node in changed}).visit(after)
        after.body[_place(after) : _place(after)] = ast.parse(_PRELUDE).body
        probed = ast.unparse(ast.fix_missing_locations(after)).encode()
    except (_OtherStructureError, SyntaxError, ValueError, RecursionError):
        return ()
    code = task_code(script or file, read_file, task)
    followed = follow_script(
        script or file, lambda path: probed if path == file else read_file(path)
    )
    own = id_of_task(followed.tasks, task)
    with_probe = compose_code(script or file, followed, own)
    if _gaps(with_probe) - _gaps(code) or _may_reach_unnamed(followed, own):
        return ()
    return _from_probe(with_probe)


def _may_reach_unnamed(script: Script, task: str) -> bool:
    """Whether the probe reaches a target without a name, or may reach unknown columns."""
    own = {at for at, item in enumerate(script.targets) if not task or item.task in ("", task)}
    if any(gap.target in own and gap.column == ANY_COLUMN for gap in script.gaps):
        return True
    probes = {at for at, source in enumerate(script.sources) if source.text == _PROBE}
    edges = [edge for edge in script.edges if edge.source in probes and edge.target in own]
    return any(
        not _from_probe(compose_code("", replace(script, edges=tuple(of_target)), task))
        for _, of_target in groupby(sorted(edges, key=_target), _target)
    )


def _from_probe(code: TaskCode) -> tuple[CodeEdge, ...]:
    return tuple(edge for edge in code.edges if edge.from_table == (_PROBE,))


def _target(edge: ScriptEdge) -> int:
    return edge.target


def _gaps(code: TaskCode) -> set[tuple[object, ...]]:
    def key(gap: CodeGap) -> tuple[object, ...]:
        return gap.reason, gap.to_table, gap.column

    return set(map(key, code.gaps))


def _changed_expressions(old: ast.AST, new: ast.AST) -> Iterator[ast.expr]:
    """The smallest expressions that differ, in the new version.

    Raises:
        _OtherStructureError: More differs, or what a call makes of it is not known.
    """
    if type(old) is not type(new):
        if not (isinstance(old, ast.expr) and _can_be_probed(new)):
            raise _OtherStructureError
        yield new
        return
    pairs = [(getattr(old, name, None), getattr(new, name, None)) for name in new._fields]
    inner: list[ast.expr] = []
    try:
        for first, second in pairs:
            inner += _changed_values(first, second)
    except _OtherStructureError:
        if not _can_be_probed(new):
            raise
        yield new
        return
    if inner and isinstance(new, ast.Call | ast.Lambda | ast.JoinedStr):
        raise _OtherStructureError
    yield from inner


def _can_be_probed(node: ast.AST) -> TypeGuard[ast.expr]:
    """Whether a column can be added to an expression; the sum of a text and one is no name."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    return is_read and isinstance(node, ast.expr) and not isinstance(node, _NO_VALUES)


def _changed_values(old: object, new: object) -> Iterator[ast.expr]:
    if isinstance(new, ast.AST) and isinstance(old, ast.AST):
        yield from _changed_expressions(old, new)
    elif isinstance(new, list) and isinstance(old, list):
        if len(old) != len(new):
            raise _OtherStructureError
        for first, second in zip(old, new, strict=True):
            yield from _changed_values(first, second)
    elif old != new:
        raise _OtherStructureError


class _Wrapper(ast.NodeTransformer):
    def __init__(self, expressions: set[int]) -> None:
        self._expressions = expressions

    def visit(self, node: ast.AST) -> ast.AST:
        is_changed = id(node) in self._expressions
        node = super().visit(node)
        if is_changed and isinstance(node, ast.expr):
            return ast.BinOp(node, ast.Add(), ast.Name(_PROBE, ast.Load()))
        return node


def _place(tree: ast.Module) -> int:
    """The place behind the docstring and imports from `__future__`."""
    for at, statement in enumerate(tree.body):
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (is_text or is_future):
            return at
    return len(tree.body)
