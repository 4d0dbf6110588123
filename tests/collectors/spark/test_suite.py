"""Every case of the suite: the collector reads what was done from the log, and nothing besides.

Once from each of the logs that are checked in under `logs/`, of the Spark that we ship and of older
ones. A sample of the cases is run here, by `make test-all` all of them: what Spark writes today is
what is checked in.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.records import ANY_COLUMN
from tests.cases import for_each
from tests.collectors.spark.suite import CASES, SAMPLE, iceberg
from tests.collectors.spark.suite.case import ExpectedLineage
from tests.collectors.spark.suite.databases import WIDE, WIDE_TARGETS
from tests.collectors.spark.suite.reading import SuiteLog, read
from tests.faces import differences

LOGS = Path(__file__).parent / "logs"
CHECKED_IN = sorted(LOGS.glob("spark-*/*.zstd"))
# Iceberg's jars are no dependency of ours.
ICEBERG = sorted(LOGS.glob("iceberg-*/*.zstd"))
# Before Spark 4 the scan of a table in a JDBC catalog does not say of which.
ANONYMOUS_SCAN = "JDBCScan$$anon$1"
checked_in = cache(read)


def _name(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(SAMPLE, id="sample"),
        pytest.param((*CASES,), id="all", marks=pytest.mark.exhaustive),
    ],
)
def names(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The cases that are run here."""
    chosen: tuple[str, ...] = request.param
    return chosen


@pytest.fixture(scope="session")
def folder(
    names: tuple[str, ...],
    jobs: Path,
    run_jobs: Callable[..., Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The folder in which they ran."""
    folder = jobs if names == SAMPLE else run_jobs(tmp_path_factory.mktemp("suite"), "suite")
    return folder / "suite"


@pytest.fixture(scope="session")
def log(folder: Path) -> SuiteLog:
    """The log of the run as the collector reads it."""
    return read(*sorted(folder.glob("events/*/events_*")))


@pytest.mark.spark
def test_every_case_runs(folder: Path) -> None:
    assert json.loads((folder / "broken.json").read_text()) == {}


@pytest.mark.spark
def test_nothing_of_the_log_of_this_run_is_left_unused(log: SuiteLog) -> None:
    assert log.rejects == []


@pytest.mark.spark
def test_a_case_that_is_run_has_its_lineage(names: tuple[str, ...], log: SuiteLog) -> None:
    expected = {name: CASES[name].expected(log.version) for name in names}
    assert {name: log.cases.get(name, ExpectedLineage()) for name in names} == expected


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
    assert (writer.rows, [str(operation) for operation in writer.operations]) == (
        6,
        ["CREATE TABLE AS", "RENAME"],
    )
    assert {e.to_column for e in lineage.column_edges if e.to_dataset == flow.target} == {
        "order_id"
    }
    assert [name.name for name in lineage.names.former[flow.target]] == ["ml.stage"]


@pytest.mark.parametrize("path", CHECKED_IN, ids=_name)
def test_nothing_of_a_log_is_left_unused(path: Path) -> None:
    assert [reject for reject in checked_in(path).rejects if ANONYMOUS_SCAN not in reject] == []


@pytest.mark.parametrize("path", CHECKED_IN, ids=_name)
def test_a_dataset_that_column_edges_come_from_has_columns(path: Path) -> None:
    records = checked_in(path).records
    columns = {dataset.id: dataset.columns for dataset in records.datasets if dataset.columns}
    named = {edge.from_dataset for edge in records.column_edges if edge.from_column != ANY_COLUMN}
    named.discard(MEMORY)
    assert named <= columns.keys()


@pytest.mark.parametrize("path", ICEBERG, ids=_name)
@for_each("name", iceberg.CASES)
def test_a_job_on_iceberg_has_its_lineage(path: Path, name: str) -> None:
    log = checked_in(path)
    expected = iceberg.CASES[name].expected(log.version, extended=path.stem == "extended")
    assert log.cases.get(name, ExpectedLineage()) == expected


@pytest.mark.parametrize("path", ICEBERG, ids=_name)
@for_each("name", ["change_by_copy", "change_on_read"])
def test_a_job_fails_without_the_column_by_which_it_finds_rows(path: Path, name: str) -> None:
    uses = checked_in(path).lineage(name).column_uses
    assert [(use.task, use.column) for use in uses] == [(name, "order_id")]


@pytest.mark.parametrize("path", ICEBERG, ids=_name)
def test_what_a_log_of_iceberg_does_not_tell_is_a_reject(path: Path) -> None:
    assert [reject.partition(": ")[2] for reject in checked_in(path).rejects] == [
        "there is no rule for the procedure AddFiles",
        "raw.one is in the catalog lake or sea, and the log does not tell in which",
    ]


@pytest.mark.parametrize("path", CHECKED_IN, ids=_name)
@for_each("name", CASES)
def test_a_case_has_its_lineage_in_each_log(path: Path, name: str) -> None:
    log, case = checked_in(path), CASES[name]
    if case.runs_on(log.version):
        expected = case.expected(log.version, extended=path.stem == "extended")
        assert log.cases.get(name, ExpectedLineage()) == expected


@for_each("name", CASES)
def test_all_faces_name_the_same_writers_of_a_case(name: str) -> None:
    newest = checked_in(CHECKED_IN[-1])
    assert differences(newest.lineage(name)) == []
