"""The differences between two times as an answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.history.changes import Change, ChangeKind
from dbt_graft.analysis.history.diff import Difference
from dbt_graft.analysis.history.presence import GoneRule
from dbt_graft.analysis.render.json import exact_iso
from dbt_graft.analysis.render.phrases import count
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key

_NEW = frozenset(
    {ChangeKind.NEW_DATASET, ChangeKind.NEW_TASK, ChangeKind.NEW_EDGE, ChangeKind.NEW_COLUMN}
)
_GONE = frozenset(
    {ChangeKind.GONE_DATASET, ChangeKind.GONE_TASK, ChangeKind.GONE_EDGE, ChangeKind.GONE_COLUMN}
)


@frozen
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
        for kind, group in group_by_key(
            (difference.change.kind, difference) for difference in differences
        ).items()
    ]
    return Answer(
        f"lineage from {times.before_text} to {times.now_text}",
        count(len(differences), "difference") if differences else "no differences",
        tables=tables,
        grade="change" if differences else "",
        question="diff",
        data={
            "from": exact_iso(times.before),
            "to": exact_iso(times.now),
            "rule": {"runs": rule.runs, "intervals": rule.intervals},
            "counts": {kind.value: kinds.count(kind) for kind in ChangeKind if kind in kinds},
            "differences": [_json(difference) for difference in differences],
        },
    )


def _json(difference: Difference) -> dict[str, Any]:
    change = difference.change
    texts = {
        "dataset": str(change.dataset or ""),
        "other": str(change.other or ""),
        "name": change.name,
        "before": change.before,
        "now": change.now,
        "reason": difference.reason,
    }
    present = {name: text for name, text in texts.items() if text}
    return {"kind": change.kind.value, "at": exact_iso(difference.at), **present}


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
