"""Periods and positions as facets, which our own reader reads again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from packaging.version import Version

from dbt_graft.collectors.openlineage.event import NamedDataset, read_event
from dbt_graft.collectors.openlineage.fragment import fragment
from dbt_graft.collectors.openlineage.jobs import Job
from dbt_graft.collectors.openlineage.periods import event_periods, event_positions
from dbt_graft.exporters.openlineage.run_facets import (
    extraction_error,
    run_facets,
    subset,
    version_facets,
)
from dbt_graft.exporters.openlineage.run_work import AccessCounts
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dates.date_columns import NO_RULES
from dbt_graft.lineage.dates.period import DataPosition, Grain, Period, PeriodEvidence
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Direction, Records, Reject, Run
from tests.cases import for_each
from tests.collectors.openlineage.events import event
from tests.exporters.openlineage import shop
from tests.exporters.openlineage.conformance import validator
from tests.lineage.shown_periods import shown


def day(number: int) -> datetime:
    return datetime(2026, 11, number, tzinfo=UTC)


def period(start: int | None, end: int | None, column: str = "ds") -> Period:
    sides = (None if at is None else day(at) for at in (start, end))
    return Period(*sides, Grain.DAY, PeriodEvidence.PARTITION, column)


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize(
    ("periods", "expected"),
    [
        ((period(1, 3),), ["ds 2026-11-01 2026-11-03 day predicate"]),
        (
            (period(1, 2), period(4, None)),
            ["ds 2026-11-01 2026-11-02 day predicate", "ds 2026-11-04 - day predicate"],
        ),
    ],
    ids=["one", "two"],
)
def test_periods_are_read_again(
    periods: tuple[Period, ...], expected: list[str], direction: Direction
) -> None:
    facet = subset(periods, direction)
    assert facet is not None
    assert list(validator(facet["_schemaURL"]).iter_errors(facet)) == []
    dataset = NamedDataset("spark", "raw.orders", {}, {"subset": facet})
    found = event_periods(dataset, is_output=direction is Direction.WRITE)
    assert shown(found) == expected


def test_dates_without_a_column_are_no_condition() -> None:
    assert subset((period(1, 2, column=""),), Direction.READ) is None
    assert subset((), Direction.READ) is None


# The version of an engine -> as PEP 440 has it, which consumers parse.
VERSIONS = {
    None: "0.0.0+unknown",
    "4.0.1": "4.0.1",
    "445": "445",
    "v1.2": "v1.2",
    "16.0.1000.6": "16.0.1000.6",
    "4.0.0.dev1": "4.0.0.dev1",
    "2.0.0-preview.3": "2.0.0-preview.3",
    "1.10.0-b3": "1.10.0-b3",
    "3.3.0-amzn-1": "3.3.0+amzn.1",
    "3.2.1.1.4-SNAPSHOT": "3.2.1.1.4+SNAPSHOT",
    "2.4.0.cloudera2": "2.4.0+cloudera2",
    "13.3.x-scala2.12": "13.3+x.scala2.12",
    "3.3.0-": "3.3.0",
    "trunk": "0.0.0+trunk",
}


@for_each("version, expected", VERSIONS.items())
def test_a_version_of_an_engine_can_be_taken_apart_and_is_read_again(
    version: str | None, expected: str
) -> None:
    run = Run("run-1", "load", "spark", engine_version=version)
    facets = run_facets(LineageSnapshot(Lineage(), day(1)), run)
    assert facets["processing_engine"]["version"] == expected
    Version(expected)
    document = event(run_facets=facets, outputs=["spark raw.b"])
    found = fragment(Job("etl/load", "load", "spark"), [read_event(document)], "log", NO_RULES)
    assert [each.engine_version for each in found.runs] == [version]


def test_records_of_a_log_that_could_not_be_read_are_errors_of_the_runs_of_its_task() -> None:
    runs = [Run(f"run-{n}", "load", "sqlserver", origin=f"log-{n}") for n in (1, 2)]
    rejects = [Reject("log-1", position, "it is cut") for position in "12"]
    lineage = build(Records(runs=tuple(runs), rejects=tuple(rejects)))
    snapshot = LineageSnapshot(lineage, day(1))
    facet = extraction_error(snapshot, runs[0], ())
    assert facet is not None
    assert list(validator(facet["_schemaURL"]).iter_errors(facet)) == []
    assert (facet["totalTasks"], facet["failedTasks"]) == (2, 2)
    assert facet["errors"] == [{"errorMessage": "it is cut"}]
    assert extraction_error(snapshot, runs[1], ()) is None


def test_versions_are_read_again() -> None:
    facets = version_facets((DataPosition("delta version", "3", "7"),))
    for facet in facets.values():
        assert list(validator(facet["_schemaURL"]).iter_errors(facet)) == []
    assert event_positions(NamedDataset("spark", "t", facets, {})) == (
        DataPosition("delta version", "7", "7"),
    )
    assert version_facets((DataPosition("files", "3", "7"),)) == {}


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (Operation.CREATE_TABLE, ["ds 2026-11-01 2026-11-03 day partition"]),
        (Operation.INSERT, []),  # of dates that are not known
    ],
)
def test_an_empty_table_that_is_made_before_its_rows_is_of_no_date(
    before: Operation, expected: list[str]
) -> None:
    counts = AccessCounts()
    counts.add(shop.access("run", shop.ORDERS, before, "shape"))
    counts.add(shop.access("run", shop.ORDERS, Operation.INSERT, "shape", periods=(period(1, 3),)))
    assert shown(counts.periods or ()) == expected
