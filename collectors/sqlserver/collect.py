"""The Extended Events collector as a Spark job.

    files -> pieces -> events, folded -> usage (few rows) -> distinct texts parsed
          -> joined back -> accesses, runs, shapes, datasets, rejects

Up to `usage` the data grows with the log and is read once; behind it, with its distinct texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from collectors.files import LogFile, fresh, log_files
from collectors.sqlserver import tables
from collectors.sqlserver.events import EVENTS, events
from collectors.sqlserver.exports import Export, inspect, is_export
from collectors.sqlserver.parsed import PARSED, parse_texts
from collectors.sqlserver.pieces import pieces
from collectors.sqlserver.usage import usage, with_runs
from collectors.store import SCHEMAS, Collected

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class SqlServerLogs:
    """Exported Extended Events of one server.

    Attributes:
        path: A local path or URL; a file or a folder.
        label: How origins name the path (as `graft.yml` writes it).
        server: The namespace of its datasets: `mssql://sql01:1433`.
        task: A regular expression with a group `task`, and maybe `run`, that is looked for in
            the application's name; applications without it are not ours.
    """

    path: str
    label: str
    server: str
    task: str = r"python_task::(?P<task>[^:]+)(::(?P<run>.+))?"


def new_logs(logs: SqlServerLogs, known: Mapping[str, tuple[str, int]]) -> list[LogFile]:
    """The exports below a path that the store does not know as they are now; needs no Spark.

    Args:
        known: For each origin in the store its position, as `collectors.store.positions` gives it.

    Raises:
        GraftError: The path does not exist or cannot be listed.
    """
    found = log_files(logs.path, logs.label)
    return fresh([log for log in found if is_export(log, logs.path)], known)


def collect(
    spark: SparkSession, logs: SqlServerLogs, known: Mapping[str, tuple[str, int]]
) -> Collected | None:
    """What the exports below a path tell that the store does not know yet.

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
    exports = [inspect(log) for log in new]
    cut = pieces(spark, [export for export in exports if not export.problem])
    blocks = tables.blocks(cut).persist()
    told = _told(spark, cut, logs).persist()
    touched = tables.touched(told).persist()
    return Collected(
        accesses=tables.accesses(touched),
        runs=tables.runs(told),
        shapes=tables.shapes(told),
        datasets=tables.datasets(touched),
        column_edges=tables.column_edges(told),
        rejects=tables.rejects(told, blocks).unionByName(_unreadable(spark, exports)),
        origins=tables.origins(spark, new, blocks),
    )


def _told(spark: SparkSession, cut: DataFrame, logs: SqlServerLogs) -> DataFrame:
    """Pieces of files -> who said how often what, and what it means."""
    captured = cut.mapInArrow(events(logs.task, _arrow(spark, EVENTS)), EVENTS)
    # Small, and everything is made of it: the log is read once.
    said = with_runs(usage(captured).persist(), logs.server)
    texts = said.where("damage IS NULL").select("text", "database").distinct()
    parsed = texts.mapInArrow(parse_texts(logs.server, _arrow(spark, PARSED)), PARSED)
    return said.join(parsed, ["text", "database"], "left").drop("text", "database")


def _unreadable(spark: SparkSession, exports: list[Export]) -> DataFrame:
    rejected = [
        (e.log.origin, "whole file", f"the file {e.problem}", "") for e in exports if e.problem
    ]
    return spark.createDataFrame(rejected, SCHEMAS["rejects"])


def _arrow(spark: SparkSession, ddl: str) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    schema: pa.Schema = to_arrow_schema(spark.createDataFrame([], ddl).schema, timezone="UTC")
    return schema
