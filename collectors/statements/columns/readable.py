"""T-SQL as sqlglot can parse it: without pieces that name no source of a column, others rewritten.

Hints, TOP, OPTION and OUTPUT are left out, `a += b` becomes `a = a + b`, and a method of an XML
column becomes a function of it. What OUTPUT … INTO writes is no part of the tree.
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.collectors.statements.text.tokens import Token, closings, keywords

_CHANGES = keywords("INSERT UPDATE DELETE MERGE")
_HINTS = keywords(
    """HOLDLOCK IGNORE_CONSTRAINTS IGNORE_TRIGGERS KEEPDEFAULTS KEEPIDENTITY NOLOCK PAGLOCK READPAST
    READCOMMITTED READCOMMITTEDLOCK READUNCOMMITTED REPEATABLEREAD ROWLOCK SERIALIZABLE SNAPSHOT
    TABLOCK TABLOCKX UPDLOCK XLOCK DISTRIBUTION CLUSTERED HEAP PARTITION"""
)
_JOIN_HINTS = keywords("HASH LOOP MERGE REMOTE")
_ENDS_OUTPUT = keywords("SELECT VALUES FROM WHERE WITH EXEC EXECUTE DEFAULT OUTPUT OPTION ;")
_METHODS = keywords("VALUE QUERY EXIST NODES")
_SIGNS = keywords("+ - * / %")

# A place among the tokens, the place behind its last one, and what stands there instead.
_Edit = tuple[int, int, str]


def readable(text: str, tokens: list[Token]) -> str:
    """A statement of T-SQL, rewritten where sqlglot would not parse it.

    Args:
        text: What the tokens are of; its first one is the statement's.
    """
    offset = tokens[0].start
    pieces, at = [], 0
    for first, behind, instead in sorted((*_left_out(tokens), *_rewritten(text, tokens))):
        start = tokens[first].start - offset
        if start >= at:
            pieces += [text[at:start], instead]
            at = tokens[min(behind, len(tokens)) - 1].end - offset
    return "".join([*pieces, text[at:]]) if pieces else text


def _left_out(tokens: list[Token]) -> Iterator[_Edit]:
    closes = closings(tokens)
    words = [token.word for token in tokens] + [""] * 3
    for at, word in enumerate(words[:-3]):
        after, before = words[at + 1], words[at - 1]
        close = closes.get(at + 1, len(tokens)) + 1
        hints = word == "WITH" and after == "(" and words[at + 2] in _HINTS
        if hints or (word == "OPTION" and after == "(" and close >= len(tokens)):
            yield at, close, " "
        elif word == "TOP" and before in _CHANGES and after == "(":
            yield at, close + (words[min(close, len(tokens))] == "PERCENT"), " "
        elif word == "OUTPUT" and words[0] in _CHANGES | {"WITH"} and "." not in (before, after):
            yield at, _end_of_output(words, closes, at), " "
        elif word in _JOIN_HINTS and after == "JOIN" and at > 1:
            yield at, at + 1, " "


def _rewritten(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    closes = closings(tokens)
    words = [token.word for token in tokens]
    if words[:2] == ["ALTER", "VIEW"]:
        yield 0, 1, "CREATE"

    def written(first: int, last: int) -> str:
        return text[tokens[first].start - tokens[0].start : tokens[last].end - tokens[0].start]

    for at, word in enumerate(words):
        before = words[at - 1]
        if word == "=" and before in _SIGNS and tokens[at - 1].end == tokens[at].start:
            name = _name_before(tokens, at - 1)
            alone = name == at - 2 and words[0] == "UPDATE" and tokens[1].is_name
            place = f"{_target(tokens)}." if alone else ""
            if name < at - 1:
                yield at - 1, at + 1, f"= {place}{written(name, at - 2)} {before} "
        elif word == "(" and before in _METHODS and words[at - 2] == "." and at in closes:
            name = _name_before(tokens, at - 2)
            if name < at - 2:
                yield name, closes[at] + 1, f"CONCAT({written(name, at - 3)})"


def _target(tokens: list[Token]) -> str:
    """The last part of the name behind the verb, quoted where it can be."""
    at = 1
    while at + 2 < len(tokens) and tokens[at + 1].word == ".":
        at += 2
    name = tokens[at].text
    return name if name[:1] in "#@" else f"[{name.replace(']', ']]')}]"


def _end_of_output(words: list[str], closes: dict[int, int], at: int) -> int:
    """The place behind OUTPUT, its columns, INTO, and the columns of that."""
    at += 1
    while at < len(words) - 3 and words[at] not in _ENDS_OUTPUT:
        at = closes.get(at, at) + 1
    return at


def _name_before(tokens: list[Token], at: int) -> int:
    """The place where the dotted name begins that ends before a place; the place without one."""
    if not at or not tokens[at - 1].is_name:
        return at
    at -= 1
    while at > 1 and tokens[at - 1].word == "." and tokens[at - 2].is_name:
        at -= 2
    return at
