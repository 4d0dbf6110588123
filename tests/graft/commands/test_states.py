"""`graft states`: entities by date, as text, JSON and exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt_graft.graft.commands.cli import main
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
    return CliRunner().invoke(
        main, [*arguments[:1], "-c", str(folder / "graft.yml"), *arguments[1:]]
    )


def answer(folder: Path, *arguments: str) -> dict[str, Any]:
    found = run(folder, "states", *arguments, "--json")
    assert found.exit_code == 0, found.output
    document: dict[str, Any] = json.loads(found.stdout)
    return document


@pytest.mark.parametrize(
    ("dataset", "lines"),
    [
        (
            "raw.orders",
            [
                "spark/raw.orders: time series, by day",
                "20 Sep to 11 Oct 2026      completed",
                "usually written 4.0 hours after the end of its day",
            ],
        ),
        (
            "mart.monthly",
            [
                "spark/mart.monthly: time series, by month",
                "  month needs of spark/clean.orders: same month (runs, 22 of 22 runs)",
                "Sep 2026                   completed, superseded",
                "Oct 2026                   partial, superseded",
            ],
        ),
        (
            "mart.snapshot",
            [
                "spark/mart.snapshot: snapshot, by day of its writes, as no log shows dates of its "
                "data",
                "  snap needs of spark/clean.orders: all dates (none)",
                "21 Sep to 12 Oct 2026      completed",
            ],
        ),
    ],
)
def test_states_are_listed_in_ranges(project: Path, dataset: str, lines: list[str]) -> None:
    assert run(project, "states", dataset).stdout.splitlines() == lines


def test_dates_before_the_first_write_are_missing_where_they_are_asked_for(project: Path) -> None:
    found = answer(project, "raw.orders", "--from", "2026-09-18", "--to", "2026-09-21")

    assert [(one["start"], one["states"], one["valid"]) for one in found["entities"]] == [
        ("2026-09-18", ["missing"], False),
        ("2026-09-19", ["missing"], False),
        ("2026-09-20", ["completed"], True),
        ("2026-09-21", ["completed"], True),
    ]
    assert found["entities"][2]["run"] == "load-2026-09-20"


def test_a_coarser_unit_is_partial_where_days_are_missing(project: Path) -> None:
    found = answer(
        project, "raw.orders", "--grain", "month", "--from", "2026-08", "--to", "2026-10"
    )

    assert [one["states"] for one in found["entities"]] == [["missing"], ["partial"], ["partial"]]


def test_needs_have_the_runs_that_agree(project: Path) -> None:
    (need,) = answer(project, "mart.weekly")["needs"]

    assert need["offsets"] == [-6, 0]
    assert (need["evidence"], need["agreeing"], need["of"]) == ("runs", 22, 22)


def test_a_taint_on_record_shows_until_it_is_cleared(project: Path) -> None:
    run(project, "incident", "open", "raw.orders", "--dates", "2026-10-05")

    tainted = run(project, "states", "mart.weekly", "--from", "2026-10-04", "--to", "2026-10-06")
    assert tainted.stdout.splitlines()[2:4] == [
        "4 Oct 2026                 completed",
        "5 to 6 Oct 2026            completed, tainted",
    ]

    run(project, "incident", "close", "1")
    assert "tainted" not in run(project, "states", "mart.weekly").stdout


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        (("mart.weekly", "--from", "2026-10-01", "--to", "2026-10-04"), 0),
        (("mart.weekly", "--from", "2026-10-01", "--to", "2026-10-05"), 4),
        (("mart.weekly", "--from", "2026-10-10", "--to", "2026-10-20"), 4),
        (("raw.orders", "--from", "2026-10-06"), 0),
    ],
    ids=["clean", "tainted", "missing", "after the taint"],
)
def test_a_check_is_an_exit_code(project: Path, arguments: tuple[str, ...], exit_code: int) -> None:
    run(project, "incident", "open", "raw.orders", "--dates", "2026-10-05")

    assert run(project, "states", *arguments, "--check").exit_code == exit_code


def test_declared_needs_make_entities_estimated(tmp_path: Path) -> None:
    dated_project(tmp_path, lineage=DECLARED)

    found = answer(tmp_path, "mart.weekly", "--from", "2026-10-10", "--to", "2026-10-12")

    # The next day of raw.orders is not there when a day is written.
    assert [one["states"] for one in found["entities"]] == [
        ["estimated"],
        ["estimated"],
        ["missing"],
    ]
    assert found["needs"][0]["evidence"] == "declared"


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        (("raw.nothing",), 1, "there is no such table"),
        (("raw.orders", "--from", "soon"), 2, "is no date"),
        (("raw.orders", "--from", "2026-10-05", "--to", "2026-10-01"), 2, "--from is after --to"),
        (("raw.orders", "--from", "0001-01-01", "--grain", "hour"), 2, "more than 10,000"),
    ],
)
def test_a_wrong_command_line_is_an_error(
    project: Path, arguments: tuple[str, ...], exit_code: int, message: str
) -> None:
    found = run(project, "states", *arguments)

    assert (found.exit_code, message in found.output) == (exit_code, True), found.output
