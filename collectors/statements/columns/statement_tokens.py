"""A statement's text with its tokens: their words, brackets, dotted names, and the clause OUTPUT.

Of OUTPUT it is where it stands, and what becomes of the rows that it returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from dbt_graft.collectors.statements.text.tokens import Token, closings, keywords

# A place among the tokens, the place behind its last one, and what stands there instead.
Edit = tuple[int, int, str]


@dataclass(frozen=True)
class StatementTokens:
    """A statement and its tokens.

    Attributes:
        text: What the tokens are of; its first one is the statement's.
    """

    text: str
    tokens: list[Token]

    @cached_property
    def words(self) -> list[str]:
        """The tokens' words, with empty ones behind, so that one can look ahead."""
        return [token.word for token in self.tokens] + [""] * 4

    @cached_property
    def _closes(self) -> dict[int, int]:
        return closings(self.tokens)

    def behind_brackets(self, at: int) -> int:
        """The place behind the brackets that open at a place, or else the place."""
        return min(self._closes[at] + 1, len(self.tokens)) if at in self._closes else at

    def behind_name(self, at: int) -> int:
        """The place behind a dotted name; a word that is no name counts as one."""
        at += 1
        while self.words[at : at + 1] == ["."]:
            at += 1 if self.words[at + 1] == "." else 2
        return min(at, len(self.tokens))

    def begin_of_name(self, behind: int) -> int:
        """The place where the dotted name begins that ends before a place, or else the place."""
        at = behind
        if at and self.tokens[at - 1].is_name:
            at -= 1
            while at > 1 and self.words[at - 1] == "." and self.tokens[at - 2].is_name:
                at -= 2
        return at

    def text_between(self, first: int, behind: int) -> str:
        """The text from one place to another; empty where it was cut off before."""
        if first >= len(self.tokens):
            return ""
        offset = self.tokens[0].start
        return self.text[self.tokens[first].start - offset : self.tokens[behind - 1].end - offset]


CHANGES = keywords("INSERT UPDATE DELETE MERGE")
_BEHIND = keywords("SELECT VALUES FROM WHERE WITH EXEC EXECUTE DEFAULT OUTPUT OPTION ;")
_ACTION = re.compile(r"\$action\b", re.IGNORECASE)


def outputs_into(text: str, tokens: list[Token]) -> list[str]:
    """The writes of `OUTPUT … INTO`, as statements of their own: `INSERT INTO … SELECT …`."""
    statement = StatementTokens(text, tokens)
    writes = []
    for at, behind in output_clauses(statement):
        into = next((near for near in range(at, behind) if statement.words[near] == "INTO"), 0)
        if at + 1 < into < behind - 1:
            values = _values(statement, at + 1, into)
            writes.append(f"INSERT INTO {statement.text_between(into + 1, behind)} SELECT {values}")
    return writes


def split_composed(text: str, tokens: list[Token]) -> tuple[str, list[Token], str] | None:
    """`INSERT … SELECT … FROM (DELETE … OUTPUT …) x` -> the DELETE, its tokens, and the INSERT.

    In the INSERT, `(SELECT deleted.a …) x` stands for the rows that the DELETE returns.
    """
    outer = StatementTokens(text, tokens)
    words = outer.words
    for at in range(1, len(tokens) if words[0] in {"INSERT", "WITH"} else 0):
        if words[at] == "(" and words[at - 1] == "FROM" and words[at + 1] in CHANGES:
            end = outer.behind_brackets(at) - 1
            inner = StatementTokens(outer.text_between(at + 1, end), tokens[at + 1 : end])
            clause = next(output_clauses(inner), None)
            if clause is None:
                return None
            values = _values(inner, clause[0] + 1, clause[1])
            head, tail = outer.text_between(0, at + 1), outer.text_between(end, len(tokens))
            return inner.text, inner.tokens, f"{head}SELECT {values}{tail}"
    return None


def _values(statement: StatementTokens, at: int, behind: int) -> str:
    return _ACTION.sub("NULL", statement.text_between(at, behind))


def output_clauses(statement: StatementTokens) -> Iterator[tuple[int, int]]:
    """The places where clauses begin, and those behind them."""
    words = statement.words
    if words[0] in CHANGES | {"WITH"}:
        for at, word in enumerate(words):
            if word == "OUTPUT" and "." not in (words[at - 1], words[at + 1]):
                yield at, behind_output(statement, at)


def behind_output(statement: StatementTokens, at: int) -> int:
    """The place behind OUTPUT, its columns, INTO, and the columns of that."""
    at += 1
    while at < len(statement.tokens) and statement.words[at] not in _BEHIND:
        at = max(at + 1, statement.behind_brackets(at))
    return at
