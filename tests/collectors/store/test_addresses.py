"""The addresses in the store."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from dbt_graft.collectors.store import door as store
from dbt_graft.lineage.addresses import Address

AT = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)
ADDRESSES = (
    Address("datasets/spark/raw/orders/", "raw.orders", AT),
    Address("tasks/load/", "load", AT, True, AT, "tasks/load_orders/"),
)


def test_addresses_are_read_as_they_were_written(tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    assert store.addresses(place) == ()
    store.write_addresses(place, ADDRESSES)
    store.write_addresses(place, ADDRESSES[::-1])
    assert store.addresses(place) == ADDRESSES[::-1]
    assert [file.name for file in (tmp_path / "store").iterdir()] == ["addresses.parquet"]


def test_they_are_no_batch(tmp_path: Path) -> None:
    store.write_addresses(str(tmp_path), ADDRESSES)
    assert store.batches(str(tmp_path)) == ()
    assert store.collected_at(str(tmp_path)) is None


def test_a_damaged_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "addresses.parquet").write_bytes(b"PAR1 cut")
    with pytest.raises(store.StoreError) as caught:
        store.addresses(str(tmp_path))
    assert str(caught.value) == (
        f"{tmp_path}/addresses.parquet: the addresses of the published pages cannot be read\n"
        "  restore the file from a backup; without it, links to what is gone break"
    )
