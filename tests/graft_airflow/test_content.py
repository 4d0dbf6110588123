"""The lineage file's bytes: from a path, or from a server that may be slow, broken or gone."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from graft_airflow.content import content_of, version_of
from graft_airflow.errors import LineageFileError
from graft_airflow.settings import Settings
from tests.cases import for_each


class Server(BaseHTTPRequestHandler):
    """A server whose path says how it behaves."""

    asked: ClassVar[list[tuple[str, str | None, str | None]]] = []
    body = b'{"version": 1}'
    status = 200

    def do_GET(self) -> None:
        etag, authorization = self.headers["If-None-Match"], self.headers["Authorization"]
        Server.asked.append((self.path, etag, authorization))
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{self.server.server_address[1]}/good")
            self.end_headers()
            return
        if self.path == "/silent":
            time.sleep(1)
            return
        if Server.status != 200 or (etag and etag == '"1"'):
            self.send_response(304 if Server.status == 200 else Server.status)
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("ETag", '"1"')
        length = len(Server.body) + (5 if self.path == "/cut" else 0)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if self.path == "/drip":
            for byte in Server.body:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(0.05)
            return
        self.wfile.write(Server.body)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("no_proxy", "*")
    Server.asked.clear()
    Server.status = 200
    running = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{running.server_address[1]}"
    running.shutdown()
    running.server_close()


def test_a_file_is_read_by_path_and_by_url(tmp_path: Path) -> None:
    file = tmp_path / "with space.json"
    file.write_bytes(b"x")
    assert content_of(Settings(str(file))) == b"x"
    assert content_of(Settings(file.as_uri())) == b"x"
    before = version_of(Settings(str(file)))
    file.write_bytes(b"xy")
    assert version_of(Settings(str(file))) != before


@for_each(
    "place, problem",
    [
        ("", "no file of collected lineage is named"),
        ("missing.json", "is missing"),
        (".", "cannot be read"),
        ("a\0b", "cannot be read"),
        ("s3://bucket/x.json", "s3:// is not supported"),
        ("http://127.0.0.1:1/x?token=SECRET", "cannot be read"),
        ("http://[::bad/x", "cannot be read"),
    ],
)
def test_a_place_without_a_file_is_an_error_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(LineageFileError) as error:
        content_of(Settings(place))
    assert problem in error.value.problem
    assert "SECRET" not in str(error.value)
    assert "\0" not in str(error.value)


def test_a_server_is_asked_once_in_a_while_and_sends_what_is_new(server: str) -> None:
    settings = Settings(f"{server}/good", authorization="Bearer x")
    assert content_of(settings) == content_of(settings) == Server.body
    assert Server.asked == [("/good", None, "Bearer x")]
    again = Settings(f"{server}/good", authorization="Bearer x", ttl=0)
    assert content_of(again) == Server.body
    assert Server.asked[1:] == [("/good", '"1"', "Bearer x")]


def test_what_a_server_sent_stays_while_it_is_gone(server: str) -> None:
    settings = Settings(f"{server}/good", ttl=0)
    assert content_of(settings) == Server.body
    Server.status = 503
    assert content_of(settings) == Server.body


def test_a_failure_is_remembered_so_that_not_every_task_waits(server: str) -> None:
    Server.status = 500
    for _ in range(2):
        with pytest.raises(LineageFileError, match="HTTP 500"):
            content_of(Settings(f"{server}/good"))
    assert len(Server.asked) == 1


@pytest.mark.parametrize("path", ["silent", "drip"])
def test_a_slow_server_is_given_up_in_time(server: str, path: str) -> None:
    with pytest.raises(LineageFileError, match=r"did not answer in 0\.2 s"):
        content_of(Settings(f"{server}/{path}", timeout=0.2))


def test_half_a_file_is_none(server: str) -> None:
    with pytest.raises(LineageFileError, match=r"cut off|cannot be read"):
        content_of(Settings(f"{server}/cut"))


def test_the_authorization_goes_to_no_other_server(server: str) -> None:
    assert content_of(Settings(f"{server}/moved", authorization="Bearer x")) == Server.body
    assert Server.asked == [("/moved", None, "Bearer x"), ("/good", None, None)]


def test_a_cache_that_others_can_write_or_that_was_changed_is_not_read(
    server: str, tmp_path: Path
) -> None:
    settings = Settings(f"{server}/good")
    content_of(settings)
    (folder,) = (tmp_path / "tmp").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    (data,) = folder.glob("*.data")
    data.write_bytes(b'{"version": 1, "changed": true}')
    assert content_of(settings) == Server.body
    assert len(Server.asked) == 2

    folder.chmod(0o777)
    assert content_of(settings) == Server.body
    assert len(Server.asked) == 3


@pytest.mark.parametrize("about", ["{", "[]", '{"asked_at": "x"}', "null"])
def test_a_damaged_note_in_the_cache_is_as_none(server: str, tmp_path: Path, about: str) -> None:
    settings = Settings(f"{server}/good")
    content_of(settings)
    (note,) = (tmp_path / "tmp").glob("*/*.json")
    json.loads(note.read_text())
    note.write_text(about)
    assert content_of(settings) == Server.body
    assert len(Server.asked) == 2


def test_a_disk_that_takes_nothing_is_no_error(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", os.fspath(tmp_path / "gone"))
    assert content_of(Settings(f"{server}/good")) == Server.body
