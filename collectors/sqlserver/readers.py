"""A part of a log of whatever form -> its events."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from collectors.sqlserver.event import Chunk, Damage, Part, Wanted
from collectors.sqlserver.streams import UnreadableError

# Loaded when there is such a part: an executor may never see most forms.
_READERS = {
    "xel": "collectors.sqlserver.xel.read",
    "xml": "collectors.sqlserver.xml_reader",
    "csv": "collectors.sqlserver.csv_events",
    "ndjson": "collectors.sqlserver.ndjson_events",
}


def read(part: Part, wanted: Wanted) -> Iterator[Chunk]:
    """The events of a part, in the order in which they stand.

    A file that is gone by now, or breaks off, is a damage behind what could be read of it.
    """
    try:
        yield from import_module(_READERS[part.form]).read(part, wanted)
    except UnreadableError as error:
        yield Chunk(damages=[Damage(f"from byte {part.start} on", str(error))])
