"""Spark's SQL scripting: a compound statement -> the single statements in it.

`BEGIN … END`, IF, CASE, WHILE, REPEAT, FOR, LOOP, handlers and procedures stand in front of the
statements that they run; what they ask first (`IF EXISTS (SELECT …) THEN`) is a statement of its
own. After Spark's reference, "SQL scripting".
"""

from __future__ import annotations

from collections.abc import Iterator

from collectors.statements.tokens import Token, closings, keywords

# Words that only open something, and those that ask something up to a second word.
_OPENS = keywords("BEGIN ELSE LOOP REPEAT ATOMIC NOT")
_ASKS = {"IF": "THEN", "ELSEIF": "THEN", "WHEN": "THEN", "WHILE": "DO", "FOR": "DO", "UNTIL": "END"}
_STATEMENTS = keywords(
    """BEGIN SELECT INSERT UPDATE DELETE MERGE SET CREATE DROP TRUNCATE ALTER CALL EXECUTE WITH
    SIGNAL RESIGNAL LEAVE ITERATE"""
)


def single_statements(tokens: list[Token]) -> Iterator[list[Token]]:
    """What stands between two semicolons -> its conditions and its statement."""
    at = _behind_label(tokens, 0)
    while at < len(tokens):
        word = tokens[at].word
        start, end = at, at + 1
        if word == "CASE":
            end = _next(tokens, at + 1, "WHEN")
        elif word in _ASKS:
            end = _next(tokens, at + 1, _ASKS[word])
            if word == "FOR":
                start = min(_next(tokens, at, "AS"), end - 1) if _names_row(tokens, at) else at
                start += 1
        elif word == "DECLARE" and _is_handler(tokens, at):
            end = _next(tokens, at, *_STATEMENTS)
        elif word == "CREATE" and "PROCEDURE" in [t.word for t in tokens[at + 1 : at + 4]]:
            end = _next(tokens, at, "BEGIN")
        elif word not in _OPENS:
            break
        if end < len(tokens) and tokens[end].word in ("THEN", "DO"):
            yield tokens[start:end]
            end += 1
        elif end == len(tokens) or word not in (*_OPENS, "CASE"):
            yield tokens[start:end]
        at = _behind_label(tokens, end)
    if at < len(tokens):
        yield tokens[at:]


def _behind_label(tokens: list[Token], at: int) -> int:
    labelled = at + 1 < len(tokens) and tokens[at + 1].word == ":"
    return at + 2 if labelled else at


def _names_row(tokens: list[Token], at: int) -> bool:
    """`FOR row AS SELECT … DO`"""
    return [token.word for token in tokens[at + 2 : at + 3]] == ["AS"]


def _is_handler(tokens: list[Token], at: int) -> bool:
    return [token.word for token in tokens[at + 2 : at + 3]] == ["HANDLER"]


def _next(tokens: list[Token], at: int, *words: str) -> int:
    """The next place with one of these words, outside brackets and CASE … END."""
    closes = closings(tokens)
    cases = 0
    while at < len(tokens):
        word = tokens[at].word
        if word in words and not cases:
            return at
        cases = max(0, cases + (word == "CASE") - (word == "END"))
        at = closes.get(at, at) + 1
    return len(tokens)
