"""`graft check`: the docs' example and table, checks that are chosen, severities, exit codes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt_graft.analysis.rule import RULES
from dbt_graft.collectors.store.arrow_tables import table, tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.questions.checks.registry import CHECKS
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, DatasetMetadata, Direction, Records, Run
from tests.graft.commands.answers import read_answer

LINEAGE = """\
version: 1
tasks:
  load:
    owner: Platform
    repo: https://example.com/jobs
    flows:
      - {from: [spark/raw.orders], to: [spark/stage.orders, spark/stage.customers]}
  fix:
    repo: https://example.com/jobs
    flows: [{from: [], to: [spark/stage.orders]}]
"""
FIRST = datetime(2026, 11, 1, 4, tzinfo=UTC)
USES = [
    ("load", "raw.orders", Direction.READ),
    ("load", "raw.prices", Direction.READ),
    ("load", "stage.orders", Direction.WRITE),
    ("fix", "stage.orders", Direction.WRITE),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two tasks write a certified table; one of them is declared, not quite as it is."""
    (tmp_path / "graft.yml").write_text(
        "collect: [{declared: {path: lineage.yml}}]\nstore: store\n"
    )
    (tmp_path / "lineage.yml").write_text(LINEAGE)
    orders = DatasetId("spark", "stage.orders")
    records = Records(
        accesses=tuple(
            Access(
                *(task, f"{task}-1", DatasetId("spark", name), Kind.TABLE, direction),
                *(Operation.INSERT, "insert"),
                first_at=FIRST,
                last_at=FIRST + timedelta(hours=1),
                origin="log",
            )
            for task, name, direction in USES
        ),
        runs=tuple(
            Run(f"{task}-1", task, "spark", FIRST, FIRST, origin="log") for task in ("load", "fix")
        ),
    )
    certified = DatasetMetadata(orders, FIRST, tags=("certified",), origin="log")
    collected = tables(records, {"log": "1"})
    rows = table(DatasetMetadata, [certified])
    commit(str(tmp_path / "store"), [replace(collected, dataset_metadata=rows)])
    assert graft(tmp_path, "collect").exit_code == 0
    return tmp_path


def graft(folder: Path, command: str, *arguments: str) -> Result:
    return CliRunner().invoke(main, [command, "-c", str(folder / "graft.yml"), *arguments])


def answer(folder: Path, *arguments: str) -> dict[str, Any]:
    return read_answer(graft(folder, "check", "--json", *arguments).stdout)


def with_rules(folder: Path, text: str) -> None:
    with (folder / "graft.yml").open("a") as config:
        config.write(f"\nrules: {text}\n")


def test_the_example_of_the_docs(project: Path, root: Path) -> None:
    text = (root / "docs/check.md").read_text()
    example = text.partition("$ graft check\n")[2].partition("```")[0]
    assert graft(project, "check").stdout == example


def test_all_checks_are_one_answer(project: Path) -> None:
    whole = answer(project)
    assert whole["grade"] == "error"
    assert whole["data"].keys() == {"owners", "drift", "contracts", "privacy", "quality"}
    assert whole["data"]["owners"] == {"Platform": 0}
    left_out = {note.partition(" is left out")[0] for note in whole["notes"] if "left out" in note}
    assert left_out == {"artifacts", "dags", "freshness", "links", "audience"}


def test_checks_may_be_chosen(project: Path) -> None:
    chosen = answer(project, "--only", "drift,contracts")
    assert {finding["code"] for finding in chosen["findings"]} == {"UNDECLARED_EDGE"}
    assert chosen["data"].keys() == {"owners", "drift", "contracts"}
    assert graft(project, "check", "--only", "drift,nothing").exit_code == 2
    assert graft(project, "check", "--only", "artifacts").exit_code == 1  # There are none.


def test_the_docs_have_the_rules_and_their_severities(root: Path) -> None:
    """The table is made of the rules: this prints it where it differs."""
    rows = [
        f"| {check} | `{rule.code}` | {rule.severity.value} | {rule.doc} |\n"
        for check in CHECKS
        for rule in RULES.values()
        if rule.check == check
    ]
    assert len(rows) == len(RULES)
    assert "".join(rows) in (root / "docs/check.md").read_text(), "".join(rows)


@pytest.mark.parametrize(
    ("rules", "arguments", "status"),
    [
        ("{}", (), 0),
        ("{}", ("--fail-on", "warning"), 3),
        ("{fail_on: error}", (), 3),
        ("{fail_on: error}", ("--only", "drift"), 0),
        ("{fail_on: error, severity: {CERTIFIED_ASSET_MISSING_OWNER: warning}}", (), 0),
        ("{certified: [gold-standard], fail_on: error}", (), 0),
        ("{severity: {NO_SUCH_CODE: off}}", (), 2),
    ],
)
def test_it_fails_as_the_team_says(
    project: Path, rules: str, arguments: tuple[str, ...], status: int
) -> None:
    with_rules(project, rules)
    assert graft(project, "check", *arguments).exit_code == status


def test_a_code_may_be_off(project: Path) -> None:
    with_rules(project, "{severity: {SECOND_WRITER: off, UNDECLARED_EDGE: error}}")
    severities = {finding["code"]: finding["severity"] for finding in answer(project)["findings"]}
    assert "SECOND_WRITER" not in severities
    assert severities["UNDECLARED_EDGE"] == "error"


def test_who_is_not_of_the_platform_is_named(project: Path) -> None:
    with_rules(project, "{platform: [lo*]}")
    findings = [item for item in answer(project)["findings"] if "OUTSIDE" in item["code"]]
    assert [finding["subject"] for finding in findings] == ["fix"]
