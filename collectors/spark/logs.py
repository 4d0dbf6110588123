"""The event logs below a path: the files of each application, one origin each.

Spark writes a folder `eventlog_v2_<application>` with `events_1_<application>.zstd`, `events_2_…`
and an empty `appstatus_<application>`, which ends in `.inprogress` while the application runs
(and for ever if it does not stop its session). Before Spark 4 the default was one file
`<application>`, also `.inprogress` while it grows. That ending is no part of the origin.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from collectors.files import LogFile

_IN_PROGRESS = ".inprogress"
_FOLDER = "eventlog_v2_"
_PART = re.compile(r"events_(?P<index>\d+)_.+")
_COMPACTED = ".compact"


@dataclass(frozen=True, slots=True)
class ApplicationLog:
    """One application's log.

    Attributes:
        log: Origin and position of all its files together, as the lineage store knows them.
        parts: The files with events, oldest first.
        growing: Spark says that the application runs.
    """

    log: LogFile
    parts: tuple[LogFile, ...]
    growing: bool


def application_logs(files: Iterable[LogFile]) -> list[ApplicationLog]:
    """Files put together by application, sorted by origin."""
    grouped: dict[tuple[str, bool], list[LogFile]] = defaultdict(list)
    for file in files:
        rolling = PurePosixPath(file.url).parent.name.startswith(_FOLDER)
        origin = file.origin.rpartition("/")[0] if rolling else _name(file.origin)
        grouped[origin, rolling].append(file)
    return [
        ApplicationLog(
            log=_together(origin, found),
            parts=tuple(_parts(found) if rolling else found),
            growing=any(file.url.endswith(_IN_PROGRESS) for file in found),
        )
        for (origin, rolling), found in sorted(grouped.items())
    ]


def _together(origin: str, files: list[LogFile]) -> LogFile:
    size = sum(file.size for file in files)
    changed = max(int(file.position.rpartition("@")[2]) for file in files)
    return LogFile(files[0].url, origin, size, f"{size}@{changed}")


def _parts(files: list[LogFile]) -> list[LogFile]:
    """The event files of a folder in their order, without those that a compaction replaced."""
    indexed: list[tuple[int, bool, LogFile]] = []
    for file in files:
        name = _name(file.url.rpartition("/")[2])
        if found := _PART.fullmatch(name):
            indexed.append((int(found["index"]), name.endswith(_COMPACTED), file))
    indexed.sort(key=lambda part: part[:2])
    replaced = [at for at, (_, compacted, _) in enumerate(indexed) if compacted]
    return [file for *_, file in indexed[replaced[-1] if replaced else 0 :]]


def _name(text: str) -> str:
    return text.removesuffix(_IN_PROGRESS)
