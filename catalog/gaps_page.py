"""The page of what is missing: log records that were rejected, statements that were not parsed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dbt_graft.catalog.health import HealthSummary
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import Page
from dbt_graft.lineage.gaps import Gap
from dbt_graft.lineage.records import Reject


@dataclass(frozen=True, slots=True, kw_only=True)
class GapsPage(Page):
    """The context of `gaps.html.j2`.

    Attributes:
        reject_counts: Reason -> number of rejected log records.
    """

    template: ClassVar[str] = "gaps"

    reject_counts: Mapping[str, int]
    rejects: Sequence[Reject]
    gaps: Sequence[Gap]


def gaps_page(index: Index, health: HealthSummary) -> GapsPage:
    """The page of rejected log records and of statements that were not parsed completely."""
    return GapsPage(
        path="gaps/",
        title="Parsing issues",
        reject_counts=health.rejects,
        rejects=index.lineage.rejects,
        gaps=health.gaps,
    )
