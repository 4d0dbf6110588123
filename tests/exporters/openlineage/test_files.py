"""Events in files: the same bytes each time, and read again whole."""

from __future__ import annotations

import gzip
from pathlib import Path

import orjson
import pytest

from dbt_graft.exporters.openlineage.events import events
from dbt_graft.exporters.openlineage.files import (
    file_name,
    read_document,
    read_events,
    write_files,
    write_lines,
)
from dbt_graft.lineage.errors import GraftError
from tests.exporters.openlineage.shop import snapshot

EVENTS = [event.event for event in events(snapshot())]


@pytest.mark.parametrize("name", ["events.ndjson", "events.jsonl.gz"])
def test_lines_are_read_again_and_have_the_same_bytes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert write_lines(path, EVENTS) == len(EVENTS)
    first = path.read_bytes()
    assert read_events(path) == EVENTS
    write_lines(path, EVENTS)
    assert path.read_bytes() == first
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_one_event_a_file_is_read_again(tmp_path: Path) -> None:
    assert write_files(tmp_path, EVENTS) == len(EVENTS) == len(list(tmp_path.iterdir()))
    found = {orjson.dumps(event) for event in read_events(tmp_path)}
    assert found == {orjson.dumps(event) for event in EVENTS}
    assert any(path.name.startswith("run-load-COMPLETE-") for path in tmp_path.iterdir())


def test_the_name_of_a_file_leaves_its_folder_nowhere() -> None:
    event = {"dataset": {"name": "../../etc/passwd\x00" + "x" * 300}}
    assert "/" not in file_name(event)
    assert len(file_name(event)) < 120


def test_an_interrupted_export_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    path.write_text("old")
    broken = ({"a": object()} for _ in range(1))
    with pytest.raises(TypeError):
        write_lines(path, broken)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("events.ndjson", "old")]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", []),
        (b'{"a": 1}', [{"a": 1}]),
        (b'[{"a": 1}, {}]', [{"a": 1}, {}]),
        (b"{}\n\n{}\n", [{}, {}]),
    ],
)
def test_files_of_any_producer_are_read(tmp_path: Path, content: bytes, found: object) -> None:
    (tmp_path / "x.json").write_bytes(content)
    assert read_events(tmp_path / "x.json") == found


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("x.json", b'{"a": 1}\n{"a"', "x.json:2"),
        ("x.json", b"\xff\xfe", "x.json:1"),
        ("x.json", b"[" * 5_000, "x.json:1"),
        ("x.json.gz", b"no gzip", "x.json.gz"),
        ("x.json.gz", gzip.compress(b"{}" * 99, mtime=0)[:-9], "x.json.gz"),
    ],
)
def test_a_damaged_file_is_an_error_with_its_place(
    tmp_path: Path, name: str, content: bytes, place: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(GraftError) as error:
        read_events(tmp_path / name)
    assert error.value.place == str(tmp_path / place)


def test_a_missing_file_and_an_empty_folder_are_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "x.json", tmp_path):
        with pytest.raises(GraftError):
            read_events(path)


@pytest.mark.parametrize("name", ["x.yml", "x.json"])
def test_templates_are_json_or_yaml(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"load.event.start": {}}')
    assert read_document(tmp_path / name) == {"load.event.start": {}}
    (tmp_path / name).write_text('{"load.event.start": {')
    with pytest.raises(GraftError, match="not valid") as error:
        read_document(tmp_path / name)
    assert ":1" in error.value.place
