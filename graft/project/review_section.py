"""The section `review` of graft.yml."""

from __future__ import annotations

from typing import Literal

from dbt_graft.collectors.checked_yaml import Section

VerdictName = Literal["breaking", "unknown", "rows", "columns", "additive", "metadata"]


class ReviewSection(Section):
    """The verdict from which on `graft review` fails."""

    fail_on: VerdictName | None = None
