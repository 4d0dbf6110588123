"""`graft review` of tasks and contracts: by runs since the base, and by files of the base."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Column, Dataset, Records, Status
from tests.analysis.review.task_history import Did, Ran, records, table
from tests.graft.commands.answers import read_answer
from tests.graft.commands.test_review import git, review_project, run

# `orders` is a model of the project; the script reads its note.
SCORE = Did("ml.scores", "db.orders", columns={"note": "db.orders.note", "id": "db.orders.id"})
MOVED = replace(SCORE, columns={"note": "db.orders.id", "id": "db.orders.id"})
COLUMN_ORDERS = ("note, id", "id, note")
CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: mart
version: 1.0.0
schema:
  - name: mart
    physicalName: db.mart
    properties:
      - {name: note, logicalType: string, required: true}
      - {name: n, logicalType: integer}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return review_project(tmp_path)


def at(document: Any, node_id: str) -> list[str]:
    return [
        f"{change['verdict']} {change['column'] or ''} {change['text']}".replace("  ", " ")
        for node in document["nodes"]
        if node["node_id"] == node_id
        for change in node["changes"]
    ]


def reviewed(folder: Path, *arguments: str) -> Any:
    done = run(folder, "--json", *arguments)
    assert done.exit_code == 0, done.output
    answer = read_answer(done.stdout)
    return {**answer["data"], "notes": answer["notes"]}


def with_runs(folder: Path, *runs: Ran) -> None:
    """Add runs to the store, and say in the base's manifest that it was built between them."""
    with_records(folder, records(*runs))


def with_records(folder: Path, found: Records) -> None:
    commit(str(folder / ".graft/store"), [tables(found, {one.run_id: "1" for one in found.runs})])
    manifest = json.loads((folder / "base/manifest.json").read_text())
    manifest["metadata"]["generated_at"] = "2026-10-01T00:00:00Z"
    (folder / "base/manifest.json").write_text(json.dumps(manifest))


def ran(day: int, *statements: Did, status: Status = Status.OK) -> Ran:
    return Ran(day, statements, status, "score")


def test_a_task_that_ran_since_the_base_is_compared(project: Path) -> None:
    with_runs(project, ran(-1, SCORE), ran(1, MOVED))
    found = reviewed(project, "--base", str(project / "base"))
    text = "comes from spark/db.orders.id now; no longer comes from spark/db.orders.note"
    assert at(found, "score") == [f"VALUES note {text}"]
    (node,) = [one for one in found["nodes"] if one["node_id"] == "score"]
    assert (node["kind"], node["changes"][0]["datasets"]) == ("task", ["spark/ml.scores"])
    github = run(project, "--base", str(project / "base"), "--format", "github").stdout
    assert f"title=VALUES score::spark/ml.scores.note: {text}" in github


@pytest.mark.parametrize(
    ("how", "change"),
    [
        (Operation.INSERT_OVERWRITE, "BREAKING note removed"),
        (Operation.INSERT, "VALUES note no longer comes from spark/db.orders.note"),
    ],
)
def test_a_column_is_removed_where_the_table_is_overwritten_without_it(
    project: Path, how: Operation, change: str
) -> None:
    old, new = replace(SCORE, how=how), replace(SCORE, how=how, columns={"id": "db.orders.id"})
    runs = records(ran(-1, old), ran(1, new))
    logs = zip(runs.runs, (("note", "id"), ("id",)), strict=True)
    made = tuple(
        Dataset(
            table("ml.scores"),
            columns=tuple(map(Column, names)),
            last_seen=run.ended_at,
            origin=run.origin,
            has_all_columns=how.defines,
        )
        for run, names in logs
    )
    with_records(project, replace(runs, datasets=made))
    assert at(reviewed(project, "--base", str(project / "base")), "score") == [change]


@pytest.mark.parametrize(
    ("new", "changes"),
    [
        ("where id > ?", []),
        ("where (orders.id > ?)", []),
        ("where id < ?", ["ROWS other filters of spark/ml.scores"]),
        ("limit ?", ["ROWS other filters of spark/ml.scores"]),
    ],
)
def test_statements_are_compared_as_trees(project: Path, new: str, changes: list[str]) -> None:
    text = "insert into ml.scores select note, id from db.orders {}"
    old = replace(SCORE, text=text.format("where id > ?"))
    with_runs(project, ran(-1, old), ran(1, replace(SCORE, text=text.format(new))))
    assert at(reviewed(project, "--base", str(project / "base")), "score") == changes


@pytest.mark.parametrize(
    ("into", "changes"),
    [
        (
            "ml.scores",
            ["VALUES inserts columns into spark/ml.scores in another order, without naming them"],
        ),
        (
            "ml.scores (note, id)",
            ["VALUES id another expression", "VALUES note another expression"],
        ),
        ("ml.scores by name", []),
    ],
)
def test_an_insert_without_names_goes_by_the_places_of_columns(
    project: Path, into: str, changes: list[str]
) -> None:
    old, new = (f"insert into {into} select {names} from db.orders" for names in COLUMN_ORDERS)
    with_runs(project, ran(-1, replace(SCORE, text=old)), ran(1, replace(SCORE, text=new)))
    assert at(reviewed(project, "--base", str(project / "base")), "score") == changes


@pytest.mark.parametrize(
    ("arguments", "changes"),
    [((), 1), (("--since", "2026-10-03"), 0), (("--since", "2026-09-29"), 1)],
)
def test_a_time_can_be_named(
    project: Path,
    arguments: tuple[str, ...],
    changes: int,
) -> None:
    with_runs(project, ran(-1, SCORE), ran(1, MOVED))
    found = reviewed(project, "--base", str(project / "base"), *arguments)
    assert len([node for node in found["nodes"] if node["node_id"] == "score"]) == changes
    notices = [note for note in found["notes"] if "no task has run since" in note]
    assert len(notices) == 1 - changes


def test_a_base_without_a_time_is_a_notice(project: Path) -> None:
    with_runs(project, ran(-1, SCORE))
    path = project / "base/manifest.json"
    path.write_text(path.read_text().replace("2026-10-01T00:00:00Z", "some day"))
    found = reviewed(project, "--base", str(project / "base"))
    assert any("the base's manifest has no time" in note for note in found["notes"])


def test_the_store_of_the_base_build_is_a_base(project: Path) -> None:
    with_runs(project, ran(-1, SCORE))
    shutil.copytree(project / ".graft/store", project / "old-store")
    with_runs(project, ran(-1, SCORE), ran(1, MOVED))
    arguments = ("--base", str(project / "base"), "--base-store")
    assert at(reviewed(project, *arguments, str(project / "old-store")), "score")
    done = run(project, *arguments, str(project / "gone"))
    assert (done.exit_code, "there is no lineage store" in done.output) == (1, True)


@pytest.mark.parametrize(
    ("since", "breaks"),
    [
        ([], {"score"}),
        # It moved off the column; a failed run says nothing of that.
        ([ran(1, MOVED)], set()),
        ([ran(1, MOVED, status=Status.FAILED)], {"score"}),
        ([ran(1, SCORE)], {"score"}),
    ],
)
def test_a_task_that_names_what_goes_is_certain_to_fail(
    project: Path,
    since: list[Ran],
    breaks: set[str],
) -> None:
    with_runs(project, ran(-1, SCORE), *since)
    manifest = project / "target/manifest.json"
    manifest.write_text(manifest.read_text().replace("'x' as note", "7 as extra"))
    found = reviewed(project, "--base", str(project / "base"))
    assert at(found, "model.shop.orders") == ["BREAKING note removed", "ADDITIVE extra added"]
    tasks = {task["task"] for task in found["impact"]["tasks"] if task["breaks"]}
    assert tasks - {"model.shop.orders_x"} == breaks


@pytest.mark.parametrize("is_here", [True, False])
def test_a_script_of_a_task_is_named(project: Path, is_here: bool) -> None:
    config = project / "graft.yml"
    info = "{path: jobs/score.py, repo: https://git.example.com/jobs}"
    config.write_text(f"{config.read_text()}tasks: {{score: {info}}}\n")
    if is_here:
        (project / "jobs").mkdir()
        code = 'import spark\n# graft: allow-change reason="agreed"\nspark.save("ml.scores")\n'
        (project / "jobs/score.py").write_text(code)
    with_runs(project, ran(-1, SCORE), ran(1, replace(SCORE, how=Operation.CREATE_TABLE_AS)))
    found = reviewed(project, "--base", str(project / "base"))
    (node,) = found["nodes"]
    assert (node["file"], node["repo"]) == ("jobs/score.py", "https://git.example.com/jobs")
    assert node["changes"][0]["line"] == (3 if is_here else 1)
    assert node["allowed"] == ("agreed" if is_here else None)


DECLARED = """\
version: 1
tasks:
  load:
    flows: [{from: [sftp/files], to: [spark/raw.orders]}]
  mart_to_mail:
    owner: Ada
    flows:
      - from: [spark/db.orders]
        to: [sftp/other]
"""
MAIL = [
    "BREAKING no longer writes sftp/mail, nor does anybody else",
    "ADDITIVE writes sftp/other, which is new",
]


def as_directory(folder: Path) -> str:
    base = folder / "base-tree"
    shutil.copytree(folder, base, ignore=shutil.ignore_patterns("base-tree"))
    return str(base / "target")


def as_revision(folder: Path) -> str:
    git(folder, "init", "-q")
    git(folder, "add", "-f", ".")
    git(folder, "commit", "-qm", "base")
    return "HEAD"


def as_artifacts(folder: Path) -> str:
    """The base's artifacts alone: what the store has declared stands for its files."""
    return str(folder / "base")


@pytest.mark.parametrize("base", [as_directory, as_revision, as_artifacts])
def test_declared_lineage_is_compared_with_that_of_the_base(
    project: Path,
    base: Any,
) -> None:
    name = base(project)
    assert reviewed(project, "--base", name)["nodes"] == []
    (project / "lineage.yml").write_text(DECLARED)
    found = reviewed(project, "--base", name)
    assert at(found, "mart_to_mail") == MAIL
    (node,) = found["nodes"]
    assert (node["file"], [change["line"] for change in node["changes"]]) == ("lineage.yml", [5, 9])
    (project / "lineage.yml").unlink()
    gone = at(reviewed(project, "--base", name), "load")
    assert gone == [
        "BREAKING no longer writes spark/raw.orders, nor does anybody else",
        "METADATA no longer declared",
    ]


def test_what_runs_show_is_there_whatever_is_declared(project: Path) -> None:
    with_runs(project, Ran(-1, [Did("mail", "db.mart")], task="mart_to_mail"))
    lineage = project / "lineage.yml"
    lineage.write_text(lineage.read_text().replace("[sftp/mail]", "[sftp/mail, spark/mail]"))
    found = reviewed(project, "--base", str(project / "base"))
    assert at(found, "mart_to_mail") == [
        "METADATA declared otherwise, and its runs show the same as before"
    ]


def test_a_comment_allows_a_declared_change(project: Path) -> None:
    name = as_directory(project)
    allow = '    # graft: allow-change reason="Ada agreed"\n    owner: Ada\n'
    (project / "lineage.yml").write_text(DECLARED.replace("    owner: Ada\n", allow))
    done = run(project, "--base", name, "--fail-on", "breaking")
    assert (done.exit_code, "(accepted: Ada agreed)" in done.stdout) == (0, True)


def test_declared_lineage_that_is_not_valid_in_the_base_is_a_notice(
    project: Path,
) -> None:
    name = as_directory(project)
    (Path(name).parent / "lineage.yml").write_text("version: 2\n")
    found = reviewed(project, "--base", name)
    (notice,) = [note for note in found["notes"] if "declared lineage" in note]
    assert notice.startswith(
        "declared lineage lineage.yml is not compared: in the base lineage.yml"
    )


def with_contract(folder: Path) -> None:
    (folder / "mart.odcs.yaml").write_text(CONTRACT)
    config = folder / "graft.yml"
    config.write_text(config.read_text() + 'contracts: ["*.odcs.yaml"]\n')


@pytest.mark.parametrize("base", [as_directory, as_revision])
def test_contracts_are_compared_with_those_of_the_base(
    project: Path,
    base: Any,
) -> None:
    with_contract(project)
    name = base(project)
    assert reviewed(project, "--base", name)["nodes"] == []
    changed = CONTRACT.replace(", required: true", "").replace("integer", "string")
    (project / "mart.odcs.yaml").write_text(changed)
    found = reviewed(project, "--base", name)
    assert at(found, "contract:mart") == [
        "BREAKING n integer is string now",
        "BREAKING note may be null now",
    ]
    (node,) = found["nodes"]
    assert [change["datasets"] for change in node["changes"]] == [["spark/db.mart"]] * 2
    assert [change["line"] for change in node["changes"]] == [10, 9]
    (project / "mart.odcs.yaml").unlink()
    gone = at(reviewed(project, "--base", name), "contract:mart")
    assert gone == ["BREAKING the contract is removed, or has ended"]


def test_a_damaged_contract_is_unknown(project: Path) -> None:
    with_contract(project)
    name = as_directory(project)
    (project / "mart.odcs.yaml").write_text("kind: [")
    found = reviewed(project, "--base", name)
    (node,) = found["nodes"]
    assert (node["verdict"], node["file"]) == ("UNKNOWN", "mart.odcs.yaml")


def test_contracts_of_a_base_without_files_are_a_notice(project: Path) -> None:
    with_contract(project)
    found = reviewed(project, "--base", str(project / "base"))
    assert any("contracts are not compared" in note for note in found["notes"])


def test_since_belongs_to_one_store(project: Path) -> None:
    base = ("--base", str(project / "base"), "--base-store", str(project / ".graft/store"))
    done = CliRunner().invoke(
        main, ["review", "-c", str(project / "graft.yml"), *base, "--since", "1d"]
    )
    assert done.exit_code == 2
