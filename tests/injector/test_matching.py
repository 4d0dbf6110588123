"""Names in logs under the relations of dbt that they mean."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_graft.injector.matching import short_names
from dbt_graft.injector.relations import relations
from dbt_graft.lineage.dataset import parse_dataset_id


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("spark/raw.orders", "spark/raw.orders"),
        ("spark/RAW.Orders", "spark/raw.orders"),
        ("SPARK/analytics.ORDERS", "spark/analytics.orders"),
        ("spark/other.Table", "spark/other.Table"),
    ],
)
def test_a_relation_goes_by_the_spelling_of_dbt(project: Any, written: str, named: str) -> None:
    names = short_names(project.manifest, relations(project.manifest, "spark"))
    assert str(names(parse_dataset_id(written))) == named
