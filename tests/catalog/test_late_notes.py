"""The first minute of an incident on the pages of a dataset and a task."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from dbt_graft.catalog.build import design_folder
from dbt_graft.catalog.dataset_page import dataset_page
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import environment, render
from dbt_graft.catalog.task_pages import task_page
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Records, Run, Status
from tests import notation

RAW, RISK = DatasetId("spark", "raw.returns"), DatasetId("spark", "ml.risk")
AT = datetime(2026, 10, 9, 7, 30, tzinfo=UTC)
DAY = timedelta(1)
JINJA = environment(design_folder() / "templates")


def access(day: int, dataset: DatasetId, status: Status = Status.OK) -> Access:
    fields = {"task": "rebuild", "run_id": f"r{day}", "at": AT + day * DAY, "status": status}
    return notation.access(Operation.CREATE_TABLE_AS, dataset, **fields)


def lineage() -> Lineage:
    """A good run, and two that wrote the first of two datasets and failed at the second."""
    states = {0: Status.OK, 1: Status.FAILED, 2: Status.FAILED}
    accesses = [access(day, RAW) for day in states]
    accesses += [access(day, RISK, status) for day, status in states.items()]
    read = {"task": "mail", "run_id": "m1", "at": AT + 2 * DAY}
    accesses.append(notation.access("SELECT", RISK, **read))
    runs = [
        Run(f"r{day}", "rebuild", "spark", AT + day * DAY, AT + day * DAY, status, error="CAST")
        for day, status in states.items()
    ]
    return build(Records(accesses=tuple(accesses), runs=tuple(runs)))


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_a_late_dataset_s_page_says_since_when_who_has_it_and_what_to_type() -> None:
    text = words(render(dataset_page(Index(DescribedLineage(lineage())), RISK), JINJA))

    assert "has been late since 2026-10-10 07:30" in text
    assert "The last 2 runs of rebuild failed" in text
    assert "Last written 2026-10-09 07:30" in text
    assert "Old data was read since by mail" in text
    assert "graft incident show last --task rebuild" in text


def test_the_task_s_page_names_what_is_late_and_only_that() -> None:
    index = Index(DescribedLineage(lineage()))

    assert [note.dataset for note in task_page(index, "rebuild", Lineage().task_graph()).late] == [
        RISK
    ]
    assert dataset_page(index, RAW).late == ()
