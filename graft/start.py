"""`graft init`: a commented `graft.yml` beside a dbt project."""

from __future__ import annotations

from pathlib import Path

import yaml

from dbt_graft.graft.config import FILE_NAME
from dbt_graft.lineage.errors import GraftError

_TEMPLATE = """\
# dbt-graft: where the logs are, what to call things, where the site goes.
# Relative paths start at this file. `graft build` does the whole road.

dbt:
  project_dir: .            # reads {target}/manifest.json and catalog.json;
                            # run `dbt docs generate` first, or `graft build --dbt`
  # target_dir: target      # where dbt writes them, if elsewhere
  # namespace: spark        # the dataset namespace of dbt's relations

# The logs that engines keep. One entry a source; keep those you have.
collect:
  # Spark event logs (spark.eventLog.enabled=true): a folder, or a URL that Spark can read.
  # The task is the application's name.
  - spark: {{path: logs/spark-events/}}
  # - spark: {{history_server: "http://history:18080"}} # where their folder cannot be read

  # SQL Server Extended Events; `graft sqlserver session` prints the session to create. The client
  # names its task in the connection string: APP=python_task::load_orders
  # - sqlserver:
  #     server: mssql://sql01:1433
  #     path: logs/xe/                # .xel files, or exports as XML, CSV, NDJSON
  #     # connection: env:GRAFT_MSSQL # or the server itself, by an ODBC connection string
  #     # session: lineage
  #     # snapshot: snapshot.json     # what `graft sqlserver snapshot` wrote

  # What no log sees, as reviewed YAML: docs/declared-lineage.md
  # - declared: {{path: lineage/*.yml}}

# One dataset, several names: the first rule that matches decides; * keeps, ** drops.
names: []
  # - {{from: "mssql://sql01:1433/ShopDW.dbo.*", to: "spark/raw.*"}}

# What no log knows of a task.
tasks: {{}}
  # load_orders:
  #   owner: data-platform
  #   repo: https://git.example.com/data/load-orders
  #   runbook: https://wiki.example.com/load-orders
  #   tags: [daily]
  #   schedule: "0 5 * * *"

store: .graft/store         # the lineage read so far; keep it between builds
artifacts: .graft/artifacts # the grafted manifest.json and catalog.json
spark: {{master: "local[*]"}} # any spark.* setting of the collecting job

site:
  name: {name}
  out: build/site
"""


def write_config(folder: Path, *, force: bool = False) -> Path:
    """Write a `graft.yml` that fits the dbt project in a folder.

    Raises:
        GraftError: There is no dbt project, or there is a `graft.yml` already.
    """
    project = folder / "dbt_project.yml"
    if not project.is_file():
        raise GraftError(
            "is not there: graft.yml belongs beside a dbt project",
            place=str(project),
            remedy="run `graft init` in the project's folder, or name it: graft init DIR",
        )
    path = folder / FILE_NAME
    if path.exists() and not force:
        raise GraftError("is there already", place=str(path), remedy="say --force to replace it")
    try:
        settings = yaml.safe_load(project.read_text(encoding="utf-8")) or {}
        name = str(settings.get("name", folder.resolve().name))
        target = str(settings.get("target-path", "target"))
    except (yaml.YAMLError, UnicodeDecodeError, AttributeError) as error:
        raise GraftError(f"cannot be read: {error}", place=str(project)) from error
    title = yaml.safe_dump(f"{name} lineage", allow_unicode=True).splitlines()[0]
    path.write_text(_TEMPLATE.format(name=title, target=target), encoding="utf-8")
    return path
