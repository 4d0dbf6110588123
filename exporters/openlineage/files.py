"""Events in files: an event a line, an event a file, a list of them; compressed too."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

import orjson
import yaml

from dbt_graft.exporters.openlineage.events import event_key
from dbt_graft.exporters.openlineage.facets import Event
from dbt_graft.lineage.errors import GraftError
from dbt_graft.replaced_file import replaced_file

_LONGEST = 80
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_SUFFIXES = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz")
_YAML = (".yml", ".yaml")


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


def read_events(path: Path) -> list[Any]:
    """The events in a file, or in all JSON files below a folder.

    Raises:
        GraftError: A file cannot be read, or has no JSON; the place names the line.
    """
    events: list[Any] = []
    for file in _files(path, _SUFFIXES):
        events += _events(_content(file), str(file))
    return events


def read_stream(stream: BinaryIO, name: str) -> list[Any]:
    """The events in an open file."""
    return list(_events(stream.read(), name))


def read_document(path: Path) -> Any:
    """One JSON or YAML document.

    Raises:
        GraftError: The file cannot be read, or has none.
    """
    content = _content(path)
    try:
        if path.suffix.lower() in _YAML:
            return yaml.safe_load(content)
        return orjson.loads(content)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else str(path)
        raise GraftError("is not valid YAML", place=place) from error
    except orjson.JSONDecodeError as error:
        raise GraftError(
            f"is not valid JSON: {error.msg}", place=f"{path}:{error.lineno}"
        ) from error
    except (RecursionError, UnicodeDecodeError) as error:
        raise GraftError("is not valid, or nested too deeply", place=str(path)) from error


def document_files(path: Path) -> list[Path]:
    """The file, or the JSON and YAML files below a folder, sorted."""
    return _files(path, (*_SUFFIXES, *_YAML))


def _files(path: Path, suffixes: tuple[str, ...]) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(
        file
        for file in path.rglob("*")
        if file.is_file() and file.name.lower().endswith(suffixes) and file.name[:1] != "."
    )
    if not files:
        raise GraftError(f"has no files {', '.join(suffixes)}", place=str(path))
    return files


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix.lower() == ".gz" else content
    except FileNotFoundError as error:
        raise GraftError("there is no such file", place=str(path)) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise GraftError("is not a gzip file, or is cut off", place=str(path)) from error
    except OSError as error:
        raise GraftError(f"cannot be read: {error.strerror or error}", place=str(path)) from error


def _events(content: bytes, name: str) -> Iterator[Any]:
    """One document in all of it, else one a line."""
    if not content.strip():
        return
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        yield from _lines(content, name)
        return
    yield from document if isinstance(document, list) else [document]


def _lines(content: bytes, name: str) -> Iterator[Any]:
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            try:
                yield orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise GraftError(
                    f"is not valid JSON: {error.msg}",
                    place=f"{name}:{number}",
                    remedy="write an event a line, or a list of events",
                ) from error
