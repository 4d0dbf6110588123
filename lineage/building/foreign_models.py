"""Models of dbt projects whose manifest is not ours, in events: tasks like others.

Of a model of our own project dbt's artifacts have more than an event. Of another project there is
nothing else, so its models are tasks, under the names of their jobs, with what events have of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.openlineage import parse_job
from dbt_graft.lineage.records import Access, ColumnEdge, Records, Run

# The origin of dbt's records in events ends so: a task's are read without them.
DBT_PART = "#dbt"
_BUILT = ("model", "seed", "snapshot")
# The jobs that test a model have its unique_id too.
_TEST = ".test"


def with_foreign_models(records: Records, projects: Collection[str]) -> Records:
    """The records, in which models of other dbt projects are tasks.

    Args:
        projects: The names of our own project and of the packages in its manifest.
    """
    jobs: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for run in records.runs:
        if _is_foreign(run, projects):
            job = parse_job(run.job or "")
            jobs[run.origin, run.task][run.run_id] = job.name if job else run.task
    if not jobs:
        return records

    def foreign_name(record: Run | Access) -> str:
        return jobs.get((record.origin, record.task), {}).get(record.run_id, "")

    return replace(
        records,
        runs=tuple(
            replace(run, task=name, origin=_log(run.origin)) if (name := foreign_name(run)) else run
            for run in records.runs
        ),
        accesses=tuple(
            replace(access, task=name, origin=_log(access.origin))
            if (name := foreign_name(access))
            else access
            for access in records.accesses
        ),
        column_edges=tuple(_edges(records.column_edges, jobs)),
    )


def _is_foreign(run: Run, projects: Collection[str]) -> bool:
    if run.engine != DefinitionKind.DBT or not run.job or not run.origin.endswith(DBT_PART):
        return False
    kind, _, rest = run.task.partition(".")
    project = rest.partition(".")[0]
    return kind in _BUILT and project not in projects and not run.job.endswith(_TEST)


def _edges(
    edges: Iterable[ColumnEdge], jobs: dict[tuple[str, str], dict[str, str]]
) -> Iterator[ColumnEdge]:
    for edge in edges:
        names = jobs.get((edge.origin, edge.task))
        if names is None:
            yield edge
            continue
        for name in sorted({*names.values()}):
            yield replace(edge, task=name, origin=_log(edge.origin))


def _log(origin: str) -> str:
    return origin.removesuffix(DBT_PART)
