"""The events in .xel files, without Windows and SQL Server."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from typing import IO, Any

import click
import orjson

from dbt_graft.analysis.finding import Finding, Severity
from dbt_graft.analysis.render.terminal import one_line
from dbt_graft.collectors.files import LogFile, log_files
from dbt_graft.collectors.sqlserver.tools import (
    Chunk,
    EventFilter,
    ExtendedEvent,
    LogDamage,
    timestamp,
    to_json,
    to_xml,
    value_text,
    xel_chunks,
)

_APPLICATION = "client_app_name"


# Fields with the text of an event.
_TEXTS = ("batch_text", "statement", "message", "object_name")


_HEAD = f"{'time (UTC)':<23}  {'event':<23}  {'application':<26}  {'session':>7}  {'µs':>9}  text"


_NARROWEST = 140  # A row of the table, so that a narrow terminal shows some of the text too.


@dataclass
class EventTally:
    """Counts so far; names, applications and times only of events that pass the filters.

    A block of more events than a chunk holds counts for as many blocks as it has chunks.

    Attributes:
        is_read: One of the files has an event that can be read.
    """

    files: int = 0
    blocks: int = 0
    seen: int = 0
    names: Counter[str] = field(default_factory=Counter)
    applications: Counter[str] = field(default_factory=Counter)
    first: int | None = None
    last: int | None = None
    damages: list[tuple[str, LogDamage]] = field(default_factory=list)
    is_read: bool = False

    def add(self, chunk: Chunk) -> None:
        """Count a chunk's events."""
        self.blocks += bool(chunk.seen)
        self.seen += chunk.seen
        for event in chunk.events:
            self.names[event.name] += 1
            self.applications[str(event.actions.get(_APPLICATION) or "")] += 1
            self.first = event.at if self.first is None else min(self.first, event.at)
            self.last = event.at if self.last is None else max(self.last, event.at)

    def leave_out(self, finding: Finding) -> None:
        """Report what was not listed; a damage where files are missing."""
        click.echo(f"{one_line(finding.subject)}: {finding.problem}", err=True)
        if finding.severity is not Severity.NOTE:
            self.damages.append((finding.subject, LogDamage("", finding.problem)))

    def to_json(self) -> dict[str, Any]:
        """The tally as JSON values."""
        return {
            "files": self.files,
            "blocks": self.blocks,
            "events": self.seen,
            "shown": self.names.total(),
            "first": None if self.first is None else timestamp(self.first),
            "last": None if self.last is None else timestamp(self.last),
            "names": dict(self.names.most_common()),
            "applications": dict(self.applications.most_common()),
            "damage": [
                {"file": file, "position": damage.position, "reason": damage.reason}
                for file, damage in self.damages
            ],
        }

    def __str__(self) -> str:
        shown = self.names.total()
        lines = [f"events    {self.seen:,} in {self.blocks:,} blocks of {self.files:,} files"]
        if shown != self.seen:
            lines.append(f"shown     {shown:,}")
        if self.first is not None and self.last is not None:
            lines.append(f"time      {timestamp(self.first)} to {timestamp(self.last)}")
        lines.append(f"damage    {len(self.damages):,}")
        for title, counts in (("by event", self.names), ("by application", self.applications)):
            lines += ["", title]
            lines += [f"  {n:>12,}  {_line(name) or '(none)'}" for name, n in counts.most_common()]
        return "\n".join(lines)


def event_filter(names: tuple[str, ...], globs: tuple[str, ...]) -> EventFilter:
    """The filter by names of events, and by globs of client_app_name; empty ones take all."""

    def is_like(application: str) -> bool:
        return any(fnmatchcase(application, glob) for glob in globs)

    return EventFilter(frozenset(names) if names else None, is_like if globs else None)


def read_chunks(files: tuple[str, ...], wanted: EventFilter, tally: EventTally) -> Iterator[Chunk]:
    """The chunks of all files; damage is reported as it is found."""
    for path in files:
        for log in log_files(path, path, partial(_is_xel, path), tally.leave_out):
            tally.files += 1
            for chunk in xel_chunks(log, wanted):
                tally.is_read |= bool(chunk.seen)
                for damage in chunk.damages:
                    tally.damages.append((log.origin, damage))
                    origin = one_line(log.origin)
                    click.echo(f"{origin}: {damage.position}: {damage.reason}", err=True)
                yield chunk


def _is_xel(path: str, log: LogFile) -> bool:
    return log.url == path or log.url.lower().endswith(".xel")


def print_events(chunks: Iterator[Chunk], form: str, head: int | None, out: IO[bytes]) -> None:
    """Write events as a table, as JSON lines or as XML.

    Args:
        head: How many; None for all.
    """
    events = (event for chunk in chunks for event in chunk.events)
    if form == "table":
        out.write(f"{_HEAD}\n".encode())
    width = max(shutil.get_terminal_size().columns, _NARROWEST)
    for count, event in enumerate(events):
        if count == head:
            return
        if form == "ndjson":
            out.write(orjson.dumps(to_json(event), option=orjson.OPT_APPEND_NEWLINE))
        else:
            line = to_xml(event) if form == "xml" else _row(event, width)
            out.write(f"{line}\n".encode())


def _row(event: ExtendedEvent, width: int) -> str:
    text = next((value for name in _TEXTS if (value := event.data.get(name))), "")
    row = (
        f"{timestamp(event.at)[:23]}  {_line(event.name):<23.23}  "
        f"{_line(str(event.actions.get(_APPLICATION) or '')):<26.26}  "
        f"{value_text(event.actions.get('session_id')):>7}  "
        f"{value_text(event.data.get('duration')):>9}  {_line(str(text)[: 4 * width])}"
    )
    return row[:width].rstrip()


def _line(text: str) -> str:
    return one_line(text).strip()
