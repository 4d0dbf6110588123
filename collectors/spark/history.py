"""Events -> the application's executions, each with its plan, its outcome and its metrics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from collectors.spark.bodies import Body
from collectors.spark.plans.info import Node, from_info
from lineage.records import Status

# Versions in which only the jobs of an execution tell how it ended.
_TELLS_BY_JOBS = re.compile(r"[12]\.|3\.[0-3](?!\d)")


@dataclass(slots=True)
class Execution:
    """One SQL execution of Spark: a query or a command; commands run others nested in them.

    Attributes:
        root: The execution this one is nested in, outermost; its own id where there is none.
        text: The formatted plan.
        plan: The plan it started with; None where Spark failed before there was one.
        final: The last plan that adaptive execution came to; its metrics are those that count.
        error: The message it failed with; empty where it did not.
        group: The job group it ran in.
        details: The call stack it came from.
        dropped: Tables (`db.name`) that the metastore dropped while it ran.
    """

    id: int
    root: int
    description: str
    text: str
    started_at: datetime
    ended_at: datetime | None = None
    plan: Node | None = None
    final: Node | None = None
    error: str = ""
    group: str = ""
    details: str = ""
    dropped: set[str] = field(default_factory=set)

    @property
    def status(self) -> Status:
        """UNKNOWN where the log ends before the execution does."""
        if self.ended_at is None:
            return Status.UNKNOWN
        return Status.FAILED if self.error else Status.OK

    def encloses(self, other: Execution) -> bool:
        """Whether the other ran within this one, under the same root."""
        if self is other or self.root != other.root or self.started_at > other.started_at:
            return False
        if self.started_at == other.started_at and self.id > other.id:
            return False
        return self.ended_at is None or (
            other.ended_at is not None and other.ended_at <= self.ended_at
        )


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of a streaming query: its run, and its sources with their rows, and its sink."""

    run: str
    number: int
    at: datetime
    sources: tuple[tuple[str, int | None], ...]
    sink: str
    rows: int | None


@dataclass(slots=True)
class Application:
    """What a log tells of its application.

    Attributes:
        settings: Its configuration; may hold secrets.
        exit_code: Zero in most modes however Python ended, so only another number says something.
        finished: The log has the application's last event.
        values: The last value of each metric, by accumulator, and the execution that counted it
            first (scans below a cached relation repeat the numbers of the one that filled it).
        written: How many rows the tasks of each execution gave away.
        rdds: Of each RDD by its id what it reads, if anything, and its parents.
        outside: What jobs outside of SQL read, and from when to when.
        batches: Of streaming queries.
    """

    id: str = ""
    attempt: str = ""
    name: str = ""
    spark_version: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    finished: bool = False
    exit_code: int = 0
    warehouse: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    executions: dict[int, Execution] = field(default_factory=dict)
    values: dict[int, tuple[int, int]] = field(default_factory=dict)
    written: Counter[int] = field(default_factory=Counter)
    rdds: dict[int, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    outside: dict[str, tuple[datetime, datetime]] = field(default_factory=dict)
    batches: list[Batch] = field(default_factory=list)

    def metric(self, execution: Execution, accumulator: int | None) -> int | None:
        """A metric as this execution counted it; None where it counted none."""
        if accumulator is None:
            return None
        value, owner = self.values.get(accumulator, (0, -1))
        return value if owner == execution.id else None


def replay(events: Iterable[tuple[str, Body]]) -> tuple[Application, list[str]]:
    """The application that these events, in the order of the log, tell of.

    Returns:
        It, and for each event that could not be used the reason.
    """
    replay = _Replay()
    problems: list[str] = []
    for name, body in events:
        try:
            _HANDLERS[name](replay, body)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            where = f"execution {body['executionId']}: " if "executionId" in body else ""
            problems.append(f"{where}{name} is not as expected ({type(error).__name__})")
    return replay.application, problems


@dataclass(slots=True)
class _Replay:
    """The application as far as its events have been seen.

    Attributes:
        stages: Their executions.
        jobs: The executions of those that run.
    """

    application: Application = field(default_factory=Application)
    stages: dict[int, int] = field(default_factory=dict)
    jobs: dict[int, int] = field(default_factory=dict)

    def log_start(self, body: Body) -> None:
        self.application.spark_version = body["Spark Version"]

    def application_start(self, body: Body) -> None:
        self.application.name = body["App Name"]
        self.application.id = body.get("App ID") or ""
        self.application.attempt = body.get("App Attempt ID") or ""
        self.application.started_at = _moment(body["Timestamp"])

    def application_end(self, body: Body) -> None:
        self.application.ended_at = _moment(body["Timestamp"])
        self.application.finished = True
        self.application.exit_code = body.get("ExitCode") or 0

    def environment(self, body: Body) -> None:
        self.application.warehouse = body["warehouse"]
        self.application.settings.update(body.get("settings", {}))

    def execution_start(self, body: Body) -> None:
        started = Execution(
            id=body["executionId"],
            root=body["executionId"]
            if body.get("rootExecutionId") is None
            else body["rootExecutionId"],
            description=body.get("description") or "",
            text=body.get("physicalPlanDescription") or "",
            started_at=_moment(body["time"]),
            group=body.get("jobGroupId") or "",
            details=body.get("details") or "",
        )
        self.application.settings.update(body.get("catalogs", {}))
        # First kept, then given its plan: one that cannot be read still ends and may fail.
        self.application.executions[started.id] = started
        started.plan = from_info(body["sparkPlanInfo"])

    def plan_update(self, body: Body) -> None:
        if execution := self.application.executions.get(body["executionId"]):
            execution.final = from_info(body["sparkPlanInfo"])

    def execution_end(self, body: Body) -> None:
        if execution := self.application.executions.get(body["executionId"]):
            execution.ended_at = _moment(body["time"])
            if "errorMessage" in body:
                execution.error = body["errorMessage"] or ""

    def driver_metrics(self, body: Body) -> None:
        self._count(body["executionId"], body["accumUpdates"])

    def job_start(self, body: Body) -> None:
        if execution := self.application.executions.get(body.get("execution", -1)):
            execution.group = execution.group or body["group"]
        if "execution" in body:
            self.jobs[body["job"]] = body["execution"]
        else:
            self._outside(body)
        for rdd, source, parents in body.get("rdds", ()):
            known = self.application.rdds.get(rdd, ("", ()))
            # A checkpoint cuts an RDD from its parents; earlier jobs have them.
            self.application.rdds[rdd] = (known[0] or source, known[1] or tuple(parents))
        for stage in body.get("stages", ()):
            # A later job may list a stage again that it found already computed.
            self.stages.setdefault(stage, body["execution"])

    def _outside(self, body: Body) -> None:
        """Take what a job reads that no execution has started."""
        at = _moment(body["time"]) if body["time"] else self.application.started_at
        for source in {source for _, source, _ in body["rdds"] if source}:
            if at is None:
                return
            first, last = self.application.outside.get(source, (at, at))
            self.application.outside[source] = min(first, at), max(last, at)

    def job_end(self, body: Body) -> None:
        execution = self.application.executions.get(self.jobs.pop(body["job"], -1))
        if execution and _TELLS_BY_JOBS.match(self.application.spark_version):
            execution.error = execution.error or body["error"]

    def stage_completed(self, body: Body) -> None:
        if body["stage"] in self.stages:
            execution = self.stages[body["stage"]]
            self._count(execution, body["metrics"])
            self.application.written[execution] += body.get("written", 0)

    def progress(self, body: Body) -> None:
        rows = body["rows"]
        self.application.batches.append(
            Batch(
                run=body["run"],
                number=body["number"],
                at=datetime.fromisoformat(body["time"]),
                sources=tuple((text, rows) for text, rows in body["sources"]),
                sink=body["sink"],
                rows=rows if rows is not None and rows >= 0 else None,
            )
        )

    def table_dropped(self, body: Body) -> None:
        for execution in self.application.executions.values():
            if execution.ended_at is None:
                execution.dropped.add(f"{body['database']}.{body['name']}".casefold())

    def _count(self, execution: int, updates: Iterable[tuple[int, int]]) -> None:
        values = self.application.values
        for accumulator, value in updates:
            _, owner = values.get(accumulator, (0, execution))
            if owner == execution:
                values[accumulator] = (value, owner)


_HANDLERS: Mapping[str, Callable[[_Replay, Body], None]] = {
    "SparkListenerLogStart": _Replay.log_start,
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
    "DropTableEvent": _Replay.table_dropped,
}


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
