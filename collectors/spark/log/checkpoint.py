"""Checkpoints of growing logs: where the next collect continues.

A log whose application still runs is collected up to the last moment at which nothing ran in it,
and the next collect continues there. What it finds is an origin of its own, `<log>@<number of
events before it>`. When the application has ended, its log is read once more from start to end,
which replaces these segments. So a statement that depends on something before a checkpoint is
incomplete until then at most.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dbt_graft.lineage.frozen import frozen

_SEGMENT = re.compile(r"@\d+\Z")
_POSITION = re.compile(
    r"\d+@\d+ (?P<byte>\d+):(?P<line>\d+):(?P<events>\d+):(?P<file>.+)", re.DOTALL
)


@frozen
class Checkpoint:
    """A place in a log up to which it was collected.

    Attributes:
        byte: The offset in the file's uncompressed text.
        line: The number of lines before it in the file.
        events: The number of events before it in the log.
    """

    file: str
    byte: int
    line: int
    events: int

    def __str__(self) -> str:
        return f"{self.byte}:{self.line}:{self.events}:{self.file}"


def position(state: str, checkpoint: Checkpoint | None) -> str:
    """A log's position in the store: its size and time of change, and the checkpoint if any."""
    return f"{state} {checkpoint}" if checkpoint else state


def parse_checkpoint(position: str) -> Checkpoint | None:
    """The checkpoint of a position; None where the log was read to its end."""
    match = _POSITION.fullmatch(position)
    if not match:
        return None
    return Checkpoint(match["file"], int(match["byte"]), int(match["line"]), int(match["events"]))


def log_origin(origin: str) -> str:
    """The origin of the log that a segment belongs to."""
    return _SEGMENT.sub("", origin)


def segment_origin(origin: str, start: Checkpoint) -> str:
    """The origin of the segment that starts at a checkpoint."""
    return f"{origin}@{start.events}"


def log_segments(positions: Mapping[str, tuple[str, int]]) -> dict[str, list[str]]:
    """The origins of the segments in the store, by the log's origin."""
    segments: dict[str, list[str]] = {}
    for origin, (position, _) in positions.items():
        if position and (log := log_origin(origin)) != origin:
            segments.setdefault(log, []).append(origin)
    return segments


def last_positions(positions: Mapping[str, tuple[str, int]]) -> dict[str, str]:
    """The position with the last checkpoint of each growing log, by the log's origin."""
    furthest: dict[str, tuple[int, int, str]] = {}
    for origin, (position, _) in positions.items():
        if at := parse_checkpoint(position):
            log = log_origin(origin)
            candidate = (at.events, _size(position), position)
            furthest[log] = max(furthest.get(log, candidate), candidate)
    return {log: position for log, (*_, position) in furthest.items()}


def resume_from(state: str, last: str) -> Checkpoint | None:
    """The checkpoint at which reading a growing log continues.

    Args:
        state: The log's size and time of change, as it is listed now.
        last: Its position with the last checkpoint.

    Returns:
        None where there is no checkpoint, or where the log has shrunk and so is another log.
    """
    at = parse_checkpoint(last)
    return at if at and _size(state) >= _size(last) else None


def _size(position: str) -> int:
    return int(position.partition("@")[0])
