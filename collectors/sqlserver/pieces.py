"""Exported files -> pieces of text with one event each, with Spark's own expressions only.

A file is cut at `</event>`, so that Spark can share out a large one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from collectors.sqlserver.exports import Export

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_PIECES = "path string, block bigint, piece bigint, value string"
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
    return found.join(F.broadcast(origins), "path").select("origin", "block", "piece", "value")


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
