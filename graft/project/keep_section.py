"""The section `keep` of graft.yml."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator

from dbt_graft.collectors.checked_yaml import Section, Text
from dbt_graft.collectors.store.retention import Retention
from dbt_graft.graft.project.impact_section import days


class KeepSection(Section):
    """The time for which the store keeps single runs, and texts of statements."""

    runs: Annotated[Text, AfterValidator(days)] | None = None
    statements: Annotated[Text, AfterValidator(days)] | None = None

    @property
    def retention(self) -> Retention:
        """The rules."""
        return Retention(_span(self.runs), _span(self.statements))


def _span(text: str | None) -> timedelta | None:
    return timedelta(days=int(text[:-1])) if text else None
