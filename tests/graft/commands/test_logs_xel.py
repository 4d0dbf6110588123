"""`graft logs xel`: what it prints of .xel files, and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from dbt_graft.collectors.sqlserver.event import ExtendedEvent
from dbt_graft.graft.commands.cli import main
from tests.collectors.sqlserver.xel_session import BASE
from tests.collectors.sqlserver.xel_writer import UNIX_EPOCH, write_events

START = BASE - UNIX_EPOCH


def batch(number: int, app: str, text: str = "SELECT 1") -> ExtendedEvent:
    name = "sql_batch_completed" if number % 2 else "sql_batch_starting"
    data = {"batch_text": text} | ({"duration": 1_500, "result": 1} if number % 2 else {})
    return ExtendedEvent(name, START + number, data, {"client_app_name": app, "session_id": 51})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Twelve events in several blocks; half of them a task's."""
    path = tmp_path / "lineage_0_1.xel"
    apps = ("python_task::load", "SSMS")
    write_events(path, [batch(n, apps[n // 2 % 2]) for n in range(12)], block=400)
    return path


@pytest.fixture
def damaged(file: Path) -> Path:
    """The same with its first block of events damaged."""
    data = bytearray(file.read_bytes())
    data[data.index("SELECT".encode("utf-16-le"))] ^= 1
    file.write_bytes(data)
    return file


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["logs", "xel", *map(str, arguments)])


def printed(result: Result) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in result.stdout.splitlines()]


def test_events_are_one_object_a_line_in_a_pipe(file: Path) -> None:
    result = run(file)
    assert result.exit_code == 0
    events = printed(result)
    assert len(events) == 12
    assert events[1] == {
        "name": "sql_batch_completed",
        "timestamp": "2024-12-30T02:40:00.0000001Z",
        "package": "sqlserver",
        "data": {
            "duration": 1500,
            "cpu_time": 0,
            "physical_reads": 0,
            "logical_reads": 0,
            "writes": 0,
            "row_count": 0,
            "result": {"value": 1, "text": "Error"},
            "batch_text": "SELECT 1",
        },
        "actions": {"client_app_name": "python_task::load", "session_id": 51},
    }


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["--name", "sql_batch_starting"], 6),
        (["--name", "sql_batch_starting", "--name", "sql_batch_completed"], 12),
        (["--name", "logout"], 0),
        (["--application", "python_task::*"], 6),
        (["--application", "python_task::*", "--application", "SS?S"], 12),
        (["--application", "python_task::*", "--name", "sql_batch_completed"], 3),
        (["--head", "5"], 5),
        (["--head", "0"], 0),
    ],
)
def test_filters_leave_out_the_others(file: Path, options: list[str], count: int) -> None:
    assert len(printed(run(file, *options))) == count


def test_a_folder_is_its_files(file: Path) -> None:
    (file.parent / "notes.txt").write_text("not a log")
    assert len(printed(run(file.parent))) == 12


def test_the_table_has_a_row_for_each_event_and_no_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "a.xel"
    text = "SELECT 1\r\n\x1b[31mFROM\u202f t" + "x" * 500
    write_events(path, [batch(1, "python_task::\x1b]0;title\x07", text)])
    head, row = run(path, "--format", "table").stdout.splitlines()
    assert head.startswith("time (UTC)")
    assert row.startswith("2024-12-30T02:40:00.000  sql_batch_completed  ")
    assert "1500  SELECT 1 [31mFROM" in row
    assert "\x1b" not in row
    assert len(row) == 140


def test_xml_is_an_element_for_each_event(file: Path) -> None:
    text = run(file, "--format", "xml", "--head", "1").stdout
    assert text.startswith('<event name="sql_batch_starting" package="sqlserver" timestamp="2024-')
    assert text.endswith("</event>\n")


def test_the_summary_counts(file: Path) -> None:
    summary = run(file, "--summary").stdout
    assert "events    12 in 4 blocks of 1 files" in summary
    assert "time      2024-12-30T02:40:00.0000000Z to 2024-12-30T02:40:00.0000011Z" in summary
    assert "           6  sql_batch_completed" in summary
    assert "           6  SSMS" in summary


def test_the_summary_is_json_for_programs(damaged: Path) -> None:
    summary = orjson.loads(run(damaged, "--summary", "--json", "--application", "SSMS").stdout)[
        "data"
    ]
    assert summary == {
        "files": 1,
        "blocks": 3,
        "events": 9,
        "shown": 5,
        "first": "2024-12-30T02:40:00.0000003Z",
        "last": "2024-12-30T02:40:00.0000011Z",
        "names": {"sql_batch_completed": 3, "sql_batch_starting": 2},
        "applications": {"SSMS": 5},
        "damage": [
            {
                "file": str(damaged),
                "position": summary["damage"][0]["position"],
                "reason": "its checksum is wrong",
            }
        ],
    }


def test_damage_is_reported_on_standard_error_and_costs_its_block(damaged: Path) -> None:
    result = run(damaged)
    assert (result.exit_code, len(printed(result))) == (0, 9)
    assert result.stderr.startswith(f"{damaged}: block at byte ")
    assert result.stderr.endswith(": its checksum is wrong\n")


@pytest.mark.parametrize("options", [["--strict"], ["--strict", "--summary"]])
def test_strict_ends_with_3_on_damage_alone(
    file: Path, options: list[str], request: pytest.FixtureRequest
) -> None:
    assert run(file, *options).exit_code == 0
    assert run(request.getfixturevalue("damaged"), *options).exit_code == 3


def test_strict_ends_with_3_on_a_file_that_is_cut_short(file: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.xel"
    cut.write_bytes(file.read_bytes()[:-700])
    result = run(cut, "--strict")
    assert result.exit_code == 3
    assert "pending, " in result.stderr


def test_a_file_of_another_kind_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.xel"
    path.write_text("text")
    for options, code in (((), 1), (("--summary", "--json"), 1), (("--strict",), 3)):
        result = run(path, *options)
        assert result.exit_code == code
        assert "byte 0" in result.stderr


def test_a_file_of_another_kind_beside_a_log_is_left_out(file: Path) -> None:
    other = file.parent / "b.xel"
    other.write_text("text")
    assert run(other, file).exit_code == 0


def test_a_missing_file_is_a_wrong_command_line(tmp_path: Path) -> None:
    result = run(tmp_path / "none.xel")
    assert result.exit_code == 2
    assert "does not exist" in result.stderr


def test_a_reader_that_has_enough_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "a.xel"
    write_events(path, [batch(n, "etl") for n in range(5_000)])
    shown = subprocess.Popen(
        [sys.executable, "-m", "dbt_graft", "logs", "xel", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert shown.stdout is not None
    assert shown.stderr is not None
    shown.stdout.readline()
    shown.stdout.close()
    assert (shown.stderr.read(), shown.wait()) == (b"", 0)
    shown.stderr.close()


def test_what_of_a_folder_is_left_out_is_reported(file: Path) -> None:
    (file.parent / "self").symlink_to(".")
    assert run(file.parent, "--strict", "--summary").exit_code == 0
    file.with_name(os.fsdecode(b"\xff\n.xel")).write_bytes(file.read_bytes())
    result = run(file.parent, "--strict", "--summary")
    assert result.exit_code == 3
    assert result.stderr.splitlines() == [
        f"{file.parent}/\\udcff .xel: its name is not UTF-8: it is left out",
        f"{file.parent}/self: the link leads back to a folder above it, and is not followed",
    ]
    assert "events    12 in" in result.stdout
