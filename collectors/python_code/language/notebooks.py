"""Scripts, and notebooks of Databricks and Fabric as a repository has them, as Python.

In such a file the cells in other languages are comments that begin with `# MAGIC`, and the command
after it: https://docs.databricks.com/en/notebooks/notebook-format.html. SQL runs as by `spark.sql`,
`%run` as an import; of what is in other languages the machine makes a gap.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import groupby

_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?# (?:Databricks|Fabric) notebook source\b")
_MAGIC = re.compile(r"# MAGIC ?(.*)")
_COMMAND = re.compile(r"%%?(\w[\w-]*)\s*(.*)", re.DOTALL)
# Text for people, and what prepares the session: no data goes through them.
_WITHOUT_DATA = frozenset(
    [
        "autoreload",
        "conda",
        "config",
        "configure",
        "env",
        "html",
        "load_ext",
        "lsmagic",
        "matplotlib",
        "md",
        "md-sandbox",
        "pip",
        "restart_python",
        "set_env",
    ]
)
_LOOKING = re.compile(r"(?:ls|head|help|mounts)\b")
_PARAMETER = re.compile(r"\$\{[^}]*\}|\$\w+")
_PATH = re.compile(r"\"([^\"]+)\"|(\S+)")


class UnreadCell(ast.Expr):
    """A cell in a language that is not read; its value is its text, as bytes."""


def parse_python(content: bytes) -> ast.Module:
    """The syntax tree of a script or of a notebook in source format.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: As `ast.parse`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(content)
        if _HEAD.match(content):
            lines = content.decode("utf-8-sig").splitlines()
            cells = [node for cell in _cells(lines) for node in _statements(*cell)]
            tree.body = sorted([*tree.body, *cells], key=lambda node: node.lineno)
    return tree


def _cells(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The cells that are comments: the number of their first line, and their text."""
    matches = enumerate(map(_MAGIC.fullmatch, lines), 1)
    for is_magic, group in groupby(matches, key=lambda item: item[1] is not None):
        if is_magic:
            cell = [(number, match[1]) for number, match in group if match]
            yield cell[0][0], "\n".join(line for _, line in cell)


def _statements(line: int, cell: str) -> Iterator[ast.stmt]:
    text = cell.lstrip()
    line += cell[: len(cell) - len(text)].count("\n")
    match = _COMMAND.fullmatch(text)
    command, rest = match.groups() if match else ("", text)
    line_of_rest = line + text[: len(text) - len(rest)].count("\n")
    if command == "sql":
        yield from _sql(line_of_rest, rest)
    elif command == "run" and (path := _PATH.match(rest)):
        yield _at(line, _import(path[1] or path[2]))
    elif command in ("python", "pyspark"):
        for statement in ast.parse(rest).body:
            yield _at(line_of_rest, statement)
    elif command not in _WITHOUT_DATA and not (command == "fs" and _LOOKING.match(rest)):
        yield _at(line, UnreadCell(ast.Constant(text.encode(), lineno=1, col_offset=0)))


def _sql(line: int, cell: str) -> Iterator[ast.stmt]:
    # A script that is no notebook is compared without a parser of SQL.
    from sqlglot.errors import TokenError

    from dbt_graft.collectors.python_code.script import UNKNOWN_PART
    from dbt_graft.collectors.statements.text.dialect import Dialect
    from dbt_graft.collectors.statements.text.split import split
    from dbt_graft.collectors.statements.text.tokens import tokenise

    text = _PARAMETER.sub(UNKNOWN_PART, cell)
    try:
        statements = split(tokenise(text, Dialect.SPARK), Dialect.SPARK)
    except TokenError:
        yield _at(line, UnreadCell(ast.Constant(cell.encode(), lineno=1, col_offset=0)))
        return
    for tokens in statements:
        if tokens:
            start, end = tokens[0].start, tokens[-1].end
            [node] = ast.parse(f"_sqldf = spark.sql({text[start : end + 1]!r})").body
            yield _at(line + text.count("\n", 0, start), node)


def _import(path: str) -> ast.stmt:
    """`%run` as an import beside the notebook, whatever the name of the file is."""
    folders = path.split("/")
    level = 1 + folders.count("..")
    parts = [part for part in folders if part not in ("", ".", "..")]
    names = [ast.alias("*", lineno=1, col_offset=0)]
    return ast.ImportFrom(".".join(parts), names, level, lineno=1, col_offset=0)


def _at(line: int, node: ast.stmt) -> ast.stmt:
    """A statement of a text of its own, at its place in the notebook."""
    ast.fix_missing_locations(node)
    return ast.increment_lineno(node, line - 1)
