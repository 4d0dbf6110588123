"""Partition columns of data contracts: they map dates where no log names a column."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.calendar import NO_DATES
from dbt_graft.lineage.dates.date_text import dates_text
from dbt_graft.lineage.dates.partition_mapping import MappingEvidence
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.history import History
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, ColumnEdge, Direction, EdgeType, Run, Subtype

RAW, MART = DatasetId("spark", "raw.orders"), DatasetId("spark", "mart.orders")
COPIED = ColumnEdge(
    *("load", MART, "cob", RAW, "cob"),
    *(EdgeType.DIRECT, Subtype.IDENTITY, False, "shape"),
)


@pytest.mark.parametrize(
    ("partitions", "dates", "may_be_all"),
    [({"cob": Grain.DAY}, "3 Oct 2026", False), ({}, "all dates", True)],
)
def test_an_overwrite_is_one_of_its_runs_interval_where_a_contract_has_partitions(
    partitions: Mapping[str, Grain], dates: str, may_be_all: bool
) -> None:
    day = datetime(2026, 10, 3, tzinfo=UTC)
    run = Run("r", "load", "airflow", day, nominal_start=day, nominal_end=day + timedelta(1))
    write = Access(
        *("load", "r", RAW, Kind.TABLE, Direction.WRITE, Operation.INSERT_OVERWRITE, "shape"),
        last_at=day,
    )
    history = AccessHistory(
        Lineage(
            tasks={"load": Task("load", runs=(run,))},
            history=History((write,), partition_columns={RAW: partitions} if partitions else {}),
        )
    )
    [written] = history.writes(RAW)
    assert dates_text(history.written_dates(written) or NO_DATES) == dates
    assert history.may_replace_all(written) is may_be_all


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
