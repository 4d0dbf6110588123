"""Periods: the dates of data that an access is about, and positions in sources without dates.

Dates of data have no time zone: midnight UTC stands for the beginning of a day, whatever the zone
of the data.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from dbt_graft.lineage.frozen import frozen


class Grain(StrEnum):
    """The smallest unit of a period, finest first."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


class PeriodEvidence(StrEnum):
    """The source of the dates of an access, strongest first.

    PARTITION: a static partition, or partitions new in the catalog. LOCATION: the partitions that
    Spark pruned a scan to. PREDICATE: a filter on a partition or date column. PATH: the name of a
    folder, file or date shard. INTERVAL: the data interval of an orchestrator, an argument of the
    task, dbt's event time, the watermark of a stream. LAG: the time of the run less the usual lag,
    a guess.
    """

    PARTITION = "partition"
    LOCATION = "location"
    PREDICATE = "predicate"
    PATH = "path"
    INTERVAL = "interval"
    LAG = "lag"


@frozen
class Period:
    """Dates of data, from `start` up to, not with, `end`; both begin a unit of the grain.

    Attributes:
        column: The partition or date column; empty where a path or an interval has the dates.
        start, end: None where that side is open: `day >= '2026-11-01'` has no end.
        in_part: Some rows of each unit may be left out: `ts >= '2026-11-01 05:00'`, one of the
            partitions of a day.
    """

    start: datetime | None
    end: datetime | None
    grain: Grain
    evidence: PeriodEvidence
    column: str = ""
    in_part: bool = False


@frozen
class DataPosition:
    """A place in a source that counts otherwise than by dates.

    Attributes:
        kind: `kafka offsets`, `files`, `delta version`, `iceberg snapshot`, `version`;
            `partitions`, of SQL Server, by their numbers.
        start, end: From, and up to; equal where one version was read or written. Offsets of Kafka
            are JSON: topic -> partition -> offset.
    """

    kind: str
    start: str
    end: str
