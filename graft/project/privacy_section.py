"""The section `privacy` of graft.yml."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from dbt_graft.analysis.privacy.classification import Classification, PrivacyRules, classification
from dbt_graft.injector.options import LabelPlace
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.section import Checked, Limits, Section, Text


def _classification(text: str) -> str:
    if classification(text) is None:
        names = ", ".join(level.text for level in Classification)
        raise ValueError(f"is not a classification: write one of {names}")
    return text


Label = Annotated[Text, Checked(_classification)]


@frozen
class PrivacyColumn(Section):
    """The classification of columns that a pattern names, or the size of the groups behind them.

    Attributes:
        group_size: The fewest rows of a group that the columns are aggregated from.
    """

    columns: Text
    label: Label | None = field(default=None, metadata={"key": "is"})
    reason: str = ""
    group_size: Annotated[int, Limits(ge=1)] | None = None

    def __post_init__(self) -> None:
        if self.label is None and self.group_size is None:
            raise ValueError("say what the columns are (`is`), or their `group_size`")

    @property
    def classification(self) -> Classification | None:
        """Its classification; None where it says only the size of groups."""
        return _parse_classification(self.label) if self.label else None


@frozen
class PrivacyTable(Section):
    """The classification of tables that a pattern names: sites for lower audiences lack them."""

    tables: Text
    label: Label = field(metadata={"key": "is"})

    @property
    def classification(self) -> Classification:
        """Their classification."""
        return _parse_classification(self.label)


@frozen
class PrivacySection(Section):
    """Classifications of columns, what operations leave of them, and which are sensitive.

    Attributes:
        labels: A label of the team's own, in any case -> the classification that it stands for.
        in_dbt: The places in the grafted artifacts that labels are written to.
        smallest_group: `aggregated` counts for columns with at least this `group_size`.
    """

    labels: dict[Text, Label] = field(default_factory=dict)
    columns: tuple[PrivacyColumn, ...] = ()
    tables: tuple[PrivacyTable, ...] = ()
    in_dbt: tuple[LabelPlace, ...] = ()
    masked: Label | None = None
    encrypted: Label | None = None
    aggregated: Label | None = None
    smallest_group: Annotated[int, Limits(ge=1)] | None = None
    sensitive: Label = "pii"

    def classification(self, label: str) -> Classification | None:
        """The classification that a label stands for; None where nobody says it."""
        mapped = {_fold(text): meant for text, meant in self.labels.items()}.get(_fold(label))
        return classification(label if mapped is None else mapped)

    @property
    def rules(self) -> PrivacyRules:
        """The most that operations leave of a classification."""
        return PrivacyRules(
            masked=_parse_classification(self.masked) if self.masked else None,
            encrypted=_parse_classification(self.encrypted) if self.encrypted else None,
            aggregated=_parse_classification(self.aggregated) if self.aggregated else None,
            smallest_group=self.smallest_group,
        )

    @property
    def sensitive_from(self) -> Classification:
        """The lowest classification that is sensitive."""
        return _parse_classification(self.sensitive)


def _fold(label: str) -> str:
    return " ".join(label.casefold().split())


def _parse_classification(text: str) -> Classification:
    level = classification(text)
    assert level is not None
    return level
