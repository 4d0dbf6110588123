"""Shards: small files whose bytes depend on what is in them alone."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.catalog.explorer.shards import MOST, Record, json, script, write_shards

Directory = list[tuple[str, str]]


def _records(count: int, skip: int = -1) -> list[Record]:
    chance = random.Random(5)  # noqa: S311
    found = []
    for n in range(count):
        items: list[object] = [chance.choice("abcdef") * chance.randrange(60) for _ in range(5)]
        if n != skip:
            found.append(Record(f"spark/schema_{n // 90:02}/table_{n:05}", n, items))
    return found


def _content(file: Path) -> list[Any]:
    found = re.fullmatch(r'graft\.explore\.take\("[\w/]+",(.*)\)\n', file.read_text(), re.DOTALL)
    assert found
    rows: list[Any] = orjson.loads(found[1])
    return rows


def _files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.rglob("*.js")}


def _found(folder: Path, directory: Directory, id_: str) -> list[Any]:
    """The row of an id, looked for as the browser does."""
    name = [name for begin, name in directory if begin <= id_][-1]
    [row] = [row for row in _content(folder / "boxes" / f"{name}.js") if row[0] == id_]
    return list(row)


def test_every_record_is_in_the_shard_that_the_directory_names(tmp_path: Path) -> None:
    records = _records(2000)
    directory = write_shards(tmp_path, "boxes", records)
    assert len(directory) > 5
    for record in records[::37]:
        assert _found(tmp_path, directory, record.id) == [record.id, 0, record.head, record.items]


def test_no_shard_is_larger_than_64_kb(tmp_path: Path) -> None:
    write_shards(tmp_path, "boxes", _records(3000))
    assert max(len(content) for content in _files(tmp_path).values()) <= MOST <= 64 * 1024


def test_a_record_larger_than_a_shard_is_divided_and_found_again(tmp_path: Path) -> None:
    items: list[object] = [f"neighbour {n:06}" for n in range(20_000)]
    records = [*_records(300), Record("spark/zz/hub", 7, items), Record("spark/zz/hub-2", 8, [1])]
    directory = write_shards(tmp_path, "boxes", records)
    _, pieces, head, found = _found(tmp_path, directory, "spark/zz/hub")
    assert pieces > 3
    for piece in range(pieces):
        found += _found(tmp_path, directory, f"spark/zz/hub {piece + 1:04}")[1]
    assert (head, found) == (7, items)
    assert _found(tmp_path, directory, "spark/zz/hub-2")[3] == [1]
    assert max(len(content) for content in _files(tmp_path).values()) <= MOST


def test_the_same_records_make_the_same_bytes(tmp_path: Path) -> None:
    for name in "ab":
        write_shards(tmp_path / name, "boxes", _records(1500))
    assert _files(tmp_path / "a") == _files(tmp_path / "b")


@pytest.mark.parametrize("gone", [3, 700, 1400, 1999])
def test_one_table_less_leaves_all_but_two_shards_as_they_were(tmp_path: Path, gone: int) -> None:
    write_shards(tmp_path / "all", "boxes", _records(2000))
    write_shards(tmp_path / "less", "boxes", _records(2000, skip=gone))
    before, after = _files(tmp_path / "all"), _files(tmp_path / "less")
    assert len(before) > 10
    assert sum(before.get(name) != content for name, content in after.items()) <= 2


@pytest.mark.parametrize(
    "text", ["</script><script>alert(1)</script>", "<!--", "]]>", "a\u2028b\u2029c", "&amp;"]
)
def test_no_text_ends_the_script_that_it_is_in(text: str) -> None:
    content = script("start", json({"name": text}))
    assert not re.search("[<>&\u2028\u2029]", content.decode())
    assert orjson.loads(content[len(b'graft.explore.take("start",') : -2]) == {"name": text}
