"""Columns of the explorer's boxes."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.catalog.explorer.write import (
    MOST,
    Record,
    column_records,
    json,
    script,
    write_shards,
)
from dbt_graft.catalog.index import Index
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Column, ColumnEdge, Dataset, Evidence, Subtype

A, B = (DatasetId("spark", f"shop.{name}") for name in "ab")
Directory = list[tuple[str, str]]


def _record(*edges: tuple[str, str, Subtype, Evidence]) -> Record:
    """The record of b, whose columns come from a in a task."""
    lineage = Lineage(
        datasets={
            A: Dataset(A, columns=(Column("id"), Column("Net amount"))),
            B: Dataset(B, columns=(Column("id"), Column("Amount"), Column("Net amount"))),
        },
        tasks={"load": Task("load")},
        column_edges=tuple(
            ColumnEdge("load", B, to, A, source, kind.type, kind, False, "s", evidence=evidence)
            for to, source, kind, evidence in edges
        ),
    )
    [record] = [
        one for one in column_records(Index(DescribedLineage(lineage))) if one.id == "spark/shop/b"
    ]
    return record


def test_a_column_with_a_plain_name_is_that_name_and_others_have_the_slug_of_their_anchor() -> None:
    names = _record().items
    assert names[:2] == ["id", "Amount"]
    assert isinstance(names[2], list)
    assert names[2][0] == "Net amount"
    assert names[2][1].startswith("net-amount-")


def test_edges_name_their_source_column_unless_it_is_the_same() -> None:
    observed, inferred = Evidence.OBSERVED, Evidence.INFERRED
    record = _record(
        ("id", "ID", Subtype.IDENTITY, observed),
        ("amount", "id", Subtype.AGGREGATION, inferred),
    )
    assert record.items[3:] == [[0, "spark/shop/a", "@load", 0, 0, 0, 1, "id", 2 + 16]]


def test_an_edge_to_all_rows_has_no_column_and_one_between_all_columns_is_left_out() -> None:
    observed = Evidence.OBSERVED
    record = _record(("*", "id", Subtype.FILTER, observed), ("*", "*", Subtype.IDENTITY, observed))
    assert record.items[3:] == [[0, "spark/shop/a", "@load", -1, "id", 4]]


def test_many_edges_are_several_items_so_that_a_record_can_be_divided() -> None:
    kinds = [(f"c{n}", "id", Subtype.IDENTITY, Evidence.OBSERVED) for n in range(250)]
    edges = [item for item in _record(*kinds).items if isinstance(item, list) and item[0] == 0]
    assert [len(item[3:]) // 3 for item in edges] == [100, 100, 50]


def _records(count: int, skip: int = -1) -> list[Record]:
    chance = random.Random(5)  # noqa: S311
    found = []
    for n in range(count):
        items: list[object] = [chance.choice("abcdef") * chance.randrange(60) for _ in range(5)]
        if n != skip:
            found.append(Record(f"spark/schema_{n // 90:02}/table_{n:05}", n, items))
    return found


def _content(file: Path) -> list[Any]:
    match = re.fullmatch(r'graft\.explore\.take\("[\w/]+",(.*)\)\n', file.read_text(), re.DOTALL)
    assert match
    rows: list[Any] = orjson.loads(match[1])
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
