"""`graft review`: the three changes that other tools get wrong, bases, formats and exit codes."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt_graft.graft.commands.cli import main
from tests.graft.commands.answers import read_answer
from tests.graft.commands.test_impact import LINEAGE, board, node, not_null
from tests.graft.small_project import small_project
from tests.injector.index.index_of_dbt import write_index

ORDERS = "select id, 'x' as note from raw.files"
ORDERS_X = "select id, upper(note) as note from db.orders where id > 0"
MART = "select note, count(*) as n from db.orders_x group by note"
COLUMNS = {"orders": "id note", "orders_x": "id note", "mart": "note n"}
PARENTS = {"orders": [], "orders_x": ["orders"], "mart": ["orders_x"]}


def write(folder: Path, **sql: str) -> None:
    """Write the project's artifacts; `orders=…` is another SQL of a model."""
    folder.mkdir(exist_ok=True)
    manifest = json.loads((folder / "manifest.json").read_text())
    catalog = json.loads((folder / "catalog.json").read_text())
    queries = {"orders": ORDERS, "orders_x": ORDERS_X, "mart": MART} | sql
    for name, query in queries.items():
        key = f"model.shop.{name}"
        one = node("model", f"db.{name}")
        del one["graft_name"]
        parents = [f"model.shop.{parent}" for parent in PARENTS[name]]
        manifest["nodes"][key] = one | {
            "compiled_code": query,
            "raw_code": query,
            "original_file_path": f"models/{name}.sql",
            "depends_on": {"nodes": parents, "macros": []},
        }
        columns = {
            column: {"name": column, "type": "string", "index": at}
            for at, column in enumerate(COLUMNS[name].split())
        }
        meta = {"type": "table", "schema": "db", "name": name}
        catalog["nodes"][key] = {
            "unique_id": key,
            "metadata": meta,
            "columns": columns,
            "stats": {},
        }
    manifest["nodes"]["test.shop.not_null_note"] = not_null("model.shop.orders", "note")
    manifest["exposures"]["exposure.shop.board"] = board("model.shop.mart")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "catalog.json").write_text(json.dumps(catalog))


def review_project(folder: Path) -> Path:
    """Write the project, with its store, and the base's artifacts."""
    small_project(folder)
    (folder / "lineage.yml").write_text(LINEAGE)
    write(folder / "target")
    shutil.copytree(folder / "target", folder / "base")
    assert CliRunner().invoke(main, ["collect", "-c", str(folder / "graft.yml")]).exit_code == 0
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return review_project(tmp_path)


def run(folder: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["review", "-c", str(folder / "graft.yml"), *arguments])


def against_base(folder: Path, *arguments: str) -> Result:
    return run(folder, "--base", str(folder / "base"), *arguments)


def answer(folder: Path) -> dict[str, Any]:
    result = against_base(folder, "--json")
    assert result.exit_code == 0, result.output
    data: dict[str, Any] = read_answer(result.stdout)["data"]
    return data


DROPPED = "select id, 7 as extra from raw.files"


@pytest.mark.parametrize(
    ("changed", "verdicts", "downstream"),
    [
        # Removed and added: no rename by place.
        (
            {"orders": DROPPED},
            {"orders": ["BREAKING note removed", "ADDITIVE extra added"]},
            {"spark/db.orders_x", "spark/db.mart", "sftp/mail"},
        ),
        (
            {"orders": "select id, upper('x') as note from raw.files"},
            {"orders": ["VALUES note another expression"]},
            {"spark/db.orders_x", "spark/db.mart", "sftp/mail"},
        ),
        (
            {"orders_x": ORDERS_X.replace("0", "10")},
            {"orders_x": ["ROWS None other filters"]},
            {"spark/db.mart", "sftp/mail"},
        ),
        (
            {"orders": ORDERS.replace(" ", "\n")},
            {"orders": ["METADATA None its SQL is written otherwise, with the same result"]},
            set(),
        ),
        ({}, {}, set()),
    ],
)
def test_the_changes_that_other_tools_get_wrong(
    project: Path, changed: dict[str, str], verdicts: dict[str, list[str]], downstream: set[str]
) -> None:
    write(project / "target", **changed)
    found = answer(project)
    assert {
        one["node_id"].rpartition(".")[2]: [
            f"{c['verdict']} {c['column']} {c['text']}" for c in one["changes"]
        ]
        for one in found["nodes"]
    } == verdicts
    affected = {
        dataset["dataset"]
        for dataset in found["impact"]["datasets"]
        if dataset["severity"] != "INFO"
    }
    assert affected == downstream


def test_certain_breaks_and_consumers_are_named(project: Path) -> None:
    write(project / "target", orders=DROPPED)
    found = answer(project)
    assert found["nodes"][0]["breaks"] == ["test.shop.not_null_note"]
    assert [task["task"] for task in found["impact"]["tasks"] if task["breaks"]] == [
        "model.shop.orders_x"
    ]
    assert [consumer["consumer"] for consumer in found["impact"]["consumers"]] == ["board"]


@pytest.mark.parametrize("sql", [ORDERS, "no SQL ("])
def test_the_data_is_of_the_published_schema(project: Path, sql: str) -> None:
    write(project / "target", orders=sql)
    assert len(answer(project)["nodes"]) == (sql != ORDERS)


def test_changes_and_what_fails_are_findings(project: Path) -> None:
    write(project / "target", orders=DROPPED)
    assert (
        against_base(project).stdout.replace(str(project), "…")
        == """\
changes against …/base: 1 breaking
  columns known  66 % of the path (2 of 3 flows)
  note: the base's manifest has no time: tasks' statements are not compared; name one with --since

datasets downstream (3)
            dataset            owner  because of
  BLOCKING  sftp/mail          Ada    model.shop.orders
  BLOCKING  spark/db.mart             model.shop.orders
  BLOCKING  spark/db.orders_x         model.shop.orders

tasks (3)
            task                 owner
  BLOCKING  model.shop.orders_x
  BLOCKING  mart_to_mail         Ada
  BLOCKING  model.shop.mart

consumers (1)
            consumer  kind       due    owner
  CRITICAL  board     dashboard  08:00  CFO

error: BREAKING (1)
  models/orders.sql:1: model.shop.orders: note: removed; extra: added
  do: move its readers elsewhere first, then remove it

error: CERTAIN_TO_FAIL (2)
  model.shop.orders_x: its statements name what is gone
  spark/db.orders.note: its test not_null names what is gone
  do: take it out of the statement, or read another column

3 errors
"""
    )


def test_a_change_has_its_line(project: Path) -> None:
    write(project / "target", orders="select id,\n  upper('x') as note from raw.files")
    markdown = against_base(project, "--format", "markdown").stdout
    assert markdown.startswith("<!-- dbt-graft review -->\n### changes against ")
    assert "| models/orders.sql:2 | model.shop.orders | note: another expression |" in markdown
    assert against_base(project, "--format", "github").stdout.startswith(
        "::warning file=models/orders.sql,line=2,title=VALUES model.shop.orders::"
        "note: another expression%0A"
    )


def test_sarif_suppresses_what_the_sql_allows(project: Path) -> None:
    write(project / "target", orders=f"{ALLOW}{ORDERS} where id > 1")
    sarif = json.loads(against_base(project, "--format", "sarif").stdout)
    (result,) = sarif["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("ROWS", "note")
    assert result["suppressions"] == [{"kind": "inSource", "justification": "agreed"}]


def test_no_literal_of_the_sql_is_shown(project: Path) -> None:
    write(project / "target", orders="select id, 'secret-1' as note from raw.files where a = 'b-2'")
    for form in ("text", "json", "markdown", "github", "sarif"):
        shown = against_base(project, "--format", form).stdout
        assert "secret-1" not in shown
        assert "b-2" not in shown


ALLOW = '-- graft: allow-change reason="agreed"\n'


@pytest.mark.parametrize(
    ("sql", "setting", "arguments", "code"),
    [
        (DROPPED, "", (), 0),
        (DROPPED, "", ("--fail-on", "breaking"), 3),
        (DROPPED, "review: {fail_on: breaking}", (), 3),
        (ALLOW + DROPPED, "review: {fail_on: breaking}", (), 0),
        (ORDERS + " where id > 1", "review: {fail_on: breaking}", (), 0),
        (ORDERS + " where id > 1", "", ("--fail-on", "rows"), 3),
        ("no SQL (", "", ("--fail-on", "rows"), 3),
        (ORDERS, "", ("--fail-on", "metadata"), 0),
        (ORDERS, "review: {fail_on: always}", (), 2),
    ],
)
def test_a_team_decides_what_fails(
    project: Path, sql: str, setting: str, arguments: tuple[str, ...], code: int
) -> None:
    config = project / "graft.yml"
    config.write_text(f"{config.read_text()}{setting}\n")
    write(project / "target", orders=sql)
    done = against_base(project, *arguments)
    assert done.exit_code == code, done.output


def test_without_a_store_the_impact_is_that_on_dbt_s_models(project: Path) -> None:
    shutil.rmtree(project / ".graft")
    write(project / "target", orders=DROPPED)
    done = against_base(project)
    assert done.exit_code == 0
    assert "nothing was collected yet: no task is compared" in done.stdout
    assert "model.shop.orders_x: its statements name what is gone" in done.stdout
    assert "model.shop.orders: note: removed" in done.stdout


def test_a_missing_catalog_is_told_and_costs_no_false_change(project: Path) -> None:
    (project / "target/catalog.json").unlink()
    done = against_base(project)
    assert done.stdout.splitlines()[0].endswith(": no change seen")
    assert "the project has no catalog.json" in done.stdout


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode()


@pytest.fixture
def history(project: Path) -> Path:
    """The project with three commits of its target folder."""
    git(project, "init", "-q")
    for sql in (ORDERS, ORDERS + " where id > 1", DROPPED):
        write(project / "target", orders=sql)
        git(project, "add", "-f", "target", "graft.yml", "lineage.yml")
        git(project, "commit", "-qm", "change")
    return project


def test_a_revision_is_a_base(history: Path) -> None:
    done = run(history, "--base", "HEAD~2")
    assert done.exit_code == 0, done.output
    assert "model.shop.orders: note: removed" in done.stdout
    first, *_ = run(history, "--base", "HEAD").stdout.splitlines()
    assert first == "changes against HEAD: no change seen"


@pytest.mark.parametrize("base", ["{folder}/base", "HEAD"])
def test_both_sides_may_be_of_dbt_2(project: Path, base: str) -> None:
    target = project / "target"
    manifest, catalog = (
        json.loads((target / f"{name}.json").read_text()) for name in ("manifest", "catalog")
    )
    (target / "catalog.json").unlink()
    shutil.rmtree(project / "base")
    git(project, "init", "-q")
    for kind in ("bigint", "int"):
        catalog["nodes"]["model.shop.orders"]["columns"]["id"]["type"] = kind
        write_index(target, manifest, catalog)
        if kind == "bigint":
            shutil.copytree(target, project / "base")
            git(project, "add", "-f", "graft.yml", "lineage.yml", "target")
            git(project, "commit", "-qm", "base")
    done = run(project, "--base", base.format(folder=project))
    assert "model.shop.orders: id: " in done.stdout, done.output
    assert "catalog.json" not in done.stdout


def test_replay_shows_what_the_policy_would_have_said(history: Path) -> None:
    done = run(history, "replay", "-c", str(history / "graft.yml"), "--fail-on", "breaking")
    assert done.exit_code == 0, done.output
    title, _, _, _, first, second = done.stdout.splitlines()
    assert title == "changes of target: 2 changes compared, 1 would fail (--fail-on breaking)"
    assert first.endswith("  1 of rows")
    assert second.endswith("  1 breaking  fails")


def test_replay_as_json_is_of_the_published_schema(history: Path) -> None:
    done = run(history, "replay", "-c", str(history / "graft.yml"), "--json")
    data = read_answer(done.stdout)["data"]
    assert [commit["verdict"] for commit in data["commits"]] == ["ROWS", "BREAKING"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--base", "gone"), "is neither a folder nor a revision of git"),
        (("--base", "--upload-pack"), "is neither a folder nor a revision of git"),
        (("--base", "logs"), "there is no manifest.json"),
        ((), "--base is missing"),
    ],
)
def test_a_wrong_base_is_an_error(
    history: Path, arguments: tuple[str, ...], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(history)
    (history / "logs").mkdir()
    done = run(history, *arguments)
    assert done.exit_code in (1, 2)
    assert problem in done.output


def test_a_revision_without_artifacts_says_what_to_do(history: Path) -> None:
    git(history, "rm", "-q", "--cached", "-r", "target")
    git(history, "commit", "-qm", "no artifacts")
    done = run(history, "--base", "HEAD")
    assert done.exit_code == 1
    assert "git worktree add ../base HEAD" in done.output


def test_a_consumer_that_names_a_column_that_goes_is_certain_to_break(project: Path) -> None:
    for folder in ("target", "base"):
        path = project / folder / "manifest.json"
        manifest = json.loads(path.read_text())
        board = manifest["exposures"]["exposure.shop.board"]
        board["depends_on"]["nodes"] = ["model.shop.orders"]
        board["meta"]["columns"] = ["orders.note"]
        node = manifest["nodes"]["model.shop.orders"]
        node["compiled_code"] = DROPPED if folder == "target" else node["compiled_code"]
        path.write_text(json.dumps(manifest))
    assert "board (CFO): the dashboard names a column that is gone" in against_base(project).stdout
    [board] = answer(project)["impact"]["consumers"]
    assert board["breaks"] is True
