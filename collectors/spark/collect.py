"""The Spark event log collector as a Spark job.

Files are read by Spark itself (`binaryFile`: whatever Hadoop opens), decoded on the executors,
brought together by application, and each application becomes its rows:

    files -> mapInArrow: events -> groupBy(origin).applyInArrow: rows of all tables, nested

Nothing of one log can stop the others: what cannot be used is a reject with its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pyarrow as pa

from collectors.files import fresh, log_files
from collectors.spark.assemble import DAMAGED, FINISHED, LISTED, TABLES, Listed, assemble
from collectors.spark.decode import Damage, Event, Finished, decode
from collectors.spark.logs import ApplicationLog, application_logs
from collectors.store import SCHEMAS, Collected

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A file is one value in Arrow and in the JVM, where 2 GB is the end. Rolled logs have 128 MB.
LARGEST_FILE = 1_500_000_000

_EVENTS = "origin string, part int, line bigint, name string, body binary"
_RESULT = "origin string, position string, events bigint, " + ", ".join(
    f"{table}: array<struct<{SCHEMAS[table]}>>" for table in TABLES
)
_BATCH_BYTES = 4 << 20
_HADOOP_ROOT = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:(?://[^/]*)?")
_GLOB = re.compile(r"([\\\[\]{}*?])")


@dataclass(frozen=True, slots=True)
class SparkLogs:
    """The event logs of one cluster.

    Attributes:
        path: A local path or URL: a folder of logs, one log's folder, or a file.
        label: How origins name the path (as `graft.yml` writes it).
        task: A regular expression with a group `task` on the application's name; dates, times
            and ids at the end of what it finds are cut off.
        namespace: The namespace of metastore tables.
    """

    path: str
    label: str
    task: str = r"(?P<task>.+)"
    namespace: str = "spark"


def new_logs(logs: SparkLogs, known: Mapping[str, tuple[str, int]]) -> list[ApplicationLog]:
    """The applications' logs that the store does not have as they are now; needs no Spark.

    Args:
        known: For each origin in the store its position, as `collectors.store.positions` gives it.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    found = {log.log.origin: log for log in application_logs(log_files(logs.path, logs.label))}
    return [found[log.origin] for log in fresh([log.log for log in found.values()], known)]


def collect(
    spark: SparkSession, logs: SparkLogs, known: Mapping[str, tuple[str, int]]
) -> Collected | None:
    """What the logs below a path tell that the store does not know yet.

    Args:
        known: As `new_logs` takes it.

    Returns:
        Lazy data frames; None where no log is new or has changed.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    new = new_logs(logs, known)
    if not new:
        return None
    events = _listed(spark, new)
    files = {
        _path(part.url): (log.log.origin, number, log.growing)
        for log in new
        for number, part in enumerate(log.parts)
        if part.size <= LARGEST_FILE
    }
    if files:
        urls = [_escaped(p.url) for log in new for p in log.parts if p.size <= LARGEST_FILE]
        content = (
            spark.read.format("binaryFile")
            .option("ignoreCorruptFiles", "true")
            .option("ignoreMissingFiles", "true")
            .load(urls)
            .select("path", "content")
        )
        events = events.unionByName(content.mapInArrow(_decoder(files), _EVENTS))
    # Six tables come from it: decode once.
    result = (
        events.groupBy("origin").applyInArrow(_assembler(logs, _arrow(spark, _RESULT)), _RESULT)
    ).persist()
    tables = {table: result.selectExpr(f"inline({table})") for table in TABLES}
    # Which column comes from which is not read from Spark's plans yet.
    column_edges = spark.createDataFrame([], SCHEMAS["column_edges"])
    origins = result.selectExpr("origin", "position", "events", "0L AS noise")
    return Collected(**tables, column_edges=column_edges, origins=origins)


def _listed(spark: SparkSession, new: list[ApplicationLog]) -> DataFrame:
    """One row for each application, so that even a log that nothing can be read of is an origin."""
    listed = [(log.log.origin, -1, 0, LISTED, orjson.dumps(_listing(log))) for log in new]
    return spark.createDataFrame(listed, _EVENTS)


def _listing(log: ApplicationLog) -> Listed:
    return Listed(
        position=log.log.position,
        parts=tuple(part.url.rpartition("/")[2] for part in log.parts),
        too_large=tuple(n for n, part in enumerate(log.parts) if part.size > LARGEST_FILE),
    )


def _path(url: str) -> str:
    """A URL without scheme and host, which Hadoop may write in another way than we do."""
    path = _HADOOP_ROOT.sub("", url)
    return str(Path(path).absolute()) if path == url else path


def _escaped(url: str) -> str:
    """Spark takes paths for globs."""
    return _GLOB.sub(r"\\\1", url)


def _arrow(spark: SparkSession, ddl: str) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    schema: pa.Schema = to_arrow_schema(spark.createDataFrame([], ddl).schema, timezone="UTC")
    return schema


def _decoder(
    files: Mapping[str, tuple[str, int, bool]],
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Files (`path`, `content`) -> events (`_EVENTS`), run on the executors."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for path, content in zip(batch.column(0), batch.column(1), strict=True):
                origin, part, growing = files[_path(path.as_py())]
                yield from _event_batches(origin, part, content.as_buffer(), growing)

    return run


def _event_batches(
    origin: str, part: int, content: pa.Buffer, growing: bool
) -> Iterator[pa.RecordBatch]:
    rows: list[tuple[int, str, bytes]] = []
    size = line = 0
    for found in decode(content, growing):
        match found:
            case Event():
                line = found.line
                row = (line, found.name, orjson.dumps(found.body))
            case Damage():
                row = (line, DAMAGED, orjson.dumps([found.position, found.reason]))
            case Finished():
                row = (line, FINISHED, orjson.dumps(found.events))
        rows.append(row)
        size += len(row[2])
        if size > _BATCH_BYTES:
            yield _event_batch(origin, part, rows)
            rows, size = [], 0
    yield _event_batch(origin, part, rows)


def _event_batch(origin: str, part: int, rows: list[tuple[int, str, bytes]]) -> pa.RecordBatch:
    lines, names, bodies = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.RecordBatch.from_arrays(
        [
            pa.array([origin] * len(rows), pa.string()),
            pa.array([part] * len(rows), pa.int32()),
            pa.array(lines, pa.int64()),
            pa.array(names, pa.string()),
            pa.array(bodies, pa.binary()),
        ],
        names=["origin", "part", "line", "name", "body"],
    )


def _assembler(logs: SparkLogs, schema: pa.Schema) -> Callable[[pa.Table], pa.Table]:
    """All events of an application -> its one row (`_RESULT`), run on the executors."""

    def run(table: pa.Table) -> pa.Table:
        events = table.sort_by([("part", "ascending"), ("line", "ascending")])
        origin = events.column("origin")[0].as_py()
        columns = (events.column(name).to_pylist() for name in ("part", "name", "body"))
        found = (
            (part, name, orjson.loads(body)) for part, name, body in zip(*columns, strict=True)
        )
        row = assemble(origin, found, logs.task, logs.namespace)
        return pa.Table.from_pylist([row], schema=schema)

    return run
