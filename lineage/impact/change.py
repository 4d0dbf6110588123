"""Changes, what they do to datasets and columns, and how severe that is.

The rules are tables, so that a team can read and question them. They follow the change matrix of
data contracts: adding is low, widening medium, narrowing, retyping and removing high, another unit
critical; wrong data taints, and sensitive data restricts, whatever it flows into.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum


class ChangeKind(StrEnum):
    """The kind of a change.

    MEANING, UNIT: a column's values mean something else, or count in another unit. ROWS: another
    filter or join, so other rows. FRESHNESS: data comes later, or not. PRIVACY: a column holds
    sensitive values now. DATA_INCORRECT: values are wrong.
    """

    REMOVE = "remove"
    RENAME = "rename"
    TYPE = "type"
    NARROW = "narrow"
    WIDEN = "widen"
    ADD = "add"
    MEANING = "meaning"
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
    dataset is not written, or later. MASKED: it holds them masked or hashed, which makes them less
    and does not remove them. DEPENDS: sensitive values decide on it. NEW: it may get the new
    column.
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


class Severity(IntEnum):
    """The severity of an effect, the lowest first; all but INFO ask for something to be done."""

    INFO = 0
    WARNING = 1
    BLOCKING = 2
    TAINTED = 3
    RESTRICTED = 4
    CRITICAL = 5


# What a change of a kind does where it is made.
START: Mapping[ChangeKind, ImpactEffect] = {
    ChangeKind.REMOVE: ImpactEffect.GONE,
    ChangeKind.RENAME: ImpactEffect.GONE,
    ChangeKind.TYPE: ImpactEffect.TYPE,
    ChangeKind.NARROW: ImpactEffect.TYPE,
    ChangeKind.WIDEN: ImpactEffect.TYPE,
    ChangeKind.ADD: ImpactEffect.NEW,
    ChangeKind.MEANING: ImpactEffect.VALUES,
    ChangeKind.UNIT: ImpactEffect.VALUES,
    ChangeKind.ROWS: ImpactEffect.ROWS,
    ChangeKind.FRESHNESS: ImpactEffect.LATE,
    ChangeKind.PRIVACY: ImpactEffect.SENSITIVE,
    ChangeKind.DATA_INCORRECT: ImpactEffect.VALUES,
    ChangeKind.DEPRECATE: ImpactEffect.GONE,
}
# Kinds of change that concern a dataset, whichever column is named.
OF_DATASETS = frozenset({ChangeKind.ADD, ChangeKind.ROWS, ChangeKind.FRESHNESS})

_INFO, _WARNING, _BLOCKING = Severity.INFO, Severity.WARNING, Severity.BLOCKING
_BREAKS = {
    ImpactEffect.GONE: _BLOCKING,
    ImpactEffect.TYPE: _BLOCKING,
    ImpactEffect.VALUES: _WARNING,
    ImpactEffect.ROWS: _WARNING,
    ImpactEffect.LATE: _WARNING,
}
_SEVERITIES: Mapping[ChangeKind, Mapping[ImpactEffect, Severity]] = {
    ChangeKind.REMOVE: _BREAKS,
    ChangeKind.RENAME: _BREAKS,
    ChangeKind.TYPE: _BREAKS,
    ChangeKind.NARROW: _BREAKS,
    ChangeKind.WIDEN: {ImpactEffect.TYPE: _WARNING},
    ChangeKind.ADD: {},
    ChangeKind.MEANING: {ImpactEffect.VALUES: _BLOCKING, ImpactEffect.ROWS: _WARNING},
    ChangeKind.UNIT: {ImpactEffect.VALUES: Severity.CRITICAL, ImpactEffect.ROWS: _BLOCKING},
    ChangeKind.ROWS: {ImpactEffect.ROWS: _WARNING},
    ChangeKind.FRESHNESS: {ImpactEffect.LATE: _WARNING},
    ChangeKind.PRIVACY: {
        ImpactEffect.SENSITIVE: Severity.RESTRICTED,
        ImpactEffect.MASKED: _WARNING,
    },
    ChangeKind.DATA_INCORRECT: {
        ImpactEffect.VALUES: Severity.TAINTED,
        ImpactEffect.ROWS: Severity.TAINTED,
    },
    ChangeKind.DEPRECATE: {ImpactEffect.GONE: _WARNING},
}
_ACTIONS: Mapping[ChangeKind, str] = {
    ChangeKind.REMOVE: "move its readers to another column first, then remove it",
    ChangeKind.RENAME: "keep the old name as an alias until its readers have moved",
    ChangeKind.TYPE: "cast explicitly, and test what reads it",
    ChangeKind.NARROW: "check that all values fit, and test what reads it",
    ChangeKind.WIDEN: "test what reads it",
    ChangeKind.ADD: "name columns where `select *` is read",
    ChangeKind.MEANING: "agree on the new meaning with its owners, or add a column for it",
    ChangeKind.UNIT: "add a column in the new unit, and move its readers",
    ChangeKind.ROWS: "compare row counts and totals before and after",
    ChangeKind.FRESHNESS: "tell who waits for it",
    ChangeKind.PRIVACY: "restrict access, or mask it where it leaves its place",
    ChangeKind.DATA_INCORRECT: "hold back, correct, and run again: see `graft taint`",
    ChangeKind.DEPRECATE: "plan the move to its successor with the owners",
}


def severity(kind: ChangeKind, effect: ImpactEffect) -> Severity:
    """The severity of an effect of a change, before criticality counts."""
    return _SEVERITIES[kind].get(effect, Severity.INFO)


def raised(found: Severity) -> Severity:
    """The severity where a critical consumer, one with a deadline or an SLO, is affected."""
    if found is Severity.WARNING:
        return Severity.BLOCKING
    return found if found in (Severity.INFO, Severity.RESTRICTED) else Severity.CRITICAL


def recommended_action(kind: ChangeKind) -> str:
    """What to do about a change."""
    return _ACTIONS[kind]
