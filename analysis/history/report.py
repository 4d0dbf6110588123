"""The differences between two times as an answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.history.change_json import change_json
from dbt_graft.analysis.history.changes import Change, ChangeKind
from dbt_graft.analysis.history.diff import Difference
from dbt_graft.analysis.history.presence import GoneRule
from dbt_graft.analysis.render.phrases import count

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


def differences_answer(
    times: DiffTimes, rule: GoneRule, differences: Sequence[Difference]
) -> Answer:
    """The differences by kind; those new have a `+`, those gone a `-`, other changes a `~`."""
    kinds = [difference.change.kind for difference in differences]
    tables = [
        Table(
            kind.heading,
            (),
            [(_mark(kind), _words(change.change), _note(change)) for change in group],
        )
        for kind, group in _by_kind(differences).items()
    ]
    return Answer(
        f"lineage from {times.before_text} to {times.now_text}",
        count(len(differences), "difference") if differences else "no differences",
        tables=tables,
        grade="change" if differences else "",
        question="diff",
        data={
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
        },
    )


def _by_kind(differences: Iterable[Difference]) -> dict[ChangeKind, list[Difference]]:
    kinds: dict[ChangeKind, list[Difference]] = defaultdict(list)
    for difference in differences:
        kinds[difference.change.kind].append(difference)
    return kinds


def _mark(kind: ChangeKind) -> str:
    if kind in _NEW:
        return "+"
    return "-" if kind in _GONE else "~"


def _words(change: Change) -> str:
    """The change in words: `spark/raw.a -> spark/raw.b`, a task, `spark/raw.a.column`."""
    if change.dataset is None:
        return change.name
    name = f"{change.dataset}.{change.name}" if change.name else str(change.dataset)
    values = f": {change.before} -> {change.now}" if change.before else ""
    return f"{name} -> {change.other}{values}" if change.other is not None else f"{name}{values}"


def _note(difference: Difference) -> str:
    day = f"{difference.at.astimezone(UTC):%Y-%m-%d}" if difference.at else ""
    return ", ".join(filter(None, (day, difference.reason)))


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
