"""`graft.yml`: read and checked; every error has its line."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import asdict, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from dbt_graft.collectors.public_address import public_address
from dbt_graft.collectors.task_entry import TaskEntry
from dbt_graft.exporters.openlineage.settings import ExportedKind, endpoint_url
from dbt_graft.graft.project import dbt_folders
from dbt_graft.graft.project.collect_section import CollectEntry, PythonEntry, check_twice
from dbt_graft.graft.project.config_cache import DEFAULT_ARTIFACTS, config_cache
from dbt_graft.graft.project.privacy_section import PrivacySection
from dbt_graft.graft.project.sections import (
    AirflowSection,
    DocsSection,
    ImpactSection,
    KeepSection,
    ReviewSection,
    RulesSection,
    SiteSection,
)
from dbt_graft.graft.project.texts import FolderPath, PathText, Variable, expand_path
from dbt_graft.injector.options import TAG_KINDS, TagKind
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.names import NameRule, NameRules
from dbt_graft.lineage.openlineage import NAMESPACE
from dbt_graft.lineage.records import TaskInfo
from dbt_graft.lineage.redaction import redact_code
from dbt_graft.lineage.section import Checked, Limits, Section, Text
from dbt_graft.lineage.settings import OneNameRules

FILE_NAME = "graft.yml"
SCHEMA_URL = (
    "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/schemas/graft.schema.json"
)
# https://spark.apache.org/docs/latest/submitting-applications.html#master-urls
_MASTER = re.compile(r"local(-cluster)?(\[.*\])?|yarn|[\w+.-]+://.+|.*\$\{.*")
# As Spark's `spark.redaction.regex`, and more.
_SECRET = re.compile(r"secret|passw|token|credential|access.?key", re.IGNORECASE)
_CODE = 1 << 18  # longest file in bytes that is shown as a task's code
Engine = Literal["spark", "local"]


class ConfigError(GraftError):
    """`graft.yml` is missing, is no YAML, or is not valid."""

    exit_code = 2


def _endpoint(url: str) -> str:
    return public_address(endpoint_url(expand_path(url)))


def _command(text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"is not a command: {error}") from error
    if not words:
        raise ValueError("name a program, such as .venv/bin/dbt")
    return text


@frozen
class DbtSection(Section):
    """The folder of dbt's artifacts, the namespace of its relations, and the dbt that is run."""

    project_dir: FolderPath | None = None
    target_dir: FolderPath | None = None
    namespace: Text | None = None
    former_namespaces: tuple[Text, ...] = ()
    tags: tuple[TagKind, ...] = TAG_KINDS
    command: Annotated[Text, Checked(_command)] | None = None


@frozen
class CheckSection(Section):
    """Names that `graft check` accepts, as in `injector.unwanted`, and DAGs that it compares."""

    accept: tuple[Text, ...] = ()
    dags: tuple[PathText, ...] = ()


@frozen
class OpenLineageSection(Section):
    """Events for other tools; see `exporters.openlineage`.

    Attributes:
        critical: Tasks, dbt models and `tag:<tag>` whose events must arrive, whatever
            `on_failure` is.
    """

    url: Annotated[str, Checked(_endpoint)] | None = None
    authorization: Variable | None = None
    namespace: Text = NAMESPACE
    events: Annotated[tuple[ExportedKind, ...], Limits(min_length=1)] = tuple(ExportedKind)
    on_failure: Literal["warn", "fail"] = "warn"
    critical: tuple[Text, ...] = ()
    timeout: Annotated[int, Limits(ge=1, le=600)] = 30
    outbox: FolderPath = ".graft/outbox.db"


@frozen
class NameEntry(Section):
    """A name rule; see `lineage.names.NameRule`."""

    source: Text = field(metadata={"key": "from"})
    target: Text = field(metadata={"key": "to"})

    def __post_init__(self) -> None:
        NameRule(self.source, self.target)
        public_address(self.target)


def _spark_settings(settings: dict[str, Any]) -> dict[str, str]:
    full = {"spark.master" if key == "master" else key: value for key, value in settings.items()}
    for key in full:
        if not key.startswith("spark."):
            raise ValueError(f"{key!r} is not a Spark setting: those start with `spark.`")
    if not _MASTER.fullmatch(str(full.get("spark.master", "local"))):
        raise ValueError(
            f"{full['spark.master']!r} is not a master of Spark: write local[2], yarn, "
            "spark://host:7077 or k8s://https://host"
        )
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in full.items()
    }


@frozen
class CodedTask(TaskEntry):
    """A task, and its script where that is not at `path`."""

    code: PathText | None = None


@frozen
class LineageSection(Section):
    """The accesses and column edges that count as lineage; see `lineage.build.build`."""

    failed: bool = False
    infer_columns: bool = True
    date_shards: bool = True
    run_tables: bool = True
    pass_through_views: bool = True
    ignore_tasks: tuple[Text, ...] = ()


@frozen
class DatesSection(Section):
    """The columns whose values are dates of data; see `lineage.date_columns.DateColumns`."""

    columns: tuple[Text, ...] = ()
    exclude: tuple[Text, ...] = ()


@frozen
class ConfigFile(Section):
    """The keys of a `graft.yml`."""

    dbt: DbtSection = field(default_factory=DbtSection)
    collect_entries: Annotated[tuple[CollectEntry, ...], Checked(check_twice)] = field(
        default=(), metadata={"key": "collect"}
    )
    names: tuple[NameEntry, ...] = ()
    tasks: dict[str, CodedTask] = field(default_factory=dict)
    check: CheckSection = field(default_factory=CheckSection)
    lineage: LineageSection = field(default_factory=LineageSection)
    openlineage: OpenLineageSection = field(default_factory=OpenLineageSection)
    store: PathText = ".graft/store"
    artifacts: FolderPath = DEFAULT_ARTIFACTS
    engine: Engine | None = None
    spark: Annotated[dict[str, Any], Checked(_spark_settings)] = field(default_factory=dict)
    site: SiteSection = field(default_factory=SiteSection)
    docs: DocsSection = field(default_factory=DocsSection)
    airflow: AirflowSection = field(default_factory=AirflowSection)
    dates: DatesSection = field(default_factory=DatesSection)
    impact: ImpactSection = field(default_factory=ImpactSection)
    review: ReviewSection = field(default_factory=ReviewSection)
    keep: KeepSection = field(default_factory=KeepSection)
    privacy: PrivacySection = field(default_factory=PrivacySection)
    rules: RulesSection = field(default_factory=RulesSection)
    contracts: tuple[PathText, ...] = ()


@frozen
class Config(ConfigFile):
    """A `graft.yml`; relative paths start at its folder."""

    folder: Path = Path()

    def path(self, text: str) -> str:
        """A path or URL of this file: its variables and `~` filled in, and made absolute."""
        text = expand_path(text)
        return text if "://" in text else (self.folder / text).resolve().as_posix()

    @property
    def collect(self) -> tuple[CollectEntry, ...]:
        """The logs."""
        return tuple(entry for entry in self.collect_entries if entry.python is None)

    @property
    def python_code(self) -> tuple[PythonEntry, ...]:
        """The places of the code of tasks."""
        return tuple(entry.python for entry in self.collect_entries if entry.python)

    @property
    def project_dir(self) -> Path:
        """The folder of the dbt project."""
        return Path(self.path(dbt_folders.project_dir(self.dbt.project_dir)))

    @property
    def target_dir(self) -> Path:
        """The folder of dbt's `manifest.json` and `catalog.json`."""
        written = self.dbt.target_dir
        return Path(self.path(written)) if written else dbt_folders.target_dir(self.project_dir)

    def for_audiences(self) -> Iterator[Config]:
        """The configuration of each site of `site.audiences`."""
        for name, entry in self.site.audiences.items():
            own = {field.name: getattr(entry, field.name) for field in fields(entry)}
            site = replace(self.site, **own, audience=name, audiences={})
            yield replace(self, site=site)

    @property
    def reads_on_spark(self) -> bool:
        """Whether logs are read on Spark: where the file says so, or Spark can be had."""
        # Who writes settings of Spark wants Spark, and gets its errors.
        if self.engine or self.spark:
            return self.engine != "local"
        from dbt_graft.collectors.engines.session import missing_for_spark  # few ask

        return not missing_for_spark()

    @property
    def duckdb(self) -> Path | None:
        """The folder with DuckDB-WASM for dbt 2's docs page."""
        return Path(self.path(self.docs.duckdb)) if self.docs.duckdb else None

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

    def published_code(self, warn: Callable[[str], None]) -> dict[str, str]:
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
    from dbt_graft.collectors.checked_yaml import json_schema as schema_of

    schema = schema_of(ConfigFile)
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
        below = dbt_folders.files_below(path.parent, FILE_NAME)
        raise ConfigError(
            "there is no such file",
            place=str(path),
            remedy=f"name the one below by `-c {shlex.quote(str(below[0]))}`"
            if below
            else "run `graft init` to write one",
        )
    cache = config_cache(path)
    file = cache.read() if cache else None
    is_known = isinstance(file, ConfigFile)
    if not is_known:
        file = _read(path)
    keys = {field.name: getattr(file, field.name) for field in fields(ConfigFile)}
    config = Config(**keys, folder=path.resolve().parent)
    if cache and not is_known and not _has_secret(config):
        cache.write(file, config.path(config.artifacts))
    return config


def _has_secret(config: Config) -> bool:
    """Whether what people write freely, for Spark and Airflow, may have a secret."""
    text = json.dumps([config.spark, asdict(config.airflow)], default=str)
    return _SECRET.search(text) is not None or redact_code(text) != text


def _read(path: Path) -> ConfigFile:
    from dbt_graft.collectors.checked_yaml import read_yaml  # the checks; pydantic with them

    try:
        return read_yaml(path, ConfigFile, "must hold keys such as `collect:` and `dbt:`")
    except GraftError as error:
        raise ConfigError(error.problem, place=error.place, remedy=error.remedy) from error
