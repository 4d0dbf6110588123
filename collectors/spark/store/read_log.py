"""Read one application's log, file after file, into records of the lineage store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from datetime import datetime

from dbt_graft.collectors.codecs import ByteStream
from dbt_graft.collectors.spark.application.execution import Application
from dbt_graft.collectors.spark.application.replay import SETTLE_AFTER, replay
from dbt_graft.collectors.spark.log.checkpoint import Checkpoint, log_origin
from dbt_graft.collectors.spark.log.decode import BadEvent, EndOfFile, SparkEvent, decode
from dbt_graft.collectors.spark.log.events import Body
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.log.rejects import Rejects
from dbt_graft.collectors.spark.store.collector import ApplicationCollector
from dbt_graft.collectors.spark.store.records import log_records, run_id
from dbt_graft.collectors.store.tables import LogRecords
from dbt_graft.lineage.frozen import frozen

_FIRST_EVENTS = frozenset(
    f"SparkListener{name}" for name in ("LogStart", "ApplicationStart", "EnvironmentUpdate")
)


@frozen
class EventFile:
    """A file of a log."""

    name: str
    open: Callable[[], AbstractContextManager[ByteStream]]
    growing: bool = False


@frozen
class CollectedLog:
    """The records of a log.

    Attributes:
        run: The id of the run that the log is of; None where it has no records.
        checkpoint: Where the next collect continues; None where the log was read to its end.
    """

    origin: str
    application: Application
    run: str | None
    events: int
    records: LogRecords
    checkpoint: Checkpoint | None = None
    unread: bool = False


def assemble(
    origin: str,
    files: Sequence[EventFile],
    logs: SparkLogs,
    settle_after: int = SETTLE_AFTER,
    since: datetime | None = None,
    start: Checkpoint | None = None,
    resumable: bool = False,
) -> CollectedLog:
    """Read the files of a log, oldest first.

    Args:
        since: As `ApplicationCollector` takes it.
        start: Only statements behind it are collected.
        resumable: Of a growing log, executions that still run are left to the next collect.
    """
    application = Application(date_columns=logs.date_columns)
    rejects, reader = Rejects(), _LogReader(start)
    if not files:
        rejects.add_for_log("the folder holds no file with events")
    on_idle = reader.set_checkpoint if resumable and files and files[-1].growing else None
    collector, is_empty = ApplicationCollector(application, logs, since), True
    events = reader.events_of(files, rejects)
    for finished in replay(events, application, rejects.add_for_log, settle_after, on_idle):
        collector.add(finished)
        is_empty = False
    if start and reader.unread:
        # A segment without a position would not be replaced with its log.
        records = LogRecords(rejects=rejects.records(origin))
    elif start and (reader.checkpoint == start or is_empty):
        records = LogRecords()
    else:
        results = list(collector.finish(rejects)) if reader.events else []
        resolver = collector.context.column_sources.resolver
        records = log_records(application, results, resolver, origin, rejects.records(origin))
    return CollectedLog(
        origin,
        application,
        run_id(application, log_origin(origin)) if records.runs else None,
        reader.event_count,
        records,
        reader.checkpoint,
        reader.unread,
    )


def rejected_log(origin: str, reason: str) -> LogRecords:
    """The records of a log that cannot be read."""
    rejects = Rejects()
    rejects.add_for_log(reason)
    return LogRecords(rejects=rejects.records(origin))


@dataclass(slots=True)
class _LogReader:
    """Reads the events of a log and counts them.

    Attributes:
        checkpoint: The last moment at which nothing ran; at first, where reading starts.
        events: The number of events read, with those before the start.
        file: The name of the current file.
        last: The last event of it.
        unread: A file could not be read.
    """

    checkpoint: Checkpoint | None
    events: int = 0
    file: str = ""
    last: SparkEvent | None = None
    unread: bool = False
    start: Checkpoint | None = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.checkpoint
        self.events = self.start.events if self.start else 0

    def set_checkpoint(self) -> None:
        """Note that nothing runs now."""
        if self.last:
            events = self.events + self.last.events
            self.checkpoint = Checkpoint(self.file, self.last.end, self.last.line, events)

    @property
    def event_count(self) -> int:
        """The number of events between the start and the checkpoint, or the log's end."""
        end = self.checkpoint.events if self.checkpoint else self.events
        return end - (self.start.events if self.start else 0)

    def events_of(self, files: Sequence[EventFile], rejects: Rejects) -> Iterator[tuple[str, Body]]:
        """The events that lineage needs, in order; damage goes into `rejects`."""
        start = self.start
        if start and files:
            yield from _first_events(files[0])
            names = [file.name for file in files]
            files = files[names.index(start.file) if start.file in names else len(files) :]
        for file in files:
            skipped = (start.byte, start.line) if start and file.name == start.file else (0, 0)
            self.file, self.last = file.name, None
            try:
                with file.open() as stream:
                    for decoded in decode(stream, file.growing, skipped):
                        match decoded:
                            case SparkEvent():
                                self.last = decoded
                                yield decoded.name, decoded.body
                            case BadEvent():
                                self.unread |= decoded.unread
                                rejects.add(f"{file.name}, {decoded.position}", decoded.reason)
                            case EndOfFile():
                                self.events += decoded.events
            except OSError:
                self.unread = True
                rejects.add(file.name, "the file cannot be read")


def _first_events(file: EventFile) -> Iterator[tuple[str, Body]]:
    """The events at the start of a log that describe its application."""
    with suppress(OSError), file.open() as stream:
        for decoded in decode(stream, growing=True):
            if isinstance(decoded, SparkEvent):
                if decoded.name not in _FIRST_EVENTS:
                    return
                yield decoded.name, decoded.body
