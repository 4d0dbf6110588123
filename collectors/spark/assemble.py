"""All that was decoded of one application's log -> its rows in the lineage store.

Whose application it is decides first (`identity`): dbt's own gives no rows, and one whose name
names no task gives a reject that says what to do. Either way the log counts as read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from collectors.spark.decode import Body
from collectors.spark.history import Application, replay
from collectors.spark.identity import is_dbt, task_name
from collectors.spark.rows import Row, rows
from collectors.spark.statements import statements

TABLES = ("accesses", "runs", "shapes", "datasets", "rejects")
# What comes with the events and is none: the log's files, a file's damage, a file's end.
LISTED, DAMAGED, FINISHED = "listed", "damaged", "finished"


@dataclass(frozen=True, slots=True)
class Listed:
    """What was known of a log before it was read; parts are the names of its files."""

    position: str
    parts: tuple[str, ...]
    too_large: tuple[int, ...] = ()


@dataclass(slots=True)
class _Log:
    """A log taken apart: its events in order, and the places where it is damaged."""

    listed: Listed = field(default_factory=lambda: Listed("", ()))
    read: dict[int, int] = field(default_factory=dict)
    damage: list[tuple[str, str]] = field(default_factory=list)
    events: list[tuple[str, Body]] = field(default_factory=list)


def assemble(
    origin: str, found: Iterable[tuple[int, str, Any]], task: str, namespace: str
) -> dict[str, Any]:
    """One row: `origin`, `position`, `events`, and for each of `TABLES` its rows.

    Args:
        found: Of each event the number of its file, its name and its body, in the log's order.
        task: The rule for the task's name, as `identity.task_name` takes it.
        namespace: The namespace of metastore tables.
    """
    log = _sorted_out(found)
    application, problems = replay(log.events)
    made, more = _rows(application, task, namespace, origin) if any(log.read.values()) else ({}, [])
    damage = [*_unread(log.listed, log.read), *log.damage]
    damage += [("whole log", problem) for problem in (*problems, *more)]
    return {
        "origin": origin,
        "position": log.listed.position,
        "events": sum(log.read.values()),
        **{table: made.get(table, []) for table in TABLES},
        "rejects": [
            {"origin": origin, "position": position, "reason": reason, "excerpt": ""}
            for position, reason in damage
        ],
    }


def _sorted_out(found: Iterable[tuple[int, str, Any]]) -> _Log:
    log = _Log()
    for part, name, body in found:
        if name == LISTED:
            log.listed = Listed(body["position"], tuple(body["parts"]), tuple(body["too_large"]))
        elif name == FINISHED:
            log.read[part] = body
        elif name == DAMAGED:
            position, reason = body
            log.damage.append((f"{log.listed.parts[part]}, {position}", reason))
        else:
            log.events.append((name, body))
    return log


def _rows(
    application: Application, rule: str, namespace: str, origin: str
) -> tuple[Mapping[str, list[Row]], list[str]]:
    if application.started_at is None:
        return {}, ["the event that starts the application is missing"]
    executions = application.executions.values()
    if is_dbt(application.name, (e.description for e in executions), (e.text for e in executions)):
        return {}, []
    task = task_name(application.name, rule)
    if task is None:
        name = f"the application is called {application.name!r}, which names no task"
        return {}, [f"{name}: set spark.app.name to the task's name"]
    found, places, problems = statements(application, namespace)
    made = rows(application, task, found, places, origin)
    return {table: getattr(made, table) for table in TABLES if table != "rejects"}, problems


def _unread(listed: Listed, read: Mapping[int, int]) -> Iterator[tuple[str, str]]:
    """Files that were listed and did not come back."""
    if not listed.parts:
        yield "whole log", "the folder holds no file with events"
    for number, name in enumerate(listed.parts):
        if number in listed.too_large:
            yield name, "the file is too large: set spark.eventLog.rolling.enabled"
        elif number not in read:
            yield name, "the file cannot be read"
