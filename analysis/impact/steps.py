"""The effect that goes over an edge: what an effect on an input does to the output."""

from __future__ import annotations

from dbt_graft.analysis.impact.change import ImpactEffect
from dbt_graft.analysis.impact.graph import EdgeKind
from dbt_graft.lineage.records import EdgeType, Subtype

# INDIRECT subtypes that decide on the value of an output column; the others decide on rows.
_ON_VALUES = frozenset({Subtype.CONDITIONAL, Subtype.WINDOW, Subtype.SORT})

# An effect, and whether the whole dataset has it.
Carried = tuple[ImpactEffect, bool]


def over_column_edge(effect: ImpactEffect, kind: EdgeKind, *, all_columns: bool) -> Carried | None:
    """The effect behind a column edge of one on the input column; None where it ends.

    A statement that names a column that is gone fails, whatever it uses it for: its output is not
    written, which `ImpactGraph.edge_need` tells. A filter, join or grouping on other values gives
    other rows, so it concerns all columns of the output.

    Args:
        all_columns: The edge goes to `*`.
    """
    direct = kind.subtype.type is EdgeType.DIRECT
    match effect:
        case ImpactEffect.GONE:
            return (ImpactEffect.GONE, all_columns) if direct else (ImpactEffect.LATE, True)
        case ImpactEffect.SENSITIVE | ImpactEffect.MASKED:
            if not direct:
                return ImpactEffect.DEPENDS, all_columns
            return (ImpactEffect.MASKED if kind.masked_by.leaves_less else effect), all_columns
        case ImpactEffect.TYPE | ImpactEffect.VALUES:
            if direct:
                same = effect is ImpactEffect.TYPE and kind.subtype is Subtype.IDENTITY
                return (effect if same else ImpactEffect.VALUES), all_columns
            if kind.subtype in _ON_VALUES and not all_columns:
                return ImpactEffect.VALUES, False
            return ImpactEffect.ROWS, True
    return None


def over_flow(effect: ImpactEffect, *, of_column: bool) -> ImpactEffect | None:
    """The effect behind a flow, on the whole output; None where it ends.

    Args:
        of_column: It is the effect on a column, and the columns of the flow are not known: the
            column may be among them.
    """
    match effect:
        case ImpactEffect.GONE:
            return ImpactEffect.LATE
        case ImpactEffect.TYPE | ImpactEffect.VALUES:
            return ImpactEffect.ROWS if of_column else effect
        case ImpactEffect.DEPENDS:
            return None
    return effect
