"""The check of drift, and `graft export declared`: the docs' examples, and a round trip."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Records, Run, Status
from tests.graft.commands.answers import read_answer

LINEAGE = """\
version: 1
tasks:
  load:
    owner: Platform
    flows:
      - {from: [spark/raw.orders], to: [spark/stage.orders, spark/stage.customers]}
  upload:
    flows: [{to: [sftp/orders]}]
"""
FIRST = datetime(2026, 11, 1, 4, tzinfo=UTC)


def accesses(run: str, at: datetime, status: Status) -> Iterator[Access]:
    for name, direction in (
        ("raw.orders", Direction.READ),
        ("raw.prices", Direction.READ),
        ("stage.orders", Direction.WRITE),
        ("stage.orders", Direction.READ),  # An UPDATE reads what it writes: no drift.
    ):
        yield Access(
            *("load", run, DatasetId("spark", name), Kind.TABLE, direction, Operation.INSERT),
            *("insert",),
            first_at=at,
            last_at=at,
            status=status,
            origin="log",
        )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """`load` ran on five days; it reads prices, which nobody declared, and writes no customers."""
    (tmp_path / "graft.yml").write_text(
        "collect: [{declared: {path: lineage.yml}}]\nstore: store\n"
    )
    (tmp_path / "lineage.yml").write_text(LINEAGE)
    uses: list[Access] = []
    runs: list[Run] = []
    for day in range(6):
        at, status = FIRST + timedelta(day), Status.FAILED if day == 5 else Status.OK
        uses += accesses(f"run-{day}", at, status)
        runs.append(Run(f"run-{day}", "load", "spark", at, at, status, origin="log"))
    collected = tables(Records(accesses=tuple(uses), runs=tuple(runs)), {"log": "1"})
    commit(str(tmp_path / "store"), [collected])
    assert graft(tmp_path, "collect").exit_code == 0
    return tmp_path


def graft(folder: Path, command: str, *arguments: str) -> Result:
    words = [*command.split(), "-c", str(folder / "graft.yml"), *arguments]
    return CliRunner().invoke(main, words)


def drift(folder: Path, *arguments: str) -> dict[str, Any]:
    return read_answer(graft(folder, "check --only drift --json", *arguments).stdout)


@pytest.mark.parametrize("command", ["check --only drift", "export declared"])
def test_the_examples_of_the_docs(project: Path, root: Path, command: str) -> None:
    text = (root / "docs/check.md").read_text()
    example = text.partition(f"$ graft {command}\n")[2].partition("```")[0]
    assert graft(project, command).stdout == example


def test_each_edge_has_its_status(project: Path) -> None:
    assert {
        (edge["task"], edge["direction"], edge["dataset"]): edge["status"]
        for edge in drift(project)["data"]["drift"]["edges"]
    } == {
        ("load", "read", "spark/raw.orders"): "VERIFIED",
        ("load", "read", "spark/raw.prices"): "UNDECLARED",
        ("load", "write", "spark/stage.customers"): "PHANTOM",
        ("load", "write", "spark/stage.orders"): "VERIFIED",
        ("upload", "write", "sftp/orders"): "UNVERIFIED",
    }


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        ((), ["UNDECLARED_EDGE", "PHANTOM_EDGE"]),
        (("--runs", "6"), ["UNDECLARED_EDGE"]),
        (("--since", "1d"), []),  # What was not seen since is not verified.
    ],
)
def test_what_is_looked_at_may_be_chosen(
    project: Path, arguments: tuple[str, ...], codes: list[str]
) -> None:
    findings = drift(project, *arguments)["findings"]
    assert [finding["code"] for finding in findings] == codes


def test_what_is_proposed_settles_it(project: Path) -> None:
    proposed = yaml.safe_load(graft(project, "export declared").stdout)
    assert list(proposed["tasks"]) == ["load"]
    declared = yaml.safe_load(LINEAGE)
    declared["tasks"]["load"]["flows"] = proposed["tasks"]["load"]["flows"]
    (project / "lineage.yml").write_text(yaml.safe_dump(declared))
    assert graft(project, "collect").exit_code == 0
    assert drift(project)["findings"] == []
    again = graft(project, "export declared")
    assert (again.stdout, "nothing drifted" in again.stderr) == ("", True)


def test_what_is_proposed_keeps_what_is_declared_of_columns(project: Path) -> None:
    hashed = {"column": "spark/raw.orders.mail", "how": "TRANSFORMATION", "masking": "HASH"}
    hidden = {"column": "spark/raw.orders.name", "how": "IDENTITY", "masking": True}
    columns = {"spark/stage.orders": {"id": ["spark/raw.orders.id"], "key": [hashed, hidden]}}
    declared = yaml.safe_load(LINEAGE)
    declared["tasks"]["load"]["flows"][0]["columns"] = columns
    (project / "lineage.yml").write_text(yaml.safe_dump(declared))
    assert graft(project, "collect").exit_code == 0
    proposed = yaml.safe_load(graft(project, "export declared").stdout)
    flows = [{"from": ["spark/raw.orders", "spark/raw.prices"], "to": ["spark/stage.orders"]}]
    flows[0]["columns"] = columns
    assert proposed["tasks"]["load"]["flows"] == flows
    declared["tasks"]["load"]["flows"] = flows
    (project / "lineage.yml").write_text(yaml.safe_dump(declared))
    assert graft(project, "collect").exit_code == 0
    assert drift(project)["findings"] == []


def test_without_declared_tasks_there_is_a_note(project: Path) -> None:
    (project / "lineage.yml").write_text("version: 1\n")
    assert graft(project, "collect").exit_code == 0
    note = "nothing is declared of any task or dbt model that could be compared"
    assert drift(project)["notes"] == [note]


def test_what_no_log_of_the_engine_could_show_is_no_phantom(project: Path) -> None:
    api = "      - {from: [https://api.example.com/prices], to: [spark/stage.orders]}\n"
    (project / "lineage.yml").write_text(LINEAGE.replace("  upload:\n", f"{api}  upload:\n"))
    assert graft(project, "collect").exit_code == 0
    answer = drift(project)
    statuses = {edge["dataset"]: edge["status"] for edge in answer["data"]["drift"]["edges"]}
    assert statuses["https://api.example.com/prices"] == "UNVERIFIED"
    assert "https://api.example.com/prices" in graft(project, "export declared").stdout


def test_what_is_read_and_declared_to_be_written_is_undeclared(project: Path) -> None:
    prices = "      - {to: [spark/raw.prices]}\n"
    (project / "lineage.yml").write_text(LINEAGE.replace("  upload:\n", f"{prices}  upload:\n"))
    assert graft(project, "collect").exit_code == 0
    findings = drift(project)["findings"]
    texts = [f"{finding['code']} {finding['problem'].split(':')[0]}" for finding in findings]
    assert texts == [
        "UNDECLARED_EDGE reads spark/raw.prices",
        "PHANTOM_EDGE writes spark/raw.prices",
        "PHANTOM_EDGE writes spark/stage.customers",
    ]


def test_runs_that_show_nothing_make_no_phantom(tmp_path: Path) -> None:
    """Airflow without an extractor shows that a task ran, and nothing that it did."""
    (tmp_path / "graft.yml").write_text(
        "collect: [{declared: {path: lineage.yml}}]\nstore: store\n"
    )
    (tmp_path / "lineage.yml").write_text(LINEAGE)
    times = [FIRST + timedelta(day) for day in range(6)]
    runs = tuple(
        Run(f"run-{at:%d}", "load", "airflow", at, at, Status.OK, origin="log") for at in times
    )
    commit(str(tmp_path / "store"), [tables(Records(runs=runs), {"log": "1"})])
    assert graft(tmp_path, "collect").exit_code == 0
    counts = drift(tmp_path)["data"]["drift"]["counts"]
    assert counts == {"PHANTOM": 0, "UNDECLARED": 0, "UNVERIFIED": 4, "VERIFIED": 0}


def test_without_dbt_a_declared_consumer_has_its_deadline(project: Path) -> None:
    """Nothing of what people declare of readers needs dbt's artifacts."""
    board = "  board: {reads: [spark/stage.orders], owner: CFO, freshness_slo: 2h}\n"
    (project / "lineage.yml").write_text(f"{LINEAGE}consumers:\n{board}")
    assert graft(project, "collect").exit_code == 0
    found = read_answer(graft(project, "check --json --at 2026-11-06").stdout)["findings"]
    assert [(one["subject"], one["owner"]) for one in found if one["code"] == "DATA_TOO_OLD"] == [
        ("board", "CFO")
    ]
    reached = read_answer(graft(project, "impact raw.orders --change rows --json").stdout)
    assert [consumer["consumer"] for consumer in reached["data"]["consumers"]] == ["board"]
