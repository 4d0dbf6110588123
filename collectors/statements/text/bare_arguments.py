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
_IN_BRACKETS = r"\[(?:[^\]]++|\]\])*+\]"
_BARE = (
    rf"(?:(?<![\w@#$])(?!(?:{'|'.join(_KEYWORDS)})\b)[^\W\d][\w@#$]*+|{_IN_BRACKETS})"
    r"(?!\s*[.:(=])"
)
_VARIABLE = r"@\w++(?:\s+OUT(?:PUT)?\b)?"
_ARGUMENT = (
    rf"(?:@\w++\s*=\s*)?(?:{_VARIABLE}|[-+]?\s*\?|NULL\b|DEFAULT\b|{_BARE})"  # values are `?`
)
_CALL = re.compile(
    r"(?P<head>\bEXEC(?:UTE)?\s+(?!(?:AS|ON)\b)(?:@\w++\s*=\s*)?"
    rf"(?:[\w@#$]++|{_IN_BRACKETS}|\.)*+(?<!sp_rename)(?<!sp_rename\])\s+)"
    rf"(?P<arguments>{_ARGUMENT}(?:\s*,\s*{_ARGUMENT})*+)",
    re.IGNORECASE,
)
_PIECE = re.compile(rf"{_VARIABLE}|(?P<bare>{_BARE})", re.IGNORECASE)


@lru_cache(maxsize=10_000)  # Without their other literals, calls of a procedure are mostly equal.
def strip_bare_arguments(text: str) -> str:
    """A T-SQL text, without its other literals, with `?` for these strings."""
    return _CALL.sub(_strip, text)


def _strip(match: re.Match[str]) -> str:
    return match["head"] + _PIECE.sub(
        lambda piece: "?" if piece["bare"] else piece.group(), match["arguments"]
    )
