"""The event logs below a path: the files of each application, one origin each.

| layout | who writes it |
|---|---|
| `<application>` | Spark before 4, one file |
| `eventlog_v2_<application>/events_1_<application>.zstd`, `events_2_…`, `appstatus_…` | rolling |
| `…/eventlog-2026-11-21--05-00.gz`, …, `eventlog` | Databricks, the undated file last |

`.inprogress` ends the names of a log (or of its empty `appstatus` file) while its application runs,
and for ever if that does not stop its session. That ending is no part of the origin.

The history server may compact a rolling log: `events_5_….compact` replaces the files up to the
fifth, without what they told of executions that were over. Such a log is an origin of its own, so
that it does not replace what was read before; what it replaces is not read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from dbt_graft.collectors.files import LogFile
from dbt_graft.collectors.spark.log.checkpoint import Checkpoint

COMPACTED = ".compact"
_IN_PROGRESS = ".inprogress"
_ROLLING = "eventlog_v2_"
_PART = re.compile(r"events_(?P<index>\d+)_.+")
_DATABRICKS = re.compile(r"eventlog(?P<dated>-\d{4}-\d\d-\d\d--\d\d-\d\d)?(?:\.[a-z]\w*)?")


@dataclass(frozen=True, slots=True)
class SparkLogs:
    """The event logs of one cluster, and what to make of them.

    Attributes:
        path: A local path or URL: a folder of logs, one log's folder, or a file; or the address of
            a History Server, `https://…`.
        label: How origins name the path (as `graft.yml` writes it).
        task: A regular expression with a group `task`; dates, times and ids at the end of what it
            finds are cut off.
        task_from: What it is tried on, in this order; see `collectors.spark.application.tasks`.
        namespace: The namespace of metastore tables.
        nameless: The task of what has no task's name; without it, that is left out.
        authorization: What a History Server gets as the header of this name; a secret.
    """

    path: str
    label: str
    task: str = r"(?P<task>.+)"
    namespace: str = "spark"
    task_from: tuple[str, ...] = ("conf:spark.openlineage.appName", "app_name")
    unnamed_task: str = ""
    authorization: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ApplicationLog:
    """One application's log.

    Attributes:
        log: Origin and position of all its files together, as the lineage store knows them.
        parts: The files with events, oldest first.
        growing: Spark says that the application runs.
        start: Only what comes behind it is to be read.
    """

    log: LogFile
    parts: tuple[LogFile, ...]
    growing: bool
    start: Checkpoint | None = None


def application_logs(files: Iterable[LogFile]) -> list[ApplicationLog]:
    """Files put together by application, sorted by origin."""
    grouped: dict[tuple[str, str], list[LogFile]] = defaultdict(list)
    for file in files:
        folder, _, name = file.url.rpartition("/")
        above = file.origin.rpartition("/")[0]
        if folder.rpartition("/")[2].startswith(_ROLLING):
            grouped[above or file.origin, "rolling"].append(file)
        elif _DATABRICKS.fullmatch(name):
            grouped[above or file.origin, "databricks"].append(file)
        else:
            grouped[_name(file.origin), ""].append(file)
    return sorted(
        (_together(origin, layout, found) for (origin, layout), found in grouped.items()),
        key=lambda log: log.log.origin,
    )


def _together(origin: str, layout: str, files: list[LogFile]) -> ApplicationLog:
    if layout == "rolling":
        parts = _rolled(files)
    elif layout == "databricks":
        parts = sorted(files, key=_databricks_order)
    else:
        # A log may lie there finished and unfinished, copied between the two.
        parts = sorted(files, key=lambda file: file.url.endswith(_IN_PROGRESS))[:1]
        files = parts
    if layout == "rolling" and parts and _name(parts[0].url).endswith(COMPACTED):
        origin = f"{origin}/{_name(parts[0].url.rpartition('/')[2])}"
    size = sum(file.size for file in files)
    changed = max(int(file.position.rpartition("@")[2]) for file in files)
    return ApplicationLog(
        log=LogFile(files[0].url, origin, size, f"{size}@{changed}"),
        parts=tuple(parts),
        growing=any(file.url.endswith(_IN_PROGRESS) for file in files),
    )


def _rolled(files: list[LogFile]) -> list[LogFile]:
    """The event files of a folder in their order, without those that a compaction replaced."""
    indexed: list[tuple[int, bool, LogFile]] = []
    for file in files:
        name = _name(file.url.rpartition("/")[2])
        if found := _PART.fullmatch(name):
            indexed.append((int(found["index"]), name.endswith(COMPACTED), file))
    indexed.sort(key=lambda part: part[:2])
    replaced = [at for at, (_, compacted, _) in enumerate(indexed) if compacted]
    return [file for *_, file in indexed[replaced[-1] if replaced else 0 :]]


def _databricks_order(file: LogFile) -> tuple[bool, str]:
    found = _DATABRICKS.fullmatch(file.url.rpartition("/")[2])
    dated = found["dated"] if found else None
    return dated is None, dated or ""


def _name(text: str) -> str:
    return text.removesuffix(_IN_PROGRESS)
