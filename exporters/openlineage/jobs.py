"""The facets of a job: a task, a dbt model or a view."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from dbt_graft.exporters.openlineage.facets import (
    Facet,
    documentation,
    facet,
    ownership,
    tag,
    without_none,
)
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Description
from dbt_graft.lineage.model import Task
from dbt_graft.lineage.openlineage import JobId
from dbt_graft.lineage.records import Shape, TaskInfo

# Engine of a run -> the integration that OpenLineage and its receivers know it as.
_INTEGRATIONS = {"sqlserver": "MSSQL", "declared": "GRAFT", "unknown": "GRAFT"}
# Its shapes have no SQL, but a line about a plan.
_PLAN = "spark-plan"
_LONGEST_SQL = 1 << 16
# `git@host:path` and `ssh://git@host/path`.
_SSH = re.compile(r"(?:ssh://)?(?:git@)(?P<host>[\w.-]+)(?::\d+/|[:/])(?P<path>[^\s]+)")
_WITH_BLOB = {"github.com": "blob", "gitlab.com": "-/blob", "bitbucket.org": "src"}


def integration(engine: str) -> str:
    """The name of an engine in `jobType` and `processing_engine`: `SPARK`, `MSSQL`, `DBT`."""
    return _INTEGRATIONS.get(engine, engine.upper())


def task_facets(
    task: Task, engine: str, job: JobId, version: str | None = None
) -> dict[str, Facet]:
    """The facets of a task besides its lineage.

    Args:
        job: One of another producer has another name than the task that was made of it.
        version: The version of its code, where a run has it.
    """
    info = task.info
    # Of a job of Airflow's, readers make a name otherwise.
    is_named = job.name == task.name and engine != "airflow"
    facets = {
        "jobType": _job_type(engine, "TASK"),
        **_description(info.description, info.owner, info.tags, "USER"),
        "tags": _tags(info.tags, "USER", "" if is_named else task.name),
        "sourceCodeLocation": source_code_location(info, version),
    }
    return without_none(facets)


def definition_facets(definition: Definition, description: Description | None) -> dict[str, Facet]:
    """The facets of a dbt model or view besides its lineage; dbt describes its dataset."""
    if definition.kind is not DefinitionKind.DBT:
        return {"jobType": _job_type("graft", "VIEW")}
    of = description and _description(description.text, description.owner, description.tags, "DBT")
    return without_none({"jobType": _job_type("dbt", "MODEL"), **(of or {})})


def _description(
    text: str, owner: str, tags: Sequence[str], source: str
) -> dict[str, Facet | None]:
    return {
        "documentation": documentation("DocumentationJobFacet", text),
        "ownership": ownership("OwnershipJobFacet", owner),
        "tags": _tags(tags, source),
    }


def _tags(names: Sequence[str], source: str, task: str = "") -> Facet | None:
    tags = [tag(name, name, source) for name in names]
    if task:
        tags.append(tag("task", task, "GRAFT"))
    return facet("TagsJobFacet", tags=tags) if tags else None


def _job_type(engine: str, kind: str) -> Facet:
    return facet(
        "JobTypeJobFacet",
        processingType="BATCH",
        integration=integration(engine),
        jobType=kind,
    )


def sql(shapes: Iterable[Shape]) -> Facet | None:
    """The statements of a job without their literals; None where none is SQL.

    Statements that would make it longer than 64 kB are left out.
    """
    texts: dict[str, None] = {}
    dialect = None
    remaining = _LONGEST_SQL
    for shape in shapes:
        if shape.dialect == _PLAN or shape.text in texts:
            continue
        remaining -= len(shape.text)
        if remaining < 0:
            break
        texts[shape.text] = None
        dialect = dialect or shape.dialect
    if not texts:
        return None
    return facet("SQLJobFacet", query=";\n".join(texts), dialect=dialect)


def source_code_location(info: TaskInfo, version: str | None = None) -> Facet | None:
    """The repository and file of a task; None where nobody names the repository."""
    repository = info.repo.removesuffix("/").removesuffix(".git")
    if match := _SSH.fullmatch(repository):
        repository = f"https://{match['host']}/{match['path']}"
    if not repository.startswith(("https://", "http://")):
        return None
    host = repository.partition("://")[2].partition("/")[0]
    path = info.path.removeprefix("./")
    inside = not path.startswith(("/", "~", "../", "$")) and "://" not in path
    url = repository
    if path and inside and (blob := _WITH_BLOB.get(host)):
        url = f"{repository}/{blob}/{version or 'HEAD'}/{quote(path)}"
    return facet(
        "SourceCodeLocationJobFacet",
        type="git",
        url=quote(url, safe=":/%~@+,;=&!$'()*"),
        repoUrl=repository,
        path=path if path and inside else None,
        version=version,
    )
