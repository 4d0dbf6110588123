"""The page of what is missing: rejected log records, statements and dbt models not followed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dbt_graft.catalog.health import HealthSummary
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import Page
from dbt_graft.lineage.definition import Definition, gap_reason
from dbt_graft.lineage.gaps import Gap
from dbt_graft.lineage.records import Reject
from dbt_graft.lineage.settings import IgnoredTasks


@dataclass(frozen=True, slots=True, kw_only=True)
class GapsPage(Page):
    """The context of `gaps.html.j2`.

    Attributes:
        reject_counts: Reason -> number of rejected log records.
        models: Reason -> the dbt models whose columns were not followed for it.
        ignored: The tasks that graft.yml leaves out.
    """

    template: ClassVar[str] = "gaps"

    reject_counts: Mapping[str, int]
    rejects: Sequence[Reject]
    gaps: Sequence[Gap]
    index: Index
    models: Mapping[str, Sequence[Definition]]
    ignored: IgnoredTasks


def gaps_page(index: Index, health: HealthSummary) -> GapsPage:
    """The page of rejected log records, and of statements and models not followed completely."""
    return GapsPage(
        path="gaps/",
        title="Parsing issues",
        reject_counts=health.rejects,
        rejects=index.lineage.rejects,
        gaps=health.gaps,
        index=index,
        models=_models(index),
        ignored=index.lineage.ignored,
    )


def _models(index: Index) -> dict[str, list[Definition]]:
    """The models with a gap by its reason, the most frequent first."""
    models_by_reason: dict[str, list[Definition]] = {}
    for definition in index.lineage.definitions.values():
        if definition.gap:
            models_by_reason.setdefault(gap_reason(definition.gap), []).append(definition)
    return dict(sorted(models_by_reason.items(), key=lambda item: (-len(item[1]), item[0])))
