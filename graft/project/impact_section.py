"""The section `impact` of graft.yml."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator

from dbt_graft.collectors.checked_yaml import Section, Text

_DAYS = re.compile(r"([1-9][0-9]{0,4})d")
SeverityName = Literal["warning", "blocking", "tainted", "restricted", "critical"]


def days(text: str) -> str:
    """A number of days, as it is written."""
    if not _DAYS.fullmatch(text):
        raise ValueError("write a number of days: 90d")
    return text


class ImpactSection(Section):
    """The age of stale edges, and the severity from which on `graft impact` fails."""

    stale_after: Annotated[Text, AfterValidator(days)] = "90d"
    fail_on: SeverityName | None = None

    @property
    def stale_span(self) -> timedelta:
        """The time after which an edge that was not seen is stale."""
        return timedelta(days=int(self.stale_after[:-1]))
