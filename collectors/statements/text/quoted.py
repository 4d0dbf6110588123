"""Text in double quotes in T-SQL: a name, or, where QUOTED_IDENTIFIER is off, a string.

Captured text does not always show the setting. Where only a value makes sense, or a name would be
unusual, it counts as a value, because values must not be stored: after a comparison, in lists of IN
and VALUES, as the argument of a call or of PRINT. A name of several parts stays a name.
"""

from __future__ import annotations

import re

_QUOTED = r'"(?:[^"]++|"")*"(?!")'
_ALONE = rf"(?<![.\w\]\"]){_QUOTED}(?!\s*\.)(?!\")"
_VALUE = rf"(?:{_QUOTED}|\?|[-+\w.]++)"
_OTHER = r"(?P<skip>\[(?:[^\]]++|\]\])*\](?!\]))"
_BEHIND = (
    r"(?:[<>=!+]|\b(?:LIKE|PRINT|BETWEEN|THEN|ELSE|RAISERROR\s*\(|THROW|CONTAINS\s*\([^()\"]*,))\s*"
)
_CALLED = r"\bEXEC(?:UTE)?\s+[\w.\[\]@#]++\s+"
_PLACES = re.compile(
    rf"{_OTHER}|(?P<before>{_BEHIND}){_ALONE}"
    rf"|(?P<list>\bIN\s*\(\s*{_VALUE}(?:\s*,\s*{_VALUE})*\s*\)|{_CALLED}{_VALUE}(?:\s*,\s*{_VALUE})*"
    rf"|\bVALUES\s*\((?:[^()\"]++|{_QUOTED}|\([^()]*+\))*\)"
    rf"(?:\s*,\s*\((?:[^()\"]++|{_QUOTED}|\([^()]*+\))*\))*)"
    rf"|{_QUOTED}",
    re.IGNORECASE,
)
# Where the setting is off, a quoted text in the place of a name is a name all the same.
_NAMED = rf"\b(?:FROM|JOIN|INTO|UPDATE|TABLE|VIEW|MERGE|USING|AS)\s+{_QUOTED}"
_ONE = re.compile(rf"\[(?:[^\]]++|\]\])*\]|{_NAMED}|(?P<value>{_ALONE})|{_QUOTED}", re.IGNORECASE)
_IS_OFF = re.compile(r"\bSET\s+QUOTED_IDENTIFIER\s+OFF\b", re.IGNORECASE)


def strip_quoted_values(text: str) -> str:
    """A text with `?` for values in double quotes.

    Comments and strings in single quotes were taken out before.
    """
    if '"' not in text:
        return text
    if _IS_OFF.search(text):
        return _ONE.sub(_strip_value, text)

    def replace_value(match: re.Match[str]) -> str:
        if match["before"]:
            return f"{match['before']}?"
        return _ONE.sub(_strip_value, match["list"]) if match["list"] else match.group()

    return _PLACES.sub(replace_value, text)


def _strip_value(match: re.Match[str]) -> str:
    return "?" if match["value"] else match.group()
