"""Files with events, and the part of each that is new.

A file that only grew is read on from where the last collect stopped, and what is found there is an
origin of its own: `events.jsonl@1048576`. That it is the same file is known by a digest of its
first bytes. Any other change means another file: it is read from the start, and its records replace
the earlier ones.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import field

from dbt_graft.collectors.files import LogFile, filesystem, log_files, report_nothing
from dbt_graft.collectors.folder_walk import Report
from dbt_graft.collectors.source import is_stale, position_before
from dbt_graft.collectors.store.positions import of_logs
from dbt_graft.collectors.store.tables import Positions
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.frozen import frozen

_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".log", ".txt", ""})
_PACKED = frozenset({".gz", ".zst", ".zstd", ".lz4", ".snappy"})
# `<size>@<time of change> <end>:<bytes of the head>:<digest of the head>`
_POSITION = re.compile(r"(?P<state>\d+@-?\d+) (?P<end>\d+):(?P<head>\d+:[0-9a-f]+)")
_PART = re.compile(r"@\d+(?:#dbt)?\Z|#dbt\Z")
_HEAD = 4096


@frozen
class EventFiles:
    """Files with events of OpenLineage.

    Attributes:
        path: A local path or URL: a file, a folder, or a pattern.
        task: A regular expression with a group `task` for the names of jobs; empty for the
            defaults of `jobs`.
        timezone: The zone of the days in data intervals; empty where the events decide.
    """

    path: str
    label: str
    task: str = ""
    date_columns: DateColumns = field(default_factory=DateColumns)
    timezone: str = ""


@frozen
class NewPart:
    """The part of a file that is new.

    Attributes:
        origin: In the lineage store.
        replaced: Origins of earlier parts, whose records go.
        head: The digest by which the file is the one that was read up to the start, and the number
            of bytes that it is of; empty at the start of a file.
    """

    file: LogFile
    origin: str
    start: int = 0
    replaced: tuple[str, ...] = ()
    head: str = ""


def new_parts(
    files: EventFiles, positions: Positions, report: Report = report_nothing
) -> list[NewPart]:
    """The parts of files that the store does not have; needs no Spark.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    listed = log_files(
        files.path, files.label, lambda log: log.is_named(files.path, _SUFFIXES, _PACKED), report
    )
    origins = {log.origin for log in listed}
    parts = _parts(origins, of_logs(positions, origins))
    return [new for log in listed if (new := _new_part(log, parts.get(log.origin, {})))]


def position(file: LogFile, end: int, head: bytes) -> str:
    """The position in a file that was read up to a byte."""
    return f"{file.position} {end}:{_head_digest(head)}"


def has_head(head: bytes, expected: str) -> bool:
    """Whether a file with these first bytes is the one that `NewPart.head` describes."""
    return not expected or _head_digest(head[: int(expected.partition(":")[0])]) == expected


def _head_digest(head: bytes) -> str:
    return f"{len(head)}:{hashlib.sha256(head).hexdigest()[:16]}"


def _parts(origins: Iterable[str], positions: Positions) -> dict[str, dict[str, str]]:
    """For each file its parts in the store, with their positions."""
    wanted = set(origins)
    parts_by_file: dict[str, dict[str, str]] = {}
    for origin, (reached, _) in positions.items():
        for file in (origin, _PART.sub("", origin)):
            if file in wanted:
                parts_by_file.setdefault(file, {})[origin] = reached
                break
    return parts_by_file


def _new_part(file: LogFile, parts: Mapping[str, str]) -> NewPart | None:
    again = any(map(is_stale, parts.values()))
    reached = [
        at for stored in parts.values() if (at := _POSITION.fullmatch(position_before(stored)))
    ]
    if reached and not again:
        # The one that reaches furthest, of several the last.
        at = max(enumerate(reached), key=lambda entry: (int(entry[1]["end"]), entry[0]))[1]
        end = int(at["end"])
        if at["state"] == file.position:
            return None
        if file.size >= end > 0 and _is_same_file(file, at["head"]):
            return NewPart(file, f"{file.origin}@{end}", end, head=at["head"])
    return NewPart(file, file.origin, 0, tuple(sorted(parts.keys() - {file.origin})))


def _is_same_file(file: LogFile, head: str) -> bool:
    try:
        return has_head(read_head(file.url), head)
    except OSError:
        return False


def read_head(url: str) -> bytes:
    """The first bytes of a file.

    Raises:
        OSError: It cannot be read.
    """
    files, path = filesystem(url)
    with files.open_input_stream(path, compression=None) as stream:
        head: bytes = stream.read(_HEAD)
        return head
