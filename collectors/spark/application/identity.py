"""Owner of an application: a team's task, dbt, or unknown.

dbt's applications are no tasks: dbt's artifacts have more about them. What they show of columns is
compared with dbt's SQL. They are recognised by what a dbt-spark session writes into its log
(dbt-spark 1.11 on Spark 4.3):

- results are fetched at `…/dbt/adapters/spark/session.py`, which is the call site in the
  description of the executions that do so (each invocation fetches the list of schemas);
- incremental models and snapshots go through views and tables named `…__dbt_tmp`;
- the application's name is `spark.app.name` in `server_side_parameters`; a name that is `dbt`, or
  starts with that word, means dbt.

Without `spark.app.name` a session is called `pyspark-shell`, as is every Python script on Spark
without a name. Such names, and those of servers that many users share, are no names of tasks. A
script is the task of its main file, where the log has that (`log.main_file`); other logs are
rejects that say what to set. Work at a prompt has no name to set: it is the task of the command
that starts the prompt (`shell_task`), unless another place has a name.

Names of tasks on Databricks, where every application is called `Databricks Shell`.

| who works | where its log has the name | name |
|---|---|---|
| a job on its own cluster | the cluster's tag `RunName` | the job's: `load orders` |
| | the cluster's name, `job-703-run-31144` | `job-703` |
| a notebook | properties of Spark's jobs | its path below the user or commit: `etl/load` |
| a job on a cluster of many | properties of Spark's jobs | `job-703` |

A job's cluster does nothing else, so all that ran there is one task, statements without a Spark job
too (`DROP TABLE`). On other clusters only the jobs have a name. Logs from there have no end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import orjson

from dbt_graft.collectors.run_suffix import cut_run_suffix, is_run_id

NAME = "Databricks Shell"
_TAGS = "spark.databricks.clusterUsageTags."
_JOB_CLUSTER = re.compile(r"(?P<job>job-\d{1,20})-run-\d{1,20}.*")
# `/Users/jane@shop.com/etl/load`, `/Workspace/Repos/jane@shop.com/shop/etl/load`; of a job whose
# code is in git, `/Repos/.internal/f82fad67e9_commits/0ac35f4ddb497eb7dceb0a5a60c44c7641/etl/load`.
_USER_FOLDER = re.compile(
    r"(?:/Workspace)?(?:/Repos/\.internal(?:/\w+_commits|/[0-9a-f]{7,64}(?=/))*"
    r"|/(?:Users|Repos)/[^/]+)?/"
)


def cluster_job(settings: Mapping[str, str]) -> str:
    """Return the job that a cluster was made for; empty for a cluster of many."""
    cluster = _JOB_CLUSTER.fullmatch(settings.get(f"{_TAGS}clusterName", ""))
    if cluster is None:
        return ""
    return _tags(settings.get(f"{_TAGS}clusterAllTags", "")).get("RunName") or cluster["job"]


def notebook_or_job(properties: Mapping[str, str]) -> str:
    """Return the notebook or job that started a job of Spark, by its properties; else empty."""
    if path := properties.get("spark.databricks.notebook.path"):
        return _USER_FOLDER.sub("", path, count=1)
    job = properties.get("spark.databricks.job.id") or ""
    return f"job-{job}" if job.isdigit() else ""


def _tags(text: str) -> dict[str, str]:
    """The tags of a cluster; none where they are redacted."""
    try:
        return {tag["key"]: str(tag["value"]) for tag in orjson.loads(text)}
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return {}


_DBT_NAME = re.compile(r"dbt(?![A-Za-z0-9_]).*", re.IGNORECASE | re.DOTALL)
_DBT_CALL_SITE = re.compile(r"[/\\]dbt[/\\]adapters[/\\]")
_DBT_RELATION = re.compile(r"\w__dbt_(?:tmp|backup)\b")

_SHARED_NAME = re.compile(
    r"pyspark-shell|PySparkShell|Spark shell|SparkR|SparkSQL::.*|Thrift JDBC/ODBC Server"
    r"|Spark Connect server|Databricks Shell|Zeppelin|livy-session-\d+|graft collect|",
    re.IGNORECASE,
)
_SHELLS: Mapping[str, str] = {
    "spark shell": "spark-shell",
    "pysparkshell": "pyspark",
    "sparkr": "sparkR",
    "sparksql": "spark-sql",
}


def is_dbt(app_name: str, descriptions: Iterable[str], plans: Iterable[str]) -> bool:
    """Whether an application is dbt's own."""
    return (
        bool(_DBT_NAME.fullmatch(app_name))
        or any(_DBT_CALL_SITE.search(text) for text in descriptions)
        or any(_DBT_RELATION.search(text) for text in plans)
    )


def shell_task(app_name: str, rule: str) -> str | None:
    """Return the task of work at a prompt: the command that starts it; None for other names."""
    # `SparkSQL::10.0.0.1`
    command = _SHELLS.get(app_name.partition("::")[0].strip().casefold())
    return _match_task(command, rule) if command else None


def task_name(app_name: str, rule: str) -> str | None:
    """Return the task in a name; None where it has none.

    Dates, times and ids that distinguish runs are cut from the name's end:
    `load_orders-2026-11-21T05:00` is `load_orders`.

    Args:
        rule: A regular expression with a group `task`; it must match from the name's start.
    """
    name = app_name.strip()
    if _SHARED_NAME.fullmatch(name) or is_run_id(name):
        return None
    return _match_task(name, rule)


def _match_task(name: str, rule: str) -> str | None:
    match = re.match(rule, name)
    if match is None or not match["task"]:
        return None
    return cut_run_suffix(match["task"].strip()) or None
