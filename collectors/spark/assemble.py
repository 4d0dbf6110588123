"""One application's log, file after file -> its rows in the lineage store.

Whose application it is decides first (`identity`): dbt's own gives no rows, and one whose name
names no task gives a reject that says what to do. Either way the log counts as read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from collectors.spark.bodies import Body
from collectors.spark.codecs import Readable
from collectors.spark.decode import Damage, Event, Finished, decode
from collectors.spark.history import Application, replay
from collectors.spark.identity import is_dbt
from collectors.spark.logs import SparkLogs
from collectors.spark.rows import Row, rows, run_id
from collectors.spark.statements import statements
from collectors.spark.tasks import parent_run, task_runs

TABLES = ("accesses", "runs", "shapes", "datasets", "column_edges", "rejects")


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a log: its name, and how to open it.

    Attributes:
        growing: It is still being written.
    """

    name: str
    open: Callable[[], AbstractContextManager[Readable]]
    growing: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What a log tells.

    Attributes:
        run: The id of the run that it is the log of; None where it gives no rows.
        events: How many events it holds.
        tables: The rows of each of `TABLES`.
    """

    application: Application
    run: str | None
    events: int
    tables: dict[str, list[Row]]


@dataclass(slots=True)
class _Reading:
    """A log while it is read: how many events there were, and where it is damaged."""

    events: int = 0
    damage: list[tuple[str, str]] = field(default_factory=list)

    def needed(self, parts: Iterable[Part]) -> Iterator[tuple[str, Body]]:
        """The events that are needed, one after the other."""
        for part in parts:
            try:
                with part.open() as file:
                    for found in decode(file, part.growing):
                        match found:
                            case Event():
                                yield found.name, found.body
                            case Damage():
                                at = f"{part.name}, {found.position}"
                                self.damage.append((at, found.reason))
                            case Finished():
                                self.events += found.events
            except OSError:
                self.damage.append((part.name, "the file cannot be read"))


def assemble(origin: str, parts: Sequence[Part], logs: SparkLogs) -> Told:
    """All that the files of a log tell, oldest file first."""
    reading = _Reading()
    application, problems = replay(reading.needed(parts))
    found, more = _rows(application, logs, origin) if reading.events else ({}, [])
    damage = [] if parts else [("whole log", "the folder holds no file with events")]
    damage += reading.damage
    damage += [("whole log", problem) for problem in (*problems, *more)]
    rejects = [
        {"origin": origin, "position": position, "reason": reason, "excerpt": ""}
        for position, reason in damage
    ]
    return Told(
        application,
        run_id(application, origin) if found else None,
        reading.events,
        {table: found.get(table, []) for table in TABLES} | {"rejects": rejects},
    )


def _rows(
    application: Application, logs: SparkLogs, origin: str
) -> tuple[dict[str, list[Row]], list[str]]:
    if application.started_at is None:
        return {}, ["the event that starts the application is missing"]
    executions = application.executions.values()
    if is_dbt(application.name, (e.description for e in executions), (e.text for e in executions)):
        return {}, []
    runs, nameless = task_runs(application, logs.task_from, logs.task, logs.nameless)
    if not runs:
        return {}, nameless
    found, places, problems = statements(application, logs.namespace)
    tables: dict[str, list[Row]] = {table: [] for table in TABLES}
    known = {execution.root for execution in executions}
    for run in runs:
        roots = {execution.root for execution in run.application.executions.values()}
        # What no execution tells of is nobody else's where there is one task.
        mine = [s for s in found if s.root in roots or (len(runs) == 1 and s.root not in known)]
        made = rows(run.application, run.task, mine, places, origin)
        for table in TABLES:
            tables[table] += getattr(made, table, ())
    for row in tables["runs"]:
        row["parent_run_id"] = parent_run(application.settings)
    return tables, [*nameless, *problems]


def failed(origin: str, reason: str) -> dict[str, list[Row]]:
    """The rows of a log that nothing can be made of."""
    reject: dict[str, Any] = {"origin": origin, "position": "whole log", "reason": reason}
    return {table: [] for table in TABLES} | {"rejects": [{**reject, "excerpt": ""}]}
