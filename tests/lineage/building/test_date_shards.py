"""Tables with dates in their names -> one dataset, and the dates of the accesses."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.building.date_shards import date_shards, shard
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Dataset, Records
from dbt_graft.lineage.settings import LineageSettings, OneNameRules
from tests import notation
from tests.cases import for_each
from tests.lineage.shown_periods import shown

AT = datetime(2026, 11, 20, tzinfo=UTC)


def dataset(name: str) -> DatasetId:
    return DatasetId("mssql://crm:1433", f"Shop.dbo.{name}")


def access(name: str, operation: Operation = Operation.INSERT) -> Access:
    return notation.access(operation, dataset(name), at=AT)


def records(*names: str | Access) -> Records:
    return Records(tuple(name if isinstance(name, Access) else access(name) for name in names))


@for_each(
    "name, expected",
    [
        ("orders_20261101", "2026-11-01 2026-11-02 day"),
        ("orders_2026_11_01", "2026-11-01 2026-11-02 day"),
        ("orders_2026_11", "2026-11-01 2026-12-01 month"),
        ("orders_202611", "2026-11-01 2026-12-01 month"),
        ("orders_2026", "2026-01-01 2027-01-01 year"),
        ("orders", ""),
        ("orders_20261301", ""),
        ("orders20261101", ""),
        ("orders_20261101_old", ""),
        ("dim_1", ""),
        ("_20261101", ""),
    ],
)
def test_names_of_shards(name: str, expected: str) -> None:
    found = shard(dataset(name))
    if not expected:
        assert found is None
        return
    assert found is not None
    table, dates, _ = found
    assert table == dataset("orders_*")
    assert dates.start
    assert dates.end
    assert f"{dates.start.date()} {dates.end.date()} {dates.grain}" == expected


def test_two_shards_are_one_dataset_with_both_dates() -> None:
    lineage = build(records("orders_20261101", "orders_20261102", "totals"))
    assert list(lineage.datasets) == [dataset("orders_*"), dataset("totals")]
    assert lineage.names.aliases[dataset("orders_*")] == (
        dataset("orders_20261101"),
        dataset("orders_20261102"),
    )


def test_accesses_of_shards_have_the_dates_of_their_names() -> None:
    used = records("orders_20261101", "orders_20261102")
    shards = date_shards(used, lambda one: one)
    dated = shards.accesses(used.accesses, lambda one: one)
    assert [shown(one.periods) for one in dated] == [
        ["2026-11-01 2026-11-02 day path"],
        ["2026-11-02 2026-11-03 day path"],
    ]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("report_20261101", "orders"), id="one alone"),
        pytest.param(("orders_20261101", "orders_202611"), id="of two kinds"),
        pytest.param(("orders_20261101", "customers_20261101"), id="of two tables"),
    ],
)
def test_what_is_no_series_stays_as_it_is(names: tuple[str, ...]) -> None:
    assert set(build(records(*names)).datasets) == set(map(dataset, names))


def test_folding_can_be_turned_off_for_all_or_some() -> None:
    names = ("orders_20261101", "orders_20261102", "orders_20261103")
    off = build(records(*names), settings=LineageSettings(one_name=OneNameRules(date_shards=False)))
    assert len(off.datasets) == len(names)
    apart = build(
        records(*names),
        settings=LineageSettings(one_name=OneNameRules(apart={dataset(names[0])})),
    )
    assert list(apart.datasets) == [dataset("orders_*"), dataset(names[0])]


def test_the_drop_of_a_shard_is_no_drop_of_all() -> None:
    drop = access("orders_20261001", Operation.DROP)
    dropped = Dataset(dataset("orders_20261001"), dropped_at=AT)
    one = records("orders_20261001", "orders_20261101", drop)
    lineage = build(Records(one.accesses, datasets=(dropped,)))
    assert list(lineage.datasets) == [dataset("orders_*")]
    assert lineage.datasets[dataset("orders_*")].dropped_at is None
