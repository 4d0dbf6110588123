"""What is kept of a captured log: the events and fields that lineage is read from, at its time.

Nothing is added and nothing rewritten but the times, which all move by the same length.
"""

from __future__ import annotations

import gzip
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import zstandard

Event = dict[str, Any]

# Of the events. Most of a log is what its tasks measured.
EVENTS = {
    "SparkListenerLogStart",
    "SparkListenerApplicationStart",
    "SparkListenerApplicationEnd",
    "SparkListenerEnvironmentUpdate",
    "SparkListenerJobStart",
    "SparkListenerJobEnd",
    "SparkListenerStageCompleted",
    "SparkListenerSQLExecutionStart",
    "SparkListenerSQLAdaptiveExecutionUpdate",
    "SparkListenerDriverAccumUpdates",
    "SparkListenerSQLExecutionEnd",
    "CreatePartitionsEvent",
}
# Fields that name the machine and its user, or are long: dropped wherever they are.
FIELDS = {
    *("User", "JVM Information", "System Properties", "Hadoop Properties", "Metrics Properties"),
    *("Classpath Entries", "Resource Profiles", "Details", "details", "Task Executor Metrics"),
    *("modifiedConfigs", "Callsite"),
}
# Of the settings that are in each log and each job.
SETTINGS = {
    *("spark.app.name", "spark.app.id", "spark.master", "spark.sql.warehouse.dir"),
    *("spark.sql.execution.id", "spark.sql.execution.root.id", "spark.jobGroup.id"),
}
# Of what stages counted.
COUNTS = {"internal.metrics.output.recordsWritten", "internal.metrics.output.bytesWritten"}
TIMES = {"Timestamp", "time", "Submission Time", "Completion Time"}


def slim_event_log(log: Path, out: Path, shift: timedelta) -> None:
    """Write what is kept of a Spark event log, packed as tightly as zstd can."""
    with zstandard.open(log, "rt", encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    milliseconds = round(shift / timedelta(milliseconds=1))
    kept = [
        json.dumps(_slim(event, milliseconds), separators=(",", ":")) + "\n"
        for event in events
        if event["Event"].rpartition(".")[2] in EVENTS
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(zstandard.ZstdCompressor(19).compress("".join(kept).encode()))


def _slim(value: Any, shift: int) -> Any:
    if isinstance(value, list):
        return [_slim(one, shift) for one in value if not _is_other_count(one)]
    if not isinstance(value, dict):
        return value
    return {
        key: one + shift
        if key in TIMES
        else _settings(one)
        if "Properties" in key
        else _slim(one, shift)
        for key, one in value.items()
        if key not in FIELDS
    }


def _settings(properties: Event) -> Event:
    return {key: value for key, value in properties.items() if key in SETTINGS}


def _is_other_count(value: Any) -> bool:
    """Whether it is a metric of a stage that is neither of SQL nor of what was written."""
    is_count = isinstance(value, dict) and "Metadata" not in value and "Internal" in value
    return is_count and value.get("Name") not in COUNTS


def slim_results(results: Path, out: Path, shift: timedelta) -> None:
    """Write what is kept of a run_results.json of dbt."""
    document = json.loads(results.read_text())
    document["args"] = {"which": document["args"]["which"]}
    for result in document["results"]:
        del result["compiled_code"]
    out.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_moved(document, shift), separators=(",", ":"))
    out.write_bytes(gzip.compress(text.encode(), mtime=0))


def _moved(value: Any, shift: timedelta) -> Any:
    if isinstance(value, list):
        return [_moved(one, shift) for one in value]
    if isinstance(value, dict):
        return {
            key: f"{datetime.fromisoformat(one) + shift:%Y-%m-%dT%H:%M:%S.%fZ}"
            if key.endswith("_at") and one
            else _moved(one, shift)
            for key, one in value.items()
        }
    return value
