"""A task with a statement that is not understood: each answer says that it may not be all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from dbt_graft.graft.commands.cli import main
from tests.cases import for_each
from tests.graft.small_project import small_project

# Task -> the batches that it sends.
SENT = {
    "load_orders": ["EXEC dbo.load @pwd = 'Tr0ub4dor&3'", "INSERT dbo.a (x) SELECT x FROM dbo.raw"],
    "mart": ["INSERT dbo.mart (x) SELECT x FROM dbo.a"],
    "quiet": ["EXEC (@text)"],
}
LINEAGE = """\
version: 1
tasks:
  load_orders:
    flows: [{from: ["mssql://sql01:1433/Shop.dbo.more"], to: ["mssql://sql01:1433/Shop.dbo.a"]}]
"""
WHY = "what the procedure dbo.load does is not known (EXEC dbo.load @pwd = ?)"
MORE = "may read or write more than is known"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("open_tasks")
    small_project(folder)
    (folder / "lineage.yml").write_text(LINEAGE)
    (folder / "graft.yml").write_text(
        "engine: local\ncollect:\n- declared: {path: lineage.yml}\n"
        "- sqlserver: {path: events.ndjson, server: 'mssql://sql01:1433'}\n"
        "airflow: {commands: [{command: run}]}\n"
    )
    # Three runs, after which what is declared and not seen would be a phantom.
    events = [
        {
            "name": "sql_batch_completed",
            "timestamp": f"2026-11-0{day}T04:0{number}:00Z",
            "data": {"batch_text": text, "result": "OK", "duration": 1000, "row_count": 3},
            "actions": {
                "session_id": 51 + session,
                "client_app_name": f"python_task::{task}::{task}-{day}",
                "database_name": "Shop",
            },
        }
        for day in (1, 2, 3)
        for session, (task, texts) in enumerate(SENT.items())
        for number, text in enumerate(texts)
    ]
    (folder / "events.ndjson").write_text("\n".join(map(json.dumps, events)))
    done = CliRunner().invoke(main, ["collect", "-q", "-c", str(folder / "graft.yml")])
    assert done.exit_code == 0, done.output
    return folder


@for_each(
    "arguments, expected",
    [
        ("show load_orders", f"note: it {MORE}: {WHY}"),
        ("show load_orders --why", "partial  EXEC dbo.load @pwd = ?"),
        ("check --only rules", f"load_orders: {MORE}: {WHY}"),
        ("check --only drift", "mssql://sql01:1433/Shop.dbo.more  declared; 3 runs known"),
        (
            "impact dbo.mart --change remove",
            f"note: this may not be all: load_orders, quiet {MORE}",
        ),
        ("impact dbo.raw --change rows", f"note: this may not be all: load_orders, quiet {MORE}"),
        (
            "incident open --task mart --dry-run",
            f"note: this may not be all: load_orders, quiet {MORE}",
        ),
        ("incident show quiet-1", f"note: this may not be all: quiet {MORE}"),
        ("export dag-factory --out dags", f"this may not be all: load_orders, quiet {MORE}"),
    ],
)
def test_an_answer_names_the_task(project: Path, arguments: str, expected: str) -> None:
    words = [str(project / word) if word == "dags" else word for word in arguments.split()]
    done = CliRunner().invoke(main, [*words, "-c", str(project / "graft.yml")])
    assert expected in done.output
    assert "Tr0ub4dor" not in done.output


def test_others_are_complete(project: Path) -> None:
    done = CliRunner().invoke(main, ["show", "mart", "-c", str(project / "graft.yml")])
    assert MORE not in done.output


def test_its_page_says_so(project: Path) -> None:
    done = CliRunner().invoke(main, ["build", "-q", "-c", str(project / "graft.yml")])
    assert done.exit_code == 0, done.output
    pages = {path.parent.name: path.read_text() for path in project.rglob("tasks/*/index.html")}
    assert f"It {MORE}." in pages["load_orders"]
    assert "EXEC dbo.load" in pages["load_orders"]
    assert f"It {MORE}." not in pages["mart"]
    assert "Tr0ub4dor" not in "".join(pages.values())
