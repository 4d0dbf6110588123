"""What a log tells: an application, its executions, and the batches of its streaming queries."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from dbt_graft.collectors.spark.application.lru import LruDict
from dbt_graft.collectors.spark.application.metrics import Metrics
from dbt_graft.collectors.spark.plans.info import PlanNode
from dbt_graft.lineage.records import Status

_RUN = re.compile(r"^runId = (?P<run>[0-9a-f-]{36})$", re.MULTILINE)
_BATCH = re.compile(r"^batch = (?P<number>\d{1,18})$", re.MULTILINE)
_MOST_RDDS, _MOST_STREAMS, _MOST_REQUESTS = 10_000, 10_000, 1_000


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
    plan: PlanNode | None = None
    final: PlanNode | None = None
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
class StreamBatch:
    """A batch of a streaming query: its run, and its sources with their rows, and its sink."""

    run: str
    number: int
    at: datetime
    sources: tuple[tuple[str, int | None], ...]
    sink: str
    rows: int | None


@dataclass(slots=True)
class ExecutionGroup:
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
    batch: StreamBatch | None = None

    @property
    def outermost(self) -> Execution:
        """The execution that all others ran in, or what comes closest to it."""
        return self.executions.get(self.root) or next(iter(self.executions.values()))

    @property
    def is_over(self) -> bool:
        """Whether all of them have ended."""
        return self.ended and all(one.ended_at for one in self.executions.values())


@dataclass(slots=True)
class StreamingQuery:
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
    rdds: LruDict[int, tuple[str, ...]] = field(default_factory=lambda: LruDict(_MOST_RDDS))
    outside: dict[str, tuple[datetime, datetime]] = field(default_factory=dict)
    streams: LruDict[str, StreamingQuery] = field(default_factory=lambda: LruDict(_MOST_STREAMS))
    requests: LruDict[str, str] = field(default_factory=lambda: LruDict(_MOST_REQUESTS))
