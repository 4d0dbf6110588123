"""The codes of what rules of lineage find, and how severe each is where nobody says another."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from dbt_graft.analysis.finding import Severity


class RuleCode(StrEnum):
    """A shortcoming that a rule finds.

    MISSING_PRODUCING_RUN: a dataset has writers, and no run of any is known. MISSING_CODE_REF: a
    task writes, and neither its repository, its script nor a code version is known.
    CERTIFIED_ASSET_MISSING_OWNER, CERTIFIED_ASSET_MISSING_SLO: a certified dataset has no owner, or
    nothing says how fresh it must be. GOLD_ASSET_MISSING_QUALITY_RESULT: no test of a gold dataset
    has a result. WRITE_OUTSIDE_PLATFORM: a task that is not of the platform writes. SECOND_WRITER:
    several tasks, or a task and dbt, write a dataset. PROMISE_NOT_READ: the deadline or the
    freshness SLO of a consumer is no time. UNRESOLVED_STATEMENTS: the tables in statements of a
    task are not all known. STALE_EDGE: data flowed long ago, and not since.
    """

    MISSING_PRODUCING_RUN = "MISSING_PRODUCING_RUN"
    MISSING_CODE_REF = "MISSING_CODE_REF"
    CERTIFIED_WITHOUT_OWNER = "CERTIFIED_ASSET_MISSING_OWNER"
    CERTIFIED_WITHOUT_SLO = "CERTIFIED_ASSET_MISSING_SLO"
    GOLD_WITHOUT_RESULT = "GOLD_ASSET_MISSING_QUALITY_RESULT"
    OUTSIDE_PLATFORM = "WRITE_OUTSIDE_PLATFORM"
    SECOND_WRITER = "SECOND_WRITER"
    PROMISE_NOT_READ = "PROMISE_NOT_READ"
    UNRESOLVED = "UNRESOLVED_STATEMENTS"
    STALE_EDGE = "STALE_EDGE"


SEVERITIES: Mapping[RuleCode, Severity] = {
    RuleCode.MISSING_PRODUCING_RUN: Severity.WARNING,
    RuleCode.MISSING_CODE_REF: Severity.NOTE,
    RuleCode.CERTIFIED_WITHOUT_OWNER: Severity.ERROR,
    RuleCode.CERTIFIED_WITHOUT_SLO: Severity.WARNING,
    RuleCode.GOLD_WITHOUT_RESULT: Severity.WARNING,
    RuleCode.OUTSIDE_PLATFORM: Severity.WARNING,
    RuleCode.SECOND_WRITER: Severity.WARNING,
    RuleCode.PROMISE_NOT_READ: Severity.WARNING,
    RuleCode.UNRESOLVED: Severity.WARNING,
    RuleCode.STALE_EDGE: Severity.NOTE,
}
