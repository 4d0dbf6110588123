"""Variables of T-SQL that hold data: `SELECT @a = b FROM t`, `FETCH c INTO @a`, `EXEC p @a OUTPUT`.

What a statement writes out of such a variable comes from a table that the statement does not name.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from dbt_graft.collectors.statements.text.tokens import Token

_ASSIGNS = frozenset({"DECLARE", "SELECT", "SET", "UPDATE", "WITH"})
_ENDS = frozenset({"FROM", "WHERE"})
_CALLS = frozenset({"EXEC", "EXECUTE"})


def variables_with_data(tokens: list[Token], reads: bool, known: frozenset[str]) -> frozenset[str]:
    """The variables, folded, that hold data after a statement.

    Args:
        reads: The statement reads a table, or may do.
        known: Those that held data before.
    """
    if not any(token.word[:1] == "@" for token in tokens):
        return known
    words = [token.word for token in tokens]
    reads = reads or words[0] == "UPDATE"  # its own table
    if not reads and words[0] in _ASSIGNS:
        reads = not known.isdisjoint(map(str.casefold, words))
    return known | {variable.casefold() for variable in _assigned(words, reads)}


def _assigned(words: list[str], reads: bool) -> Iterator[str]:
    head = words[0]
    if head == "FETCH" and "INTO" in words:
        yield from (word for word in words[words.index("INTO") :] if word[:1] == "@")
    elif head in _CALLS:
        yield from (words[1:2] if words[1:2] and words[1][:1] == "@" else ())
        yield from (
            word
            for word, behind in pairwise(words)
            if word[:1] == "@" and behind in ("OUT", "OUTPUT")
        )
    elif reads and head in _ASSIGNS:
        near = 8 if head == "DECLARE" else 3  # DECLARE @a decimal(10, 2) = …
        depth = 0
        for at, word in enumerate(words):
            depth += (word == "(") - (word == ")")
            if word in _ENDS and not depth:
                break  # WHERE @a = b assigns nothing
            if word[:1] == "@" and not depth and "=" in words[at + 1 : at + near]:
                yield word
