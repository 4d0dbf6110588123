"""Data contracts in graft.yml: consumers, owners, classifications, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt_graft.graft.cli import main
from dbt_graft.graft.progress import Progress
from tests.graft.test_impact import project as orders_project

__all__ = ["orders_project"]
CONTRACT = """\
kind: DataContract
apiVersion: v3.1.0
id: orders-1
name: Orders for finance
servers: [{server: prod, type: spark, schema: DB}]
schema:
  - name: MART
    properties: [{name: NOTE, classification: pii}, {name: n, classification: public}]
team: {name: Shop}
slaProperties: [{property: timeOfAvailability, value: "08:00"}]
"""


@pytest.fixture
def project(orders_project: Path) -> Path:
    (orders_project / "contracts").mkdir()
    (orders_project / "contracts/orders.odcs.yaml").write_text(CONTRACT)
    with (orders_project / "graft.yml").open("a") as config:
        config.write("\ncontracts: [contracts/*.yaml]\n")
    return orders_project


def graft(folder: Path, *command: str) -> Result:
    return CliRunner().invoke(main, [*command, "-c", str(folder / "graft.yml")])


def document(folder: Path, *command: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(graft(folder, *command).stdout)
    return found


def codes(folder: Path) -> dict[str, str]:
    """Code of a contract's finding -> its subject and problem."""
    found = document(folder, "check", "--format", "json")["findings"]
    return {
        one["code"]: f"{one['subject']} {one['problem']}"
        for one in found
        if one["code"].startswith("CONTRACT")
    }


def test_a_change_reaches_the_contract(project: Path) -> None:
    found = document(project, "impact", "raw.orders.note", "--change", "remove", "--json")
    assert "Orders for finance" in [one["consumer"] for one in found["consumers"]]


def test_its_classification_is_a_label(project: Path) -> None:
    found = graft(project, "privacy", "report").stdout
    assert "spark/db.mart.note  labelled in the contract Orders for finance" in found


def test_its_deadline_is_forecast(project: Path) -> None:
    found = document(project, "quality", "--json")
    assert "Orders for finance" in [one["consumer"] for one in found["deadlines"]]


def test_a_contract_that_holds_has_no_finding(project: Path) -> None:
    assert codes(project) == {}


@pytest.mark.parametrize(
    ("old", "new", "code", "text"),
    [
        ("name: n,", "name: total,", "CONTRACT_COLUMN_MISSING", "spark/db.mart lacks total"),
        ("MART", "marts", "CONTRACT_WITHOUT_DATASET", "DB.marts means no known dataset"),
        ("kind: DataContract", "kind: Pod", "CONTRACT_NOT_READ", "orders.odcs.yaml:1"),
    ],
)
def test_what_is_wrong_with_a_contract(
    project: Path, old: str, new: str, code: str, text: str
) -> None:
    (project / "contracts/orders.odcs.yaml").write_text(CONTRACT.replace(old, new))
    found = codes(project)
    assert list(found) == [code]
    assert text in found[code]


def test_a_damaged_contract_stops_no_other_and_no_site(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(Progress, "warn", lambda _, text: told.append(text))
    (project / "contracts/bad.yaml").write_text("kind: [")
    assert graft(project, "site").exit_code == 0
    assert [text.partition(":")[0] for text in told] == ["a data contract is left out"]
    assert [*(project / "build/site/tasks").glob("orders-for-finance*/index.html")]


def test_a_pattern_that_names_none_is_told(project: Path) -> None:
    (project / "contracts/orders.odcs.yaml").unlink()
    assert "names no file" in codes(project)["CONTRACT_NOT_READ"]
