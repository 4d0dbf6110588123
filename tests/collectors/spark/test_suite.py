"""Every case of the suite: the collector reads what was done from the log, and nothing besides.

Once from the log of the Spark that we ship, run here, and once from each of the logs of older ones
that are checked in under `logs/`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from dbt_graft.collectors.java import java_home
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.records import ANY_COLUMN
from tests.cases import for_each
from tests.collectors.spark.suite import CASES, iceberg
from tests.collectors.spark.suite.case import ExpectedLineage
from tests.collectors.spark.suite.databases import WIDE, WIDE_TARGETS
from tests.collectors.spark.suite.reading import SuiteLog, read
from tests.faces import differences

ROOT = Path(__file__).resolve().parents[3]
LOGS = Path(__file__).parent / "logs"
OLDER = sorted(LOGS.glob("spark-*/*.zstd"))
# Iceberg's jars are no dependency of ours.
ICEBERG = sorted(LOGS.glob("iceberg-*/*.zstd"))
# Before Spark 4 the scan of a table in a JDBC catalog does not say of which.
ANONYMOUS_SCAN = "JDBCScan$$anon$1"
older = cache(read)


def _name(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the suite ran."""
    folder = tmp_path_factory.mktemp("suite") / "shop"
    python = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.collectors.spark.suite.run", str(folder)],
        cwd=folder.parent,
        env={**os.environ, "JAVA_HOME": java_home(), **python},
        capture_output=True,
        text=True,
        timeout=1_800,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return folder


@pytest.fixture(scope="session")
def log(folder: Path) -> SuiteLog:
    """The log of the run as the collector reads it."""
    return read(*sorted(folder.glob("events/*/events_*")))


@pytest.mark.spark
def test_every_case_runs(folder: Path) -> None:
    assert json.loads((folder / "broken.json").read_text()) == {}


@pytest.mark.spark
def test_nothing_of_the_log_is_left_unused(log: SuiteLog) -> None:
    assert log.rejects == []


@pytest.mark.spark
@for_each("name", CASES)
def test_a_case_has_its_lineage(name: str, log: SuiteLog) -> None:
    assert log.cases.get(name, ExpectedLineage()) == CASES[name].expected(log.version)


@pytest.mark.spark
@for_each("name", CASES)
def test_all_faces_name_the_same_writers_of_a_case(name: str, log: SuiteLog) -> None:
    assert differences(log.lineage(name)) == []


@pytest.mark.spark
@pytest.mark.parametrize("target", WIDE_TARGETS)
def test_a_wide_table_has_the_columns_that_the_text_of_its_command_leaves_out(
    target: str, log: SuiteLog
) -> None:
    assert log.columns[target] == WIDE


@pytest.mark.spark
def test_a_table_that_is_built_and_renamed_is_loaded_under_its_new_name(log: SuiteLog) -> None:
    lineage = log.lineage("built_then_renamed")
    (flow,) = lineage.flows
    assert (flow.source.name, flow.target.name) == ("raw.orders", "ml.final")
    (writer,) = lineage.writers(flow.target)
    assert (writer.rows, [str(one) for one in writer.operations]) == (
        6,
        ["CREATE TABLE AS", "RENAME"],
    )
    assert {e.to_column for e in lineage.column_edges if e.to_dataset == flow.target} == {
        "order_id"
    }
    assert [name.name for name in lineage.names.former[flow.target]] == ["ml.stage"]


@pytest.mark.parametrize("path", OLDER, ids=_name)
def test_nothing_of_an_older_log_is_left_unused(path: Path) -> None:
    assert [reject for reject in older(path).rejects if ANONYMOUS_SCAN not in reject] == []


@pytest.mark.parametrize("path", OLDER, ids=_name)
def test_a_dataset_that_column_edges_come_from_has_columns(path: Path) -> None:
    found = older(path).records
    columns = {dataset.id: dataset.columns for dataset in found.datasets if dataset.columns}
    named = {edge.from_dataset for edge in found.column_edges if edge.from_column != ANY_COLUMN}
    named.discard(MEMORY)
    assert named <= columns.keys()


@pytest.mark.parametrize("path", ICEBERG, ids=_name)
@for_each("name", iceberg.CASES)
def test_a_job_on_iceberg_has_its_lineage(path: Path, name: str) -> None:
    log = older(path)
    expected = iceberg.CASES[name].expected(log.version, extended=path.stem == "extended")
    assert log.cases.get(name, ExpectedLineage()) == expected


@pytest.mark.parametrize("path", ICEBERG, ids=_name)
def test_what_a_log_of_iceberg_does_not_tell_is_a_reject(path: Path) -> None:
    rejects = [reject.partition(": execution ")[2] for reject in older(path).rejects]
    assert [reject.partition(": ")[2] for reject in rejects] == [
        "there is no rule for the procedure AddFiles",
        "raw.one is in the catalog lake or sea, and the log does not tell in which",
    ]


@pytest.mark.parametrize("path", OLDER, ids=_name)
@for_each("name", CASES)
def test_a_case_has_its_lineage_in_an_older_log(path: Path, name: str) -> None:
    log, case = older(path), CASES[name]
    if case.runs_on(log.version):
        expected = case.expected(log.version, extended=path.stem == "extended")
        assert log.cases.get(name, ExpectedLineage()) == expected
