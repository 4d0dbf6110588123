"""Applications, their executions, and the batches of their streaming queries.

Metrics of executions, by accumulator.

An accumulator belongs to the execution that updates it first: scans below a cached relation repeat
the metrics of the execution that filled the cache. When that execution is settled, its metrics are
freed, and one bit each remembers that they had an owner.
"""

from __future__ import annotations

import re
from collections import OrderedDict, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from dbt_graft.collectors.spark.plans.tree import PlanNode
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.dates.partition_dates import Partition
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Status

K = TypeVar("K")
V = TypeVar("V")


class LruDict(OrderedDict[K, V]):
    """A dict that drops its least recently used entry when it is full."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        """Set an entry and mark it as used."""
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)

    def recall(self, key: K) -> V | None:
        """Return the value and mark it as used; None where there is none."""
        value = self.get(key)
        if value is not None:
            self.move_to_end(key)
        return value


_BITS = 10


@dataclass(slots=True)
class Metrics:
    """The last value of each accumulator of the executions that are not settled yet.

    Attributes:
        values: The value and the owning execution, by accumulator.
        owned: The accumulators, by execution.
        gone: Bits of the accumulators of settled executions, 1,024 a number.
    """

    values: dict[int, tuple[int, int]] = field(default_factory=dict)
    owned: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    gone: dict[int, int] = field(default_factory=dict)

    def __contains__(self, accumulator: int | None) -> bool:
        """Whether any execution updated it."""
        return accumulator is not None and (
            accumulator in self.values or self._is_gone(accumulator)
        )

    def count_of(self, execution: int, accumulator: int | None) -> int | None:
        """The value that this execution counted; None where it counted none."""
        if accumulator is None:
            return None
        value, owner = self.values.get(accumulator, (0, -1))
        return value if owner == execution else None

    def count(self, execution: int, updates: Iterable[tuple[int, int]]) -> None:
        """Take updates from an execution.

        Raises:
            TypeError: Something is no number; the updates before it count.
        """
        for accumulator, value in updates:
            if type(accumulator) is not int or type(value) is not int:
                raise TypeError("no number")
            _, owner = self.values.get(accumulator, (0, None))
            if owner is None and not self._is_gone(accumulator):
                owner = execution
                self.owned[execution].append(accumulator)
            if owner == execution:
                self.values[accumulator] = (value, execution)

    def settle(self, execution: int) -> None:
        """Free an execution's metrics."""
        for accumulator in self.owned.pop(execution, ()):
            del self.values[accumulator]
            page, bit = divmod(accumulator, 1 << _BITS)
            self.gone[page] = self.gone.get(page, 0) | 1 << bit

    def _is_gone(self, accumulator: int) -> bool:
        page, bit = divmod(accumulator, 1 << _BITS)
        return bool(self.gone.get(page, 0) >> bit & 1)


_RUN = re.compile(r"^runId = (?P<run>[0-9a-f-]{36})$", re.MULTILINE)
_BATCH = re.compile(r"^batch = (?P<number>\d{1,18})$", re.MULTILINE)
# The error of a batch in the middle of which somebody stopped the query.
_INTERRUPTED = re.compile(
    r"(?:[\w.]+: )*java\.(?:lang\.InterruptedException|nio\.channels\.ClosedByInterruptException)"
    r"|(?:[\w.]+: )*(?:\[SPARK_JOB_CANCELLED\] )?Job \d+ cancelled[^\n]* was stopped"
)
_MOST_RDDS, _MOST_STREAMS, _MOST_REQUESTS = 10_000, 10_000, 1_000


@dataclass(slots=True)
class Execution:
    """A SQL execution of Spark: a query or a command; commands run nested executions.

    Attributes:
        root: The id of the outermost execution around it; its own id where there is none.
        plan: The plan at its start; None where Spark failed before that.
        final: The last plan of adaptive execution, which has the valid metrics.
        error: Its error message; empty where it succeeded.
        sql: The text of its statement without literals, where the log has it.
        catalogs: The settings of catalogs that its session changed.
        dropped: Tables (`db.name`) that the metastore dropped while it ran.
        new_partitions: The partitions that it created while it ran, by table.
        written: The rows that its tasks put out; None where none of its stages has ended.
        written_bytes: The bytes that they put out; 0 where nothing counts them.
        gaps: What its jobs may touch beyond its plan.
        sources: The scans and paths that the RDDs of its jobs were made of.
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
    work: str = ""
    details: str = ""
    sql: str = ""
    catalogs: dict[str, str] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    new_partitions: dict[str, list[Partition]] = field(default_factory=dict)
    stages: list[int] = field(default_factory=list)
    written: int | None = None
    written_bytes: int = 0
    gaps: set[str] = field(default_factory=set)
    sources: dict[str, None] = field(default_factory=dict)
    size: int = 0

    @property
    def status(self) -> Status:
        """UNKNOWN where the log ends before the execution does."""
        if self.ended_at is None:
            return Status.UNKNOWN
        return Status.FAILED if self.error else Status.OK

    @property
    def stream(self) -> str | None:
        """The run of the streaming query of which it is a batch."""
        match = _RUN.search(self.description)
        return match["run"] if match else None

    @property
    def batch(self) -> tuple[str, int] | None:
        """The run of the streaming query, and the number of the batch."""
        run, match = self.stream, _BATCH.search(self.description)
        return (run, int(match["number"])) if run and match else None

    def encloses(self, other: Execution) -> bool:
        """Whether the other ran within this one, under the same root."""
        if self is other or self.root != other.root or self.started_at > other.started_at:
            return False
        if self.started_at == other.started_at and self.id > other.id:
            return False
        return self.ended_at is None or (
            other.ended_at is not None and other.ended_at <= self.ended_at
        )


@frozen
class StreamBatch:
    """A batch of a streaming query: its run, its sources with their rows, and its sink.

    Attributes:
        offsets: Where each source began and ended, as the source writes it.
        event_times: The first and the last time in the rows; empty where the query has none.
    """

    run: str
    number: int
    at: datetime
    sources: tuple[tuple[str, int | None], ...]
    sink: str
    rows: int | None
    offsets: tuple[tuple[str, str], ...] = ()
    event_times: tuple[str, ...] = ()


@dataclass(slots=True)
class ExecutionGroup:
    """An outermost execution and all that are nested in it.

    Attributes:
        root: The id of the outermost, which is missing in `executions` if the log lacks its start.
        ended: The outermost has ended.
        batch: The batch of a streaming query that it ran, from the query's progress.
    """

    root: int
    executions: dict[int, Execution] = field(default_factory=dict)
    ended: bool = False
    batch: StreamBatch | None = None

    @property
    def outermost(self) -> Execution:
        """The outermost execution, or the first one if the log lacks it."""
        return self.executions.get(self.root) or next(iter(self.executions.values()))

    @property
    def stream(self) -> str:
        """The run of the streaming query of which it is a batch; empty where it is none."""
        if self.batch:
            return self.batch.run
        return (self.outermost.stream or "") if self.executions else ""

    @property
    def is_over(self) -> bool:
        """Whether all of them have ended."""
        return self.ended and all(execution.ended_at for execution in self.executions.values())


@dataclass(slots=True)
class StreamingQuery:
    """A run of a streaming query: the descriptions of its sources and its sink.

    Attributes:
        stopped: It ended without an exception: what was still running was interrupted.
    """

    sources: dict[str, None] = field(default_factory=dict)
    sink: str = ""
    stopped: bool = False
    failed: bool = False

    def is_interrupted_by(self, error: str) -> bool:
        """Whether an error of a batch is that the query was stopped, and no failure.

        The event of the query's end decides; where the application ended before it, the error.
        """
        return self.stopped or (not self.failed and bool(_INTERRUPTED.match(error)))


@dataclass(slots=True)
class OutsideJobs:
    """Jobs outside of SQL that were started alike: what they read, and how the last one ended.

    Attributes:
        description, group, details, work: As those of an execution.
        sources: What they read, with the first and the last time.
        gaps: What else they may touch: the reason, and the file that called what does.
        last: The end of the last of them, and its error if it failed.
    """

    description: str = ""
    group: str = ""
    details: str = ""
    work: str = ""
    sources: dict[str, tuple[datetime, datetime]] = field(default_factory=dict)
    gaps: set[tuple[str, str]] = field(default_factory=set)
    last: tuple[datetime, str] | None = None


@dataclass(slots=True)
class StartedIds:
    """Ids that Spark counts up: those between the first and the last without a start are lost."""

    first: int | None = None
    last: int = -1
    started: int = 0

    def start(self, number: int) -> None:
        """Take the id of what started; -1 where the event has none."""
        if number >= 0:
            self.mention(number)
            self.started += 1

    def mention(self, number: int) -> None:
        """Take an id that an event names."""
        self.first = number if self.first is None else min(self.first, number)
        self.last = max(self.last, number)

    @property
    def missing(self) -> int:
        """The number of ids without a start."""
        return 0 if self.first is None else max(self.last - self.first + 1 - self.started, 0)


@dataclass(slots=True)
class Application:
    """An application, as its log describes it.

    Attributes:
        main_file: The name of its script; empty where it is not known.
        settings: Its configuration; may hold secrets.
        namenodes: As `sources.hdfs` finds them.
        exit_code: In most modes 0 even where Python failed.
        finished: The log has the application's last event, or ends while nothing runs and is of
            Databricks, whose logs have no such event.
        on_databricks: The log was written there.
        rdds: The scans and paths that each RDD was made of, by its id. Only the latest: an RDD
            that is still used is in each job that uses it.
        outside: Its jobs outside of SQL, by how they were started.
        executions, jobs: Their ids.
        model_writers: The files of Spark's libraries for models that save one: what they write by
            an RDD lies beside it.
        requests: Statements of Spark Connect, without literals, by the tag of their jobs.
        interval: The days that its arguments name: the first, and the one behind the last.
    """

    id: str = ""
    attempt: str = ""
    name: str = ""
    main_file: str = ""
    spark_version: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    finished: bool = False
    on_databricks: bool = False
    exit_code: int = 0
    warehouse: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    namenodes: dict[str, str] = field(default_factory=dict)
    metrics: Metrics = field(default_factory=Metrics)
    rdds: LruDict[int, tuple[str, ...]] = field(default_factory=lambda: LruDict(_MOST_RDDS))
    outside: dict[tuple[str, ...], OutsideJobs] = field(default_factory=dict)
    executions: StartedIds = field(default_factory=StartedIds)
    jobs: StartedIds = field(default_factory=StartedIds)
    model_writers: set[str] = field(default_factory=set)
    streams: LruDict[str, StreamingQuery] = field(default_factory=lambda: LruDict(_MOST_STREAMS))
    requests: LruDict[str, str] = field(default_factory=lambda: LruDict(_MOST_REQUESTS))
    date_columns: DateColumns = field(default_factory=DateColumns)
    interval: tuple[datetime, datetime] | None = None
