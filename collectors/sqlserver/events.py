"""Exported files -> captured events, with Spark's own expressions only.

A file is cut at `</event>`, so that Spark can share out a large one, and every piece becomes an
event or a damaged one. What surrounds the events, a document type among it, is never parsed: no
entity that a file defines is ever looked at.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from collectors.sqlserver.exports import Export
from collectors.statements.parse import LONGEST

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

# The events that carry statements. One statement may be seen by several: the lowest level counts.
LEVELS = {
    "sql_batch_completed": 0,
    "rpc_completed": 0,
    "sql_statement_completed": 1,
    "sp_statement_completed": 1,
    "sql_batch_starting": 2,
    "rpc_starting": 2,
    "sql_statement_starting": 3,
    "sp_statement_starting": 3,
}
EVENTS = (
    "origin string, block bigint, piece bigint, damage string, excerpt string, task string, "
    "run string, session string, sequence bigint, database string, text string, level int, "
    "status string, rows bigint, started timestamp, ended timestamp"
)
_PIECES = "path string, block bigint, piece bigint, value string"
_XML = (
    "_name string, _timestamp string, "
    "data array<struct<_name: string, value: string, text: string>>, "
    "action array<struct<_name: string, value: string, text: string>>, "
    "damaged string"
)
_START = r"(?=<event[\s>])"
# Only names and a time: nothing that a statement says.
_START_TAG = r'^<event name="\w+" package="\w+" timestamp="[\d:.TZ-]+">'
# Characters that XML 1.0 does not allow, raw or as a reference: Spark's parser gives nothing for
# them. In SQL they can only stand where a space can, or inside a literal.
_ILLEGAL = (
    r"[\x00-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]"
    r"|&#(?:x0*(?:[0-8bceBCEfF]|1[0-9a-fA-F]|[dD][89a-fA-F][0-9a-fA-F]{2}|[fF]{3}[efEF])"
    r"|0*(?:[0-8]|1[124-9]|2[0-9]|3[01]));"
)
_GLOB = re.compile(r"([\\\[\]{}*?])")
_SCHEME = r"^[a-zA-Z][a-zA-Z0-9+.-]*:(//[^/]*)?"


def pieces(spark: SparkSession, exports: list[Export]) -> DataFrame:
    """Files cut at the ends of their events: `origin`, `block`, `piece`, `value`.

    `block` is the byte at which the part of a file begins that Spark read in one go, `piece` grows
    within it.
    """
    from pyspark.sql import functions as F  # noqa: N812

    found = spark.createDataFrame([], _PIECES)
    for escaped in (False, True):
        if alike := [export for export in exports if export.escaped == escaped]:
            found = found.unionByName(_read(spark, alike, escaped))
    origins = spark.createDataFrame(
        [(_path(export.log.url), export.log.origin) for export in exports],
        "path string, origin string",
    )
    return found.join(F.broadcast(origins), "path").drop("path")


def _read(spark: SparkSession, exports: list[Export], escaped: bool) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    separator = "&lt;/event&gt;" if escaped else "</event>"
    paths = [_GLOB.sub(r"\\\1", export.log.url) for export in exports]
    text = spark.read.text(paths, lineSep=separator)
    value = _unescaped(F.col("value")) if escaped else F.col("value")
    path = F.url_decode(F.regexp_replace("_metadata.file_path", r"\+", "%2B"))
    return text.select(
        F.regexp_replace(path, _SCHEME, "").alias("path"),
        F.col("_metadata.file_block_start").alias("block"),
        F.monotonically_increasing_id().alias("piece"),
        F.concat(value, F.lit("</event>")).alias("value"),
    ).where(F.col("value").rlike(r"<event[\s>]"))


def _path(url: str) -> str:
    """A path as Hadoop shows it, without the scheme and host that it may write in another way."""
    return re.sub(_SCHEME, "", url) if "://" in url else str(Path(url).absolute())


def _unescaped(value: Column) -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    references = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&#x0D;": "\r"}
    for reference, character in (*references.items(), ("&amp;", "&")):
        value = F.replace(value, F.lit(reference), F.lit(character))
    return value


def events(found: DataFrame, task: str) -> DataFrame:
    """Pieces -> the events of tasks, and the damaged ones of whomever (`EVENTS`).

    Args:
        found: As `pieces` gives it.
        task: A regular expression with a group `task`, and maybe `run`, on the application's name.
    """
    from pyspark.sql import functions as F  # noqa: N812

    # A piece with two beginnings holds an event whose end is missing, and the next one.
    single = found.select(
        "origin", "block", "piece", F.explode(F.split("value", _START)).alias("value")
    ).where(F.col("value").rlike(r"^<event[\s>]"))
    name = F.regexp_extract("value", r'^<event\s+name="(\w+)"', 1)
    single = single.where((name == "") | name.isin(*LEVELS))
    clean = F.regexp_replace("value", _ILLEGAL, " ")
    options = {"columnNameOfCorruptRecord": "damaged", "ignoreSurroundingSpaces": "false"}
    # Generated, not selected: Spark would parse again for each condition on the result.
    event = single.select("*", F.inline(F.array(F.from_xml(clean, _XML, options))))
    return _flat(event, task).where("damage IS NOT NULL OR task != ''").select(*_names())


def _names() -> list[str]:
    return [column.split(" ")[0] for column in EVENTS.split(", ")]


def _flat(event: DataFrame, task: str) -> DataFrame:
    """Parsed XML as columns of their own."""
    from pyspark.sql import functions as F  # noqa: N812

    def entry(part: str, name: str) -> Column:
        return F.get(F.filter(part, lambda one: one["_name"] == name), F.lit(0))

    def data(name: str) -> Column:
        return entry("data", name)["value"]

    def action(name: str) -> Column:
        return entry("action", name)["value"]

    application = F.coalesce(action("client_app_name"), F.lit(""))
    pattern, groups = _java(task)
    result = F.coalesce(entry("data", "result")["text"], data("result"), F.lit("OK"))
    completed = F.col("_name").endswith("_completed")
    ended = F.col("_timestamp").try_cast("timestamp")
    duration = F.coalesce(data("duration").try_cast("bigint"), F.lit(0))
    levels = F.create_map(*[F.lit(part) for pair in LEVELS.items() for part in pair])
    flat = event.select(
        "origin",
        "block",
        "piece",
        F.col("damaged").alias("malformed"),
        F.regexp_extract("value", _START_TAG, 0).alias("excerpt"),
        F.regexp_extract(application, pattern, groups["task"]).alias("task"),
        (
            F.regexp_extract(application, pattern, groups["run"]) if "run" in groups else F.lit("")
        ).alias("run"),
        F.coalesce(action("session_id"), F.lit("")).alias("session"),
        F.coalesce(action("event_sequence").try_cast("bigint"), F.lit(0)).alias("sequence"),
        F.coalesce(action("database_name"), data("database_name"), F.lit("")).alias("database"),
        F.substring(F.coalesce(data("batch_text"), data("statement")), 1, LONGEST).alias("text"),
        levels[F.col("_name")].alias("level"),
        F.when(~completed, "unknown")
        .when(result.isin("OK", "0"), "ok")
        .otherwise("failed")
        .alias("status"),
        data("row_count").try_cast("bigint").alias("rows"),
        F.timestamp_micros(F.unix_micros(ended) - duration).alias("started"),
        ended.alias("ended"),
    )
    damage = (
        F.when(F.col("malformed").isNotNull(), "is not well-formed XML")
        .when(F.col("ended").isNull(), "has no readable time")
        .when(F.col("text").isNull(), "has no statement")
    )
    return flat.withColumn("damage", damage)


def _java(pattern: str) -> tuple[str, dict[str, int]]:
    """A Python pattern as Java takes it, and the numbers of its named groups."""
    groups = dict(re.compile(pattern).groupindex)
    java = re.sub(r"\(\?P<\w+>", "(", pattern)
    return re.sub(r"\(\?P=(\w+)\)", lambda same: f"\\{groups[same[1]]}", java), groups
