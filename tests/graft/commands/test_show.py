"""`graft show`: the pages of things in a terminal, and the exit code by the dates of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt_graft.graft.commands.cli import main
from tests.graft.commands.answers import read_answer
from tests.graft.dated_project import dated_project

DECLARED = """\
version: 1
datasets:
  spark/mart.weekly:
    period: day
    reads: {spark/clean.orders: [-6, 0]}
    completed: {spark/clean.orders: [-6, 0], spark/raw.orders: [0, 1]}
    estimated: {spark/clean.orders: [0, 0], spark/raw.orders: last}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    dated_project(tmp_path)
    return tmp_path


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "-c", str(folder / "graft.yml")])


def data(folder: Path, *arguments: str) -> dict[str, Any]:
    done = run(folder, "show", *arguments, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = read_answer(done.stdout)["data"]
    return found


def test_a_table_has_a_page(project: Path) -> None:
    assert (
        run(project, "show", "mart.weekly", "--dates").output
        == """\
spark/mart.weekly: table, Spark
  last write  2026-10-12 06:00 by week
  dates       sliding, by day: 22 completed of 20 Sep to 11 Oct 2026
  upstream    2 tables
  read by     1 dashboard: report
  note: no edge from it: its tasks (report) wrote no dataset that the logs show
  note: usually written 6 hours after the end of its day

comes from
└── clean.orders  by week  …

feeds
└── report  (dashboard)

written by (1)
        operation         times  last              dates of data
  week  INSERT OVERWRITE  22     2026-10-12 06:00  ds 2026-10-11 (partition)

read by (1)
          operation  times  last              dates of data
  report  SELECT     22     2026-10-12 07:00  ds 2026-10-11 (partition)

dates (1)
                         state
  20 Sep to 11 Oct 2026  completed

needs (1)
  task  of                  dates           by    agreeing
  week  spark/clean.orders  [-6, 0] by day  runs  22 of 22 runs
"""
    )


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["load"], "load: task, Spark"),
        (["load-2026-10-05"], "load-2026-10-05: run of load, ok"),
        (["last", "--task", "LOAD"], "load-2026-10-11: run of load, ok"),
        (["mart.weekly", "--depth", "9"], "    └── raw.orders  by clean"),
        (["mart.weekly", "--columns"], "spark/mart.weekly: table, Spark"),
        (["month", "--why"], "edges (1)"),
    ],
)
def test_other_things_have_pages_too(project: Path, arguments: list[str], line: str) -> None:
    assert line in run(project, "show", *arguments).output.splitlines()


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (["mart.weekly"], {"upstream", "downstream", "columns", "dates", "why"}),
        (["mart.weekly", "--upstream"], {"upstream", "columns", "dates", "why"}),
        (["clean", "--downstream"], {"downstream", "reads", "writes", "runs", "why"}),
        (["load-2026-10-05"], {"manifest"}),
    ],
)
def test_json_has_all_sections(project: Path, arguments: list[str], keys: set[str]) -> None:
    sections = {
        *[
            "upstream",
            "downstream",
            "columns",
            "dates",
            "why",
            "reads",
            "writes",
            "runs",
            "manifest",
        ]
    }
    assert data(project, *arguments).keys() & sections == keys


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("mart.monthly", ["  Oct 2026  partial, superseded", "  Sep 2026  completed, superseded"]),
        ("mart.snapshot", ["  21 Sep to 12 Oct 2026  completed"]),
    ],
)
def test_dates_are_listed_in_ranges_the_newest_first(
    project: Path, table: str, rows: list[str]
) -> None:
    lines = run(project, "show", table, "--dates").output.splitlines()
    begin = lines.index(f"dates ({len(rows)})") + 2
    assert lines[begin : begin + len(rows)] == rows


def test_dates_before_the_first_write_are_missing_where_they_are_asked_for(project: Path) -> None:
    dates = data(project, "raw.orders", "--from", "2026-09-18", "--to", "2026-09-21")["dates"]
    assert [
        (entity["start"], entity["states"], entity["valid"]) for entity in dates["entities"]
    ] == [
        ("2026-09-18", ["missing"], False),
        ("2026-09-19", ["missing"], False),
        ("2026-09-20", ["completed"], True),
        ("2026-09-21", ["completed"], True),
    ]
    assert dates["entities"][2]["run"] == "load-2026-09-20"


def test_a_coarser_unit_is_partial_where_days_are_missing(project: Path) -> None:
    window = ("--grain", "month", "--from", "2026-08", "--to", "2026-10")
    entities = data(project, "raw.orders", *window)["dates"]["entities"]
    assert [entity["states"] for entity in entities] == [["missing"], ["partial"], ["partial"]]


def test_needs_have_the_runs_that_agree(project: Path) -> None:
    (need,) = data(project, "mart.weekly")["dates"]["needs"]
    assert need["offsets"] == [-6, 0]
    assert (need["evidence"], need["agreeing"], need["of"]) == ("runs", 22, 22)


def test_declared_needs_make_entities_estimated(tmp_path: Path) -> None:
    dated_project(tmp_path, lineage=DECLARED)
    dates = data(tmp_path, "mart.weekly", "--from", "2026-10-10", "--to", "2026-10-12")["dates"]
    # The next day of raw.orders is not there when a day is written.
    assert [entity["states"] for entity in dates["entities"]] == [
        ["estimated"],
        ["estimated"],
        ["missing"],
    ]
    assert dates["needs"][0]["evidence"] == "declared"


@pytest.mark.parametrize(
    ("arguments", "limit", "code"),
    [
        (("mart.weekly", "--from", "2026-10-01", "--to", "2026-10-04"), "estimated", 0),
        (("mart.weekly", "--from", "2026-10-01", "--to", "2026-10-05"), "estimated", 3),
        (("mart.weekly", "--from", "2026-10-01", "--to", "2026-10-05"), "tainted", 3),
        (("mart.weekly", "--from", "2026-10-12", "--to", "2026-10-20"), "estimated", 3),
        (("mart.weekly", "--from", "2026-10-12", "--to", "2026-10-20"), "tainted", 0),
        (("raw.orders", "--from", "2026-10-06"), "estimated", 0),
    ],
    ids=["clean", "tainted", "tainted too", "missing", "missing is not tainted", "after the taint"],
)
def test_the_exit_code_is_that_of_the_dates(
    project: Path, arguments: tuple[str, ...], limit: str, code: int
) -> None:
    opened = run(project, "incident", "open", "raw.orders", "--dates", "2026-10-05")
    assert opened.exit_code == 0, opened.output
    assert run(project, "show", *arguments, "--fail-on", limit).exit_code == code


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        (("raw.nothing",), 1, "there is no such table, column, task or run"),
        (("raw.orders", "--from", "soon"), 2, "is not a date"),
        (("raw.orders", "--from", "2026-10-05", "--to", "2026-10-01"), 2, "--from is after --to"),
        (("raw.orders", "--from", "0001-01-01", "--grain", "hour"), 2, "more than 10,000"),
        (("load", "--dates"), 2, "load is not a table"),
        (("load", "--fail-on", "missing"), 2, "load is not a table"),
        (("raw.orders", "--path-to", "load"), 1, "it is not a column"),
        (("last",), 1, "there is no such table, column, task or run"),
        (("last", "--task", "nobody"), 1, "there is no such task or dbt model"),
    ],
)
def test_a_wrong_command_line_is_an_error(
    project: Path, arguments: tuple[str, ...], exit_code: int, message: str
) -> None:
    done = run(project, "show", *arguments)
    assert (done.exit_code, message in done.output) == (exit_code, True), done.output
