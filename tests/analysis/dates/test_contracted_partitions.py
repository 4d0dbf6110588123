"""Partition columns of data contracts: they map dates where no log names a column."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.partition_mapping import MappingEvidence
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import ColumnEdge, EdgeType, Subtype

RAW, MART = DatasetId("spark", "raw.orders"), DatasetId("spark", "mart.orders")
COPIED = ColumnEdge(
    *("load", MART, "cob", RAW, "cob"),
    *(EdgeType.DIRECT, Subtype.IDENTITY, False, "shape"),
)


@pytest.mark.parametrize(
    ("partitions", "edges", "mapping"),
    [
        ({"cob": Grain.DAY}, (COPIED,), "same day"),
        ({"region": Grain.DAY}, (COPIED,), "all dates"),
        ({"cob": Grain.DAY}, (), "all dates"),
        ({}, (COPIED,), "all dates"),
    ],
)
def test_dates_go_with_a_column_that_a_contract_names(
    partitions: Mapping[str, Grain], edges: tuple[ColumnEdge, ...], mapping: str
) -> None:
    history = AccessHistory(
        Lineage(
            flows=(Flow(RAW, MART, "load"),),
            column_edges=edges,
            history=History(partition_columns={RAW: partitions} if partitions else {}),
        )
    )
    found = history.mapping(("load", RAW, MART))
    assert str(found) == mapping
    assert found.is_rule is (mapping == "same day")
    assert (found.evidence is MappingEvidence.COLUMN) is found.is_rule
