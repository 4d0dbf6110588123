"""The section `collect` of graft.yml: logs, each an entry of one kind."""

from __future__ import annotations

import posixpath
from dataclasses import field, fields
from typing import Annotated

from dbt_graft.collectors.spark.settings import is_history_server, is_task_source
from dbt_graft.graft.project.texts import (
    LogPath,
    PathText,
    Pattern,
    TaskPattern,
    Timezone,
    Variable,
)
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.section import Checked, JsonSchema, Limits, Section, Text, written_as

_Connection = Annotated[
    str,
    written_as(r"(env|dsn):\S.*", "write env:NAME or dsn:NAME: this file holds no secrets"),
]
_Server = Annotated[
    str,
    written_as(r"mssql://[^/@\s]+", "write mssql://<host>:<port>, without user and password"),
]
_HistoryServer = Annotated[
    str,
    written_as(
        r"https?://[^\s/?#@]+[^\s?#@]*",
        "write http(s)://<host>:<port>, without user and password",
    ),
]


def _task_source(source: str) -> str:
    if not is_task_source(source):
        raise ValueError(
            "write app_name, job_group, job_description, call_site, databricks or "
            "conf:<a setting's key>"
        )
    return source


@frozen
class SqlServerEntry(Section):
    """Extended Events of one SQL Server: files, a running session, or a table of them.

    `collectors.sqlserver.runs.folding.RunRules` describes `task`, `noise`,
    `idle_minutes` and `timezone`.
    """

    server: _Server
    path: LogPath | None = None
    connection: _Connection | None = None
    session: Text | None = None
    files: Text | None = None
    table: Text | None = None
    key: Text | None = None
    columns: dict[str, Text] = field(default_factory=dict)
    snapshot: PathText | None = None
    task: TaskPattern = r"python_task::(?P<task>[^:]+)(::(?P<run>.+))?"
    noise: tuple[Pattern, ...] = ()
    idle_minutes: Annotated[int, Limits(ge=1, le=1440)] = 60
    timezone: Timezone | None = None

    def __post_init__(self) -> None:
        if bool(self.path) == bool(self.connection):
            raise ValueError("name the events' `path`, or a `connection` to the server")
        if self.connection and bool(self.table) == bool(self.session or self.files):
            raise ValueError("a `connection` reads a `session`, or a `table` with its `key`")
        if bool(self.table) != bool(self.key):
            raise ValueError("a `table` needs a `key`: a column by which new rows are found")
        if self.path and (self.session or self.files or self.table):
            raise ValueError("`session`, `files` and `table` are read over a `connection`")


@frozen
class SparkEntry(Section):
    """Spark event logs of one cluster; see `collectors.spark.log.files.SparkLogs`."""

    path: LogPath | None = None
    history_server: _HistoryServer | None = None
    authorization: Variable | None = None
    task: TaskPattern = r"(?P<task>.+)"
    task_from: Annotated[
        tuple[Annotated[str, Checked(_task_source)], ...],
        Limits(min_length=1),
        Checked(lambda value: [value] if isinstance(value, str) else value, first=True),
        JsonSchema(
            {
                "anyOf": [
                    {"type": "string"},
                    {"type": "array", "items": {"type": "string"}, "minItems": 1},
                ]
            }
        ),
    ] = ("conf:spark.openlineage.appName", "app_name", "databricks")
    namespace: Text = "spark"

    def __post_init__(self) -> None:
        if bool(self.path) == bool(self.history_server):
            raise ValueError("name the logs' `path`, or a `history_server`")
        if self.path and is_history_server(self.path):
            raise ValueError("name a History Server as `history_server`")
        if self.authorization and not self.history_server:
            raise ValueError("`authorization` needs a `history_server`")

    @property
    def place(self) -> str:
        """The path or URL of the logs, as the file writes it."""
        return self.path or self.history_server or ""


@frozen
class DeclaredEntry(Section):
    """Lineage that people declare, in files of `collectors.declared.document.Document`."""

    path: PathText


@frozen
class OpenLineageEntry(Section):
    """Events of OpenLineage, of Airflow and others; see `collectors.openlineage.files`."""

    path: LogPath
    task: TaskPattern | None = None
    timezone: Timezone | None = None


@frozen
class DbtResultsEntry(Section):
    """Past results of dbt, beside those in its target folder; see `collectors.dbt.source`."""

    path: LogPath


@frozen
class PythonEntry(Section):
    """The source code of tasks; see `graft.project.task_codes`.

    Attributes:
        path: A script, a folder, or a pattern with `*`.
        task: The name of a task, of that of its file without `.py`.
    """

    path: PathText
    task: TaskPattern = r"(?P<task>.+)"


@frozen
class CollectEntry(Section):
    """One entry of `collect`: exactly one kind of log, or the code of tasks."""

    sqlserver: SqlServerEntry | None = None
    spark: SparkEntry | None = None
    declared: DeclaredEntry | None = None
    dbt: DbtResultsEntry | None = None
    openlineage: OpenLineageEntry | None = None
    python: PythonEntry | None = None

    def __post_init__(self) -> None:
        if len(self._kinds) != 1:
            raise ValueError(
                "name exactly one kind of log: sqlserver, spark, openlineage, declared, dbt or "
                "python"
            )

    @property
    def _kinds(self) -> list[str]:
        return [field.name for field in fields(self) if getattr(self, field.name) is not None]

    @property
    def kind(self) -> str:
        """The kind of log, by its key."""
        return self._kinds[0]

    @property
    def label(self) -> str:
        """The prefix of the origins of its logs."""
        if self.spark:
            return self.spark.place
        if self.declared:
            return f"declared:{self.declared.path}"
        if self.dbt:
            return f"dbt:{self.dbt.path}"
        if self.openlineage:
            return self.openlineage.path
        if self.python:
            return f"python:{self.python.path}"
        assert self.sqlserver
        server = self.sqlserver
        return server.path or f"{server.server}/{server.table or server.session or server.files}"


def check_twice(entries: tuple[CollectEntry, ...]) -> tuple[CollectEntry, ...]:
    """Refuse logs that two entries read: their lineage would be counted twice.

    Raises:
        ValueError: Two entries have one path.
    """
    places: set[str] = set()
    for entry in entries:
        place = entry.label if "://" in entry.label else posixpath.normpath(entry.label)
        if place in places:
            raise ValueError(f"two entries read {entry.label}: leave one of them out")
        places.add(place)
    return entries
