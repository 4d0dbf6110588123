"""`graft taint` on a month of partitioned runs: the plan, its commands, and taints on record."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from click.testing import CliRunner, Result

from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Status
from tests.graft.dated_project import FIRST, dated_project, days, step

BAD = FIRST + timedelta(15)  # 5 October
NEXT_MORNING = datetime(2026, 10, 12, 9, tzinfo=FIRST.tzinfo)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    dated_project(tmp_path)
    return tmp_path


def taint(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["taint", "-c", str(folder / "graft.yml"), *arguments])


def plan(folder: Path, *arguments: str) -> dict[str, Any]:
    found = taint(folder, *arguments, "--json")
    assert found.exit_code == 0, found.output
    document: dict[str, Any] = json.loads(found.stdout)
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


def test_the_document_is_of_the_published_schema(project: Path, root: Path) -> None:
    schema = json.loads((root / "docs/taint.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)

    jsonschema.validate(plan(project, "--run", "load-2026-10-05"), schema)


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


def test_what_failed_wrote_nothing(tmp_path: Path) -> None:
    dated_project(tmp_path, *rerun_of("load", NEXT_MORNING, status=Status.FAILED))

    assert reruns(plan(tmp_path, "raw.orders", "--dates", "2026-10-05")) == EXPECTED


def test_dates_that_nobody_wrote_are_bad_since_ever(project: Path) -> None:
    document = plan(project, "raw.orders", "--dates", "2026-09-01")

    assert document["bad"][0]["run"] is None
    assert [one["task"] for one in document["rerun"]] == [None]


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


def test_as_text_and_markdown_it_names_order_reason_and_owner(project: Path) -> None:
    text = taint(project, "--run", "load-2026-10-05").stdout
    markdown = taint(project, "--run", "load-2026-10-05", "--format", "markdown").stdout

    assert "spark/raw.orders is bad for 5 Oct 2026, by run load-2026-10-05 of load" in text
    assert "3. week: 5 to 11 Oct 2026" in text
    assert "mart.weekly 5 to 11 Oct 2026, 7 bad runs by raw.orders -> clean" in text
    assert "report (dashboard, Finance): mart.weekly 5 to 11 Oct 2026" in text
    assert "1. `load` (Platform): 5 Oct 2026" in markdown
    assert "   ```sh\n   python load.py --from 2026-10-05 --to 2026-10-06\n   ```" in markdown


def test_as_a_dag_it_is_yaml_of_dag_factory(project: Path) -> None:
    out = project / "dags"

    found = taint(project, "--run", "load-2026-10-05", "--format", "dag-factory", "--out", str(out))

    assert found.exit_code == 0, found.output
    files = {path.name for path in out.iterdir()}
    assert files == {
        "lineage_reprocess_raw_orders_dag.py",
        "lineage_reprocess_raw_orders_dag.yml",
    }
    text = (out / "lineage_reprocess_raw_orders_dag.yml").read_text()
    (dag,) = yaml.safe_load(text).values()
    tasks = {task["task_id"]: task for task in dag["tasks"]}
    assert dag["schedule"] == "@once"
    assert tasks["load"]["bash_command"] == "python load.py --from 2026-10-05 --to 2026-10-06"
    assert tasks["clean"]["dependencies"] == ["load"]
    assert tasks["clean"]["operator"].endswith("EmptyOperator")


def test_a_taint_on_record_is_listed_until_it_is_cleared(project: Path) -> None:
    recorded = taint(project, "--run", "load-2026-10-05", "--record", "--reason", "double\nrows")
    assert "recorded as 1" in recorded.stdout

    assert taint(project, "--list").stdout == (
        "1  spark/raw.orders 5 Oct 2026 by run load-2026-10-05 of load, and 4 more outputs: "
        "double rows\n"
    )
    cleared = taint(project, "--clear", "1")
    assert ", cleared 20" in cleared.stdout
    assert json.loads(taint(project, "--list", "--json").stdout)[0]["cleared_at"]
    assert taint(project, "--clear", "7").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        ((), 2, "name DATASET with --dates"),
        (("--dates", "2026-10-05"), 2, "name DATASET with --dates"),
        (("raw.orders", "--dates", "soon"), 2, "'soon' is no date"),
        (("raw.orders", "--dates", "2026-10-05", "--run", "x"), 2, "name DATASET"),
        (("raw.order", "--dates", "2026-10-05"), 1, "did you mean spark/raw.orders"),
        (("mart.snapshot", "--dates", "2026-10-05"), 1, "name the bad run with --run RUN"),
        (("--run", "nobody"), 1, "there is no such run"),
        (("--task", "nobody"), 1, "there is no such task"),
        (("--run", "report-2026-10-05"), 1, "wrote nothing"),
        (("--between", "load-2026-10-04", "week-2026-10-05"), 1, "name two runs of one task"),
        (("--run", "x", "--reason", "y"), 2, "belong to --record"),
        (
            ("--run", "x", "--record", "--link", "https://me:secret@example.com"),
            2,
            "Invalid value for --link",
        ),
        (("--run", "x", "--record", "--link", "javascript:alert(1)"), 2, "write http(s)://"),
    ],
)
def test_a_wrong_command_line_is_an_error(
    project: Path, arguments: tuple[str, ...], exit_code: int, message: str
) -> None:
    found = taint(project, *arguments)

    assert (found.exit_code, message in found.output) == (exit_code, True), found.output
    assert "secret" not in found.output


def test_without_a_store_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text("store: store\n")

    found = taint(tmp_path, "raw.orders", "--dates", "2026-10-05")

    assert found.exit_code == 1
    assert "nothing was collected yet" in found.output
