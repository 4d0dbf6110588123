"""The differences between two times for other tools and for people: JSON, Markdown, plain text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dbt_graft.lineage.change_json import change_json
from dbt_graft.lineage.changes import Change, ChangeKind
from dbt_graft.lineage.diff import Difference
from dbt_graft.lineage.presence import GoneRule

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
    times: DiffTimes, rule: GoneRule, found: Sequence[Difference]
) -> dict[str, Any]:
    """The differences as JSON; `docs/lineage-diff.schema.json` is its schema."""
    kinds = [difference.change.kind for difference in found]
    return {
        "from": _iso(times.before),
        "to": _iso(times.now),
        "rule": {"runs": rule.runs, "intervals": rule.intervals},
        "counts": {kind.value: kinds.count(kind) for kind in ChangeKind if kind in kinds},
        "differences": [
            {
                **change_json(one.change),
                "at": _iso(one.at) if one.at else None,
                **({"reason": one.reason} if one.reason else {}),
            }
            for one in found
        ],
    }


def differences_text(times: DiffTimes, found: Sequence[Difference]) -> Iterator[str]:
    """The differences as lines of text, marked as in a diff: `+` new, `-` gone, `~` changed."""
    if not found:
        yield f"no differences from {times.before_text} to {times.now_text}"
        return
    yield f"from {times.before_text} to {times.now_text}:"
    for kind, some in _by_kind(found).items():
        yield ""
        yield f"{kind.heading} ({len(some):,})"
        for one in some:
            note = _note(one)
            yield f"  {_mark(kind)} {_words(one.change)}{f'  ({note})' if note else ''}"


def differences_markdown(times: DiffTimes, found: Sequence[Difference]) -> Iterator[str]:
    """The differences as lines of Markdown, for a comment or a ticket."""
    yield f"### Lineage from {times.before_text} to {times.now_text}"
    yield ""
    if not found:
        yield "No differences."
    for kind, some in _by_kind(found).items():
        yield f"**{kind.heading}** ({len(some):,})"
        yield ""
        for one in some:
            note = _note(one)
            yield f"- {_words(one.change, _code)}{f': {_escaped(note)}' if note else ''}"
        yield ""


def _by_kind(found: Iterable[Difference]) -> dict[ChangeKind, list[Difference]]:
    kinds: dict[ChangeKind, list[Difference]] = defaultdict(list)
    for one in found:
        kinds[one.change.kind].append(one)
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


def _note(one: Difference) -> str:
    day = f"{one.at.astimezone(UTC):%Y-%m-%d}" if one.at else ""
    return ", ".join(filter(None, (day, one.reason)))


def _code(text: str) -> str:
    """Text as code; one more backtick around it than it has in a row."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{' '.join(text.split())}{pad}{fence}"


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|~" else char for char in text)


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
