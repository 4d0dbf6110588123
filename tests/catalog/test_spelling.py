"""One dataset, one box, one page: however logs, rules and dbt spell its name."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import jinja2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dbt_graft.analysis.history.changes import NO_BUILDS
from dbt_graft.catalog.build import design_folder, list_pages, record_pages
from dbt_graft.catalog.changes_page import present_pages
from dbt_graft.catalog.explorer.write import opening_view
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.neighbourhood import around_dataset, around_task, full_graph
from dbt_graft.catalog.page import environment, render
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Dataset
from dbt_graft.lineage.renaming import map_datasets

Respell = Callable[[DatasetId], DatasetId]


def _respelling(seed: int) -> Respell:
    """Every use of a name in another spelling, as a log writes it each time."""
    chance = random.Random(seed)  # noqa: S311

    def respell(dataset: DatasetId) -> DatasetId:
        letters = "".join(chance.choice((c.lower(), c.upper())) for c in dataset.name)
        other = DatasetId(dataset.namespace, letters)
        return other if other == dataset else dataset

    return respell


@pytest.fixture(scope="module")
def jinja() -> jinja2.Environment:
    return environment(design_folder() / "templates")


def _rendered(index: Index, jinja: jinja2.Environment) -> dict[str, str]:
    lists = list_pages(index, SiteSettings(), opening_view(index), NO_BUILDS, present_pages(index))
    pages = (planned.make() for planned in (*lists, *record_pages(index)))
    return {page.path: render(page, jinja) for page in pages}


def _boxes(index: Index) -> list[set[tuple[str, str]]]:
    """The addresses and distances of all boxes, picture by picture."""
    graphs = [
        full_graph(index),
        *(around_dataset(index, dataset) for dataset in index.datasets),
        *(around_task(index, name) for name in index.task_names()),
    ]
    return [{(box.path, str(box.distance)) for box in graph.boxes} for graph in graphs]


_SLOW = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@_SLOW
@given(st.integers(0, 2**32))
def test_pages_show_the_spelling_of_known_datasets_not_of_edges(sample, jinja, seed: int) -> None:
    lineage, respell = sample.lineage, _respelling(seed)

    def other(dataset: DatasetId) -> DatasetId:
        return respell(dataset) if dataset in lineage.datasets else dataset

    mixed = replace(map_datasets(lineage, other), datasets=lineage.datasets)
    consumers = [map_datasets(consumer, other) for consumer in sample.consumers]
    expected = Index(DescribedLineage(lineage, sample.descriptions, sample.consumers))
    assert _rendered(
        Index(DescribedLineage(mixed, sample.descriptions, consumers)), jinja
    ) == _rendered(expected, jinja)


@_SLOW
@given(st.integers(0, 2**32))
def test_addresses_and_boxes_do_not_depend_on_any_spelling(sample, jinja, seed: int) -> None:
    other = _respelling(seed)
    consumers = [map_datasets(consumer, other) for consumer in sample.consumers]
    descriptions = {other(dataset): value for dataset, value in sample.descriptions.items()}
    index = Index(DescribedLineage(map_datasets(sample.lineage, other), descriptions, consumers))
    expected = Index(DescribedLineage(sample.lineage, sample.descriptions, sample.consumers))
    assert _boxes(index) == _boxes(expected)
    assert _rendered(index, jinja).keys() == _rendered(expected, jinja).keys()


def test_the_spelling_is_that_of_dbt() -> None:
    log, dbt = DatasetId("spark", "raw.Orders"), DatasetId("spark", "raw.orders")
    mart = DatasetId("spark", "analytics.orders")
    logged = Lineage({log: Dataset(log)}, {"load": Task("load")}, (Flow(log, mart, "load"),))
    lineage = Lineage(
        {dbt: Dataset(dbt), mart: Dataset(mart)},
        flows=(Flow(dbt, mart, "model.shop.orders", definition=DefinitionKind.DBT),),
    )
    index = Index(DescribedLineage(lineage.merge(logged)))
    assert [str(dataset) for dataset in index.datasets] == [str(mart), str(dbt)]
    assert {box.name for box in full_graph(index).boxes} >= {"raw.orders", "analytics.orders"}
    assert {str(flow.source) for flow in index.lineage.flows} == {"spark/raw.orders"}
