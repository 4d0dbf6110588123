"""The Extended Events collector as a Spark job.

    parts of files -> events, folded to segments -> sessions in order, and their runs
          -> distinct texts parsed -> joined back -> accesses, runs, shapes, datasets, rejects

Only the fold looks at every event. What it gives grows with what is said differently, so what is
behind it does not feel how long the log is. What is polled over a connection is folded while it
comes, before Spark is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dbt_graft.collectors.files import LogFile, fresh, log_files
from dbt_graft.collectors.sqlserver import rows as tables
from dbt_graft.collectors.sqlserver.event import Chunk, FileSplit, LogDamage
from dbt_graft.collectors.sqlserver.files.formats import file_splits, may_hold_events
from dbt_graft.collectors.sqlserver.odbc.polling import Polled
from dbt_graft.collectors.sqlserver.resolution.resolve import PARSED, parse_texts
from dbt_graft.collectors.sqlserver.resolution.views import view_records
from dbt_graft.collectors.sqlserver.runs.folding import RunRules, fold_chunks, fold_splits
from dbt_graft.collectors.sqlserver.runs.segment import (
    SCHEMA,
    SEGMENTS,
    SegmentKind,
    batch,
    damaged,
)
from dbt_graft.collectors.sqlserver.runs.sessions import sessions
from dbt_graft.collectors.sqlserver.server.snapshot import Snapshot
from dbt_graft.collectors.store import SCHEMAS, Collected
from dbt_graft.collectors.store.frames import frames, union
from dbt_graft.lineage.dataset import DatasetId

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PARTS = (
    "url string, origin string, form string, `start` bigint, `end` bigint, compression string, "
    "encoding string, escaped boolean"
)
# Workers get this many bytes at a time, or this many times some small files.
_BYTES, _TIMES = 32 << 20, 64

Positions = Mapping[str, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Server:
    """Whose events they are.

    Attributes:
        namespace: Of its datasets: `mssql://sql01:1433`.
        snapshot: What there is on it.
        snapshot_label: How origins name the snapshot.
        open_sessions: Its sessions that were open at the end of earlier collects, as rows of the
            store's `sessions`.
    """

    namespace: str
    rules: RunRules = field(default_factory=RunRules)
    snapshot: Snapshot | None = None
    snapshot_label: str = ""
    open_sessions: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class SqlServerLogs:
    """Files with Extended Events of one server.

    Attributes:
        path: A local path or URL; a file or a folder.
        label: How origins name the path (as `graft.yml` writes it).
    """

    path: str
    label: str


@dataclass(frozen=True, slots=True)
class Polling:
    """Something that is asked for what is new since a position.

    Attributes:
        label: How origins name it.
        poll: Gives chunks, each with the position behind it.
    """

    label: str
    poll: Callable[[str], Polled]


@dataclass(frozen=True, slots=True)
class PolledSegments:
    """What a poll gave, already folded.

    Attributes:
        origin: Tells from where it was read on, so that reading from there again replaces it.
        position: How far it was read.
    """

    origin: str
    position: str
    segments: list[pa.RecordBatch] = field(repr=False)


def new_logs(logs: SqlServerLogs, known: Positions) -> list[LogFile]:
    """The files below a path that the store does not know as they are now; needs no Spark.

    Args:
        known: For each origin in the store its position, as `collectors.store.positions` gives it.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    found = log_files(logs.path, logs.label)
    return fresh([log for log in found if may_hold_events(log, logs.path)], known)


def poll_new(polling: Polling, rules: RunRules, known: Positions) -> list[PolledSegments]:
    """What is new behind the position that the store knows, at most one; needs no Spark.

    Raises:
        GraftError: It cannot be read.
    """
    start = _reached(polling.label, known)
    origin = f"{polling.label}@{start}"
    reached = [start]

    def chunks() -> Iterator[Chunk]:
        for chunk, position in polling.poll(start):
            reached.append(position)
            yield chunk

    folded = fold_chunks(origin, chunks(), rules)
    segments = [one for one in folded if one.num_rows]
    return [PolledSegments(origin, reached[-1], segments)] if reached[-1] != start else []


def collect(
    spark: SparkSession, logs: SqlServerLogs, server: Server, known: Positions
) -> Collected | None:
    """What the files below a path tell that the store does not know yet.

    Args:
        known: For each origin in the store its position, as `collectors.store.positions` gives it.

    Returns:
        Lazy data frames; None where no file is new or has changed.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    new = new_logs(logs, known)
    if not new:
        return None
    cut = [(log, file_splits(log)) for log in new]
    unreadable = [damaged(log.origin, one) for log, one in cut if isinstance(one, LogDamage)]
    readable = [part for _, found in cut if not isinstance(found, LogDamage) for part in found]
    segments = _spread(spark, readable).mapInArrow(fold_splits(server.rules), SEGMENTS)
    segments = segments.unionByName(_frame(spark, [batch(unreadable)]))
    positions = {log.origin: log.position for log in new}
    return _collected(spark, segments, positions, server)


def collect_news(
    spark: SparkSession, new: Sequence[PolledSegments], server: Server
) -> Collected | None:
    """What a poll gave, as lazy data frames; None where nothing is new."""
    if not new:
        return None
    segments = _frame(spark, [segments for one in new for segments in one.segments])
    return _collected(spark, segments, {one.origin: one.position for one in new}, server)


def _reached(label: str, known: Positions) -> str:
    """How far a poll has come: each begins where the one before it ended."""
    position, seen = "", set[str]()
    while f"{label}@{position}" in known and position not in seen:
        seen.add(position)
        position = known[f"{label}@{position}"][0]
    return position


def _spread(spark: SparkSession, readable: list[FileSplit]) -> DataFrame:
    size = sum(part.end - part.start for part in readable)
    portions = max(1, min(len(readable), max(_TIMES, size // _BYTES)))
    rows = [tuple(asdict(part).values()) for part in readable]
    return spark.createDataFrame(rows, _PARTS).repartition(portions)


def _frame(spark: SparkSession, batches: list[pa.RecordBatch]) -> DataFrame:
    return spark.createDataFrame(pa.Table.from_batches(batches, SCHEMA))


def _collected(
    spark: SparkSession, segments: DataFrame, positions: Mapping[str, str], server: Server
) -> Collected:
    # Small, and everything is made of it: the log is read once.
    segments = segments.persist()
    about_the_log = [SegmentKind.DAMAGE.value, SegmentKind.SEEN.value, SegmentKind.NOISE.value]
    said = sessions(
        segments.where(~segments["act"].isin(about_the_log)),
        spark.createDataFrame([dict(row) for row in server.open_sessions], SCHEMAS["sessions"]),
        server.namespace,
        server.rules.idle_seconds,
    ).persist()
    told = _told(spark, said, server).persist()
    once = tables.once(told).persist()
    touched = tables.touched(once).persist()
    found = Collected(
        accesses=tables.accesses(touched),
        runs=tables.runs(told),
        shapes=tables.shapes(once, told),
        datasets=tables.datasets(touched),
        column_edges=tables.column_edges(once),
        rejects=tables.rejects(segments),
        origins=tables.origins(spark, positions, segments),
        sessions=tables.sessions(said, server.namespace),
    )
    return union(found, _views(spark, touched, server)) if server.snapshot else found


def _views(spark: SparkSession, touched: DataFrame, server: Server) -> Collected:
    """What the views are made of that runs read."""
    assert server.snapshot
    named = touched.select("namespace", "name").distinct().collect()
    ids = [DatasetId(row["namespace"], row["name"]) for row in named]
    records = view_records(server.snapshot, ids, server.namespace, server.snapshot_label)
    taken = server.snapshot.taken_at.isoformat()
    return frames(spark, records, {access.origin: taken for access in records.accesses})


def _told(spark: SparkSession, said: DataFrame, server: Server) -> DataFrame:
    """What runs said, with what it means."""
    from pyspark.sql import functions as F  # noqa: N812

    told = said.where(said["act"].isin(SegmentKind.SAID.value, SegmentKind.LOST.value))
    texts = told.where("text IS NOT NULL").select("text", "database").distinct()
    parse = parse_texts(server.namespace, _arrow_schema(spark, PARSED), server.snapshot)
    parsed = texts.mapInArrow(parse, PARSED)
    return (
        told.join(parsed, ["text", "database"], "left")
        .withColumn("text_id", F.xxhash64("text"))
        .drop("text", "database")
    )


def _arrow_schema(spark: SparkSession, ddl: str) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    schema: pa.Schema = to_arrow_schema(spark.createDataFrame([], ddl).schema, timezone="UTC")
    return schema
