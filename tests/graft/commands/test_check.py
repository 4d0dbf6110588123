"""`graft check`: the docs' example, its document, severities and exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from dbt_graft.analysis.rule import RULES
from dbt_graft.collectors.store import commit
from dbt_graft.collectors.store.arrow_tables import table, tables
from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, DatasetMetadata, Direction, Records, Run

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
            Run(f"{one}-1", one, "spark", FIRST, FIRST, origin="log") for one in ("load", "fix")
        ),
    )
    certified = DatasetMetadata(orders, FIRST, tags=("certified",), origin="log")
    found = tables(records, {"log": "1"})
    rows = table(DatasetMetadata, [certified])
    commit(str(tmp_path / "store"), [replace(found, dataset_metadata=rows)])
    assert graft(tmp_path, "collect").exit_code == 0
    return tmp_path


def graft(folder: Path, command: str, *arguments: str) -> Result:
    return CliRunner().invoke(main, [command, "-c", str(folder / "graft.yml"), *arguments])


def document(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(graft(folder, "check", "--format", "json").stdout)
    return found


def with_rules(folder: Path, text: str) -> None:
    with (folder / "graft.yml").open("a") as config:
        config.write(f"\nrules: {text}\n")


def test_the_example_of_the_docs(project: Path, root: Path) -> None:
    text = (root / "docs/check.md").read_text()
    example = text.partition("$ graft check\n")[2].partition("```")[0]
    assert graft(project, "check").stdout == example


def test_the_document_is_of_the_published_schema(project: Path, root: Path) -> None:
    found = document(project)
    jsonschema.validate(found, json.loads((root / "docs/check.schema.json").read_text()))
    assert found["counts"] == {"error": 1, "warning": 4, "note": 0}


def test_the_docs_name_every_code_and_its_severity(root: Path) -> None:
    rows = (root / "docs/check.md").read_text().partition("## The codes")[2].splitlines()
    for code, rule in RULES.items():
        [row] = [one for one in rows if f"`{code}`" in one]
        assert row.split("|")[2].strip() == rule.severity.value, code


@pytest.mark.parametrize(
    ("rules", "arguments", "status"),
    [
        ("{}", (), 0),
        ("{}", ("--fail-on", "warning"), 8),
        ("{fail_on: error}", (), 8),
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
    found = {one["code"]: one["severity"] for one in document(project)["findings"]}
    assert "SECOND_WRITER" not in found
    assert found["UNDECLARED_EDGE"] == "error"


def test_who_is_not_of_the_platform_is_named(project: Path) -> None:
    with_rules(project, "{platform: [lo*]}")
    found = [one for one in document(project)["findings"] if "OUTSIDE" in one["code"]]
    assert [one["subject"] for one in found] == ["fix"]


def test_annotations_for_github(project: Path) -> None:
    shown = graft(project, "check", "--format", "github").stdout
    assert shown.startswith("::error title=spark/stage.orders::CERTIFIED_ASSET_MISSING_OWNER: ")
