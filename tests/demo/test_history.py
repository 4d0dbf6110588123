"""The captured nights: they are what EXPECTED.yml says, and join with the run of `make docs`."""

from __future__ import annotations

import gzip
import runpy
from collections import defaultdict
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
import zstandard

from dbt_graft.collectors.dbt.results import read_invocation
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.node_results import PER_NODE
from dbt_graft.graft.project.config import load
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.questions.run_report import report_run
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.dataset import parse_dataset_id
from dbt_graft.lineage.records import Direction, NodeResult, Run, Status

Expected = dict[str, Any]


@pytest.fixture(scope="module")
def history(root: Path) -> Path:
    """The folder of captured logs."""
    return root / "dbt_project/history"


@pytest.fixture(scope="module")
def nights(expected: Expected) -> Expected:
    """The history of each task as EXPECTED.yml has it."""
    section: Expected = expected["history"]
    return section


@pytest.fixture(scope="module")
def grafted(root: Path, demo: Path) -> Grafted:
    """The demo's store on its artifacts, with dbt's results."""
    config = load(root / "dbt_project/graft.yml")
    if not (demo / "store").is_dir():
        pytest.skip("the demo's store is empty: run `make docs` first")
    return Project(config).grafted()


@pytest.fixture(scope="module")
def runs(grafted: Grafted, expected: Expected) -> dict[str, list[Run]]:
    """Task -> its captured runs, the oldest first; without the month of visits."""
    return {
        name: [run for run in reversed(task.runs) if "history/" in run.origin]
        for name, task in grafted.lineage.tasks.items()
        if name not in expected["month"]["tasks"]
    }


def _days(first: date, last: date) -> list[date]:
    return [first + timedelta(days=age) for age in range((last - first).days + 1)]


def _day(run: Run | NodeResult) -> date:
    assert run.started_at
    return run.started_at.date()


def test_no_log_has_the_name_of_a_machine_its_user_or_a_folder_of_theirs(history: Path) -> None:
    logs = {path: zstandard.open(path).read() for path in history.rglob("*.zstd")}
    logs |= {path: gzip.decompress(path.read_bytes()) for path in history.rglob("*.gz")}
    assert len(logs) > 100
    foreign = (
        b"/home/",
        b"/root/",
        bytes(Path(__file__).parents[2]),
        b"/Users/",
        b"/tmp/",
        b"site-packages",
        b"user.name",
    )
    found = {path.name: word for path, text in logs.items() for word in foreign if word in text}
    assert found == {}


def test_the_log_of_sql_server_is_what_its_script_writes(history: Path) -> None:
    played = runpy.run_path(str(history / "play_sqlserver.py"))["nights"]()
    assert gzip.decompress((history / "sqlserver/nights.xml.gz").read_bytes()).decode() == played


def test_logs_are_small(history: Path) -> None:
    logs = [path for path in history.rglob("*") if path.suffix in {".zstd", ".gz"}]
    assert sum(path.stat().st_size for path in logs) < 2_000_000


@pytest.mark.demo
def test_every_task_ran_every_night_and_failed_on_those_of_expected(
    runs: dict[str, list[Run]], nights: Expected
) -> None:
    found = {name: [_day(run) for run in of_task] for name, of_task in runs.items()}
    assert found == {name: _days(run["from"], run["to"]) for name, run in nights["runs"].items()}
    failed = {
        name: [_day(run) for run in of_task if run.status is Status.FAILED]
        for name, of_task in runs.items()
    }
    assert failed == {
        name: _days(run["failed_since"], run["to"])
        if "failed_since" in run
        else run.get("failed", [])
        for name, run in nights["runs"].items()
    }


@pytest.mark.demo
def test_the_slow_nights_stand_out(runs: dict[str, list[Run]], nights: Expected) -> None:
    for name, night in nights["slow"].items():
        # The first night warms up what the others use.
        took = {
            _day(run): (run.ended_at - run.started_at).total_seconds()
            for run in runs[name][1:]
            if run.started_at and run.ended_at
        }
        assert max(took, key=took.__getitem__) == night


@pytest.mark.demo
def test_rows_of_odd_nights_and_their_neighbours(root: Path, nights: Expected) -> None:
    rows: dict[str, dict[date, int]] = defaultdict(lambda: defaultdict(int))
    config = load(root / "dbt_project/graft.yml")
    for access in store.read(config.path(config.store)).accesses:
        if access.direction is Direction.WRITE and access.first_at and access.rows is not None:
            rows[str(access.dataset)][access.first_at.date()] += access.rows
    for dataset, expected in nights["rows"].items():
        assert {night: rows[dataset][night] for night in expected} == expected


@pytest.mark.demo
def test_a_renamed_table_is_one_dataset_and_its_former_address_leads_to_it(
    root: Path, grafted: Grafted, nights: Expected
) -> None:
    found = {
        str(dataset): [str(name) for name in names]
        for dataset, names in grafted.lineage.names.former.items()
    }
    assert found == nights["former_names"]
    page = root / "build/site/datasets/spark/raw/returned_goods/index.html"
    assert "/datasets/spark/raw/returns/index.html" in page.read_text()


@pytest.mark.demo
def test_a_table_whose_task_fails_was_last_written_before(
    grafted: Grafted, nights: Expected
) -> None:
    for dataset, night in nights["last_written"].items():
        (usage,) = grafted.lineage.writers(parse_dataset_id(dataset))
        runs = grafted.lineage.tasks[usage.task].runs
        good = [run for run in runs if run.status is Status.OK]
        assert _day(good[0]) == night
        assert usage.last_at
        assert usage.last_at.date() == night
        assert runs[0].status is Status.FAILED


@pytest.mark.demo
@pytest.mark.usefixtures("grafted")
def test_a_failed_run_leaves_late_what_it_did_not_write(root: Path, nights: Expected) -> None:
    config = load(root / "dbt_project/graft.yml")
    for task, expected in nights["failing"].items():
        answer, _ = report_run(config, "last", task)
        written = next(table for table in answer.tables if table.title.startswith("written"))
        assert [row[0] for row in written.rows] == expected["wrote"]
        assert [output["dataset"] for output in answer.data["late"]] == expected["late"]
        bad = {write["dataset"] for write in answer.data["plan"]["bad"]}
        assert not bad & {*expected["wrote"]}


def test_dbt_built_every_model_every_night_and_its_tests_failed_on_those_of_expected(
    history: Path, nights: Expected
) -> None:
    built = defaultdict(set)
    failed = set()
    for path in sorted((history / "dbt").iterdir()):
        for result in read_invocation(gzip.decompress(path.read_bytes()), "dbt:").results:
            if result.node_id.startswith("model."):
                built[result.node_id].add(_day(result))
            elif result.status is Status.FAILED:
                failed.add(_day(result))
    days = _days(nights["dbt"]["models"]["from"], nights["dbt"]["models"]["to"])
    assert [*map(sorted, built.values())] == [days] * 10
    assert sorted(failed) == nights["dbt"]["failed_tests"]


@pytest.mark.demo
def test_a_model_has_the_run_of_make_docs_and_the_captured_ones_that_the_store_keeps(
    grafted: Grafted, nights: Expected
) -> None:
    days = _days(nights["dbt"]["models"]["from"], nights["dbt"]["models"]["to"])
    for node, results in grafted.lineage.dbt.node_results.items():
        if node.startswith("model."):
            assert [_day(result) for result in reversed(results[1:])] == days[1 - PER_NODE :]
            assert _day(results[0]) > days[-1]


@pytest.mark.demo
def test_the_source_that_nobody_fills_is_stale(grafted: Grafted, nights: Expected) -> None:
    newest = {
        node: results[0].word
        for node, results in grafted.lineage.dbt.node_results.items()
        if node.startswith("source.")
    }
    assert newest == {nights["dbt"]["stale"]: "warn"}
