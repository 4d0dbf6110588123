"""An endpoint for events that answers as a test wants: it fails, stalls, loses answers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

STALL, LOSE = -1, -2


@dataclass
class Receiver:
    """The endpoint's URL, and what it got.

    Attributes:
        answer: The status for an event and the number of the attempt with it, from 1; or STALL: no
            answer before `released`; or LOSE: it has the event and closes the connection.
        bodies: What it took with 2xx, or before it lost the answer.
        requests: The body, path and headers of each request.
        connections: The number of connections.
    """

    url: str = ""
    answer: Callable[[Any, int], int] = lambda _event, _attempt: 201
    bodies: list[Any] = field(default_factory=list)
    requests: list[tuple[Any, str, dict[str, str]]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    headers: dict[str, str] = field(default_factory=dict)
    connections: int = 0

    @property
    def names(self) -> list[str]:
        """The names in the events that it took."""
        return [body["name"] for body in self.bodies]

    def attempts(self, name: str) -> int:
        """The number of times that an event was sent."""
        return sum(event["name"] == name for event, _, _ in self.requests)


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Run the endpoint in a thread."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            receiver.connections += 1
            super().setup()

        def do_POST(self) -> None:
            event = orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))
            receiver.requests.append((event, self.path, dict(self.headers)))
            attempt = sum(one == event for one, _, _ in receiver.requests)
            status = receiver.answer(event, attempt)
            if status == STALL:
                receiver.released.wait(10)
            if status in (STALL, LOSE):
                if status == LOSE:
                    receiver.bodies.append(event)
                self.close_connection = True
                return
            if 200 <= status < 300:
                receiver.bodies.append(event)
            content = b'{"error": "secret-answer"}'
            self.send_response(status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
