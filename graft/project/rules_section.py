"""The section `rules` of graft.yml."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from dbt_graft.analysis.finding import Severity
from dbt_graft.analysis.rule import RULES
from dbt_graft.collectors.checked_yaml import Section, Text


def _off(value: object) -> object:
    return "off" if value is False else value  # YAML reads `off` as false.


SeverityName = Annotated[Literal["off", "note", "warning", "error"], BeforeValidator(_off)]


def _code(text: str) -> str:
    if text not in RULES:
        raise ValueError(f"is no code of a rule: write one of {', '.join(sorted(RULES))}")
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
        names_by_code = {code: rule.severity.value for code, rule in RULES.items()} | self.severity
        return {code: Severity(name) for code, name in names_by_code.items() if name != "off"}
