"""The panel of a dataset's dates, and its calendar."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dbt_graft.analysis.dates.entity_states import EntityState
from dbt_graft.catalog.attention import attention_lists, attention_page
from dbt_graft.catalog.badges import dataset_badges
from dbt_graft.catalog.build import design_folder
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.date_pictures import DRAWN
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import environment, render
from dbt_graft.catalog.page_keys import PageKeys
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.calendar import dates_between
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.recorded_taint import RecordedSupersession, RecordedTaint
from dbt_graft.lineage.records import Access, Dataset, Direction, Records, Run

ORDERS, COPY = DatasetId("spark", "raw.orders"), DatasetId("spark", "clean.orders")
DAY = timedelta(1)
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
    runs = tuple(
        Run(access.run_id, "load", "spark", access.first_at, access.last_at) for access in accesses
    )
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
    assert [(row.state, row.units, row.dates) for row in made.states] == [
        ("missing", 1, "3 Oct 2026"),
        ("completed", 7, "28 Sep to 2 Oct 2026, 4 to 5 Oct 2026"),
    ]
    assert made.notes[0] == "No write for 1 of the last 8 days: 3 Oct 2026"


def test_months_are_squares_in_the_picture_of_their_year() -> None:
    made = Index(DescribedLineage(lineage(0, 40, 100, 101, grain=Grain.MONTH))).dates[ORDERS]

    assert [re.findall(r"<figcaption>(.*?)<", picture)[0] for picture in made.pictures] == [
        "2026",
        "2027",
    ]
    assert cells("".join(made.pictures)) == {"completed": 3, "missing": 2}


def test_a_long_history_has_pictures_of_a_year() -> None:
    made = Index(DescribedLineage(lineage(*range(800)))).dates[ORDERS]

    assert len(made.pictures) == 12
    assert made.states[0].units == 340
    assert made.years == (("2027", "365 completed"), ("2026", "95 completed"))


def test_a_dataset_without_dates_has_no_panel() -> None:
    undated = lineage(0)
    accesses = tuple(replace(access, periods=()) for access in undated.history.accesses)
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
        (False, ["tainted</span> 3 to 5 Oct 2026", "beginning with run r5 of load: double rows."]),
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


@pytest.mark.parametrize(("again", "listed"), [(False, 1), (True, 0)])
def test_bad_data_needs_attention_until_it_is_written_again(again: bool, listed: int) -> None:
    index = Index(DescribedLineage(tainted(again=again)))

    lists = [group for group in attention_lists(index) if group.kind == "tainted"]
    page = render(attention_page(index, lists), JINJA)
    bad = [badge.text for badge in dataset_badges(index, ORDERS) if badge.kind == "tainted"]

    assert [group.total for group in lists] == [1] * listed
    assert ("bad for 3 to 5 Oct 2026" in page) is bool(listed)
    assert bad == ["bad data"] * listed


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
    assert re.search(r">tainted</span>.*<td>3 to 5 Oct 2026</td>", page)


def test_styles_know_all_states() -> None:
    styles = Path(design_folder() / "styles/picture.css").read_text()

    for state in {*DRAWN} - {EntityState.COMPLETED}:
        assert f"graft-dates__{state}" in styles


def copied(read: str) -> Lineage:
    """Daily copies of the table's dates; in `read` the dates of a run's input."""
    made = lineage(*range(5))
    accesses = list(made.history.accesses)
    for day, access in enumerate(made.history.accesses):
        copy = replace(access, task="copy", last_at=access.last_at and access.last_at + DAY)
        copy = replace(copy, first_at=copy.last_at)
        window = replace(access.periods[0], start=FIRST + (day - 1) * DAY)
        periods = {"all": (), "same": access.periods, "window": (window,)}[read]
        select = {"direction": Direction.READ, "operation": Operation.SELECT}
        accesses += [
            replace(copy, dataset=COPY),
            replace(copy, **select, periods=periods),  # type: ignore[arg-type]
        ]
    runs = tuple(Run(one.run_id, one.task, "spark", one.first_at, one.last_at) for one in accesses)
    return build(Records(accesses=tuple(accesses), runs=runs))


@pytest.mark.parametrize(
    ("read", "words", "notation", "why", "state"),
    [
        ("same", "the same day", "", "inferred: 5 of 5 runs agree", "completed"),
        (
            *("window", "from the day before up to the same day", "[-1, 0] by day"),
            *("inferred: 5 of 5 runs agree", "completed"),
        ),
        ("all", "all dates", "", "nothing maps them: no rule in 5 runs", "unsure"),
    ],
)
def test_what_a_date_needs_and_why(
    read: str, words: str, notation: str, why: str, state: str
) -> None:
    made = Index(DescribedLineage(copied(read))).dates[COPY]

    (need,) = made.needs
    assert (need.words, need.notation, need.why) == (words, notation, why)
    assert [row.state for row in made.states] == [state]


def test_a_model_of_dbt_has_no_page_of_a_task() -> None:
    made, name = tainted(), "model.shop.copy"
    (taint,) = made.history.taints
    made = replace(
        made,
        datasets={**made.datasets, COPY: Dataset(COPY)},
        definitions={name: Definition(name, DefinitionKind.DBT, COPY, (ORDERS,))},
        history=replace(
            made.history, taints=(replace(taint, tainted={(name, COPY): taint.begin}),)
        ),
    )
    page = render(dataset_page(Index(DescribedLineage(made)), COPY), JINJA)
    assert "<td>dbt model copy<td>" in page.replace("</td>", "")
    assert f"tasks/{name}" not in page


def test_the_page_says_what_is_not_known() -> None:
    page = render(dataset_page(Index(DescribedLineage(copied("all"))), COPY), JINJA)

    assert "unsure</span>" in page
    assert "may be partial, as nothing maps the dates of raw.orders" in page


def test_dates_that_may_be_bad_are_told_from_those_that_are() -> None:
    made = tainted()
    taint = replace(
        made.history.taints[0],
        doubtful={("load", ORDERS): dates_between(FIRST + timedelta(7), FIRST + timedelta(8))},
    )
    page = html(replace(made, history=replace(made.history, taints=(taint,))))

    assert "tainted</span> 3 to 4 Oct 2026, " in page
    assert "may be bad</span> 5 Oct 2026" in page
    assert cells(page) == {"tainted": 3, "suspect": 2, "completed": 8}
