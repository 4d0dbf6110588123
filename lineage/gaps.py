"""Statements that could not be parsed, or only in part, grouped by reason."""

from __future__ import annotations

from collections.abc import Iterable

from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Outcome, Shape

_LONGEST = 1_000
# The parsers that name the columns which they could not follow.
_FOLLOWS_COLUMNS = frozenset({"sqlglot", "plan"})
_NO_REASON = {Outcome.PARTIAL: "parsed in part", Outcome.FAILED: "could not be parsed"}


@frozen
class Gap:
    """Shapes of one outcome and reason.

    Attributes:
        shapes: The number of shapes.
        dialect: The dialect of the example.
        example: The shortest of their texts, without literals.
    """

    outcome: Outcome
    reason: str
    shapes: int
    dialect: str
    example: str


def gaps(shapes: Iterable[Shape]) -> tuple[Gap, ...]:
    """Return the gaps left by parsing: failures first, then by number of shapes."""
    alike: dict[tuple[Outcome, str], list[Shape]] = {}
    for shape in shapes:
        if shape.outcome is not Outcome.PARSED:
            reason = shape.reason or _NO_REASON[shape.outcome]
            alike.setdefault((shape.outcome, reason), []).append(shape)
    all_gaps = []
    for (outcome, reason), group in alike.items():
        example = min(group, key=lambda shape: (not shape.text, len(shape.text), shape.text))
        all_gaps.append(Gap(outcome, reason, len(group), example.dialect, example.text[:_LONGEST]))
    return tuple(
        sorted(all_gaps, key=lambda g: (g.outcome is not Outcome.FAILED, -g.shapes, g.reason))
    )


def followed_shapes(shapes: Iterable[Shape]) -> frozenset[str]:
    """The shapes of which all columns are known: one without column edges counts rows, or the like.

    Events of other tools leave columns out without a word.
    """
    return frozenset(
        shape.shape_id
        for shape in shapes
        if shape.outcome is Outcome.PARSED and shape.parser in _FOLLOWS_COLUMNS
    )
