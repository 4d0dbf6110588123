"""Spark's SQL scripting: a compound statement -> the single statements in it.

`BEGIN … END`, IF, CASE, WHILE, REPEAT, FOR, LOOP, handlers and procedures stand in front of the
statements that they run; a query in a condition (`IF EXISTS (SELECT …) THEN`) is a statement of its
own. After Spark's reference, "SQL scripting".
"""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.collectors.statements.text.tokens import Token, closings, keywords

# Words that only open a block, and those with a condition up to a second word.
_OPENS = keywords("BEGIN ELSE LOOP REPEAT ATOMIC NOT")
_ASKS = {
    "CASE": "WHEN",
    "ELSEIF": "THEN",
    "FOR": "DO",
    "IF": "THEN",
    "UNTIL": "END",
    "WHEN": "THEN",
    "WHILE": "DO",
}
_LABELLED = keywords("BEGIN FOR LOOP REPEAT WHILE")
_QUERY = keywords("SELECT FROM TABLE")
# The statements that a handler can run.
_HANDLES = keywords(
    "BEGIN SELECT INSERT UPDATE DELETE MERGE SET CREATE DROP TRUNCATE ALTER CALL EXECUTE WITH"
)


def single_statements(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens between two semicolons -> the queries of conditions, then the statement."""
    closes = closings(tokens)
    at = _behind_label(tokens, 0)
    while at < len(tokens):
        word = tokens[at].word
        if word in _ASKS:
            end = _next(tokens, closes, at + 1, _ASKS[word])
            question = tokens[_query_of_loop(tokens, at) if word == "FOR" else at : end]
            if _QUERY.intersection(token.word for token in question):
                yield question
            end += _ASKS[word] in ("THEN", "DO")
        elif word in _OPENS:
            end = at + 1
        elif word == "DECLARE" and "HANDLER" in _words(tokens, at):
            end = _next(tokens, closes, at, *_HANDLES)
        elif word == "CREATE" and "PROCEDURE" in _words(tokens, at):
            end = _next(tokens, closes, at, "BEGIN")
            yield tokens[at:end]
        else:
            yield tokens[at:]
            break
        at = _behind_label(tokens, end)


def _behind_label(tokens: list[Token], at: int) -> int:
    _, colon, opens = ([token.word for token in tokens[at : at + 3]] + [""] * 3)[:3]
    return at + 2 if colon == ":" and opens in _LABELLED else at


def _query_of_loop(tokens: list[Token], at: int) -> int:
    """The place of the query: `FOR SELECT … DO`, `FOR row AS SELECT … DO`"""
    return at + 3 if [token.word for token in tokens[at + 2 : at + 3]] == ["AS"] else at + 1


def _words(tokens: list[Token], at: int) -> list[str]:
    return [token.word for token in tokens[at + 1 : at + 4]]


def _next(tokens: list[Token], closes: dict[int, int], at: int, *words: str) -> int:
    """The next place with one of these words, outside brackets and CASE … END."""
    cases = 0
    while at < len(tokens):
        word = tokens[at].word
        if word in words and not cases:
            return at
        cases = max(0, cases + (word == "CASE") - (word == "END"))
        at = closes.get(at, at) + 1
    return len(tokens)
