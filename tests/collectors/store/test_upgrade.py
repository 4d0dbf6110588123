"""Stores of earlier formats: brought to this one in place, with a copy kept."""

from __future__ import annotations

import os
import random
import shutil
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbt_graft.collectors.schema import batch, record
from dbt_graft.collectors.store import compaction
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.batches import open_store
from dbt_graft.collectors.store.compaction import compact
from dbt_graft.collectors.store.tables import FORMAT, Batch
from tests.collectors.store.histories import History, answers, shapes_in_use
from tests.collectors.store.test_batches import FORMAT_1
from tests.collectors.store.test_compaction import AT_ONCE, logs
from tests.collectors.store.test_compaction_faults import killed

SINCE_4 = ("periods", "positions", "sequence", "committed_at", "forgotten")


def as_format_4(place: Path) -> None:
    """Rewrite a store as an earlier version would have written it."""
    for path in place.glob("batches/*/batch.parquet"):
        [row] = pq.read_table(path).to_pylist()
        written = record(Batch, row)
        files = []
        for file in written.files:
            rows = pq.read_table(place / file.path)
            rows = rows.drop_columns([one for one in SINCE_4 if one in rows.column_names])
            pq.write_table(rows, place / file.path)
            files.append(replace(file, bytes=(place / file.path).stat().st_size))
        earlier = replace(written, format=4, files=tuple(files))
        table = pa.Table.from_batches([batch(Batch, [earlier])])
        pq.write_table(table.drop_columns(["first_sequence", "replaces"]), path)


@pytest.fixture
def format_1(tmp_path: Path) -> Path:
    zipfile.ZipFile(FORMAT_1).extractall(tmp_path)
    return tmp_path / "store"


@pytest.fixture
def format_4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    history = History(tmp_path / "store", random.Random(4))  # noqa: S311
    for _ in range(7):
        history.grow()
    as_format_4(history.place)
    monkeypatch.setattr(compaction, "FAN_OUT", 4)
    return history.place


@pytest.mark.parametrize(("earlier", "number"), [("format_1", 1), ("format_4", 4)])
def test_the_first_commit_upgrades_a_store_and_keeps_a_copy(
    request: pytest.FixtureRequest, earlier: str, number: int
) -> None:
    place: Path = request.getfixturevalue(earlier)
    (place / "builds").mkdir()
    (place / "builds/000001.json.zst").write_bytes(b"a build")
    (place / "addresses.parquet").write_bytes(b"addresses")
    before = shutil.copytree(place, place.with_name("before"))
    was, shapes = answers(before), shapes_in_use(before)
    assert answers(place) == was, "it is read as it is"

    logs(place, "anew")
    found = open_store(str(place))
    assert {one.format for one in found.batches} == {FORMAT}
    positions = store.positions(str(place))
    assert positions.pop("anew") == ("anew", 0)
    assert positions == was["positions"]
    kept = place / "copies" / f"format-{number}"
    assert answers(kept) == was
    assert shapes_in_use(kept) == shapes
    assert {one.format for one in open_store(str(kept)).batches} == {number}
    assert (kept / "builds/000001.json.zst").read_bytes() == b"a build"

    (place / "addresses.parquet").unlink()
    compact(str(place), AT_ONCE)
    logs(place, "again")
    assert answers(kept) == was, "it does not change any more"
    assert (kept / "addresses.parquet").exists()
    assert [path.name for path in (place / "copies").iterdir()] == [kept.name]


@pytest.mark.slow
@pytest.mark.parametrize("earlier", ["format_1", "format_4"])
def test_an_upgrade_that_is_killed_goes_on_later(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, earlier: str
) -> None:
    place: Path = request.getfixturevalue(earlier)
    was = answers(place)
    kills = 0
    for calls in (3, 30, 80, 150, 300, 600):
        kills += killed(place, calls)
        assert answers(place) == was
    assert kills > 2
    compact(str(place), AT_ONCE)
    assert {one.format for one in open_store(str(place)).batches} == {FORMAT}
    assert answers(place) == was
    [kept] = (place / "copies").iterdir()
    assert answers(kept) == was


def test_a_copy_is_made_where_files_cannot_be_linked(
    format_4: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(source: str, target: str) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    was = answers(format_4)
    logs(format_4, "anew")
    assert answers(format_4 / "copies/format-4") == was


def test_a_store_of_this_format_has_no_copy(tmp_path: Path) -> None:
    logs(tmp_path, "a", "b")
    compact(str(tmp_path))
    assert not (tmp_path / "copies").exists()
    assert sys.modules[compact.__module__].due_blocks(open_store(str(tmp_path))) == []
