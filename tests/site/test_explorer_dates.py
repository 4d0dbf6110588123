"""The explorer's date: what was there on a day, by mouse, keyboard and address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dbt_graft.catalog.build import build as build_site
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Dataset, Direction, Records
from tests.cases import for_each
from tests.graft.project.test_past import DAY, FILES, MART, ORDERS, START, loaded
from tests.site.conftest import Visit, served, watching
from tests.site.test_explorer import box, explored, idle, ids

pytestmark = pytest.mark.browser

SCRATCH = DatasetId("spark", "raw.scratch")
BASE = {"spark/raw/files", "@load", "spark/raw/orders"}
LATER = {"@build_mart", "spark/raw/mart"}


def _records(days: int) -> Records:
    """`load` runs daily, `build_mart` from the third day on; scratch is there until the fourth."""
    parts = [loaded("load", day, FILES, ORDERS) for day in range(days)]
    parts += [loaded("build_mart", day, ORDERS, MART) for day in range(2, days)]
    if days > 1:
        first = loaded("scratch", 0, ORDERS, SCRATCH)
        at = START + 3 * DAY
        drop = Access(
            *("clean", "clean-1", SCRATCH, Kind.TABLE, Direction.WRITE, Operation.DROP, "s-drop"),
            first_at=at,
            last_at=at,
        )
        known = Dataset(SCRATCH, first_seen=START, last_seen=at, dropped_at=at)
        parts += [first, Records((drop,), datasets=(known,))]
    return Records(
        tuple(access for part in parts for access in part.accesses),
        tuple(run for part in parts for run in part.runs),
        datasets=tuple(dataset for part in parts for dataset in part.datasets),
    )


@pytest.fixture(scope="module")
def six_days(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site of six days."""
    folder = tmp_path_factory.mktemp("dated")
    build_site(DescribedLineage(build(_records(6))), SiteSettings(), folder / "site")
    with served(folder / "site") as address:
        yield address


@pytest.fixture
def dated(shared_tab: Page, six_days: str) -> Iterator[Visit]:
    """A visit of that site."""
    with watching(shared_tab, six_days) as visit:
        yield visit


def _control(page: Page) -> None:
    page.locator(".graft-menu summary").filter(has_text=re.compile("Date|2024")).click()


@for_each("date, start, there", [
    ("", "orders", BASE | LATER),
    ("2024-03-01", "files", BASE | {"@scratch", "spark/raw/scratch"}),
    ("2024-03-03", "orders", BASE | LATER | {"@scratch", "spark/raw/scratch"}),
    ("2024-03-04", "files", BASE | LATER),
    ("2024-03-06", "orders", BASE | LATER),
    ("2030-01-01", "files", BASE | LATER),
    ("2020-01-01", "orders", set()),
])  # fmt: skip
def test_the_graph_of_a_day_is_what_was_there(
    dated: Visit, date: str, start: str, there: set[str]
) -> None:
    page = explored(dated, f"#date={date}" if date else "")
    assert ids(page) - {"@clean", "@scratch"} == there - {"@clean", "@scratch"}
    of_day = f"&date={date}" if date else ""
    page = explored(dated, f"#dataset=spark/raw/{start}&up=5&down=5{of_day}")
    assert ids(page) - {"@scratch"} == there - {"@scratch"}


def test_the_status_names_the_day_and_an_empty_one(dated: Visit) -> None:
    page = explored(dated, "#date=2024-03-01")
    expect(page.locator(".graft-say")).to_contain_text("boxes as of 1 March 2024")
    page = explored(dated, "#date=2020-01-01")
    expect(page.locator(".graft-nothing")).to_contain_text(
        "Nothing of this was there as of 1 January 2020."
    )
    page = explored(dated, "#dataset=spark/raw/mart&up=1&down=1&date=2024-03-01")
    expect(page.locator(".graft-nothing")).to_contain_text("Nothing of this was there")


def test_a_dropped_table_is_struck_out_only_from_its_drop_on(dated: Visit) -> None:
    page = explored(dated, "#date=2024-03-03&deleted=1")
    expect(box(page, "spark/raw/scratch")).not_to_have_class(re.compile("graft-box--gone"))
    page = explored(dated, "#date=2024-03-04&deleted=1")
    expect(box(page, "spark/raw/scratch")).to_have_class(re.compile("graft-box--gone"))
    box(page, "spark/raw/scratch").click()
    facts = page.locator(".graft-panel__facts")
    expect(facts).to_contain_text("Dropped")
    expect(facts).to_contain_text("4 March 2024")


def test_the_slider_goes_day_by_day_with_the_keyboard(dated: Visit) -> None:
    page = explored(dated, "#fold=nothing")
    _control(page)
    slider = page.get_by_role("slider", name="Day")
    expect(slider).to_have_attribute("aria-valuetext", "now")
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "1 March 2024")
    page.wait_for_url(re.compile("date=2024-03-01"))
    idle(page)
    assert "spark/raw/mart" not in ids(page)
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile("date=2024-03-03"))
    idle(page)
    assert "spark/raw/mart" in ids(page)
    expect(page.get_by_label("As of the end of")).to_have_value("2024-03-03")
    expect(page.locator(".graft-menu[open] summary")).to_have_text("3 Mar 2024")
    page.keyboard.press("End")
    page.wait_for_function("!location.hash.includes('date')")
    expect(slider).to_have_attribute("aria-valuetext", "now")


def test_a_date_can_be_written_and_left_again(dated: Visit) -> None:
    page = explored(dated, "#fold=nothing")
    _control(page)
    page.get_by_label("As of the end of").fill("2024-03-02")
    page.wait_for_url(re.compile("date=2024-03-02"))
    idle(page)
    assert "spark/raw/mart" not in ids(page)
    page.get_by_role("button", name="Now", exact=True).click()
    page.wait_for_function("!location.hash.includes('date')")
    idle(page)
    assert "spark/raw/mart" in ids(page)


@pytest.mark.parametrize("date", ["soon", "2024-13-45", "%3Cscript%3E", "2024-03-01T06:00"])
def test_an_address_without_a_real_date_shows_what_is_there_now(dated: Visit, date: str) -> None:
    assert ids(explored(dated, f"#date={date}")) >= BASE | LATER


def test_the_lineage_of_one_day_has_no_control(shared_tab: Page, tmp_path: Path) -> None:
    build_site(DescribedLineage(build(_records(1))), SiteSettings(), tmp_path / "site")
    with served(tmp_path / "site") as address, watching(shared_tab, address) as visit:
        page = explored(visit, "#date=2020-01-01")
        assert ids(page) >= BASE
        expect(page.locator(".graft-menu summary", has_text="Date")).to_be_hidden()
