"""Sources and sinks of streaming queries, from their progress: their plans have no sink.

`FileStreamSource[file:/landing/orders]`, `KafkaV2[Subscribe[orders]]`, `DeltaSource[s3://b/t]`;
`FileSink[file:/out/orders]`, `DeltaSink[s3://b/t]`, and `lake.raw.orders`, a table of a catalog
(`toTable`). With `foreachBatch` the sink is code of the task, whose writes are executions nested in
the batch's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from dbt_graft.collectors.spark.application.execution import StreamingQuery
from dbt_graft.collectors.spark.gap_reasons import ROWS_IN_CODE, SINK_NOT_NAMED
from dbt_graft.collectors.spark.plans.arguments import identifier
from dbt_graft.collectors.spark.sources.scans import Scan
from dbt_graft.lineage.dates.date_ranges import YEARS, begin_of_unit, next_unit
from dbt_graft.lineage.dates.period import DataPosition, Grain, Period, PeriodEvidence
from dbt_graft.lineage.dates.period_union import OFFSETS

_PLACE = re.compile(r"(?P<kind>\w+)\[(?P<place>.*)\]")
_TOPICS = re.compile(r"(?P<by>Subscribe|Assign)\[(?P<topics>[^\]]*)\]")
_BY_PATTERN = re.compile(r"Kafka\w*\[SubscribePattern\[")
_TOPIC = re.compile(r"[\w.-]{1,249}")
_PARTITION = re.compile(r"-\d+$")
# Others are called by their class.
_TABLE = re.compile(r"(?!org\.apache\.|com\.)[\w-]+(?:\.[\w-]+)+")
# Sources that count in one number: the kind of position, and the number's key.
_NUMBERED = {
    "FileStreamSource": ("files", "logOffset"),
    "CloudFilesSource": ("files", "seqNum"),
    "DeltaSource": ("delta version", "reservoirVersion"),
}
# Without rows, Spark writes the time as 1970.
_NO_TIME = 1970
# Sinks of which nothing lasts, and those that hand rows to code of the task.
_SHOWN = re.compile(r"\b(?:Console\w*|Memory(?:Sink|Plan)\w*|Noop\w*|noop-table)\b")
_IN_CODE = re.compile(r"Foreach(?:BatchSink|WriterTable|Sink)\b")
_FILES = ("FileStreamSource", "FileSink", "CloudFilesSource", "DeltaSource", "DeltaSink")


def parse_place(description: str) -> Scan | None:
    """Parse the description of a source or sink; None where it is no dataset."""
    text = description.strip()
    match = _PLACE.fullmatch(text)
    if match is None:
        return Scan(identifier(text)) if _TABLE.fullmatch(text) else None
    if match["kind"].startswith("Kafka"):
        topics = _TOPICS.match(match["place"])
        names = [name.strip() for name in topics["topics"].split(",")] if topics else []
        if topics and topics["by"] == "Assign":  # orders-0: a topic and its partition
            names = [_PARTITION.sub("", name) for name in names]
        return Scan(topics=tuple(sorted({*names})))
    return Scan(paths=(match["place"],)) if match["kind"] in _FILES else None


def gap_of_sink(description: str) -> str | None:
    """The gap of a stream of which no statement writes; None for a sink of which nothing lasts."""
    if _SHOWN.search(description):
        return None
    return ROWS_IN_CODE if _IN_CODE.match(description) else SINK_NOT_NAMED


def with_topics(description: str, *offsets: str) -> str:
    """The description of a source; of topics by a pattern, with those that its offsets name."""
    if not _BY_PATTERN.match(description):
        return description
    names: set[str] = set()
    for text in offsets:
        try:
            topics = json.loads(text or "{}")
        except (ValueError, RecursionError):
            continue
        if isinstance(topics, dict):
            names |= {name for name in topics if _TOPIC.fullmatch(name)}
    kind = description.partition("[")[0]
    return f"{kind}[Subscribe[{', '.join(sorted(names))}]]" if names else description


def sources(stream: StreamingQuery) -> tuple[Scan, ...]:
    """The scans of a run of a streaming query."""
    return tuple(dict.fromkeys(scan for text in stream.sources if (scan := parse_place(text))))


def watched_folders(scans: Iterable[Scan], of_run: tuple[Scan, ...]) -> list[Scan]:
    """Replace a batch's scans of single files by scans of the folder that the stream watches."""
    folders = [path.rstrip("/") for scan in of_run for path in scan.paths]
    seen = []
    for scan in scans:
        inside = [
            folder
            for folder in folders
            if scan.paths and all(_is_below(path, folder) for path in scan.paths)
        ]
        seen.append(replace(scan, paths=(inside[0],)) if inside and not scan.table else scan)
    return seen or list(of_run)


def position(description: str, start: str, end: str, topic: str = "") -> tuple[DataPosition, ...]:
    """The positions of a batch in a source: offsets of Kafka, files, versions of Delta.

    Args:
        topic: Of Kafka's topics only this one.
    """
    match = _PLACE.fullmatch(description.strip())
    kind = match["kind"] if match else ""
    if kind.startswith("Kafka"):
        begin, reached = _offsets(start, topic), _offsets(end, topic)
        return (DataPosition(OFFSETS, begin, reached),) if reached else ()
    name, key = _NUMBERED.get(kind, ("", ""))
    reached = _number(end, key) if name else ""
    return (DataPosition(name, _number(start, key), reached),) if reached else ()


def _offsets(text: str, topic: str) -> str:
    """`{"orders":{"0":882001}}`; empty where the text has other than numbers."""
    try:
        offsets = json.loads(text or "{}").get(topic, {})
        numbers = {str(int(key)): int(offsets[key]) for key in sorted(offsets, key=int)}
    except (ValueError, AttributeError, TypeError):
        return ""
    return json.dumps({topic: numbers}, separators=(",", ":")) if numbers else ""


def _number(text: str, key: str) -> str:
    try:
        return str(int(json.loads(text)[key]))
    except (ValueError, KeyError, TypeError):
        return ""


def event_period(times: Sequence[str]) -> tuple[Period, ...]:
    """The days between the first and the last time in the rows of a batch."""
    try:
        first, last = (datetime.fromisoformat(time) for time in times)
    except ValueError:
        return ()
    if first.year <= _NO_TIME or last.year not in YEARS:
        return ()
    start = begin_of_unit(first.astimezone(UTC), Grain.DAY)
    end = next_unit(begin_of_unit(last.astimezone(UTC), Grain.DAY), Grain.DAY)
    return (Period(start, end, Grain.DAY, PeriodEvidence.INTERVAL),)


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/") or path == folder
