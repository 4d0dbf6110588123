"""sqlglot's syntax tree: a second opinion on the tables that the token scan found, and columns."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.tokens import Token

_log = logging.getLogger(__name__)

# The parser recurses: deeper or longer statements are not passed to it.
_DEEPEST = 40
_MOST_TOKENS = 5_000
# Queries of people may be longer, and are seldom deeper. Where sqlglot is compiled, Python 3.12 and
# newer do not stop its recursion: some 900 brackets end a process with a stack of 2 MB.
_DEEPEST_QUERY = 200
_STEPS = {"(": 1, ")": -1, "CASE": 1, "END": -1}
_SCHEMA_EVOLUTION = re.compile(r"\bWITH\s++SCHEMA\s++EVOLUTION\b", re.IGNORECASE)
_NOT_SUPPORTED = "the parser does not support this statement"


class NoTreeError(ValueError):
    """A statement has no syntax tree; the message is the reason."""


def parse_statements(text: str, dialect: str | None) -> list[exp.Expr]:
    """The trees of the statements of a text; the empty ones are left out.

    Raises:
        SqlglotError: sqlglot cannot read it.
        RecursionError: Its brackets are nested too deeply.
    """
    # It logs each statement that it does not know; we count them.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    language = sqlglot.Dialect.get_or_raise(dialect)
    tokens = language.tokenize(text)
    if _depth(token.text.upper() for token in tokens) > _DEEPEST_QUERY:
        raise RecursionError("brackets are nested too deeply")
    trees = language.parser().parse(tokens, text)
    return [tree for tree in trees if tree and not isinstance(tree, exp.Semicolon)]


def syntax_tree(text: str, tokens: list[Token], dialect: Dialect) -> exp.Expr:
    """The tree of one statement without its literals.

    Raises:
        NoTreeError: The statement is too long or too deep, or sqlglot does not support it.
    """
    if len(tokens) > _MOST_TOKENS or _depth(token.word for token in tokens) > _DEEPEST:
        raise NoTreeError("the statement is too long or nested too deeply for the parser")
    if [token.word for token in tokens[1:4]] == ["WITH", "SCHEMA", "EVOLUTION"]:
        text = _SCHEMA_EVOLUTION.sub("", text, count=1)  # sqlglot does not know it
    try:
        trees = parse_statements(text, dialect.value)
    except (SqlglotError, RecursionError, ValueError) as error:
        _log.debug("sqlglot reads no tree", exc_info=True)
        raise NoTreeError(_NOT_SUPPORTED) from error
    if not trees or isinstance(trees[0], exp.Command):
        raise NoTreeError(_NOT_SUPPORTED)
    return trees[0]


def table_mismatch(trees: Iterable[exp.Expr], tables: set[str]) -> str | None:
    """The reason why the trees do not confirm these tables; None where they do.

    Args:
        tables: The last parts of the names found, in lower case.
    """
    names = set().union(*map(_tables, trees))
    return None if names == tables else "the parser finds other tables in this statement"


def sources_and_targets(tree: exp.Expr) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The tables in FROM and JOIN of a tree, and those in INTO."""
    ctes = {node.alias_or_name.casefold() for node in tree.find_all(exp.CTE)}
    reads, writes = [], []
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Func):
            continue
        name = tuple(part.name for part in table.parts)
        if len(name) == 1 and name[0].casefold() in ctes:
            continue
        parent = table.parent.parent if isinstance(table.parent, exp.Schema) else table.parent
        if isinstance(parent, exp.From | exp.Join):
            reads.append(name)
        elif isinstance(parent, exp.Into | exp.Insert):
            writes.append(name)
    return reads, writes


def like_pattern(text: str) -> re.Pattern[str]:
    """A pattern of LIKE as a regular expression; the case of letters counts for nothing."""
    parts = [{"%": ".*", "_": "."}.get(sign, re.escape(sign)) for sign in text]
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL)


def name_pattern(text: str) -> re.Pattern[str] | None:
    """A pattern of columns' names, whose case counts for nothing; None where it is not valid."""
    try:
        return re.compile(text, re.IGNORECASE)
    except re.error:
        return None


def identifier_name(part: exp.Expr) -> str:
    """A part of a name, folded: a temporary table begins with `#`, a variable with `@`."""
    name = part.name.casefold()
    if isinstance(part, exp.Parameter):
        return f"@{name}"
    is_global, is_temporary = part.args.get("global_"), part.args.get("temporary")
    sign = "##" if is_global else "#" if is_temporary else ""
    return f"{sign}{name.lstrip('#')}" if sign else name


def _depth(words: Iterable[str]) -> int:
    depth = deepest = 0
    for word in words:
        depth = max(depth + _STEPS.get(word, 0), 0)
        deepest = max(deepest, depth)
    return deepest


def _tables(tree: exp.Expr) -> set[str]:
    ctes = {node.alias_or_name.casefold() for node in tree.find_all(exp.CTE)}
    names: set[str] = set()
    plain: set[str] = set()
    aliases: set[str] = set()
    for table in tree.find_all(exp.Table):
        if table.find_ancestor(exp.Reference):
            continue  # a foreign key
        name = _name(table)
        if table.alias:
            aliases.add(table.alias.casefold())
        if table.args.get("db") is not None:
            names.add(name)
        elif name not in ctes:
            # Only a name that stands alone can be an alias: UPDATE p … FROM dbo.p AS p.
            (names if table.alias else plain).add(name)
    return (names | (plain - aliases)) - {""}


def _name(table: exp.Table) -> str:
    if isinstance(table.this, exp.Dot):
        return table.this.expression.name.casefold()  # the last of four parts
    if isinstance(table.this, exp.Identifier | exp.Parameter):
        return identifier_name(table.this)
    return ""
