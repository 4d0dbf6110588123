"""The bytes of one event log file -> the few events that lineage needs.

A log is JSON lines, plain or compressed; each line starts `{"Event":"<name>"`. The name decides
whether a line is parsed at all: TaskEnd, most of every log, never is (StageCompleted has the same
sums). Damage is reported with its place, and what came before it is kept.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import orjson
import zstandard

Body = dict[str, Any]
# Bytes of any kind: `collections.abc.Buffer` is new in Python 3.12.
Buffer = Any

_START = b'{"Event":"'
_CHUNK = 1 << 16
_REPORTED = 20

_ZSTD = b"\x28\xb5\x2f\xfd"
_GZIP = b"\x1f\x8b"
# Codecs that Spark can write but nobody has by default.
_UNSUPPORTED = {b"LZ4Block": "lz4", b"\x82SNAPPY\x00": "snappy", b"ZV": "lzf"}


@dataclass(frozen=True, slots=True)
class Event:
    """An event: the line it stands in (from 1), its short name, and the fields that are needed."""

    line: int
    name: str
    body: Body


@dataclass(frozen=True, slots=True)
class Damage:
    """A place in a file that could not be used, and why."""

    position: str
    reason: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last thing said of a file: how many events it holds."""

    events: int


def decode(data: Buffer, growing: bool = False) -> Iterator[Event | Damage | Finished]:
    """The needed events of a file in their order, its damage, and at the end a `Finished`.

    Args:
        data: The whole file.
        growing: The file is still being written: an end in the middle of a line is no damage.
    """
    view = memoryview(data)
    events = foreign = number = 0
    if not view.nbytes and not growing:
        yield Damage("byte 0", "the file is empty")
    try:
        for number, line in _lines(_uncompressed(view)):
            if line.startswith(_START):
                events += 1
                if found := _read(number, line, growing):
                    yield found
            elif number == 1:
                yield Damage("line 1", "no Spark event log: it does not start with an event")
                break
            elif line.strip():
                foreign += 1
                if foreign <= _REPORTED:
                    yield Damage(f"line {number}", "no Spark event")
    except _BrokenError as error:
        yield from error.damage(number + 1, growing)
    if foreign > _REPORTED:
        yield Damage("whole file", f"{foreign - _REPORTED} more lines are no Spark events")
    yield Finished(events)


def _read(number: int, line: bytes, growing: bool) -> Event | Damage | None:
    if not line.endswith(b"}"):
        return None if growing else Damage(f"line {number}", "the event is cut off")
    try:
        return _event(number, line)
    except orjson.JSONDecodeError:
        return Damage(f"line {number}", "the event is no valid JSON")
    except (ValueError, KeyError, TypeError, AttributeError):
        return Damage(f"line {number}", "the event lacks a field or has it in another form")


class _BrokenError(Exception):
    """Decompression stopped: at which byte, and whether the file just ends there."""

    def __init__(self, problem: str, byte: int, cut: bool) -> None:
        super().__init__(problem)
        self._byte = byte
        self._cut = cut

    def damage(self, line: int, growing: bool) -> Iterator[Damage]:
        """The damage to report; none where a growing file just ends."""
        if not (growing and self._cut):
            yield Damage(f"line {line}, byte {self._byte}", str(self))


class _Decompressor(Protocol):
    """What zstandard's and zlib's decompression objects have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: memoryview, /) -> bytes: ...


def _uncompressed(view: memoryview) -> Iterator[bytes]:
    """The file's text in pieces; the codec is told by the first bytes, whatever the name says."""
    for magic, codec in _UNSUPPORTED.items():
        if bytes(view[: len(magic)]) == magic:
            raise _BrokenError(f"{codec} compression is not supported: use zstd", 0, cut=False)
    if bytes(view[:4]) == _ZSTD:
        return _inflated(view, zstandard.ZstdDecompressor().decompressobj)
    if bytes(view[:2]) == _GZIP:
        return _inflated(view, lambda: zlib.decompressobj(wbits=31))
    return (bytes(view[at : at + _CHUNK]) for at in range(0, len(view), _CHUNK))


def _inflated(view: memoryview, new: Callable[[], _Decompressor]) -> Iterator[bytes]:
    """Frame after frame: Spark's writer ends a zstd frame whenever it flushes."""
    at, frame = 0, None
    while at < len(view):
        frame = frame or new()
        chunk = view[at : at + _CHUNK]
        try:
            text = frame.decompress(chunk)
        except (zstandard.ZstdError, zlib.error) as error:
            raise _BrokenError("the compressed data is damaged", at, cut=False) from error
        at += len(chunk)
        if frame.eof:
            at -= len(frame.unused_data)
            frame = None
        if text:
            yield text
    if frame is not None:
        raise _BrokenError("the compressed data breaks off", at, cut=True)


def _lines(chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    number = 0
    rest: list[bytes] = []
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        rest.append(first)
        for line in others:
            number += 1
            yield number, b"".join(rest)
            rest = [line]
    if last := b"".join(rest):
        yield number + 1, last


def _event(number: int, line: bytes) -> Event | None:
    name = line[len(_START) : line.find(b'"', len(_START))].rpartition(b".")[2].decode()
    reader = _READERS.get(name)
    if reader is None:
        return None
    body = reader(orjson.loads(line))
    return Event(number, name, body) if body is not None else None


def _keep(*keys: str) -> Callable[[Body], Body]:
    def read(event: Body) -> Body:
        return {key: event[key] for key in keys if key in event}

    return read


def _environment(event: Body) -> Body:
    spark: Mapping[str, str] = event["Spark Properties"]
    return {"warehouse": spark.get("spark.sql.warehouse.dir", "")}


def _job_start(event: Body) -> Body | None:
    execution = (event.get("Properties") or {}).get("spark.sql.execution.id")
    return {"execution": int(execution), "stages": event["Stage IDs"]} if execution else None


def _stage_completed(event: Body) -> Body | None:
    stage = event["Stage Info"]
    metrics = [
        (metric["ID"], int(metric["Value"]))
        for metric in stage.get("Accumulables", ())
        if metric.get("Metadata") == "sql" and str(metric.get("Value")).isdigit()
    ]
    return {"stage": stage["Stage ID"], "metrics": metrics} if metrics else None


_READERS: Mapping[str, Callable[[Body], Body | None]] = {
    "SparkListenerApplicationStart": _keep("App Name", "App ID", "App Attempt ID", "Timestamp"),
    "SparkListenerApplicationEnd": _keep("Timestamp", "ExitCode"),
    "SparkListenerEnvironmentUpdate": _environment,
    "SparkListenerJobStart": _job_start,
    "SparkListenerStageCompleted": _stage_completed,
    "SparkListenerSQLExecutionStart": _keep(
        *("executionId", "rootExecutionId", "description", "time"),
        *("physicalPlanDescription", "sparkPlanInfo"),
    ),
    "SparkListenerSQLAdaptiveExecutionUpdate": _keep("executionId", "sparkPlanInfo"),
    "SparkListenerDriverAccumUpdates": _keep("executionId", "accumUpdates"),
    "SparkListenerSQLExecutionEnd": _keep("executionId", "time", "errorMessage"),
    "DropTableEvent": _keep("database", "name"),
}
