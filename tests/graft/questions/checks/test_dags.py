"""The check of DAGs: exported ones, hand-written ones by their events, damaged files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt_graft.exporters.dag_factory.settings import DagSettings
from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.questions.checks.dags import read_dags
from tests.graft.commands.answers import read_answer
from tests.graft.commands.test_export_dag_factory import AIRFLOW, LINEAGE, configure, run, shop

__all__ = ["shop"]


def check(*arguments: str) -> Result:
    command = ["check", "--only", "dags", "--fail-on", "warning"]
    return CliRunner().invoke(main, [*command, *arguments])


def findings(*arguments: str) -> list[tuple[str, ...]]:
    """Code, place, subject and problem of each finding."""
    answer = read_answer(check("--json", *arguments).stdout)
    keys = ("code", "place", "subject", "problem")
    return [tuple(finding[key] for key in keys) for finding in answer["findings"]]


def test_what_was_exported_passes_until_lineage_changes(shop: Path) -> None:
    run()
    done = check()
    assert (done.exit_code, findings()) == (0, [])
    assert done.output.startswith("the order of DAGs: 1 DAG with 3 tasks\n")
    (shop / "lineage.yml").write_text(
        LINEAGE.replace(
            "{from: [spark/raw.clean], to: [spark/report]}", "{from: [x/y], to: [sftp/files]}"
        )
    )
    CliRunner().invoke(main, ["collect", "--quiet"])
    assert check().exit_code == 3
    assert findings() == [
        (
            *("DAG_BEFORE_WRITER", "dags/shop_dag.yml:11", "shop.load"),
            "runs before report, its writer",
        ),
        (
            *("DAG_NEEDLESS_WAIT", "dags/shop_dag.yml:28", "shop.report"),
            "waits for clean, of which it reads nothing",
        ),
    ]


def test_graft_yml_may_name_them(shop: Path) -> None:
    run("--out", "plans")
    configure(shop, f"{AIRFLOW}check: {{dags: [plans]}}\n")
    assert (check().exit_code, findings()) == (0, [])


def event(task: str, upstream: str) -> dict[str, Any]:
    own = {"task_id": task, "upstream_task_ids": upstream}
    facet = {"dag": {"dag_id": "hand_written", "fileloc": "/dags/shop.py"}, "task": own}
    return {"eventTime": "2026-11-01T05:00:00Z", "run": {"facets": {"airflow": facet}}}


@pytest.mark.parametrize("name", ["events.ndjson", "events.json", "events.ndjson.gz"])
def test_hand_written_dags_are_checked_by_their_events(shop: Path, name: str) -> None:
    events = [event("clean", "[]"), event("load", "['clean']"), event("report", "['load']")]
    lines = "\n".join(map(json.dumps, events))
    text = json.dumps(events, indent=1) if name == "events.json" else lines
    content = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
    (shop / name).write_bytes(content)
    answer = read_answer(check("--dags", name, "--json").stdout)
    assert answer["data"]["dags"] == {"dags": {"hand_written": 3}}
    finding = answer["findings"][0]
    assert (finding["code"], finding["place"]) == ("DAG_BEFORE_WRITER", "/dags/shop.py")
    assert finding["path"] == ["hand_written.load", "spark/raw.orders", "hand_written.clean"]


def test_damaged_files_are_reported_and_the_others_checked(shop: Path) -> None:
    run()
    (shop / "dags/broken.yml").write_text("a: [")
    (shop / "dags/latin.yml").write_bytes(b"a: \xff")
    (shop / "dags/other.yml").write_text("models: []\n")
    (shop / "dags/events.ndjson").write_text('{"run": {}}\nhalf a li')
    (shop / "dags/cut.json.gz").write_bytes(gzip.compress(b'{"a": 1}\n' * 99)[:-9])
    assert check().exit_code == 0
    assert findings() == [
        ("DAG_NOT_READ", "dags/broken.yml:2", "broken.yml", "is not valid YAML"),
        ("DAG_NOT_READ", "dags/latin.yml", "latin.yml", "is not UTF-8"),
        ("DAG_NOT_READ", "dags/cut.json.gz", "cut.json.gz", "is damaged"),
        (
            *("DAG_NOT_READ", "dags/events.ndjson", "events.ndjson"),
            "1 line cannot be read as JSON",
        ),
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ((), 1, "no DAGs are named"),
        (("--dags", "no"), 2, "does not exist"),
        (("--dags", "graft.yml"), 1, "there are no DAGs to check"),
        (("--dags", "lineage.txt"), 1, "is neither YAML nor events"),
    ],
)
def test_wrong_use_is_an_error(
    shop: Path, arguments: tuple[str, ...], code: int, text: str
) -> None:
    (shop / "lineage.txt").write_text("")
    done = check(*arguments)
    assert (done.exit_code, text in done.output) == (code, True), done.output


def test_the_nearest_defaults_of_dag_factory_count(tmp_path: Path) -> None:
    files = {
        "defaults.yml": "schedule: '@weekly'",
        "team/defaults.yaml": "schedule: '@hourly'",
        "team/shop.yml": "shop: {tasks: {a: {}}}",
        "team/own.yml": "own: {schedule: '@daily', tasks: {a: {}}}",
        "other/sales.yml": "sales: {tasks: {a: {}}}",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    schedules = {dag.dag_id: dag.schedule for dag in read_dags([tmp_path], DagSettings("x")).dags}
    assert schedules == {"shop": "@hourly", "own": "@daily", "sales": "@weekly"}
    (named,) = read_dags([tmp_path / "team/shop.yml"], DagSettings("x")).dags
    assert named.schedule == "@hourly"
