"""Faults upstream concern those alone that have the data."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from dbt_graft.catalog.badges import dataset_badges, upstream_faults
from dbt_graft.catalog.build import design_folder
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import Page, environment, render
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.catalog.task_pages import task_page
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Consumer, Description, NodeTest, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Dataset, NodeResult, Status
from tests.catalog.html_reader import HtmlReader

NOW = datetime(2026, 11, 20, 5, tzinfo=UTC)
STG, MART, REPORT = (DatasetId("spark", f"mart.{name}") for name in ("stg", "mart", "report"))
LINE = (STG, MART, REPORT)


def index(
    hours: tuple[int, int, int] = (0, 1, 2), *results: NodeResult, view: DatasetId | None = None
) -> Index:
    """Three models in a line, each built at an hour; `stg` has a test."""
    found: dict[str, tuple[NodeResult, ...]] = {}
    for one, hour in zip(LINE, hours, strict=True):
        at = NOW + timedelta(hours=hour)
        name = f"model.{one.name}"
        found[name] = (NodeResult(name, "i1", "build", "success", Status.OK, at, at),)
    for result in results:
        found[result.node_id] = (result, *found.get(result.node_id, ()))
    dbt = DefinitionKind.DBT
    pairs = tuple(pairwise(LINE))
    return Index(
        DescribedLineage(
            Lineage(
                {one: Dataset(one, Kind.VIEW if one == view else Kind.TABLE) for one in LINE},
                flows=tuple(Flow(a, b, f"model.{b.name}", definition=dbt) for a, b in pairs),
                definitions={
                    f"model.{b.name}": Definition(f"model.{b.name}", dbt, b, (a,)) for a, b in pairs
                },
                dbt=DbtRuns(found),
            ),
            {
                one: Description(
                    one,
                    f"model.{one.name}",
                    one.name,
                    Role.MODEL,
                    tests=(NodeTest("test.unique", "unique"),) if one == STG else (),
                    dbt_ids=(f"model.{one.name}",),
                )
                for one in LINE
            },
        )
    )


TEST_FAILED = NodeResult("test.unique", "i1", "build", "fail", Status.FAILED, NOW, NOW, failures=2)
BUILD_FAILED = NodeResult(
    "model.mart.stg", "i2", "build", "error", Status.FAILED, NOW + timedelta(hours=9)
)


def shown_text(page: Page) -> str:
    html = render(page, environment(design_folder() / "templates"))
    return " ".join(HtmlReader(html).text.split())


def tainted(found: Index) -> dict[str, list[str]]:
    return {
        dataset.name: [f"{fault.fault.kind} of {fault.fault.dataset.name}" for fault in faults]
        for dataset, faults in upstream_faults(found).items()
    }


@pytest.mark.parametrize(
    ("hours", "reached"),
    [
        ((0, 1, 2), ["mart.mart", "mart.report"]),
        ((0, 0, 0), ["mart.mart", "mart.report"]),
        ((3, 1, 2), []),  # `mart` was built before
        ((0, 2, 1), ["mart.mart"]),  # `report` was not built since
    ],
)
def test_wrong_data_goes_to_those_that_were_built_since(
    hours: tuple[int, int, int], reached: list[str]
) -> None:
    found = tainted(index(hours, TEST_FAILED))
    assert found == {name: ["uniqueness of mart.stg"] for name in reached}


def test_a_view_has_what_its_tables_have() -> None:
    assert tainted(index((3, 1, 4), TEST_FAILED, view=MART)) == {
        "mart.mart": ["uniqueness of mart.stg"],
        "mart.report": ["uniqueness of mart.stg"],
    }


def test_after_a_failed_write_nothing_downstream_is_newer() -> None:
    found = index((3, 1, 2), BUILD_FAILED)
    assert tainted(found) == {
        "mart.mart": ["write of mart.stg"],
        "mart.report": ["write of mart.stg"],
    }
    assert [badge.text for badge in dataset_badges(found, REPORT)] == ["write failed upstream"]
    assert [badge.text for badge in dataset_badges(found, STG)] == ["dbt run failed"]


def test_one_badge_names_the_worst() -> None:
    found = index((0, 1, 2), TEST_FAILED, BUILD_FAILED)
    assert [badge.text for badge in dataset_badges(found, MART)] == ["tests failed upstream"]


def test_without_a_fault_nothing_is_tainted() -> None:
    assert tainted(index()) == {}


def test_the_page_names_the_test_and_the_way() -> None:
    page = dataset_page(index((0, 1, 2), TEST_FAILED), REPORT)
    shown = shown_text(page)
    assert "Its data may be wrong: unique failed on mart.stg" in shown
    assert "It comes here by mart.mart." in shown


def test_the_page_of_a_consumer_tells_of_its_deadline() -> None:
    found = index()
    board = Consumer("e", "board", "dashboard", (REPORT,), freshness_slo="2h")
    late = Index(
        DescribedLineage(found.lineage, found.descriptions, [board]),
        settings=SiteSettings(built_at=NOW + timedelta(hours=9)),
    )
    page = task_page(late, "board", late.lineage.task_graph())
    assert page.forecasts == [
        "its data is older than 2h (spark/mart.report): spark/mart.stg, from which it comes, "
        "is of 2026-11-20 05:00 UTC"
    ]
    shown = shown_text(page)
    assert "When this page was made: its data is older than 2h" in shown
