"""The section `rules` of graft.yml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from dbt_graft.analysis.checks.rule_codes import SEVERITIES
from dbt_graft.analysis.finding import Severity
from dbt_graft.analysis.privacy.findings import PrivacyCode
from dbt_graft.collectors.checked_yaml import Section, Text


def _off(value: object) -> object:
    return "off" if value is False else value  # YAML reads `off` as false.


SeverityName = Annotated[Literal["off", "note", "warning", "error"], BeforeValidator(_off)]

FORBIDDEN = "FORBIDDEN_CHANGE"
PHANTOM, UNDECLARED = "PHANTOM_EDGE", "UNDECLARED_EDGE"
COLUMN_DRIFT, DAG_ORDER = "COLUMN_DRIFT", "DAG_ORDER"
CONTRACT_NOT_READ, CONTRACT_UNMATCHED = "CONTRACT_NOT_READ", "CONTRACT_WITHOUT_DATASET"
CONTRACT_COLUMN = "CONTRACT_COLUMN_MISSING"
# Every code that `graft check` may print -> its severity where graft.yml says nothing.
DEFAULTS: Mapping[str, Severity] = {
    FORBIDDEN: Severity.WARNING,
    **{code.value: severity for code, severity in SEVERITIES.items()},
    PHANTOM: Severity.WARNING,
    UNDECLARED: Severity.WARNING,
    COLUMN_DRIFT: Severity.WARNING,
    DAG_ORDER: Severity.WARNING,
    **{code.value: Severity.WARNING for code in PrivacyCode},
    CONTRACT_NOT_READ: Severity.WARNING,
    CONTRACT_UNMATCHED: Severity.WARNING,
    CONTRACT_COLUMN: Severity.ERROR,
}


def _code(text: str) -> str:
    if text not in DEFAULTS:
        raise ValueError(f"is no code of a rule: write one of {', '.join(sorted(DEFAULTS))}")
    return text


class RulesSection(Section):
    """The findings of `graft check`: their severities, and from where on it fails."""

    severity: dict[Annotated[Text, AfterValidator(_code)], SeverityName] = Field(default={})
    certified: tuple[Text, ...] = ("certified",)
    gold: tuple[Text, ...] = ("gold",)
    platform: tuple[Text, ...] = ()
    fail_on: Literal["note", "warning", "error"] | None = None

    @property
    def severities(self) -> dict[str, Severity]:
        """Code -> its severity; without codes that are off."""
        names_by_code = {
            code: severity.value for code, severity in DEFAULTS.items()
        } | self.severity
        return {code: Severity(name) for code, name in names_by_code.items() if name != "off"}
