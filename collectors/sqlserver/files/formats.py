"""Files -> splits: which hold Extended Events, in which form, and where they are cut."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace

from dbt_graft.collectors.files import LogFile
from dbt_graft.collectors.sqlserver.event import FileSplit, LogDamage
from dbt_graft.collectors.sqlserver.files.csv_events import CsvSplitter, csv_header
from dbt_graft.collectors.sqlserver.files.flat_events import FlatColumnKind, flat_column
from dbt_graft.collectors.sqlserver.files.streams import (
    UnreadableError,
    is_one_split,
    pieces,
    read_range,
)
from dbt_graft.collectors.sqlserver.files.xel.read import xel_splits

_SUFFIXES = frozenset({".xel", ".xml", ".csv", ".json", ".ndjson", ".jsonl", ".txt"})
_PACKED = frozenset({".gz", ".zst"})
_HEAD = 1 << 18
_XEL = bytes.fromhex("5a37abef")
_COMPRESSIONS = ((b"\x1f\x8b", "gzip"), (b"\x28\xb5\x2f\xfd", "zstd"))
# Other formats that events are saved in, and what to do about it.
_OTHERS = (
    (b"PK\x03\x04", "a ZIP archive or an Excel file: unpack it, or save it as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file: save it as CSV"),
    (b"PAR1", "a Parquet file: save it as NDJSON"),
    (b"BZh", "compressed with bzip2: compress it with gzip or zstd"),
    (b"\xfd7zXZ\x00", "compressed with xz: compress it with gzip or zstd"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive: unpack it"),
)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, ""),
    (codecs.BOM_UTF32_BE, ""),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(r"<\?xml [^>]{0,200}?encoding=[\"']([\w.-]{1,40})[\"']")
# Encodings of one byte a character that tools for Windows still write.
_OF_BYTES = re.compile(r"(?:windows-|cp)125[0-8]|iso-?8859-(?:[1-9]|1[013-6])|latin-?1", re.I)
_FIRST_EVENT = re.compile(r"(<event[\s>])|&lt;event[\s&]")
_EVENT = re.compile(r"<event\s+\w+\s*=\s*(?:\"(?!\")|')")
_QUOTED_EVENT = re.compile(r'<event\s+\w+=""\w')
_PROBED = 1024
_REMEDY = "export the events as XML, with sys.fn_xe_file_target_read_file"
_NO_XEL = (
    "the file is not a .xel file of SQL Server 2012 or later (what 2008 wrote, with an .xem file "
    f"beside it, only SQL Server reads): {_REMEDY}"
)


def may_hold_events(log: LogFile, path: str) -> bool:
    """Whether a file is looked at: by its name, or because the path names it."""
    return log.is_named(path, _SUFFIXES, _PACKED)


def file_splits(log: LogFile, size: int = 32 << 20) -> list[FileSplit] | LogDamage:
    """The splits of a file; none if it is empty, a damage if it cannot be read.

    Args:
        size: Of a split, in bytes. A file is one split if it is CSV, compressed or not UTF-8.
    """
    try:
        file, head = _open_split(log)
    except UnreadableError as error:
        return LogDamage("the file", str(error), unread=error.unread)
    # Of a file that is cut short, not even the magic number may be there.
    is_cut_xel = _XEL.startswith(head) and log.origin.lower().endswith(".xel")
    if head.startswith(_XEL) or is_cut_xel:
        packed = _damage("the file is a compressed .xel file: unpack it")
        return packed if file.compression else xel_splits(log, size)
    for magic, problem in _OTHERS:
        if head.startswith(magic):
            return _damage(f"the file is {problem}")
    encoding = _encoding(head)
    if not encoding:
        return _damage("the file is UTF-32: save it as UTF-8")
    text = head.decode(encoding, "replace").removeprefix("\ufeff")
    form = _form(text, len(head) < _HEAD)
    if isinstance(form, LogDamage):
        return _damage(_NO_XEL) if log.origin.lower().endswith(".xel") else form
    file = replace(file, form=form, encoding=encoding)
    if form == "xml":
        file = replace(file, escaped=_is_escaped(text), encoding=_declared_encoding(text, encoding))
    if form == "csv" or is_one_split(file):
        return [file]
    return [
        replace(file, start=start, end=min(start + size, log.size))
        for start in range(0, log.size, size)
    ]


def _open_split(log: LogFile) -> tuple[FileSplit, bytes]:
    """A file as one split, and its beginning, unpacked.

    Raises:
        UnreadableError: It cannot be opened or unpacked.
    """
    file = FileSplit(log.url, log.origin, "", 0, log.size)
    head = read_range(file, 0, min(_HEAD, log.size))
    for magic, compression in _COMPRESSIONS:
        if head.startswith(magic):
            file = replace(file, compression=compression)
            return file, next(pieces(file), b"")[:_HEAD]
    return file, head


def _encoding(head: bytes) -> str:
    """A text's encoding; empty for one that is not read."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    # In UTF-16, every other byte of a text that is mostly English is zero.
    head = head[:_PROBED]
    first, second = head[0::2].count(0), head[1::2].count(0)
    if max(first, second) > len(head) // 4 and min(first, second) < len(head) // 20:
        return "utf-16-le" if second > first else "utf-16-be"
    return "utf-8"


def _form(text: str, complete: bool) -> str | LogDamage:
    """The form of a text by its beginning."""
    text = text.lstrip()
    if text.startswith("{"):
        return _json(text, complete)
    if text.startswith("["):
        return _damage("the file is a JSON array: write one object a line")
    if not text or text.startswith("<"):
        return "xml"
    row = next(CsvSplitter().feed(text.encode(errors="replace"), last=True), None)
    first = csv_header(row.text) if row else None
    if first is not None and any(
        flat_column(label).kind is FlatColumnKind.TIME for label in first.labels
    ):
        return "csv"
    # Results as text, and grids saved without quotes, have XML as it is.
    if _EVENT.search(text):
        return "xml"
    if first is not None or _QUOTED_EVENT.search(text):
        return "csv"
    if "\0" in text:
        return _damage(f"the file is binary: {_REMEDY}")
    return _damage(f"the file is not XML, NDJSON or CSV with names of columns: {_REMEDY}")


def _json(text: str, complete: bool) -> str | LogDamage:
    line, end, _ = text.partition("\n")
    if (end or complete) and not line.rstrip().endswith("}"):
        return _damage("the file is JSON over several lines: write one object a line")
    return "ndjson"


def _declared_encoding(text: str, encoding: str) -> str:
    """The encoding that XML declares, unless its bytes show another."""
    declared = _DECLARED.match(text) if encoding == "utf-8" else None
    return declared[1].lower() if declared and _OF_BYTES.fullmatch(declared[1]) else encoding


def _is_escaped(text: str) -> bool:
    """Whether events are text within XML, as the first of them shows."""
    first = _FIRST_EVENT.search(text)
    return bool(first and not first[1])


def _damage(reason: str) -> LogDamage:
    return LogDamage("the file", reason)
