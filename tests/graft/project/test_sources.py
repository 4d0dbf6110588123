"""The sources of `graft.yml`: a fault of one is an error once it is read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.project.config import load
from dbt_graft.graft.project.sources import sources, unnamed_rejects
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Records, Reject, Run
from tests.cases import for_each

SERVER = "http://127.0.0.1:9"
EVENT = {
    "eventTime": "2026-11-01T05:00:00Z",
    "eventType": "COMPLETE",
    "run": {"runId": "01944c3e-0000-7000-8000-000000000001"},
    "job": {"namespace": "jobs", "name": "load"},
    "inputs": [{"namespace": "db", "name": "raw"}],
    "outputs": [{"namespace": "db", "name": "mart"}],
    "producer": "https://example.com",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
}


def test_a_history_server_is_asked_with_what_the_variable_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "graft.yml"
    entry = f"spark: {{history_server: '{SERVER}', authorization: env:HISTORY_TOKEN}}"
    path.write_text(f"collect:\n- {entry}\n")
    monkeypatch.delenv("HISTORY_TOKEN", raising=False)
    [source] = sources(load(path))
    for place in ("env:HISTORY_TOKEN", SERVER):
        with pytest.raises(GraftError) as caught:
            source.new_logs({})
        assert caught.value.place == place
        monkeypatch.setenv("HISTORY_TOKEN", "Bearer hunter2")
    assert "hunter2" not in str(caught.value)


@for_each(
    "entry, change, differs",
    [
        ("spark: {path: logs}", "spark: {path: logs, task: '(?P<task>a.+)'}", True),
        ("spark: {path: logs}", "spark: {path: logs, task_from: app_name}", True),
        ("spark: {path: logs}", "spark: {path: logs, namespace: 'hive://m'}", True),
        ("spark: {path: logs}", "spark: {path: logs2}", False),
        ("openlineage: {path: e}", "openlineage: {path: e, task: '(?P<task>a.+)'}", True),
        ("sqlserver: {SQL}", "sqlserver: {SQL, noise: [x]}", True),
        ("sqlserver: {SQL}", "sqlserver: {SQL, idle_minutes: 5}", True),
        ("sqlserver: {SQL}", "sqlserver: {SQL, task: 'x(?P<task>.+)'}", True),
        ("sqlserver: {SQL}", "sqlserver: {path: l, server: 'mssql://b'}", True),
    ],
)
def test_settings_that_decide_on_records_are_part_of_the_position(
    tmp_path: Path, entry: str, change: str, differs: bool
) -> None:
    digests = []
    for text in (entry, change):
        path = tmp_path / "graft.yml"
        path.write_text(f"collect: [{{{text}}}]".replace("SQL", "path: l, server: 'mssql://a'"))
        [source] = sources(load(path))
        digests.append(source.settings)
    assert (digests[0] != digests[1]) is differs


RUN = Run("r", "load", "spark", origin="logs/old/useful")


@for_each(
    "paths, records, expected",
    [
        (["logs/old"], Records(), []),
        (["logs/**/notes*"], Records(), []),
        (["logs/new"], Records(), ["logs/old/notes.txt"]),
        (["logs/new", "logs/*/notes.txt"], Records(), []),
        # What else came of a log is still there, and so is what is missing of it.
        (["logs/new"], Records(runs=(RUN,)), ["logs/old/notes.txt"]),
        (["logs/new"], Records(runs=(replace(RUN, origin="logs/old/notes.txt"),)), []),
    ],
)
def test_a_reject_goes_with_the_last_entry_that_names_its_log(
    tmp_path: Path, paths: list[str], records: Records, expected: list[str]
) -> None:
    path = tmp_path / "graft.yml"
    path.write_text("collect:\n" + "".join(f"- spark: {{path: '{place}'}}\n" for place in paths))
    reject = Reject("logs/old/notes.txt", "", "no log")
    found = unnamed_rejects(load(path), replace(records, rejects=(reject,)))

    assert [unnamed.origin for unnamed in found] == expected


def test_a_corrected_path_takes_its_rejects_with_it_and_says_so(tmp_path: Path) -> None:
    for name, text in (("other/notes.json", "{"), ("logs/events.jsonl", json.dumps(EVENT))):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True)
        path.write_text(f"{text}\n")
    (tmp_path / "graft.yml").write_text("engine: local\ncollect: [{openlineage: {path: data}}]\n")
    command = ["collect", "-c", str(tmp_path / "graft.yml"), "--json"]
    first = CliRunner().invoke(main, command)
    assert json.loads(first.stdout)["data"]["rejected"] == 1
    (tmp_path / "graft.yml").write_text(
        "engine: local\ncollect: [{openlineage: {path: data/logs}}]\n"
    )
    second = json.loads(CliRunner().invoke(main, command).stdout)["data"]

    assert (second["rejected"], second["unnamed"]) == (0, 1)
    doctor = CliRunner().invoke(main, ["doctor", "-c", str(tmp_path / "graft.yml")])
    assert "names no more: left out" in doctor.stdout
