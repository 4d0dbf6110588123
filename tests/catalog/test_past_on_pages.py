"""Datasets that are gone, and runs that were done again, on the pages of datasets and tasks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import jinja2
import pytest

from dbt_graft.catalog.build import design_folder
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.folder_pages import folder_pages
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import Page, environment, render
from dbt_graft.catalog.rows import Rows
from dbt_graft.catalog.task_pages import task_page
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.describe import Description, Role
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Dataset,
    NodeResult,
    Records,
    Run,
    Status,
)
from tests import notation

START, DAY = datetime(2026, 11, 1, tzinfo=UTC), timedelta(days=1)
ORDERS, STAGE = (DatasetId("spark", f"raw.{name}") for name in ("orders", "stage"))


@pytest.fixture(scope="module")
def jinja() -> jinja2.Environment:
    return environment(design_folder() / "templates")


def _access(task: str, day: int, dataset: DatasetId, operation: Operation) -> Access:
    period = Period(START, START + DAY, Grain.DAY, PeriodEvidence.PARTITION, "ds")
    periods = (period,) if operation is Operation.INSERT_OVERWRITE else ()
    known = {"task": task, "run_id": f"{task}-{day}", "shape_id": f"{task}-s", "periods": periods}
    return notation.access(operation, dataset, at=START + day * DAY, **known)


@pytest.fixture(scope="module")
def index() -> Index:
    """`load` reads stage and writes one day of orders twice; `clean` dropped stage."""
    overwrite = Operation.INSERT_OVERWRITE
    accesses = (
        _access("land", 0, STAGE, Operation.INSERT),
        *(
            one
            for day in (1, 2)
            for one in (
                _access("load", day, STAGE, Operation.SELECT),
                _access("load", day, ORDERS, overwrite),
            )
        ),
        _access("clean", 3, STAGE, Operation.DROP),
    )
    keys = {(access.task, access.run_id): access.first_at for access in accesses}
    runs = tuple(Run(run, task, "spark", at, at, Status.OK) for (task, run), at in keys.items())
    dropped = Dataset(
        STAGE, first_seen=START, last_seen=START + 3 * DAY, dropped_at=START + 3 * DAY
    )
    return Index(DescribedLineage(build(Records(accesses, runs, datasets=(dropped,)))))


def _html(page: Page, jinja: jinja2.Environment) -> str:
    return render(page, jinja)


def test_a_dropped_dataset_tells_when_and_by_whom(index: Index, jinja: jinja2.Environment) -> None:
    head = _html(dataset_page(index, STAGE), jinja).split("<h2")[0]
    assert "2026-11-04" in head.split("Dropped")[1].split("Last written")[0]
    assert "clean</a>" in head.split("Dropped")[1].split("Last written")[0]
    last = head.split("Last written")[1]
    assert "2026-11-01" in last
    assert "land</a>" in last
    assert "Dropped" not in _html(dataset_page(index, ORDERS), jinja)


def test_links_to_what_was_dropped_are_struck_out(index: Index, jinja: jinja2.Environment) -> None:
    html = _html(task_page(index, "load", index.lineage.task_graph()), jinja)
    assert 'title="spark/raw.stage, dropped"><s>raw.stage</s></a>' in html
    assert "<s>raw.orders</s>" not in html


def test_its_box_in_a_picture_is_marked(index: Index, jinja: jinja2.Environment) -> None:
    html = _html(dataset_page(index, ORDERS), jinja)
    [box] = [part for part in html.split("<a class=") if "graft-box--gone" in part]
    assert "<title>raw.stage (Spark · table, dropped)</title>" in box


def test_it_stays_in_the_list_of_its_schema_struck_out(
    index: Index, jinja: jinja2.Environment
) -> None:
    pages = [_html(page, jinja) for page in folder_pages(index, Rows(index))]
    rows = [part for page in pages for part in page.split("<tr>") if "raw.stage" in part]
    assert rows
    for row in rows:
        assert "<s>raw.stage</s>" in row
        assert "2026-11-01 00:00 UTC" in row


def test_a_run_whose_dates_were_written_again_names_the_later_run(
    index: Index, jinja: jinja2.Environment
) -> None:
    dataset = _html(dataset_page(index, ORDERS), jinja)
    task = _html(task_page(index, "load", index.lineage.task_graph()), jinja)
    for html in (dataset, task):
        [words] = html.split('graft-superseded">')[1:]
        assert "superseded by the run" in words
        assert "2026-11-03 00:00 UTC" in words.split("</span>")[0]
    assert "raw.orders</a> superseded" in task
    assert "raw.orders</a> superseded" not in dataset


@pytest.mark.parametrize(("day", "status", "is_there"), [
    (4, Status.OK, True), (2, Status.OK, False), (4, Status.FAILED, False),
])  # fmt: skip
def test_a_dataset_that_dbt_has_built_since_is_not_dropped(
    day: int, status: Status, is_there: bool
) -> None:
    at = START + day * DAY
    node = "model.shop.stage"
    result = NodeResult(node, "i1", "run", "success", status, at, at)
    lineage = Lineage(
        datasets={STAGE: Dataset(STAGE, dropped_at=START + 3 * DAY)},
        dbt=DbtRuns({node: (result,)}),
    )
    description = Description(STAGE, node, "stage", Role.MODEL, dbt_ids=(node,))
    facts = Index(DescribedLineage(lineage, {STAGE: description})).datasets[STAGE]
    assert (facts.dropped_at is None) == is_there
