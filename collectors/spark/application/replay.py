"""Replay of events: an application's executions with their plans, outcomes and metrics.

Executions are yielded as soon as they are over, and then freed: the plans of a log may not fit into
memory. What stays (`Application`) is bounded, or small for each distinct item.
"""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, islice, repeat

from dbt_graft.collectors.spark.application.execution import (
    Application,
    Execution,
    ExecutionGroup,
    OutsideJobs,
    StreamBatch,
    StreamingQuery,
)
from dbt_graft.collectors.spark.application.identity import notebook_or_job
from dbt_graft.collectors.spark.application.streams import with_topics
from dbt_graft.collectors.spark.log.decode import ALL_OF_LOG
from dbt_graft.collectors.spark.log.events import Body
from dbt_graft.collectors.spark.plans.tree import PlanNode, from_info
from dbt_graft.collectors.spark.sources.commands import CommandRole, find_command
from dbt_graft.collectors.spark.sources.datasets import namenodes
from dbt_graft.lineage.dates.date_ranges import RUN_YEARS
from dbt_graft.lineage.errors import exception_reason

_log = logging.getLogger(__name__)

# Metrics may come a little after the end of their execution, so it waits for others to end.
SETTLE_AFTER = 16
# Bytes of plans in memory; beyond that, the oldest execution counts as it is.
_MOST_HELD = 64 << 20
# Bytes of an operator beside its text.
_OPERATOR = 500
# Sources of an RDD or a streaming query; ways to start jobs outside of SQL, and sources of each.
_MOST_SOURCES, _MOST_OUTSIDE = 1_000, 10_000
# New partitions of a table that an execution remembers.
_MOST_PARTITIONS = 10_000
# In place of an execution's id.
_OUTSIDE = -1
# Delta in a call stack.
_OF_DELTA = re.compile(r"\borg\.apache\.spark\.sql\.delta\.|\.tahoe\.")
# The error of a job that somebody stopped, or the end of its application did.
_CANCELLED = re.compile(r"(?:\[SPARK_JOB_CANCELLED\] )?Job \d+ cancelled")
# A model that Spark's libraries save: the call, and their files.
_SAVE = re.compile(r"\Aorg\.apache\.spark\.sql\.(?:classic\.)?DataFrameWriter\.")
_OF_MODEL = re.compile(
    r"^org\.apache\.spark\.(?:ml|mllib)\.[\w.$]+\((\w+\.scala):\d+\)$", re.MULTILINE
)
# Versions in which only the jobs of an execution have its outcome.
_ENDS_BY_JOBS = re.compile(r"[12]\.|3\.[0-3](?!\d)")


def replay(
    events: Iterable[tuple[str, Body]],
    application: Application,
    reject: Callable[[str, str], None],
    settle_after: int = SETTLE_AFTER,
    on_idle: Callable[[], None] | None = None,
) -> Iterator[ExecutionGroup | StreamBatch]:
    """Replay the events of a log.

    Args:
        application: Is filled with what they say of it.
        reject: Takes the place of each event that could not be used, and the reason.
        settle_after: The number of other executions that must end before one is yielded.
        on_idle: Is called at moments when nothing runs, when all that is over has been yielded;
            what comes after the last such moment is not yielded.

    Yields:
        Executions together with those nested in them, and batches of streaming queries without
        an execution in the log, in the order in which they end. A group is freed after that.
    """
    replay, was_idle = _Replay(application), False
    for name, body in events:
        try:
            _HANDLERS[name](replay, body)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError) as error:
            place = f"execution {body['executionId']}" if "executionId" in body else ALL_OF_LOG
            reject(place, f"{name} is not as expected ({exception_reason(error, _log)})")
        if on_idle and replay.is_idle:
            yield from replay.rest()
            on_idle()
            was_idle = True
        else:
            yield from replay.release_settled(len(replay.over) if on_idle else settle_after)
    for job in list(replay.gaps):
        replay.add_gaps(job)
    application.finished |= application.on_databricks and replay.is_idle
    if not was_idle:
        yield from replay.rest()


def _is_running_save(execution: Execution) -> bool:
    if execution.plan is None or execution.ended_at is not None:
        return False
    try:
        command = find_command(execution.plan.name)
    except LookupError:
        return False
    return command is not None and command[1].role is CommandRole.SAVE


@dataclass(slots=True)
class _Replay:
    """The state of an application after the events so far.

    Attributes:
        executions: The executions that are not settled, by id.
        groups: The same executions by their outermost one.
        jobs: The execution of each running job; `_OUTSIDE` where it is outside of SQL.
        outside: The running jobs outside of SQL.
        gaps: What each running job may touch that the log does not name.
        over: The groups and batches that are over, in order.
        unplaced: Outermost executions of streaming batches that are over, but whose sources and
            sink the query's progress has not named yet: by run and number.
        strays: Executions without a start that have metrics.
    """

    application: Application
    executions: dict[int, Execution] = field(default_factory=dict)
    running: set[int] = field(default_factory=set)
    groups: dict[int, ExecutionGroup] = field(default_factory=dict)
    stages: dict[int, int] = field(default_factory=dict)
    jobs: dict[int, int] = field(default_factory=dict)
    outside: dict[int, OutsideJobs] = field(default_factory=dict)
    gaps: dict[int, list[tuple[str, str]]] = field(default_factory=dict)
    over: deque[ExecutionGroup | StreamBatch] = field(default_factory=deque)
    unplaced: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    strays: deque[int] = field(default_factory=deque)
    plan_bytes: int = 0

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs, so that no later event is about earlier executions."""
        return not (self.running or self.jobs or self.unplaced)

    def release_settled(self, settle_after: int) -> Iterator[ExecutionGroup | StreamBatch]:
        """Release what has been over for long enough, or takes too much memory."""
        while len(self.over) > settle_after:
            finished = self.over.popleft()
            # A nested execution may have started since; then it is over again later.
            if isinstance(finished, StreamBatch) or finished.is_over:
                yield from self._release(finished)
        while self.plan_bytes > _MOST_HELD and self.groups:
            yield from self._release(next(iter(self.groups.values())))

    def rest(self) -> Iterator[ExecutionGroup | StreamBatch]:
        """Release all at the end of the log."""
        yield from self.release_settled(0)
        for group in list(self.groups.values()):
            yield from self._release(group)

    def _release(
        self, finished: ExecutionGroup | StreamBatch
    ) -> Iterator[ExecutionGroup | StreamBatch]:
        if isinstance(finished, StreamBatch):
            yield finished
            return
        if self.groups.get(finished.root) is not finished:
            return  # It was released early.
        yield finished
        del self.groups[finished.root]
        for execution in finished.executions.values():
            self.plan_bytes -= execution.size
            self.application.metrics.settle(execution.id)
            del self.executions[execution.id]
            self.running.discard(execution.id)
            for stage in execution.stages:
                self.stages.pop(stage, None)

    def log_start(self, body: Body) -> None:
        self.application.spark_version = str(body["Spark Version"])

    def databricks_log_start(self, body: Body) -> None:
        self.log_start(body)
        self.application.on_databricks = True

    def application_start(self, body: Body) -> None:
        self.application.name = str(body["App Name"] or "")
        self.application.id = str(body.get("App ID") or "")
        self.application.attempt = str(body.get("App Attempt ID") or "")
        self.application.started_at = _moment(body["Timestamp"])

    def application_end(self, body: Body) -> None:
        self.application.ended_at = _end(body["Timestamp"], self.application.started_at)
        self.application.finished = True
        self.application.exit_code = body.get("ExitCode") or 0

    def environment(self, body: Body) -> None:
        application = self.application
        application.warehouse = str(body["warehouse"])
        settings = {key: str(value) for key, value in body.get("settings", {}).items()}
        application.settings.update(settings)
        application.main_file = str(body.get("main_file") or "")
        application.namenodes.update(namenodes(body.get("hdfs", {})))
        if interval := body.get("interval"):
            start, end = map(datetime.fromisoformat, interval)
            application.interval = (start, end)
        # The event that starts the application has both too, unless the log lacks it.
        application.name = application.name or settings.get("spark.app.name", "")
        application.id = application.id or settings.get("spark.app.id", "")

    def execution_start(self, body: Body) -> None:
        id_, root = int(body["executionId"]), body.get("rootExecutionId")
        if id_ in self.executions:
            raise ValueError("it runs already")
        if root is None:
            root = self._command_around(str(body.get("details") or ""))
        execution = Execution(
            id=id_,
            root=id_ if root is None else int(root),
            description=str(body.get("description") or ""),
            text=str(body.get("physicalPlanDescription") or ""),
            started_at=_moment(body["time"]),
            group=str(body.get("jobGroupId") or ""),
            details=str(body.get("details") or ""),
            sql=body.get("sql") or self._requested_sql(body.get("jobTags") or ()),
            catalogs={key: str(value) for key, value in body.get("catalogs", {}).items()},
        )

        if _SAVE.match(execution.details):
            self.application.model_writers.update(_OF_MODEL.findall(execution.details))
        # Added before its plan is parsed: an execution with a bad plan still ends and may fail.
        self.executions[id_] = execution
        self.application.executions.start(id_)
        self.running.add(id_)
        group = self.groups.setdefault(execution.root, ExecutionGroup(execution.root))
        group.executions[id_] = execution
        self._add_size(execution, len(execution.text))
        execution.plan = from_info(body["sparkPlanInfo"])
        self._add_size(execution, _size(execution.plan))

    def _command_around(self, details: str) -> int | None:
        """The running command that Delta started an execution for; Spark 3.4 logs it itself."""
        if not _OF_DELTA.search(details):
            return None
        running = filter(_is_running_save, reversed(self.executions.values()))
        return next((execution.root for execution in running), None)

    def _requested_sql(self, tags: Iterable[str]) -> str:
        requests = self.application.requests
        return next((sql for tag in tags if (sql := requests.recall(tag))), "")

    def connect_request(self, body: Body) -> None:
        self.application.requests[body["tag"]] = body["sql"]

    def plan_update(self, body: Body) -> None:
        if execution := self.executions.get(body["executionId"]):
            execution.final = from_info(body["sparkPlanInfo"])
            self._add_size(execution, _size(execution.final))

    def execution_end(self, body: Body) -> None:
        id_ = body["executionId"]
        execution = self.executions.get(id_)
        if execution:
            self.running.discard(execution.id)
            execution.ended_at = _end(body["time"], execution.started_at)
            if "errorMessage" in body:
                execution.error = str(body["errorMessage"] or "")
        group = self.groups.get(execution.root if execution else id_)
        if group is None:
            return
        group.ended |= group.root == id_
        if group.is_over:
            batch = group.outermost.batch
            if batch is None:
                self.over.append(group)
            else:
                self.unplaced.setdefault(batch, []).append(group.root)

    def driver_metrics(self, body: Body) -> None:
        self._count(body["executionId"], body["accumUpdates"])

    def job_start(self, body: Body) -> None:
        rdds = self.application.rdds
        self.application.jobs.start(body["job"])
        # Parents are older, so they come first.
        for rdd, source, parents in sorted(body.get("rdds", ())):
            # A checkpoint cuts an RDD from its parents; earlier jobs have them.
            if rdds.recall(rdd) is None:
                above = (rdds.recall(parent) or () for parent in parents)
                made_of = (source,) if source else tuple(dict.fromkeys(chain.from_iterable(above)))
                if made_of:
                    rdds[rdd] = made_of[:_MOST_SOURCES]
        work = notebook_or_job(body.get("work", {}))
        sources = chain.from_iterable(rdds.recall(rdd) or () for rdd, *_ in body["rdds"])
        if body["gaps"]:
            self.gaps[body["job"]] = body["gaps"]
        if "execution" not in body:
            self.jobs[body["job"]] = _OUTSIDE
            self._add_outside(body, work)
            return
        self.application.executions.mention(body["execution"])
        if execution := self.executions.get(body["execution"]):
            self.jobs[body["job"]] = execution.id
            execution.group = execution.group or str(body["group"])
            execution.work = execution.work or work
            execution.sources |= dict.fromkeys(islice(sources, _MOST_SOURCES))
            for stage in body["stages"]:
                # A later job may list a stage that is already computed.
                if self.stages.setdefault(stage, execution.id) == execution.id:
                    execution.stages.append(stage)

    def _add_outside(self, body: Body, work: str) -> None:
        """Add a job outside of SQL, and its sources."""
        outside = self.application.outside
        started = (body["description"], str(body["group"]), body["details"], work)
        if len(outside) >= _MOST_OUTSIDE and started not in outside:
            started = ("", "", "", "")
        jobs = outside.setdefault(started, OutsideJobs(*started))
        self.outside[body["job"]] = jobs
        at = _moment(body["time"]) if body["time"] else self.application.started_at
        for source in {source for _, source, _ in body["rdds"] if source}:
            if at is None or (len(jobs.sources) == _MOST_OUTSIDE and source not in jobs.sources):
                return
            first, last = jobs.sources.get(source, (at, at))
            jobs.sources[source] = min(first, at), max(last, at)

    def job_end(self, body: Body) -> None:
        job = body["job"]
        if body["error"]:
            self.gaps.pop(job, None)
        self.add_gaps(job)
        of = self.jobs.pop(job, None)
        jobs = self.outside.pop(job, None)
        if jobs and body["time"]:
            error = "" if _CANCELLED.match(body["error"]) else body["error"]
            jobs.last = _moment(body["time"]), error
        execution = self.executions.get(_OUTSIDE if of is None else of)
        if execution and _ENDS_BY_JOBS.match(self.application.spark_version):
            execution.error = execution.error or body["error"]

    def add_gaps(self, job: int) -> None:
        """Take the gaps of a job that is over, or that the log ends before."""
        gaps = self.gaps.pop(job, ())
        if jobs := self.outside.get(job):
            jobs.gaps.update(gaps)
        elif execution := self.executions.get(self.jobs.get(job, _OUTSIDE)):
            execution.gaps.update(reason for reason, _ in gaps)

    def stage_completed(self, body: Body) -> None:
        if execution := self.executions.get(self.stages.get(body["stage"], -1)):
            self._count(execution.id, body["metrics"])
            execution.written = (execution.written or 0) + body["written"]
            execution.written_bytes += body["written_bytes"]

    def progress(self, body: Body) -> None:
        rows = body["rows"]
        offsets = tuple((start, end) for start, end in body.get("offsets", ()))
        batch = StreamBatch(
            run=body["run"],
            number=body["number"],
            at=datetime.fromisoformat(body["time"]),
            sources=tuple(
                (with_topics(text, *each), rows)
                for (text, rows), each in zip(
                    body["sources"], chain(offsets, repeat(())), strict=False
                )
            ),
            sink=body["sink"],
            rows=rows if rows is not None and rows >= 0 else None,
            offsets=offsets,
            event_times=tuple(body.get("event_times", ())),
        )
        stream = self.application.streams.recall(batch.run) or StreamingQuery()
        for text, _ in batch.sources:
            if len(stream.sources) < _MOST_SOURCES:
                stream.sources[text] = None
        stream.sink = batch.sink
        self.application.streams[batch.run] = stream
        roots = self.unplaced.pop((batch.run, batch.number), ())
        groups = [group for root in roots if (group := self.groups.get(root))]
        if groups:
            groups[-1].batch = batch
        self.over.extend(groups or [batch])

    def terminated(self, body: Body) -> None:
        run = body["run"]
        stream = self.application.streams.recall(run) or StreamingQuery()
        failed = bool(body["failed"])
        self.application.streams[run] = replace(stream, stopped=not failed, failed=failed)
        # No progress will come for its last batch.
        for batch in [batch for batch in self.unplaced if batch[0] == run]:
            roots = self.unplaced.pop(batch)
            self.over.extend(group for root in roots if (group := self.groups.get(root)))

    def table_dropped(self, body: Body) -> None:
        for execution in self.executions.values():
            if execution.ended_at is None:
                execution.dropped.add(f"{body['database']}.{body['name']}".casefold())

    def partitions_created(self, body: Body) -> None:
        for execution in self.executions.values():
            if execution.ended_at is None:
                partitions = execution.new_partitions.setdefault(body["table"].casefold(), [])
                if len(partitions) < _MOST_PARTITIONS:
                    partitions += body["partitions"]

    def _add_size(self, execution: Execution, size: int) -> None:
        execution.size += size
        self.plan_bytes += size

    def _count(self, execution: int, updates: Iterable[tuple[int, int]]) -> None:
        self.application.metrics.count(execution, updates)
        if execution not in self.executions:
            self.strays.append(execution)
            if (
                len(self.strays) > SETTLE_AFTER
                and (stray := self.strays.popleft()) not in self.executions
            ):
                self.application.metrics.settle(stray)


_HANDLERS: Mapping[str, Callable[[_Replay, Body], None]] = {
    "SparkListenerLogStart": _Replay.log_start,
    "DBCEventLoggingListenerMetadata": _Replay.databricks_log_start,
    "SparkListenerApplicationStart": _Replay.application_start,
    "SparkListenerApplicationEnd": _Replay.application_end,
    "SparkListenerEnvironmentUpdate": _Replay.environment,
    "SparkListenerSQLExecutionStart": _Replay.execution_start,
    "SparkListenerSQLAdaptiveExecutionUpdate": _Replay.plan_update,
    "SparkListenerSQLExecutionEnd": _Replay.execution_end,
    "SparkListenerDriverAccumUpdates": _Replay.driver_metrics,
    "SparkListenerJobStart": _Replay.job_start,
    "SparkListenerJobEnd": _Replay.job_end,
    "SparkListenerStageCompleted": _Replay.stage_completed,
    "StreamingQueryListener$QueryProgressEvent": _Replay.progress,
    "StreamingQueryListener$QueryTerminatedEvent": _Replay.terminated,
    "DropTableEvent": _Replay.table_dropped,
    "CreatePartitionsEvent": _Replay.partitions_created,
    "SparkListenerConnectOperationStarted": _Replay.connect_request,
}


def _size(plan: PlanNode) -> int:
    """The approximate memory of a plan, in bytes."""
    return sum(_OPERATOR + len(node.text) for node in plan.walk())


def _moment(milliseconds: int) -> datetime:
    at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    if at.year not in RUN_YEARS:
        raise ValueError("it is before 1970 or after 2199")
    return at


def _end(milliseconds: int, started_at: datetime | None) -> datetime:
    """The end of what started; not before that, though the clock was set back meanwhile."""
    end = _moment(milliseconds)
    return max(end, started_at) if started_at else end
