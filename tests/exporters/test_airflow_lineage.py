"""The lineage file for Airflow: what is in it, its schema, and one entry a line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dbt_graft.exporters.airflow_lineage import airflow_lineage
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Dataset, NodeResult, Run, Status
from tests.graft_airflow.lineage_file import (
    COLLECTED,
    CRM,
    NIGHT,
    ORDERS,
    RECORDS,
    SCORES,
    TRY,
    document,
    text,
)


def checked(content: Any, root: Path) -> Any:
    schema = json.loads((root / "docs/schemas/airflow-lineage.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(content)
    return content


def test_a_task_has_inputs_outputs_and_the_columns_of_what_it_writes(root: Path) -> None:
    task = checked(document(), root)["tasks"]["load_orders"]
    assert (task["evidence"], task["last_at"]) == (["observed"], "2026-11-22T03:00:00Z")
    assert [(one["namespace"], one["name"]) for one in task["inputs"]] == [
        ("mssql://crm:1433", "Shop.dbo.Orders")
    ]
    (output,) = task["outputs"]
    assert output["name"] == "raw.orders"
    assert output["columns"] == [{"name": "id", "type": "int"}, {"name": "mail"}]
    fields = output["column_lineage"]["fields"]
    assert list(fields) == ["id", "mail"]
    (mail,) = fields["mail"]
    (how,) = mail["transformations"]
    assert (how["type"], how["subtype"], how["masking"]) == ("DIRECT", "IDENTITY", True)
    (of_rows,) = output["column_lineage"]["dataset"]
    assert (of_rows["field"], of_rows["transformations"][0]["type"]) == ("Status", "INDIRECT")


def test_a_failed_write_is_no_last_write_and_an_input_has_none(root: Path) -> None:
    datasets = checked(document(), root)["datasets"]
    assert datasets[str(SCORES)] == {
        "written_at": "2026-11-22T03:00:00Z",
        "task": "score_customers",
    }
    assert datasets[str(CRM)] == {"written_at": None, "task": None}


def test_the_job_of_airflow_that_ran_a_task_is_known_by_its_run() -> None:
    found = document()
    assert found["jobs"] == {"shop.ml.score": "score_customers"}
    assert found["tasks"]["score_customers"]["jobs"] == ["shop.ml.score"]
    assert "shop.ml.score" not in found["tasks"], "a task of Airflow is none of ours"


def test_a_job_that_ran_two_tasks_names_neither() -> None:
    second = Run("load_orders-1", "load_orders", "sqlserver", NIGHT, parent_run_id=TRY)
    found = document(replace(RECORDS, runs=(*RECORDS.runs[1:], second)))
    assert found["jobs"] == {}


def test_a_dbt_model_is_found_by_its_name_and_built_when_dbt_was(root: Path) -> None:
    models = {
        name: Definition(name, DefinitionKind.DBT, dataset, (ORDERS,))
        for name, dataset in {
            "model.shop.scores": SCORES,
            "model.shop.load_orders": CRM,
            "model.a.twice": ORDERS,
            "seed.b.twice": ORDERS,
        }.items()
    }
    result = NodeResult("model.shop.scores", "1", "run", "success", Status.OK, NIGHT, COLLECTED)
    failed = replace(result, status=Status.FAILED, ended_at=COLLECTED.replace(hour=9))
    lineage = Lineage(
        datasets={one: Dataset(one) for one in (CRM, ORDERS, SCORES)},
        definitions=models,
        dbt=DbtRuns({"model.shop.scores": (failed, result)}),
    )
    found = checked(airflow_lineage(lineage, COLLECTED), root)
    assert found["models"] == {
        "load_orders": "model.shop.load_orders",
        "scores": "model.shop.scores",
    }
    assert found["tasks"]["model.shop.scores"]["inputs"][0]["name"] == "raw.orders"
    assert found["datasets"][str(SCORES)] == {
        "written_at": "2026-11-22T05:30:00Z",
        "task": "model.shop.scores",
    }


def test_each_entry_has_a_line_and_the_bytes_are_the_same_each_time() -> None:
    written = text()
    assert json.loads(written) == document()
    assert written == text()
    starts = [line.partition(b":")[0] for line in written.splitlines()]
    assert starts.count(b'"load_orders"') == 1
    assert written.isascii()


@pytest.mark.parametrize("version", [0, "1", None])
def test_the_schema_knows_this_version_alone(root: Path, version: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        checked({**document(), "version": version}, root)
