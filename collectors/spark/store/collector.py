"""What an application did, task by task, gathered while its log is read.

Whose application it is decides first (`identity`): dbt's own gives nothing, and one whose name
names no task a reason that says what to do. Either way the log counts as read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from dbt_graft.collectors.spark.application.execution import (
    Application,
    Execution,
    ExecutionGroup,
    StreamBatch,
)
from dbt_graft.collectors.spark.application.identity import is_dbt
from dbt_graft.collectors.spark.application.lru import LruDict
from dbt_graft.collectors.spark.application.statements import (
    Statement,
    StatementContext,
    outside,
    statements,
)
from dbt_graft.collectors.spark.application.tasks import is_of_application, task_of
from dbt_graft.collectors.spark.application.totals import StatementTotals
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.log.rejects import Rejects
from dbt_graft.collectors.spark.sources.datasets import DatasetResolver

_MOST_STREAMS = 10_000
_NO_EXECUTION = -1


@dataclass(slots=True)
class LastExecution:
    """The last execution of a run that ended, as far as the log was read.

    Attributes:
        at: When it did.
        error: What it failed with; empty where it did not.
    """

    at: datetime | None = None
    error: str = ""
    execution: int = -1

    def take(self, execution: Execution) -> None:
        """See one more."""
        ended = execution.ended_at
        if ended and (self.at is None or (ended, -execution.id) > (self.at, -self.execution)):
            self.at, self.error, self.execution = ended, execution.error, execution.id


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What a task did in an application: one statement for all that did the same."""

    task: str
    end: LastExecution
    statements: list[Statement]


class ApplicationCollector:
    """What an application did, as far as its log was read.

    Attributes:
        known: What statements told that others need.
    """

    def __init__(
        self, application: Application, logs: SparkLogs, since: datetime | None = None
    ) -> None:
        """
        Args:
            application: As `replay` fills it.
            since: What had started by then is told already: it is learned from, but not counted.
        """
        self.context = StatementContext.of(
            DatasetResolver(logs.namespace, settings=application.settings)
        )
        self._application = application
        self._logs = logs
        self._since = since
        self._rejects = Rejects()
        self._totals: dict[str, StatementTotals] = defaultdict(StatementTotals)
        self._ends: dict[str, LastExecution] = defaultdict(LastExecution)
        self._stream_totals: dict[str, StatementTotals] = defaultdict(StatementTotals)
        self._of_stream: LruDict[str, str] = LruDict(_MOST_STREAMS)
        self._unnamed = 0
        self._executions = 0
        self._is_dbt = False

    def take(self, found: ExecutionGroup | StreamBatch) -> None:
        """Take what is over."""
        if isinstance(found, StreamBatch):
            self._batch(found)
        else:
            self._group(found)

    def _group(self, group: ExecutionGroup) -> None:
        executions = group.executions.values()
        texts = ([getattr(e, name) for e in executions] for name in ("description", "text"))
        self._is_dbt = self._is_dbt or is_dbt(self._application.name, *texts)
        self._executions += len(executions)
        task = self._task(group.outermost)
        if task is None:
            self._unnamed += len(executions)
        elif run := group.outermost.stream:
            self._of_stream[run] = task
        # What has no task still tells where tables lie; but not if nothing can have one.
        unassignable = task is None and all(map(is_of_application, self._logs.task_from))
        if self._is_dbt or unassignable:
            return
        for statement in statements(
            group, self._application, self.context, self._rejects.add_for_log
        ):
            if task and self._is_new(group.outermost.started_at):
                self._totals[task].add(statement)
        if task:
            for execution in executions:
                self._ends[task].take(execution)

    def _is_new(self, at: datetime) -> bool:
        return self._since is None or at > self._since

    def _batch(self, batch: StreamBatch) -> None:
        group = ExecutionGroup(_NO_EXECUTION, batch=batch)
        for statement in statements(
            group, self._application, self.context, self._rejects.add_for_log
        ):
            has_room = batch.run in self._stream_totals or len(self._stream_totals) < _MOST_STREAMS
            if has_room and self._is_new(batch.at):
                self._stream_totals[batch.run].add(statement)

    def _task(self, root: Execution | None) -> str | None:
        logs = self._logs
        return (
            task_of(self._application, root, logs.task_from, logs.task) or logs.unnamed_task or None
        )

    def finish(self, rejects: Rejects) -> Iterator[TaskResult]:
        """What each task did, sorted by their names.

        Args:
            rejects: Takes what could not be used, unless it is nobody's.
        """
        application = self._application
        if application.started_at is None:
            rejects.add_for_log("the event that starts the application is missing")
            done = [one for totals in self._totals.values() for one in totals.found.values()]
            if not done:
                return
            application.started_at = min(one.started_at for one in done)
        if self._is_dbt or is_dbt(application.name, (), ()):
            return
        if not self._executions and (only_task := self._task(None)):
            self._ends[only_task] = LastExecution()
        if not self._ends:
            name = f"the application is called {application.name!r}, which names no task"
            rejects.add_for_log(f"{name}: set spark.app.name to the task's name")
            return
        if self._unnamed:
            rejects.add_for_log(f"{self._unnamed} executions name no task: `task_from` finds none")
        self._assign_streams()
        rejects.join(self._rejects)
        if left_out := sum(totals.left_out for totals in self._totals.values()):
            rejects.add_for_log(
                f"{left_out} statements are left out: no task does so much differently"
            )
        resolver = self.context.column_sources.resolver
        resolver.warehouse = application.warehouse
        for task in sorted(self._ends):
            yield TaskResult(task, self._ends[task], self._totals[task].settled(resolver))

    def _assign_streams(self) -> None:
        """Give what no execution tells of to the task of its stream, or to the only one."""
        only_task = next(iter(self._ends)) if len(self._ends) == 1 else None
        for run, totals in self._stream_totals.items():
            told = self._of_stream.get(run)
            for statement in totals.found.values():
                # What a stream without a sink reads its executions tell, if it has any.
                task = told or only_task
                if task and (statement.writes or told is None):
                    self._totals[task].add(statement)
        if only_task:
            for statement in outside(self._application, self.context.column_sources.resolver):
                if self._is_new(statement.ended_at):
                    self._totals[only_task].add(statement)
