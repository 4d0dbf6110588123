"""Sending OpenLineage events: from the outbox to the endpoint, and what counts as a failure."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
import orjson

from dbt_graft.analysis.answer import Answer
from dbt_graft.analysis.render.json import json_document
from dbt_graft.analysis.render.phrases import count, join_names
from dbt_graft.collectors.http_session import authorization, http_session
from dbt_graft.collectors.public_address import public_address
from dbt_graft.exporters.openlineage.endpoint import DeliveryReport, HttpEndpoint, deliver, retries
from dbt_graft.exporters.openlineage.events import ExportedEvent, event_key
from dbt_graft.exporters.openlineage.outbox import Outbox, OutgoingEvent
from dbt_graft.exporters.openlineage.settings import endpoint_url
from dbt_graft.exporters.openlineage.snapshot import LineageSnapshot
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.progress import Progress
from dbt_graft.lineage.errors import GraftError

# What is sent again.
REFUSED, ALL = "refused", "all"
_TAG = "tag:"
_SHOWN = 5


class _SentCount:
    """The number of events that are sent, of those in the outbox."""

    def __init__(self, of: int) -> None:
        self._of = of
        self._sent = 0

    def show(self, sent: int) -> None:
        self._sent = sent

    @property
    def part(self) -> float | None:
        return self._sent / self._of if self._of else None

    def __str__(self) -> str:
        return f"{self._sent:,} of {count(self._of, 'event')}"


class DeliveryError(GraftError):
    """Events were not delivered that must be."""


def send(
    config: Config,
    url: str,
    events: Iterable[ExportedEvent],
    snapshot: LineageSnapshot,
    *,
    again: str | None = None,
    as_json: bool = False,
) -> None:
    """Put new events into the outbox, send what waits there, and print what became of it.

    Args:
        again: Also what was `refused` before; or `all` of these events once more.

    Raises:
        DeliveryError: Some were not delivered, and graft.yml says that this is a failure.
    """
    section = config.openlineage
    try:
        receiver = public_address(endpoint_url(url))
    except ValueError as error:
        raise GraftError(str(error), place="--url") from error
    # Before anything is noted: a token that is missing is no failure of the endpoint.
    token = authorization(section.authorization) if section.authorization else ""
    outbox = Outbox(Path(config.path(section.outbox)), receiver)
    try:
        with outbox.sending(), http_session(retries(), is_prompt=True) as session:
            new = outbox.add(_outgoing_events(events), again=again == ALL)
            if again == REFUSED:
                outbox.try_refused_again()
            endpoint = HttpEndpoint(receiver, session, token, section.timeout)
            with Progress(quiet=as_json).step("send", f"sending events to {receiver}") as step:
                step.measure = sent = _SentCount(outbox.waiting_count())
                report = deliver(outbox, endpoint, sent.show)
                step.result = f"{count(report.delivered, 'event')} delivered to {receiver}"
    finally:
        outbox.close()
    if as_json:
        data = _json(report, receiver, new)
        answer = Answer(receiver, question="export openlineage", data=data)
        click.echo(json_document(answer), nl=False)
    else:
        _print(report)
    if not report.is_complete:
        _fail(config, report, snapshot, receiver)


def _outgoing_events(events: Iterable[ExportedEvent]) -> Iterable[OutgoingEvent]:
    for exported in events:
        yield OutgoingEvent(event_key(exported.event), exported.task, orjson.dumps(exported.event))


def _print(report: DeliveryReport) -> None:
    if report.waiting:
        reason = report.stopped or ", ".join(sorted(report.reasons))
        click.echo(f"{report.waiting:,} in the outbox, to be sent next time: {reason}", err=True)
    for reason, number in sorted(report.refused.items()):
        click.echo(f"{number:,} refused: {reason}; --again refused sends them once more", err=True)
    if report.refused_before:
        click.echo(
            f"{report.refused_before:,} refused before; --again refused sends them", err=True
        )


def _json(report: DeliveryReport, receiver: str, new: int) -> dict[str, object]:
    return {
        "url": receiver,
        "new": new,
        "delivered": report.delivered,
        "waiting": report.waiting,
        "waiting_reasons": dict(sorted(report.reasons.items())),
        "stopped": report.stopped or None,
        "refused": dict(sorted(report.refused.items())),
        "refused_before": report.refused_before,
        "tasks": list(report.tasks),
    }


def _fail(config: Config, report: DeliveryReport, snapshot: LineageSnapshot, place: str) -> None:
    section = config.openlineage
    missing = [task for task in report.tasks if _is_critical(task, section.critical, snapshot)]
    if section.on_failure == "warn" and not missing:
        return
    undelivered = count(report.waiting + sum(report.refused.values()), "event")
    problem = f"{undelivered} not delivered"
    if missing:
        problem += f", some of critical tasks: {join_names(missing, _SHOWN)}"
    raise DeliveryError(
        problem, place=place, remedy="run the command again: they wait in the outbox"
    )


def _is_critical(task: str, critical: Iterable[str], snapshot: LineageSnapshot) -> bool:
    """Whether a task, or dbt model, is named or has a tag that is."""
    lineage = snapshot.lineage
    tags: set[str] = set()
    if lineage_task := lineage.tasks.get(task):
        tags |= set(lineage_task.info.tags)
    if (definition := lineage.definitions.get(task)) and (
        description := snapshot.descriptions.get(definition.dataset)
    ):
        tags |= set(description.tags)
    names = {task, task.rpartition(".")[2] if definition else task}
    return any(
        name.removeprefix(_TAG) in tags if name.startswith(_TAG) else name in names
        for name in critical
    )
