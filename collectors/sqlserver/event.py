"""A captured event as every input gives it: .xel files, a live session, tables and exports.

Files are cut into `FileSplit`s, each read where it lies into `Chunk`s of `ExtendedEvent`s; a
connection gives the same chunks. From there on an event does not show where it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import NamedTuple, TypeAlias

from dbt_graft.lineage.frozen import frozen


class Mapped(NamedTuple):
    """A number that has a name in the log: of an enumeration (`0`, `OK`) or of a mask's bits."""

    value: int
    text: str


class Mask(Mapped):
    """Of a mask's bits: equal to any `Mapped`, but SQL Server writes its number as `0x00000002`."""

    __slots__ = ()


# Of each connection that is open when the capture begins.
EXISTING_CONNECTION = "existing_connection"

# XML and CSV give text only, a .xel file what its metadata say. Binary data is bytes, a GUID text,
# a call stack the text of its addresses.
Value: TypeAlias = int | float | bool | str | bytes | Mapped | None


class ExtendedEvent(NamedTuple):
    """One event of a session.

    Attributes:
        name: `sql_batch_completed`.
        at: When it was recorded, in units of 100 ns since 1970 in UTC.
        actions: What the session had added to it: `client_app_name`, `session_id`…
        package: The package that defines it; `sqlserver` for all that lineage needs.
    """

    name: str
    at: int
    data: Mapping[str, Value]
    actions: Mapping[str, Value]
    package: str = "sqlserver"

    @property
    def client(self) -> Mapping[str, Value]:
        """The fields with the session, application and database that it is about.

        The actions of `existing_connection` are those of the session that began the capture.
        """
        return self.data if self.name == EXISTING_CONNECTION else self.actions


@frozen
class LogDamage:
    """A place of a log that could not be read.

    Attributes:
        position: `block at byte 4096, event 12`.
        reason: A clause about the log: `the block's checksum is wrong`.
        excerpt: A piece of the log that helps to find the place, without any value.
        unread: The log could not be read, now; nothing is known of its content.
    """

    position: str
    reason: str
    excerpt: str = ""
    unread: bool = False


@frozen
class Chunk:
    """Neighbouring events of a log: a block, or a few megabytes of an export.

    Attributes:
        events: Those that the filter lets through, in the order of the log.
        seen: The number of all events, filtered and damaged ones too.
    """

    events: list[ExtendedEvent] = field(default_factory=list)
    seen: int = 0
    damages: list[LogDamage] = field(default_factory=list)

    @classmethod
    def of(
        cls, seen: int, outcomes: Iterable[tuple[str, ExtendedEvent | LogDamage | None]]
    ) -> Chunk:
        """The chunk of events by their positions; None stands for one that is not wanted."""
        chunk = cls(seen=seen)
        for position, event in outcomes:
            if isinstance(event, ExtendedEvent):
                chunk.events.append(event)
            elif event is not None:
                chunk.damages.append(replace(event, position=position))
        return chunk


@frozen
class EventFilter:
    """The events to read; others are dropped before they cost anything.

    Attributes:
        names: Their names; None for all.
        application: A predicate on `client_app_name`, which is empty where an event has none;
            None for all.
    """

    names: frozenset[str] | None = None
    application: Callable[[str], bool] | None = None


@frozen
class FileSplit:
    """A range of a file that one worker reads.

    Attributes:
        url: The file, for `collectors.files.filesystem`.
        origin: The file in the lineage store.
        form: `xel`, `xml`, `csv` or `ndjson`.
        start, end: In bytes. An event that begins within the range belongs to it, wherever it ends.
        compression: `gzip`, `zstd` or empty; a compressed file is one split.
        escaped: Its XML is text within XML: `&lt;event …&gt;`.
        growing: The file changed so lately that the server may still write its end.
    """

    url: str
    origin: str
    form: str
    start: int
    end: int
    compression: str = ""
    encoding: str = "utf-8"
    escaped: bool = False
    growing: bool = False
