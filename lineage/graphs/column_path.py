"""Columns, the steps between them, and the effect that one has in another over several steps."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import NamedTuple

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.graphs.columns import compose
from dbt_graft.lineage.records import ColumnEdge, EdgeType, Evidence, Subtype


class ColumnId(NamedTuple):
    """A column of a dataset, spelled as its schema does; the name is `*` for all of them."""

    dataset: DatasetId
    name: str

    def __str__(self) -> str:
        return f"{self.dataset}.{self.name}"

    @property
    def short(self) -> str:
        """With the last two parts of the dataset's name: `raw.orders.amount`."""
        return f"{self.dataset.short}.{self.name}"


class Effect(NamedTuple):
    """The part that a column has in another: over one edge, or over a path."""

    subtype: Subtype
    masking: bool
    evidence: Evidence

    @property
    def type(self) -> EdgeType:
        """DIRECT if its values go there, INDIRECT if they decide there."""
        return self.subtype.type

    def then(self, last: Effect) -> Effect:
        """The effect of this one and a later one: masking stays, the weaker evidence counts."""
        return _EFFECTS[
            _CODES[
                compose(last.subtype, self.subtype),
                self.masking or last.masking,
                max(self.evidence, last.evidence, key=_EVIDENCES.index),
            ]
        ]


class ReachedColumn(NamedTuple):
    """A column upstream or downstream of another, with the effect of a shortest path.

    Where a path of DIRECT edges leads to it, depth and effect are that path's.
    """

    column: ColumnId
    depth: int
    effect: Effect


class ColumnStep(NamedTuple):
    """One step from a column to another, with every edge that makes it.

    The edges are sorted: values before decisions, then the least change first. `*` as source or
    target stands for all columns, or for one that is not known.
    """

    source: ColumnId
    target: ColumnId
    edges: tuple[ColumnEdge, ...]

    @property
    def effect(self) -> Effect:
        """The effect of its first edge."""
        return _EFFECTS[effect_code(self.edges[0])]


class ColumnPath(NamedTuple):
    """The steps from one column to another.

    After a step to `*` the next one begins at any column of that dataset.
    """

    steps: tuple[ColumnStep, ...]

    @property
    def effect(self) -> Effect:
        """The effect of all steps together."""
        effect = self.steps[0].effect
        for step in self.steps[1:]:
            effect = effect.then(step.effect)
        return effect


class ColumnPaths(NamedTuple):
    """Paths between two columns, shortest first; not complete if there may be more."""

    paths: tuple[ColumnPath, ...]
    is_complete: bool


_EVIDENCES = tuple(Evidence)
_EFFECTS = tuple(Effect(*parts) for parts in product(Subtype, (False, True), Evidence))
_CODES: dict[tuple[Subtype, bool, Evidence], int] = {
    effect: code for code, effect in enumerate(_EFFECTS)
}
# Codes below it are of DIRECT edges.
FIRST_INDIRECT = _CODES[Subtype.JOIN, False, Evidence.OBSERVED]


def effect_code(edge: ColumnEdge) -> int:
    """The effect of an edge as a small number: values before decisions, the least change first."""
    return _CODES[edge.subtype, edge.masking, edge.evidence]


def effect_of(code: int) -> Effect:
    """The effect that a number stands for."""
    return _EFFECTS[code]


@cache
def composition_table() -> tuple[bytes, ...]:
    """The number of two effects in a row, by those of the first and the last."""
    return tuple(bytes(_CODES[first.then(last)] for last in _EFFECTS) for first in _EFFECTS)
