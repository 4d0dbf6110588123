"""Taints on record, in the store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dbt_graft.collectors.store import door as store
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES
from dbt_graft.lineage.dates.date_text import parse_dates
from dbt_graft.lineage.recorded_taint import RecordedSupersession, RecordedTaint

AT = datetime(2026, 11, 20, 8, 30, 0, 7, tzinfo=UTC)
ORDERS, MART = DatasetId("spark", "raw.Orders"), DatasetId("file", "/über/\u202emart")
TAINT = RecordedTaint(
    number=1,
    recorded_at=AT,
    at=AT - timedelta(hours=2),
    dataset=ORDERS,
    begin=parse_dates("2026-10-03..2026-10-05,2026-10-07T05"),
    task="load",
    run="r1",
    reason="double rows",
    link="https://incidents.example.com/512",
    tainted={("load", ORDERS): parse_dates("2026-10-03.."), ("snap", MART): ALL_DATES},
    doubtful={("snap", MART): parse_dates("..2026-10-03")},
    superseded=(RecordedSupersession(ORDERS, parse_dates("2026-10-05"), "load", "r2", AT),),
)


def test_taints_are_read_as_they_were_written(tmp_path: Path) -> None:
    place = str(tmp_path / "store")
    assert (store.recorded_taints(place), store.next_taint_number(place)) == ((), 1)

    store.write_taint(place, TAINT)
    second = replace(TAINT, number=2, cleared_at=AT, task="", run="")
    store.write_taint(place, second)

    assert store.recorded_taints(place) == (second, TAINT)
    assert store.next_taint_number(place) == 3


def test_a_taint_replaces_its_own_file(tmp_path: Path) -> None:
    store.write_taint(str(tmp_path), TAINT)
    store.write_taint(str(tmp_path), replace(TAINT, cleared_at=AT))

    assert [file.name for file in (tmp_path / "taints").iterdir()] == ["000001.json"]
    assert store.recorded_taints(str(tmp_path))[0].cleared_at == AT


def test_they_are_no_batch(tmp_path: Path) -> None:
    store.write_taint(str(tmp_path), TAINT)

    assert store.batches(str(tmp_path)) == ()
    assert store.damages(str(tmp_path)) == store.damages(str(tmp_path / "none"))


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"at": 1}', b"\xff"])
def test_a_damaged_file_is_a_clear_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "taints").mkdir()
    (tmp_path / "taints/000007.json").write_bytes(content)

    with pytest.raises(store.StoreError) as caught:
        store.recorded_taints(str(tmp_path))

    assert str(caught.value).startswith(f"{tmp_path}/taints/000007.json: a taint on record")
