"""`graft init`: a commented `graft.yml` beside a dbt project."""

from __future__ import annotations

from pathlib import Path

import yaml

from dbt_graft.graft.project import dbt_folders
from dbt_graft.graft.project.config import FILE_NAME, SCHEMA_URL
from dbt_graft.lineage.errors import GraftError

_TEMPLATE = """\
# yaml-language-server: $schema={schema}
# Configuration of dbt-graft. Relative paths start at the folder of this file.
# `graft build` runs collect, inject and site. All keys: docs/configuration.md

dbt:
  # project_dir: .          # dbt's project; reads {target}/manifest.json, catalog.json and index/:
                            # run `dbt docs generate` first, or `graft build --dbt`
  # target_dir: target      # where they lie, if dbt_project.yml and DBT_TARGET_PATH do not say so
  # namespace: duckdb://shop.duckdb # of dbt's relations; by default from its adapter and profile

# Log sources. Adapt the entries that you need and delete the others.
collect:
  # Spark event logs (spark.eventLog.enabled=true): a folder, or a URL that Spark can read.
  # By default a task is named by its application: spark.app.name.
  - spark: {{path: logs/spark-events/}}
  # - spark: {{history_server: "http://history:18080"}} # if their folder cannot be read

  # SQL Server Extended Events of the session that `graft logs sqlserver-session` prints.
  # Name the task in the connection string of its script: APP=python_task::load_orders
  # - sqlserver:
  #     server: mssql://sql01:1433
  #     path: logs/xe/                # .xel files, or exports as XML, CSV or NDJSON
  #     # connection: env:GRAFT_MSSQL # instead of `path`: the variable with an ODBC connection
  #     # session: lineage
  #     # snapshot: snapshot.json     # written by `graft logs sqlserver-snapshot`

  # Events of OpenLineage, of Airflow and others: docs/logs.md
  # - openlineage: {{path: logs/openlineage/}}

  # Lineage that no log shows, declared in YAML: docs/declared.md
  # - declared: {{path: lineage/*.yml}}

  # Past results of dbt, beside those in its target folder: docs/logs.md
  # - dbt: {{path: runs/}}

# Name rules for datasets with several names; the first match is used.
# `*` matches text that `to` repeats, `**` text that it drops.
names: []
  # - {{from: "mssql://sql01:1433/ShopDW.dbo.*", to: "dbt/raw.*"}}

# Descriptions of tasks, shown in the docs.
tasks: {{}}
  # load_orders:
  #   owner: data-platform
  #   repo: https://git.example.com/data/load-orders
  #   runbook: https://wiki.example.com/load-orders
  #   tags: [daily]
  #   schedule: "0 5 * * *"
  #   rerun: airflow dags trigger load_orders

store: .graft/store         # the lineage collected so far; preserve it between builds
artifacts: .graft/artifacts # the grafted manifest.json and catalog.json
spark: {{master: "local[*]"}} # any spark.* setting for `graft collect`

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


def write_config(folder: Path, *, force: bool = False) -> Path:
    """Write a `graft.yml` for the dbt project in a folder.

    Raises:
        GraftError: There is no dbt project, or a `graft.yml` exists.
    """
    project = folder / dbt_folders.PROJECT_FILE
    if not project.is_file():
        raise GraftError(
            "does not exist: graft.yml belongs beside a dbt project",
            place=str(project),
            remedy="run `graft init` in the project's folder, or `graft init FOLDER`",
        )
    path = folder / FILE_NAME
    if path.exists() and not force:
        raise GraftError("already exists", place=str(path), remedy="overwrite it with --force")
    settings = dbt_folders.read_project(project)
    name = str(settings.get("name", folder.resolve().name))
    target = dbt_folders.target_path(settings) or "target"
    title = yaml.safe_dump(f"{name} lineage", allow_unicode=True).splitlines()[0]
    text = _TEMPLATE.format(name=title, target=target, schema=SCHEMA_URL)
    path.write_text(text, encoding="utf-8")
    return path
