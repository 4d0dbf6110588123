"""Tasks of an application, by the rules of `graft.yml`, and the run that started it.

A rule lists sources of a task's name; the first that has one counts:

| source | content |
|---|---|
| `app_name` | the application's name |
| `conf:<key>` | a setting: `conf:spark.openlineage.parentJobName` |
| `job_group` | the job group that the statement ran in (`sc.setJobGroup`) |
| `job_description` | the description it ran under (`sc.setJobDescription`) |
| `call_site` | the file of user code that it was called from, `load_orders.py` as `load_orders` |
| `databricks` | the job or notebook; see `databricks` |

The first two are the same for the whole application, which then ran one task. With the others each
statement has its own task, nested executions included. All tasks of an attempt have the same run.

Behind a name may stand the run of Airflow that started it, as `lineage.airflow_names` has them:
`load_orders::shop/load_orders/1/2026-11-22T00:00:00Z`.

An application without a name in any of them, but with one of a prompt (`Spark shell`), is the task
of the command that starts it, if `app_name` is among the sources. A script without a name is called
as its main file, as `spark-submit` calls it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbt_graft.collectors.spark.application.execution import Application, Execution, OutsideJobs
from dbt_graft.collectors.spark.application.identity import cluster_job, shell_task, task_name
from dbt_graft.collectors.spark.settings import CONF
from dbt_graft.lineage.airflow_names import split_run

# What has a task where not the application has one.
Root = Execution | OutsideJobs

# `save at /opt/jobs/load_orders.py:12`, and the same in the frames of a call stack.
_CALL = re.compile(r"(?:^|\s)\w+ at (?P<path>[^\n]+?):\d+$", re.MULTILINE)
_FRAME = re.compile(r"^(?P<method>[\w.$]+)\((?P<file>[\w.$-]+):\d+\)$", re.MULTILINE)
_NOT_USER_CODE = ("org.apache.", "java.", "jdk.", "sun.", "scala.", "py4j.", "com.databricks.")
_LONGEST = 200
# Names that PySpark gives to scripts without one.
_UNNAMED = ("pyspark-shell", "")

# Settings from Airflow's operators and its OpenLineage provider.
_PARENT_RUN = "spark.openlineage.parentRunId"
_PARENT_ID = "OPENLINEAGE_PARENT_ID"
_AIRFLOW = ("AIRFLOW_CTX_DAG_ID", "AIRFLOW_CTX_TASK_ID", "AIRFLOW_CTX_DAG_RUN_ID")
_LABELS = tuple(f"spark.kubernetes.driver.label.{key}" for key in ("dag_id", "task_id", "run_id"))


def task_of(
    application: Application,
    root: Root | None,
    sources: tuple[str, ...],
    rule: str,
) -> str | None:
    """Return the task of an outermost execution or of jobs, or of the application without one."""
    for source in sources:
        for name in _texts(application, root, source):
            text, _ = split_run(name)
            if len(text) <= _LONGEST and (task := task_name(text, rule)):
                return task
    if "app_name" not in sources:
        return None
    file = application.main_file if application.name in _UNNAMED else ""
    return shell_task(application.name, rule) or task_name(file, rule)


def is_of_application(application: Application, source: str) -> bool:
    """Whether a source has one name for the whole application."""
    if source == "databricks":
        return not application.on_databricks
    return source == "app_name" or source.startswith(CONF)


def parent_run(application: Application) -> str | None:
    """The run of an orchestrator that started an application: OpenLineage's id, a name of
    `lineage.airflow_names`, or Airflow's `dag/task/run`; None where it shows none.
    """
    settings = application.settings
    # As environment of the driver: `spark.yarn.appMasterEnv.AIRFLOW_CTX_DAG_ID` and the like.
    by_name = {key.rpartition(".")[2]: value for key, value in settings.items()}
    _, behind_name = split_run(application.name)
    if parent := settings.get(_PARENT_RUN) or by_name.get(_PARENT_ID) or behind_name:
        return parent
    for keys, values in ((_AIRFLOW, by_name), (_LABELS, settings)):
        names = [values[key] for key in keys if values.get(key)]
        if len(names) == len(keys):
            return "/".join(names)
    return None


def _texts(application: Application, root: Root | None, source: str) -> Iterator[str]:
    if source == "app_name":
        yield application.name
    elif source.startswith(CONF):
        yield application.settings.get(source.removeprefix(CONF), "")
    elif source == "databricks":
        yield cluster_job(application.settings)
        yield root.work if root else ""
    elif root is None:
        return
    elif source == "job_group":
        yield root.group
    elif source == "job_description":
        # Without a description, Spark writes the call site there.
        if not _CALL.fullmatch(root.description):
            yield root.description
    elif source == "call_site":
        yield from _call_sites(root)


def _call_sites(execution: Root) -> Iterator[str]:
    for call in _CALL.finditer(f"{execution.description}\n{execution.details}"):
        name = re.split(r"[/\\]", call["path"])[-1]
        if name != "NativeMethodAccessorImpl.java":
            yield _stem(name)
    for frame in _FRAME.finditer(execution.details):
        if not frame["method"].startswith(_NOT_USER_CODE):
            yield _stem(frame["file"])


def _stem(name: str) -> str:
    stem, dot, _ = name.rpartition(".")
    return stem if dot else name
