"""Logs of a History Server come into the store as those of a folder do."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import orjson
import pytest

from dbt_graft.collectors.engines.engine import Engine
from dbt_graft.collectors.http_session import authorization
from dbt_graft.collectors.spark.collect import collect
from dbt_graft.collectors.spark.listing import new_logs
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.log.history_server import DownloadError, download_log
from dbt_graft.collectors.spark.store.read_log import CollectedLog, assemble
from dbt_graft.collectors.spark.worker import event_files
from dbt_graft.collectors.store.commit import commit
from dbt_graft.collectors.store.positions import positions
from dbt_graft.collectors.store.read import read
from dbt_graft.collectors.store.selected import run_origins
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import Records
from tests.collectors.spark.stored import tables

API = "/api/v1/applications"
LABEL = "http://history:18080"


@dataclass
class HistoryServer:
    """A server on this machine.

    Attributes:
        answers: Status and body by path; a status of 300 redirects to the body.
        asked: The paths that were asked for, each with its header `Authorization`.
        busy: How many requests more get status 503.
    """

    url: str
    answers: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    busy: int = 0

    def logs(self, **more: Any) -> SparkLogs:
        """The source of `graft.yml`."""
        return SparkLogs(self.url, LABEL, **more)

    def lists(self, *attempts: tuple[str, str | None, str], completed: bool = True) -> None:
        """Let it list attempts: application, attempt, time of the last change."""
        listing = [
            {
                "id": application,
                "attempts": [
                    {"lastUpdated": changed, "completed": completed}
                    | ({"attemptId": attempt} if attempt else {})
                ],
            }
            for application, attempt, changed in attempts
        ]
        self.answers[API] = (200, orjson.dumps(listing))

    def gives(self, below: str, **files: bytes) -> None:
        """Let it give a zip; in the names `__` is written for `/`."""
        self.answers[f"{API}/{below}/logs"] = (200, zipped(files))


def zipped(files: dict[str, bytes], packed: int = ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", packed) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return buffer.getvalue()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HistoryServer]:
    class HistoryServerHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append((self.path, self.headers["Authorization"]))
            status, body = served.answers.get(self.path, (404, b"no such app"))
            if served.busy:
                served.busy -= 1
                status, body = 503, b"busy"
            self.send_response(302 if status == 300 else status)
            if status == 300:
                self.send_header("Location", body.decode())
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), HistoryServerHandler) as http:
        served = HistoryServer(f"http://127.0.0.1:{http.server_port}")
        thread = threading.Thread(target=http.serve_forever, args=[0.01])
        thread.start()
        yield served
        http.shutdown()
        thread.join()


def test_each_attempt_is_a_log_with_the_time_of_its_last_change(server: HistoryServer) -> None:
    server.lists(("app-1", None, "t1"), ("application_2", "1", "t2"))
    logs = new_logs(server.logs(), {})
    assert [(log.log.origin, log.log.position, log.growing) for log in logs] == [
        (f"{LABEL}/app-1", "t1", False),
        (f"{LABEL}/application_2/1", "t2", False),
    ]
    assert [part.url for log in logs for part in log.files] == [
        f"{server.url}{API}/app-1/logs",
        f"{server.url}{API}/application_2/1/logs",
    ]
    server.lists(("app-1", None, "t1"), completed=False)
    assert [log.growing for log in new_logs(server.logs(), {})] == [True]


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ({}, True),
        ({"/app-1": "t1"}, False),
        ({"/app-1": "t0"}, True),
        ({"/app-1": ""}, True),
        ({"/app-10": "t1"}, True),
        # Read before and after the server compacted it.
        ({"/app-1": "t0", "/app-1/events_2_app-1.compact": "t1"}, False),
    ],
)
def test_a_log_is_new_until_it_is_known_as_it_is_now(
    server: HistoryServer, known: dict[str, str], new: bool
) -> None:
    server.lists(("app-1", None, "t1"))
    there = {f"{LABEL}{below}": (position, 1) for below, position in known.items()}
    assert bool(new_logs(server.logs(), there)) == new
    assert [path for path, _ in server.asked] == [API]


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, b"<html>log in</html>", "does not answer as a History Server"),
        (200, b'{"a": 1}', "does not answer as a History Server"),
        (200, b'["a"]', "does not answer as a History Server"),
        (200, b'[{"id": 1, "attempts": [{}]}]', "does not answer as a History Server"),
        (200, b'[{"id": "a", "attempts": [[]]}]', "does not answer as a History Server"),
        (200, b'[{"id": "a", "attempts": [{}]', "does not answer as a History Server"),
        (500, b"", "cannot list applications: HTTP status 500"),
        (401, b"", "HTTP status 401; see `authorization` in graft.yml"),
        (300, b"ftp://127.0.0.1/", "cannot list applications"),
        (300, b"file:///etc/passwd", "cannot list applications"),
    ],
)
def test_what_is_no_listing_is_an_error_at_the_server(
    server: HistoryServer, status: int, body: bytes, expected: str
) -> None:
    server.answers[API] = (status, body)
    with pytest.raises(GraftError, match=expected) as caught:
        new_logs(server.logs(), {})
    assert caught.value.place == LABEL


def test_a_busy_server_is_asked_again(server: HistoryServer) -> None:
    server.lists(("app-1", None, "t1"))
    server.busy = 2
    assert [log.log.origin for log in new_logs(server.logs(), {})] == [f"{LABEL}/app-1"]
    assert len(server.asked) == 3


def test_no_password_of_this_machine_is_sent(
    server: HistoryServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ada password hunter2")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    server.lists()
    new_logs(server.logs(), {})
    new_logs(server.logs(authorization="Bearer x"), {})
    assert [header for _, header in server.asked] == [None, "Bearer x"]


def test_a_server_that_is_not_there_is_an_error() -> None:
    with pytest.raises(GraftError, match=r"cannot list applications: .*refused"):
        new_logs(SparkLogs("http://127.0.0.1:9", LABEL), {})


def downloaded_log(server: HistoryServer, below: str) -> tuple[str, list[str], bool, CollectedLog]:
    """A log's origin and files, whether it grows, and its records."""
    url = f"{server.url}{API}/{below}/logs"
    with download_log(f"{LABEL}/{below}", url, "") as (log, open_member):
        parts = event_files(log, open_member)
        names = [part.name for part in parts]
        return log.log.origin, names, log.growing, assemble("log", parts, server.logs())


@pytest.mark.parametrize(
    ("names", "origin", "parts", "growing"),
    [
        (["app-1.inprogress"], "app-1", ["app-1.inprogress"], True),
        (["app-1.zstd"], "app-1", ["app-1.zstd"], False),
        (
            ["eventlog_v2_a__events_10_a", "eventlog_v2_a__events_2_a", "eventlog_v2_a__appstatus"],
            "app-1",
            ["events_2_a", "events_10_a"],
            False,
        ),
        (
            ["eventlog_v2_a__events_2_a.compact", "eventlog_v2_a__events_3_a"],
            "app-1/events_2_a.compact",
            ["events_2_a.compact", "events_3_a"],
            False,
        ),
    ],
)
def test_the_zip_of_a_log_holds_its_files_in_order(
    server: HistoryServer, names: list[str], origin: str, parts: list[str], growing: bool
) -> None:
    server.gives("app-1", eventlog_v2_a__=b"", **dict.fromkeys(names, b"{}\n"))
    assert downloaded_log(server, "app-1")[:3] == (f"{LABEL}/{origin}", parts, growing)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (404, b"", "HTTP status 404"),
        (503, b"", "HTTP status 503"),
        (403, b"", "see `authorization`"),
        (200, b"<html>", "the zip is incomplete"),
        (200, zipped({"app-1": b"x" * 999}, ZIP_STORED)[:-200], "the zip is incomplete"),
        (200, zipped({}), "holds 0 logs"),
        (200, zipped({"app-1": b"", "app-2": b""}), "holds 2 logs"),
    ],
)
def test_a_failed_download_has_a_reason(
    server: HistoryServer, status: int, body: bytes, expected: str
) -> None:
    server.answers[f"{API}/app-1/logs"] = (status, body)
    with pytest.raises(DownloadError, match=expected):
        downloaded_log(server, "app-1")


def test_events_before_damage_in_a_zip_count(
    server: HistoryServer, make_log: Any, node: Any
) -> None:
    log = make_log(*[{"plan": node("Scan hive raw.a")}] * 4)
    half = log.index(b"\n", len(log) // 2) + 1
    body = bytearray(zipped({"app-1": log + b" " * 600_000}, ZIP_STORED))
    body[half + 500_000] ^= 1
    server.answers[f"{API}/app-1/logs"] = (200, bytes(body))
    found = downloaded_log(server, "app-1")[3]
    [reject] = tables(found)["rejects"]
    place = "dbt_graft.collectors.spark.log.history_server:"
    assert reject["reason"].startswith(f"the file cannot be read on (OSError at {place}")
    assert [row["name"] for row in tables(found)["accesses"]] == ["raw.a"]


def test_authorization_is_sent_to_the_server_only(
    server: HistoryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HISTORY_TOKEN", "Bearer hunter2\n")
    logs = server.logs(authorization=authorization("env:HISTORY_TOKEN"))
    server.lists()
    server.answers["/elsewhere"] = server.answers[API]
    server.answers[API] = (300, f"{server.url}/elsewhere".encode())
    assert new_logs(logs, {}) == []
    assert server.asked == [(API, "Bearer hunter2"), ("/elsewhere", None)]
    assert "hunter2" not in repr(logs)


@pytest.mark.parametrize("value", ["", " ", "Bearer hunter2\nX: y", "Bearer hünter2"])
def test_a_variable_that_holds_no_header_is_an_error_that_does_not_repeat_it(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("HISTORY_TOKEN", value)
    with pytest.raises(GraftError) as caught:
        authorization("env:HISTORY_TOKEN")
    assert caught.value.place == "env:HISTORY_TOKEN"
    assert "nter2" not in str(caught.value)


def load(engine: Engine, server: HistoryServer, store: Path) -> Records:
    """Collect what is new and read the store."""
    known = positions(str(store))
    found = collect(engine, server.logs(), known, partial(run_origins, str(store)))
    assert found
    assert commit(str(store), [found], known)
    return read(str(store))


@pytest.mark.spark
def test_a_failed_download_is_repeated_and_removes_nothing(
    engine: Engine,
    server: HistoryServer,
    make_log: Callable[..., bytes],
    node: Any,
    tmp_path: Path,
) -> None:
    def log(name: str, times: int = 1) -> bytes:
        return make_log(*[{"plan": node(f"Scan hive raw.{name}")}] * times, app=name)

    def statements(records: Records) -> dict[str, int]:
        return {access.dataset.name: access.statements for access in records.accesses}

    server.lists(("app-a", None, "t1"), ("app-b", None, "t1"))
    server.gives("app-a", a=log("a"))
    first = load(engine, server, tmp_path)
    assert statements(first) == {"raw.a": 1}
    assert [(reject.origin, reject.reason) for reject in first.rejects] == [
        (f"{LABEL}/app-b", "the History Server did not return the log: HTTP status 404")
    ]

    server.lists(("app-a", None, "t2"), ("app-b", None, "t1"))
    server.answers[f"{API}/app-a/logs"] = (503, b"")
    server.gives("app-b", b=log("b"))
    second = load(engine, server, tmp_path)
    assert statements(second) == {"raw.a": 1, "raw.b": 1}
    assert second.rejects == ()
    assert [new.log.origin for new in new_logs(server.logs(), positions(str(tmp_path)))] == [
        f"{LABEL}/app-a"
    ]

    server.gives("app-a", eventlog_v2_a__events_1_a=log("a", 3))
    assert statements(load(engine, server, tmp_path)) == {"raw.a": 3, "raw.b": 1}
    assert collect(engine, server.logs(), positions(str(tmp_path))) is None
