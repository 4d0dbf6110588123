"""The dates of a dataset that may be used, by the file of collected lineage."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2})(?:[T ](\d{2})(?::\d{2}(?::\d{2}(?:\.\d+)?)?)?)?)?")
_FIRST = datetime.min.replace(tzinfo=timezone.utc)
_FORM = "write 2026-10-03, 2026-10-03..2026-10-05, 2026-10 or 2026-10-03T05"


def wanted_range(text: str) -> tuple[datetime, datetime]:
    """From the beginning of the first unit in a text up to the end of the last.

    Raises:
        ValueError: It is written otherwise.
    """
    first, dots, last = text.strip().partition("..")
    start = _unit(first)[0]
    end = _unit(last)[1] if dots else _unit(first)[1]
    if start >= end:
        raise ValueError(f"{text!r} ends before it begins: {_FORM}")
    return start, end


def missing_from(start: datetime, end: datetime, *listed: Any) -> datetime | None:
    """The first moment from a start to an end that is in no range; None if all are.

    Args:
        listed: Ranges of the file: `[["2026-10-01", "2026-10-06"]]`, null where a side is open.
    """
    known = (valid_range for ranges in listed for valid_range in _ranges(ranges))
    for begins, ends in sorted(known, key=lambda known_range: known_range[0] or _FIRST):
        if begins is None or begins <= start:
            if ends is None or ends >= end:
                return None
            start = max(start, ends)
    return start


def _ranges(listed: Any) -> Iterator[tuple[datetime | None, datetime | None]]:
    for sides in listed if isinstance(listed, list) else ():
        if not isinstance(sides, list) or len(sides) != 2:
            continue
        try:
            begins, ends = (None if side is None else _moment(side) for side in sides)
        except (TypeError, ValueError):
            continue
        yield begins, ends


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def _unit(text: str) -> tuple[datetime, datetime]:
    match = _DATE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text.strip()!r} is not a date: {_FORM}")
    year, month, day, hour = match.groups()
    try:
        start = datetime(int(year), int(month), int(day or 1), int(hour or 0), tzinfo=timezone.utc)
    except ValueError as error:
        raise ValueError(f"{text.strip()!r} is not a date: {error}") from error
    if hour:
        return start, start + timedelta(hours=1)
    if day:
        return start, start + timedelta(days=1)
    return start, (start + timedelta(days=31)).replace(day=1)
