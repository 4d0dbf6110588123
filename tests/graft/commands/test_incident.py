"""`graft incident` on a month of runs: the plan, its commands, and what is on record."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Status
from tests.graft.commands.answers import read_answer
from tests.graft.dated_project import FIRST, dated_project, days, step

BAD = FIRST + timedelta(15)  # 5 October
NEXT_MORNING = datetime(2026, 10, 12, 9, tzinfo=FIRST.tzinfo)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    dated_project(tmp_path)
    return tmp_path


def incident(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["incident", *arguments, "-c", str(folder / "graft.yml")])


def answer(folder: Path, *arguments: str) -> dict[str, Any]:
    """The data of an answer."""
    done = incident(folder, *arguments, "--json")
    assert done.exit_code == 0, done.output
    data: dict[str, Any] = read_answer(done.stdout)["data"]
    return data


def plan(folder: Path, *arguments: str) -> dict[str, Any]:
    document: dict[str, Any] = answer(folder, "open", "--dry-run", *arguments)["plan"]
    return document


def reruns(document: dict[str, Any]) -> dict[str, Any]:
    """Task -> its ranges; None for all dates."""
    return {
        one["task"]: None if one["dates"]["all"] else one["dates"]["ranges"]
        for one in document["rerun"]
    }


EXPECTED = {
    "load": [["2026-10-05", "2026-10-06"]],
    "clean": [["2026-10-05", "2026-10-06"]],
    "week": [["2026-10-05", "2026-10-12"]],
    "snap": None,
    "month": [["2026-10-01", "2026-11-01"]],
}


@pytest.mark.parametrize(
    "arguments",
    [
        ("raw.orders", "--dates", "2026-10-05"),
        ("--run", "load-2026-10-05"),
        ("--task", "load", "--code-version", "bad"),
        ("--between", "load-2026-10-04", "load-2026-10-05"),
        ("--between", "load-2026-10-05", "load-2026-10-04"),
        ("spark/raw.orders", "--run", "load-2026-10-05"),
    ],
    ids=["dates", "run", "code version", "between", "between, other order", "run and dataset"],
)
def test_a_bad_day_is_followed_to_the_ends(project: Path, arguments: tuple[str, ...]) -> None:
    document = plan(project, *arguments)

    assert reruns(document) == EXPECTED
    assert list(reruns(document)).index("clean") == 1
    assert [one["run"] for one in document["bad"]] == ["load-2026-10-05"]
    assert document["last_good"]["run"] == "load-2026-10-04"
    assert [(one["name"], one["owner"]) for one in document["tell"]] == [("report", "Finance")]
    assert document["unmapped"] == [
        {"task": "snap", "input": "spark/clean.orders", "output": "spark/mart.snapshot"}
    ]
    week = next(one for one in document["rerun"] if one["task"] == "week")
    assert week["outputs"][0]["path"] == [
        *("raw.orders", "clean", "clean.orders", "week", "mart.weekly")
    ]


def rerun_of(task: str, at: datetime, **options: Any) -> list[Access]:
    names = {"load": ((), "raw.orders"), "clean": (("raw.orders",), "clean.orders")}
    reads, target = names[task]
    sources = tuple((name, days(BAD)) for name in reads)
    operation = Operation.INSERT_OVERWRITE
    run_id = f"{task}-again"
    return list(
        step(task, BAD, at, sources, (target, days(BAD)), operation, run_id=run_id, **options)
    )


def test_clean_runs_end_it(tmp_path: Path) -> None:
    again = [
        *rerun_of("load", NEXT_MORNING),
        *rerun_of("clean", NEXT_MORNING + timedelta(hours=1)),
    ]
    dated_project(tmp_path, *again)

    document = plan(tmp_path, "raw.orders", "--dates", "2026-10-05")

    assert {*reruns(document)} == {"week", "month", "snap"}
    assert [(one["dataset"], one["run"]) for one in document["superseded"]] == [
        ("spark/raw.orders", "load-again"),
        ("spark/clean.orders", "clean-again"),
    ]


def test_a_run_that_reads_before_the_clean_write_is_as_bad_as_before(tmp_path: Path) -> None:
    again = [
        *rerun_of("clean", NEXT_MORNING),
        *rerun_of("load", NEXT_MORNING + timedelta(hours=1)),
    ]
    dated_project(tmp_path, *again)

    assert "clean" in reruns(plan(tmp_path, "raw.orders", "--dates", "2026-10-05"))


def test_of_a_run_id_of_several_tasks_one_task_is_named(tmp_path: Path) -> None:
    source, at = (("raw.orders", days(BAD)),), NEXT_MORNING
    written = ("clean.orders", days(BAD))
    shared = step("clean", BAD, at, source, written, Operation.INSERT, run_id="load-2026-10-05")
    dated_project(tmp_path, *shared)
    between = ("--between", "load-2026-10-04", "load-2026-10-05")

    done = incident(tmp_path, "open", *between)
    assert (done.exit_code, "name one with --task" in done.output) == (1, True), done.output
    for runs in (between, ("--run", "load-2026-10-05")):
        bad = plan(tmp_path, *runs, "--task", "load")["bad"]
        assert {one["dataset"] for one in bad} == {"spark/raw.orders"}


def test_what_failed_wrote_nothing(tmp_path: Path) -> None:
    dated_project(tmp_path, *rerun_of("load", NEXT_MORNING, status=Status.FAILED))

    assert reruns(plan(tmp_path, "raw.orders", "--dates", "2026-10-05")) == EXPECTED


def test_dates_that_nobody_wrote_are_bad_since_ever(project: Path) -> None:
    document = plan(project, "raw.orders", "--dates", "2026-09-01")

    assert document["bad"][0]["run"] is None
    assert [one["task"] for one in document["rerun"]] == ["load"]


def test_commands_of_a_task_are_filled_in_and_quoted(tmp_path: Path) -> None:
    odd = "x'; rm -rf ~; '"
    accesses = step(
        odd, BAD, NEXT_MORNING, (("raw.orders", days(BAD)),), ("a.b", days(BAD)), Operation.INSERT
    )
    dated_project(tmp_path, *accesses)
    config = tmp_path / "graft.yml"
    config.write_text(
        config.read_text() + f"  {json.dumps(odd)}: {{rerun: 'run {{task}} {{start}} {{last}}'}}\n"
    )

    found = {
        one["task"]: one["commands"] for one in plan(tmp_path, "--run", "load-2026-10-05")["rerun"]
    }

    assert found["load"] == ["python load.py --from 2026-10-05 --to 2026-10-06"]
    assert found[odd] == ["""run 'x'"'"'; rm -rf ~; '"'"'' 2026-10-05 2026-10-05"""]


def test_the_plan_names_order_reason_and_owner(project: Path) -> None:
    done = incident(project, "open", "--dry-run", "--run", "week-2026-10-05")
    assert (
        done.stdout
        == """\
bad data of mart.weekly: 1 task must run again
  last good run  week-2026-10-04 of week at 2026-10-05 06:00

bad data (1)
  dataset            dates       run              task  at
  spark/mart.weekly  5 Oct 2026  week-2026-10-05  week  2026-10-06 06:00

run again, in this order
└── week: 5 Oct 2026
    ├── mart.weekly 5 Oct 2026, 1 bad run
    └── it is not known how it runs: add `rerun:` to its entry below `tasks` in graft.yml

let know (1)
          kind       owner    has                     last read
  report  dashboard  Finance  mart.weekly 5 Oct 2026  2026-10-06 07:00
"""
    )


def test_commands_are_code_in_markdown(project: Path) -> None:
    done = incident(project, "open", "--run", "load-2026-10-05", "--format", "markdown")
    assert "- load (Platform): 5 Oct 2026\n" in done.stdout
    assert "  - `python load.py --from 2026-10-05 --to 2026-10-06`\n" in done.stdout


@pytest.mark.parametrize(
    "arguments", [("open", "--dry-run", "--run", "load-2026-10-05"), ("show", "load-2026-10-05")]
)
def test_a_dag_is_yaml_of_dag_factory(project: Path, arguments: tuple[str, ...]) -> None:
    out = project / "dags"
    done = incident(project, *arguments, "--dag", str(out))

    assert done.exit_code == 0, done.output
    files = {path.name for path in out.iterdir()}
    assert files == {
        "lineage_reprocess_raw_orders_dag.py",
        "lineage_reprocess_raw_orders_dag.yml",
    }
    assert all(str(out / file) in done.stdout for file in files)
    text = (out / "lineage_reprocess_raw_orders_dag.yml").read_text()
    (dag,) = yaml.safe_load(text).values()
    tasks = {task["task_id"]: task for task in dag["tasks"]}
    assert dag["schedule"] == "@once"
    assert tasks["load"]["bash_command"] == "python load.py --from 2026-10-05 --to 2026-10-06"
    assert tasks["clean"]["dependencies"] == ["load"]
    assert tasks["clean"]["operator"].endswith("EmptyOperator")
    # It runs later: Airflow's event says which day it wrote.
    [outlet] = tasks["load"]["outlets"]
    assert (outlet["name"], "2026-10-05" in str(outlet["outputFacets"]["subset"])) == (
        "raw.orders",
        True,
    )
    assert "outlets" not in tasks["clean"]


def test_the_dag_of_another_incident_stays(project: Path) -> None:
    out = project / "dags"
    for name in ("raw.orders", "clean.orders"):
        done = incident(
            project, "open", name, "--dates", "2026-10-05", "--dry-run", "--dag", str(out)
        )
        assert done.exit_code == 0, done.output
    assert {path.name for path in out.iterdir() if path.suffix == ".yml"} == {
        "lineage_reprocess_raw_orders_dag.yml",
        "lineage_reprocess_clean_orders_dag.yml",
    }


def test_a_dag_is_written_where_graft_yml_says(project: Path) -> None:
    config = project / "graft.yml"
    config.write_text(f"{config.read_text()}airflow: {{out: planned}}\n")
    assert incident(project, "open", "--run", "load-2026-10-05", "--dag").exit_code == 0
    assert len([*(project / "planned").iterdir()]) == 2


def test_an_incident_is_on_record_until_it_is_closed(project: Path) -> None:
    options = ("--run", "load-2026-10-05", "--reason", "double\nrows")
    assert answer(project, "open", *options)["number"] == 1
    assert incident(project, "list").stdout == (
        "incidents on record: 1 open, 0 closed\n"
        "\n"
        "incidents (1)\n"
        "  id  dataset           dates       run              task  outputs  reason\n"
        "  1   spark/raw.orders  5 Oct 2026  load-2026-10-05  load  5        double rows\n"
    )
    assert "0 open, 1 closed" in incident(project, "close", "1").stdout
    assert answer(project, "list")["incidents"][0]["closed_at"]
    assert incident(project, "close", "7").exit_code == 1


def test_a_dry_run_records_nothing(project: Path) -> None:
    assert answer(project, "open", "--run", "load-2026-10-05", "--dry-run")["number"] is None
    assert answer(project, "list") == {"incidents": []}


RUN = ("--run", "x")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        ((), 2, "name DATASET with --dates"),
        (("--dates", "2026-10-05"), 2, "name DATASET with --dates"),
        (("raw.orders", "--dates", "soon"), 2, "'soon' is not a date"),
        (("raw.orders", "--dates", "2026-10-05", *RUN), 2, "name DATASET"),
        (("raw.order", "--dates", "2026-10-05"), 1, "did you mean spark/raw.orders"),
        (("mart.snapshot", "--dates", "2026-10-05"), 1, "name the bad run with --run RUN"),
        (("--run", "nobody"), 1, "there is no such run"),
        (("--task", "nobody"), 1, "there is no such task"),
        (("--run", "report-2026-10-05"), 1, "wrote nothing"),
        (("--between", "load-2026-10-04", "week-2026-10-05"), 1, "name two runs of one task"),
        (("--task", "load", "--code-version", "x"), 1, "no run has the code version x"),
        (("--run", "load-2026-10-05", "--task", "week"), 1, "there is no such run"),
        ((*RUN, "--task", "load", "--code-version", "x"), 2, "name DATASET with --dates"),
        ((*RUN, "--reason", "y", "--dry-run"), 2, "leave out --dry-run"),
        ((*RUN, "--link", "https://me:secret@example.com"), 2, "Invalid value for '--link'"),
        ((*RUN, "--link", "javascript:alert(1)"), 2, "write http(s)://"),
    ],
)
def test_a_wrong_command_line_is_an_error(
    project: Path, arguments: tuple[str, ...], exit_code: int, message: str
) -> None:
    done = incident(project, "open", *arguments)

    assert (done.exit_code, message in done.output) == (exit_code, True), done.output
    assert "secret" not in done.output


def test_without_a_store_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text("store: store\n")

    result = incident(tmp_path, "open", "raw.orders", "--dates", "2026-10-05")

    assert result.exit_code == 1
    assert "nothing was collected yet" in result.output


def test_the_report_has_the_run_and_the_plan(project: Path) -> None:
    data = answer(project, "show", "load-2026-10-05")
    assert (data["run"]["run_id"], data["run"]["owner"]) == ("load-2026-10-05", "Platform")
    assert data["plan"] == plan(project, "--run", "load-2026-10-05")


def test_the_report_names_the_page_where_the_site_has_an_address(project: Path) -> None:
    config = project / "graft.yml"
    config.write_text(f"{config.read_text()}\nsite: {{url: https://data.example.com/lineage/}}\n")
    shown = incident(project, "show", "load-2026-10-05").stdout
    assert "https://data.example.com/lineage/tasks/load/" in shown


def test_an_incident_on_record_is_reported_by_its_id(project: Path) -> None:
    answer(project, "open", "raw.orders", "--dates", "2026-10-05")
    assert answer(project, "show", "1") == answer(project, "show", "load-2026-10-05")
    assert "nothing on record" not in incident(project, "show", "1").stdout
    assert (
        "nothing on record says that it is bad"
        in incident(project, "show", "load-2026-10-06").stdout
    )


def test_a_run_that_only_read_has_nothing_to_run_again(project: Path) -> None:
    assert answer(project, "show", "last", "--task", "report")["plan"] is None
    assert incident(project, "show", "last", "--task", "report").stdout == (
        "run report-2026-10-11 of report: no log shows that it wrote anything\n"
        "  status  ok\n"
        "  time    2026-10-12 07:00:00 to 2026-10-12 07:00:00\n"
        "  code    good\n"
        "  owner   Finance\n"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (("gone",), 1, "there is no such run in the store"),
        (("last",), 2, "name the task"),
        (("last", "--task", "gone"), 1, "there is no such task"),
    ],
)
def test_an_unknown_run_is_an_error(
    project: Path, arguments: tuple[str, ...], code: int, problem: str
) -> None:
    done = incident(project, "show", *arguments)
    assert (done.exit_code, problem in done.output) == (code, True), done.output
