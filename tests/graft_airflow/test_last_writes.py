"""The last write of a dataset, by the names that people write."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graft_airflow.document import LineageDocument
from graft_airflow.last_writes import UnclearDatasetError, last_write, moment_of
from tests.cases import for_each
from tests.graft_airflow.lineage_file import NIGHT, text


@pytest.mark.parametrize(
    ("name", "dataset", "written"),
    [
        ("spark/raw.orders", "spark/raw.orders", NIGHT),
        (" SPARK/Raw.Orders ", "spark/raw.orders", NIGHT),
        ("raw.orders", "spark/raw.orders", NIGHT),
        ("mssql://crm:1433/Shop.dbo.Orders", "mssql://crm:1433/Shop.dbo.Orders", None),
    ],
)
def test_a_dataset_is_found(name: str, dataset: str, written: datetime | None) -> None:
    write = last_write(LineageDocument(text()), name)
    assert write
    assert (write.dataset, write.written_at) == (dataset, written)
    assert write.as_of == "2026-11-22T05:30:00Z"


@pytest.mark.parametrize("name", ["", " ", "nobody", "aw.orders", "order"])
def test_a_dataset_that_is_not_there_is_not_found(name: str) -> None:
    assert last_write(LineageDocument(text()), name) is None


def test_a_name_of_two_is_refused_with_both() -> None:
    with pytest.raises(UnclearDatasetError, match=r"mssql.*Orders, spark/raw\.orders"):
        last_write(LineageDocument(text()), "orders")


@for_each(
    "text_, moment",
    [
        ("2026-11-22T03:00:00Z", NIGHT),
        ("2026-11-22T04:00:00+01:00", NIGHT),
        ("2026-11-22T03:00:00", NIGHT),
        ("2026-11-22T03:00:00.250000Z", datetime(2026, 11, 22, 3, 0, 0, 250_000, UTC)),
        ("yesterday", None),
        ("", None),
    ],
)
def test_times_are_aware(text_: str, moment: datetime | None) -> None:
    assert moment_of(text_) == moment
