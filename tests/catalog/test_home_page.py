"""The home page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dbt_graft.catalog.build import build
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Dataset, Direction
from dbt_graft.lineage.usage import Usage
from tests.catalog.html_reader import section, text

PageHtml = Callable[[str], str]


@pytest.mark.parametrize(
    ("heading", "texts"),
    [
        (
            "Needs attention",
            ["Failed tasks1 rebuild_returns", "Rejected log records2", "only in part2"],
        ),
        ("Browse", ["SQL Server", "data-platform", "nightly"]),
    ],
)
def test_a_section_lists(page: PageHtml, heading: str, texts: list[str]) -> None:
    shown = section(page(""), heading)
    assert [part for part in texts if part not in shown] == []


def test_the_figures_count_datasets_and_tasks(page: PageHtml) -> None:
    shown = text(page(""))
    assert "23datasets" in shown.replace(" ", "")
    assert "7tasksandconsumers" in shown.replace(" ", "")


def test_multiple_writers_and_cycles_need_attention(tmp_path: Path) -> None:
    a, b = DatasetId("spark", "raw.a"), DatasetId("spark", "raw.b")

    def task(name: str, read: DatasetId, write: DatasetId) -> Task:
        usages = (
            Usage(name, read, Direction.READ, (Operation.SELECT,)),
            Usage(name, write, Direction.WRITE, (Operation.INSERT,)),
        )
        return Task(name, ("spark",), usages)

    tasks = {"forth": task("forth", a, b), "back": task("back", b, a)}
    model = Definition("model.shop.b", DefinitionKind.DBT, b, (a,))
    flows = (Flow(a, b, "forth"), Flow(b, a, "back"), Flow(a, b, model.name, definition=model.kind))
    lineage = Lineage({a: Dataset(a), b: Dataset(b)}, tasks, flows, definitions={model.name: model})
    built = build(lineage, {}, [], SiteSettings(), tmp_path / "site")
    shown = section(built.index.read_text("utf-8"), "Needs attention")
    assert "Datasets with several writers1 raw.b is written by dbt and forth" in shown
    assert "raw.a → raw.b → raw.a" in shown


def test_without_lineage_the_page_shows_the_next_step(tmp_path: Path) -> None:
    built = build(Lineage(), {}, [], SiteSettings("Nothing"), tmp_path / "site")
    shown = text(built.index.read_text("utf-8"))
    assert "Nothing collected yet" in shown
    assert "graft build" in shown
    assert "collect:" in shown
    for path in ("datasets", "tasks", "tags", "owners", "gaps"):
        assert (tmp_path / "site" / path / "index.html").is_file()
