"""The dates that runs read and wrote, on the pages of datasets and tasks."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.catalog.build import design_folder
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import environment, render
from dbt_graft.catalog.page_keys import PageKeys
from dbt_graft.catalog.run_history import PastRun
from dbt_graft.catalog.task_pages import task_page
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Direction, Status
from tests.catalog.test_dates_panel import COPY, ORDERS, copied, lineage

JINJA = environment(design_folder() / "templates")


def texts(runs: list[PastRun]) -> list[tuple[str, str]]:
    return [(run.wrote, run.read) for run in runs]


def test_a_dataset_s_page_says_which_of_its_dates_each_run_wrote() -> None:
    index = Index(DescribedLineage(copied("window")))
    runs = [*dataset_page(index, COPY).writes.history.runs]

    assert texts(runs)[0] == ("2 Oct 2026", "raw.orders 1 to 2 Oct 2026")
    assert len(texts(runs)) == 5


def test_a_task_s_page_names_the_datasets() -> None:
    index = Index(DescribedLineage(copied("window")))
    page = task_page(index, "copy", Lineage().task_graph())

    assert texts([*page.history.runs])[0] == (
        "clean.orders 2 Oct 2026",
        "raw.orders 1 to 2 Oct 2026",
    )
    html = render(page, JINJA)
    assert "<th>Dates written</th>" in html
    assert "<td>clean.orders 2 Oct 2026</td>" in html


def test_what_failed_wrote_nothing_and_what_is_not_known_is_left_out() -> None:
    made = lineage(0, 1)
    first, second = made.history.accesses
    accesses = (replace(first, status=Status.FAILED), replace(second, periods=()))
    made = replace(made, history=replace(made.history, accesses=accesses))
    runs = [*dataset_page(Index(DescribedLineage(made)), ORDERS).writes.history.runs]

    assert texts(runs) == [("", ""), ("", "")]


def test_dates_of_a_statement_are_not_those_of_a_run_that_reads_all_by_another_one() -> None:
    made = copied("window")
    dated = next(read for read in made.history.accesses if read.direction is Direction.READ)
    accesses = (*made.history.accesses, replace(dated, periods=()))
    made = replace(made, history=replace(made.history, accesses=accesses))
    read = {
        run.read for run in dataset_page(Index(DescribedLineage(made)), COPY).writes.history.runs
    }

    assert "" in read
    assert len(read) == 5


def test_pages_have_other_keys_once_the_dates_of_a_run_change() -> None:
    def key(made: Lineage) -> bytes:
        index = Index(DescribedLineage(made))
        return PageKeys(index, made.task_graph(), b"").of_task("load")

    made = lineage(0, 1)
    first, second = made.history.accesses
    changed = replace(second, periods=first.periods)
    other = replace(made, history=replace(made.history, accesses=(first, changed)))
    assert key(made) != key(other)
