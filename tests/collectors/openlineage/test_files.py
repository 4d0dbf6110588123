"""New parts of files: what has grown is read on, what is another file is read from the start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dbt_graft.collectors.openlineage.files import EventFiles, new_parts, position, read_head
from dbt_graft.collectors.source import to_read_again
from dbt_graft.lineage.errors import GraftError


def found(path: Path, known: dict[str, tuple[str, int]] | None = None) -> list[tuple[str, int]]:
    """The origins of new parts, and their first bytes."""
    parts = new_parts(EventFiles(str(path), "events"), known or {})
    return [(part.origin, part.start) for part in parts]


def read_up_to(path: Path, end: int) -> dict[str, tuple[str, int]]:
    """The store after a collect that read the files of a folder up to a byte."""
    parts = new_parts(EventFiles(str(path), "events"), {})
    return {part.origin: (position(part.file, end, read_head(part.file.url)), 1) for part in parts}


def test_files_that_may_hold_events(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.json", "c.jsonl.gz", "events", "d.log", ".hidden.json", "e.parquet"):
        (tmp_path / name).write_text("x")
    (tmp_path / "README.md").write_text("x")
    assert [origin for origin, _ in found(tmp_path)] == [
        f"events/{name}" for name in ("a.jsonl", "b.json", "c.jsonl.gz", "d.log", "events")
    ]


def test_a_path_names_its_file_whatever_it_is_called(tmp_path: Path) -> None:
    file = tmp_path / "a.out"
    file.write_text("x")
    assert found(file) == [("events", 0)]


def test_a_pattern_names_files(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.txt"):
        (tmp_path / name).write_text("x")
    parts = new_parts(EventFiles(f"{tmp_path}/*.jsonl", "events/*.jsonl"), {})
    assert [part.origin for part in parts] == ["events/a.jsonl", "events/b.jsonl"]


def test_no_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GraftError, match="there is nothing at this path"):
        found(tmp_path / "gone")


def test_a_file_that_has_not_changed_is_not_new(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("one\n")
    assert found(tmp_path, read_up_to(tmp_path, 4)) == []


def test_a_file_that_grew_is_read_on(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("one\n")
    known = read_up_to(tmp_path, 4)
    file.write_text("one\ntwo\n")
    assert found(tmp_path, known) == [("events/a.jsonl@4", 4)]
    # And again from there.
    second = new_parts(EventFiles(str(tmp_path), "events"), known)[0]
    known[second.origin] = (position(second.file, 8, read_head(second.file.url)), 1)
    assert found(tmp_path, known) == []
    file.write_text("one\ntwo\nthree\n")
    assert found(tmp_path, known) == [("events/a.jsonl@8", 8)]


def test_another_file_of_the_name_is_read_from_the_start(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("one\n")
    known = read_up_to(tmp_path, 4)
    known["events/a.jsonl@4"] = known["events/a.jsonl"]
    file.write_text("other\ntwo\n")
    [part] = new_parts(EventFiles(str(tmp_path), "events"), known)
    assert (part.origin, part.start) == ("events/a.jsonl", 0)
    assert part.replaced == ("events/a.jsonl@4",)


@pytest.mark.parametrize("end", [0, 4])
def test_a_shorter_file_is_read_from_the_start(end: int, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("one\n")
    known = read_up_to(tmp_path, end)
    file.write_text("on\n")
    assert found(tmp_path, known) == [("events/a.jsonl", 0)]


def test_a_file_without_a_place_to_go_on_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("[1]")
    known = read_up_to(tmp_path, 0)
    file.write_text("[1, 2]")
    assert found(tmp_path, known) == [("events/a.json", 0)]


def test_a_file_that_was_only_touched_has_nothing_new(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("one\n")
    known = read_up_to(tmp_path, 4)
    os.utime(file, (1, 1))
    [part] = new_parts(EventFiles(str(tmp_path), "events"), known)
    known[part.origin] = (position(part.file, 4, read_head(part.file.url)), 0)
    assert found(tmp_path, known) == []


def test_what_is_asked_for_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("one\n")
    known = read_up_to(tmp_path, 4)
    assert found(tmp_path, to_read_again(known, known.__contains__)) == [("events/a.jsonl", 0)]
