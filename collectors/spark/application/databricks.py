"""Names of tasks on Databricks, where every application is called `Databricks Shell`.

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
from collections.abc import Mapping

import orjson

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
