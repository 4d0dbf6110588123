"""The panel of a dataset's dates, and its calendar."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dbt_graft.catalog.build import design_folder
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import environment, render
from dbt_graft.catalog.page_keys import PageKeys
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.calendar import dates_between
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.recorded_taint import RecordedSupersession, RecordedTaint
from dbt_graft.lineage.records import Access, Direction, Records, Run

ORDERS = DatasetId("spark", "raw.orders")
FIRST = datetime(2026, 9, 28, tzinfo=UTC)
JINJA = environment(design_folder() / "templates")


def lineage(*days: int, grain: Grain = Grain.DAY) -> Lineage:
    """The daily writes of a table, by the number of days since 28 September."""
    accesses = []
    for day in days:
        start = FIRST + timedelta(day)
        end = start + timedelta(1)
        if grain is Grain.MONTH:
            start = start.replace(day=1)
            end = (start + timedelta(31)).replace(day=1)
        accesses.append(
            Access(
                task="load",
                run_id=f"r{day}",
                dataset=ORDERS,
                kind=Kind.TABLE,
                direction=Direction.WRITE,
                operation=Operation.INSERT_OVERWRITE,
                shape_id="s",
                first_at=end + timedelta(hours=3),
                last_at=end + timedelta(hours=3),
                periods=(Period(start, end, grain, PeriodEvidence.PARTITION, "ds"),),
            )
        )
    runs = tuple(Run(one.run_id, "load", "spark", one.first_at, one.last_at) for one in accesses)
    return build(Records(accesses=tuple(accesses), runs=runs))


def html(of: Lineage) -> str:
    """The part of the page below its heading."""
    page = render(dataset_page(Index(DescribedLineage(of)), ORDERS), JINJA)
    return page.partition('<h2 id="dates">')[2].partition("<h2")[0]


def cells(text: str) -> dict[str, int]:
    """State -> the number of squares in all pictures."""
    found: dict[str, int] = {}
    for state, path in re.findall(r'graft-dates__(\w+)"? d="([^"]*)"', text):
        found[state] = found.get(state, 0) + len(re.findall(r"M\d+ \d+", path))
    return found


def test_a_day_is_a_square_in_the_picture_of_its_month() -> None:
    made = Index(DescribedLineage(lineage(*range(5), 6, 7))).dates[ORDERS]

    assert len(made.pictures) == 2
    assert cells("".join(made.pictures)) == {"completed": 7, "missing": 1}
    # 1 October 2026 is a Thursday.
    assert 'graft-dates__missing" d="M' in made.pictures[1]
    assert [state for state, _ in made.states] == ["completed", "missing"]
    assert dict(made.states)["missing"] == "3 Oct 2026"  # type: ignore[index]
    assert made.gaps[0] == "No write for 1 of the last 8 days: 3 Oct 2026"


def test_months_are_squares_in_the_picture_of_their_year() -> None:
    made = Index(DescribedLineage(lineage(0, 40, 100, 101, grain=Grain.MONTH))).dates[ORDERS]

    assert [re.findall(r"<figcaption>(.*?)<", one)[0] for one in made.pictures] == ["2026", "2027"]
    assert cells("".join(made.pictures)) == {"completed": 3, "missing": 2}


def test_a_long_history_has_pictures_of_a_year() -> None:
    made = Index(DescribedLineage(lineage(*range(800)))).dates[ORDERS]

    assert len(made.pictures) == 12


def test_a_dataset_without_dates_has_no_panel() -> None:
    undated = lineage(0)
    accesses = tuple(replace(one, periods=()) for one in undated.history.accesses)
    undated = replace(undated, history=replace(undated.history, accesses=accesses))

    assert Index(DescribedLineage(undated)).dates == {}
    assert "Dates</h2>" not in render(dataset_page(Index(DescribedLineage(undated)), ORDERS), JINJA)


def tainted(link: str = "", reason: str = "", again: bool = False) -> Lineage:
    dates = dates_between(FIRST + timedelta(5), FIRST + timedelta(8))
    at = FIRST + timedelta(20)
    superseded = (RecordedSupersession(ORDERS, dates, "load", "r99", at),) if again else ()
    taint = RecordedTaint(
        *(1, at, at, ORDERS, dates, "load", "r5", reason, link),
        {} if again else {("load", ORDERS): dates},
        superseded,
    )
    made = lineage(*range(10))
    return replace(made, history=replace(made.history, taints=(taint,)))


@pytest.mark.parametrize(
    ("again", "texts"),
    [
        (False, ["tainted</span> 3 to 5 Oct 2026", "by run r5 of load", "double rows."]),
        (True, ["clean again</span>", "Superseded: 3 to 5 Oct 2026 by run r99 of load"]),
    ],
)
def test_a_taint_on_record_is_on_the_page(again: bool, texts: list[str]) -> None:
    page = render(
        dataset_page(
            Index(DescribedLineage(tainted("https://i.example.com/5", "double rows", again))),
            ORDERS,
        ),
        JINJA,
    )

    assert [text for text in texts if text not in page] == []
    assert 'href="https://i.example.com/5"' in page


def test_a_cleared_taint_is_not() -> None:
    made = tainted()
    cleared = replace(made.history.taints[0], cleared_at=FIRST)

    page = html(replace(made, history=replace(made.history, taints=(cleared,))))

    assert "tainted" not in page


def test_words_of_people_and_logs_stay_text() -> None:
    page = html(tainted("javascript:alert(1)", "<script>alert(1)</script>"))

    assert "<script>alert(1)" not in page
    assert "javascript:" not in page


def test_a_page_has_another_key_once_its_dates_change() -> None:
    def key(of: Lineage) -> bytes:
        index = Index(DescribedLineage(of))
        return PageKeys(index, of.task_graph(), b"").of_dataset(ORDERS)

    assert key(lineage(0, 1)) == key(lineage(0, 1))
    assert key(lineage(*range(10))) != key(tainted())


def test_the_calendar_has_no_script_and_its_states_in_words() -> None:
    page = html(tainted())

    assert "aria-hidden" in page
    assert re.search(r"tainted(</dt>)?\s*<dd>3 to 5 Oct 2026", page)


def test_styles_know_all_states() -> None:
    styles = Path(design_folder() / "styles/picture.css").read_text()

    for state in ("tainted", "missing", "partial", "estimated"):
        assert f"graft-dates__{state}" in styles
