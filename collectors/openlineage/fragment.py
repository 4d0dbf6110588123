"""A fragment: the events of one run in one part of a log -> its records.

A run's events may lie in several files and come with several collects. Each part gives a fragment,
and `lineage.event_runs` joins the fragments of a run: what they say together does not depend on how
the events were shared out, on their order, or on how often one is there. So nothing here may be
concluded from an event that is missing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import TypeAlias

from dbt_graft.collectors.dbt.messages import redact_message
from dbt_graft.collectors.openlineage.checks import check_results
from dbt_graft.collectors.openlineage.event import Event, EventKind, Facets
from dbt_graft.collectors.openlineage.facets import (
    graft_tag,
    mapping,
    moment,
    number,
    objects,
    text,
)
from dbt_graft.collectors.openlineage.groups import Group, groups, names_other_job
from dbt_graft.collectors.openlineage.jobs import AIRFLOW, Job, is_ours
from dbt_graft.collectors.openlineage.ticks import interval_end
from dbt_graft.collectors.redact import redact_error
from dbt_graft.collectors.statement import DatasetAccess, Statement
from dbt_graft.collectors.statements.normalise import normalise
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.double_quotes import QUOTES_ARE_NAMES
from dbt_graft.lineage.building.event_runs import DECLARED_RUN, EVENT_SHAPE
from dbt_graft.lineage.building.foreign_models import DBT_PART
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.openlineage import UNKNOWN_VERSION
from dbt_graft.lineage.records import Evidence, NodeResult, Outcome, Run, Shape, Status

# Where "…" is a name. Elsewhere, and where the facet does not say, it may be a string.
_QUOTES_NAMES = re.compile(
    r"(ansi|athena|duckdb|greenplum|oracle|postgres\w*|presto|redshift|snowflake|teradata|trino"
    r"|vertica|tsql|mssql|sqlserver|synapse|fabric)",
    re.IGNORECASE,
)
# Strings that only the rules of some dialects find the end of: $$…$$, Oracle's q'{…}', and among
# these E'…\'…'.
_SPECIAL_STRING = re.compile(r"\$\w*\$|\bn?q'", re.IGNORECASE)
_TSQL = re.compile(r"(tsql|mssql|sqlserver|synapse|fabric)", re.IGNORECASE)
_TEMPORARY = re.compile(r"#[\w#@$]+")
_LONGEST = 100_000


def shown_sql(facets: Facets) -> tuple[str, str]:
    """The dialect and the text of a job's SQL; an empty text where it has none to be shown."""
    query, dialect = text(facets, "sql", "query"), text(facets, "sql", "dialect")
    if not query or len(query) > _LONGEST or _SPECIAL_STRING.search(query):
        return "", ""
    return _normalise_sql(query, dialect)


@lru_cache(maxsize=2_000)
def _normalise_sql(query: str, dialect: str) -> tuple[str, str]:
    is_tsql = bool(_TSQL.fullmatch(dialect))
    if not _QUOTES_NAMES.fullmatch(dialect):
        dialect, shown = Dialect.SPARK.value, normalise(query, Dialect.SPARK).strip()
    elif "\\" in query and not is_tsql:
        return "", ""
    else:
        setting = "" if is_tsql else QUOTES_ARE_NAMES
        shown = normalise(setting + query, Dialect.TSQL).removeprefix(setting).strip()
    # What may be a comment of MySQL or BigQuery may have anything in it.
    has_comment = "#" in (_TEMPORARY.sub("", shown) if is_tsql else shown)
    return ("", "") if has_comment else (dialect.lower(), shown)


_ENDED = {"COMPLETE": Status.OK, "FAIL": Status.FAILED, "ABORT": Status.FAILED}
_RANKS = {evidence: rank for rank, evidence in enumerate(Evidence)}
_VERSION = re.compile(r"[\w.+/:-]{1,200}")
_ZONE = re.compile(r"[A-Z][A-Za-z]+(?:/[A-Z][\w+-]+){0,2}")
_DIGITS = 10
_NOT_EXTRACTED = "the producer of its events could not extract all of its lineage"
_FROM_JOBS = "its events name a job in place of a dataset that data comes from"
_NODES = ("model.", "seed.", "snapshot.")


@frozen
class Fragment:
    """The runs, statements and results in events, of one origin; results of dbt have their own.

    Attributes:
        statements: One for each of the groups.
    """

    runs: tuple[Run, ...]
    statements: tuple[Statement, ...] = ()
    shapes: tuple[Shape, ...] = ()
    results: tuple[NodeResult, ...] = ()


def fragment(
    job: Job, events: Sequence[Event], origin: str, columns: DateColumns, timezone: str = ""
) -> Fragment:
    """The fragment of the events of one run, or of one job without a run, in any order.

    Args:
        timezone: The zone of the days in data intervals; empty where the events decide.
    """
    ordered = sorted(events, key=lambda event: event.order)
    run_facets, job_facets = _merge_facets(ordered)
    first = ordered[0]
    is_run = first.kind is EventKind.RUN
    own_run = _own_run(job, ordered, run_facets, job_facets, origin)
    if own_run.nominal_start:
        zone = (
            timezone or _timezone(run_facets) or graft_tag(run_facets, "timezone") or first.offset
        )
        own_run = replace(own_run, timezone=zone or None)
    gap = _gap(job, run_facets, job_facets, ordered) if is_run and not job.is_dbt else None
    if gap:
        own_run = replace(own_run, gaps=(gap.shape_id,))
    runs = [own_run] if is_run and job.engine != DefinitionKind.DBT else []
    doer = own_run
    if job.is_dbt:
        origin = f"{origin}{DBT_PART}"
        # dbt's part of what Airflow runs.
        engine = DefinitionKind.DBT.value
        doer = replace(own_run, task=job.node_id or own_run.task, engine=engine, origin=origin)
        runs.append(doer)
    elif job.engine == DefinitionKind.VIEW:
        runs = [own_run]
    elif not job.task:
        return Fragment(tuple(runs))
    if is_run:
        timed_groups = [(first.at, ordered[-1].at, _groups(ordered, job, columns))]
    else:
        timed_groups = _declared_groups(ordered, job, columns)
    statements = tuple(
        Statement(
            shape_id,
            reads=tuple(group.reads.values()),
            writes=tuple(group.writes.values()),
            edges=group.edges,
            run=doer,
            status=_group_status(group, own_run),
            evidence=group.evidence,
            first_at=first_at,
            last_at=last_at,
        )
        for first_at, last_at, groups_by_shape in timed_groups
        for shape_id, group in groups_by_shape.items()
    )
    results = [*_results(job, own_run, run_facets, ordered)]
    if is_run:
        results += check_results(own_run, _invocation(run_facets) or own_run.run_id, ordered)
    return Fragment(
        runs=tuple(runs),
        statements=statements,
        shapes=tuple(_shapes(timed_groups, job_facets, gap)) if not job.is_dbt else (),
        results=tuple(results),
    )


def _merge_facets(events: Iterable[Event]) -> tuple[Facets, Facets]:
    """The facets of the run and of the job, of each name the last."""
    run: dict[str, object] = {}
    job: dict[str, object] = {}
    for event in events:
        run.update(event.run_facets)
        job.update(event.job_facets)
    return run, job


def _status(events: Sequence[Event]) -> Status:
    ends = [event.state for event in events if event.is_end]
    return _ENDED[ends[-1]] if ends else Status.UNKNOWN


def _group_status(group: Group, run: Run) -> Status:
    """The status of what a group names, as far as this part of the log tells."""
    if group.is_done:
        return Status.OK
    return run.status if run.status is Status.FAILED else Status.UNKNOWN


_Groups: TypeAlias = dict[str, Group]
_TimedGroups: TypeAlias = tuple[datetime, datetime, _Groups]


def _declared_groups(events: Iterable[Event], job: Job, columns: DateColumns) -> list[_TimedGroups]:
    """The groups of each JobEvent of a job, with its time: the newest is what is true.

    One that names no dataset says nothing of them. Of equal ones the first and the last are left.
    """
    declared: list[_TimedGroups] = []
    for at, same in groupby(events, key=attrgetter("at")):
        if not (event_groups := _groups(same, job, columns)):
            continue
        shapes = [earlier.keys() for _, _, earlier in declared[-2:]]
        if shapes == [event_groups.keys()] * 2:
            declared.pop()
        declared.append((at, at, event_groups))
    return declared


def _groups(events: Iterable[Event], job: Job, columns: DateColumns) -> _Groups:
    """The groups of all events by shape; one within another is left out."""
    groups_by_shape: _Groups = {}
    for event in events:
        for group in groups(event, job, columns):
            gap = _FROM_JOBS if event.kind is EventKind.JOB and names_other_job(event) else ""
            group = group._replace(is_done=event.is_done, gap=gap)
            shape_id = group.shape_id(job)
            earlier = groups_by_shape.get(shape_id)
            groups_by_shape[shape_id] = _merge_groups(earlier, group) if earlier else group
    return {
        shape_id: group
        for shape_id, group in groups_by_shape.items()
        if group.edges
        or not any(
            _is_within(group, other) for name, other in groups_by_shape.items() if name != shape_id
        )
    }


def _is_within(group: Group, other: Group) -> bool:
    """Whether another group has all that this one has; of two equal ones the explained has.

    What an event explains is not within what another one only lists.
    """
    if group.is_explained and not other.is_explained:
        return False
    if (group.reads.keys(), group.writes.keys()) == (other.reads.keys(), other.writes.keys()):
        return other.is_explained
    return group.reads.keys() <= other.reads.keys() and group.writes.keys() <= other.writes.keys()


def _merge_groups(a: Group, b: Group) -> Group:
    """One group of two with the same datasets; the later event's counts."""
    return Group(
        {key: _merge_counts(a.reads[key], access) for key, access in b.reads.items()},
        {key: _merge_counts(a.writes[key], access) for key, access in b.writes.items()},
        tuple(dict.fromkeys((*a.edges, *b.edges))),
        min(a.evidence, b.evidence, key=_RANKS.__getitem__),
        a.is_explained,
        a.is_done or b.is_done,
        b.gap,
    )


def _merge_counts(a: DatasetAccess, b: DatasetAccess) -> DatasetAccess:
    return b._replace(
        rows=a.rows if b.rows is None else b.rows,
        bytes=a.bytes if b.bytes is None else b.bytes,
        files=a.files if b.files is None else b.files,
        periods=b.periods or a.periods,
        positions=b.positions or a.positions,
    )


def _own_run(
    job: Job, events: Sequence[Event], run_facets: Facets, job_facets: Facets, origin: str
) -> Run:
    status = _status(events)
    ends = [event.at for event in events if event.is_end]
    message = text(run_facets, "errorMessage", "message")
    first = events[0]
    is_run = first.kind is EventKind.RUN
    nominal = {} if _is_once(run_facets) else mapping(run_facets, "nominalTime")
    nominal_start = moment(nominal, "nominalStartTime")
    nominal_end = moment(nominal, "nominalEndTime")
    return Run(
        run_id=first.run_id or f"{DECLARED_RUN}{job.name}",
        task=job.task or first.job,
        engine=job.engine,
        started_at=first.at if is_run else None,
        ended_at=ends[-1] if ends else None,
        status=status,
        error=_error(job, first, message) if message and status is Status.FAILED else None,
        application_id=_application(job, run_facets)
        or _word(graft_tag(run_facets, "application_id")),
        engine_version=_engine_version(run_facets),
        code_version=_word(text(job_facets, "sourceCodeLocation", "version")),
        parent_run_id=text(run_facets, "parent", "run", "runId").lower() or None,
        job=job.name,
        url=_address(
            text(run_facets, "airflow", "taskInstance", "log_url") or graft_tag(run_facets, "url")
        ),
        attempt=number(run_facets, "airflow", "taskInstance", "try_number")
        or _number(graft_tag(run_facets, "attempt")),
        nominal_start=nominal_start,
        nominal_end=nominal_start and interval_end(run_facets, nominal_start, nominal_end),
        origin=origin,
    )


def _error(job: Job, event: Event, message: str) -> str:
    """An error without data; in our own events one of dbt is as dbt's results have it."""
    is_of_dbt = job.is_dbt and is_ours(event)
    return redact_message(message, "", job.node_id) if is_of_dbt else redact_error(message)


def _engine_version(facets: Facets) -> str | None:
    # Other consumers get one that they can take apart.
    version = graft_tag(facets, "engine_version") or text(facets, "processing_engine", "version")
    return None if version in ("unknown", UNKNOWN_VERSION) else _word(version)


def _is_once(facets: Facets) -> bool:
    """Whether the DAG runs once: the time of its run is not that of its data."""
    return "@once" in (
        text(facets, name, "dag", key)
        for name in ("airflow", "airflowDagRun")
        for key in ("timetable_summary", "schedule_interval")
    )


def _timezone(facets: Facets) -> str:
    for name in ("airflow", "airflowDagRun"):
        zone = text(facets, name, "dag", "timetable", "timezone")
        if _ZONE.fullmatch(zone) and zone != "UTC":
            return zone
    return ""


def _application(job: Job, facets: Facets) -> str | None:
    """The application of Spark; of Airflow `dag/task/run`, as an application's settings name it."""
    if job.engine != AIRFLOW:
        return _word(text(facets, "spark_applicationDetails", "applicationId"))
    airflow_facet = mapping(facets, "airflow") or mapping(facets, "airflowDagRun")
    names = (
        text(airflow_facet, "dag", "dag_id"),
        _instance(airflow_facet),
        text(airflow_facet, "dagRun", "run_id"),
    )
    return "/".join(filter(None, names)) or None


def _instance(airflow_facet: Facets) -> str:
    """A task's id, with the index of an instance of a mapped one: `part[1]`."""
    task = text(airflow_facet, "task", "task_id")
    index = number(airflow_facet, "taskInstance", "map_index")
    return task if index is None or not task else f"{task}[{index}]"


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < _DIGITS else None


def _word(text: str) -> str | None:
    return text if _VERSION.fullmatch(text) else None


def _address(text: str) -> str | None:
    """An address for a link: of http."""
    return text if text.startswith(("http://", "https://")) else None


def _shapes(
    timed_groups: Iterable[_TimedGroups], job_facets: Facets, gap: Shape | None
) -> Iterator[Shape]:
    """The shapes of groups of a job that shows its SQL, and those of what is not known."""
    if gap:
        yield gap
    dialect, sql = shown_sql(job_facets)
    for _, _, groups_by_shape in timed_groups:
        for shape_id, group in groups_by_shape.items():
            if sql or group.gap:
                outcome = Outcome.PARTIAL if group.gap else Outcome.PARSED
                yield Shape(shape_id, dialect, sql, "openlineage", outcome, group.gap or None)


def _gap(job: Job, run_facets: Facets, job_facets: Facets, events: Iterable[Event]) -> Shape | None:
    """A shape for all that the producer could not find out; what it says of that has values."""
    failed = number(run_facets, "extractionError", "failedTasks")
    if failed or any(objects(run_facets, "extractionError", "errors")):
        reason = _NOT_EXTRACTED
    elif any(map(names_other_job, events)):
        reason = _FROM_JOBS
    else:
        return None
    dialect, sql = shown_sql(job_facets)
    digest = hashlib.sha256(f"{job.name}\n{sql}".encode()).hexdigest()[:16]
    shape_id = f"{EVENT_SHAPE}gap-{digest}"
    return Shape(shape_id, dialect, sql, "openlineage", Outcome.PARTIAL, reason)


def _invocation(facets: Facets) -> str | None:
    """The id of dbt's invocation."""
    return _word(text(facets, "dbt_run", "invocation_id"))


def _results(job: Job, run: Run, facets: Facets, events: Sequence[Event]) -> Iterator[NodeResult]:
    """The result of a model, seed or snapshot of dbt, once it is over."""
    invocation = _invocation(facets)
    if not invocation or not job.node_id.startswith(_NODES) or run.status is Status.UNKNOWN:
        return
    if text(events[-1].job_facets, "jobType", "jobType") == "TEST" or job.name.endswith("test"):
        return
    yield NodeResult(
        node_id=job.node_id,
        invocation_id=invocation,
        word="success" if run.status is Status.OK else "error",
        status=run.status,
        started_at=run.started_at,
        ended_at=run.ended_at,
        error=run.error,
        origin=f"dbt:{run.origin}#{invocation}",
    )
