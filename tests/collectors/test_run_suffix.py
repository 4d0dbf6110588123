"""Names that jobs have by run, as Spark's log and openlineage-spark write them."""

from __future__ import annotations

from dbt_graft.collectors.run_suffix import cut_run_suffix
from tests.cases import for_each


@for_each(
    "name, job",
    [
        ("load_orders-2026-11-21T05:00", "load_orders"),
        ("load_orders_20261121", "load_orders"),
        ("load_orders_2026_11_21", "load_orders"),
        ("load_orders_2026_11_21_t05_00", "load_orders"),
        ("load_orders_20261121_t050000", "load_orders"),
        ("load_orders_2026_11_21_t05_00_00_123456", "load_orders"),
        ("load_orders_2026_11_21_t05_00_00_z", "load_orders"),
        ("load_orders_scheduled_2026_11_21_t05_00_00_00_00", "load_orders"),
        ("load_8f3a91c2_1234_1234_1234_1234567890ab", "load"),
        ("load_v2", "load_v2"),
        ("report_2026", "report_2026"),
        ("etl_10_12", "etl_10_12"),
    ],
)
def test_what_distinguishes_runs_is_cut_off(name: str, job: str) -> None:
    assert cut_run_suffix(name) == job
