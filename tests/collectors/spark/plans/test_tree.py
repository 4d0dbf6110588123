"""`sparkPlanInfo` as trees of operators."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.spark.plans.tree import from_info


@pytest.mark.parametrize(
    ("metrics", "accumulator"),
    [
        ({"number of output rows": 7}, 7),
        ({"output rows": 8}, 8),  # RAPIDS
        ({"number of output rows": 7, "output rows": 8}, 7),
        ({"input rows": 9}, None),
        ({}, None),
    ],
)
def test_the_metric_of_rows_has_one_of_two_names(
    metrics: dict[str, int], accumulator: int | None
) -> None:
    listed = [{"name": name, "accumulatorId": number} for name, number in metrics.items()]
    node = from_info({"nodeName": "GpuScan parquet ", "metrics": listed})
    assert node.rows_metric_id == accumulator
