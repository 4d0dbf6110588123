"""Columns of `raw.orders`: catalog and YAML against what logs show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dbt_graft.analysis.checks.column_drift import DbtColumns, column_drift
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Column, Dataset
from tests.cases import for_each

ORDERS = DatasetId("spark", "raw.orders")
MIDNIGHT = datetime(2026, 11, 1, tzinfo=UTC)


def columns(text: str) -> tuple[Column, ...]:
    """`id:int note` as columns."""
    return tuple(Column(*one.partition(":")[::2]) for one in text.split())


def drift(
    catalog: str, *seen: str, described: str = "", written: int | None = None
) -> dict[str, str]:
    """Column -> status; records are seen in hours from 1 on."""
    records = [
        Dataset(ORDERS, columns=columns(one), last_seen=MIDNIGHT + timedelta(hours=hour))
        for hour, one in enumerate(seen, 1)
    ]
    known = DbtColumns({ORDERS: columns(catalog)} if catalog else {}, {ORDERS: described.split()})
    writes = {ORDERS: MIDNIGHT + timedelta(hours=written)} if written else {}
    return {one.column: one.status.value for one in column_drift(known, records, writes)}


@for_each(
    "found, expected",
    [
        (drift("id note", "id note"), {}),
        (drift("id note", "id"), {}),
        (drift("ID Note", "id note"), {}),
        (drift("id", "id note"), {"note": "UNDECLARED"}),
        # The write of the second hour left it out: it is gone by right.
        (drift("id", "id note", "id", written=2), {}),
        (drift("id", "id", "id note", written=1), {"note": "UNDECLARED"}),
        (drift("id", "id", described="id note"), {"note": "PHANTOM"}),
        (drift("id", "id note", described="note"), {"note": "UNDECLARED"}),
        (drift("id:int", "id:bigint"), {"id": "RETYPED"}),
        (drift("id:bigint", "id:int", "id:bigint"), {}),
        (drift("id:int", "id:integer"), {}),
        (drift("id:DECIMAL(10,2)", "id:numeric(10,2)"), {}),
        (drift("id:struct<a:integer>", "id:struct<a:int>"), {}),
        (drift("id:int", "id"), {}),
        (drift("id", "id:int"), {}),
        # What is no column of the table: of Delta and Iceberg, a field, an expression in YAML.
        (drift("id", "id _metadata _file _change_type CTID"), {}),
        (drift("id address", "id address.street"), {}),
        (drift("id", "id", described="lower(id) doc->>'x' \"ID\""), {}),
        (
            drift("id address", "id", described="address.street town.street"),
            {"town.street": "PHANTOM"},
        ),
        # Without a catalog there is nothing to compare with.
        (drift("", "id note", described="x"), {}),
        (drift("id"), {}),
    ],
)
def test_columns_drift(found: dict[str, str], expected: dict[str, str]) -> None:
    assert found == expected
