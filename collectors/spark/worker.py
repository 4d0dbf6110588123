"""The part of the Spark collector that runs on workers: logs to read -> their records."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, replace
from datetime import datetime
from functools import partial
from typing import cast

import pyarrow as pa
from pyarrow import fs

from dbt_graft.collectors.codecs import ByteStream
from dbt_graft.collectors.engines.engine import Batches
from dbt_graft.collectors.engines.reading import ReadCounter
from dbt_graft.collectors.files import filesystem
from dbt_graft.collectors.schema import Flat, batch, record
from dbt_graft.collectors.spark.log.checkpoint import parse_checkpoint, position
from dbt_graft.collectors.spark.log.duplicates import covered_until
from dbt_graft.collectors.spark.log.files import ApplicationLog, SparkLogs
from dbt_graft.collectors.spark.log.history_server import DownloadError, OpenFile, download_log
from dbt_graft.collectors.spark.settings import is_history_server
from dbt_graft.collectors.spark.store.read_log import EventFile, assemble, rejected_log
from dbt_graft.collectors.store.tables import LogRecords
from dbt_graft.lineage.errors import exception_reason
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Reject

_logger = logging.getLogger(__name__)

TABLES = tuple(field.name for field in fields(LogRecords))
# A worker emits a batch when it holds so many records, or one log with more.
_RECORDS_PER_BATCH = 5_000
# Bytes of a remote file per request: each request takes its time.
_REQUEST = 8 << 20


@frozen
class FileToRead:
    """A file of a log, as workers get it."""

    url: str
    growing: bool


@frozen
class LogVariant:
    """Another variant of a log in the store, and the time of its last event."""

    origin: str
    last_event: datetime


@frozen
class LogToRead:
    """A log as workers get it.

    Attributes:
        start: The position that it is read on from.
    """

    origin: str
    state: str
    size: int
    start: str
    files: tuple[FileToRead, ...]
    variants: tuple[LogVariant, ...]


@frozen
class LogResult:
    """A log as workers return it.

    Attributes:
        position: Empty where the log, or a file of it, could not be read.
        run: The id of its run; None where it has no records.
        unread: Why it has no position.
    """

    origin: str
    position: str
    events: int
    run: str | None
    records: Flat[LogRecords]
    unread: Reject | None = None


def read_logs(logs: SparkLogs, counter: ReadCounter, batches: Batches) -> Batches:
    """Batches of `LogToRead` -> batches of `LogResult`."""
    held: list[LogResult] = []
    size = 0
    for listed in (row for rows in batches for row in rows.to_pylist()):
        log = record(LogToRead, listed)
        held.append(_result(log, logs))
        counter.add(1, log.size)
        size += sum(len(getattr(held[-1].records, table)) for table in TABLES)
        if size > _RECORDS_PER_BATCH:
            yield from _batches(held)
            held, size = [], 0
    yield from _batches(held)


def _batches(results: list[LogResult]) -> Iterator[pa.RecordBatch]:
    """Results as Arrow batches; a log with a value that no column can hold is a reject."""
    try:
        yield batch(LogResult, results)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        if len(results) > 1:
            for result in results:
                yield from _batches([result])
        else:
            [result] = results
            reason = f"the log cannot be stored ({exception_reason(error, _logger)})"
            records = rejected_log(result.origin, reason)
            yield batch(LogResult, [replace(result, run=None, records=records)])


def _result(listed: LogToRead, logs: SparkLogs) -> LogResult:
    origin = listed.origin
    try:
        with _log(listed, logs) as (origin, files):
            collected = assemble(
                *(origin, files, logs),
                since=covered_until(origin, {o.origin: o.last_event for o in listed.variants}),
                start=parse_checkpoint(listed.start),
                resumable=not is_history_server(logs.path),
            )
    except DownloadError as error:
        # Without a position, the next collect requests it again.
        reason = f"the History Server did not return the log: {error}"
        records = rejected_log(origin, reason)
        return LogResult(origin, "", 0, None, records, records.rejects[0])
    except Exception as error:  # A log that breaks the reader costs that log only.
        reason = f"the log cannot be read ({exception_reason(error, _logger)})"
        return LogResult(origin, listed.state, 0, None, rejected_log(origin, reason))
    records = collected.records
    reached = "" if collected.unread else position(listed.state, collected.checkpoint)
    unread = records.rejects[0] if collected.unread else None
    return LogResult(origin, reached, collected.events, collected.run, records, unread)


def _open(url: str) -> AbstractContextManager[ByteStream]:
    files, path = filesystem(url)
    buffer = None if isinstance(files, fs.LocalFileSystem) else _REQUEST
    opened = files.open_input_stream(path, compression=None, buffer_size=buffer)
    return cast("AbstractContextManager[ByteStream]", opened)


@contextmanager
def _log(listed: LogToRead, logs: SparkLogs) -> Iterator[tuple[str, list[EventFile]]]:
    """A log's origin and files, which may be temporary."""
    if is_history_server(logs.path):
        server = download_log(listed.origin, listed.files[0].url, logs.authorization)
        with server as (log, open_member):
            yield log.log.origin, event_files(log, open_member)
    else:
        yield listed.origin, [_event_file(file, _open) for file in listed.files]


def event_files(log: ApplicationLog, open_file: OpenFile = _open) -> list[EventFile]:
    """The files of a log, each opened when its turn comes."""
    return [_event_file(file, open_file) for file in files_to_read(log)]


def files_to_read(log: ApplicationLog) -> tuple[FileToRead, ...]:
    """The files of a log for a worker. Of a rolling log only the last file still grows."""
    last = log.files[-1:]
    return tuple(FileToRead(file.url, log.growing and file in last) for file in log.files)


def _event_file(file: FileToRead, open_file: OpenFile) -> EventFile:
    return EventFile(file.url.rpartition("/")[2], partial(open_file, file.url), file.growing)
