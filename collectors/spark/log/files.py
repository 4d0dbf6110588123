"""Event logs below a path: files grouped by application, one origin each.

| layout | who writes it |
|---|---|
| `<application>` | Spark before 4, one file |
| `eventlog_v2_<application>/events_1_<application>.zstd`, `events_2_…`, `appstatus_…` | rolling |
| `…/eventlog-2026-11-21--05-00.gz`, …, `eventlog` | Databricks, the undated file last |

The name of a log (or of its empty `appstatus` file) ends in `.inprogress` while its application
runs, and for ever if the application does not stop its session. The origin is without that ending.

The history server may compact a rolling log: `events_5_….compact` replaces the files up to the
fifth and leaves out executions that were over. Such a log is an origin of its own, so that it does
not replace what was read before; the files that it replaces are not read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import field

from dbt_graft.collectors.files import LogFile
from dbt_graft.collectors.spark.log.checkpoint import Checkpoint
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.frozen import frozen

COMPACTED = ".compact"
_IN_PROGRESS = ".inprogress"
_ROLLING = "eventlog_v2_"
_PART = re.compile(r"events_(?P<index>\d+)_.+")
_DATABRICKS = re.compile(r"eventlog(?P<dated>-\d{4}-\d\d-\d\d--\d\d-\d\d)?(?:\.[a-z]\w*)?")


@frozen
class SparkLogs:
    """The event logs of one cluster, and how to read them.

    Attributes:
        path: A local path or URL: a folder of logs, one log's folder, or a file; or the address of
            a History Server, `https://…`.
        task: A regular expression with a group `task`; dates, times and ids at the end of the
            group are cut off.
        task_from: Where task names are, in order; see `collectors.spark.application.tasks`.
        unnamed_task: The task of executions without a task's name; empty to leave them out.
        authorization: The `Authorization` header for a History Server; a secret.
    """

    path: str
    label: str
    task: str = r"(?P<task>.+)"
    namespace: str = "spark"
    task_from: tuple[str, ...] = ("conf:spark.openlineage.appName", "app_name", "databricks")
    unnamed_task: str = ""
    date_columns: DateColumns = field(default_factory=DateColumns)
    authorization: str = field(default="", repr=False)


@frozen
class ApplicationLog:
    """One application's log.

    Attributes:
        log: Origin, size and position of the log, over all its files.
        files: The files with events, oldest first.
        growing: The application still runs, as Spark names its files.
        start: The checkpoint that it is read on from.
    """

    log: LogFile
    files: tuple[LogFile, ...]
    growing: bool
    start: Checkpoint | None = None


def application_logs(files: Iterable[LogFile]) -> list[ApplicationLog]:
    """Group files by application, sorted by origin."""
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
        (
            _application_log(origin, layout, members)
            for (origin, layout), members in grouped.items()
        ),
        key=lambda log: log.log.origin,
    )


def _application_log(origin: str, layout: str, files: list[LogFile]) -> ApplicationLog:
    if layout == "rolling":
        ordered = _rolling_files(files)
    elif layout == "databricks":
        ordered = sorted(files, key=_databricks_order)
    else:
        # A copy of the unfinished log may lie beside the finished one.
        ordered = sorted(files, key=lambda file: file.url.endswith(_IN_PROGRESS))[:1]
        files = ordered
    if layout == "rolling" and ordered and _name(ordered[0].url).endswith(COMPACTED):
        origin = f"{origin}/{_name(ordered[0].url.rpartition('/')[2])}"
    size = sum(file.size for file in files)
    changed = max(int(file.position.rpartition("@")[2]) for file in files)
    return ApplicationLog(
        log=LogFile(files[0].url, origin, size, f"{size}@{changed}"),
        files=tuple(ordered),
        growing=any(file.url.endswith(_IN_PROGRESS) for file in files),
    )


def _rolling_files(files: list[LogFile]) -> list[LogFile]:
    """Event files of a rolling log in order, without those that a compaction replaced."""
    indexed: list[tuple[int, bool, LogFile]] = []
    for file in files:
        name = _name(file.url.rpartition("/")[2])
        if match := _PART.fullmatch(name):
            indexed.append((int(match["index"]), name.endswith(COMPACTED), file))
    indexed.sort(key=lambda entry: entry[:2])
    replaced = [at for at, (_, compacted, _) in enumerate(indexed) if compacted]
    return [file for *_, file in indexed[replaced[-1] if replaced else 0 :]]


def _databricks_order(file: LogFile) -> tuple[bool, str]:
    match = _DATABRICKS.fullmatch(file.url.rpartition("/")[2])
    dated = match["dated"] if match else None
    return dated is None, dated or ""


def _name(text: str) -> str:
    return text.removesuffix(_IN_PROGRESS)
