"""The name index: keys of names, and shards that hold all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.catalog.name_index import (
    FOLDER,
    KEY,
    SHARD_BYTES,
    IndexedName,
    NameKind,
    file_name,
    keys,
    words,
    write_name_index,
)
from tests.cases import for_each

_CALL = re.compile(r"graft\.names\.add\((.*?), (null|\[[\d,]*\]), \[\n(.*)\n\]\)\n", re.DOTALL)


@for_each(
    "name, expected",
    [
        ("raw.orders", ["raw", "orders"]),
        ("Crm.dbo.PriceList", ["crm", "dbo", "price", "list"]),
        ("customerOrderId", ["customer", "order", "id"]),
        ("HTTPServer_v2", ["http", "server", "v2"]),
        ("landing/2024/orders", ["landing", "2024", "orders"]),
        ("ÄRGER_straße", ["ärger", "straße"]),
        ("نام_جدول", ["نام", "جدول"]),
        ("#incoming", ["incoming"]),
        ("🎉", []),
    ],
)
def test_words_begin_at_borders(name: str, expected: list[str]) -> None:
    assert words(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("raw.customerOrders", {"rawcustomerorders", "customerorders", "orders"}),
        ("🎉 🎉", {"🎉🎉"}),
        ("   ", set()),
        ("x" * 500, {"x" * KEY}),
    ],
)
def test_a_name_has_a_key_for_each_word(name: str, expected: set[str]) -> None:
    assert keys(name) == expected


def test_another_name_has_the_key_of_its_last_part() -> None:
    other = keys("file/srv/shop/warehouse/raw.db/order_lines/", NameKind.OTHER)
    assert other == {"orderlines"}


def test_a_name_of_many_words_has_few_keys() -> None:
    assert len(keys("_".join("abcdefghijklmnopqrstuvwxyz"))) == 12


def _shards(site: Path) -> dict[str, tuple[Any, list[Any]]]:
    """Prefix -> what it left out by kind, and its rows; as the browser reads them."""
    found = {}
    for file in (site / FOLDER).glob("n-*.js"):
        match = _CALL.fullmatch(file.read_text(encoding="utf-8"))
        assert match, file
        prefix = orjson.loads(match[1])
        assert file.name == file_name(prefix)
        found[prefix] = (orjson.loads(match[2]), orjson.loads(f"[{match[3]}]"))
    return found


def _written(site: Path, entries: Iterable[IndexedName]) -> dict[str, tuple[Any, list[Any]]]:
    write_name_index(site, entries)
    return _shards(site)


def test_few_names_are_one_shard(tmp_path: Path) -> None:
    entry = IndexedName(NameKind.TASK, "load", "tasks/load/", ("Spark",), note="task")
    assert _written(tmp_path, [entry]) == {
        "": (None, [[2, "load", "tasks/load/", ["Spark"], [], "task"]])
    }
    listed = (tmp_path / FOLDER / "index.js").read_text()
    assert listed == 'graft.names.list([""],[])\n'


def test_every_name_is_in_the_shards_of_all_its_keys(tmp_path: Path) -> None:
    names = [f"layer{n % 7}.model_{n:04}_{word}" for n in range(900) for word in ("in", "out")]
    entries = [IndexedName(NameKind.DATASET, name, f"datasets/{name}/") for name in names]
    shards = _written(tmp_path, entries)
    full = {prefix: rows for prefix, (omitted, rows) in shards.items() if omitted is None}
    assert len(full) > 1
    for name in names:
        for key in keys(name) - {"in", "out"}:
            places = [rows for prefix, rows in full.items() if key.startswith(prefix)]
            assert len(places) == 1
            assert name in {row[1] for row in places[0]}


def test_a_shard_that_is_split_has_the_best_of_each_kind(tmp_path: Path) -> None:
    entries = [
        *(
            IndexedName(NameKind.COLUMN, f"order_column_{n:05}", f"columns/{n}/")
            for n in range(3000)
        ),
        *(IndexedName(NameKind.TASK, f"order_task_{n}", f"tasks/{n}/") for n in range(3)),
        IndexedName(NameKind.DATASET, "order", "datasets/order/"),
    ]
    omitted, rows = _written(tmp_path, entries)["order"]
    assert rows[0][1] == "order"
    assert sum(row[0] == NameKind.TASK for row in rows) == 3
    assert omitted[NameKind.COLUMN] > 2900
    assert omitted[NameKind.TASK] == omitted[NameKind.DATASET] == 0


def test_no_shard_is_large(tmp_path: Path) -> None:
    alike = (IndexedName(NameKind.DATASET, f"s{n}.orders", f"datasets/s{n}/") for n in range(9000))
    shards = _written(tmp_path, alike)
    assert len(shards) > 10
    assert max(file.stat().st_size for file in (tmp_path / FOLDER).iterdir()) < SHARD_BYTES * 1.1
    assert len(shards["orders"][1]) == 200


def test_a_generic_test_is_found_by_its_beginning_alone(tmp_path: Path) -> None:
    tests = [IndexedName(NameKind.TEST, f"unique_orders_{n:05}", f"dbt/{n}") for n in range(3000)]
    assert {prefix[:1] for prefix in _written(tmp_path, tests)} == {"u"}


@for_each("prefix", ["con", "aux", "nul", "é", "🎉", "", "../x", "a" * KEY, "名" * KEY])
def test_a_shard_is_a_file_on_every_system(prefix: str) -> None:
    assert re.fullmatch(r"n-[a-z0-9_]*\.js", file_name(prefix))
    assert len(file_name(prefix)) < 255


def test_hostile_names_are_json(tmp_path: Path) -> None:
    names = ['"])\nalert(1)//', "</script>", "a\u2028b", "\ud800", "\x00", "__proto__", "'`${1}"]
    entries = [
        IndexedName(NameKind.DATASET, name, f"datasets/{n}/") for n, name in enumerate(names)
    ]
    _, rows = _written(tmp_path, entries)[""]
    assert len(rows) == len(names)


def test_equal_names_make_equal_files(tmp_path: Path) -> None:
    entries = [IndexedName(NameKind.COLUMN, f"c{n}", f"columns/{n}/") for n in range(2000)]
    for name, some in (("one", entries), ("two", reversed(entries))):
        write_name_index(tmp_path / name, some)
    one, two = (
        {file.name: file.read_bytes() for file in (tmp_path / name / FOLDER).iterdir()}
        for name in ("one", "two")
    )
    assert one == two
