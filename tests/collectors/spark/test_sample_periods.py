"""Public event logs that nobody here made: their dates and positions are well-formed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import EventFile, assemble
from dbt_graft.lineage.dates.period import DataPosition
from dbt_graft.lineage.records import Access
from tests.collectors.spark.conftest import SAMPLES
from tests.lineage.shown_periods import shown


def accesses(name: str) -> tuple[Access, ...]:
    file = SAMPLES / name
    if not file.exists():
        pytest.skip(f"{file} is not there: a sample from the field")
    part = EventFile(name, lambda file=file: file.open("rb"))
    return tuple(assemble(name, [part], SparkLogs("x", "x", unnamed_task="t")).records.accesses)


def test_a_condition_on_the_year_of_a_dimension() -> None:
    [dated] = [access for access in accesses("gpu_q66_eventlog.zstd") if access.periods]
    assert dated.dataset.name.endswith("date_dim")
    assert shown(dated.periods) == ["d_year 2001-01-01 2002-01-01 year predicate"]


def test_the_positions_of_all_batches_of_a_stream_are_one() -> None:
    positions = [
        access.positions for access in accesses("streaming_eventlog.zstd") if access.positions
    ]
    assert positions == [(DataPosition("files", "139044226", "139046332"),)]


@pytest.mark.parametrize(
    "name", ["photon_eventlog.zstd", "complex_dec_eventlog.zstd", "databricks_airline_eventlog.gz"]
)
def test_periods_are_sorted_and_apart(name: str) -> None:
    for access in accesses(name):
        for a, b in pairwise(access.periods):
            assert a.end
            assert b.start
            assert a.end <= b.start
