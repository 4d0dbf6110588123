"""The explorer's page: without script the list of entry points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dbt_graft.catalog.explorer.opening import Opening
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import Page
from dbt_graft.lineage.dataset import DatasetId

_MOST = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorePage(Page):
    """The context of `explore.html.j2`.

    Attributes:
        sources: The datasets that most others are made from, that nothing is known to make.
        hubs: The datasets with the most neighbours.
        ends: Consumers.
    """

    template: ClassVar[str] = "explore"

    index: Index
    opening: Opening
    sources: Sequence[DatasetId]
    hubs: Sequence[DatasetId]
    ends: Sequence[str]


def explore_page(index: Index, opening: Opening) -> ExplorePage:
    """The page of the explorer."""

    def count_targets(dataset: DatasetId) -> int:
        return len({flow.target for flow in index.flows_from.get(dataset, ())})

    def count_neighbours(dataset: DatasetId) -> int:
        return count_targets(dataset) + len(
            {flow.source for flow in index.flows_to.get(dataset, ())}
        )

    sources = [
        dataset
        for dataset in index.datasets
        if count_targets(dataset) and dataset not in index.flows_to
    ]
    inner = [
        dataset
        for dataset in index.datasets
        if index.flows_to.get(dataset) and count_targets(dataset)
    ]
    return ExplorePage(
        path="explore/",
        title="Explore",
        index=index,
        opening=opening,
        sources=sorted(sources, key=lambda dataset: (-count_targets(dataset), dataset))[:_MOST],
        hubs=sorted(inner, key=lambda dataset: (-count_neighbours(dataset), dataset))[:_MOST],
        ends=sorted(index.consumers)[:_MOST],
    )
