"""Scripts and notebooks, as Python.

In the source format of Databricks and Fabric cells in other languages are comments that begin with
`# MAGIC`, and the command after it: https://docs.databricks.com/en/notebooks/notebook-format.html.
Those of Jupyter are JSON: https://nbformat.readthedocs.io/en/latest/format_description.html. SQL of
Spark runs as by `spark.sql`, `%run` as an import; of what is in other languages the machine makes
a gap.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from dbt_graft.collectors.name_tables import words

_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?# (?:Databricks|Fabric) notebook source\b")
_MAGIC = re.compile(r"# MAGIC ?(.*)")
_COMMAND = re.compile(r"%%?(\w[\w-]*)\s*(.*)", re.DOTALL)
# Text for people, and what prepares the session: no data goes through them.
_WITHOUT_DATA = words("""
    autoreload conda config configure env html javascript js latex load_ext lsmagic markdown
    matplotlib md md-sandbox pip reload_ext restart_python set_env svg""")
_WITH_PYTHON = words("capture pyspark python time timeit")
_LOOKING = re.compile(r"(?:cat|echo|head|help|ls|mounts|pip|pwd)\b")
_PARAMETER = re.compile(r"\$\{[^}]*\}|\$\w+")
_PATH = re.compile(r"\"([^\"]+)\"|(\S+)")


class UnreadCell(ast.Expr):
    """A cell that is not read; its value is its text, as bytes."""


def parse_python(content: bytes) -> ast.Module:
    """The syntax tree of a script or of a notebook; its lines are those of the file.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: As `ast.parse`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if content.lstrip()[:1] == b"{" and (notebook := _read_json(content)):
            return ast.Module(list(_statements_of_json(notebook, content)), [])
        tree = ast.parse(content)
        if _HEAD.match(content):
            lines = content.decode("utf-8-sig").splitlines()
            cells = [node for cell in _cells(lines) for node in _statements(*cell)]
            tree.body = sorted([*tree.body, *cells], key=lambda node: node.lineno)
    return tree


def _read_json(content: bytes) -> Mapping[str, Any] | None:
    try:
        document = json.loads(content)
    except ValueError:
        return None
    return document if isinstance(document, dict) and "nbformat" in document else None


def _statements_of_json(notebook: Mapping[str, Any], content: bytes) -> Iterator[ast.stmt]:
    """The statements of a notebook of Jupyter.

    Raises:
        SyntaxError: It is of a version before 4.
    """
    try:
        metadata, cells = notebook["metadata"], notebook["cells"]
        kernel = metadata.get("kernelspec") or {}
        language = (metadata.get("language_info") or {}).get("name") or kernel.get("language") or ""
        is_python = not language or "py" in language.casefold()
        # Elsewhere a cell in SQL is of any database.
        has_spark = "spark" in kernel.get("name", "") or any(
            "databricks" in key for key in metadata
        )
        sources = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        pieces = [[text] if isinstance(text, str) else [*map(str, text)] for text in sources]
    except (KeyError, TypeError, AttributeError):
        raise SyntaxError("no notebook of a version from 4 on") from None
    at = 0
    for first, *others in filter(any, pieces):
        at = max(at, _find(content, first, at))
        line, text = content.count(b"\n", 0, at) + 1, "".join((first, *others))
        if not is_python:
            yield _unread(line, text)
        elif text.lstrip().startswith(("%%", "%sql")):
            yield from _statements(line, text, has_spark=has_spark)
        else:
            yield from _python(line, text, has_spark=has_spark)


def _find(content: bytes, text: str, start: int) -> int:
    """The place of a text in JSON; -1 where it is written in another way."""
    encoded = (json.dumps(text, ensure_ascii=is_ascii).encode() for is_ascii in (False, True))
    return max(content.find(form, start) for form in encoded)


def _cells(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The cells that are comments: the number of their first line, and their text."""
    matches = enumerate(map(_MAGIC.fullmatch, lines), 1)
    for is_magic, group in groupby(matches, key=lambda item: item[1] is not None):
        if is_magic:
            cell = [(number, match[1]) for number, match in group if match]
            yield cell[0][0], "\n".join(line for _, line in cell)


def _statements(line: int, cell: str, *, has_spark: bool = True) -> Iterator[ast.stmt]:
    """The statements of a cell, or of a line, that begins with a command."""
    text = cell.lstrip()
    line += cell[: len(cell) - len(text)].count("\n")
    match = _COMMAND.fullmatch(text)
    command, rest = match.groups() if match else ("", text)
    line_of_rest = line + text[: len(text) - len(rest)].count("\n")
    if command == "sql" and has_spark:
        yield from _sql(line_of_rest, rest)
    elif command == "run" and (path := _PATH.match(rest)):
        yield _at(line, _import(path[1] or path[2]))
    elif command in _WITH_PYTHON:
        yield from _python(line + 1, text.partition("\n")[2], has_spark=has_spark)
    elif command not in _WITHOUT_DATA and not (command in ("fs", "sh") and _LOOKING.match(rest)):
        yield _unread(line, text)


def _python(line: int, cell: str, *, has_spark: bool) -> Iterator[ast.stmt]:
    """The statements of a cell in Python, with the commands between them."""
    try:
        body = ast.parse(cell).body
    except SyntaxError:
        lines = cell.splitlines()
        for at, text in enumerate(lines):
            if text.startswith(("%", "!")):
                command = f"%sh {text[1:]}" if text[0] == "!" else text
                yield from _statements(line + at, command, has_spark=has_spark)
            if text.lstrip().startswith(("%", "!")):
                lines[at] = f"{text[: len(text) - len(text.lstrip())]}pass"
        try:
            body = ast.parse("\n".join(lines)).body
        except SyntaxError:  # in a notebook the cells around it run
            yield _unread(line, cell)
            return
    for statement in body:
        yield _at(line, statement)


def _unread(line: int, text: str) -> ast.stmt:
    return _at(line, UnreadCell(ast.Constant(text.encode(), lineno=1, col_offset=0)))


def _sql(line: int, cell: str) -> Iterator[ast.stmt]:
    # A script that is no notebook is compared without a parser of SQL.
    from sqlglot.errors import TokenError

    from dbt_graft.collectors.statements.text.dialect import Dialect
    from dbt_graft.collectors.statements.text.split import split
    from dbt_graft.collectors.statements.text.tokens import tokenise
    from dbt_graft.lineage.code import UNKNOWN_PART

    text = _PARAMETER.sub(UNKNOWN_PART, cell)
    try:
        statements = split(tokenise(text, Dialect.SPARK), Dialect.SPARK)
    except TokenError:
        yield _unread(line, cell)
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
