"""Delivery: each event once, the oldest first, whatever the endpoint does."""

from __future__ import annotations

import signal
import socket
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer

import orjson
import pytest
import requests
from requests.adapters import HTTPAdapter

from dbt_graft.collectors.http_session import http_session
from dbt_graft.exporters.openlineage.endpoint import (
    BoundedRetry,
    Delivery,
    DeliveryReport,
    HttpEndpoint,
    SentEvent,
    deliver,
    retries,
)
from dbt_graft.exporters.openlineage.outbox import Outbox, OutgoingEvent
from dbt_graft.exporters.openlineage.settings import endpoint_url
from dbt_graft.lineage.errors import GraftError
from tests.exporters.openlineage.receiver import LOSE, STALL, Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as one:
        yield one


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "outbox.db"


def outgoing(*names: str) -> list[OutgoingEvent]:
    return [OutgoingEvent(name, f"task {name}", orjson.dumps({"name": name})) for name in names]


def send(
    place: Path, receiver: Receiver, *names: str, again: bool = False, timeout: float = 5
) -> DeliveryReport:
    """Add events and deliver, in a process of its own as it were."""
    outbox = Outbox(place, receiver.url)
    session = requests.Session()
    session.mount("http://", HTTPAdapter(max_retries=retries(backoff=0)))
    try:
        outbox.add(outgoing(*names))
        if again:
            outbox.try_refused_again()
        url = endpoint_url(receiver.url)
        return deliver(outbox, HttpEndpoint(url, session, "Bearer t", timeout))
    finally:
        session.close()
        outbox.close()


def test_each_event_is_delivered_once(place: Path, receiver: Receiver) -> None:
    assert send(place, receiver, "a", "b").delivered == 2
    report = send(place, receiver, "a", "b", "c")
    assert (report.delivered, report.is_complete) == (1, True)
    assert receiver.names == ["a", "b", "c"]
    _, path, headers = receiver.requests[0]
    assert path == "/api/v1/lineage"
    assert headers["Content-Type"] == "application/json"
    assert headers["Authorization"] == "Bearer t"


def test_events_go_over_one_connection(place: Path, receiver: Receiver) -> None:
    send(place, receiver, *"abcdef")
    assert receiver.connections == 1


def test_what_waits_has_its_newest_content(place: Path, receiver: Receiver) -> None:
    outbox = Outbox(place, receiver.url)
    outbox.add(outgoing("a", "b"))
    assert outbox.add([OutgoingEvent("a", "", b'{"name": "newer"}')]) == 0
    assert [event.body for event in outbox.waiting()] == [b'{"name": "newer"}', b'{"name":"b"}']
    outbox.close()


def test_all_are_sent_again_where_that_is_asked_for(place: Path, receiver: Receiver) -> None:
    send(place, receiver, "a", "b")
    outbox = Outbox(place, receiver.url)
    assert outbox.add(outgoing("a"), again=True) == 0
    outbox.close()
    assert send(place, receiver).delivered == 1
    assert receiver.names == ["a", "b", "a"]


def test_another_receiver_gets_all(place: Path, receiver: Receiver) -> None:
    send(place, receiver, "a")
    with receiving() as other:
        assert send(place, other, "a").delivered == 1


def test_a_busy_server_is_asked_again(place: Path, receiver: Receiver) -> None:
    statuses = {1: 500, 2: 429, 3: 503}
    receiver.answer = lambda _, attempt: statuses.get(attempt, 200)
    assert send(place, receiver, "a").is_complete
    assert (receiver.names, receiver.attempts("a")) == (["a"], 4)


def test_what_was_not_delivered_is_sent_first_next_time(place: Path, receiver: Receiver) -> None:
    receiver.answer = lambda event, _: 503 if event["name"] in "bcd" else 201
    report = send(place, receiver, "a", "b", "c", "d", "e")
    assert (report.delivered, report.waiting, report.stopped) == (1, 4, "HTTP status 503")
    assert report.tasks == ("task b", "task c", "task d", "task e")
    assert receiver.attempts("e") == 0
    receiver.answer = lambda *_: 201
    assert send(place, receiver, "f").is_complete
    assert receiver.names == ["a", "b", "c", "d", "e", "f"]


def test_one_event_that_breaks_the_server_stops_no_other(place: Path, receiver: Receiver) -> None:
    receiver.answer = lambda event, _: 500 if event["name"] == "b" else 201
    report = send(place, receiver, "a", "b", "c")
    assert receiver.names == ["a", "c"]
    assert (report.waiting, report.stopped, report.reasons) == (1, "", {"HTTP status 500": 1})


def test_a_refused_event_is_not_sent_again_unless_asked_for(
    place: Path, receiver: Receiver
) -> None:
    receiver.answer = lambda event, _: 400 if event["name"] == "b" else 201
    report = send(place, receiver, "a", "b", "c")
    assert (report.delivered, report.refused) == (2, {"HTTP status 400": 1})
    assert (report.tasks, report.waiting) == (("task b",), 0)
    assert receiver.attempts("b") == 1
    report = send(place, receiver, "a", "b", "c")
    assert (report.refused_before, report.is_complete, receiver.attempts("b")) == (1, True, 1)
    receiver.answer = lambda *_: 201
    assert send(place, receiver, again=True).delivered == 1
    assert receiver.names == ["a", "c", "b"]


@pytest.mark.parametrize("status", [401, 403, 404, 405])
def test_a_server_that_takes_no_event_is_asked_once(
    place: Path, receiver: Receiver, status: int
) -> None:
    receiver.answer = lambda *_: status
    report = send(place, receiver, "a", "b")
    assert (report.waiting, len(receiver.requests)) == (2, 1)
    assert report.stopped.startswith(f"HTTP status {status}")


def test_a_redirect_is_not_followed(place: Path, receiver: Receiver) -> None:
    receiver.answer = lambda *_: 302
    receiver.headers = {"Location": "/elsewhere"}
    report = send(place, receiver, "a")
    assert (report.waiting, len(receiver.requests)) == (1, 1)
    assert "write the URL that it leads to" in report.stopped


def test_a_server_that_stalls_is_left_alone(place: Path, receiver: Receiver) -> None:
    receiver.answer = lambda *_: STALL
    report = send(place, receiver, "a", "b", timeout=0.05)
    assert (report.delivered, report.waiting, receiver.attempts("b")) == (0, 2, 0)
    assert (report.stopped, receiver.attempts("a")) == ("no answer in time", 5)


HEAD, BODY = b"HTTP/1.1 201 Created\r\nContent-Length: 40\r\n\r\n", b"x" * 40


@contextmanager
def dripping(parts: Sequence[bytes]) -> Iterator[tuple[str, list[bool]]]:
    """The URL of a server whose answer comes in parts, and for each request whether all came."""
    answered: list[bool] = []

    class Dripping(BaseRequestHandler):
        def handle(self) -> None:
            self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.request.recv(1 << 16)
            try:
                for part in parts:
                    self.request.sendall(part)
                    time.sleep(0.05)
            except OSError:
                answered.append(False)
            else:
                answered.append(True)

    with ThreadingTCPServer(("127.0.0.1", 0), Dripping) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", answered
        server.shutdown()


@pytest.mark.parametrize(
    ("timeout", "sent"),
    [
        (60.0, SentEvent(Delivery.DELIVERED)),
        (0.3, SentEvent(Delivery.UNREACHABLE, "no answer in time")),
    ],
)
def test_a_server_that_drips_has_the_time_of_one_that_is_silent(
    timeout: float, sent: SentEvent
) -> None:
    head = [bytes([byte]) for byte in HEAD]
    with dripping([*head, BODY]) as (url, answered), http_session(retries(0), is_prompt=True) as s:
        assert HttpEndpoint(url, s, timeout=timeout).send(b"{}") == sent
    assert answered == ([True] if timeout == 60 else [False] * 5)


def test_a_body_that_drips_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbt_graft.exporters.openlineage.endpoint._LONGEST_BODY", 0.2)
    body = [bytes([byte]) for byte in BODY]
    with dripping([HEAD, *body]) as (url, answered), http_session(retries(0), is_prompt=True) as s:
        assert HttpEndpoint(url, s).send(b"{}") == SentEvent(Delivery.DELIVERED)
    assert answered == [False]


def test_a_lost_answer_loses_no_event(place: Path, receiver: Receiver) -> None:
    receiver.answer = lambda _, attempt: LOSE if attempt == 1 else 201
    assert send(place, receiver, "a", "b").is_complete
    # The server has it twice, as it must if nothing shall be lost; we note it once.
    assert receiver.names == ["a", "a", "b", "b"]
    assert send(place, receiver, "a", "b").delivered == 0


def test_no_answer_and_no_token_is_shown(place: Path, receiver: Receiver) -> None:
    receiver.answer = lambda *_: 400
    report = send(place, receiver, "a")
    assert "secret-answer" not in str(report)
    assert b"Bearer" not in place.read_bytes()


_DYING = """
    import os, sys
    from pathlib import Path
    import orjson, requests
    from dbt_graft.exporters.openlineage import endpoint, outbox
    from dbt_graft.exporters.openlineage.endpoint import deliver
    place, url, name = sys.argv[1:]
    box = outbox.Outbox(Path(place), url)
    box.add(outbox.OutgoingEvent(one, "", orjson.dumps({"name": one})) for one in "abc")

    class Dying(endpoint.HttpEndpoint):
        def send(self, body):
            sent = super().send(body)
            if orjson.loads(body)["name"] == name:
                os.kill(os.getpid(), 9)
            return sent

    deliver(box, Dying(url, requests.Session()))
"""


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_a_process_that_is_killed_loses_nothing(place: Path, receiver: Receiver, name: str) -> None:
    arguments = [sys.executable, "-c", textwrap.dedent(_DYING), str(place), receiver.url, name]
    assert subprocess.run(arguments, check=False).returncode == -signal.SIGKILL
    assert send(place, receiver, "a", "b", "c").is_complete
    # Only the event whose answer nobody noted was sent twice.
    assert sorted(receiver.names) == sorted(["a", "b", "c", name])


def test_a_delivered_event_leaves_its_key_only(place: Path, receiver: Receiver) -> None:
    send(place, receiver, "a")
    with sqlite3.connect(place) as events:
        assert events.execute("SELECT key, state, body FROM event").fetchall() == [
            ("a", "delivered", None)
        ]


def test_a_damaged_outbox_is_an_error_that_helps(place: Path, receiver: Receiver) -> None:
    place.write_bytes(b"no database" * 1000)
    with pytest.raises(GraftError, match="damaged") as error:
        send(place, receiver, "a")
    assert "move it away" in error.value.remedy


@pytest.mark.parametrize(
    ("url", "posted"),
    [
        ("http://localhost:5000", "http://localhost:5000/api/v1/lineage"),
        ("https://host/", "https://host/api/v1/lineage"),
        (
            "https://host/openapi/openlineage/api/v1/lineage",
            "https://host/openapi/openlineage/api/v1/lineage",
        ),
    ],
)
def test_marquez_path_is_added_to_a_bare_host(url: str, posted: str) -> None:
    assert endpoint_url(url) == posted


@pytest.mark.parametrize(
    "url", ["localhost:5000", "ftp://host", "http://", "http://me:secret@host", "http://h/#x"]
)
def test_another_url_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(ValueError, match="write") as error:
        endpoint_url(url)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(("asked", "waited"), [("3", 3.0), ("86400", 60.0), (None, None)])
def test_a_server_does_not_make_us_wait_for_long(asked: str | None, waited: float | None) -> None:
    class Answer:
        headers = {} if asked is None else {"Retry-After": asked}

    assert BoundedRetry().get_retry_after(Answer()) == waited  # type: ignore[arg-type]


def test_a_second_export_waits_for_the_first(place: Path, receiver: Receiver) -> None:
    done = threading.Event()
    first = Outbox(place, receiver.url)

    def second() -> None:
        outbox = Outbox(place, receiver.url)
        with outbox.sending():
            done.set()
        outbox.close()

    thread = threading.Thread(target=second)
    with first.sending():
        thread.start()
        assert not done.wait(0.2)
    thread.join(10)
    assert done.is_set()
    first.close()
