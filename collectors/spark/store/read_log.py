"""One application's log, file after file -> its rows in the lineage store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import datetime

from dbt_graft.collectors.spark.application.execution import Application
from dbt_graft.collectors.spark.application.replay import WAITS, replay
from dbt_graft.collectors.spark.log.checkpoint import Reached, whole
from dbt_graft.collectors.spark.log.codecs import Readable
from dbt_graft.collectors.spark.log.decode import Damage, Event, Finished, decode
from dbt_graft.collectors.spark.log.events import Body
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.log.rejects import WHOLE, Rejects
from dbt_graft.collectors.spark.store.collector import Work
from dbt_graft.collectors.spark.store.rows import Row, rows, run_id

_BEGINNING = frozenset(
    f"SparkListener{name}" for name in ("LogStart", "ApplicationStart", "EnvironmentUpdate")
)

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
        events: How many events it holds, of those that it is told of by.
        tables: The rows of each of `TABLES`.
        reached: From where it is to be read on; None where it was told of as a whole.
    """

    application: Application
    run: str | None
    events: int
    tables: dict[str, list[Row]]
    reached: Reached | None = None


def assemble(
    origin: str,
    parts: Sequence[Part],
    logs: SparkLogs,
    waits: int = WAITS,
    since: datetime | None = None,
    start: Reached | None = None,
    resumable: bool = False,
) -> Told:
    """All that the files of a log tell, oldest file first.

    Args:
        waits: As `replay` takes it.
        since: As `Work` takes it.
        start: Only what comes behind it is told.
        resumable: Of a growing log what still runs is not told, so that it can be read on later.
    """
    application, rejects, reading = Application(), Rejects(), _Reading(start)
    if not parts:
        rejects.tell("the folder holds no file with events")
    paused = reading.pause if resumable and parts and parts[-1].growing else None
    work, took = Work(application, logs, since), False
    events = reading.needed(parts, rejects)
    for found in replay(events, application, rejects.tell, waits, paused):
        work.take(found)
        took = True
    tables: dict[str, list[Row]] = {table: [] for table in TABLES}
    if start and (reading.reached == start or not took):
        rejects = Rejects()
    elif reading.events:
        for done in work.finish(rejects):
            made = rows(application, done, work.known.reads.places, origin)
            for table in TABLES:
                tables[table] += getattr(made, table, ())
    return Told(
        application,
        run_id(application, whole(origin)) if tables["runs"] else None,
        reading.told_of(),
        tables | {"rejects": rejects.rows(origin)},
        reading.reached,
    )


@dataclass(slots=True)
class _Reading:
    """A log while it is read.

    Attributes:
        reached: The last moment at which nothing ran, if that matters; where it began at first.
        events: How many events there were in all.
        part: The file that is read, and the last event of it.
    """

    reached: Reached | None
    events: int = 0
    part: str = ""
    last: Event | None = None
    start: Reached | None = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.reached
        self.events = self.start.events if self.start else 0

    def pause(self) -> None:
        """Note that nothing runs now."""
        if self.last:
            events = self.events + self.last.events
            self.reached = Reached(self.part, self.last.end, self.last.line, events)

    def told_of(self) -> int:
        """How many events the rows are made of."""
        end = self.reached.events if self.reached else self.events
        return end - (self.start.events if self.start else 0)

    def needed(self, parts: Sequence[Part], rejects: Rejects) -> Iterator[tuple[str, Body]]:
        """The events that are needed, one after the other."""
        start = self.start
        if start and parts:
            yield from _beginning(parts[0])
            names = [part.name for part in parts]
            parts = parts[names.index(start.part) if start.part in names else len(parts) :]
        for part in parts:
            behind = (start.byte, start.line) if start and part.name == start.part else (0, 0)
            self.part, self.last = part.name, None
            try:
                with part.open() as file:
                    for found in decode(file, part.growing, behind):
                        match found:
                            case Event():
                                self.last = found
                                yield found.name, found.body
                            case Damage():
                                rejects.add(f"{part.name}, {found.position}", found.reason)
                            case Finished():
                                self.events += found.events
            except OSError:
                rejects.add(part.name, "the file cannot be read")


def _beginning(part: Part) -> Iterator[tuple[str, Body]]:
    """What a log tells of its application before that does anything."""
    with suppress(OSError), part.open() as file:
        for found in decode(file, growing=True):
            if isinstance(found, Event):
                if found.name not in _BEGINNING:
                    return
                yield found.name, found.body


def failed(origin: str, reason: str) -> dict[str, list[Row]]:
    """The rows of a log that nothing can be made of."""
    rejects = Rejects([(WHOLE, reason)])
    return {table: [] for table in TABLES} | {"rejects": rejects.rows(origin)}
