"""The XML of one event -> `ExtendedEvent`, as file targets, ring buffers and their exports have it.

Text around events is never parsed, and an event cannot hold a document type, so that entities of
a file are never expanded.
"""

from __future__ import annotations

import logging
import re
from datetime import date
from functools import lru_cache
from xml.etree import ElementTree

from dbt_graft.collectors.sqlserver.event import (
    EventFilter,
    ExtendedEvent,
    LogDamage,
    Mapped,
    Mask,
    Value,
)

_log = logging.getLogger(__name__)

# Only names and a time: nothing of a statement.
_START_TAG = re.compile(r'<event name="\w+" package="\w+" timestamp="[\d:.TZ+-]+">')
# Characters that XML 1.0 does not allow, raw or as a reference. In SQL they can only stand where a
# space can, or inside a literal.
_ILLEGAL = re.compile(
    r"[\x00-\x08\x0B\x0C\x0E-\x1F\uD800-\uDFFF\uFFFE\uFFFF]"
    r"|&#(?:x0*(?:[0-8bceBCEfF]|1[0-9a-fA-F]|[dD][89a-fA-F][0-9a-fA-F]{2}|[fF]{3}[efEF])"
    r"|0*(?:[0-8]|1[124-9]|2[0-9]|3[01]));"
)
_APPLICATION = "client_app_name"
_APPLICATION_ACTION = re.compile(
    r'<action name="client_app_name"[^<>]*>\s*(?:<type [^<>]*/>\s*)?'
    r"<value(?:/>|>(?:<!\[CDATA\[([^\]]*)\]\]></value>|([^<&]*)</value>))"
)
# Of an enumeration, or of a mask.
_NUMBER = re.compile(r"\s*(?:([-+]?\d{1,20})|(0[xX][0-9a-fA-F]{1,16}))\s*")
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:[.,](\d{1,9}))?"
    r" ?(?:(Z)|([-+])(\d\d):?(\d\d))?",
    re.ASCII,
)
_TICKS = 10_000_000
_EPOCH = date(1970, 1, 1).toordinal()


def parse_event(text: str) -> ExtendedEvent | LogDamage:
    """The event of an `<event>` element; all values are text but numbers with a name.

    Returns:
        A damage, without a position, where it is not well-formed or has no time. Characters that
        XML forbids count as spaces.
    """
    text = text.strip()
    # A document type can only stand before the first element.
    root = _parse(text) if text.startswith("<event") else None
    if root is None:
        return LogDamage("", "the event is not well-formed XML", excerpt(text))
    at = ticks(root.get("timestamp", ""))
    if at is None:
        return LogDamage("", "the event has no readable time", excerpt(text))
    data: dict[str, Value] = {}
    actions: dict[str, Value] = {}
    kinds = {"data": data, "action": actions}
    for entry in root:
        values = kinds.get(entry.tag)
        name = entry.get("name", "")
        if values is not None and name not in values and (value := _value(entry)) is not None:
            values[name] = value
    return ExtendedEvent(root.get("name", ""), at, data, actions, root.get("package", ""))


def excerpt(text: str) -> str:
    """The start tag, if it has nothing but a name and a time."""
    tag = _START_TAG.match(text)
    return tag[0] if tag else ""


def map_value(value: str, word: str) -> Value:
    """A value with its name; where it is no number, the one of them that is not empty."""
    number = _NUMBER.fullmatch(value)
    if number is None:
        return value or word
    return Mapped(int(number[1]), word) if number[1] else Mask(int(number[2], 16), word)


def ticks(text: str) -> int | None:
    """An ISO time in units of 100 ns since 1970; UTC where it names no zone, None if it is none."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    day, hour, minute, second, fraction, _, sign, hours, minutes = match.groups()
    try:
        seconds = _day(day) * 86_400 + int(hour) * 3600 + int(minute) * 60 + int(second)
    except ValueError:
        return None
    if sign:
        offset = int(hours) * 3600 + int(minutes) * 60
        seconds += offset if sign == "-" else -offset
    return seconds * _TICKS + (int(fraction[:7].ljust(7, "0")) if fraction else 0)


def is_dismissed(text: str, wanted: EventFilter) -> bool:
    """Whether an event's text shows at once that its application is not wanted.

    False where it must be parsed to know.
    """
    if wanted.application is None:
        return False
    first = text.find(_APPLICATION)
    if first < 0:
        return not wanted.application("")
    action = _APPLICATION_ACTION.search(text, max(0, first - 20))
    if action is None or text.find(_APPLICATION, first + 1) >= 0:
        return False
    opened = text.rfind("<![CDATA[", 0, action.start())
    if opened >= 0 and text.find("]]>", opened, action.start()) < 0:
        return False
    plain, escaped = action.groups()
    return not wanted.application(plain or escaped or "")


def is_wanted(event: ExtendedEvent, wanted: EventFilter) -> bool:
    """Whether a parsed event is one of those to read."""
    if wanted.names is not None and event.name not in wanted.names:
        return False
    if wanted.application is None:
        return True
    application = event.client.get(_APPLICATION)
    return wanted.application("" if application is None else str(application))


@lru_cache(maxsize=1024)
def _day(text: str) -> int:
    return date.fromisoformat(text).toordinal() - _EPOCH


def _value(entry: ElementTree.Element) -> Value:
    value, word = entry.find("value"), entry.findtext("text")
    if value is None:
        return word
    # Of XML within a value, its text.
    text = "".join(value.itertext()) if len(value) else value.text or ""
    return text if word is None else map_value(text, word)


def _parse(text: str) -> ElementTree.Element | None:
    try:
        return ElementTree.fromstring(text)  # noqa: S314
    except (ElementTree.ParseError, UnicodeEncodeError):
        cleaned = _ILLEGAL.sub(" ", text)
    try:
        return ElementTree.fromstring(cleaned)  # noqa: S314
    except ElementTree.ParseError:
        _log.debug("a reject: an event", exc_info=True)
        return None
