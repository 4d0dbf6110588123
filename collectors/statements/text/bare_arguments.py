"""Strings without quotes: `EXEC dbo.p Jane, @city = [New York]` calls with two texts.

T-SQL takes a name among the arguments of a procedure for a string, unless it is a word that begins
the next statement. Only `sp_rename` means a table by it.
"""

from __future__ import annotations

import re
from functools import lru_cache

_KEYWORDS = (
    *("alter", "as", "at", "backup", "begin", "break", "bulk", "checkpoint", "close", "commit"),
    *("continue", "create", "dbcc", "deallocate", "declare", "default", "delete", "deny", "drop"),
    *("else", "end", "exec", "execute", "fetch", "go", "goto", "grant", "if", "insert", "kill"),
    *("merge", "null", "open", "out", "output", "print", "raiserror", "restore", "return"),
    *("revoke", "rollback", "save", "select", "set", "throw", "truncate", "update", "use"),
    *("waitfor", "while", "with"),
)
_IN_BRACKETS = r"\[(?:[^\]]++|\]\])*\](?!\])"
_CALL = re.compile(
    rf"\bEXEC(?:UTE)?\s+(?!(?:AS|ON)\b)(?:@\w++\s*=\s*)?(?P<name>(?:[\w@#$.]|{_IN_BRACKETS})+)\s+",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(
    r"\s*(?:@\w++\s*=\s*)?"
    r"(?:@\w++(?:\s+OUT(?:PUT)?\b)?|[-+]?\s*\?|(?:NULL|DEFAULT)\b"  # the other literals are `?`
    rf"|(?P<bare>(?:(?!(?:{'|'.join(_KEYWORDS)})\b)[^\W\d][\w@#$]*+|{_IN_BRACKETS})"
    r"(?!\s*[.:(=])))\s*",
    re.IGNORECASE,
)
_RENAMES = "sp_rename"


@lru_cache(maxsize=10_000)  # Without their other literals, calls of a procedure are mostly equal.
def strip_bare_arguments(text: str) -> str:
    """A T-SQL text, without its other literals, with `?` for these strings."""
    parts, end = [], 0
    for call in _CALL.finditer(text):
        at = call.end()
        if call["name"].casefold().rpartition(".")[2].strip("[]") == _RENAMES:
            continue
        while argument := _ARGUMENT.match(text, at):
            if argument["bare"]:
                parts += [text[end : argument.start("bare")], "?"]
                end = argument.end("bare")
            at = argument.end()
            if text[at : at + 1] != ",":
                break
            at += 1
    return "".join([*parts, text[end:]])
