"""Patterns of tasks -> records without them, and how much was left out."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.ignored_tasks import without_tasks
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Access, Dataset, Outcome, Records, Run, Shape
from dbt_graft.lineage.settings import IgnoredTasks, LineageSettings
from tests import notation


def wrote(task: str, name: str) -> Access:
    return notation.access(
        "INSERT", DatasetId("spark", name), task=task, shape_id=task, statements=3
    )


RECORDS = Records(
    accesses=(
        wrote("load", "raw.orders"),
        wrote("Ann_Notebook", "raw.orders"),
        wrote("Ann_Notebook", "tmp.try"),
    ),
    runs=(Run("load-1", "load", "spark"), Run("Ann_Notebook-1", "Ann_Notebook", "spark")),
    datasets=(Dataset(DatasetId("spark", "raw.orders")), Dataset(DatasetId("spark", "tmp.try"))),
)


def test_tasks_go_with_the_datasets_that_only_they_use() -> None:
    lineage = build(RECORDS, settings=LineageSettings(ignore=["*notebook*"]))
    assert list(lineage.tasks) == ["load"]
    assert list(lineage.datasets) == [DatasetId("spark", "raw.orders")]
    assert lineage.ignored == IgnoredTasks(tasks=1, runs=1, statements=6, datasets=1)


def test_statements_go_that_only_the_runs_of_tasks_name_which_go() -> None:
    shapes = {name: Shape(name, "tsql", name, "", Outcome.FAILED) for name in ("both", "theirs")}
    load, notebook = RECORDS.runs
    runs = (replace(load, gaps=("both",)), replace(notebook, gaps=("both", "theirs")))
    remaining, _ = without_tasks(Records(runs=runs, shapes=shapes), ["*notebook*"])
    assert list(remaining.shapes) == ["both"]


def test_without_a_match_records_stay_the_same() -> None:
    for patterns in ([], ["adhoc_*"]):
        assert without_tasks(RECORDS, patterns) == (RECORDS, IgnoredTasks())
