"""Checks have ids, and follow the rules for names of datasets."""

from __future__ import annotations

import pytest

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.checks import Check, check_of
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import NodeResult, Records

CHECK = Check(DatasetId("s3://bucket", 'raw/"ö"'), "not_null", "id, 2", "x")


@pytest.mark.parametrize("check", [CHECK, Check(None, "", "", "add_up")])
def test_the_id_of_a_check_is_the_check(check: Check) -> None:
    assert check_of(check.id) == check


def test_the_id_of_dbt_is_no_check() -> None:
    assert check_of("test.shop.not_null_orders_id") is None


def test_checks_follow_the_rules_for_names() -> None:
    results = (NodeResult(CHECK.id, "i-1"), NodeResult("test.shop.a", "i-1"))
    lineage = build(Records(node_results=results), lambda one: DatasetId("prod", one.name))
    moved = CHECK._replace(dataset=DatasetId("prod", 'raw/"ö"')).id
    assert {*lineage.dbt.node_results} == {moved, "test.shop.a"}
    assert lineage.dbt.node_results[moved][0].node_id == moved
