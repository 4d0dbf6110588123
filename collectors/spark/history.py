"""Events -> the application's executions, each with its plan, its outcome and its metrics.

Executions are given as soon as they are over, and then let go of: a log may hold more plans than
memory does. What lives on (`Application`) is bounded, or small for each distinct thing.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain

from collectors.spark.bodies import Body
from collectors.spark.metrics import Metrics
from collectors.spark.plans.info import Node, from_info
from collectors.spark.recent import Recent
from lineage.records import Status

# Versions in which only the jobs of an execution tell how it ended.
_TELLS_BY_JOBS = re.compile(r"[12]\.|3\.[0-3](?!\d)")
_RUN = re.compile(r"^runId = (?P<run>[0-9a-f-]{36})$", re.MULTILINE)
_BATCH = re.compile(r"^batch = (?P<number>\d{1,18})$", re.MULTILINE)
# Metrics may come a little after the end of their execution: so many others end first.
WAITS = 16
# Plans of executions that never end, in bytes: beyond, the oldest counts as it is.
_MOST_HELD = 64 << 20
# What an operator of a plan takes beside its text.
_OPERATOR = 500
_MOST_RDDS, _MOST_SOURCES, _MOST_STREAMS = 10_000, 1_000, 10_000
_MOST_OUTSIDE, _MOST_REQUESTS = 10_000, 1_000


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
        sql: Its statement's text without literals, where the log has it.
        dropped: Tables (`db.name`) that the metastore dropped while it ran.
        stages: Of its jobs.
        written: How many rows its tasks gave away; None where no stage of it is done.
        size: About what its plans take of memory, in bytes.
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
    sql: str = ""
    dropped: set[str] = field(default_factory=set)
    stages: list[int] = field(default_factory=list)
    written: int | None = None
    size: int = 0

    @property
    def status(self) -> Status:
        """UNKNOWN where the log ends before the execution does."""
        if self.ended_at is None:
            return Status.UNKNOWN
        return Status.FAILED if self.error else Status.OK

    @property
    def stream(self) -> str | None:
        """The run of the streaming query that it is a batch of."""
        found = _RUN.search(self.description)
        return found["run"] if found else None

    @property
    def batch(self) -> tuple[str, int] | None:
        """The run of the streaming query and the number of its batch that it is."""
        run, found = self.stream, _BATCH.search(self.description)
        return (run, int(found["number"])) if run and found else None

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
class Group:
    """An outermost execution and all that are nested in it.

    Attributes:
        root: The id of the outermost; it need not be among them, for the log may lack its start.
        executions: By id.
        ended: The outermost has ended.
        batch: What it is of a streaming query, as the query's progress tells it.
    """

    root: int
    executions: dict[int, Execution] = field(default_factory=dict)
    ended: bool = False
    batch: Batch | None = None

    @property
    def outermost(self) -> Execution:
        """The execution that all others ran in, or what comes closest to it."""
        return self.executions.get(self.root) or next(iter(self.executions.values()))

    @property
    def is_over(self) -> bool:
        """Whether all of them have ended."""
        return self.ended and all(one.ended_at for one in self.executions.values())


@dataclass(slots=True)
class Stream:
    """A run of a streaming query: how its progress describes its sources and its sink."""

    sources: dict[str, None] = field(default_factory=dict)
    sink: str = ""


@dataclass(slots=True)
class Application:
    """What a log tells of its application.

    Attributes:
        settings: Its configuration; may hold secrets.
        exit_code: Zero in most modes however Python ended, so only another number says something.
        finished: The log has the application's last event.
        metrics: What its executions counted.
        rdds: Of each RDD by its id what it was made of: scans and paths. Only the latest: an RDD
            that is still used is in each job that uses it.
        outside: What jobs outside of SQL read, and from when to when.
        streams: By the run of the streaming query.
        requests: To Spark Connect, as SQL without literals, by the tag of their jobs.
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
    metrics: Metrics = field(default_factory=Metrics)
    rdds: Recent[int, tuple[str, ...]] = field(default_factory=lambda: Recent(_MOST_RDDS))
    outside: dict[str, tuple[datetime, datetime]] = field(default_factory=dict)
    streams: Recent[str, Stream] = field(default_factory=lambda: Recent(_MOST_STREAMS))
    requests: Recent[str, str] = field(default_factory=lambda: Recent(_MOST_REQUESTS))


def replay(
    events: Iterable[tuple[str, Body]],
    application: Application,
    tell: Callable[[str], None],
    waits: int = WAITS,
) -> Iterator[Group | Batch]:
    """What happens in the events of a log, in the order in which it is over.

    Args:
        events: In the order of the log.
        application: Takes what they tell of it.
        tell: Takes the reason for each event that could not be used.
        waits: How many others must be over before an execution is given.

    Yields:
        Executions together with those nested in them, and batches of streaming queries that the
        log has no execution of. A group is let go of thereafter.
    """
    replay = _Replay(application)
    for name, body in events:
        try:
            _HANDLERS[name](replay, body)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError) as error:
            where = f"execution {body['executionId']}: " if "executionId" in body else ""
            tell(f"{where}{name} is not as expected ({type(error).__name__})")
        yield from replay.settled(waits)
    yield from replay.rest()


@dataclass(slots=True)
class _Replay:
    """The application as far as its events have been seen.

    Attributes:
        executions: Those that are not settled.
        groups: The same by their outermost one.
        stages: For each stage of theirs which one it belongs to.
        jobs: The same of jobs that run.
        over: What is over, in that order.
        unplaced: Batches of streaming queries that are over, but the query's progress has not
            said yet from where and into what: by run and number.
        strays: Executions without a start that counted something.
        held: What their plans take, in bytes.
    """

    application: Application
    executions: dict[int, Execution] = field(default_factory=dict)
    groups: dict[int, Group] = field(default_factory=dict)
    stages: dict[int, int] = field(default_factory=dict)
    jobs: dict[int, int] = field(default_factory=dict)
    over: deque[Group | Batch] = field(default_factory=deque)
    unplaced: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    strays: deque[int] = field(default_factory=deque)
    held: int = 0

    def settled(self, waits: int) -> Iterator[Group | Batch]:
        """What is over for long enough, or takes too much room."""
        while len(self.over) > waits:
            yield from self._given(self.over.popleft())
        while self.held > _MOST_HELD and self.groups:
            yield from self._given(next(iter(self.groups.values())))

    def rest(self) -> Iterator[Group | Batch]:
        """What is left at the log's end."""
        yield from self.settled(0)
        for group in list(self.groups.values()):
            yield from self._given(group)

    def _given(self, found: Group | Batch) -> Iterator[Group | Batch]:
        if isinstance(found, Batch):
            yield found
            return
        if self.groups.get(found.root) is not found:
            return  # It took too much room.
        yield found
        del self.groups[found.root]
        for execution in found.executions.values():
            self.held -= execution.size
            self.application.metrics.settle(execution.id)
            del self.executions[execution.id]
            for stage in execution.stages:
                del self.stages[stage]

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
        id_ = body["executionId"]
        root = body.get("rootExecutionId")
        if id_ in self.executions:
            raise ValueError("it runs already")
        started = Execution(
            id=id_,
            root=id_ if root is None else root,
            description=body.get("description") or "",
            text=body.get("physicalPlanDescription") or "",
            started_at=_moment(body["time"]),
            group=body.get("jobGroupId") or "",
            details=body.get("details") or "",
            sql=body.get("sql") or self._requested(body.get("jobTags") or ()),
        )
        self.application.settings.update(body.get("catalogs", {}))
        # First kept, then given its plan: one that cannot be read still ends and may fail.
        self.executions[id_] = started
        self.groups.setdefault(started.root, Group(started.root)).executions[id_] = started
        self._hold(started, len(started.text))
        started.plan = from_info(body["sparkPlanInfo"])
        self._hold(started, _size(started.plan))

    def _requested(self, tags: Iterable[str]) -> str:
        requests = self.application.requests
        return next((sql for tag in tags if (sql := requests.recall(tag))), "")

    def connect_request(self, body: Body) -> None:
        self.application.requests[body["tag"]] = body["sql"]

    def plan_update(self, body: Body) -> None:
        if execution := self.executions.get(body["executionId"]):
            execution.final = from_info(body["sparkPlanInfo"])
            self._hold(execution, _size(execution.final))

    def execution_end(self, body: Body) -> None:
        id_ = body["executionId"]
        execution = self.executions.get(id_)
        if execution:
            execution.ended_at = _moment(body["time"])
            if "errorMessage" in body:
                execution.error = body["errorMessage"] or ""
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
        # Parents are older, so they come first.
        for rdd, source, parents in sorted(body.get("rdds", ())):
            # A checkpoint cuts an RDD from its parents; earlier jobs have them.
            if rdds.recall(rdd) is None:
                above = (rdds.recall(parent) or () for parent in parents)
                made_of = (source,) if source else tuple(dict.fromkeys(chain.from_iterable(above)))
                if made_of:
                    rdds[rdd] = made_of[:_MOST_SOURCES]
        if "execution" not in body:
            self._outside(body)
        elif execution := self.executions.get(body["execution"]):
            self.jobs[body["job"]] = execution.id
            execution.group = execution.group or body["group"]
            for stage in body["stages"]:
                # A later job may list a stage again that it found already computed.
                if self.stages.setdefault(stage, execution.id) == execution.id:
                    execution.stages.append(stage)

    def _outside(self, body: Body) -> None:
        """Take what a job reads that no execution has started."""
        outside = self.application.outside
        at = _moment(body["time"]) if body["time"] else self.application.started_at
        for source in {source for _, source, _ in body["rdds"] if source}:
            if at is None or (len(outside) == _MOST_OUTSIDE and source not in outside):
                return
            first, last = outside.get(source, (at, at))
            outside[source] = min(first, at), max(last, at)

    def job_end(self, body: Body) -> None:
        execution = self.executions.get(self.jobs.pop(body["job"], -1))
        if execution and _TELLS_BY_JOBS.match(self.application.spark_version):
            execution.error = execution.error or body["error"]

    def stage_completed(self, body: Body) -> None:
        if execution := self.executions.get(self.stages.get(body["stage"], -1)):
            self._count(execution.id, body["metrics"])
            execution.written = (execution.written or 0) + body["written"]

    def progress(self, body: Body) -> None:
        rows = body["rows"]
        batch = Batch(
            run=body["run"],
            number=body["number"],
            at=datetime.fromisoformat(body["time"]),
            sources=tuple((text, rows) for text, rows in body["sources"]),
            sink=body["sink"],
            rows=rows if rows is not None and rows >= 0 else None,
        )
        stream = self.application.streams.recall(batch.run) or Stream()
        stream.sources |= dict.fromkeys(text for text, _ in batch.sources)
        stream.sink = batch.sink
        self.application.streams[batch.run] = stream
        roots = self.unplaced.pop((batch.run, batch.number), ())
        groups = [group for root in roots if (group := self.groups.get(root))]
        if groups:
            groups[-1].batch = batch
        self.over.extend(groups or [batch])

    def table_dropped(self, body: Body) -> None:
        for execution in self.executions.values():
            if execution.ended_at is None:
                execution.dropped.add(f"{body['database']}.{body['name']}".casefold())

    def _hold(self, execution: Execution, size: int) -> None:
        execution.size += size
        self.held += size

    def _count(self, execution: int, updates: Iterable[tuple[int, int]]) -> None:
        self.application.metrics.count(execution, updates)
        if execution not in self.executions:
            self.strays.append(execution)
            if len(self.strays) > WAITS and (stray := self.strays.popleft()) not in self.executions:
                self.application.metrics.settle(stray)


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
    "SparkListenerConnectOperationStarted": _Replay.connect_request,
}


def _size(plan: Node) -> int:
    """About what a plan takes of memory."""
    return sum(_OPERATOR + len(node.text) for node in plan.walk())


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
