"""Statements of an application, collected task by task while its log is read.

`identity` decides first whose application it is: dbt's own has what it built, on the engine `dbt`,
and one whose name gives no task is a reject that names the setting to change.

A task runs the same statement again and again, so statements are added up: memory grows with the
number of distinct ones, not with how often they run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from dbt_graft.collectors.spark.application import streams
from dbt_graft.collectors.spark.application.accesses import (
    PlanStatement,
    StatementKey,
    merge_accesses,
)
from dbt_graft.collectors.spark.application.execution import (
    Application,
    Execution,
    ExecutionGroup,
    LruDict,
    OutsideJobs,
    StreamBatch,
)
from dbt_graft.collectors.spark.application.identity import is_dbt
from dbt_graft.collectors.spark.application.statements import (
    StatementContext,
    outside_reads,
    statements,
)
from dbt_graft.collectors.spark.application.tasks import Root, is_of_application, task_of
from dbt_graft.collectors.spark.gap_reasons import RDD_FILES
from dbt_graft.collectors.spark.log.decode import Rejects
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver
from dbt_graft.collectors.spark.sources.relations import hides_files
from dbt_graft.collectors.statement import DatasetAccess, StatementEdge
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.gaps import WITHOUT_DATA
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import ANY_COLUMN, Status, Subtype

T = TypeVar("T")

# Distinct statements of a task; a log with more makes up names.
_MOST_STATEMENTS = 100_000


@dataclass(slots=True)
class StatementTotals:
    """Statements by what they do, how they ended, and whether they infer a schema.

    Attributes:
        left_out: The number of distinct statements beyond the limit.
    """

    statements: dict[tuple[StatementKey, Status, bool], PlanStatement] = field(default_factory=dict)
    left_out: int = 0

    def add(self, statement: PlanStatement) -> None:
        """Add one statement."""
        key = statement.key, statement.status, statement.infers_schema
        before = self.statements.get(key)
        if before is None and len(self.statements) == _MOST_STATEMENTS:
            self.left_out += 1
        else:
            self.statements[key] = _add_statements(before, statement) if before else statement

    def resolve(self, resolver: DatasetResolver) -> list[PlanStatement]:
        """The totals in order of their start, with tables instead of the paths they lie in."""
        named = StatementTotals()
        for statement in self.statements.values():
            named.add(_resolve_statement(statement, resolver))
        return sorted(named.statements.values(), key=lambda total: total.first_at)


def drop_inferences(
    statements: Iterable[PlanStatement], read: Iterable[DatasetId], resolver: DatasetResolver
) -> list[PlanStatement]:
    """Leave out inferences of the columns of files that other statements read.

    Args:
        read: The datasets that any statement reads; an inference may read one file of a folder.
    """
    names = {name for dataset in read for name in (dataset, *resolver.symlinks(dataset))}
    return [
        statement
        for statement in statements
        if not (
            statement.infers_schema and any(_is_covered(r.dataset, names) for r in statement.reads)
        )
    ]


def _is_covered(dataset: DatasetId, read: set[DatasetId]) -> bool:
    """Whether a path, or a folder around it, is read."""
    name = dataset.name
    while name and DatasetId(dataset.namespace, name) not in read:
        name = name.rpartition("/")[0]
    return bool(name)


def _add_statements(a: PlanStatement, b: PlanStatement) -> PlanStatement:
    return replace(
        a,
        reads=merge_accesses((*a.reads, *b.reads)),
        writes=merge_accesses((*a.writes, *b.writes)),
        first_at=min(a.first_at, b.first_at),
        last_at=max(a.last_at, b.last_at),
        edges=_union(a.edges, b.edges),
        gaps=_union(a.gaps, b.gaps),
        times=a.times + b.times,
    )


def _union(a: tuple[T, ...], b: tuple[T, ...]) -> tuple[T, ...]:
    """Each once; most often both are equal."""
    return a if a == b else tuple(dict.fromkeys((*a, *b)))


def _resolve_statement(statement: PlanStatement, resolver: DatasetResolver) -> PlanStatement:
    writes = _resolve_accesses(statement.writes, resolver)
    reads = _resolve_accesses(statement.reads, resolver)
    edges = tuple(dict.fromkeys(_resolve_edge(edge, resolver) for edge in statement.edges))
    if statement.operation.is_in_place:
        targets = {access.dataset for access in writes}
        reads = tuple(access for access in reads if access.dataset not in targets)
        edges = _without_copies(edges, targets)
    return replace(statement, reads=reads, writes=writes, edges=edges)


def _without_copies(
    edges: tuple[StatementEdge, ...], targets: Collection[DatasetId]
) -> tuple[StatementEdge, ...]:
    """Edges without those that only show files written anew, with the rows that do not change.

    There a column is what it was, unless the condition is true that found the files.
    """
    conditions = {
        edge.from_column
        for edge in edges
        if edge.from_dataset in targets and edge.to_column == ANY_COLUMN
    }
    return tuple(
        edge
        for edge in edges
        if edge.from_dataset not in targets
        or not (
            edge.to_column == edge.from_column
            or (edge.subtype is Subtype.CONDITIONAL and edge.from_column in conditions)
        )
    )


def _resolve_accesses(
    accesses: Iterable[DatasetAccess], resolver: DatasetResolver
) -> tuple[DatasetAccess, ...]:
    return merge_accesses(
        access._replace(dataset=owner, kind=Kind.TABLE)
        if (owner := resolver.owner(access.dataset)) != access.dataset
        else access
        for access in accesses
    )


def _resolve_edge(edge: StatementEdge, resolver: DatasetResolver) -> StatementEdge:
    to, source = resolver.owner(edge.to_dataset), resolver.owner(edge.from_dataset)
    if to is edge.to_dataset and source is edge.from_dataset:
        return edge
    return edge._replace(to_dataset=to, from_dataset=source)


_MOST_STREAMS = 10_000
# Spark drops events where they come too fast; and a part of a log may not be there.
_LOST = "{} executions are not in the log: events were dropped, or a part of it is missing"
_LOST_JOBS = "{} jobs are not in the log: events were dropped, or a part of it is missing"
# Calls of an RDD: other jobs outside of SQL find the columns of files.
_OF_RDD = tuple(f"org.apache.spark.{name}." for name in ("rdd", "api", "SparkContext"))
# What has no task. Where it moves no data, no task lacks any (`lineage.gaps`).
_UNNAMED = "{} executions name no task: `task_from` finds none"
_UNNAMED_JOBS = "{} kinds of jobs outside of SQL name no task: `task_from` finds none"
_UNNAMED_WITHOUT_DATA = f"{WITHOUT_DATA}{{}} executions that name no task"
_NO_EXECUTION = -1


@dataclass(slots=True)
class LastExecution:
    """The last execution of a run that ended, as far as the log was read, or job outside of SQL."""

    at: datetime | None = None
    error: str = ""
    execution: int = _NO_EXECUTION

    def update(self, execution: Execution, *, stopped: bool = False) -> None:
        """Take an execution if it ended later.

        Args:
            stopped: Its error is that somebody stopped its streaming query.
        """
        if ended := execution.ended_at:
            self._take(ended, "" if stopped else execution.error, execution.id)

    def update_outside(self, ended: datetime, error: str) -> None:
        """Take a job outside of SQL if it ended later."""
        self._take(ended, error, _NO_EXECUTION)

    def _take(self, ended: datetime, error: str, execution: int) -> None:
        if self.at is None or (ended, -execution) > (self.at, -self.execution):
            self.at, self.error, self.execution = ended, error, execution


@frozen
class TaskResult:
    """The distinct statements of a task in an application, or of dbt: those that write.

    Attributes:
        gaps: What it may read or write beyond its statements, sorted.
    """

    task: str
    last: LastExecution
    statements: list[PlanStatement]
    engine: str = "spark"
    gaps: tuple[str, ...] = ()

    @property
    def is_dbt(self) -> bool:
        """Whether dbt ran them."""
        return self.engine == DefinitionKind.DBT


def _moves_data(statement: PlanStatement) -> bool:
    operation = statement.operation
    return operation.brings_data or operation.renames or operation is Operation.SELECT


class ApplicationCollector:
    """Adds up the statements of an application, by task."""

    def __init__(
        self, application: Application, logs: SparkLogs, since: datetime | None = None
    ) -> None:
        """
        Args:
            since: Statements that started until then are in the store already: they extend the
                context, but do not count.
        """
        self.context = StatementContext.create(
            DatasetResolver(
                logs.namespace, settings=application.settings, namenodes=application.namenodes
            )
        )
        self._application = application
        self._logs = logs
        self._since = since
        self._rejects = Rejects()
        self._totals: dict[str, StatementTotals] = defaultdict(StatementTotals)
        self._last: dict[str, LastExecution] = defaultdict(LastExecution)
        self._stream_totals: dict[str, StatementTotals] = defaultdict(StatementTotals)
        self._task_of_stream: LruDict[str, str] = LruDict(_MOST_STREAMS)
        # The streams with a batch, and whether any of them wrote what is known.
        self._writes_of_stream: LruDict[str, bool] = LruDict(_MOST_STREAMS)
        self._gaps: dict[str, set[str]] = defaultdict(set)
        self._unnamed: Counter[str] = Counter()
        self._executions = 0
        self._is_dbt = False

    def add(self, finished: ExecutionGroup | StreamBatch) -> None:
        """Add executions, or a batch of a streaming query, that are over."""
        if isinstance(finished, StreamBatch):
            self._add_batch(finished)
        else:
            self._add_group(finished)

    def _add_group(self, group: ExecutionGroup) -> None:
        executions = group.executions.values()
        texts = ([getattr(e, name) for e in executions] for name in ("description", "text"))
        self._is_dbt = self._is_dbt or is_dbt(self._application.name, *texts)
        self._executions += len(executions)
        task = DefinitionKind.DBT.value if self._is_dbt else self._task(group.outermost)
        if task and (run := group.outermost.stream):
            self._task_of_stream[run] = task
        # An execution without a task still shows where tables lie, unless all have none.
        of_application = partial(is_of_application, self._application)
        if task is None and all(map(of_application, self._logs.task_from)):
            return
        reject, gaps = partial(self._rejects.add_for_execution, task=task or ""), set[str]()
        rejects_before = self._rejects.number
        of_group = statements(group, self._application, self.context, reject, gaps.add)
        for statement in of_group:
            if task and self._is_new(group.outermost.started_at):
                self._totals[task].add(statement)
        if group.stream and not group.outermost.error:
            self._add_batch_of(group.stream, of_group)
        if task is None:
            rejected = self._rejects.number > rejects_before
            moves = rejected or gaps or any(map(_moves_data, of_group))
            self._unnamed[_UNNAMED if moves else _UNNAMED_WITHOUT_DATA] += len(executions)
        else:
            self._gaps[task] |= gaps
            stream = self._application.streams.get(group.stream)
            for execution in executions:
                stopped = stream is not None and stream.is_interrupted_by(execution.error)
                self._last[task].update(execution, stopped=stopped)

    def _add_batch_of(self, run: str, of_batch: Iterable[PlanStatement]) -> None:
        writes = any(statement.writes for statement in of_batch)
        self._writes_of_stream[run] = writes or self._writes_of_stream.get(run, False)

    def _is_new(self, at: datetime) -> bool:
        return self._since is None or at > self._since

    def _add_batch(self, batch: StreamBatch) -> None:
        group = ExecutionGroup(_NO_EXECUTION, batch=batch)
        task = self._task_of_stream.get(batch.run, "")
        reject = partial(self._rejects.add_for_execution, task=task)
        of_batch = statements(group, self._application, self.context, reject, set[str]().add)
        if any(rows for _, rows in batch.sources):
            self._add_batch_of(batch.run, of_batch)
        for statement in of_batch:
            has_room = batch.run in self._stream_totals or len(self._stream_totals) < _MOST_STREAMS
            if has_room and self._is_new(batch.at):
                self._stream_totals[batch.run].add(statement)

    def _task(self, root: Root | None) -> str | None:
        logs = self._logs
        task = task_of(self._application, root, logs.task_from, logs.task)
        return task or logs.unnamed_task or None

    def finish(self, rejects: Rejects) -> Iterator[TaskResult]:
        """The results of all tasks, sorted by their names.

        Args:
            rejects: Takes the rejects of the application, unless it is dbt's or has no task.
        """
        application = self._application
        if application.started_at is None:
            rejects.add_for_log("the event that starts the application is missing")
            task_statements = [
                statement
                for totals in self._totals.values()
                for statement in totals.statements.values()
            ]
            if not task_statements:
                return
            application.started_at = min(statement.first_at for statement in task_statements)
        if self._is_dbt or is_dbt(application.name, (), ()):
            yield from self._built_by_dbt()
            return
        self._find_other_tasks()
        if not self._last:
            name = f"the application is called {application.name!r}, which names no task"
            rejects.add_for_log(f"{name}: {self._advice()}")
            return
        self._assign_streams()
        for reason, number in self._unnamed.items():
            rejects.add_for_log(reason.format(number))
        # The store has what a log had before it was compacted.
        for missing, text in () if self._since else self._missing():
            rejects.add_for_log(text.format(missing))
        rejects.join(self._rejects)
        for task, totals in self._totals.items():
            if left_out := totals.left_out:
                reason = f"{left_out} statements left out: too many distinct statements"
                rejects.add_for_log(reason, task)
        resolver = self.context.column_sources.resolver
        resolver.warehouse = application.warehouse
        settled = {task: self._totals[task].resolve(resolver) for task in sorted(self._last)}
        read = {
            access.dataset
            for statements_ in settled.values()
            for statement in statements_
            if not statement.infers_schema
            for access in statement.reads
        }
        for task, task_statements in settled.items():
            yield TaskResult(
                task,
                self._last[task],
                drop_inferences(task_statements, read, resolver),
                gaps=tuple(sorted(self._gaps[task])),
            )

    def _find_other_tasks(self) -> None:
        """Find the tasks without an execution: those of jobs outside of SQL, or the only one."""
        for jobs in self._application.outside.values():
            if (jobs.sources or jobs.gaps) and (task := self._task(jobs)):
                self._last.setdefault(task, LastExecution())
        if not (self._executions or self._last) and (only_task := self._task(None)):
            self._last[only_task] = LastExecution()

    def _missing(self) -> list[tuple[int, str]]:
        application = self._application
        counts = (application.executions.missing, _LOST), (application.jobs.missing, _LOST_JOBS)
        return [count for count in counts if count[0]]

    def _built_by_dbt(self) -> Iterator[TaskResult]:
        """The tables that dbt built, without its tests and questions about the metastore."""
        totals = StatementTotals()
        # Until its first sign of dbt the application was taken for a task.
        for task_totals in self._totals.values():
            for statement in task_totals.statements.values():
                if statement.writes:
                    totals.add(statement)
        resolver = self.context.column_sources.resolver
        resolver.warehouse = self._application.warehouse
        if built := totals.resolve(resolver):
            last = LastExecution(max(statement.last_at for statement in built))
            yield TaskResult(DefinitionKind.DBT.value, last, built, DefinitionKind.DBT.value)

    def _advice(self) -> str:
        if not self._application.on_databricks:
            return (
                "set spark.app.name to the task's name, with `SparkSession.builder.appName(…)` "
                "in the script or `spark-submit --name …`"
            )
        if "databricks" in self._logs.task_from:
            return "no job of Spark in it is of a notebook or job of Databricks"
        return "add `databricks` to `task_from`"

    def _assign_streams(self) -> None:
        """Assign statements without an execution to the task of their stream, or to the only
        task.
        """
        only_task = next(iter(self._last)) if len(self._last) == 1 else None
        for run, totals in self._stream_totals.items():
            stream_task = self._task_of_stream.get(run)
            for statement in totals.statements.values():
                # Reads of a stream without a sink are in its executions, if it has any.
                task = stream_task or only_task
                if task and (statement.writes or stream_task is None):
                    self._totals[task].add(statement)
        for run, writes in self._writes_of_stream.items():
            stream = self._application.streams.get(run)
            gap = None if writes else streams.gap_of_sink(stream.sink if stream else "")
            if gap:
                self._add_gaps(self._task_of_stream.get(run) or only_task, {gap})
        for jobs in self._application.outside.values():
            self._add_outside(jobs, self._task(jobs) or only_task)

    def _add_outside(self, jobs: OutsideJobs, task: str | None) -> None:
        """Add jobs outside of SQL to their task."""
        writers = self._application.model_writers
        gaps = {reason for reason, file in jobs.gaps if file not in writers}
        if jobs.details.startswith(_OF_RDD) and any(map(hides_files, jobs.sources)):
            gaps.add(RDD_FILES)
        self._add_gaps(task, gaps)
        if task is None and jobs.sources:
            self._unnamed[_UNNAMED_JOBS] += 1
        if task not in self._last:
            return
        if jobs.last:
            self._last[task].update_outside(*jobs.last)
        for statement in outside_reads(jobs, self.context.column_sources.resolver):
            if self._is_new(statement.last_at):
                self._totals[task].add(statement)

    def _add_gaps(self, task: str | None, gaps: set[str]) -> None:
        """Add what statements do not show to a task; to each where it is not known to which."""
        for each in [task] if task else self._last:
            self._gaps[each] |= gaps
