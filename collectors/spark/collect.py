"""The Spark event log collector as a Spark job.

Each log is read by one worker from its start to its end, a piece at a time, and becomes its rows
there; so logs are read side by side, and none needs more memory for being long:

    logs, spread by size -> mapInArrow: one row a log, with the rows of all tables nested in it

Nothing of one log can stop the others: what cannot be used is a reject with its place. A log that
lies there twice, under another name or packed in another way, counts once (`duplicates`). One that
grows is read on from where nothing ran in it (`resume`); one that a History Server does not give
(`history_server`) is asked for again next time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
from pyarrow import fs

from dbt_graft.collectors.files import filesystem, log_files
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
    log_variants,
    settle,
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
from dbt_graft.collectors.spark.store.read_log import TABLES, EventFile, assemble, failed
from dbt_graft.collectors.store import SCHEMAS, Collected

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LISTED = (
    "origin string, position string, start string, "
    "parts array<struct<url: string, growing: boolean>>, told map<string, timestamp>"
)
_RESULT = "origin string, position string, events bigint, run string, " + ", ".join(
    f"{table}: array<struct<{SCHEMAS[table]}>>" for table in TABLES
)
# A worker gives away so many rows at a time, or those of a log that has more.
_ROWS_AT_ONCE = 5_000
# A worker gets this many logs, or this many bytes of them, at a time.
_LOGS_AT_ONCE, _BYTES_AT_ONCE = 64, 32 << 20
# Of a file elsewhere this much is asked for at once: each request takes its time.
_REQUEST = 8 << 20

Positions = Mapping[str, tuple[str, int]]


def new_logs(logs: SparkLogs, known: Positions) -> list[ApplicationLog]:
    """The applications' logs that the store does not have as they are now; needs no Spark.

    None is opened: what is known is told by size and time of change.

    Args:
        known: For each origin in the store its position, as `collectors.store.positions` gives it.

    Raises:
        GraftError: The path does not exist, the server does not answer, or nothing can be listed.
    """
    if is_history_server(logs.path):
        return new_attempts(logs, known)
    found = application_logs(log_files(logs.path, logs.label))
    told = last_positions(known)
    return [new for log in found if (new := _unread(log, known, told.get(log.log.origin, "")))]


def _unread(log: ApplicationLog, known: Positions, told: str) -> ApplicationLog | None:
    """What of a log is to be read.

    Args:
        told: The position up to which it is told of in part.
    """
    origin, state = log.log.origin, log.log.position
    start = resume_from(state, told) if log.growing else None
    if start is None:
        return log if known.get(origin, ("",))[0] != state else None
    if told == position(state, start):
        return None
    # What was told behind the last pause is told anew, under the same origin.
    return replace(log, log=replace(log.log, origin=segment_origin(origin, start)), start=start)


def collect(
    spark: SparkSession,
    logs: SparkLogs,
    known: Positions,
    owners: Mapping[str, str] | None = None,
    last_event_times: Callable[[], Mapping[str, datetime]] = dict,
    taken: set[str] | None = None,
) -> Collected | None:
    """What the logs below a path tell that the store does not know yet.

    Args:
        known: As `new_logs` takes it.
        owners: For each run in the store the origin that told of it, as
            `collectors.store.run_origins` gives it.
        last_event_times: Gives what `collectors.store.last_event_times` does.
        taken: Runs that another source of the same collect tells of; takes those of this one.

    Returns:
        Data frames; None where no log is new or has changed.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    new = new_logs(logs, known)
    if not new:
        return None
    # What a History Server gives may turn out to be compacted.
    any_compacted = any(uncompacted(log.log.origin) != log.log.origin for log in new)
    told = log_variants(last_event_times()) if any_compacted or is_history_server(logs.path) else {}
    reader = _reader(logs, _arrow(spark, _RESULT))
    # Seven tables come from it: read once.
    result = _spread(spark, new, told).mapInArrow(reader, _RESULT).persist()
    looked_at = result.where("run IS NOT NULL OR position = ''")
    rows = looked_at.select("origin", "position", "run", "events").collect()
    claims = [LogClaim(row["origin"], row["run"], row["events"]) for row in rows if row["run"]]
    # What the store knows of a log stays until the log can be had again.
    missed = [r["origin"] for r in rows if not r["position"] and r["origin"] in known]
    result = _without(spark, result, missed)
    taken = set() if taken is None else taken
    settled = settle([claim for claim in claims if claim.run not in taken], owners or {}, known)
    losers = {*settled.losers, *(claim.origin for claim in claims if claim.run in taken)}
    taken.update(claim.run for claim in claims)
    counted = _without(spark, result, sorted(losers))
    tables = {table: counted.selectExpr(f"inline({table})") for table in TABLES}
    origins = result.selectExpr("origin", "position", "events", "0L AS noise")
    replaced = [(origin, *known[origin], 0) for origin in settled.replaced]
    event_count = log_segments(known)
    # Pieces of logs that were read as a whole now.
    replaced += [(one, "", 0, 0) for log in new for one in event_count.get(log.log.origin, ())]
    if replaced:
        origins = origins.unionByName(
            spark.createDataFrame(
                replaced, "origin string, position string, events bigint, noise bigint"
            )
        )
    return Collected(**{**tables, "rejects": result.selectExpr("inline(rejects)")}, origins=origins)


def _spread(
    spark: SparkSession, new: Sequence[ApplicationLog], told: Mapping[str, Mapping[str, datetime]]
) -> DataFrame:
    size = sum(log.log.size for log in new)
    portions = max(min(len(new), 16), len(new) // _LOGS_AT_ONCE, size // _BYTES_AT_ONCE)
    rows = [
        (
            *(origin, log.log.position, position(log.log.position, log.start)),
            *(_files(log), told.get(uncompacted(origin), {})),
        )
        # The longest first, so that nobody waits for one at the end.
        for log in sorted(new, key=lambda log: -log.log.size)
        for origin in [log.log.origin]
    ]
    return spark.createDataFrame(rows, _LISTED).repartition(min(portions, len(new)))


def _without(spark: SparkSession, result: DataFrame, origins: Sequence[str]) -> DataFrame:
    if not origins:
        return result
    these = spark.createDataFrame([(origin,) for origin in origins], "origin string")
    return result.join(these.hint("broadcast"), "origin", "left_anti")


def _arrow(spark: SparkSession, ddl: str) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    schema: pa.Schema = to_arrow_schema(spark.createDataFrame([], ddl).schema, timezone="UTC")
    return schema


def _reader(
    logs: SparkLogs, schema: pa.Schema
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Logs (`_LISTED`) -> a row each (`_RESULT`), run on the executors."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: list[dict[str, Any]] = []
        size = 0
        for listed in (listed for batch in batches for listed in batch.to_pylist()):
            held.append(_row(listed, logs))
            size += sum(len(held[-1][table]) for table in TABLES)
            if size > _ROWS_AT_ONCE:
                yield from _packed(held, schema)
                held, size = [], 0
        yield from _packed(held, schema)

    return run


def _packed(rows: list[dict[str, Any]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows of `_RESULT`; a log with something in it that no column can hold is a reject."""
    try:
        yield pa.RecordBatch.from_pylist(rows, schema=schema)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        if len(rows) > 1:
            for row in rows:
                yield from _packed([row], schema)
        else:
            reason = f"the log cannot be kept ({type(error).__name__})"
            empty = rows[0] | {"run": None} | failed(rows[0]["origin"], reason)
            yield pa.RecordBatch.from_pylist([empty], schema=schema)


def _row(listed: Mapping[str, Any], logs: SparkLogs) -> dict[str, Any]:
    origin = listed["origin"]
    row = {"position": listed["position"], "events": 0, "run": None}
    try:
        with _log(listed, logs) as (origin, parts):
            told = assemble(
                *(origin, parts, logs),
                since=covered_until(origin, dict(listed["told"])),
                start=parse_checkpoint(listed["start"]),
                resumable=not is_history_server(logs.path),
            )
    except DownloadError as error:
        # No log has this position: the next collect asks again.
        reason = f"the History Server did not give the log: {error}"
        return row | {"origin": origin, "position": ""} | failed(origin, reason)
    except Exception as error:  # Whatever a log does to us costs that log only.
        reason = f"the log cannot be read ({type(error).__name__})"
        return row | {"origin": origin} | failed(origin, reason)
    row |= {"position": position(listed["position"], told.checkpoint), "events": told.events}
    return row | {"origin": origin, "run": told.run} | told.tables


def _open(url: str) -> AbstractContextManager[ByteStream]:
    files, path = filesystem(url)
    buffer = None if isinstance(files, fs.LocalFileSystem) else _REQUEST
    opened = files.open_input_stream(path, compression=None, buffer_size=buffer)
    return cast("AbstractContextManager[ByteStream]", opened)


@contextmanager
def _log(listed: Mapping[str, Any], logs: SparkLogs) -> Iterator[tuple[str, list[EventFile]]]:
    """A log's origin and files while they are needed."""
    parts = listed["parts"]
    if is_history_server(logs.path):
        server = downloaded(listed["origin"], parts[0]["url"], logs.authorization)
        with server as (log, open_member):
            yield log.log.origin, event_files(log, open_member)
    else:
        yield listed["origin"], [_part(part["url"], part["growing"]) for part in parts]


def event_files(log: ApplicationLog, open_file: OpenFile = _open) -> list[EventFile]:
    """The files of a log, each opened when it is its turn."""
    return [_part(url, growing, open_file) for url, growing in _files(log)]


def _files(log: ApplicationLog) -> list[tuple[str, bool]]:
    """URLs, and whether the file still grows: of a rolling log only the last does."""
    last = log.parts[-1:]
    return [(part.url, log.growing and part in last) for part in log.parts]


def _part(url: str, growing: bool, open_file: OpenFile = _open) -> EventFile:
    return EventFile(url.rpartition("/")[2], partial(open_file, url), growing)
