"""The lists and names inside a plan's text: arguments, table names, columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from dbt_graft.lineage.frozen import frozen

_PART = re.compile(r"`(?P<quoted>(?:[^`]|``)*)`|(?P<plain>[^`.,\s\[\]()]+)")
_ATTRIBUTE = re.compile(r"(?P<name>.+)#(?P<id>\d{1,18})(?P<long>L?)", re.DOTALL)
_ENDS_WITH_ID = re.compile(r"#\d{1,18}L?$")
_MORE = re.compile(r"\.\.\. \d{1,9} more fields?")
_MARK = re.compile(r", \[(?:plan_)?id=#?\d{1,18}\]")
_SIGNS = re.compile(r"[`\[\](){},]")
# Names of columns may have brackets; the list ends behind an id.
_COLUMN_LIST = re.compile(r"\[(?:\]|(?:(?!\] ).)*?#\d{1,18}L?(?:, ?\.\.\. [^\[\]]*)?\])", re.DOTALL)
_LIST_ITEM = re.compile(r"#\d{1,18}L?(?:, ?|$)")
# The end of an expression before its ` AS `: names may hold ` AS ` too.
_ENDS_EXPRESSION = re.compile(r"(?:#\d{1,18}L?|\)|\bEND)$")
_ID = re.compile(r"#\d{1,18}(?![\d#])")
_MOST_ALIASES = 8


@frozen
class Attribute:
    """A column in a plan (`amount#12`, `id#3L`): its name, and an id unique in the application."""

    name: str
    id: int
    is_long: bool = False


def split_arguments(text: str) -> list[str]:
    """Split the arguments of an operator at the commas outside of brackets and backquotes."""
    return [part.strip() for part in _split(text, ", ", quotes=True)]


def _split(text: str, separator: str, *, quotes: bool) -> Iterator[str]:
    depth = start = 0
    quoted = False
    for sign in _SIGNS.finditer(text):
        at, char = sign.start(), sign.group()
        if char == "`":
            quoted = quotes and not quoted
        elif quoted:
            continue
        elif char in "[({":
            depth += 1
        elif char in "])}":
            depth -= 1
        elif not depth and text.startswith(separator, at):
            yield text[start:at]
            start = at + len(separator)
    yield text[start:]


def identifier(text: str) -> tuple[str, ...]:
    """The parts of the name at the start of a text: `` `spark_catalog`.`raw`.`orders` ``, say.

    Empty where it starts with none.
    """
    parts: list[str] = []
    at = 0
    while match := _PART.match(text, at):
        quoted = match["quoted"]
        parts.append(match["plain"] if quoted is None else quoted.replace("``", "`"))
        at = match.end()
        if text[at : at + 1] != ".":
            break
        at += 1
    return tuple(parts)


def bracket_items(text: str) -> list[str]:
    """The items of `[a, b]` or `[a,b]`, without those that Spark left out."""
    items = (item.strip() for item in _split(_strip_brackets(text), ",", quotes=True))
    return [item for item in items if item and not _MORE.fullmatch(item)]


def is_cut(text: str) -> bool:
    """Whether Spark left something out of a text: `... 15 more fields`."""
    return "... " in text and bool(_MORE.search(text))


def expressions(text: str) -> list[str]:
    """The named expressions of `[id#1, (a#2 + 1) AS b#3]`: each ends in its own id.

    Names and literals are not quoted and may have commas, so a text goes on until its id.
    """
    texts: list[str] = []
    pending = ""
    for item in _split(_strip_brackets(_MARK.sub("", text)), ",", quotes=False):
        pending = f"{pending},{item}" if pending else item
        if _ENDS_WITH_ID.search(pending.rstrip()[-24:]):
            texts.append(pending.strip())
            pending = ""
    return texts


def plain_expressions(text: str) -> list[str]:
    """The expressions of a list without names: keys, sort orders, functions."""
    inner = _strip_brackets(_MARK.sub("", text))
    items = (item.strip() for item in _split(inner, ", ", quotes=False))
    return [item for item in items if item and not _MORE.fullmatch(item)]


def attribute(text: str) -> Attribute | None:
    """The column that an expression makes: `id#3L`, `(a#2 + 1) AS b#3`."""
    _, alias = split_alias(text)
    return named_column(alias or text)


def column_list(text: str) -> str:
    """The first list in a text, if it is one of columns: `[id#3L, x[0]#4]`."""
    match = _COLUMN_LIST.match(text, max(text.find("["), 0))
    return match.group() if match else ""


def expression_columns(text: str) -> list[Attribute]:
    """The columns that a list of expressions makes."""
    return [column for item in expressions(text) if (column := attribute(item))]


def split_alias(text: str) -> tuple[str, str]:
    """The expression of `(a#2 + 1) AS b#3`, and what it is called; empty without an alias.

    Names are not quoted, so they may hold ` AS ` too.
    """
    if " AS " not in text or not _ENDS_WITH_ID.search(text[-24:]):
        return text, ""
    parts = text.split(" AS ")
    for at in range(1, min(len(parts), _MOST_ALIASES)):
        expression, alias = " AS ".join(parts[:at]), " AS ".join(parts[at:])
        is_balanced = expression.count("(") == expression.count(")")
        is_name = len(_ID.findall(alias)) == 1
        if is_balanced and is_name and _ENDS_EXPRESSION.search(expression[-24:]):
            return expression, alias
    expression, separator, alias = text.rpartition(" AS ")
    return (expression, alias) if separator else (text, "")


def attributes(text: str) -> list[Attribute]:
    """The columns of `[id#3L, name#4]`, whose names may hold any sign."""
    return list(_attributes(text))


@lru_cache(maxsize=64)  # An execution's plans and its text have the same lists.
def _attributes(text: str) -> tuple[Attribute, ...]:
    is_balanced = text.count("(") == text.count(")") and text.count("[") == text.count("]")
    items = expressions(text) if is_balanced else _flat_items(_strip_brackets(text))
    return tuple(column for item in items if (column := named_column(item)))


def _flat_items(text: str) -> Iterator[str]:
    """The items of a list of columns, in whose names brackets need not match."""
    start = 0
    for end in _LIST_ITEM.finditer(text):
        yield text[start : end.end()].rstrip(", ")
        start = end.end()


def named_column(text: str) -> Attribute | None:
    """The column of a text that is only a name and its id: `id#3L`."""
    match = _ATTRIBUTE.fullmatch(text)
    return Attribute(match["name"], int(match["id"]), bool(match["long"])) if match else None


def _strip_brackets(text: str) -> str:
    return text.strip().removeprefix("[").removesuffix("]")
