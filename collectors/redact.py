"""Error messages without data.

Messages of Spark and of user code have values, paths and names anywhere, quoted or not
(`Duplicate map key Jane was found`). So only those parts remain that cannot be data: Spark's
error class (`[CAST_INVALID_INPUT]`), the SQLSTATE, the names of exception classes, and for names
that were not found the backquoted identifiers.
"""

from __future__ import annotations

import re

_CLASS = re.compile(r"\[(?P<name>[A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]")
_STATE = re.compile(r"SQLSTATE: (?P<state>[0-9A-Z]{5})\b")
_EXCEPTION = re.compile(
    r"(?<![\w.'\"/])(?:[a-z_][\w$]*\.)*(?P<name>[A-Z]\w*(?:Error|Exception|OOM))(?=[:\s]|$)"
)
_IDENTIFIER = re.compile(r"(?:`[^`]+`\.)*`[^`]+`")
# What `redact_error` makes; of a class alone only one of several words, as no name is.
_NAMED = r"[A-Z]\w*(?:Error|Exception|OOM)"
_REDACTED = re.compile(
    r"(?P<class>[A-Z][A-Z0-9]*(?:[_.][A-Z0-9]+)+)(?: (?:`[^`]+`\.)*`[^`]+`)?"
    rf"(?: \({_NAMED}(?:, {_NAMED})*\))?(?: \(SQLSTATE [0-9A-Z]{{5}}\))?"
    rf"|{_NAMED}(?:, {_NAMED})*"
)
# Error classes whose identifiers are names of tables and columns.
_ABOUT_NAMES = ("NOT_FOUND", "ALREADY_EXISTS", "UNRESOLVED_COLUMN")


def redact_error(message: str) -> str:
    """Return the parts of an error message that hold no data; never empty.

    Of such parts it is the same again.
    """
    redacted = _REDACTED.fullmatch(message)
    if redacted and ("`" not in message or _names_things(redacted["class"])):
        return message
    error_class = _CLASS.search(message)
    exceptions = list(dict.fromkeys(m["name"] for m in _EXCEPTION.finditer(message)))
    if error_class is None:
        return ", ".join(exceptions) or "failed"
    text = error_class["name"]
    if _names_things(text):
        named = _IDENTIFIER.search(message)
        text += f" {named.group()}" if named else ""
    elif exceptions:
        text += f" ({', '.join(exceptions)})"
    state = _STATE.search(message)
    return f"{text} (SQLSTATE {state['state']})" if state else text


def _names_things(error_class: str) -> bool:
    return any(word in error_class for word in _ABOUT_NAMES)
