"""`graft drift` and `graft declared propose`: the docs' example, exit codes, and a round trip."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner, Result

from dbt_graft.collectors.store import commit
from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Records, Run, Status

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
    found: list[Access] = []
    runs: list[Run] = []
    for day in range(6):
        at, status = FIRST + timedelta(day), Status.FAILED if day == 5 else Status.OK
        found += accesses(f"run-{day}", at, status)
        runs.append(Run(f"run-{day}", "load", "spark", at, at, status, origin="log"))
    collected = tables(Records(accesses=tuple(found), runs=tuple(runs)), {"log": "1"})
    commit(str(tmp_path / "store"), [collected])
    assert graft(tmp_path, "collect").exit_code == 0
    return tmp_path


def graft(folder: Path, *arguments: str) -> Result:
    command, *more = arguments
    sub = [more.pop(0)] if command == "declared" else []
    return CliRunner().invoke(main, [command, *sub, "-c", str(folder / "graft.yml"), *more])


def test_the_examples_of_the_docs(project: Path, root: Path) -> None:
    text = (root / "docs/drift.md").read_text()
    for command in (("drift",), ("declared", "propose")):
        example = text.partition(f"$ graft {' '.join(command)}\n")[2].partition("```")[0]
        assert graft(project, *command).stdout == example


def test_the_document_is_of_the_published_schema(project: Path, root: Path) -> None:
    found = json.loads(graft(project, "drift", "--json").stdout)
    jsonschema.validate(found, json.loads((root / "docs/drift.schema.json").read_text()))
    assert {
        (one["task"], one["direction"], one["dataset"]): one["status"] for one in found["edges"]
    } == {
        ("load", "read", "spark/raw.orders"): "VERIFIED",
        ("load", "read", "spark/raw.prices"): "UNDECLARED",
        ("load", "write", "spark/stage.customers"): "PHANTOM",
        ("load", "write", "spark/stage.orders"): "VERIFIED",
        ("upload", "write", "sftp/orders"): "UNVERIFIED",
    }


@pytest.mark.parametrize(
    ("arguments", "status"),
    [((), 0), (("--check",), 8), (("--check", "--runs", "6"), 8), (("--runs", "0"), 2)],
)
def test_drift_ends_with_8_where_it_is_asked_to(
    project: Path, arguments: tuple[str, ...], status: int
) -> None:
    assert graft(project, "drift", *arguments).exit_code == status


def test_more_runs_may_be_asked_for(project: Path) -> None:
    assert (
        "UNVERIFIED load writes spark/stage.customers"
        in graft(project, "drift", "--runs", "6").stdout
    )


def test_what_was_not_seen_since_is_not_verified(project: Path) -> None:
    found = json.loads(graft(project, "drift", "--json", "--since", "1d").stdout)
    assert {one["status"] for one in found["edges"]} == {"UNVERIFIED"}


def test_what_is_proposed_settles_it(project: Path) -> None:
    proposed = yaml.safe_load(graft(project, "declared", "propose").stdout)
    assert list(proposed["tasks"]) == ["load"]
    declared = yaml.safe_load(LINEAGE)
    declared["tasks"]["load"]["flows"] = proposed["tasks"]["load"]["flows"]
    (project / "lineage.yml").write_text(yaml.safe_dump(declared))
    assert graft(project, "collect").exit_code == 0
    assert graft(project, "drift", "--check").exit_code == 0
    again = graft(project, "declared", "propose")
    assert (again.stdout, "nothing drifted" in again.stderr) == ("", True)


def test_without_declared_tasks_it_says_so(project: Path) -> None:
    (project / "lineage.yml").write_text("version: 1\n")
    assert graft(project, "collect").exit_code == 0
    assert "nothing is declared" in graft(project, "drift").stdout


DAG = """\
shop:
  default_args: {start_date: 2026-01-01}
  tasks:
    TASKS
"""


@pytest.mark.parametrize(
    ("tasks", "status", "line"),
    [
        (
            "{send: {operator: x.Y}, load: {operator: x.Y, dependencies: [send]}}",
            8,
            "error: send runs before load, its writer",
        ),
        (
            "{load: {operator: x.Y}, send: {operator: x.Y, dependencies: [load]}}",
            8,  # for the other drift
            "warning: no DAG runs upload",
        ),
    ],
)
def test_dags_in_another_order_than_lineage_have_drifted(
    project: Path, tasks: str, status: int, line: str
) -> None:
    with (project / "lineage.yml").open("a") as declared:
        declared.write("  send: {flows: [{from: [spark/stage.orders], to: [sftp/mail]}]}\n")
    with (project / "graft.yml").open("a") as config:
        config.write("check: {dags: [dags]}\n")
    (project / "dags").mkdir()
    (project / "dags/shop.yml").write_text(DAG.replace("TASKS", tasks))
    assert graft(project, "collect").exit_code == 0
    found = graft(project, "drift", "--check")
    assert line in found.stdout, found.output
    assert found.exit_code == status
    document = json.loads(graft(project, "drift", "--json").stdout)
    assert ("error" in {one["level"] for one in document["dags"]}) is ("error" in line)
    gates = CliRunner().invoke(
        main, ["check", "-c", str(project / "graft.yml"), "--format", "json"]
    )
    codes = {one["code"] for one in json.loads(gates.stdout)["findings"]}
    assert ("DAG_ORDER" in codes) is ("error" in line)


def test_runs_that_show_nothing_make_no_phantom(tmp_path: Path) -> None:
    """Airflow without an extractor shows that a task ran, and nothing that it did."""
    (tmp_path / "graft.yml").write_text(
        "collect: [{declared: {path: lineage.yml}}]\nstore: store\n"
    )
    (tmp_path / "lineage.yml").write_text(LINEAGE)
    at = [FIRST + timedelta(day) for day in range(6)]
    runs = tuple(
        Run(f"run-{one:%d}", "load", "airflow", one, one, Status.OK, origin="log") for one in at
    )
    commit(str(tmp_path / "store"), [tables(Records(runs=runs), {"log": "1"})])
    assert graft(tmp_path, "collect").exit_code == 0
    found = json.loads(graft(tmp_path, "drift", "--json").stdout)
    assert found["counts"] == {"PHANTOM": 0, "UNDECLARED": 0, "UNVERIFIED": 4, "VERIFIED": 0}


def test_all_lists_what_is_verified_with_its_run(project: Path) -> None:
    line = "  VERIFIED   load writes spark/stage.orders  seen last at 2026-11-05 04:00 by run run-4"
    assert line not in graft(project, "drift").stdout
    assert line in graft(project, "drift", "--all").stdout
