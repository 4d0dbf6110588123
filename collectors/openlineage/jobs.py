"""Jobs: the task, the engine and the dbt node that an event is about.

| producer | job | task |
|---|---|---|
| Airflow | `dag.group.task` | `task`; a DAG is no task, its runs have its name |
| Airflow, a query of a task | `dag.group.task.query.1` | `task`, by the parent |
| openlineage-spark | `application_20261121.command.table` | `application` |
| dbt-ol | `shop.main.shop.orders.build.run`, `dbt-run-shop` | none: nodes of dbt |
| Flink, Hive | `job`, `query.raw.orders` | the same |
| Trino | the query's id | the client's `source` |
| dbt-graft | the task, or another producer's job | the task |
| others | `pipeline.step` | `step` |
| others | `etl/load_orders.py` | `load_orders` |

The producer stands in every event, facets do not: so the events of a run agree on their task.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dbt_graft.collectors.openlineage.datasets import kind_of, named_dataset
from dbt_graft.collectors.openlineage.event import Event, NotAnEventError
from dbt_graft.collectors.openlineage.facets import graft_tag, is_deleted, mapping, text
from dbt_graft.collectors.run_suffix import cut_run_suffix
from dbt_graft.lineage.dataset import Kind
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.openlineage import JobId, dbt_node, is_view, view_job

AIRFLOW, SPARK, TRINO = "airflow", "spark", "trino"
# Part of our own producer's URL.
_GRAFT = "dbt-graft"
_UNKNOWN = "openlineage"
# Part of a producer's URL -> the engine.
_PRODUCERS = {
    "providers-openlineage": AIRFLOW,
    "/integration/airflow": AIRFLOW,
    "/integration/spark": SPARK,
    "/integration/flink": "flink",
    "/integration/dbt": DefinitionKind.DBT.value,
    "/integration/hive": "hive",
    "trino": TRINO,
}
_TRINO_QUERY = re.compile(r"\d{8}_\d{6}_\d{5}_\w{5}")
_SCRIPT = re.compile(r"(?P<stem>[^./\\]+)\.(py|sql|sh|ipynb|scala|jar)\Z", re.IGNORECASE)
_ENGINE = re.compile(r"[A-Za-z][\w .-]{0,30}")
# What a job of dbt-ol makes, by its facet `jobType`.
_DBT_KINDS = {"MODEL": "model", "SEED": "seed", "SNAPSHOT": "snapshot"}
_DBT_STEP = re.compile(r"\.build\.(run|seed|snapshot)\Z")
_DBT_VERSION = re.compile(r"v\d+")
# Sessions of dbt on Spark, whose applications are called so.
_DBT_JOB = re.compile(r"dbt(?![A-Za-z0-9])", re.IGNORECASE)


NO_VIEW = "the lineage of a dataset that is no view names no job that makes it"


class Job(NamedTuple):
    """The job that an event is about.

    Attributes:
        name: Namespace, `/`, name.
        task: Empty where the entry's pattern leaves the job out.
    """

    name: str
    task: str
    engine: str
    node_id: str = ""

    @property
    def is_dbt(self) -> bool:
        """Whether its lineage is that of dbt's models, which are no tasks."""
        return self.engine == DefinitionKind.DBT or bool(self.node_id)


def job_of(event: Event, rule: re.Pattern[str] | None = None) -> Job:
    """The job of an event.

    Args:
        rule: Matches a job's name from its start, with a group `task`; by default the table above
            has the rules.
    """
    engine = engine_of(event)
    node_id = text(event.job_facets, "dbt_node", "unique_id")
    ours = is_ours(event)
    if ours:
        job = JobId(event.namespace, event.job)
        node_id = dbt_node(job, event.namespace) or node_id
        if is_view(job, event.namespace):
            return Job(f"{event.namespace}/{event.job}", event.job, DefinitionKind.VIEW.value)
        if node_id:
            engine = DefinitionKind.DBT.value
        elif (task := graft_tag(event.job_facets, "task")) or engine != AIRFLOW:
            return Job(f"{event.namespace}/{event.job}", task or event.job, engine)
    elif engine == SPARK and _is_dbt_job(event):
        engine = DefinitionKind.DBT.value
    elif engine == DefinitionKind.DBT and not node_id:
        node_id = _named_node(event)
    return Job(
        f"{event.namespace}/{event.job}",
        _task(event, engine, rule),
        engine,
        node_id,
    )


def _named_node(event: Event) -> str:
    """The unique_id in a job's name, of a dbt-ol that writes no facet `dbt_node`.

    The name is `database.schema.project.model`, without the parts that a platform does not have.
    """
    kind = _DBT_KINDS.get(text(event.job_facets, "jobType", "jobType"), "")
    step = ".snapshot" if kind == "snapshot" else ""
    parts = _DBT_STEP.sub("", event.job).removesuffix(step).split(".")
    length = 3 if len(parts) > 2 and _DBT_VERSION.fullmatch(parts[-1]) else 2
    return ".".join([kind, *parts[-length:]]) if kind and len(parts) > 1 else ""


def is_ours(event: Event) -> bool:
    """Whether it is an event that `graft export openlineage` wrote."""
    return _GRAFT in event.producer.lower()


def defined_view(event: Event) -> Job | None:
    """The view whose definition is in a DatasetEvent; None where it has none, or in our own events.

    These have the definition in a JobEvent, too.

    Raises:
        NotAnEventError: It says what a dataset that is no view comes from, which nobody makes.
    """
    [event_dataset] = event.outputs
    facets = event_dataset.facets
    if is_ours(event) or not ("lineage" in facets or "columnLineage" in facets):
        return None
    dataset = named_dataset(event_dataset.namespace, event_dataset.name)
    if dataset is None:
        return None
    if kind_of(dataset, facets) is Kind.VIEW:
        job = view_job(dataset)
        return Job(f"{job.namespace}/{job.name}", str(dataset), DefinitionKind.VIEW.value)
    if mapping(facets, "lineage") and not is_deleted(facets, "lineage"):
        raise NotAnEventError(NO_VIEW)
    return None


def engine_of(event: Event) -> str:
    """The engine of a job: by the producer, else by a facet."""
    named = text(event.run_facets, "processing_engine", "name")
    integration = text(event.job_facets, "jobType", "integration")
    if is_ours(event):
        named = named or integration
    else:
        producer = event.producer.lower()
        for part, engine in _PRODUCERS.items():
            if part in producer:
                return engine
        named = integration or named
    return named.lower() if _ENGINE.fullmatch(named) else _UNKNOWN


def is_dag(event: Event) -> bool:
    """Whether the job is a DAG of Airflow, which starts tasks and does nothing itself."""
    return text(event.job_facets, "jobType", "jobType") == "DAG" or (
        "airflowDagRun" in event.run_facets or "airflowState" in event.run_facets
    )


def _task(event: Event, engine: str, rule: re.Pattern[str] | None) -> str:
    name = event.job
    if engine == AIRFLOW and text(event.job_facets, "jobType", "jobType") == "QUERY":
        name = text(event.run_facets, "parent", "job", "name") or name
    if rule is not None:
        match = rule.match(name)
        return match["task"].strip() if match and match["task"] else ""
    if engine in ("flink", "hive", DefinitionKind.DBT) or (engine == AIRFLOW and is_dag(event)):
        return name
    if engine == SPARK:
        application = name.partition(".")[0]
        return cut_run_suffix(application) or application
    if engine == TRINO and _TRINO_QUERY.fullmatch(name):
        context = mapping(event.run_facets, "trino_query_context")
        return text(context, "source") or TRINO
    if script := _SCRIPT.search(name):
        return script["stem"]
    last = name.rpartition(".")[2]
    return name if not last or last.isdigit() else last  # `load 1.2` has a version


def _is_dbt_job(event: Event) -> bool:
    parent = mapping(event.run_facets, "parent")
    above = (text(parent, "root", "job", "name"), text(parent, "job", "name"), event.job)
    return any(map(_DBT_JOB.match, above))
