"""The differences between two times for other tools and for people: JSON, Markdown, plain text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dbt_graft.analysis.history.change_json import change_json
from dbt_graft.analysis.history.changes import Change, ChangeKind
from dbt_graft.analysis.history.diff import Difference
from dbt_graft.analysis.history.presence import GoneRule

_NEW = frozenset(
    {ChangeKind.NEW_DATASET, ChangeKind.NEW_TASK, ChangeKind.NEW_EDGE, ChangeKind.NEW_COLUMN}
)
_GONE = frozenset(
    {ChangeKind.GONE_DATASET, ChangeKind.GONE_TASK, ChangeKind.GONE_EDGE, ChangeKind.GONE_COLUMN}
)


@dataclass(frozen=True, slots=True)
class DiffTimes:
    """The two times that are compared, and how each is shown."""

    before: datetime
    now: datetime
    before_text: str
    now_text: str


def differences_json(
    times: DiffTimes, rule: GoneRule, differences: Sequence[Difference]
) -> dict[str, Any]:
    """The differences as JSON; `docs/lineage-diff.schema.json` is its schema."""
    kinds = [difference.change.kind for difference in differences]
    return {
        "from": _iso(times.before),
        "to": _iso(times.now),
        "rule": {"runs": rule.runs, "intervals": rule.intervals},
        "counts": {kind.value: kinds.count(kind) for kind in ChangeKind if kind in kinds},
        "differences": [
            {
                **change_json(difference.change),
                "at": _iso(difference.at) if difference.at else None,
                **({"reason": difference.reason} if difference.reason else {}),
            }
            for difference in differences
        ],
    }


def differences_text(times: DiffTimes, differences: Sequence[Difference]) -> Iterator[str]:
    """The differences as lines of text, marked as in a diff: `+` new, `-` gone, `~` changed."""
    if not differences:
        yield f"no differences from {times.before_text} to {times.now_text}"
        return
    yield f"from {times.before_text} to {times.now_text}:"
    for kind, group in _by_kind(differences).items():
        yield ""
        yield f"{kind.heading} ({len(group):,})"
        for difference in group:
            note = _note(difference)
            yield f"  {_mark(kind)} {_words(difference.change)}{f'  ({note})' if note else ''}"


def differences_markdown(times: DiffTimes, differences: Sequence[Difference]) -> Iterator[str]:
    """The differences as lines of Markdown, for a comment or a ticket."""
    yield f"### Lineage from {times.before_text} to {times.now_text}"
    yield ""
    if not differences:
        yield "No differences."
    for kind, group in _by_kind(differences).items():
        yield f"**{kind.heading}** ({len(group):,})"
        yield ""
        for difference in group:
            note = _note(difference)
            yield f"- {_words(difference.change, _code)}{f': {_escape(note)}' if note else ''}"
        yield ""


def _by_kind(differences: Iterable[Difference]) -> dict[ChangeKind, list[Difference]]:
    kinds: dict[ChangeKind, list[Difference]] = defaultdict(list)
    for difference in differences:
        kinds[difference.change.kind].append(difference)
    return kinds


def _mark(kind: ChangeKind) -> str:
    if kind in _NEW:
        return "+"
    return "-" if kind in _GONE else "~"


def _words(change: Change, shown: Callable[[str], str] = str) -> str:
    """The change in words: `spark/raw.a -> spark/raw.b`, a task, `spark/raw.a.column`."""
    if change.dataset is None:
        return shown(change.name)
    name = shown(f"{change.dataset}.{change.name}" if change.name else str(change.dataset))
    values = f": {shown(change.before)} -> {shown(change.now)}" if change.before else ""
    if change.other is not None:
        return f"{name} -> {shown(str(change.other))}{values}"
    return f"{name}{values}"


def _note(difference: Difference) -> str:
    day = f"{difference.at.astimezone(UTC):%Y-%m-%d}" if difference.at else ""
    return ", ".join(filter(None, (day, difference.reason)))


def _code(text: str) -> str:
    """Text as code; one more backtick around it than it has in a row."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{' '.join(text.split())}{pad}{fence}"


def _escape(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|~" else char for char in text)


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
