"""Pages with equal keys are equal, whatever changes; and few keys change with one table."""

from __future__ import annotations

import copy
import random
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from dbt_graft.catalog.build import design_folder, record_pages
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.page import environment, render
from dbt_graft.catalog.page_keys import digest, maker_digest
from dbt_graft.catalog.settings import SiteExtras
from dbt_graft.lineage.building.daily import DailyHistory, DayRows, DayRuns
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.urls import dataset_path, task_path
from tests.cases import for_each
from tests.catalog.worlds import CHANGES, World, world

SEEDS = range(2)
JINJA = environment(design_folder() / "templates")


def keys(one: World) -> dict[str, bytes]:
    """The key of each page that has one, by path."""
    planned = record_pages(Index(DescribedLineage(*one.lineage())))
    return {page.path: page.key for page in planned if page.key}


def rendered(one: World) -> dict[str, str]:
    """The content of each page, by path."""
    planned = record_pages(Index(DescribedLineage(*one.lineage())))
    return {page.path: render(page.make(), JINJA) for page in planned if page.key}


@cache
def before(seed: int) -> tuple[dict[str, bytes], dict[str, str]]:
    return keys(world(seed)), rendered(world(seed))


@cache
def after(change: str, seed: int) -> tuple[dict[str, bytes], dict[str, str]]:
    new = changed(world(seed), change, seed)
    return keys(new), rendered(new)


def changed(one: World, change: str, seed: int) -> World:
    one = copy.deepcopy(one)
    CHANGES[change](one, random.Random(f"{change} {seed}"))  # noqa: S311
    return one


@for_each("seed, change", product(SEEDS, CHANGES), quick=len(CHANGES))
def test_pages_with_equal_keys_are_equal(change: str, seed: int) -> None:
    old_keys, old_pages = before(seed)
    new_keys, new_pages = after(change, seed)
    equal = [path for path in old_keys if old_keys[path] == new_keys.get(path)]
    assert [path for path in equal if old_pages[path] != new_pages[path]] == []


def test_a_day_more_changes_the_pages_of_its_task_and_its_dataset() -> None:
    one = line_of_tables(20)
    lineage, descriptions, consumers = one.lineage()
    [task, *_] = lineage.tasks
    dataset = lineage.tasks[task].writes[0]
    day = date(2026, 1, 1)
    days = DailyHistory({task: [DayRuns(day, 1, 0)]}, {dataset: [DayRows(day, 1)]})
    index = Index(DescribedLineage(lineage, descriptions, consumers), extras=SiteExtras(days=days))
    old, new = keys(one), {page.path: page.key for page in record_pages(index) if page.key}
    changes = {path for path, key in new.items() if old[path] != key}
    assert {task_path(task), dataset_path(dataset)} <= changes
    assert len(changes) < 12


@for_each("change", CHANGES)
def test_every_kind_of_change_changes_a_page(change: str) -> None:
    """Else the test above would say nothing of it."""
    assert any(after(change, seed)[1] != before(seed)[1] for seed in SEEDS)


@for_each(
    "change, most",
    [
        *(("a description", 8), ("a run", 12), ("a statement", 12), ("another type", 8)),
        *(("a task's description", 12), ("a column edge gone", 80), ("a new consumer", 150)),
    ],
)
def test_a_change_of_one_table_leaves_the_keys_of_others(change: str, most: int) -> None:
    one = line_of_tables(100)
    old, new = keys(one), keys(changed(one, change, 1))
    assert 0 < sum(old[path] != new.get(path) for path in old) <= most
    assert len(old) > 130


def line_of_tables(tables: int) -> World:
    """Each table is made from the one before it."""
    made = world(1, tables)
    made.views.clear()
    made.parents = {table: [table - 1] if table else [] for table in range(tables)}
    made.column_edges = [
        (edge[0], edge[1], edge[0] - 1, "c0", edge[4]) for edge in made.column_edges if edge[0]
    ]
    return made


def test_keys_are_equal_in_every_process(root: Path) -> None:
    script = (
        "from tests.catalog.test_page_keys import keys, world\n"
        "for path, key in keys(world(0)).items(): print(path, key.hex())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    assert "datasets/spark/shop/table_00/" in found.pop()


@pytest.mark.parametrize(
    "edit",
    [
        lambda design: (design / "templates/parts.html.j2").write_text("another"),
        lambda design: (design / "templates/new.html.j2").write_text(""),
        lambda design: (design / "templates/task.html.j2").unlink(),
    ],
)
def test_another_template_is_another_maker(edit: Callable[[Path], object], tmp_path: Path) -> None:
    templates = tmp_path / "templates"
    templates.mkdir()
    for file in (design_folder() / "templates").iterdir():
        (templates / file.name).write_bytes(file.read_bytes())
    first = maker_digest(tmp_path)
    assert maker_digest(tmp_path) == first
    edit(tmp_path)
    assert maker_digest(tmp_path) != first


def test_another_version_or_code_is_another_maker(monkeypatch: pytest.MonkeyPatch) -> None:
    makers = [maker_digest(design_folder())]
    monkeypatch.setattr("dbt_graft.catalog.page_keys.__version__", "99")
    makers.append(maker_digest(design_folder()))
    monkeypatch.setattr("dbt_graft.catalog.page_keys._ROOMS", ())
    makers.append(maker_digest(design_folder()))
    assert len(set(makers)) == len(makers)


@pytest.mark.parametrize("value", ["\ud800", 1 << 70, [("a", None)], {"a": {1: 2}}, (1.5, True)])
def test_odd_values_have_a_digest(value: object) -> None:
    assert digest(value) == digest(value) != digest("another")
