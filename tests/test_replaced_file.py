"""Files are replaced in one step; what killed processes left of them goes, and nothing else."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from dbt_graft.replaced_file import replace_file, replaced_file
from tests.cases import for_each

_WRITING = """
import sys, time
from pathlib import Path
from dbt_graft.replaced_file import replaced_file
with replaced_file(Path(sys.argv[1])) as new:
    new.write_text("half")
    print(new.name, flush=True)
    time.sleep(600)
"""


@contextmanager
def writing(path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that writes a file and does not come to an end, and what it has written so far."""
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITING, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        yield process, path.with_name(process.stdout.readline().strip())
    finally:
        process.kill()
        process.communicate()


def number_of_no_process() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "manifest.json"
    replace_file(path, b"first, and longer")
    with replaced_file(path) as new:
        new.write_bytes(b"second")
        assert path.read_bytes() == b"first, and longer"
    assert (path.read_bytes(), names(path.parent)) == (b"second", ["manifest.json"])


def test_an_error_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    replace_file(path, b"before")
    with pytest.raises(TypeError), replaced_file(path) as new:
        new.write_bytes("no bytes")  # type: ignore[arg-type]
    assert (path.read_bytes(), names(tmp_path)) == (b"before", ["manifest.json"])


def test_others_may_read_it_as_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "any").touch()
    replace_file(tmp_path / "manifest.json", b"")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    with writing(path) as (process, half):
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert names(tmp_path) == [half.name]
        replace_file(path, b"content")
    assert names(tmp_path) == ["manifest.json"]


def test_a_file_that_a_process_writes_now_stays(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    with writing(path) as (_, half):
        replace_file(path, b"content")
        assert half.read_text() == "half"


def test_a_file_that_a_process_of_another_container_writes_stays(tmp_path: Path) -> None:
    """Its number is that of no process here: only its lock shows that it lives."""
    path = tmp_path / "manifest.json"
    elsewhere = tmp_path / f".manifest.json.{number_of_no_process()}"
    with writing(path) as (_, half):
        half.rename(elsewhere)
        replace_file(path, b"content")
        assert elsewhere.read_text() == "half"
    replace_file(path, b"content")
    assert names(tmp_path) == ["manifest.json"]


@for_each(
    "name",
    [
        ".manifest.json.{running}",
        ".manifest.json.{ended}.bak",
        ".manifest.json.",
        ".manifest.json.-1",
        ".manifest.json.x",
        ".catalog.json.{ended}",
        "manifest.json.{ended}",
    ],
)
def test_files_of_others_stay(tmp_path: Path, name: str) -> None:
    other = tmp_path / name.format(running=os.getppid(), ended=number_of_no_process())
    other.write_text("other")
    replace_file(tmp_path / "manifest.json", b"content")
    assert other.read_text() == "other"


def test_what_is_no_file_does_not_hold_anybody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f".manifest.json.{number_of_no_process()}")
    (tmp_path / f".manifest.json.{number_of_no_process()}").mkdir()
    replace_file(tmp_path / "manifest.json", b"content")
    assert (tmp_path / "manifest.json").read_bytes() == b"content"


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("other")
    (tmp_path / f".manifest.json.{os.getpid()}").symlink_to("other")
    with pytest.raises(OSError, match="symbolic links"):
        replace_file(tmp_path / "manifest.json", b"content")
    assert (tmp_path / "other").read_text() == "other"


def test_threads_that_write_the_same_file_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    contents = [bytes([number]) * 100_000 for number in range(8)]
    with ThreadPoolExecutor(len(contents)) as threads:
        list(threads.map(partial(replace_file, path), contents))
    assert path.read_bytes() in contents
    assert names(tmp_path) == ["manifest.json"]
