"""Events in files: one event a line, or one event a file."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import IO

import orjson

from dbt_graft.exporters.openlineage.events import event_key
from dbt_graft.exporters.openlineage.facets import Event
from dbt_graft.replaced_file import replaced_file

_LONGEST = 80
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def write_lines(path: Path, events: Iterable[Event]) -> int:
    """Write one event a line, compressed if the name ends in `.gz`; returns their number.

    The file is moved into place when it is complete; equal events make equal bytes.
    """
    with replaced_file(path) as new_path, new_path.open("wb") as file:
        if path.suffix.lower() != ".gz":
            return write_to(file, events)
        # Without a name and a time of its own.
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as zipped:
            return write_to(io.BufferedWriter(zipped, 1 << 20), events)  # type: ignore[arg-type]


def write_to(stream: IO[bytes] | io.BufferedWriter, events: Iterable[Event]) -> int:
    """Write one event a line; returns their number."""
    written = 0
    for event in events:
        stream.write(orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE))
        written += 1
    stream.flush()
    return written


def write_files(folder: Path, events: Iterable[Event]) -> int:
    """Write one event a file into a folder; returns their number."""
    written = 0
    for event in events:
        content = orjson.dumps(event, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        (folder / file_name(event)).write_bytes(content)
        written += 1
    return written


def file_name(event: Event) -> str:
    """The name of an event's file, the same in each export: `run-load_orders-START-4f1c….json`."""
    key = event_key(event)[:12]
    if "dataset" in event:
        parts = ["dataset", event["dataset"]["name"].strip("/")]
    elif "run" in event:
        parts = ["run", event["job"]["name"], event["eventType"]]
    else:
        parts = ["job", event["job"]["name"]]
    slug = _UNSAFE.sub("-", "-".join(parts)).strip("-.")[:_LONGEST]
    return f"{slug}-{key}.json"
