"""One application's log, file after file -> its rows in the lineage store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import datetime

from dbt_graft.collectors.spark.application.execution import Application
from dbt_graft.collectors.spark.application.replay import SETTLE_AFTER, replay
from dbt_graft.collectors.spark.log.checkpoint import Checkpoint, log_origin
from dbt_graft.collectors.spark.log.codecs import ByteStream
from dbt_graft.collectors.spark.log.decode import EndOfFile, LogDamage, SparkEvent, decode
from dbt_graft.collectors.spark.log.events import Body
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.log.rejects import WHOLE, Rejects
from dbt_graft.collectors.spark.store.collector import ApplicationCollector
from dbt_graft.collectors.spark.store.rows import Row, rows, run_id

_BEGINNING = frozenset(
    f"SparkListener{name}" for name in ("LogStart", "ApplicationStart", "EnvironmentUpdate")
)

TABLES = ("accesses", "runs", "shapes", "datasets", "column_edges", "rejects")


@dataclass(frozen=True, slots=True)
class EventFile:
    """A file of a log: its name, and how to open it.

    Attributes:
        growing: It is still being written.
    """

    name: str
    open: Callable[[], AbstractContextManager[ByteStream]]
    growing: bool = False


@dataclass(frozen=True, slots=True)
class CollectedLog:
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
    checkpoint: Checkpoint | None = None


def assemble(
    origin: str,
    parts: Sequence[EventFile],
    logs: SparkLogs,
    settle_after: int = SETTLE_AFTER,
    since: datetime | None = None,
    start: Checkpoint | None = None,
    resumable: bool = False,
) -> CollectedLog:
    """All that the files of a log tell, oldest file first.

    Args:
        waits: As `replay` takes it.
        since: As `ApplicationCollector` takes it.
        start: Only what comes behind it is told.
        resumable: Of a growing log what still runs is not told, so that it can be read on later.
    """
    application, rejects, reading = Application(), Rejects(), _LogReader(start)
    if not parts:
        rejects.add_for_log("the folder holds no file with events")
    on_idle = reading.pause if resumable and parts and parts[-1].growing else None
    collector, took = ApplicationCollector(application, logs, since), False
    events = reading.needed(parts, rejects)
    for found in replay(events, application, rejects.add_for_log, settle_after, on_idle):
        collector.take(found)
        took = True
    tables: dict[str, list[Row]] = {table: [] for table in TABLES}
    if start and (reading.checkpoint == start or not took):
        rejects = Rejects()
    elif reading.events:
        for done in collector.finish(rejects):
            made = rows(application, done, collector.context.column_sources.resolver, origin)
            for table in TABLES:
                tables[table] += getattr(made, table, ())
    return CollectedLog(
        application,
        run_id(application, log_origin(origin)) if tables["runs"] else None,
        reading.event_count(),
        tables | {"rejects": rejects.rows(origin)},
        reading.checkpoint,
    )


@dataclass(slots=True)
class _LogReader:
    """A log while it is read.

    Attributes:
        reached: The last moment at which nothing ran, if that matters; where it began at first.
        events: How many events there were in all.
        part: The file that is read, and the last event of it.
    """

    checkpoint: Checkpoint | None
    events: int = 0
    part: str = ""
    last: SparkEvent | None = None
    start: Checkpoint | None = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.checkpoint
        self.events = self.start.events if self.start else 0

    def pause(self) -> None:
        """Note that nothing runs now."""
        if self.last:
            events = self.events + self.last.events
            self.checkpoint = Checkpoint(self.part, self.last.end, self.last.line, events)

    def event_count(self) -> int:
        """How many events the rows are made of."""
        end = self.checkpoint.events if self.checkpoint else self.events
        return end - (self.start.events if self.start else 0)

    def needed(self, parts: Sequence[EventFile], rejects: Rejects) -> Iterator[tuple[str, Body]]:
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
                            case SparkEvent():
                                self.last = found
                                yield found.name, found.body
                            case LogDamage():
                                rejects.add(f"{part.name}, {found.position}", found.reason)
                            case EndOfFile():
                                self.events += found.events
            except OSError:
                rejects.add(part.name, "the file cannot be read")


def _beginning(part: EventFile) -> Iterator[tuple[str, Body]]:
    """What a log tells of its application before that does anything."""
    with suppress(OSError), part.open() as file:
        for found in decode(file, growing=True):
            if isinstance(found, SparkEvent):
                if found.name not in _BEGINNING:
                    return
                yield found.name, found.body


def failed(origin: str, reason: str) -> dict[str, list[Row]]:
    """The rows of a log that nothing can be made of."""
    rejects = Rejects([(WHOLE, reason)])
    return {table: [] for table in TABLES} | {"rejects": rejects.rows(origin)}
