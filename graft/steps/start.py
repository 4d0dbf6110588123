"""`graft init`: a `graft.yml` beside a dbt project, with what lies there."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterator
from pathlib import Path

import yaml

from dbt_graft.graft.project import dbt_folders
from dbt_graft.graft.project.config import FILE_NAME, SCHEMA_URL
from dbt_graft.injector.platform import platform, read_connection
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.openlineage import REPOSITORY

_TEMPLATE = """\
# yaml-language-server: $schema={schema}
# Configuration of dbt-graft. Relative paths start at the folder of this file.
# `graft build` runs collect, inject and site. All keys: docs/configuration.md
# docs/ is {repository}/tree/main/docs

dbt:
  # project_dir: .          # dbt's project; reads {target}/manifest.json, catalog.json and index/:
                            # run `dbt docs generate` first, or `graft build --dbt`
  # target_dir: target      # where they lie, if dbt_project.yml and DBT_TARGET_PATH do not say so
  # namespace: {namespace} # of dbt's relations; by default from its adapter and profile

# Log sources: those that lie in this folder. docs/logs.md says how engines write theirs.
collect:{found}
  # Event logs of Spark (spark.eventLog.enabled=true): a folder or a URL.
  # By default a task is named by its application: spark.app.name.
  # - spark: {{path: logs/spark-events/}}
  # - spark: {{history_server: "http://history:18080"}} # if their folder cannot be read

  # SQL Server Extended Events of the session that `graft logs sqlserver-session` prints.
  # Name the task in the connection string of its script: APP=python_task::load_orders
  # - sqlserver:
  #     server: mssql://sql01:1433
  #     path: logs/xe/                # .xel files, or exports as XML, CSV or NDJSON
  #     # connection: env:GRAFT_MSSQL # instead of `path`: the variable with an ODBC connection
  #     # session: py_lineage
  #     # snapshot: snapshot.json     # written by `graft logs sqlserver-snapshot`

  # Events of OpenLineage, of Airflow and others: docs/logs.md
  # - openlineage: {{path: logs/openlineage/}}

  # Lineage that no log shows, declared in YAML: docs/declared.md
  # - declared: {{path: lineage/*.yml}}

  # Past results of dbt, beside those in its target folder: docs/logs.md
  # - dbt: {{path: runs/}}

  # The code of tasks, for what becomes of columns between SELECT and INSERT: docs/python-code.md
  # - python: {{path: tasks/}}

# Name rules for datasets with several names; the first match is used.
# `*` matches text that `to` repeats, `**` text that it drops.
# names:
#   - {{from: "mssql://sql01:1433/ShopDW.dbo.*", to: "dbt/raw.*"}}

# Descriptions of tasks, shown in the docs.
# tasks:
#   load_orders:
#     owner: data-platform
#     repo: https://git.example.com/data/load-orders
#     runbook: https://wiki.example.com/load-orders
#     tags: [daily]
#     schedule: "0 5 * * *"
#     rerun: airflow dags trigger load_orders

store: .graft/store         # the lineage collected so far; preserve it between builds
artifacts: .graft/artifacts # the grafted manifest.json and catalog.json
# spark: {{master: "local[*]"}} # any spark.* setting, where Spark is to read the logs

site:
  name: {name}
  out: build/site
  # labels: {{hide: ["task:*"]}} # tags and owners that lists and the home page leave out

# DAGs of Airflow in the order of the lineage: `graft export dag-factory`, docs/airflow.md
# airflow:
#   commands:
#     - {{engine: dbt, command: "cd $REPOS/shop && dbt build --select {{models}}"}}
#     - {{command: "cd $REPOS/tasks && .venv/bin/python {{path}}"}}
"""
_DEPTH, _MOST, _HEAD = 5, 20_000, 4_096
# https://spark.apache.org/docs/latest/monitoring.html#applying-compaction-on-rolling-event-log-files
_SPARK_FOLDER = "eventlog_v2_"
# By the id of an application, or as Databricks delivers them: `eventlog-2026-10-01--06-00.gz`.
_SPARK_FILE = re.compile(
    r"(local-\d{10,}|app-\d{14}-\d+|application_\d+_\d+)(_\d+)?(\.\w+)*"
    r"|(\w+_)?eventlog(-[\d-]+)?(\.\w+)?"
)
_SPARK_HEAD = re.compile(rb'\s*\{"Event":"SparkListener')
# The event's own schema may stand at its end, kilobytes behind those of its facets.
_EVENT_KEYS = (b'"eventTime"', b'schemaURL"')
_YAML = (".yml", ".yaml")
_EXPORTS = (".json", ".jsonl", ".ndjson", ".xml", ".csv")
# An element, a column's or a key's name of each form of exported Extended Events.
_EXPORT_WORD = b"client_app_name"
_DECLARED = re.compile(r"^version: *1\s*$.*^(tasks|consumers|datasets):", re.MULTILINE | re.DOTALL)


@frozen
class WrittenConfig:
    """A `graft.yml` that was written, and what lay there.

    Attributes:
        has_manifest: dbt has written its artifacts.
    """

    path: Path
    logs: _SeenLogs
    has_manifest: bool

    @property
    def next_step(self) -> str:
        """The command that comes next, or what is missing before it."""
        build = "`graft build`"
        if not self.has_manifest:
            build = "`graft build --dbt`, which runs `dbt docs generate` first"
        if not any((self.logs.spark, self.logs.xel, self.logs.openlineage, self.logs.declared)):
            return (
                f"next: name your logs under `collect`, then {build}; without any it shows "
                "dbt's own lineage"
            )
        return f"next: {build}"


def write_config(folder: Path, *, force: bool = False) -> WrittenConfig:
    """Write a `graft.yml` for the dbt project in a folder.

    Raises:
        GraftError: There is no dbt project, or a `graft.yml` exists.
    """
    project = folder / dbt_folders.PROJECT_FILE
    if not project.is_file():
        below = [str(file.parent) for file in dbt_folders.files_below(folder, project.name)]
        raise GraftError(
            "does not exist: graft.yml belongs beside a dbt project",
            place=str(project),
            remedy=f"run `graft init {shlex.quote(below[0])}`"
            if below
            else "run `graft init` in the project's folder, or `graft init FOLDER`",
        )
    path = folder / FILE_NAME
    if path.exists() and not force:
        raise GraftError("already exists", place=str(path), remedy="overwrite it with --force")
    settings = dbt_folders.read_project(project)
    name = str(settings.get("name", folder.resolve().name))
    target = dbt_folders.target_path(settings) or "target"
    logs = _see_logs(folder)
    connection = read_connection(folder, os.environ)
    adapter = connection.get("type")
    text = _TEMPLATE.format(
        name=_quote(f"{name} lineage"),
        target=target,
        schema=SCHEMA_URL,
        repository=REPOSITORY,
        found=_entries(logs),
        namespace=platform(adapter, connection).namespace if adapter else "duckdb://shop.duckdb",
    )
    path.write_text(text, encoding="utf-8")
    return WrittenConfig(path, logs, (dbt_folders.target_dir(folder) / "manifest.json").exists())


def _entries(logs: _SeenLogs) -> str:
    """The entries of `collect`, each in a line; an empty list without any."""
    lines = [f"- spark: {{path: {_quote(place)}}}" for place in logs.spark]
    lines += [
        f'- sqlserver: {{path: {_quote(place)}, server: "mssql://localhost:1433"}} '
        "# correct `server`: the one that wrote them"
        for place in logs.xel
    ]
    lines += [f"- openlineage: {{path: {_quote(place)}}}" for place in logs.openlineage]
    lines += [f"- declared: {{path: {_quote(place)}}}" for place in logs.declared]
    return "".join(f"\n  {line}" for line in lines) if lines else " []"


def _quote(text: str) -> str:
    """A text as a value in YAML's flow style, in which brackets and commas are signs."""
    listed: str = yaml.safe_dump(
        [text], default_flow_style=True, allow_unicode=True, width=float("inf")
    )
    return listed.strip().removeprefix("[").removesuffix("]")


@frozen
class _SeenLogs:
    """Folders with logs, relative to the one that was looked at, sorted; none is in another.

    A folder ends in `/`. In the folder itself, which holds what is no log, it is the files.

    Attributes:
        spark: With event logs of Spark.
        xel: With files of Extended Events, or exports of them.
        openlineage: With events of OpenLineage.
        declared: With files of declared lineage; the files where other YAML lies beside them.
    """

    spark: tuple[str, ...] = ()
    xel: tuple[str, ...] = ()
    openlineage: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()


def _see_logs(folder: Path) -> _SeenLogs:
    """Look for logs in a folder and those below it, as far as a person would."""
    places: dict[str, set[str]] = {"spark": set(), "xel": set(), "openlineage": set()}
    places["declared"] = set()
    for path in _files(folder):
        if kind := _kind(path):
            place = path.parent
            if place.name.startswith(_SPARK_FOLDER) and place.parent != folder:
                place = place.parent
            # A folder stands for all YAML in it, which may be dbt's, or this configuration.
            mixed = kind == "declared" and not all(map(_is_declared, place.rglob("*.y*ml")))
            place = path if mixed or place == folder else place
            places[kind].add(place.relative_to(folder).as_posix() + "/" * place.is_dir())
    return _SeenLogs(**{kind: _outermost(folders) for kind, folders in places.items()})


def _files(folder: Path) -> Iterator[Path]:
    seen = 0
    for parent, folders, files in os.walk(folder):
        depth = len(Path(parent).relative_to(folder).parts)
        folders[:] = sorted(
            name
            for name in folders
            if depth < _DEPTH and name not in dbt_folders.SKIPPED and not name.startswith(".")
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
    if suffix in _EXPORTS or not suffix:
        head = _head(path)
        if _EXPORT_WORD in head:
            return "xel"
        if _SPARK_HEAD.match(head):
            return "spark"
        if all(key in head for key in _EVENT_KEYS):
            return "openlineage"
    elif suffix in _YAML and _is_declared(path):
        return "declared"
    return ""


def _is_declared(path: Path) -> bool:
    return bool(_DECLARED.search(_head(path).decode("utf-8", "replace")))


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
        if not any(f"{other}/" in folders for other in Path(folder).parents)
    )
