"""One application's log, file after file -> its rows in the lineage store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime

from collectors.spark.bodies import Body
from collectors.spark.codecs import Readable
from collectors.spark.decode import Damage, Event, Finished, decode
from collectors.spark.history import Application
from collectors.spark.logs import SparkLogs
from collectors.spark.rejects import WHOLE, Rejects
from collectors.spark.replay import WAITS, replay
from collectors.spark.rows import Row, rows, run_id
from collectors.spark.work import Work

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


def assemble(
    origin: str,
    parts: Sequence[Part],
    logs: SparkLogs,
    waits: int = WAITS,
    since: datetime | None = None,
) -> Told:
    """All that the files of a log tell, oldest file first.

    Args:
        waits: As `replay` takes it.
        since: As `Work` takes it.
    """
    application, rejects, reading = Application(), Rejects(), _Reading()
    if not parts:
        rejects.tell("the folder holds no file with events")
    work = Work(application, logs, since)
    for found in replay(reading.needed(parts, rejects), application, rejects.tell, waits):
        work.take(found)
    tables: dict[str, list[Row]] = {table: [] for table in TABLES}
    if reading.events:
        for done in work.finish(rejects):
            made = rows(application, done, work.known.reads.places, origin)
            for table in TABLES:
                tables[table] += getattr(made, table, ())
    return Told(
        application,
        run_id(application, origin) if tables["runs"] else None,
        reading.events,
        tables | {"rejects": rejects.rows(origin)},
    )


@dataclass(slots=True)
class _Reading:
    """A log while it is read: how many events there were."""

    events: int = 0

    def needed(self, parts: Iterable[Part], rejects: Rejects) -> Iterator[tuple[str, Body]]:
        """The events that are needed, one after the other."""
        for part in parts:
            try:
                with part.open() as file:
                    for found in decode(file, part.growing):
                        match found:
                            case Event():
                                yield found.name, found.body
                            case Damage():
                                rejects.add(f"{part.name}, {found.position}", found.reason)
                            case Finished():
                                self.events += found.events
            except OSError:
                rejects.add(part.name, "the file cannot be read")


def failed(origin: str, reason: str) -> dict[str, list[Row]]:
    """The rows of a log that nothing can be made of."""
    rejects = Rejects([(WHOLE, reason)])
    return {table: [] for table in TABLES} | {"rejects": rejects.rows(origin)}
