"""The Spark event log collector as a Spark job.

Each log is read by one worker from start to end, in pieces, and becomes its records there. So logs
are read in parallel, and memory does not grow with their length:

    logs, spread by size -> mapInArrow: one row a log, with the records of all tables nested in it

No log can stop the others: whatever cannot be used is a reject with its place. A log that is there
twice, under another name or compression, counts once (`log.duplicates`). A growing log is read on
from its last checkpoint (`log.checkpoint`). A log that a History Server does not give
(`log.history_server`) is requested again by the next collect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, cast

import pyarrow as pa
from pyarrow import fs

from dbt_graft.collectors.files import filesystem, log_files
from dbt_graft.collectors.schema import batch, ddl, record, row
from dbt_graft.collectors.spark.log.checkpoint import (
    last_positions,
    log_segments,
    parse_checkpoint,
    position,
    resume_from,
    segment_origin,
)
from dbt_graft.collectors.spark.log.codecs import ByteStream
from dbt_graft.collectors.spark.log.duplicates import (
    LogClaim,
    covered_until,
    find_duplicates,
    log_variants,
    uncompacted,
)
from dbt_graft.collectors.spark.log.files import ApplicationLog, SparkLogs, application_logs
from dbt_graft.collectors.spark.log.history_server import (
    DownloadError,
    OpenFile,
    downloaded,
    is_history_server,
    new_attempts,
)
from dbt_graft.collectors.spark.store.read_log import EventFile, assemble, rejected
from dbt_graft.collectors.spark.store.records import LogRecords
from dbt_graft.collectors.store import Collected

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TABLES = tuple(field.name for field in fields(LogRecords))
# A worker emits a batch when it holds so many records, or one log with more.
_RECORDS_PER_BATCH = 5_000
# The size of a worker's share.
_LOGS_PER_PARTITION, _BYTES_PER_PARTITION = 64, 32 << 20
# Bytes of a remote file per request: each request takes its time.
_REQUEST = 8 << 20

Positions = Mapping[str, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class FileToRead:
    """A file of a log, as workers get it."""

    url: str
    growing: bool


@dataclass(frozen=True, slots=True)
class LogVariant:
    """Another variant of a log in the store, and the time of its last event."""

    origin: str
    last_event: datetime


@dataclass(frozen=True, slots=True)
class LogToRead:
    """A log as workers get it.

    Attributes:
        state: Its size and time of change, as listed.
        start: The position that it is read on from.
    """

    origin: str
    state: str
    start: str
    files: tuple[FileToRead, ...]
    variants: tuple[LogVariant, ...]


@dataclass(frozen=True, slots=True)
class LogResult:
    """A log as workers return it.

    Attributes:
        position: Empty where the log could not be had.
        run: The id of its run; None where it has no records.
    """

    origin: str
    position: str
    events: int
    run: str | None
    records: LogRecords


def new_logs(logs: SparkLogs, known: Positions) -> list[ApplicationLog]:
    """List the applications' logs that are new to the store or have changed; needs no Spark.

    No log is opened: size and time of change are compared.

    Args:
        known: For each origin in the store its position, as `collectors.store.positions` gives it.

    Raises:
        GraftError: The path does not exist, the server does not answer, or nothing can be listed.
    """
    if is_history_server(logs.path):
        return new_attempts(logs, known)
    found = application_logs(log_files(logs.path, logs.label))
    last = last_positions(known)
    return [new for log in found if (new := _unread(log, known, last.get(log.log.origin, "")))]


def _unread(log: ApplicationLog, known: Positions, last: str) -> ApplicationLog | None:
    """The part of a log to read, from its checkpoint on; None where it has not changed."""
    origin, state = log.log.origin, log.log.position
    start = resume_from(state, last) if log.growing else None
    if start is None:
        return log if known.get(origin, ("",))[0] != state else None
    if last == position(state, start):
        return None
    return replace(log, log=replace(log.log, origin=segment_origin(origin, start)), start=start)


def collect(
    spark: SparkSession,
    logs: SparkLogs,
    known: Positions,
    owners: Mapping[str, str] | None = None,
    last_event_times: Callable[[], Mapping[str, datetime]] = dict,
    taken: set[str] | None = None,
) -> Collected | None:
    """Collect the logs below a path that are new to the store or have changed.

    Args:
        known: As `new_logs` takes it.
        owners: For each run in the store the origin with its records, as
            `collectors.store.run_origins` gives it.
        last_event_times: Returns what `collectors.store.last_event_times` does.
        taken: Runs that another source of the same collect has; the runs of this one are added.

    Returns:
        Data frames; None where no log is new or has changed.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    new = new_logs(logs, known)
    if not new:
        return None
    # A log of a History Server may turn out to be compacted.
    any_compacted = any(uncompacted(log.log.origin) != log.log.origin for log in new)
    needs_variants = any_compacted or is_history_server(logs.path)
    variants = log_variants(last_event_times()) if needs_variants else {}
    # Seven tables are selected from it: read once.
    results = _spread(spark, new, variants).mapInArrow(_reader(logs), ddl(LogResult)).persist()
    with_run = results.where("run IS NOT NULL OR position = ''")
    rows = with_run.select("origin", "position", "run", "events").collect()
    claims = [LogClaim(row["origin"], row["run"], row["events"]) for row in rows if row["run"]]
    # The records of a log that could not be had stay as they are in the store.
    missing = [r["origin"] for r in rows if not r["position"] and r["origin"] in known]
    results = _without(spark, results, missing)
    taken = set() if taken is None else taken
    duplicates = find_duplicates(
        [claim for claim in claims if claim.run not in taken], owners or {}, known
    )
    discarded = {*duplicates.discarded, *(one.origin for one in claims if one.run in taken)}
    taken.update(claim.run for claim in claims)
    counted = _without(spark, results, sorted(discarded))
    tables = {table: counted.selectExpr(f"inline(records.{table})") for table in _TABLES}
    tables["rejects"] = results.selectExpr("inline(records.rejects)")
    origins = results.selectExpr("origin", "position", "events", "0L AS noise")
    replaced = [(origin, *known[origin], 0) for origin in duplicates.replaced]
    segments = log_segments(known)
    # Segments of logs that were read from start to end now.
    replaced += [(one, "", 0, 0) for log in new for one in segments.get(log.log.origin, ())]
    if replaced:
        origins = origins.unionByName(spark.createDataFrame(replaced, origins.schema))
    return Collected(**tables, origins=origins)


def _spread(
    spark: SparkSession,
    new: Sequence[ApplicationLog],
    variants: Mapping[str, Mapping[str, datetime]],
) -> DataFrame:
    """The logs, spread over workers."""
    size = sum(log.log.size for log in new)
    shares = max(min(len(new), 16), len(new) // _LOGS_PER_PARTITION, size // _BYTES_PER_PARTITION)
    rows = [
        row(
            LogToRead(
                origin=log.log.origin,
                state=log.log.position,
                start=position(log.log.position, log.start),
                files=_files(log),
                variants=tuple(
                    LogVariant(*one)
                    for one in variants.get(uncompacted(log.log.origin), {}).items()
                ),
            )
        )
        # The longest first, so that no worker has a long one at the end.
        for log in sorted(new, key=lambda log: -log.log.size)
    ]
    return spark.createDataFrame(rows, ddl(LogToRead)).repartition(min(shares, len(new)))


def _without(spark: SparkSession, results: DataFrame, origins: Sequence[str]) -> DataFrame:
    if not origins:
        return results
    these = spark.createDataFrame([(origin,) for origin in origins], ["origin"])
    return results.join(these.hint("broadcast"), "origin", "left_anti")


def _reader(logs: SparkLogs) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Logs to read -> results, run on the executors."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: list[LogResult] = []
        size = 0
        for listed in (one for each in batches for one in each.to_pylist()):
            held.append(_result(record(LogToRead, listed), logs))
            size += sum(len(getattr(held[-1].records, table)) for table in _TABLES)
            if size > _RECORDS_PER_BATCH:
                yield from _batches(held)
                held, size = [], 0
        yield from _batches(held)

    return run


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
            reason = f"the log cannot be stored ({type(error).__name__})"
            records = rejected(result.origin, reason)
            yield batch(LogResult, [replace(result, run=None, records=records)])


def _result(listed: LogToRead, logs: SparkLogs) -> LogResult:
    origin = listed.origin
    try:
        with _log(listed, logs) as (origin, files):
            found = assemble(
                *(origin, files, logs),
                since=covered_until(origin, {o.origin: o.last_event for o in listed.variants}),
                start=parse_checkpoint(listed.start),
                resumable=not is_history_server(logs.path),
            )
    except DownloadError as error:
        # Without a position, the next collect requests it again.
        reason = f"the History Server did not give the log: {error}"
        return LogResult(origin, "", 0, None, rejected(origin, reason))
    except Exception as error:  # A log that breaks the reader costs that log only.
        reason = f"the log cannot be read ({type(error).__name__})"
        return LogResult(origin, listed.state, 0, None, rejected(origin, reason))
    reached = position(listed.state, found.checkpoint)
    return LogResult(origin, reached, found.events, found.run, found.records)


def _open(url: str) -> AbstractContextManager[ByteStream]:
    files, path = filesystem(url)
    buffer = None if isinstance(files, fs.LocalFileSystem) else _REQUEST
    opened = files.open_input_stream(path, compression=None, buffer_size=buffer)
    return cast("AbstractContextManager[ByteStream]", opened)


@contextmanager
def _log(listed: LogToRead, logs: SparkLogs) -> Iterator[tuple[str, list[EventFile]]]:
    """A log's origin and files, which may be temporary."""
    if is_history_server(logs.path):
        server = downloaded(listed.origin, listed.files[0].url, logs.authorization)
        with server as (log, open_member):
            yield log.log.origin, event_files(log, open_member)
    else:
        yield listed.origin, [_event_file(file, _open) for file in listed.files]


def event_files(log: ApplicationLog, open_file: OpenFile = _open) -> list[EventFile]:
    """The files of a log, each opened when its turn comes."""
    return [_event_file(file, open_file) for file in _files(log)]


def _files(log: ApplicationLog) -> tuple[FileToRead, ...]:
    """Of a rolling log only the last file still grows."""
    last = log.files[-1:]
    return tuple(FileToRead(file.url, log.growing and file in last) for file in log.files)


def _event_file(file: FileToRead, open_file: OpenFile) -> EventFile:
    return EventFile(file.url.rpartition("/")[2], partial(open_file, file.url), file.growing)
