"""Phrases in findings: counts, times and lists of names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from dbt_graft.analysis.finding import Finding

_MOST = 10
_UNITS = (("days", timedelta(days=1)), ("hours", timedelta(hours=1)))


def ago(at: datetime, now: datetime | None = None) -> str:
    """`3 days ago`; the date of what is to come."""
    passed = (now or datetime.now(UTC)) - at
    if passed < timedelta():
        return f"on {time_text(at)}"
    for name, unit in _UNITS:
        if passed >= 2 * unit:
            return f"{passed // unit:,} {name} ago"
    return f"{count(passed // timedelta(minutes=1), 'minute')} ago"


def time_text(at: datetime | str | None, *, seconds: bool = False) -> str:
    """`2026-10-05 06:30`, in UTC; a text is ISO's. Empty without a time."""
    if not at:
        return ""
    at = datetime.fromisoformat(at) if isinstance(at, str) else at
    return f"{at.astimezone(UTC):{'%Y-%m-%d %H:%M:%S' if seconds else '%Y-%m-%d %H:%M'}}"


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 log`, `1,200 logs`"""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def join_names(names: Sequence[str], shown: int = 3) -> str:
    """`a, b, c and 12 more`"""
    omitted = len(names) - shown
    return ", ".join(names[:shown]) + (f" and {omitted:,} more" if omitted > 0 else "")


def open_note(tasks: Sequence[str]) -> list[str]:
    """The note on an answer about what data reaches: it is not complete if there are such tasks.

    Args:
        tasks: Those that may read or write more than is known.
    """
    if not tasks:
        return []
    does = "its" if len(tasks) == 1 else "their"
    return [
        f"this may not be all: {join_names(tasks)} may read or write more than is known, as not "
        f"all of {does} statements are understood: `graft check --only rules` says why"
    ]


def first_findings(findings: Sequence[Finding], subject: str, what: str) -> Iterator[Finding]:
    """The first findings of one kind, and one that counts the others."""
    yield from findings[:_MOST]
    if len(findings) > _MOST:
        problem = f"{len(findings) - _MOST:,} more {what}"
        yield Finding(findings[_MOST].code, findings[_MOST].severity, subject, problem)
