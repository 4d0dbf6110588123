"""Everyday events whose dates are easily taken for others: what they are about, and what is bad.

The events are not part of this repository: `OPENLINEAGE_DATES` names their folder.
"""

from __future__ import annotations

import gzip
import os
from functools import cache
from pathlib import Path

import pytest

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.bad_writes import BadWrite, bad_dates, bad_runs
from dbt_graft.analysis.dates.dataset_dates import dataset_kind
from dbt_graft.analysis.dates.entity_states import EntityState, entity_states
from dbt_graft.analysis.dates.taint import spread
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES, Dates
from dbt_graft.lineage.dates.date_text import dates_text, parse_dates
from dbt_graft.lineage.dates.period import Grain
from tests.collectors.openlineage.events import records, results_of
from tests.conftest import ROOT

EVENTS = Path(os.environ.get("OPENLINEAGE_DATES", ROOT.parent / "shared/cases/openlineage-dates"))
CASES = (
    *("berlin_dag", "hourly_dag", "iso_hour_partition", "local_day_of_utc_hours"),
    *("month_to_date", "overlap", "snapshot_under_airflow"),
)
HOURS, HITS, REPORT = "t.Y_m_dTH", "j.hits", "b.report"


@pytest.fixture(autouse=True)
def _events() -> None:
    if not EVENTS.is_dir():
        pytest.skip("the events with dates are not here: OPENLINEAGE_DATES")


@cache
def history(case: str, folder: Path, timezone: str = "") -> AccessHistory:
    path = EVENTS / f"{case}.ndjson"
    if not path.exists():
        plain = folder / path.name
        plain.write_bytes(gzip.decompress(Path(f"{path}.gz").read_bytes()))
        path = plain
    return AccessHistory(build(records(results_of(path, timezone=timezone))))


def table(name: str) -> DatasetId:
    return DatasetId("wh", name)


def completed(found: AccessHistory, name: str) -> str:
    states = entity_states(found, table(name))
    dates = states.dates_by_state(ALL_DATES)[EntityState.COMPLETED]
    return dates_text(dates) if states.is_dated else "not dated"


def unit_states(found: AccessHistory, name: str, day: str) -> list[str]:
    """The states of a day."""
    dates = parse_dates(day)
    [unit] = dates.units(Grain.DAY)
    return [state.value for state in entity_states(found, table(name)).of_unit(unit, Grain.DAY)]


def bad_after(found: AccessHistory, bad: list[BadWrite]) -> dict[str, str]:
    """Dataset -> its bad dates at the end; those that only may be bad are so called."""
    taint = spread(found, bad)
    return {
        dataset.name: _text(dates, taint.certain.get((task, dataset), Dates()))
        for (task, dataset), dates in taint.tainted.items()
    }


def _text(dates: Dates, certain: Dates) -> str:
    return dates_text(dates) if certain == dates else f"may be {dates_text(dates - certain)}"


@pytest.mark.parametrize(
    ("case", "name", "timezone", "expected"),
    [
        ("iso_hour_partition", HOURS, "", "1 Oct 2026 00:00 to 06:00"),
        ("hourly_dag", HITS, "", "1 Oct 2026 00:00 to 2 Oct 2026 06:00"),
        # Its one run read all dates of an input.
        ("hourly_dag", "j.day", "", "no dates"),
        ("berlin_dag", "i.daily", "", "22 to 27 Oct 2026"),
        ("berlin_dag", "i.daily", "Europe/Berlin", "22 to 27 Oct 2026"),
        ("snapshot_under_airflow", "b.snap", "", "not dated"),
        ("snapshot_under_airflow", REPORT, "", "1 to 6 Oct 2026"),
        ("month_to_date", "x.mtd", "", "1 to 20 Oct 2026"),
        ("local_day_of_utc_hours", "h.day", "", "2 to 7 Oct 2026"),
        ("overlap", "a.raw", "", "1 to 6 Oct 2026"),
    ],
)
def test_dates_that_are_completed(
    case: str, name: str, timezone: str, expected: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = history(case, tmp_path_factory.getbasetemp(), timezone)
    assert completed(found, name) == expected


@pytest.mark.parametrize(
    ("case", "name", "day", "expected"),
    [
        ("iso_hour_partition", HOURS, "2026-10-01", ["partial"]),
        ("hourly_dag", HITS, "2026-10-01", ["completed"]),
        ("hourly_dag", HITS, "2026-10-02", ["partial"]),
        ("berlin_dag", "i.daily", "2026-10-25", ["completed"]),
        ("berlin_dag", "i.daily", "2026-10-28", ["missing"]),
    ],
)
def test_a_day_is_complete_with_all_of_its_hours(
    case: str, name: str, day: str, expected: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = history(case, tmp_path_factory.getbasetemp())
    assert unit_states(found, name, day) == expected


@pytest.mark.parametrize(
    ("case", "name", "dates", "expected"),
    [
        ("iso_hour_partition", HOURS, "2026-10-01T02", {HOURS: "1 Oct 2026 02:00 to 03:00"}),
        (
            *("hourly_dag", HITS, "2026-10-01T02"),
            # Each later hour may have been a full refresh.
            {HITS: "may be 1 Oct 2026 02:00 to 03:00", "j.day": "may be 1 Oct 2026"},
        ),
        ("berlin_dag", "i.daily", "2026-10-25", {"i.daily": "25 Oct 2026"}),
        (
            *("month_to_date", "x.raw", "2026-10-05"),
            {"x.raw": "5 Oct 2026", "x.mtd": "5 to 20 Oct 2026"},
        ),
        (
            *("local_day_of_utc_hours", "h.hits", "2026-10-02T22"),
            {"h.hits": "2 Oct 2026 22:00 to 23:00", "h.day": "3 Oct 2026"},
        ),
        (
            *("local_day_of_utc_hours", "h.hits", "2026-10-02T21"),
            {"h.hits": "2 Oct 2026 21:00 to 22:00", "h.day": "2 Oct 2026"},
        ),
        ("overlap", "a.raw", "2026-10-05", {"a.raw": "5 Oct 2026", "a.out": "5 Oct 2026"}),
        ("overlap", "a.raw", "2026-10-06", {"a.out": "may be 6 Oct 2026"}),
    ],
)
def test_what_bad_dates_went_into(
    case: str,
    name: str,
    dates: str,
    expected: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    found = history(case, tmp_path_factory.getbasetemp())
    bad = bad_dates(found, table(name), parse_dates(dates))
    assert bad_after(found, bad) == expected


def test_the_next_run_ends_what_was_bad_of_a_snapshot(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    found = history("snapshot_under_airflow", tmp_path_factory.getbasetemp())
    bad_run = found.execution(found.writes(table("b.snap"))[2])
    assert bad_after(found, bad_runs(found, [bad_run])) == {REPORT: "3 Oct 2026"}


@pytest.mark.parametrize(
    ("case", "name", "kind", "mapping", "agreeing"),
    [
        ("hourly_dag", HITS, "time series", "all dates", (0, 30)),
        ("snapshot_under_airflow", "b.snap", "snapshot", "all dates", (0, 0)),
        ("month_to_date", "x.mtd", "cumulative", "month to date", (20, 20)),
        ("local_day_of_utc_hours", "h.day", "time series", "[-2 hours, -2 hours] by day", (6, 6)),
    ],
)
def test_how_a_dataset_grows(
    case: str,
    name: str,
    kind: str,
    mapping: str,
    agreeing: tuple[int, int],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    found = history(case, tmp_path_factory.getbasetemp())
    [edge] = found.upstream[table(name)]
    derived = found.mapping(edge)
    assert dataset_kind(found, table(name)) == kind
    assert (str(derived), (derived.agreeing, derived.of)) == (mapping, agreeing)


def test_all_cases_are_there() -> None:
    assert {path.name.partition(".")[0] for path in EVENTS.glob("*.ndjson*")} >= {*CASES}
