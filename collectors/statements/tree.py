"""sqlglot's syntax tree as a second opinion on the tables that the token scan found."""

from __future__ import annotations

import logging

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from collectors.statements.dialect import Dialect
from collectors.statements.tokens import Token

# The parser recurses: what is deeper or longer is not given to it.
_DEEPEST = 40
_MOST_TOKENS = 5_000


def objection(text: str, tokens: list[Token], dialect: Dialect, tables: set[str]) -> str | None:
    """Why the tree does not confirm these tables; None where it does.

    Args:
        text: One statement without its literals.
        tables: The last parts of the names found, in lower case.
    """
    if len(tokens) > _MOST_TOKENS or _depth(tokens) > _DEEPEST:
        return "too long or too deep for sqlglot's tree"
    # It logs each statement that it does not know; we count them.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    try:
        tree = sqlglot.parse_one(text, read=dialect.value)
    except (SqlglotError, RecursionError, ValueError) as error:
        return f"sqlglot's tree: {type(error).__name__}"
    if isinstance(tree, exp.Command):
        return "sqlglot's tree: statement not known"
    return None if _tables(tree) == tables else "sqlglot's tree: other tables"


def _depth(tokens: list[Token]) -> int:
    depth = deepest = 0
    for token in tokens:
        depth += (token.word == "(") - (token.word == ")")
        deepest = max(deepest, depth)
    return deepest


def _tables(tree: exp.Expr) -> set[str]:
    """The tables of a tree without aliases and common table expressions."""
    passed = {node.alias_or_name.casefold() for node in tree.find_all(exp.CTE)}
    found = set()
    for table in tree.find_all(exp.Table):
        if table.alias:
            passed.add(table.alias.casefold())
        if table.find_ancestor(exp.Reference):
            continue  # a foreign key
        if isinstance(table.this, exp.Identifier):
            sign = "#" if table.this.args.get("temporary") else ""
            found.add(f"{sign}{table.name.lstrip('#')}".casefold())
        elif isinstance(table.this, exp.Parameter):
            found.add(f"@{table.this.name}".casefold())
    return {name for name in found if name not in passed}
