"""A file split of any form -> its events."""

from __future__ import annotations

from collections.abc import Iterator

from dbt_graft.collectors.sqlserver.event import Chunk, EventFilter, FileSplit, LogDamage
from dbt_graft.collectors.sqlserver.files import csv_events, ndjson_events, xml_reader
from dbt_graft.collectors.sqlserver.files.streams import UnreadableError
from dbt_graft.collectors.sqlserver.files.xel.read import read_xel

_READERS = {
    "xel": read_xel,
    "xml": xml_reader.read_xml,
    "csv": csv_events.read_csv,
    "ndjson": ndjson_events.read_ndjson,
}


def read_split(split: FileSplit, wanted: EventFilter) -> Iterator[Chunk]:
    """The events of a split, in the order of the file.

    A file that is gone by now, or breaks off, gives what could be read of it and a damage.
    """
    try:
        yield from _READERS[split.form](split, wanted)
    except UnreadableError as error:
        position = f"from byte {split.start} on"
        yield Chunk(damages=[LogDamage(position, str(error), unread=error.unread)])
