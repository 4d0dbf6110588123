"""dbt's builds as accesses: when they read and wrote, and of microbatches which dates."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.dbt_accesses import dbt_accesses
from dbt_graft.analysis.dates.entity_states import EntityState, entity_states
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import dates_of
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.dbt_runs import DbtRuns
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Dataset, Direction, NodeResult, Status

RAW, ORDERS = DatasetId("spark", "raw.orders"), DatasetId("spark", "dm.orders")
AT = datetime(2026, 11, 20, 5, tzinfo=UTC)
FIRST = datetime(2026, 11, 1, tzinfo=UTC)


def built(status: Status, days: int) -> Lineage:
    """A lineage with one build of a model, of which batches of so many days went well."""
    last = FIRST.replace(day=1 + days)
    periods = (Period(FIRST, last, Grain.DAY, PeriodEvidence.INTERVAL),) if days else ()
    name = "model.shop.orders"
    return Lineage(
        {one: Dataset(one) for one in (RAW, ORDERS)},
        definitions={name: Definition(name, DefinitionKind.DBT, ORDERS, (RAW,), Operation.MERGE)},
        dbt=DbtRuns(
            {
                name: (NodeResult(name, "i1", "run", "", status, AT, AT, periods=periods),),
            }
        ),
    )


@pytest.mark.parametrize(
    ("status", "days", "writes"),
    [
        pytest.param(Status.OK, 0, 1, id="a model without batches"),
        pytest.param(Status.OK, 3, 1, id="all batches went well"),
        pytest.param(Status.FAILED, 2, 1, id="some batches failed"),
        pytest.param(Status.FAILED, 0, 0, id="the model failed"),
    ],
)
def test_a_build_writes_what_went_well(status: Status, days: int, writes: int) -> None:
    accesses = [
        access
        for access in dbt_accesses(built(status, days))
        if access.direction is Direction.WRITE
    ]
    assert len(accesses) == writes
    assert all(access.status is Status.OK for access in accesses)


def test_the_dates_of_batches_are_states_of_the_model() -> None:
    states = entity_states(AccessHistory(built(Status.FAILED, 2)), ORDERS)
    month = Period(FIRST, FIRST.replace(day=6), Grain.DAY, PeriodEvidence.INTERVAL)
    dates = states.dates_by_state(dates_of((month,)))
    assert (states.is_dated, states.grain) == (True, Grain.DAY)
    assert dates[EntityState.COMPLETED] == dates_of(
        (Period(FIRST, FIRST.replace(day=3), Grain.DAY, PeriodEvidence.INTERVAL),)
    )


def test_what_a_batch_reads_has_no_dates_of_its_own() -> None:
    read = [
        access for access in dbt_accesses(built(Status.OK, 2)) if access.direction is Direction.READ
    ]
    assert [one.periods for one in read] == [()]
