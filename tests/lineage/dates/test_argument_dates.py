"""Arguments of a command -> the days that it was started for."""

from __future__ import annotations

from datetime import datetime

from dbt_graft.lineage.dates.argument_dates import argument_interval
from tests.cases import for_each

SUBMIT = "org.apache.spark.deploy.SparkSubmit --conf spark.master=yarn"


@for_each(
    "command, expected",
    [
        ("load.py --date 2026-11-01", "2026-11-01 2026-11-02"),
        ("load.py --run-date=2026-11-01", "2026-11-01 2026-11-02"),
        ("load.py --ds 20261101", "2026-11-01 2026-11-02"),
        ("load.py ds=2026-11-01", "2026-11-01 2026-11-02"),
        ("load.py 2026-11-01", "2026-11-01 2026-11-02"),
        ("load.py --date 2026-11-01T02:00:00+00:00", "2026-11-01 2026-11-02"),
        ("load.py --date 2026-11", "2026-11-01 2026-12-01"),
        ("load.py --start-date 2026-11-01 --end-date 2026-11-03", "2026-11-01 2026-11-04"),
        (
            "dbt run --event-time-start 2026-11-01 --event-time-end 2026-11-03",
            "2026-11-01 2026-11-03",
        ),
        (f"{SUBMIT} load.py --date 2026-11-01 --date 2026-11-01", "2026-11-01 2026-11-02"),
        (
            "load.py --start 2026-11-01T05:00 --end 2026-11-01T06:00",
            "2026-11-01 05:00 2026-11-01 06:00",
        ),
        (
            "load.py --from 2026-11-01T01:00:00+01:00 --to 2026-11-01T07:00:00+01:00",
            "2026-11-01 2026-11-01 06:00",
        ),
        (
            "load.py --from 2026-11-01T00:00 --to 2026-11-01T06:00",
            "2026-11-01 2026-11-01 06:00",
        ),
        (f"{SUBMIT} load.py --full", ""),
        ("load.py --date 2026-11-01 --date 2026-11-02", ""),
        ("load.py --start-date 2026-11-01", ""),
        ("load.py --from 0001-01-01T00:00:00+05:00 --to 9999-12-31T23:00:00-05:00", ""),
        ("load.py --start-date 2026-11-03 --end-date 2026-11-01", ""),
        ("load.py 2026-11-01 2026-11-05", ""),
        ("load.py --birth-date 1990-05-17", ""),
        ("load.py --customer-dob 1990-05-17", ""),
        ("load.py --version 20261101", ""),
        ("load.py 20261101", ""),
        ("load.py --date today", ""),
        ("load.py --date 2026-13-01", ""),
        ("", ""),
    ],
)
def test_arguments(command: str, expected: str) -> None:
    found = argument_interval(command)
    assert " ".join(map(_text, found or ())) == expected


def _text(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}".removesuffix(" 00:00")
