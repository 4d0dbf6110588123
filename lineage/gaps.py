"""Statements that were not understood, or only in part, grouped by the reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dbt_graft.lineage.records import Outcome, Shape

_LONGEST = 1_000
_UNTOLD = {Outcome.PARTIAL: "read in part", Outcome.FAILED: "not understood"}


@dataclass(frozen=True, slots=True)
class Gap:
    """Shapes of one outcome and reason.

    Attributes:
        shapes: How many.
        dialect: That of the example.
        example: The shortest of their texts, without literals as all of them are.
    """

    outcome: Outcome
    reason: str
    shapes: int
    dialect: str
    example: str


def gaps(shapes: Iterable[Shape]) -> tuple[Gap, ...]:
    """What parsing left open: failures first, and within them what concerns most shapes."""
    alike: dict[tuple[Outcome, str], list[Shape]] = {}
    for shape in shapes:
        if shape.outcome is not Outcome.PARSED:
            reason = shape.reason or _UNTOLD[shape.outcome]
            alike.setdefault((shape.outcome, reason), []).append(shape)
    found = []
    for (outcome, reason), group in alike.items():
        example = min(group, key=lambda shape: (len(shape.text), shape.text))
        found.append(Gap(outcome, reason, len(group), example.dialect, example.text[:_LONGEST]))
    return tuple(
        sorted(found, key=lambda g: (g.outcome is not Outcome.FAILED, -g.shapes, g.reason))
    )
