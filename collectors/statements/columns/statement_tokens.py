"""A statement's text with its tokens: their words, brackets and dotted names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from dbt_graft.collectors.statements.text.tokens import Token, closings

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
