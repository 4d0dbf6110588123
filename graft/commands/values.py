"""Values that people write as texts: durations, past times, lists of names."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from dbt_graft.graft.project.view import Moment, moment

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)\s*([smhdw])")
_LONG_SPAN = re.compile(r"[0-9]+(?:\.[0-9]*)?\s*[smhdw]")
_TOO_LONG = "has too many digits: at most six, and three after a point"
_NO_SPAN = "is not a duration: write 90s, 10m, 26h or 7d"


class Duration(click.ParamType):  # type: ignore[type-arg]
    """A duration of the command line: `90s`, `10m`, `26h`, `7d`."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """The duration of a text."""
        if isinstance(value, timedelta):
            return value
        text = str(value).strip().lower()
        match = _SPAN.fullmatch(text)
        if not match:
            problem = _TOO_LONG if _LONG_SPAN.fullmatch(text) else _NO_SPAN
            self.fail(f"{value!r} {problem}", param, ctx)
        return timedelta(**{_UNITS[match[2]]: float(match[1])})


class PastTime(click.ParamType):  # type: ignore[type-arg]
    """A time up to now: `2026-10-01`, `2026-10-01T06:00`, `30d`, `12h ago`, `yesterday`, `now`.

    A date is the end of that day. Times are in UTC unless they name another zone.

    Args:
        first: A date is its first moment, and the time may be to come: from it on something counts.
    """

    name = "time"

    def __init__(self, *, first: bool = False) -> None:
        self.first = first

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Moment:
        """The time of a text."""
        if isinstance(value, Moment):
            return value
        now = datetime.now(UTC)
        try:
            parsed = moment(str(value), now, first=self.first)
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is not a time: write 2026-10-01, 2026-10-01T06:00, 30d or now",
                param,
                ctx,
            )
        if not self.first and parsed.at > now and parsed.at.date() > now.date():
            self.fail(f"{value!r} is in the future", param, ctx)
        return parsed


class NameList(click.ParamType):  # type: ignore[type-arg]
    """Names with commas between them, each of a closed list.

    Args:
        noun: What they name: `check`.
        names: Those that there are.
    """

    def __init__(self, noun: str, names: Collection[str]) -> None:
        self.name = f"{noun}s"
        self.noun = noun
        self.names = names

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """The names of a text."""
        if isinstance(value, tuple):
            return value
        names = tuple(dict.fromkeys(name.strip() for name in value.split(",")))
        for name in names:
            if name not in self.names:
                listed = ", ".join(self.names)
                self.fail(f"{name!r} is no {self.noun}: name {listed}", param, ctx)
        return names


as_of_option = click.option(
    "--as-of",
    "past",
    type=PastTime(),
    metavar="TIME",
    help="The lineage as it stood then: 2026-10-01 (the end of that day, UTC), 2026-10-01T06:00, "
    "30d.",
)
