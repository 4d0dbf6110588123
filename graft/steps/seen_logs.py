"""Logs and declared lineage that lie in a folder, by the names and first bytes of files."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

# Folders of others, and those that a build writes.
_SKIPPED = frozenset(
    {"dbt_packages", "dbt_modules", "node_modules", "site-packages", "target", "venv", "build"}
)
_DEPTH, _MOST, _HEAD = 5, 20_000, 4_096
# https://spark.apache.org/docs/latest/monitoring.html#applying-compaction-on-rolling-event-log-files
_SPARK_FOLDER = "eventlog_v2_"
_SPARK_FILE = re.compile(r"(local-\d{10,}|app-\d{14}-\d+|application_\d+_\d+)(_\d+)?(\.\w+)*")
_SPARK_HEAD = re.compile(rb'\s*\{"Event":"SparkListener')
_EVENT_KEYS = (b'"eventTime"', b'"schemaURL"')
_TEXTS = (".json", ".jsonl", ".ndjson")
_DECLARED = re.compile(r"^version: *1\s*$.*^(tasks|consumers):", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class SeenLogs:
    """Folders with logs, relative to the one that was looked at, sorted; none is in another.

    Attributes:
        spark: With event logs of Spark.
        xel: With files of Extended Events.
        openlineage: With events of OpenLineage.
        declared: With files of declared lineage.
    """

    spark: tuple[str, ...] = ()
    xel: tuple[str, ...] = ()
    openlineage: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()


def see_logs(folder: Path) -> SeenLogs:
    """Look for logs in a folder and those below it, as far as a person would."""
    places: dict[str, set[str]] = {"spark": set(), "xel": set(), "openlineage": set()}
    places["declared"] = set()
    for path in _files(folder):
        if kind := _kind(path):
            parent = path.parent
            if parent.name.startswith(_SPARK_FOLDER):
                parent = parent.parent
            places[kind].add(parent.relative_to(folder).as_posix())
    return SeenLogs(**{kind: _outermost(folders) for kind, folders in places.items()})


def _files(folder: Path) -> Iterator[Path]:
    seen = 0
    for parent, folders, files in os.walk(folder):
        depth = len(Path(parent).relative_to(folder).parts)
        folders[:] = sorted(
            name
            for name in folders
            if depth < _DEPTH and name not in _SKIPPED and not name.startswith(".")
        )
        for name in sorted(files):
            seen += 1
            if seen > _MOST:
                return
            yield Path(parent, name)


def _kind(path: Path) -> str:
    """`spark`, `xel`, `openlineage`, `declared`, or nothing."""
    suffix = path.suffix.casefold()
    if suffix == ".xel":
        return "xel"
    if path.parent.name.startswith(_SPARK_FOLDER) or _SPARK_FILE.fullmatch(path.name):
        return "spark"
    if suffix in _TEXTS or not suffix:
        head = _head(path)
        if _SPARK_HEAD.match(head):
            return "spark"
        if all(key in head for key in _EVENT_KEYS):
            return "openlineage"
    elif suffix in (".yml", ".yaml") and _DECLARED.search(_head(path).decode("utf-8", "replace")):
        return "declared"
    return ""


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:  # `graft doctor` says what cannot be read
        return b""


def _outermost(folders: Collection[str]) -> tuple[str, ...]:
    """The folders that lie in no other of them."""
    return tuple(
        folder
        for folder in sorted(folders)
        if not any(other in folders for other in map(str, Path(folder).parents) if other != folder)
    )
