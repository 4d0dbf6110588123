"""Changes, what they do to datasets and columns, and how severe that is.

The rules are tables, so that a team can read and question them. They follow the change matrix of
data contracts: adding is low, widening medium, narrowing, retyping and removing high, another unit
critical; wrong data taints, and sensitive data restricts, whatever it flows into.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum


class ChangeType(StrEnum):
    """The kind of a change.

    SEMANTICS, UNIT: a column's values mean something else, or count in another unit. ROWS: another
    filter or join, so other rows. FRESHNESS: data comes later, or not. PRIVACY: a column holds
    sensitive values now. DATA_INCORRECT: values are wrong.
    """

    REMOVE = "remove"
    RENAME = "rename"
    TYPE = "type"
    NARROW = "narrow"
    WIDEN = "widen"
    ADD = "add"
    SEMANTICS = "meaning"
    UNIT = "unit"
    ROWS = "rows"
    FRESHNESS = "freshness"
    PRIVACY = "privacy"
    DATA_INCORRECT = "data_incorrect"
    DEPRECATE = "deprecate"


class ImpactEffect(IntEnum):
    """The effect of a change on a dataset or a column, the strongest first.

    GONE: it is not there, or cannot be computed. TYPE: its type is another. VALUES: its values
    are. ROWS: the dataset has other rows. SENSITIVE: it holds the sensitive values. LATE: the
    dataset is not written, or later. MASKED: it holds them masked or encrypted, which makes
    them less and does not remove them. DEPENDS: sensitive values decide on it. NEW: it may get the
    new column.
    """

    GONE = 0
    TYPE = 1
    VALUES = 2
    ROWS = 3
    SENSITIVE = 4
    LATE = 5
    MASKED = 6
    DEPENDS = 7
    NEW = 8


class ImpactSeverity(IntEnum):
    """The severity of an effect, the lowest first; all but INFO ask for something to be done."""

    INFO = 0
    WARNING = 1
    BLOCKING = 2
    TAINTED = 3
    RESTRICTED = 4
    CRITICAL = 5


# What a change of a kind does where it is made.
START: Mapping[ChangeType, ImpactEffect] = {
    ChangeType.REMOVE: ImpactEffect.GONE,
    ChangeType.RENAME: ImpactEffect.GONE,
    ChangeType.TYPE: ImpactEffect.TYPE,
    ChangeType.NARROW: ImpactEffect.TYPE,
    ChangeType.WIDEN: ImpactEffect.TYPE,
    ChangeType.ADD: ImpactEffect.NEW,
    ChangeType.SEMANTICS: ImpactEffect.VALUES,
    ChangeType.UNIT: ImpactEffect.VALUES,
    ChangeType.ROWS: ImpactEffect.ROWS,
    ChangeType.FRESHNESS: ImpactEffect.LATE,
    ChangeType.PRIVACY: ImpactEffect.SENSITIVE,
    ChangeType.DATA_INCORRECT: ImpactEffect.VALUES,
    ChangeType.DEPRECATE: ImpactEffect.GONE,
}
# Kinds of change that concern a dataset, whichever column is named.
OF_DATASETS = frozenset({ChangeType.ADD, ChangeType.ROWS, ChangeType.FRESHNESS})

_INFO, _WARNING, _BLOCKING = ImpactSeverity.INFO, ImpactSeverity.WARNING, ImpactSeverity.BLOCKING
_BREAKS = {
    ImpactEffect.GONE: _BLOCKING,
    ImpactEffect.TYPE: _BLOCKING,
    ImpactEffect.VALUES: _WARNING,
    ImpactEffect.ROWS: _WARNING,
    ImpactEffect.LATE: _WARNING,
}
_SEVERITIES: Mapping[ChangeType, Mapping[ImpactEffect, ImpactSeverity]] = {
    ChangeType.REMOVE: _BREAKS,
    ChangeType.RENAME: _BREAKS,
    ChangeType.TYPE: _BREAKS,
    ChangeType.NARROW: _BREAKS,
    ChangeType.WIDEN: {ImpactEffect.TYPE: _WARNING},
    ChangeType.ADD: {},
    ChangeType.SEMANTICS: {ImpactEffect.VALUES: _BLOCKING, ImpactEffect.ROWS: _WARNING},
    ChangeType.UNIT: {ImpactEffect.VALUES: ImpactSeverity.CRITICAL, ImpactEffect.ROWS: _BLOCKING},
    ChangeType.ROWS: {ImpactEffect.ROWS: _WARNING},
    ChangeType.FRESHNESS: {ImpactEffect.LATE: _WARNING},
    ChangeType.PRIVACY: {
        ImpactEffect.SENSITIVE: ImpactSeverity.RESTRICTED,
        ImpactEffect.MASKED: _WARNING,
    },
    ChangeType.DATA_INCORRECT: {
        ImpactEffect.VALUES: ImpactSeverity.TAINTED,
        ImpactEffect.ROWS: ImpactSeverity.TAINTED,
    },
    ChangeType.DEPRECATE: {ImpactEffect.GONE: _WARNING},
}
_ACTIONS: Mapping[ChangeType, str] = {
    ChangeType.REMOVE: "move its readers elsewhere first, then remove it",
    ChangeType.RENAME: "keep the old name as an alias until its readers have moved",
    ChangeType.TYPE: "cast explicitly, and test what reads it",
    ChangeType.NARROW: "check that all values fit, and test what reads it",
    ChangeType.WIDEN: "test what reads it",
    ChangeType.ADD: "name columns where `select *` is read",
    ChangeType.SEMANTICS: "agree on the new meaning with its owners, or add a column for it",
    ChangeType.UNIT: "add a column in the new unit, and move its readers",
    ChangeType.ROWS: "compare row counts and totals before and after",
    ChangeType.FRESHNESS: "let those know who wait for it",
    ChangeType.PRIVACY: "restrict access, or mask it where it leaves its place",
    ChangeType.DATA_INCORRECT: "hold back, correct, and run again: see `graft incident open`",
    ChangeType.DEPRECATE: "plan the move to its successor with the owners",
}

_EFFECT_ACTIONS: Mapping[ImpactEffect, str] = {
    ImpactEffect.GONE: "take it out of the statement, or read another column",
    ImpactEffect.TYPE: "cast explicitly, and test what reads it",
    ImpactEffect.VALUES: "compare its values before and after",
    ImpactEffect.ROWS: "compare row counts and totals before and after",
    ImpactEffect.SENSITIVE: "restrict access, or mask it on the way",
    ImpactEffect.LATE: "wait with its readers until it is written",
    ImpactEffect.MASKED: "check that what is left of the values may be there",
    ImpactEffect.DEPENDS: "check that its rows do not give values away",
    ImpactEffect.NEW: "name columns where `select *` reads it",
}


def severity(kind: ChangeType, effect: ImpactEffect) -> ImpactSeverity:
    """The severity of an effect of a change, before criticality counts."""
    return _SEVERITIES[kind].get(effect, ImpactSeverity.INFO)


def raise_severity(usual: ImpactSeverity) -> ImpactSeverity:
    """The severity where a critical consumer, one with a deadline or an SLO, is affected."""
    if usual is ImpactSeverity.WARNING:
        return ImpactSeverity.BLOCKING
    return (
        usual
        if usual in (ImpactSeverity.INFO, ImpactSeverity.RESTRICTED)
        else ImpactSeverity.CRITICAL
    )


def recommended_action(kind: ChangeType) -> str:
    """The action to take about a change."""
    return _ACTIONS[kind]


def effect_action(effect: ImpactEffect) -> str:
    """The action to take about a dataset that a change has this effect on."""
    return _EFFECT_ACTIONS[effect]
