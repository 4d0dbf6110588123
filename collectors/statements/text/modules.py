"""Procedures, functions and triggers: where their bodies begin.

The body runs when the module is called, not when the batch that creates it runs. It goes on to the
end of its batch.
"""

from __future__ import annotations

from dbt_graft.collectors.statements.text.tokens import Token, keywords

KINDS = keywords("PROC PROCEDURE FUNCTION TRIGGER")
_LONGEST_HEAD = 4  # CREATE OR ALTER PROCEDURE


def creates_module(tokens: list[Token]) -> bool:
    """Whether a statement creates or alters a procedure, function or trigger."""
    words = [token.word for token in tokens[:_LONGEST_HEAD]]
    if words[:1] not in (["CREATE"], ["ALTER"]):
        return False
    kind = words[3:4] if words[1:3] == ["OR", "ALTER"] else words[1:2]
    return bool(KINDS.intersection(kind))


def module_name(tokens: list[Token]) -> str:
    """The last part of the name in the head of a module; empty where it was cut off."""
    at = next(at for at, token in enumerate(tokens) if token.word in KINDS) + 1
    name = ""
    while at < len(tokens) and tokens[at].is_name:
        name = tokens[at].text
        at += 1
        if at == len(tokens) or tokens[at].word != ".":
            break
        at += 1
    return name


def body(tokens: list[Token], closes: dict[int, int], at: int) -> int:
    """The place of the body of the module that a statement from `at` on creates.

    `AS` introduces it, but not that of `@a AS int` or `EXECUTE AS OWNER`; functions may do
    without.
    """
    at += 1
    while at < len(tokens):
        word, before = tokens[at].word, tokens[at - 1].word
        if word == "AS" and before not in ("EXEC", "EXECUTE") and before[:1] != "@":
            return at + 1
        if word in ("BEGIN", "RETURN"):
            return at
        at = closes.get(at, at) + 1
    return at
