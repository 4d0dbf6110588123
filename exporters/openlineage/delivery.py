"""Delivery of the outbox to an endpoint: the oldest first, each event once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from dbt_graft.exporters.openlineage.endpoint import Delivery, HttpEndpoint
from dbt_graft.exporters.openlineage.outbox import Outbox

# So many events in a row that a server cannot take: it is down, rather than confused by one.
_MOST_FAILURES = 3


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
