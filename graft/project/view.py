"""The part of a store that a question is about: its time, as people write it, and its runs."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

from dbt_graft.analysis.render.phrases import time_text
from dbt_graft.lineage.frozen import frozen

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"([0-9]{1,6})\s*([mhdw]|minutes?|hours?|days?|weeks?)(?:\s*ago)?")
_DAY = re.compile(r"[0-9]{4}(-?)[0-9]{2}\1[0-9]{2}")
_DAYS = {"today": 0, "yesterday": 1}


@frozen
class Moment:
    """A time of the command line, and how it is shown."""

    at: datetime
    text: str

    @property
    def slug(self) -> str:
        """The time in the name of a folder: `2026-10-01`, `2026-10-01T0600`."""
        last = self.at + timedelta(microseconds=1)
        if last.time() == time.min:
            return f"{self.at:%Y-%m-%d}"
        return f"{self.at:%Y-%m-%dT%H%M}"


def moment(text: str, now: datetime, *, first: bool = False) -> Moment:
    """The time that a text names; of a day its end, or its first moment.

    Raises:
        ValueError, OverflowError: It names none.
    """
    word = text.strip().lower()
    if word == "now":
        return Moment(now, "now")
    if match := _SPAN.fullmatch(word):
        at = now - timedelta(**{_UNITS[match[2][0]]: int(match[1])})
        return Moment(at, f"{time_text(at)} UTC")
    if word in _DAYS:
        word = (now - timedelta(days=_DAYS[word])).date().isoformat()
    if _DAY.fullmatch(word):
        at = datetime.fromisoformat(word).replace(tzinfo=UTC)
        end = at + timedelta(days=1) - timedelta(microseconds=1)
        return Moment(at if first else end, f"{at.day} {at:%b %Y}")
    if "w" in word:
        raise ValueError("a week has several days")
    at = datetime.fromisoformat(text.strip())
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return Moment(at, f"{time_text(at)} UTC")


@frozen
class LineageView:
    """The part of the store that a lineage is made of.

    Attributes:
        past: The state of this time; None for that of now.
        results: With the results of dbt's nodes and the newest runs, which pages show.
        every_run: With each run by itself, and nothing folded.
    """

    past: Moment | None = None
    results: bool = True
    every_run: bool = False


NOW = LineageView()
