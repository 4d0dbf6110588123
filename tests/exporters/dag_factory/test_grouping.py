"""Schedules that Airflow takes."""

from __future__ import annotations

from dbt_graft.exporters.dag_factory.settings import is_schedule
from tests.cases import for_each


@for_each(
    "text, expected",
    [
        ("0 5 * * *", True),
        ("*/15 0-6 1,15 * MON-FRI", True),
        ("0 0 5 * * *", True),
        ("0 0 L * ?", True),
        ("0 5 * * MON#1,FRI#3", True),
        ("0 0 * jan,jul TUE-SUN/2", True),
        ("0 0 l * *", True),
        ("0\t5  * * *", True),
        ("0 0 * * * 5 2026", True),
        ("@daily", True),
        ("@Daily", True),
        ("@every 5m", False),
        ("nightly", False),
        ("run every night at three", False),
        ("0 5 * *", False),
        ("0 5 * * *; x", False),
        ("", False),
    ],
)
def test_schedules(text: str, expected: bool) -> None:
    assert is_schedule(text) is expected
