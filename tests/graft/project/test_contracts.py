"""Data contracts in graft.yml: consumers, owners, classifications, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dbt_graft.analysis.checks.contracts import match_contracts
from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.project.config import load
from dbt_graft.graft.project.contracts import partition_columns, read_contracts
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.project.sources import date_columns
from dbt_graft.graft.questions.checks.contracts import missing_columns
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.date_columns import DateRank
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Column, Dataset, Direction
from dbt_graft.lineage.usage import Usage
from tests.cases import for_each
from tests.graft.commands.test_impact import project as orders_project

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
    """Code of a contract's finding -> its place, subject and problem."""
    return {
        finding["code"]: f"{finding['place']} {finding['subject']} {finding['problem']}"
        for finding in document(folder, "check", "--only", "contracts", "--json")["findings"]
    }


def test_a_change_reaches_the_contract(project: Path) -> None:
    found = document(project, "impact", "raw.orders.note", "--change", "remove", "--json")
    assert "Orders for finance" in [consumer["consumer"] for consumer in found["data"]["consumers"]]


def test_its_classification_is_a_label(project: Path) -> None:
    answer = document(project, "check", "--only", "privacy", "--json")
    [label] = [
        column for column in answer["data"]["privacy"]["columns"] if column["column"] == "note"
    ]
    assert label["declared"]["by"] == "the contract Orders for finance"


def test_its_deadline_is_forecast(project: Path) -> None:
    answer = document(project, "check", "--only", "quality", "--json")
    deadlines = answer["data"]["quality"]["deadlines"]
    assert "Orders for finance" in [deadline["consumer"] for deadline in deadlines]


def test_a_contract_that_holds_has_no_finding(project: Path) -> None:
    assert codes(project) == {}


@pytest.mark.parametrize(
    ("old", "new", "code", "text"),
    [
        ("name: n,", "name: total,", "CONTRACT_COLUMN_MISSING", "spark/db.mart lacks total"),
        ("MART", "marts", "CONTRACT_WITHOUT_DATASET", "DB.marts means no known dataset"),
        ("schema:", "schemas:", "CONTRACT_WITHOUT_DATASET", "it has no table"),
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


def test_all_faults_of_a_file_have_their_lines(project: Path) -> None:
    (project / "contracts/bad.yaml").write_text(
        "kind: DataContract\napiVersion: v3.1.0\nid: a\nschema: t\nservers: s\n"
    )
    findings = document(project, "check", "--only", "contracts", "--json")["findings"]
    places = [finding["place"] for finding in findings]
    assert [place.rpartition("bad.yaml")[2] for place in places] == [":4", ":5"]


MART = DatasetId("spark", "db.mart")
NOTE, TYPED = Column("note"), Column("note", "nvarchar")


@for_each(
    "engine, operation, column, lacks",
    [
        ("cataloged", Operation.SELECT, NOTE, True),
        ("spark", Operation.SELECT, NOTE, False),
        ("spark", Operation.INSERT, NOTE, True),
        # `INSERT INTO mart (note)` leaves others out.
        ("sqlserver", Operation.INSERT, NOTE, False),
        ("sqlserver", Operation.UPDATE, NOTE, False),
        ("sqlserver", Operation.INSERT, TYPED, True),
        ("sqlserver", Operation.BULK_INSERT, TYPED, False),
    ],
)
def test_a_table_lacks_columns_only_where_all_are_known(
    engine: str, operation: Operation, column: Column, lacks: bool, tmp_path: Path
) -> None:
    (tmp_path / "orders.odcs.yaml").write_text(CONTRACT)
    (tmp_path / "graft.yml").write_text("contracts: [orders.odcs.yaml]\n")
    direction = Direction.READ if operation is Operation.SELECT else Direction.WRITE
    usage = Usage("load", MART, direction, (operation,), engine=engine)
    lineage = Lineage(
        {MART: Dataset(MART, columns=(column,))}, {"load": Task("load", (), (usage,))}
    )
    matches = match_contracts(read_contracts(load(tmp_path / "graft.yml")).contracts, [MART])
    cataloged = {MART} if engine == "cataloged" else set()
    findings = missing_columns(matches, DescribedLineage(lineage), cataloged)
    assert [finding.subject for finding in findings] == ["spark/db.mart"] * lacks


PARTITION = "{name: cob, logicalType: date, partitioned: true}"


@pytest.mark.parametrize(
    ("column", "found"),
    [
        (PARTITION, ("cob",)),
        (PARTITION.replace("date", "integer"), ()),
        (PARTITION.replace("true", "true, classification: pii"), ()),
        (PARTITION.replace("true", "false"), ()),
    ],
)
def test_partition_columns_are_date_columns_of_logs(
    project: Path, column: str, found: tuple[str, ...]
) -> None:
    text = CONTRACT.replace("{name: n, classification: public}", column)
    (project / "contracts/orders.odcs.yaml").write_text(text)
    config = load(project / "graft.yml")
    assert partition_columns(config) == found
    rank = date_columns(config).rank("COB")
    assert rank is (DateRank.CONTRACT if found else DateRank.NONE)
