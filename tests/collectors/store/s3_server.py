"""A server with S3's API that answers late, with errors, or not at all."""

from __future__ import annotations

import logging
import random
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyarrow import fs

Environment = dict[str, Any]
StartResponse = Callable[..., Any]
_CHANGES = ("PUT", "POST", "DELETE")
_HOLD_SECONDS = 60


@dataclass(slots=True)
class Hold:
    """A request that waits for its release, with those by which its client tries again.

    Attributes:
        pattern: Of its method and path; the first one that matches is it.
        request: Its method and path, once it is here.
        reached: Set once it is here.
        released: Set to let it go on.
    """

    pattern: re.Pattern[str]
    request: str = ""
    reached: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)


@dataclass(slots=True)
class FaultyServer:
    """The server: a WSGI application in front of moto's.

    Attributes:
        backend: Moto's.
        slow_down: The share of requests that are answered with 503.
        resets: The share of requests after whose effect the connection breaks.
        delay: The longest time that a request waits, in seconds.
        changes_left: After so many requests that change anything, all are refused, as if the client
            were dead; None for no limit.
        last_has_effect: The first of those that are refused takes effect all the same.
    """

    backend: Callable[[Environment, StartResponse], Iterable[bytes]]
    chance: random.Random
    slow_down: float = 0
    resets: float = 0
    delay: float = 0
    changes_left: int | None = None
    last_has_effect: bool = False
    address: str = ""
    _hold: Hold | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, environment: Environment, start: StartResponse) -> Iterable[bytes]:
        """Answer a request."""
        request = f"{environment['REQUEST_METHOD']} {environment['PATH_INFO']}"
        self._wait_for_release(request)
        with self._lock:
            is_slowed, is_reset = (
                self.chance.random() < share for share in (self.slow_down, self.resets)
            )
            delay = self.chance.random() * self.delay
            is_refused, is_last = self._count(environment["REQUEST_METHOD"])
        time.sleep(delay)
        if is_last and self.last_has_effect:
            self._take_effect(environment)
        if is_refused:
            return _error(start, "403 Forbidden", "AccessDenied")
        if is_slowed:
            return _error(start, "503 Slow Down", "SlowDown")
        if is_reset:
            self._take_effect(environment)
            _reset(environment["werkzeug.socket"])
        return self.backend(environment, start)

    def recover(self) -> None:
        """Answer all that follows, at once."""
        self.slow_down = self.resets = self.delay = 0
        self.changes_left = None

    @contextmanager
    def hold(self, pattern: str) -> Iterator[Hold]:
        """Let the first request wait whose method and path match a pattern."""
        hold = self._hold = Hold(re.compile(pattern))
        try:
            yield hold
        finally:
            hold.released.set()

    def environment(self) -> dict[str, str]:
        """The variables by which a client finds the server."""
        return {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "hunter2",
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1",
        }

    def create_bucket(self, name: str) -> None:
        """Make a bucket."""
        fs.S3FileSystem(
            access_key="key",
            secret_key="hunter2",
            endpoint_override=self.address,
            allow_bucket_creation=True,
        ).create_dir(name)

    def _wait_for_release(self, request: str) -> None:
        hold = self._hold
        if hold and hold.pattern.search(request):
            with self._lock:
                hold.request = hold.request or request
            if request == hold.request:
                hold.reached.set()
                hold.released.wait(_HOLD_SECONDS)

    def _count(self, method: str) -> tuple[bool, bool]:
        """Whether a request is refused, and whether it is the first."""
        if self.changes_left is None:
            return False, False
        if method in _CHANGES:
            self.changes_left -= 1
        return self.changes_left < 0, self.changes_left == -1 and method in _CHANGES

    def _take_effect(self, environment: Environment) -> None:
        b"".join(self.backend(environment, lambda *head: lambda data: None))


@contextmanager
def faulty_server(seed: int = 0) -> Iterator[FaultyServer]:
    """Start a server without faults, on a port of its own."""
    # Imported by those that start it: moto takes long.
    from moto.moto_server.werkzeug_app import create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    application = FaultyServer(create_backend_app("s3"), random.Random(seed))  # noqa: S311
    server = make_server("127.0.0.1", 0, application, threaded=True)
    application.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield application
    finally:
        server.shutdown()
        thread.join()


def _error(start: StartResponse, status: str, code: str) -> Iterable[bytes]:
    start(status, [("Content-Type", "application/xml"), ("Connection", "close")])
    return [f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()]


def _reset(connection: socket.socket) -> None:
    """Break a connection, so that the client gets no answer.

    Raises:
        ConnectionResetError: Always; it ends the request.
    """
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.shutdown(socket.SHUT_RDWR)
    raise ConnectionResetError
