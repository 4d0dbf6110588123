"""New parts of files: what has grown is read on, what is another file is read from the start."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest

from dbt_graft.collectors.engines.engine import ArrowResults
from dbt_graft.collectors.openlineage.collect import collected_tables
from dbt_graft.collectors.openlineage.files import (
    EventFiles,
    NewPart,
    new_parts,
    position,
    read_head,
)
from dbt_graft.collectors.openlineage.worker import (
    REPLACED,
    FilePart,
    PartResult,
    read_part,
    safe_batch,
)
from dbt_graft.collectors.source import to_read_again
from dbt_graft.collectors.store.tables import Collected
from dbt_graft.lineage.errors import GraftError
from tests.collectors.openlineage.events import OUT, event


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


def written_events(*runs: int) -> str:
    return "".join(f"{json.dumps(event(run=run, outputs=[OUT]))}\n" for run in runs)


def arrow_results(results: Iterable[PartResult]) -> ArrowResults:
    return ArrowResults(pa.Table.from_batches(map(safe_batch, results)))


def collected(part: NewPart) -> Collected:
    """The rows of a part as a collect has them, read in one piece."""
    piece = FilePart(
        *(part.file.url, part.file.origin, part.origin, part.start, part.file.size),
        *(part.file.size, part.start, part.head),
    )
    return collected_tables(arrow_results(read_part(piece)), [part], {})


def positions_of(found: Collected) -> dict[str, tuple[str, int]]:
    return {log["origin"]: (log["position"], 1) for log in found.origins.to_pylist()}


@pytest.mark.parametrize(
    "later",
    [written_events(3, 4, 5), written_events(3), written_events(3, 4, 5, 6, 7)],
    ids=["of equal length", "shorter", "longer"],
)
def test_a_file_that_another_replaces_before_it_is_read_on_is_read_from_the_start(
    later: str, tmp_path: Path
) -> None:
    path, files = tmp_path / "a.jsonl", EventFiles(str(tmp_path), "events")
    path.write_text(written_events(1))
    [first] = new_parts(files, {})
    known = positions_of(collected(first))
    path.write_text(written_events(1, 2))
    [second] = new_parts(files, known)
    assert second.start > 0
    path.write_text(later)
    found = collected(second)
    assert [(one.origin, one.reason) for one in found.pending] == [(second.origin, REPLACED)]
    assert found.runs.num_rows == 0
    known |= positions_of(found)
    [third] = new_parts(files, known)
    assert (third.origin, third.start) == ("events/a.jsonl", 0)
    # The records of the file before are replaced.
    replaced = {log["origin"] for log in collected(third).origins.to_pylist()}
    assert replaced == {"events/a.jsonl", second.origin}
    assert collected(third).runs.num_rows == later.count("\n")


def test_a_file_that_another_replaces_between_its_pieces_is_read_again(tmp_path: Path) -> None:
    path, files = tmp_path / "a.jsonl", EventFiles(str(tmp_path), "events")
    path.write_text(written_events(1, 2))
    [part] = new_parts(files, {})
    half = part.file.size // 2
    place = (part.file.url, part.file.origin, part.origin)
    results = list(read_part(FilePart(*place, 0, half, part.file.size, 0)))
    path.write_text(written_events(3, 4))
    results += read_part(FilePart(*place, half, part.file.size, part.file.size, 0))
    found = collected_tables(arrow_results(results), [part], {})
    assert [one.reason for one in found.pending] == [REPLACED]
    [again] = new_parts(files, positions_of(found))
    assert (again.origin, again.start) == ("events/a.jsonl", 0)
