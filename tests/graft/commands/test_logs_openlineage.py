"""`graft logs openlineage`: the difference line by line, and the exit code for CI."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.graft.commands.cli import main
from tests.lineage.test_openlineage import EVENTS

START = {"eventType": "START", "job": {"name": "load"}, "run": {"runId": "1"}}
END = {"eventType": "COMPLETE", "job": {"name": "load"}, "outputs": [{"name": "raw.orders"}]}
Check = Callable[..., tuple[int, str]]


@pytest.fixture
def check(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Check:
    """Run the command with two events and these expectations."""
    events = tmp_path / "events.jsonl"
    events.write_bytes(b"\n".join(map(orjson.dumps, (START, END))))

    def run(expected: Any, *options: str, text: str = str(events)) -> tuple[int, str]:
        templates = tmp_path / "expected.json"
        templates.write_bytes(expected if isinstance(expected, bytes) else orjson.dumps(expected))
        with pytest.raises(SystemExit) as ended:
            main(["logs", "openlineage", text, "--expect", str(templates), *options])
        captured = capfd.readouterr()
        return int(ended.value.code or 0), captured.out + captured.err

    return run


def test_events_as_expected_end_with_0(check: Check) -> None:
    expected = {"load.event.start": {"run": {"runId": "1"}}, "load.event.complete": {}}
    assert check(expected) == (0, "2 of 2 keys as expected\n")


def test_differences_are_shown_line_by_line(check: Check) -> None:
    expected = {
        "load.event.start": {"run": {"runId": "{{ is_uuid(result) }}", "facets": {"x": 1}}},
        "load.event.complete": {"outputs": [{"name": "raw.orders"}]},
        "load.event.fail": {},
    }
    assert check(expected) == (
        1,
        "load.event.start\n"
        '  run.runId: expected "{{ is_uuid(result) }}", found "1"\n'
        '  run.facets: expected {"x":1}, is missing\n'
        "load.event.fail\n"
        "  expected 1 event, found none\n"
        "1 of 3 keys as expected\n",
    )


def test_other_events_are_named_where_one_is_missing(check: Check) -> None:
    code, output = check({"laod.event.start": {}})
    assert code == 1
    assert "other events: load.event.complete, load.event.start" in output


def test_json_has_paths_and_values(check: Check) -> None:
    code, output = check(
        {"load.event.start": {"run": {"runId": "2"}}, "x.event.start": {}}, "--json"
    )
    data = orjson.loads(output)["data"]
    assert (code, data["as_expected"], data["missing"]) == (1, False, ["x.event.start"])
    assert data["keys"][0]["differences"] == [
        {
            "path": "run.runId",
            "problem": 'expected "2", found "1"',
            "expected": "2",
            "found": "1",
        }
    ]


def test_events_come_from_standard_input(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(orjson.dumps([START])))
    monkeypatch.setattr(sys, "stdin", stream)
    assert check({"load.event.start": {}}, text="-")[0] == 0


def test_a_control_character_commands_no_terminal(check: Check) -> None:
    assert "\x1b" not in check({"load.event.\x1b[31m": {}})[1]


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        (b'{"load.event.start": {', "expected.json:1: is not valid JSON"),
        (b"{}", "no event is expected"),
        (b"3", "must be an object"),
        (b"[{}]", "names no job"),
    ],
)
def test_a_damaged_expectation_is_an_error(check: Check, expected: bytes, message: str) -> None:
    code, output = check(expected)
    assert code == 1
    assert message in output


def test_what_is_no_event_is_named_by_its_number(check: Check, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('[{"job": {"name": "x"}}, {"a": 1}]')
    code, output = check({"x.event.job": {}}, text=str(other))
    assert code == 1
    assert "event 2 is not an OpenLineage event" in output


def test_a_key_in_two_files_is_an_error(check: Check, tmp_path: Path) -> None:
    (tmp_path / "more.yml").write_text("load.event.start: {}\n")
    code, output = check({"load.event.start": {}}, "--expect", str(tmp_path / "more.yml"))
    assert code == 1
    assert "in another file too" in output


@pytest.mark.skipif(not EVENTS.is_dir(), reason="no events of Airflow: set OPENLINEAGE_EVENTS")
def test_events_of_airflow_are_checked_by_templates_like_its_own(check: Check) -> None:
    url = "^https://github.com/apache/airflow/tree/providers-openlineage/[\\d.]+$"
    dag_run = {"job": {"name": "shop_lineage"}, "run": {"runId": "{{ is_uuid(result) }}"}}
    event = {
        "eventTime": "{{ is_datetime(result) }}",
        "producer": f"{{{{ regex_match(result, {url!r}) }}}}",
        "job": {"name": "shop_lineage.raw.clean_orders", "facets": {"sql": None}},
        "run": {
            "runId": "{{ is_uuid(result) }}",
            "facets": {
                "parent": dag_run,
                "airflow": {"taskInstance": {"try_number": "{{ result is number }}"}},
                "dagster": {"$optional": "another orchestrator"},
            },
        },
        "outputs": [{"namespace": "mssql://crm:1433", "name": "Shop.dbo.OrdersClean"}],
    }
    expected = [{**event, "eventType": kind} for kind in ("START", "COMPLETE")]
    found = str(EVENTS / "airflow-3.3-task-policy.jsonl")
    assert check(expected, text=found) == (0, "2 of 2 keys as expected\n")
    wrong = {**event, "eventType": "START", "outputs": [{"name": "Shop.dbo.Other"}]}
    code, output = check([wrong], text=found)
    assert (code, "outputs[0].name" in output) == (1, True)
