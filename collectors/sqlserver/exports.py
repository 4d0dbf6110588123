"""Which files below a path are exports of Extended Events, and in which form each holds them.

`sys.fn_xe_file_target_read_file` gives one `<event>` a row. People save these as they are, inside
any document, or as rows `FOR XML`, which escapes them once more because the column is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from collectors.files import LogFile, filesystem

_HEAD = 65_536
_FIRST_EVENT = re.compile(rb"(<event[\s>])|&lt;event[\s&]")


@dataclass(frozen=True, slots=True)
class Export:
    """A file, and how to read it.

    Attributes:
        escaped: Its events are text within the document: `&lt;event …&gt;`.
        problem: Why it cannot be read; empty where it can.
    """

    log: LogFile
    escaped: bool = False
    problem: str = ""


def is_export(log: LogFile, path: str) -> bool:
    """Whether a file may hold events: XML, SQL Server's own .xel, or what the path itself names."""
    suffix = PurePosixPath(log.origin).suffix.lower()
    return suffix in (".xml", ".xel") or log.url.rstrip("/") == path.rstrip("/")


def inspect(log: LogFile) -> Export:
    """Look into a file's beginning."""
    try:
        files, path = filesystem(log.url)
        with files.open_input_file(path) as stream:
            head = stream.read(_HEAD)
    except OSError as error:
        return Export(log, problem=f"cannot be read: {type(error).__name__}")
    if log.origin.lower().endswith(".xel"):
        return Export(log, problem="is binary: export it with sys.fn_xe_file_target_read_file")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Export(log, problem="is UTF-16: save it as UTF-8")
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text and not text.startswith(b"<"):
        return Export(log, problem="is no XML")
    first = _FIRST_EVENT.search(head)
    return Export(log, escaped=bool(first and not first[1]))
