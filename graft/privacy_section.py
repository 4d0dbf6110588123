"""The section `privacy` of graft.yml."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from dbt_graft.collectors.checked_yaml import Section, Text
from dbt_graft.injector.column_labels import LabelPlace
from dbt_graft.lineage.privacy.classification import Classification, PrivacyRules, classification


def _classification(text: str) -> str:
    if classification(text) is None:
        names = ", ".join(one.text for one in Classification)
        raise ValueError(f"is no classification: write one of {names}")
    return text


Label = Annotated[Text, AfterValidator(_classification)]


class PrivacyColumn(Section):
    """The classification of columns that a pattern names."""

    columns: Text
    label: Label = Field(alias="is")
    reason: str = ""

    @property
    def classification(self) -> Classification:
        """Its classification."""
        return _named(self.label)


class PrivacySection(Section):
    """Classifications of columns, what operations leave of them, and which are sensitive.

    Attributes:
        in_dbt: The places in the grafted artifacts that labels are written to.
    """

    columns: tuple[PrivacyColumn, ...] = ()
    in_dbt: tuple[LabelPlace, ...] = ()
    masked: Label | None = None
    encrypted: Label | None = None
    aggregated: Label | None = None
    sensitive: Label = "pii"

    @property
    def rules(self) -> PrivacyRules:
        """The most that operations leave of a classification."""
        return PrivacyRules(
            *(
                _named(one) if one else None
                for one in (self.masked, self.encrypted, self.aggregated)
            )
        )

    @property
    def sensitive_from(self) -> Classification:
        """The lowest classification that is sensitive."""
        return _named(self.sensitive)


def _named(text: str) -> Classification:
    found = classification(text)
    assert found is not None
    return found
