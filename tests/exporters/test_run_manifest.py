"""The manifest of a run: its datasets, its dates, and the tests that looked at what it wrote."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.exporters.run_manifest import run_manifest
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import DataPosition, Grain, Period, PeriodEvidence
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.describe import Description, NodeTest, Role
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.history import History, Supersession
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    Dataset,
    Direction,
    NodeResult,
    Run,
    Status,
    TaskInfo,
)
from tests import notation
from tests.cases import for_each

SIX = datetime(2026, 11, 2, 6, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
FILES = DatasetId("file", "/landing/orders")
ORDERS = DatasetId("spark", "raw.orders")
RUN = Run("app-2", "load", "spark", SIX, SIX + HOUR, Status.OK, code_version="3f2a9c1")
TEST = "test.shop.not_null"


def access(direction: Direction, **more: Any) -> Access:
    write = direction is Direction.WRITE
    operation = Operation.INSERT if write else Operation.SELECT
    known = {"run_id": "app-2", "shape_id": "s1", "first_at": SIX, "last_at": SIX + HOUR, **more}
    known.setdefault("kind", Kind.TABLE if write else Kind.PATH)
    return notation.access(operation, ORDERS if write else FILES, **known)


def manifest(*accesses: Access, results: tuple[NodeResult, ...] = ()) -> dict[str, Any]:
    task = Task("load", runs=(RUN,), info=TaskInfo(owner="sales", repo="git.example.com/etl"))
    lineage = Lineage(
        {ORDERS: Dataset(ORDERS, columns=(Column("day", "date"),)), FILES: Dataset(FILES)},
        {"load": task},
        flows=(Flow(FILES, ORDERS, "load"),),
        history=History(
            accesses=accesses,
            superseded={("load", "app-2"): (Supersession("load", "app-3", SIX + DAY, ORDERS),)},
        ),
        dbt=DbtRuns({TEST: results}),
    )
    description = Description(
        ORDERS, "", "orders", Role.SOURCE, tests=(NodeTest(TEST, "not_null", "id"),)
    )
    return run_manifest(AccessHistory(lineage), {ORDERS: description}, task, RUN)


def test_it_names_the_run_its_code_and_what_came_after() -> None:
    found = manifest()
    assert found["run_id"] == "app-2"
    assert (found["started_at"], found["finished_at"]) == (
        "2026-11-02T06:00:00Z",
        "2026-11-02T07:00:00Z",
    )
    assert found["code"] == {"version": "3f2a9c1", "repo": "git.example.com/etl", "path": None}
    assert found["superseded_by"] == [
        {
            "task": "load",
            "run_id": "app-3",
            "at": "2026-11-03T06:00:00Z",
            "dataset": "spark/raw.orders",
        }
    ]


def test_statements_of_one_dataset_are_added_up() -> None:
    found = manifest(
        access(Direction.READ, rows=10, files=2, positions=(DataPosition("files", "0", "2"),)),
        access(Direction.READ, rows=None, files=1, shape_id="s2"),
        access(Direction.WRITE, rows=9, statements=3),
        access(Direction.WRITE, run_id="app-1", rows=1000),
        access(Direction.WRITE, task="other", rows=1000),
    )
    (read,), (write,) = found["inputs"], found["outputs"]
    assert (read["dataset"], read["rows"], read["files"], read["statements"]) == (
        "file/landing/orders",
        10,
        3,
        2,
    )
    assert read["positions"] == [{"kind": "files", "from": "0", "to": "2"}]
    assert (write["rows"], write["operations"]) == (9, ["INSERT"])
    assert write["columns"] == [{"name": "day", "type": "date"}]
    assert found["metrics"] == {"input_rows": 10, "output_rows": 9}


def test_dates_of_data_have_their_evidence() -> None:
    period = Period(SIX - HOUR * 6, None, Grain.DAY, PeriodEvidence.PREDICATE, "day")
    (write,) = manifest(access(Direction.WRITE, periods=(period,)))["outputs"]
    assert write["periods"] == [
        {
            "column": "day",
            "from": "2026-11-02T00:00:00Z",
            "to": None,
            "grain": "day",
            "evidence": "predicate",
            "in_part": False,
        }
    ]


def test_a_run_ends_a_dataset_as_its_last_statement_did() -> None:
    first = access(Direction.WRITE, status=Status.FAILED, last_at=SIX)
    assert manifest(first, access(Direction.WRITE))["outputs"][0]["status"] == "ok"
    last = access(Direction.WRITE, status=Status.FAILED, last_at=SIX + 2 * HOUR)
    assert manifest(access(Direction.WRITE), last)["outputs"][0]["status"] == "failed"


@for_each(
    "hours, status",
    [
        ((), "unchecked"),
        ((0,), "unchecked"),  # before the run had ended
        ((2,), "passed"),
        ((0, 2), "passed"),
        ((-2,), "failed"),
        ((2, -3), "passed"),  # the first result counts
        ((30,), "unchecked"),  # the next run has written since
    ],
)
def test_quality_is_what_tests_found_before_the_next_write(
    hours: tuple[int, ...], status: str
) -> None:
    """A negative hour stands for a test that failed then."""
    results = tuple(
        NodeResult(
            TEST,
            f"i{hour}",
            status=Status.FAILED if hour < 0 else Status.OK,
            started_at=SIX + abs(hour) * HOUR,
        )
        for hour in hours
    )
    later = access(Direction.WRITE, run_id="app-3", first_at=SIX + DAY, last_at=SIX + DAY + HOUR)
    quality = manifest(access(Direction.WRITE), later, results=results)["quality"]
    assert quality["status"] == status
    assert len(quality["checks"]) == (status != "unchecked")


def test_the_document_is_of_the_published_schema(root: Path) -> None:
    schema = json.loads((root / "docs/schemas/run-manifest.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    result = NodeResult(TEST, "i", status=Status.OK, started_at=SIX + 2 * HOUR)
    period = Period(SIX, SIX + DAY, Grain.HOUR, PeriodEvidence.LAG)
    found = manifest(
        access(Direction.READ, positions=(DataPosition("version", "3", "3"),)),
        access(Direction.WRITE, periods=(period,)),
        results=(result,),
    )
    jsonschema.validate(found, schema)


MIDNIGHT = SIX - 6 * HOUR
DAILY = Period(MIDNIGHT, MIDNIGHT + DAY, Grain.DAY, PeriodEvidence.PARTITION, "day")


@pytest.mark.parametrize(
    ("periods", "needs"),
    [
        ((), {"period": None, "first": None, "last": None, "evidence": "none"}),
        ((DAILY,), {"period": "day", "first": 0, "last": 0, "evidence": "hint"}),
    ],
)
def test_an_output_says_which_dates_of_its_inputs_it_needs(
    periods: tuple[Period, ...], needs: dict[str, Any]
) -> None:
    found = manifest(
        access(Direction.READ, periods=periods), access(Direction.WRITE, periods=periods)
    )
    [output] = found["outputs"]
    assert output["needs"] == [{"dataset": "file/landing/orders", **needs}]
