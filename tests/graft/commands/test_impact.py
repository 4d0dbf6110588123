"""`graft impact`: names, formats, exit codes; and the three changes that other tools get wrong."""

from __future__ import annotations

import json
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt_graft.collectors.sqlserver.event import ExtendedEvent
from dbt_graft.graft.commands.cli import main
from tests.collectors.sqlserver.xel_session import BASE
from tests.collectors.sqlserver.xel_writer import UNIX_EPOCH, write_events
from tests.graft.commands.answers import read_answer
from tests.graft.dated_project import dated_project
from tests.graft.small_project import small_project

# `orders -> orders_x (upper(note), where id > 0) -> mart (group by note)`, and a script behind.
LINEAGE = """\
version: 1
tasks:
  load:
    flows: [{from: [sftp/files], to: [spark/raw.orders]}]
  mart_to_mail:
    owner: Ada
    flows: [{from: [spark/db.mart], to: [sftp/mail]}]
"""
MODELS = {
    "orders_x": ("raw.orders", "select id, upper(note) as note from raw.orders where id > 0"),
    "mart": ("db.orders_x", "select note, count(*) as n from db.orders_x group by note"),
}
COLUMNS = {"raw.orders": "id note", "db.orders_x": "id note", "db.mart": "note n"}


@pytest.fixture
def project(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, with its store."""
    return shutil.copytree(_collected(tmp_path_factory.getbasetemp()), tmp_path, dirs_exist_ok=True)


@cache
def _collected(temporary: Path) -> Path:
    """The project of all tests, which each of them copies."""
    folder = temporary / "collected_project"
    folder.mkdir()
    small_project(folder)
    (folder / "lineage.yml").write_text(LINEAGE)
    manifest = json.loads((folder / "target/manifest.json").read_text())
    catalog = json.loads((folder / "target/catalog.json").read_text())
    manifest["sources"]["source.shop.raw.orders"] = node("source", "raw.orders")
    for name, (parent, sql) in MODELS.items():
        one = node("model", f"db.{name}")
        parents = [key for key, known in everything(manifest) if known["graft_name"] == parent]
        manifest["nodes"][f"model.shop.{name}"] = one | {
            "compiled_code": sql,
            "depends_on": {"nodes": parents, "macros": []},
        }
    manifest["nodes"]["test.shop.not_null_note"] = not_null("model.shop.orders_x", "note")
    manifest["exposures"]["exposure.shop.board"] = board("model.shop.mart")
    for key, one in everything(manifest):
        part = "sources" if key.startswith("source") else "nodes"
        if "graft_name" in one:
            catalog[part][key] = listed(key, one.pop("graft_name"))
    (folder / "target/manifest.json").write_text(json.dumps(manifest))
    (folder / "target/catalog.json").write_text(json.dumps(catalog))
    assert CliRunner().invoke(main, ["collect", "-c", str(folder / "graft.yml")]).exit_code == 0
    return folder


def everything(manifest: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [*manifest["sources"].items(), *manifest["nodes"].items()]


def node(kind: str, name: str) -> dict[str, Any]:
    schema, _, table = name.partition(".")
    unique_id = f"source.shop.{schema}.{table}" if kind == "source" else f"model.shop.{table}"
    return {
        "graft_name": name,
        "resource_type": kind,
        "unique_id": unique_id,
        "name": table,
        "source_name": schema,
        "schema": schema,
        "alias": table,
        "identifier": table,
        "database": None,
        "relation_name": name,
        "package_name": "shop",
        "columns": {},
        "config": {"materialized": "table"},
        "depends_on": {"nodes": [], "macros": []},
    }


def not_null(model: str, column: str) -> dict[str, Any]:
    return {
        "resource_type": "test",
        "unique_id": "test.shop.not_null_note",
        "name": "not_null_note",
        "package_name": "shop",
        "attached_node": model,
        "column_name": column,
        "test_metadata": {"name": "not_null"},
        "depends_on": {"nodes": [model], "macros": []},
        "columns": {},
        "config": {},
    }


def board(model: str) -> dict[str, Any]:
    return {
        "resource_type": "exposure",
        "unique_id": "exposure.shop.board",
        "name": "board",
        "type": "dashboard",
        "package_name": "shop",
        "owner": {"name": "CFO"},
        "meta": {"deadline": "08:00"},
        "depends_on": {"nodes": [model], "macros": []},
    }


def listed(unique_id: str, name: str) -> dict[str, Any]:
    schema, _, table = name.partition(".")
    return {
        "unique_id": unique_id,
        "metadata": {"type": "table", "schema": schema, "name": table},
        "columns": {
            column: {"name": column, "type": "string", "index": at}
            for at, column in enumerate(COLUMNS[name].split(), 1)
        },
        "stats": {},
    }


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["impact", "-c", str(folder / "graft.yml"), *arguments])


def answer(folder: Path, *arguments: str) -> dict[str, Any]:
    """The data of the answer."""
    result = run(folder, *arguments, "--json")
    assert result.exit_code == 0, result.output
    data: dict[str, Any] = read_answer(result.stdout)["data"]
    return data


def effects(document: dict[str, Any]) -> dict[str, Any]:
    return {
        dataset["dataset"]: " ".join(
            [*dataset["effects"], *(f"{k}:{v}" for k, v in dataset["columns"].items())]
        )
        for dataset in document["datasets"]
    }


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        # The column is dropped: its readers break, by name.
        (
            ("raw.orders.note", "remove"),
            {
                "spark/db.orders_x": "LATE note:GONE",
                "spark/db.mart": "LATE note:GONE",
                "sftp/mail": "LATE",
            },
        ),
        # 'x' -> upper('x'): values, and groups of them, are others.
        (
            ("raw.orders.note", "meaning"),
            {
                "spark/db.orders_x": "note:VALUES",
                "spark/db.mart": "ROWS note:VALUES",
                "sftp/mail": "ROWS",
            },
        ),
        # where id > 0 -> id > 10 in orders_x: the rows of everything below are others.
        (("orders_x", "rows"), {"spark/db.mart": "ROWS", "sftp/mail": "ROWS"}),
    ],
)
def test_the_changes_that_other_tools_get_wrong(
    project: Path, change: tuple[str, str], expected: dict[str, str]
) -> None:
    name, kind = change
    assert effects(answer(project, name, "--change", kind)) == expected


def test_tests_tasks_and_consumers_are_named(project: Path) -> None:
    found = answer(project, "raw.orders.note", "--change", "remove")
    assert [(test["name"], test["breaks"]) for test in found["tests"]] == [("not_null", True)]
    assert [(task["task"], task["breaks"]) for task in found["tasks"]] == [
        ("model.shop.mart", True),
        ("model.shop.orders_x", True),
        ("mart_to_mail", False),
    ]
    (consumer,) = found["consumers"]
    # A dashboard with a deadline.
    assert (consumer["consumer"], consumer["severity"]) == ("board", "CRITICAL")


@pytest.mark.parametrize("kind", ["rows", "privacy", "add"])
def test_each_kind_of_change_is_of_the_published_schema(project: Path, kind: str) -> None:
    assert answer(project, "raw.orders.note", "--change", kind)["change"]["kind"] == kind


def test_what_fails_has_its_owner_and_the_way_to_it(project: Path) -> None:
    text = run(project, "orders_x.note", "--change", "remove").stdout
    assert (
        text.replace("model.shop.", "")
        == """\
spark/db.orders_x.note, remove: CRITICAL; move its readers elsewhere first, then remove it
  data of        not known: no write is on record
  columns known  50 % of the path (1 of 2 flows)

datasets (2)
            dataset        effect                            owner  by
  BLOCKING  spark/db.mart  not written, or late; note: gone         mart [IDENTITY]
  BLOCKING  sftp/mail      not written, or late              Ada    mart [IDENTITY] > mart_to_mail

tasks (2)
            task             owner
  BLOCKING  mart
  BLOCKING  mart_to_mail     Ada

consumers (1)
            consumer  kind       due    owner  data of
  CRITICAL  board     dashboard  08:00  CFO    not known: no write is on record

error: CERTAIN_TO_FAIL (2)
  mart: its statements name what is gone  by spark/db.orders_x
  spark/db.orders_x.note: its test not_null names what is gone
  do: take it out of the statement, or read another column

2 errors
"""
    )


def test_markdown_has_the_same(project: Path) -> None:
    markdown = run(project, "raw.orders.note", "--change", "unit", "--format", "markdown").stdout
    assert "| CRITICAL | spark/db.orders\\_x | note: other values |" in markdown


@pytest.mark.parametrize(
    ("setting", "arguments", "code"),
    [
        ("", (), 0),
        ("", ("--fail-on", "warning"), 3),
        ("", ("--fail-on", "tainted"), 0),
        ("impact: {fail_on: blocking}", (), 3),
        ("impact: {fail_on: blocking}", ("--fail-on", "tainted"), 0),
        ("impact: {stale_after: soon}", (), 2),
    ],
)
def test_a_team_decides_what_fails(
    project: Path, setting: str, arguments: tuple[str, ...], code: int
) -> None:
    config = project / "graft.yml"
    config.write_text(f"{config.read_text()}{setting}\n")
    done = run(project, "raw.orders", "--change", "remove", *arguments)
    assert done.exit_code == code, done.output


def test_what_is_less_severe_does_not_fail(project: Path) -> None:
    done = run(project, "orders_x.id", "--change", "widen", "--fail-on", "warning")
    assert done.exit_code == 0


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("raw.ordrs", "did you mean spark/raw.orders"),
        ("raw.orders.gone", "its columns: id, note"),
        ("gone", "there is no such table or column"),
    ],
)
def test_an_unknown_name_is_an_error(project: Path, name: str, problem: str) -> None:
    done = run(project, name, "--change", "rows")
    assert done.exit_code == 1
    assert problem in done.output


@pytest.mark.parametrize(
    ("window", "raw", "clean", "weekly", "monthly"),
    [
        (
            ("--from", "2026-10-03", "--to", "2026-10-05"),
            "3 to 5 Oct 2026",
            "3 to 5 Oct 2026",
            "3 to 11 Oct 2026",
            "1 to 31 Oct 2026",
        ),
        (
            ("--from", "2026-10"),
            "since 1 Oct 2026",
            "1 to 11 Oct 2026",
            "1 to 11 Oct 2026",
            "1 to 31 Oct 2026",
        ),
        (
            ("--to", "2026-09-30"),
            "up to 30 Sep 2026",
            "20 to 30 Sep 2026",
            "20 Sep to 6 Oct 2026",
            "1 to 30 Sep 2026",
        ),
    ],
)
def test_a_window_of_dates_reaches_those_that_are_made_of_it(
    tmp_path: Path, window: tuple[str, ...], raw: str, clean: str, weekly: str, monthly: str
) -> None:
    dated_project(tmp_path)
    config = str(tmp_path / "graft.yml")
    change = ["impact", "raw.orders", "--change", "data_incorrect", "-c", config, *window]
    text = CliRunner().invoke(main, change).stdout
    assert text.startswith(f"spark/raw.orders, data_incorrect of {raw}: TAINTED; ")
    reached = {
        "spark/clean.orders": clean,
        "spark/mart.weekly": weekly,
        "spark/mart.monthly": monthly,
        "spark/mart.snapshot": "all dates",
    }
    for dataset, dates in reached.items():
        (line,) = (one for one in text.splitlines() if f" {dataset} " in one)
        assert f"  {dates}  " in line
    markdown = CliRunner().invoke(main, [*change, "--format", "markdown"]).stdout
    assert f"| {weekly} |" in markdown


def test_data_is_as_old_as_its_oldest_source_with_the_index_and_without(tmp_path: Path) -> None:
    dated_project(tmp_path)
    command = ["impact", "mart.weekly", "--change", "freshness", "-c", str(tmp_path / "graft.yml")]
    for _ in range(2):
        text = CliRunner().invoke(main, command).stdout
        assert re.search(r"  data of +2026-10-12 04:00 UTC, .* ago, by spark/raw.orders\n", text)
    document = read_answer(CliRunner().invoke(main, [*command, "--json"]).stdout)["data"]
    assert document["age"] == {
        "dataset": "spark/mart.weekly",
        "at": "2026-10-12T04:00:00Z",
        "source": "spark/raw.orders",
        "unknown": [],
    }


def test_a_window_in_json_ends_before_its_second_date(tmp_path: Path) -> None:
    dated_project(tmp_path)
    command = ["impact", "raw.orders", "--change", "rows", "--from", "2026-10-05", "--json"]
    window = ["--to", "2026-10-05", "-c", str(tmp_path / "graft.yml")]
    document = read_answer(CliRunner().invoke(main, [*command, *window]).stdout)["data"]
    assert document["change"]["dates"]["ranges"] == [["2026-10-05", "2026-10-06"]]
    reached = {dataset["dataset"]: dataset["dates"] for dataset in document["datasets"]}
    assert reached["spark/mart.weekly"]["ranges"] == [["2026-10-05", "2026-10-12"]]
    assert reached["spark/mart.snapshot"] == {"all": True, "ranges": [[None, None]]}


@pytest.mark.parametrize(
    "window",
    [
        ("--from", "5 October"),
        ("--from", "2026-10-05", "--to", "2026-10-03"),
        ("--from", "2026-10-05", "--as-of", "2026-10-01"),
    ],
)
def test_a_window_that_makes_no_sense_is_an_error(project: Path, window: tuple[str, ...]) -> None:
    result = run(project, "raw.orders", "--change", "rows", *window)
    assert result.exit_code == 2
    assert "--from" in result.stderr


def test_who_finds_rows_of_the_table_by_a_column_fails_without_it(tmp_path: Path) -> None:
    texts = {
        "cancel": "UPDATE dbo.orders SET amount = 0 WHERE status = 'cancelled'",
        "load": "INSERT INTO dbo.orders (id, status) SELECT id, status FROM dbo.raw_orders",
    }
    (tmp_path / "xe").mkdir()
    write_events(
        tmp_path / "xe/a.xel",
        [
            ExtendedEvent(
                "sql_batch_completed",
                BASE - UNIX_EPOCH + session,
                {"batch_text": text},
                {"client_app_name": f"python_task::{task}", "session_id": session}
                | {"database_name": "Shop"},
            )
            for session, (task, text) in enumerate(texts.items(), 51)
        ],
    )
    (tmp_path / "graft.yml").write_text(
        "engine: local\ncollect: [{sqlserver: {server: 'mssql://crm:1433', path: xe}}]"
    )
    command = ["collect", "-c", str(tmp_path / "graft.yml")]
    assert CliRunner().invoke(main, command).exit_code == 0

    result = run(tmp_path, "orders.status", "--change", "remove")

    assert "BLOCKING; move its readers elsewhere first, then remove it" in result.stdout
    assert "cancel: its statements name what is gone" in result.stdout
    assert "load" not in result.stdout


def test_without_logs_dbt_s_own_lineage_answers(project: Path) -> None:
    shutil.rmtree(project / ".graft/store")
    result = run(project, "raw.orders.note", "--change", "remove")
    assert result.exit_code == 0
    assert "nothing was collected yet: this is dbt's lineage alone" in result.stderr
    assert "spark/db.mart      not written, or late; note: gone" in result.stdout


def test_without_logs_and_dbt_there_is_nothing_to_answer(project: Path) -> None:
    shutil.rmtree(project / ".graft/store")
    (project / "target/manifest.json").unlink()
    result = run(project, "raw.orders", "--change", "remove")
    assert result.exit_code == 1
    assert "run `graft collect`" in result.stderr
