"""`graft.yml`: read and checked; every error has its line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PrivateAttr,
    WithJsonSchema,
    model_validator,
)

from dbt_graft.analysis.privacy.classification import Classification, classification
from dbt_graft.collectors.checked_yaml import Section, Text, read_yaml
from dbt_graft.collectors.public_address import public_address
from dbt_graft.collectors.spark.settings import is_history_server, is_task_source
from dbt_graft.collectors.task_entry import TaskEntry
from dbt_graft.exporters.openlineage.settings import ExportedKind, endpoint_url
from dbt_graft.graft.project import dbt_folders
from dbt_graft.graft.project.airflow_section import AirflowSection
from dbt_graft.graft.project.privacy_section import Label, PrivacySection
from dbt_graft.graft.project.sections import (
    ImpactSection,
    KeepSection,
    ReviewSection,
    RulesSection,
)
from dbt_graft.graft.project.variables import expand_path
from dbt_graft.injector.options import TAG_KINDS, TagKind
from dbt_graft.injector.selection import parse as parse_selection
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.names import NameRule, NameRules
from dbt_graft.lineage.openlineage import NAMESPACE
from dbt_graft.lineage.records import TaskInfo
from dbt_graft.lineage.redaction import has_secret
from dbt_graft.lineage.settings import OneNameRules

FILE_NAME = "graft.yml"
SCHEMA_URL = (
    "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/schemas/graft.schema.json"
)
_CODE = 1 << 18  # longest file in bytes that is shown as a task's code


class ConfigError(GraftError):
    """`graft.yml` is missing, is no YAML, or is not valid."""

    exit_code = 2


def _task_pattern(pattern: str) -> str:
    try:
        groups = re.compile(pattern).groupindex
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from error
    if "task" not in groups:
        raise ValueError("must name the task: (?P<task>…)")
    return pattern


def _pattern(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from error
    return pattern


def _connection(setting: str) -> str:
    if not re.fullmatch(r"(env|dsn):\S.*", setting):
        raise ValueError("write env:NAME or dsn:NAME: this file holds no secrets")
    return setting


def _timezone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{name!r} is no time zone: write one such as Europe/Berlin") from error
    return name


def _server(url: str) -> str:
    if not re.fullmatch(r"mssql://[^/@\s]+", url):
        raise ValueError("write mssql://<host>:<port>, without user and password")
    return url


def _path(path: str) -> str:
    if not path.isprintable():
        raise ValueError("write a path without control characters")
    if "{{" in path:
        raise ValueError("this file has no Jinja: write ${NAME} for an environment variable")
    expand_path(path)
    return path


def _log_path(path: str) -> str:
    """A path or URL of logs: the store keeps it with what it has of them."""
    address = expand_path(path)
    if "://" in address:
        parts = urlsplit(address)
        user, at, _ = parts.netloc.rpartition("@")
        if parts.password or has_secret(address.replace(f"{user}{at}", "", 1)):
            raise ValueError(
                "write no password, token or key into a URL: see docs/configuration.md for "
                "credentials"
            )
    return path


def _history_server(url: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#@]+[^\s?#@]*", url):
        raise ValueError("write http(s)://<host>:<port>, without user and password")
    return url


def _endpoint(url: str) -> str:
    return public_address(endpoint_url(expand_path(url)))


def _variable(setting: str) -> str:
    if not re.fullmatch(r"env:\S+", setting):
        raise ValueError("write env:NAME: this file holds no secrets")
    return setting


def _task_source(source: str) -> str:
    if not is_task_source(source):
        raise ValueError(
            "write app_name, job_group, job_description, call_site or conf:<a setting's key>"
        )
    return source


def _folder(path: str) -> str:
    if "://" in expand_path(path):
        raise ValueError("write a folder of this machine, and copy it from there")
    return path


def _site_url(url: str) -> str:
    if url and not re.fullmatch(r"https?://[^\s/?#@\"'<>\\`]+(/[^\s?#\"'<>\\`]*)?", url):
        raise ValueError("write the address of the published site: http(s)://<host>/<path>/")
    return url


def _command(text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"is no command: {error}") from error
    if not words:
        raise ValueError("name a program, such as .venv/bin/dbt")
    return text


PathText = Annotated[Text, AfterValidator(_path)]
LogPath = Annotated[PathText, AfterValidator(_log_path)]
FolderPath = Annotated[PathText, AfterValidator(_folder)]
TaskPattern = Annotated[str, AfterValidator(_task_pattern)]


class DbtSection(Section):
    """The folder of dbt's artifacts, the namespace of its relations, and the dbt that is run."""

    project_dir: FolderPath | None = None
    target_dir: FolderPath | None = None
    namespace: Text | None = None
    former_namespaces: tuple[Text, ...] | None = None
    tags: tuple[TagKind, ...] = TAG_KINDS
    command: Annotated[Text, AfterValidator(_command)] | None = None


class CheckSection(Section):
    """Names that `graft check` accepts, as in `injector.unwanted`, and DAGs that it compares."""

    accept: tuple[Text, ...] = ()
    dags: tuple[PathText, ...] = ()


class SqlServerEntry(Section):
    """Extended Events of one SQL Server: files, a running session, or a table of them.

    `collectors.sqlserver.runs.folding.RunRules` describes `task`, `noise`,
    `idle_minutes` and `timezone`.
    """

    server: Annotated[str, AfterValidator(_server)]
    path: LogPath | None = None
    connection: Annotated[str, AfterValidator(_connection)] | None = None
    session: Text | None = None
    files: Text | None = None
    table: Text | None = None
    key: Text | None = None
    columns: dict[str, Text] = Field(default={})
    snapshot: PathText | None = None
    task: TaskPattern = r"python_task::(?P<task>[^:]+)(::(?P<run>.+))?"
    noise: tuple[Annotated[str, AfterValidator(_pattern)], ...] = ()
    idle_minutes: Annotated[int, Field(ge=1, le=1440)] = 60
    timezone: Annotated[str, AfterValidator(_timezone)] | None = None

    @model_validator(mode="after")
    def _one_input(self) -> SqlServerEntry:
        if bool(self.path) == bool(self.connection):
            raise ValueError("name the events' `path`, or a `connection` to the server")
        if self.connection and bool(self.table) == bool(self.session or self.files):
            raise ValueError("a `connection` reads a `session`, or a `table` with its `key`")
        if bool(self.table) != bool(self.key):
            raise ValueError("a `table` needs a `key`: a column by which new rows are found")
        if self.path and (self.session or self.files or self.table):
            raise ValueError("`session`, `files` and `table` are read over a `connection`")
        return self


class SparkEntry(Section):
    """Spark event logs of one cluster; see `collectors.spark.log.files.SparkLogs`."""

    path: LogPath | None = None
    history_server: Annotated[str, AfterValidator(_history_server)] | None = None
    authorization: Annotated[str, AfterValidator(_variable)] | None = None
    task: TaskPattern = r"(?P<task>.+)"
    task_from: Annotated[
        tuple[Annotated[str, AfterValidator(_task_source)], ...],
        BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
        Field(min_length=1),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "string"},
                    {"type": "array", "items": {"type": "string"}, "minItems": 1},
                ]
            }
        ),
    ] = ("conf:spark.openlineage.appName", "app_name", "databricks")
    namespace: Text = "spark"

    @model_validator(mode="after")
    def _one_input(self) -> SparkEntry:
        if bool(self.path) == bool(self.history_server):
            raise ValueError("name the logs' `path`, or a `history_server`")
        if self.path and is_history_server(self.path):
            raise ValueError("name a History Server as `history_server`")
        if self.authorization and not self.history_server:
            raise ValueError("`authorization` needs a `history_server`")
        return self

    @property
    def place(self) -> str:
        """The path or URL of the logs, as the file writes it."""
        return self.path or self.history_server or ""


class DeclaredEntry(Section):
    """Lineage that people declare, in files of `collectors.declared.document.Document`."""

    path: PathText


class OpenLineageEntry(Section):
    """Events of OpenLineage, of Airflow and others; see `collectors.openlineage.files`."""

    path: LogPath
    task: TaskPattern | None = None
    timezone: Annotated[str, AfterValidator(_timezone)] | None = None


class DbtResultsEntry(Section):
    """Past results of dbt, beside those in its target folder; see `collectors.dbt.source`."""

    path: LogPath


class CollectEntry(Section):
    """One entry of `collect`: exactly one kind of log."""

    sqlserver: SqlServerEntry | None = None
    spark: SparkEntry | None = None
    declared: DeclaredEntry | None = None
    dbt: DbtResultsEntry | None = None
    openlineage: OpenLineageEntry | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> CollectEntry:
        kinds = (self.sqlserver, self.spark, self.declared, self.dbt, self.openlineage)
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError(
                "name exactly one kind of log: sqlserver, spark, openlineage, declared or dbt"
            )
        return self


class OpenLineageSection(Section):
    """Events for other tools; see `exporters.openlineage`.

    Attributes:
        critical: Tasks, dbt models and `tag:<tag>` whose events must arrive, whatever
            `on_failure` is.
    """

    url: Annotated[str, AfterValidator(_endpoint)] | None = None
    authorization: Annotated[str, AfterValidator(_variable)] | None = None
    namespace: Text = NAMESPACE
    events: Annotated[tuple[ExportedKind, ...], Field(min_length=1)] = tuple(ExportedKind)
    on_failure: Literal["warn", "fail"] = "warn"
    critical: tuple[Text, ...] = ()
    timeout: Annotated[int, Field(ge=1, le=600)] = 30
    outbox: FolderPath = ".graft/outbox.db"


class NameEntry(Section):
    """A name rule; see `lineage.names.NameRule`."""

    source: Text = Field(alias="from")
    target: Text = Field(alias="to")

    @model_validator(mode="after")
    def _is_rule(self) -> NameEntry:
        NameRule(self.source, self.target)
        public_address(self.target)
        return self


def _spark_settings(settings: dict[str, Any]) -> dict[str, str]:
    full = {"spark.master" if key == "master" else key: value for key, value in settings.items()}
    for key in full:
        if not key.startswith("spark."):
            raise ValueError(f"{key!r} is not a Spark setting: those start with `spark.`")
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in full.items()
    }


class LineageSection(Section):
    """The accesses and column edges that count as lineage; see `lineage.build.build`."""

    failed: bool = False
    infer_columns: bool = True
    date_shards: bool = True
    run_tables: bool = True
    pass_through_views: bool = True
    ignore_tasks: tuple[Text, ...] = ()


class DatesSection(Section):
    """The columns whose values are dates of data; see `lineage.date_columns.DateColumns`."""

    columns: tuple[Text, ...] = ()
    exclude: tuple[Text, ...] = ()


def _audience_name(name: str) -> str:
    if not re.fullmatch(r"\w[\w -]{0,59}", name):
        raise ValueError("name an audience with letters, digits, _ and -")
    return name


AudienceName = Annotated[Text, AfterValidator(_audience_name)]


class LabelsSection(Section):
    """Tags and owners in lists; see `catalog.label_rules.listed_labels`."""

    hide: tuple[Text, ...] = ()


def _check_sight(name: str, sees: str | None) -> None:
    if sees is None and classification(name) is None:
        raise ValueError(
            f"{name!r} is no classification: say what this audience may see, such as "
            "`sees: internal`"
        )


class AudienceEntry(Section):
    """A further site of the same build, for an audience; see `SiteSection`."""

    out: FolderPath
    url: Annotated[str, AfterValidator(_site_url)] = ""
    sees: Label | None = None
    unlabelled: Literal["show", "hide"] | None = None


class SiteSection(Section):
    """The published site.

    `data` puts the lineage as Parquet beside it, and what each page says as JSON beside the page.
    `impact`: the pages of tables say what changes reach; by default up to 2,000 tables.
    `audience`: who reads it; by default the team, which sees all. `sees`: the highest
    classification of data that they may see; by default that of the audience's name.
    `unlabelled`: whether they see what nobody classified; by default only where nobody labels
    anything.
    """

    name: Text = "Data lineage"
    url: Annotated[str, AfterValidator(_site_url)] = ""
    out: FolderPath = "build/site"
    labels: LabelsSection = LabelsSection()
    data: bool = False
    impact: bool | None = None
    audience: Text | None = None
    sees: Label | None = None
    unlabelled: Literal["show", "hide"] | None = None
    audiences: dict[AudienceName, AudienceEntry] = Field(default={})

    @model_validator(mode="after")
    def _audiences_see(self) -> SiteSection:
        if self.audience:
            _check_sight(self.audience, self.sees)
        elif self.sees or self.unlabelled:
            raise ValueError("`sees` and `unlabelled` are an audience's: name it as `audience`")
        for name, entry in self.audiences.items():
            _check_sight(name, entry.sees)
        return self

    @property
    def highest(self) -> Classification | None:
        """The highest classification that its readers may see; None where it is the team's."""
        return classification(self.sees or self.audience) if self.audience else None


def _page_name(name: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,59}", name):
        raise ValueError("name a page, which is its folder, with a-z, 0-9, _ and - only")
    if name in ("assets", "classic", "duckdb", "index"):
        raise ValueError("is a folder of dbt's own page: choose another name")
    return name


def _selection(text: str) -> str:
    parse_selection(text)
    return text


class DocsSection(Section):
    """The dbt docs page; see `injector.docs.DocsPageSettings`.

    `duckdb` is the folder with DuckDB-WASM for that of dbt 2.

    `pages` are smaller pages beside it, each with a selection of nodes; see `injector.selection`.
    """

    slim: bool = True
    columns: bool = True
    title: Text | None = None
    favicon: PathText | None = None
    duckdb: FolderPath | None = None
    pages: dict[
        Annotated[str, AfterValidator(_page_name)], Annotated[Text, AfterValidator(_selection)]
    ] = Field(default={})


class Config(Section):
    """A `graft.yml`; relative paths start at its folder."""

    dbt: DbtSection = DbtSection()
    collect: tuple[CollectEntry, ...] = ()
    names: tuple[NameEntry, ...] = ()
    tasks: dict[str, TaskEntry] = Field(default={})
    check: CheckSection = CheckSection()
    lineage: LineageSection = LineageSection()
    openlineage: OpenLineageSection = OpenLineageSection()
    store: PathText = ".graft/store"
    artifacts: FolderPath = ".graft/artifacts"
    spark: Annotated[dict[str, Any], AfterValidator(_spark_settings)] = Field(default={})
    site: SiteSection = SiteSection()
    docs: DocsSection = DocsSection()
    airflow: AirflowSection = AirflowSection()
    dates: DatesSection = DatesSection()
    impact: ImpactSection = ImpactSection()
    review: ReviewSection = ReviewSection()
    keep: KeepSection = KeepSection()
    privacy: PrivacySection = PrivacySection()
    rules: RulesSection = RulesSection()
    contracts: tuple[PathText, ...] = ()
    _folder: Path = PrivateAttr(default=Path())

    def path(self, text: str) -> str:
        """A path or URL of this file: its variables and `~` filled in, and made absolute."""
        text = expand_path(text)
        return text if "://" in text else str((self._folder / text).resolve())

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return self._folder

    @property
    def project_dir(self) -> Path:
        """The folder of the dbt project."""
        return Path(self.path(dbt_folders.project_dir(self.dbt.project_dir)))

    @property
    def target_dir(self) -> Path:
        """The folder of dbt's `manifest.json` and `catalog.json`."""
        written = self.dbt.target_dir
        return Path(self.path(written)) if written else dbt_folders.target_dir(self.project_dir)

    @property
    def duckdb(self) -> Path | None:
        """The folder with DuckDB-WASM for dbt 2's docs page."""
        return Path(self.path(self.docs.duckdb)) if self.docs.duckdb else None

    @property
    def former_namespaces(self) -> tuple[str, ...]:
        """Former namespaces of dbt's relations; `spark` was once that of all adapters."""
        section = self.dbt
        if section.former_namespaces is None:
            return () if section.namespace else ("spark",)
        return section.former_namespaces

    @property
    def name_rules(self) -> NameRules:
        """The rules of `names`, in order."""
        return NameRules(NameRule(name.source, name.target) for name in self.names)

    @property
    def date_columns(self) -> DateColumns:
        """The rules of `dates`."""
        return DateColumns(self.dates.columns, self.dates.exclude)

    @property
    def one_name(self) -> OneNameRules:
        """The names in logs that are names of another dataset."""
        section = self.lineage
        return OneNameRules(section.date_shards, section.run_tables, section.pass_through_views)

    @property
    def task_infos(self) -> dict[str, TaskInfo]:
        """Task -> its entry in `tasks`."""
        return {name: entry.info() for name, entry in self.tasks.items()}

    def task_code(self, warn: Callable[[str], None]) -> dict[str, str]:
        """Task -> the content of its Python file, if `path` in `tasks` names one.

        Args:
            warn: Called with a message about a file that cannot be read.
        """
        code_by_task = {}
        for name, entry in self.tasks.items():
            try:
                path = Path(self.path(entry.path))
                if entry.path.endswith(".py") and path.is_file() and path.stat().st_size <= _CODE:
                    code_by_task[name] = path.read_text(encoding="utf-8", errors="replace")
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or error
                warn(f"{entry.path}: the code of {name} cannot be read: {reason}")
        return code_by_task


def json_schema() -> dict[str, Any]:
    """The JSON schema of `graft.yml`, for editors."""
    schema = Config.model_json_schema(by_alias=True)
    for section in (schema, *schema["$defs"].values()):
        for name, key in section.get("properties", {}).items():
            if name not in section.get("required", ()):  # without a value it has its default
                section["properties"][name] = {"anyOf": [key, {"type": "null"}]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_URL, **schema}


def find(start: Path) -> Path:
    """The `graft.yml` of a folder or of the nearest one above it, within its repository.

    Returns:
        Its path; that in `start` if there is none.
    """
    folder = start.absolute()
    for parent in (folder, *folder.parents):
        if (parent / FILE_NAME).exists():
            return start / FILE_NAME if parent == folder else parent / FILE_NAME
        if (parent / ".git").exists() or parent == Path.home():
            break
    return start / FILE_NAME


def load(path: Path) -> Config:
    """Read and check a `graft.yml`.

    Raises:
        ConfigError: It is missing, no YAML, or not valid; all errors at once, each with its line.
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
