"""Lists that sort and filter, on a site of 120 or 1,200 tasks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from dbt_graft.catalog.build import build
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Dataset, Direction, Run, Status, TaskInfo
from dbt_graft.lineage.usage import Usage
from tests.site.conftest import Visit, served, watching

pytestmark = pytest.mark.browser

AT = datetime(2026, 11, 20, tzinfo=UTC)
HOSTILE = '"><img src=x onerror=alert(1)> & <b>'


def _task(number: int) -> Task:
    name = f"load_{number}" if number else HOSTILE
    dataset = DatasetId("mssql://crm", f"Shop.dbo.t{number % 50}")
    write = Usage(
        name,
        dataset,
        Direction.WRITE,
        (Operation.INSERT,),
        rows=number * 10_000,
        last_at=AT,
        engine="spark",
        run_ids=("r",),
    )
    status = Status.FAILED if number % 100 == 7 else Status.OK
    started = AT + timedelta(minutes=number * 7 % 1_200)
    runs = () if number == 5 else (Run("r", name, "spark", started, started, status),)
    return Task(name, ("spark",), (write,), runs, TaskInfo(owner=f"team-{number % 12}"))


@pytest.fixture(scope="module", params=[120, pytest.param(1_200, marks=pytest.mark.exhaustive)])
def count(request: pytest.FixtureRequest) -> int:
    """The number of tasks."""
    return int(request.param)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, count: int) -> Path:
    """A site with long lists."""
    tasks = [_task(number) for number in range(count)]
    datasets = sorted({usage.dataset for task in tasks for usage in task.usages})
    lineage = Lineage(
        {dataset: Dataset(dataset) for dataset in datasets},
        {task.name: task for task in sorted_(tasks)},
    )
    return build(
        DescribedLineage(lineage), SiteSettings(), tmp_path_factory.mktemp("lists") / "site"
    ).index


def sorted_(tasks: list[Task]) -> list[Task]:
    """Tasks by name."""
    return sorted(tasks, key=lambda task: task.name)


@pytest.fixture
def visit(shared_tab: Page, site: Path) -> Iterator[Visit]:
    """A visit of that site."""
    with served(site.parent) as address, watching(shared_tab, address) as visit:
        yield visit


def first(page: Page, count: int = 3) -> list[str]:
    """The names in the first rows that are shown."""
    rows = page.locator("table[data-list=tasks] tbody tr:not([hidden])")
    return [rows.nth(at).locator("td").first.inner_text() for at in range(count)]


def header(page: Page, name: str) -> tuple[str | None, bool]:
    """The order by a column, and whether its button has the focus."""
    cell = page.locator("th", has_text=name)
    focused = page.evaluate("document.activeElement.textContent") == name
    return cell.get_attribute("aria-sort"), focused


def test_a_header_sorts_down_then_up_then_not_at_all_the_worst_health_first(
    visit: Visit, count: int
) -> None:
    page = visit.open("tasks/index.html")
    as_it_was = first(page)
    button = page.get_by_role("button", name="Last run")
    button.click()
    assert header(page, "Last run")[0] == "descending"
    newest = first(page)
    assert page.url.endswith("#tasks-sort=-last-run")
    button.click()
    assert header(page, "Last run")[0] == "ascending"
    assert first(page) != newest
    last = page.locator("table[data-list=tasks] tbody tr").last
    assert last.locator("td").first.inner_text() == "load_5"  # it has no run in either order
    button.click()
    assert header(page, "Last run")[0] is None
    assert first(page) == as_it_was
    assert "#" not in page.url
    page.get_by_role("button", name="Health").click()
    rows = page.locator("table[data-list=tasks] tbody tr")
    failed = len(range(7, count, 100))
    health = [
        rows.nth(at).locator(".graft-status--failed").count() for at in (0, failed - 1, failed)
    ]
    assert health == [1, 1, 0]
    page.emulate_media(media="print")
    assert not page.locator(".graft-list-bar").is_visible()
    assert page.locator("table[data-list=tasks]").is_visible()


def test_an_address_says_the_order_and_an_odd_one_leaves_the_list_as_it_is(
    visit: Visit, count: int
) -> None:
    page = visit.open("tasks/index.html#tasks-sort=task")
    assert first(page, 4) == [HOSTILE, "load_1", "load_2", "load_3"]
    rows = page.locator("table[data-list=tasks] tbody tr:not([hidden])")
    matching = sum(str(number).startswith("11") for number in range(count))
    page.evaluate("location.hash = '#tasks-filter=load_11'")
    expect(rows).to_have_count(matching)
    page.evaluate("location.hash = '#top'")
    expect(rows).to_have_count(matching)
    page.go_back()
    page.go_back()
    expect(rows).to_have_count(count)
    for odd in ("#tasks-sort=-nothing", "#tasks-sort=%00&tasks-filter=", "#a=b", "#=&="):
        page.evaluate("odd => location.hash = odd", odd)
        expect(rows).to_have_count(count)
        expect(page.locator("[aria-sort]")).to_have_count(0)


def test_a_filter_narrows_by_all_its_words_and_the_address_holds_it(
    visit: Visit, count: int
) -> None:
    page = visit.open("tasks/index.html")
    field = page.get_by_role("searchbox", name="Filter the list of tasks")
    field.fill("LOAD_7 team-7")
    status = page.locator(".graft-list-bar [role=status]")
    shown = {120: "2 of 120", 1_200: "11 of 1,200"}[count]
    expect(status).to_have_text(shown)
    address = page.url
    again = visit.open(address.removeprefix(visit.base))
    expect(again.locator(".graft-list-bar [role=status]")).to_have_text(shown)
    assert again.get_by_role("searchbox", name="Filter the list of tasks").input_value() == (
        "LOAD_7 team-7"
    )
    field = again.get_by_role("searchbox", name="Filter the list of tasks")
    field.press("Escape")
    expect(again.locator("table[data-list=tasks] tbody tr:not([hidden])")).to_have_count(count)
    assert "#" not in again.url
    field.focus()
    again.keyboard.type("load_11")
    again.keyboard.press("Tab")
    again.keyboard.press("Tab")
    again.keyboard.press("Enter")
    assert header(again, "Engine or type") == ("ascending", True)
    assert "tasks-filter=load_11" in again.url
    assert "tasks-sort=engine-or-type" in again.url


def test_a_filter_finds_the_full_name_of_a_dataset_and_numbers_sort_by_their_value(
    visit: Visit,
) -> None:
    page = visit.open("platforms/mssql/index.html#datasets-filter=mssql%3A%2F%2Fcrm+t49")
    rows = page.locator("table[data-list=datasets] tbody tr:not([hidden])")
    expect(rows).to_have_count(1)
    assert "dbo.t49" in rows.first.inner_text()
    page.evaluate("location.hash = '#datasets-sort=-rows'")
    expect(rows).to_have_count(50)
    numbers = page.locator("table[data-list=datasets] tbody td.graft-number").all_inner_texts()
    values = [int(text.replace(",", "")) for text in numbers]
    assert values == sorted(values, reverse=True)
    assert max(values) > 1_000_000


def test_without_script_the_list_is_complete(browser: Browser, site: Path, count: int) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(f"file://{site.parent}/tasks/index.html")
    assert page.locator("table[data-list=tasks] tbody tr").count() == count
    assert page.locator(".graft-list-bar, .graft-sort").count() == 0
    page.close()
