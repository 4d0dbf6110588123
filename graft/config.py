"""`graft.yml`: read, checked, and every fault named with its line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    StringConstraints,
    model_validator,
)

from dbt_graft.collectors.checked_yaml import read_yaml
from dbt_graft.collectors.declared.document import TaskEntry
from dbt_graft.collectors.spark.application.tasks import is_place
from dbt_graft.collectors.spark.log.history_server import is_history_server
from dbt_graft.injector.forbidden import RULES, Rule
from dbt_graft.injector.options import TAG_KINDS, TagKind
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.names import NameRule, NameRules
from dbt_graft.lineage.records import TaskInfo

FILE_NAME = "graft.yml"
_CODE = 1 << 18  # bytes of a file that is shown as a task's code


class ConfigError(GraftError):
    """`graft.yml` is missing, is no YAML, or says something that graft does not know."""

    exit_code = 2


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _task_pattern(pattern: str) -> str:
    try:
        groups = re.compile(pattern).groupindex
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from error
    if "task" not in groups:
        raise ValueError("must name the task: (?P<task>…)")
    return pattern


def _pattern(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from error
    return pattern


def _connection(setting: str) -> str:
    if not re.fullmatch(r"(env|dsn):\S.*", setting):
        raise ValueError("write env:NAME or dsn:NAME: no secret stands in this file")
    return setting


def _server(url: str) -> str:
    if not re.fullmatch(r"mssql://[^/@\s]+", url):
        raise ValueError("write mssql://<host>:<port>, without user and password")
    return url


def _log_path(path: str) -> str:
    if "://" in path and urlsplit(path).password:
        raise ValueError("write no password into a URL: its file system finds it elsewhere")
    return path


def _history_server(url: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#@]+[^\s?#@]*", url):
        raise ValueError("write http(s)://<host>:<port>, without user and password")
    return url


def _variable(setting: str) -> str:
    if not re.fullmatch(r"env:\S+", setting):
        raise ValueError("write env:NAME: no secret stands in this file")
    return setting


def _task_place(place: str) -> str:
    if not is_place(place):
        raise ValueError(
            "write app_name, job_group, job_description, call_site or conf:<a setting's key>"
        )
    return place


def _folder(path: str) -> str:
    if "://" in path:
        raise ValueError("write a folder of this machine, and copy it from there")
    if not path.isprintable():
        raise ValueError("write a path without control characters")
    return path


def _site_url(url: str) -> str:
    if url and not re.fullmatch(r"https?://[^\s/?#@\"'<>\\`]+(/[^\s?#\"'<>\\`]*)?", url):
        raise ValueError("write the address of the published site: http(s)://<host>/<path>/")
    return url


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
LogPath = Annotated[Text, AfterValidator(_log_path)]
FolderPath = Annotated[Text, AfterValidator(_folder)]
TaskPattern = Annotated[str, AfterValidator(_task_pattern)]


class Dbt(_Section):
    """Where dbt's artifacts lie, and under which namespace its relations are datasets."""

    project_dir: Text = "."
    target_dir: Text | None = None
    namespace: Text = "spark"
    tags: tuple[TagKind, ...] = TAG_KINDS


class Check(_Section):
    """What `graft inject --check` forbids; see `injector.forbidden.violations`."""

    forbid: tuple[Rule, ...] = RULES
    accept: tuple[Text, ...] = ()


class SqlServer(_Section):
    """Extended Events of one SQL Server: files, a running session, or a table of them.

    `collectors.sqlserver.runs.folding.Rules` says what `task`, `noise` and `idle_minutes` do.
    """

    server: Annotated[str, AfterValidator(_server)]
    path: LogPath | None = None
    connection: Annotated[str, AfterValidator(_connection)] | None = None
    session: Text | None = None
    files: Text | None = None
    table: Text | None = None
    key: Text | None = None
    columns: dict[str, Text] = {}
    snapshot: Text | None = None
    task: TaskPattern = r"python_task::(?P<task>[^:]+)(::(?P<run>.+))?"
    noise: tuple[Annotated[str, AfterValidator(_pattern)], ...] = ()
    idle_minutes: Annotated[int, Field(ge=1, le=1440)] = 60

    @model_validator(mode="after")
    def _one_input(self) -> SqlServer:
        if bool(self.path) == bool(self.connection):
            raise ValueError("name the events' `path`, or a `connection` to the server")
        if self.connection and bool(self.table) == bool(self.session or self.files):
            raise ValueError("a `connection` reads a `session`, or a `table` with its `key`")
        if bool(self.table) != bool(self.key):
            raise ValueError("a `table` needs a `key`: the column that tells which rows are new")
        if self.path and (self.session or self.files or self.table):
            raise ValueError("`session`, `files` and `table` are read over a `connection`")
        return self


class Spark(_Section):
    """Spark event logs of one cluster; see `collectors.spark.log.files.SparkLogs`."""

    path: LogPath | None = None
    history_server: Annotated[str, AfterValidator(_history_server)] | None = None
    authorization: Annotated[str, AfterValidator(_variable)] | None = None
    task: TaskPattern = r"(?P<task>.+)"
    task_from: Annotated[
        tuple[Annotated[str, AfterValidator(_task_place)], ...],
        BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
        Field(min_length=1),
    ] = ("conf:spark.openlineage.appName", "app_name")
    namespace: Text = "spark"

    @model_validator(mode="after")
    def _one_input(self) -> Spark:
        if bool(self.path) == bool(self.history_server):
            raise ValueError("name the logs' `path`, or a `history_server` that gives them")
        if self.path and is_history_server(self.path):
            raise ValueError("name a History Server as `history_server`")
        if self.authorization and not self.history_server:
            raise ValueError("`authorization` is for a `history_server`")
        return self

    @property
    def place(self) -> str:
        """Where the logs are had from, as the file writes it."""
        return self.path or self.history_server or ""


class Declared(_Section):
    """Lineage that people declare, in files of `collectors.declared.document.Document`."""

    path: Text


class Source(_Section):
    """One entry of `collect`: exactly one kind of log."""

    sqlserver: SqlServer | None = None
    spark: Spark | None = None
    declared: Declared | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Source:
        if sum(kind is not None for kind in (self.sqlserver, self.spark, self.declared)) != 1:
            raise ValueError("name exactly one kind of log: sqlserver, spark or declared")
        return self


class Name(_Section):
    """A name rule; see `lineage.names.NameRule`."""

    source: Text = Field(alias="from")
    target: Text = Field(alias="to")

    @model_validator(mode="after")
    def _is_rule(self) -> Name:
        NameRule(self.source, self.target)
        return self


def _spark_settings(settings: dict[str, Any]) -> dict[str, str]:
    full = {"spark.master" if key == "master" else key: value for key, value in settings.items()}
    for key in full:
        if not key.startswith("spark."):
            raise ValueError(f"{key!r} is no Spark setting: they start with `spark.`")
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in full.items()
    }


class Lineage(_Section):
    """What counts as lineage; see `lineage.model.build`."""

    failed: bool = False


class Site(_Section):
    """The published site."""

    name: Text = "Data lineage"
    url: Annotated[str, AfterValidator(_site_url)] = ""
    out: FolderPath = "build/site"


class Docs(_Section):
    """The dbt docs page; see `injector.docs.Settings`."""

    slim: bool = True
    title: Text | None = None
    favicon: Text | None = None


class Config(_Section):
    """A whole `graft.yml`; relative paths start at its folder."""

    dbt: Dbt = Dbt()
    collect: tuple[Source, ...] = ()
    names: tuple[Name, ...] = ()
    tasks: dict[str, TaskEntry] = {}
    check: Check = Check()
    lineage: Lineage = Lineage()
    store: Text = ".graft/store"
    artifacts: FolderPath = ".graft/artifacts"
    spark: Annotated[dict[str, Any], AfterValidator(_spark_settings)] = {}
    site: Site = Site()
    docs: Docs = Docs()
    _folder: Path = PrivateAttr(default=Path())

    def path(self, text: str) -> str:
        """A path or URL of this file, made absolute."""
        return text if "://" in text else str((self._folder / text).resolve())

    @property
    def folder(self) -> Path:
        """Where the file lies."""
        return self._folder

    @property
    def target_dir(self) -> Path:
        """Where dbt writes `manifest.json` and `catalog.json`."""
        default = f"{self.dbt.project_dir}/target"
        return Path(self.path(self.dbt.target_dir or default))

    @property
    def name_rules(self) -> NameRules:
        """The rules of `names`, in order."""
        return NameRules(NameRule(name.source, name.target) for name in self.names)

    @property
    def task_infos(self) -> dict[str, TaskInfo]:
        """What `tasks` says, by task."""
        return {name: TaskInfo(**entry.model_dump()) for name, entry in self.tasks.items()}

    @property
    def task_code(self) -> dict[str, str]:
        """The Python files that `tasks` names and that lie here, by task."""
        found = {}
        for name, entry in self.tasks.items():
            path = self._folder / entry.path
            if entry.path.endswith(".py") and path.is_file() and path.stat().st_size <= _CODE:
                found[name] = path.read_text(encoding="utf-8", errors="replace")
        return found


def load(path: Path) -> Config:
    """Read and check a `graft.yml`.

    Raises:
        ConfigError: It is missing, no YAML, or not valid; all faults at once, each with its line.
    """
    if not path.exists():
        raise ConfigError(
            "there is no such file", place=str(path), remedy="run `graft init` to write one"
        )
    try:
        config = read_yaml(path, Config, "must hold keys such as `collect:` and `dbt:`")
    except GraftError as error:
        raise ConfigError(error.problem, place=error.place, remedy=error.remedy) from error
    config._folder = path.resolve().parent
    return config
