"""`graft logs spark` shows what a log holds, to people and to programs, and never runs Java."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.building.memory import MEMORY
from tests.collectors.spark.conftest import make_log, node  # noqa: F401

Make = Callable[..., Any]
AT = "InMemoryFileIndex(1 paths)[file:/landing/orders]"


@pytest.fixture
def log(make_log: Make, node: Make, tmp_path: Path) -> Path:  # noqa: F811
    """A log with a read and a write of one task, with another line in between."""
    write = node(
        "Execute InsertIntoHadoopFsRelationCommand",
        node("Scan csv", Location=AT, rows=1),
        args="file:/out/orders, false, Parquet, [path=file:/out/orders], Overwrite, [a]",
        rows=2,
    )
    text = make_log(
        {"plan": write, "metrics": ((1, 10), (2, 9)), "description": "load \x1b[31morders"},
        {"plan": node("Scan hive raw.a"), "description": "look"},
        app="shop",
    )
    path = tmp_path / "app-1"
    path.write_bytes(text + b"oops\n")
    return path


def show(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["logs", "spark", *arguments])
    return done.exit_code, done.output


def test_the_tree_names_tasks_and_what_they_read_and_wrote(log: Path) -> None:
    code, output = show(str(log))
    assert code == 0
    assert output.splitlines() == [
        f"{log}: shop",
        "  task shop: ok, 1970-01-01 00:00:01 UTC, 89.0 s",
        "    inputs",
        "      file/landing/orders  INSERT OVERWRITE, 10 rows",
        "      spark/raw.a  SELECT",
        "    outputs",
        "      file/out/orders  INSERT OVERWRITE, 9 rows",
        "    incomplete: columns: the log does not show the query",
        "  rejected: app-1, line 9: no Spark event",
    ]
    assert show(str(log), "--strict")[0] == 3


def test_cut_plans_are_incomplete(make_log: Make, node: Make, tmp_path: Path) -> None:  # noqa: F811
    cut = node("Scan csv", Location="InMemoryFileIndex(9 paths)[file:/in/a, ...]")
    (tmp_path / "a").write_bytes(make_log({"plan": cut}, app="shop"))
    assert show(str(tmp_path / "a"))[1].splitlines()[-1] == (
        "    incomplete: inputs: the list of paths is truncated: "
        "raise spark.sql.maxMetadataStringLength"
    )


def test_json_holds_the_same(log: Path) -> None:
    code, output = show(str(log), "--json")
    assert code == 0
    [shown] = json.loads(output)["data"]["applications"]
    [task] = shown["tasks"]
    assert (shown["name"], task["task"], task["run_id"]) == ("shop", "shop", "app-shop")
    assert [one["name"] for one in task["inputs"]] == ["/landing/orders", "raw.a"]
    assert [(one["name"], one["rows"]) for one in task["outputs"]] == [("/out/orders", 9)]


def test_a_table_that_is_only_created_is_a_change_and_no_output(
    make_log: Make,  # noqa: F811
    node: Make,  # noqa: F811
    tmp_path: Path,
) -> None:
    name = "CreateDataSourceTableCommand"
    text = (
        f"== Physical Plan ==\nExecute {name} (1)\n   +- {name} (2)\n\n\n(1) Execute {name}\n"
        f"Output: []\n\n(2) {name}\nArguments: `spark_catalog`.`ml`.`t`, false\n"
    )
    create = {"plan": node(f"Execute {name}"), "text": text}
    (tmp_path / "a").write_bytes(make_log(create, app="shop"))
    [task] = json.loads(show(str(tmp_path / "a"), "--json")[1])["data"]["applications"][0]["tasks"]
    assert (task["outputs"], [change["name"] for change in task["changes"]]) == ([], ["ml.t"])
    assert show(str(tmp_path / "a"))[1].splitlines()[-2:] == [
        "    changes",
        "      spark/ml.t  CREATE TABLE",
    ]


def test_task_names_are_taken_from_the_option(log: Path) -> None:
    code, output = show(str(log), "--task-from", "job_description")
    assert code == 0
    assert [line for line in output.splitlines() if line.startswith("  task")] == [
        "  task load  [31morders: ok, 1970-01-01 00:00:01 UTC, 89.0 s",
        "  task look: ok, 1970-01-01 00:00:01 UTC, 89.0 s",
    ]
    assert show(str(log), "--task-from", "its_name")[0] == 2


def test_an_application_without_a_name_is_shown_too(
    make_log: Make,  # noqa: F811
    node: Make,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "a").write_bytes(make_log({"plan": node("Scan hive raw.a")}, app="pyspark-shell"))
    (tmp_path / "b").write_bytes(make_log({"plan": node("Scan hive raw.a")}, app="dbt"))
    lines = show(str(tmp_path))[1].splitlines()
    assert lines[1].startswith("  task (no name): ok")
    assert lines[-1] == "  run by dbt: left out, dbt's artifacts have its lineage"


def test_a_missing_log_is_an_error() -> None:
    code, output = show("no/such/log")
    assert (code, "there is nothing at this path" in output) == (1, True)


def test_columns_through_a_tasks_memory_are_marked_as_inferred(root: Path) -> None:
    log = root / "tests/collectors/spark/logs/spark-3.5/suite.zstd"
    _, output = show(str(log), "--task-from", "job_description")
    assert "age <- spark/raw.customers.age (transformation, inferred)" in output
    assert str(MEMORY) not in output


def test_what_of_a_folder_is_left_out_is_reported(log: Path) -> None:
    log.write_bytes(log.read_bytes().removesuffix(b"oops\n"))
    (log.parent / "self").symlink_to(".")
    assert show(str(log.parent), "--strict")[0] == 0
    log.with_name(os.fsdecode(b"\xff")).write_bytes(log.read_bytes())
    code, output = show(str(log.parent), "--strict")
    assert code == 3
    assert f"{log.parent}/\\udcff: its name is not UTF-8: it is left out\n" in output
    assert output.count("task shop: ok") == 1
