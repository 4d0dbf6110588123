"""A part of a log of whatever form -> its events."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.collectors.sqlserver.event import Chunk, Damage, Part, Wanted
from dbt_graft.collectors.sqlserver.files import csv_events, ndjson_events, xml_reader
from dbt_graft.collectors.sqlserver.files.streams import UnreadableError
from dbt_graft.collectors.sqlserver.files.xel import read as xel

_READERS = {
    "xel": xel.read,
    "xml": xml_reader.read,
    "csv": csv_events.read,
    "ndjson": ndjson_events.read,
}


def read(part: Part, wanted: Wanted) -> Iterator[Chunk]:
    """The events of a part, in the order in which they stand.

    A file that is gone by now, or breaks off, is a damage behind what could be read of it.
    """
    try:
        yield from _READERS[part.form](part, wanted)
    except UnreadableError as error:
        yield Chunk(damages=[Damage(f"from byte {part.start} on", str(error))])
