"""Where the reading of a growing log goes on.

A log whose application still runs is told of up to the last moment at which nothing ran in it, and
the next collect reads on from there. What it finds is an origin of its own beside those before it,
`<log>@<events before it>`. When the application has ended, its log is read once as a whole, which
replaces all of them: so what was learned before a pause and needed after it is missing for a while
at most.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SEGMENT = re.compile(r"@\d+\Z")
_POSITION = re.compile(
    r"\d+@\d+ (?P<byte>\d+):(?P<line>\d+):(?P<events>\d+):(?P<part>.+)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far a log is told of.

    Attributes:
        part: The name of the file.
        byte: Of its text, unpacked, the first that is not told of.
        line: The last that is.
        events: How many the log has before.
    """

    part: str
    byte: int
    line: int
    events: int

    def __str__(self) -> str:
        return f"{self.byte}:{self.line}:{self.events}:{self.part}"


def position(state: str, checkpoint: Checkpoint | None) -> str:
    """What the store is to know of a log: its state when it was listed, how far it is told of."""
    return f"{state} {checkpoint}" if checkpoint else state


def parse_checkpoint(position: str) -> Checkpoint | None:
    """How far a log is told of by its position; None where it is as a whole."""
    found = _POSITION.fullmatch(position)
    if not found:
        return None
    return Checkpoint(found["part"], int(found["byte"]), int(found["line"]), int(found["events"]))


def log_origin(origin: str) -> str:
    """The origin of the log that one is a piece of."""
    return _SEGMENT.sub("", origin)


def segment_origin(origin: str, start: Checkpoint) -> str:
    """The origin of what is found from there on."""
    return f"{origin}@{start.events}"


def log_segments(known: Mapping[str, tuple[str, int]]) -> dict[str, list[str]]:
    """For each log the origins in the store that are pieces of it.

    Args:
        known: For each origin in the store its position and number of events.
    """
    found: dict[str, list[str]] = {}
    for origin, (told, _) in known.items():
        if told and (log := log_origin(origin)) != origin:
            found.setdefault(log, []).append(origin)
    return found


def last_positions(known: Mapping[str, tuple[str, int]]) -> dict[str, str]:
    """For each log that is told of in part, by its whole origin, how far that goes.

    Args:
        known: For each origin in the store its position and number of events.
    """
    furthest: dict[str, tuple[int, int, str]] = {}
    for origin, (told, _) in known.items():
        if at := parse_checkpoint(told):
            log = log_origin(origin)
            candidate = (at.events, _size(told), told)
            furthest[log] = max(furthest.get(log, candidate), candidate)
    return {log: told for log, (*_, told) in furthest.items()}


def resume_from(state: str, told: str) -> Checkpoint | None:
    """From where a growing log is to be read on.

    Args:
        state: The log's size and time of change, as it is listed now.
        told: Its position that reaches furthest.

    Returns:
        None where it has shrunk, so that it is another log.
    """
    at = parse_checkpoint(told)
    return at if at and _size(state) >= _size(told) else None


def _size(position: str) -> int:
    return int(position.partition("@")[0])
