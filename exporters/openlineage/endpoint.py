"""An endpoint that takes OpenLineage events over HTTP: Marquez, DataHub, a proxy.

One event a POST, as all producers send them. An answer of status 2xx means delivered, 4xx that the
event is refused; a busy or broken server, and one that does not answer, is asked again. What it
answers is never shown: it may quote what is in the event.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import islice

from requests import Response, Session
from requests.exceptions import ConnectionError as NoConnection
from requests.exceptions import RequestException, RetryError, Timeout
from urllib3.exceptions import HTTPError, ReadTimeoutError
from urllib3.response import BaseHTTPResponse
from urllib3.util import Retry

from dbt_graft.exporters.openlineage.outbox import Outbox
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

_CONNECT = 10.0  # seconds
_LONGEST_WAIT = 60.0  # seconds, whatever a server asks for
_LONGEST_ANSWER = 1 << 16  # bytes; the connection of a longer one is closed
_LONGEST_BODY = 2.0  # seconds; as well
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
_DENIED = (401, 403, 404, 405, 407)
# So many events in a row that a server cannot take: it is down, rather than confused by one.
_MOST_FAILURES = 3


class Delivery(Enum):
    """The outcome of sending an event.

    FAILED: the server answered that it cannot take it now. UNREACHABLE: there is no answer, or it
    takes no event at all.
    """

    DELIVERED = auto()
    REFUSED = auto()
    FAILED = auto()
    UNREACHABLE = auto()


@frozen
class SentEvent:
    """The outcome of sending one event, and the reason if it was not delivered."""

    outcome: Delivery
    reason: str = ""


class BoundedRetry(Retry):
    """Retries with a growing back-off, or when the server says so, if that is soon."""

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        """Seconds that the server asks for; at most a minute."""
        seconds = super().get_retry_after(response)
        return None if seconds is None else min(seconds, _LONGEST_WAIT)


def retries(backoff: float = 1.0) -> Retry:
    """The rules by which an event is sent again.

    Args:
        backoff: Half of the seconds before the second retry; it doubles with each, the first one
            comes at once.
    """
    return BoundedRetry(
        total=4,
        other=0,  # a certificate stays what it is
        backoff_factor=backoff,
        status_forcelist=_AGAIN,
        allowed_methods=("POST",),
        raise_on_status=False,
        redirect=False,
    )


class HttpEndpoint:
    """An endpoint.

    Args:
        authorization: The value of the header `Authorization`; empty for none.
        timeout: Seconds without an answer; of a session that is not prompt, without a part of it.
    """

    def __init__(
        self, url: str, session: Session, authorization: str = "", timeout: float = 30.0
    ) -> None:
        self._url = url
        self._session = session
        self._headers = {"Content-Type": "application/json"}
        if authorization:
            self._headers["Authorization"] = authorization
        self._timeout = (_CONNECT, timeout)

    def send(self, body: bytes) -> SentEvent:
        """Send an event."""
        try:
            answer = self._session.post(
                self._url,
                data=body,
                headers=self._headers,
                timeout=self._timeout,
                allow_redirects=False,
                stream=True,
            )
        except RequestException as error:
            return SentEvent(Delivery.UNREACHABLE, _reason(error))
        except GraftError as error:  # of a session that explains it
            return SentEvent(Delivery.UNREACHABLE, f"{error.problem}; {error.remedy}")
        with answer:
            status = answer.status_code
            _use_connection_again(answer)
        if 200 <= status < 300:
            return SentEvent(Delivery.DELIVERED)
        reason = f"HTTP status {status}"
        if 300 <= status < 400:
            return SentEvent(Delivery.UNREACHABLE, f"{reason}: write the URL that it leads to")
        if status in _DENIED:
            hint = "" if status in (404, 405) else "; see `openlineage.authorization` in graft.yml"
            return SentEvent(Delivery.UNREACHABLE, f"{reason}{hint}")
        if status in _AGAIN or status >= 500:
            return SentEvent(Delivery.FAILED, reason)
        return SentEvent(Delivery.REFUSED, reason)


def _use_connection_again(answer: Response) -> None:
    """Read what is left of an answer, so that the next event needs no new connection."""
    # What it says is known: a body that breaks off, or takes its time, changes nothing.
    end = time.monotonic() + _LONGEST_BODY
    with suppress(HTTPError, OSError):
        for _ in islice(answer.raw.stream(1), _LONGEST_ANSWER):
            if time.monotonic() > end:
                break


def _reason(error: RequestException) -> str:
    """The kind of an error: its text may quote the URL."""
    # After retries the last one's is inside.
    last = getattr(error.args[0], "reason", None) if error.args else None
    if isinstance(error, Timeout) or isinstance(last, ReadTimeoutError):
        return "no answer in time"
    if isinstance(error, RetryError):
        return "no answer that it can be read"
    if isinstance(error, NoConnection):
        return "no connection, or it was closed without an answer"
    return type(error).__name__


@dataclass
class DeliveryReport:
    """The result of a delivery.

    Attributes:
        refused: Reason -> the number of events that the receiver did not want.
        refused_before: The number of those that it did not want earlier.
        waiting: The number of events that are sent next time.
        reasons: Why they wait -> their number, where they were tried.
        stopped: The reason why the rest was not tried; empty if all were.
        tasks: The tasks and dbt models of which an event was not delivered, sorted.
    """

    delivered: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    refused_before: int = 0
    waiting: int = 0
    stopped: str = ""
    reasons: Counter[str] = field(default_factory=Counter)
    tasks: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether all events were delivered."""
        return not self.waiting and not self.refused


def deliver(
    outbox: Outbox, endpoint: HttpEndpoint, shown: Callable[[int], None] | None = None
) -> DeliveryReport:
    """Send what waits.

    Args:
        shown: Called with the number of events that were delivered so far.
    """
    report = DeliveryReport(refused_before=outbox.refused())
    tasks: set[str] = set()
    in_a_row = 0
    for event in outbox.waiting():
        sent = endpoint.send(event.body)
        if sent.outcome is Delivery.DELIVERED:
            outbox.note_delivered(event)
            report.delivered += 1
            in_a_row = 0
            if shown:
                shown(report.delivered)
            continue
        if sent.outcome is Delivery.REFUSED:
            outbox.note_refused(event, sent.reason)
            report.refused[sent.reason] += 1
            tasks.add(event.task)
            in_a_row = 0
            continue
        outbox.note_failed(event, sent.reason)
        in_a_row += 1
        if sent.outcome is Delivery.UNREACHABLE or in_a_row >= _MOST_FAILURES:
            report.stopped = sent.reason
            break
    for event in outbox.waiting():
        report.waiting += 1
        tasks.add(event.task)
        if event.reason:
            report.reasons[event.reason] += 1
    report.tasks = tuple(sorted(tasks - {""}))
    return report
