"""Sources and sinks of streaming queries, from their progress: their plans have no sink.

`FileStreamSource[file:/landing/orders]`, `KafkaV2[Subscribe[orders]]`, `DeltaSource[s3://b/t]`;
`FileSink[file:/out/orders]`, `DeltaSink[s3://b/t]`. With `foreachBatch` the sink is code of the
task, whose writes are executions nested in the batch's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from dbt_graft.collectors.spark.application.execution import StreamingQuery
from dbt_graft.collectors.spark.sources.scans import Scan

_PLACE = re.compile(r"(?P<kind>\w+)\[(?P<place>.*)\]")
_TOPICS = re.compile(r"(?:Subscribe|Assign)\[(?P<topics>[^\]]*)\]")
_PARTITION = re.compile(r"-\d+$")
_FILES = ("FileStreamSource", "FileSink", "CloudFilesSource", "DeltaSource", "DeltaSink")


def parse_place(description: str) -> Scan | None:
    """Parse the description of a source or sink; None where it is no dataset."""
    found = _PLACE.fullmatch(description.strip())
    if found is None:
        return None
    if found["kind"].startswith("Kafka"):
        topics = _TOPICS.search(found["place"])
        names = topics["topics"].split(",") if topics else []
        return Scan(topics=tuple(sorted({_PARTITION.sub("", n.strip()) for n in names})))
    return Scan(paths=(found["place"],)) if found["kind"] in _FILES else None


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
            if scan.paths and all(_below(path, folder) for path in scan.paths)
        ]
        seen.append(replace(scan, paths=(inside[0],)) if inside and not scan.table else scan)
    return seen or list(of_run)


def _below(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/") or path == folder
