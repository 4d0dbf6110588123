"""A CSV export -> its events: the viewer's grid, or the result of a query, with XML or without."""

from __future__ import annotations

import csv
import logging
import re
from collections.abc import Iterator
from typing import NamedTuple

from dbt_graft.collectors.sqlserver.event import (
    Chunk,
    EventFilter,
    ExtendedEvent,
    FileSplit,
    LogDamage,
)
from dbt_graft.collectors.sqlserver.files.flat_events import (
    are_event_columns,
    flat_event,
    xml_event,
)
from dbt_graft.collectors.sqlserver.files.streams import LONGEST, batched, mark_last, pieces
from dbt_graft.lineage.frozen import frozen

_log = logging.getLogger(__name__)

_DELIMITERS = ",;\t"
_RULE = re.compile(r"[-,;\t ]*")
_FOOTER = re.compile(r"\(\d+ rows? affected\)")
_XML = re.compile(r"\s*<event\s")


class CsvRow(NamedTuple):
    """A row's text.

    Attributes:
        line: The line that it begins in, from 1 on.
        text: Empty where it is too long to be read.
    """

    line: int
    text: str


@frozen
class CsvHeader:
    """The header of a file.

    Attributes:
        labels: Names of the columns; empty where the file has no header, but XML in a column.
    """

    delimiter: str
    labels: tuple[str, ...]


def read_csv(split: FileSplit, wanted: EventFilter) -> Iterator[Chunk]:
    """The events of a file, piece by piece.

    Raises:
        UnreadableError: The file is gone or breaks off.
    """
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
    head: CsvHeader | None = None
    splitter = CsvSplitter()
    for piece, last in mark_last(pieces(split)):
        for batch in batched(splitter.feed(piece, last)):
            rows = [row for row in batch if not _is_decoration(row)]
            if head is None and rows:
                head = csv_header(rows[0].text)
                if head is None:
                    reason = "the first line names no columns of events"
                    yield Chunk(damages=[LogDamage(f"line {rows[0].line}", reason)])
                    return
                rows = rows[1:] if head.labels else rows
            if head is not None and rows:
                events = ((f"line {line}", _event(text, head, wanted)) for line, text in rows)
                yield Chunk.of(len(rows), events)


def _is_decoration(row: CsvRow) -> bool:
    """Whether a row is a rule or count that command line tools write around the rows."""
    return bool(row.text and (_RULE.fullmatch(row.text) or _FOOTER.fullmatch(row.text)))


def csv_header(row: str) -> CsvHeader | None:
    """The header in a file's first row; None where the file has no events."""
    for delimiter in sorted(_DELIMITERS, key=row.count, reverse=True):
        cells = _cells(row, delimiter)
        if cells and are_event_columns(cells):
            return CsvHeader(delimiter, tuple(cells))
        if cells and any(_XML.match(cell) for cell in cells):
            return CsvHeader(delimiter, ())
    return None


class CsvSplitter:
    """Cuts text that comes in pieces into rows, which may span lines within quotes."""

    def __init__(self) -> None:
        self._rest = b""
        self._line = 1
        self._scanned = 0
        self._quotes = 0
        self._lines = 0
        self._skips = False

    def feed(self, piece: bytes, last: bool = False) -> Iterator[CsvRow]:
        """The rows that are complete with this piece, empty ones left out."""
        text = self._rest + piece
        start, scanned = 0, self._scanned
        while (end := text.find(b"\n", scanned)) >= 0:
            self._quotes += text.count(b'"', scanned, end)
            self._lines += 1
            scanned = end + 1
            if self._quotes % 2 and not self._skips:
                continue
            yield from self._row(text[start:end])
            start = scanned
        if last:
            yield from self._row(text[start:])
            return
        self._rest = text[start:]
        if len(self._rest) > LONGEST:
            if not self._skips:
                yield CsvRow(self._line, "")
            self._skips = True
            self._rest = b""
        else:
            self._quotes += text.count(b'"', scanned)
        self._scanned = len(self._rest)

    def _row(self, text: bytes) -> Iterator[CsvRow]:
        """A row, if it is one; a new one begins after it."""
        row = text.rstrip(b"\r\n")
        if row and not self._skips:
            yield CsvRow(self._line, row.decode(errors="replace").removeprefix("\ufeff"))
        self._line += self._lines
        self._lines = 0
        self._quotes = 0
        self._skips = False


def _cells(row: str, delimiter: str) -> list[str] | None:
    try:
        return next(csv.reader([row], delimiter=delimiter, strict=True), None)
    except csv.Error:
        _log.debug("a reject: a row", exc_info=True)
        return None


def _event(row: str, head: CsvHeader, wanted: EventFilter) -> ExtendedEvent | LogDamage | None:
    if not row:
        return LogDamage("", f"the row is longer than {LONGEST >> 20} MB")
    cells = _cells(row, head.delimiter)
    if cells is None:
        return LogDamage("", "the row's quotes do not match")
    if not head.labels:
        xml = next((cell for cell in cells if _XML.match(cell)), None)
        return xml_event(xml, wanted) if xml else LogDamage("", "the row holds no event")
    if len(cells) != len(head.labels):
        counts = f"{len(cells)} columns, the header has {len(head.labels)}"
        return LogDamage("", f"the row has {counts}")
    return flat_event(dict(zip(head.labels, cells, strict=True)), wanted)
