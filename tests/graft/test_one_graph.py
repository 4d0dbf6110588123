"""One graft.yml gives one graph, whichever command asks, with dbt's artifacts and without."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbt_graft.collectors.store.arrow_tables import table, tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.collectors.store.tables import ReadLog
from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnEdge,
    Dataset,
    Direction,
    Outcome,
    Records,
    Run,
    Shape,
    Status,
)
from tests import notation
from tests.cases import for_each
from tests.graft.small_project import small_project

# A date of the day before: questions about the last 30 days see the run.
AT = datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)
RAW, OUT, FAILED = (DatasetId("spark", name) for name in ("raw.orders", "db.out", "db.failed"))
SHARDS = tuple(DatasetId("spark", f"db.shard_202610{day:02}") for day in range(1, 15))


def access(
    dataset: DatasetId, direction: Direction, shape: str, minute: int, **fields: object
) -> Access:
    operation = Operation.SELECT if direction is Direction.READ else Operation.INSERT
    at = AT + timedelta(minutes=minute)
    return notation.access(operation, dataset, at=at, shape_id=shape, origin="log", **fields)


def edge(target: DatasetId, source: DatasetId, shape: str) -> ColumnEdge:
    return notation.column_edge(target, "amount", source, "amount", shape_id=shape, origin="log")


def write_store(folder: Path) -> None:
    """`load` reads raw.orders and writes db.out through its memory; a write of db.failed fails."""
    read, write = Direction.READ, Direction.WRITE
    records = Records(
        accesses=(
            access(RAW, read, "s1", 0),
            access(OUT, write, "s2", 1),
            access(FAILED, write, "s3", 2, status=Status.FAILED),
            *(access(shard, write, "s4", 3) for shard in SHARDS),
        ),
        runs=(Run("load-1", "load", "spark", AT, AT, Status.OK, origin="log"),),
        shapes={
            key: Shape(key, "spark", f"-- {key}", "1", Outcome.PARSED)
            for key in ("s1", "s2", "s3", "s4")
        },
        datasets=tuple(
            Dataset(dataset, Kind.TABLE, (Column("amount"),), origin="log")
            for dataset in (RAW, OUT, FAILED)
        ),
        column_edges=(edge(MEMORY, RAW, "s1"), edge(OUT, MEMORY, "s2")),
    )
    origins = table(ReadLog, [ReadLog("log", "1", events=1)])
    commit(str(folder / ".graft/store"), [tables(records, {}, origins=origins)])


def ask(folder: Path, *arguments: str) -> str:
    done = CliRunner().invoke(main, [*arguments, "-c", str(folder / "graft.yml")])
    assert done.exit_code == 0, f"{arguments}: {done.output}"
    return done.output


def impact_of(folder: Path, name: str) -> dict[str, dict[str, str]]:
    """Dataset that a removal reaches -> its columns."""
    answer = json.loads(ask(folder, "impact", name, "--change", "remove", "--json"))
    return {dataset["dataset"]: dataset["columns"] for dataset in answer["data"]["datasets"]}


def edges_of(folder: Path) -> list[str]:
    data = json.loads(ask(folder, "show", "load", "--json"))["data"]
    return [edge["to"] for edge in data["why"]["edges"]]


def outputs_of(folder: Path) -> list[dict[str, Any]]:
    events = map(json.loads, ask(folder, "export", "openlineage", "--events", "job").splitlines())
    return [output for event in events for output in event.get("outputs", ())]


def extracted_outputs(folder: Path) -> list[dict[str, Any]]:
    outputs: list[dict[str, Any]] = json.loads(ask(folder, "export", "airflow-lineage"))["tasks"][
        "load"
    ]["outputs"]
    return outputs


# Command -> whether its answer has the write that failed.
FAILED_WRITE: dict[str, Callable[[Path], bool]] = {
    "query": lambda folder: "spark/db.failed" in ask(folder, "query", "from edges", "--json"),
    "impact": lambda folder: "spark/db.failed" in impact_of(folder, "raw.orders"),
    "show": lambda folder: "spark/db.failed" in edges_of(folder),
    "export openlineage": lambda folder: (
        "db.failed" in [output["name"] for output in outputs_of(folder)]
    ),
    "export airflow-lineage": lambda folder: (
        "db.failed" in [output["name"] for output in extracted_outputs(folder)]
    ),
}
# Command -> whether its answer has the column edge that is inferred.
INFERRED_EDGE: dict[str, Callable[[Path], bool]] = {
    "query": lambda folder: "spark/db.out" in ask(folder, "query", "from column_edges", "--json"),
    "impact": lambda folder: bool(impact_of(folder, "raw.orders.amount")["spark/db.out"]),
    "show": lambda folder: "spark/db.out" in ask(folder, "show", "raw.orders.amount", "--json"),
    "export openlineage, a dataset": lambda folder: (
        "inputFields" in ask(folder, "export", "openlineage", "--dataset", "db.out")
    ),
    "export openlineage": lambda folder: any("facets" in output for output in outputs_of(folder)),
    "export airflow-lineage": lambda folder: any(
        "column_lineage" in output for output in extracted_outputs(folder)
    ),
}
# Command -> the names of the tables that its answer has downstream of raw.orders.
TABLES: dict[str, Callable[[Path], set[str]]] = {
    "query": lambda folder: {
        edge["to_dataset"] for edge in json.loads(ask(folder, "query", "from edges", "--json"))
    },
    "impact": lambda folder: set(impact_of(folder, "raw.orders")),
    "show": lambda folder: set(edges_of(folder)),
    "export openlineage": lambda folder: {
        f"{output['namespace']}/{output['name']}" for output in outputs_of(folder)
    },
    "export airflow-lineage": lambda folder: {
        f"{output['namespace']}/{output['name']}" for output in extracted_outputs(folder)
    },
}


@pytest.fixture(params=["with artifacts", "without artifacts"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    small_project(tmp_path)
    if request.param == "without artifacts":
        (tmp_path / "target/manifest.json").unlink()
    write_store(tmp_path)
    return tmp_path


def configure(folder: Path, lineage: str = "", names: str = "") -> None:
    (folder / "graft.yml").write_text(f"collect: []\nlineage: {{{lineage}}}\nnames: [{names}]\n")


@pytest.mark.parametrize("failed", [True, False])
def test_each_command_counts_failed_writes_where_graft_yml_says_so(
    project: Path, *, failed: bool
) -> None:
    configure(project, f"failed: {str(failed).lower()}")
    assert {name: has(project) for name, has in FAILED_WRITE.items()} == dict.fromkeys(
        FAILED_WRITE, failed
    )


@pytest.mark.parametrize("inferred", [True, False])
def test_each_command_infers_columns_where_graft_yml_says_so(
    project: Path, *, inferred: bool
) -> None:
    configure(project, f"infer_columns: {str(inferred).lower()}")
    assert {name: has(project) for name, has in INFERRED_EDGE.items()} == dict.fromkeys(
        INFERRED_EDGE, inferred
    )


def answered_tables(folder: Path) -> dict[str, set[str]]:
    return {name: of(folder) for name, of in TABLES.items()}


@pytest.mark.parametrize("one_table", [True, False])
def test_each_command_names_dated_tables_as_graft_yml_says(
    project: Path, *, one_table: bool
) -> None:
    configure(project, f"date_shards: {str(one_table).lower()}")
    shards = {"spark/db.shard_*"} if one_table else {*map(str, SHARDS)}
    names = {"spark/db.out", *shards}
    assert answered_tables(project) == dict.fromkeys(TABLES, names)


@for_each(
    "rules, names",
    [
        ("{from: spark/db.out, to: spark/mart.out}", {"spark/mart.out", "spark/db.shard_*"}),
        ('{from: "spark/db.*", to: "dw/mart.*"}', {"dw/mart.out", "dw/mart.shard_*"}),
        (
            '{from: spark/db.out, to: lake/mart.out}, {from: "spark/db.*", to: "dw/*"}',
            {"lake/mart.out", "dw/shard_*"},
        ),
    ],
    ids=["a table", "a schema", "the first rule that fits"],
)
def test_each_command_names_tables_as_rules_say(project: Path, rules: str, names: set[str]) -> None:
    configure(project, names=rules)
    assert answered_tables(project) == dict.fromkeys(TABLES, names)
