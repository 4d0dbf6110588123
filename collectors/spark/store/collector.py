"""What an application did, task by task, gathered while its log is read.

Whose application it is decides first (`identity`): dbt's own gives nothing, and one whose name
names no task a reason that says what to do. Either way the log counts as read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from dbt_graft.collectors.spark.application.execution import Application, Batch, Execution, Group
from dbt_graft.collectors.spark.application.identity import is_dbt
from dbt_graft.collectors.spark.application.recent import Recent
from dbt_graft.collectors.spark.application.statements import Known, Statement, outside, statements
from dbt_graft.collectors.spark.application.tasks import is_of_application, task_of
from dbt_graft.collectors.spark.application.totals import Totals
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.log.rejects import Rejects
from dbt_graft.collectors.spark.sources.datasets import Places

_MOST_STREAMS = 10_000
_NO_EXECUTION = -1


@dataclass(slots=True)
class End:
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
class Done:
    """What a task did in an application: one statement for all that did the same."""

    task: str
    end: End
    statements: list[Statement]


class Work:
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
        self.known = Known.of(Places(logs.namespace, settings=application.settings))
        self._application = application
        self._logs = logs
        self._since = since
        self._rejects = Rejects()
        self._totals: dict[str, Totals] = defaultdict(Totals)
        self._ends: dict[str, End] = defaultdict(End)
        self._loose: dict[str, Totals] = defaultdict(Totals)
        self._of_stream: Recent[str, str] = Recent(_MOST_STREAMS)
        self._nameless = 0
        self._executions = 0
        self._is_dbt = False

    def take(self, found: Group | Batch) -> None:
        """Take what is over."""
        if isinstance(found, Batch):
            self._batch(found)
        else:
            self._group(found)

    def _group(self, group: Group) -> None:
        executions = group.executions.values()
        texts = ([getattr(e, name) for e in executions] for name in ("description", "text"))
        self._is_dbt = self._is_dbt or is_dbt(self._application.name, *texts)
        self._executions += len(executions)
        task = self._task(group.outermost)
        if task is None:
            self._nameless += len(executions)
        elif run := group.outermost.stream:
            self._of_stream[run] = task
        # What has no task still tells where tables lie; but not if nothing can have one.
        nobodys = task is None and all(map(is_of_application, self._logs.task_from))
        if self._is_dbt or nobodys:
            return
        for statement in statements(group, self._application, self.known, self._rejects.tell):
            if task and self._is_new(group.outermost.started_at):
                self._totals[task].add(statement)
        if task:
            for execution in executions:
                self._ends[task].take(execution)

    def _is_new(self, at: datetime) -> bool:
        return self._since is None or at > self._since

    def _batch(self, batch: Batch) -> None:
        group = Group(_NO_EXECUTION, batch=batch)
        for statement in statements(group, self._application, self.known, self._rejects.tell):
            has_room = batch.run in self._loose or len(self._loose) < _MOST_STREAMS
            if has_room and self._is_new(batch.at):
                self._loose[batch.run].add(statement)

    def _task(self, root: Execution | None) -> str | None:
        logs = self._logs
        return task_of(self._application, root, logs.task_from, logs.task) or logs.nameless or None

    def finish(self, rejects: Rejects) -> Iterator[Done]:
        """What each task did, sorted by their names.

        Args:
            rejects: Takes what could not be used, unless it is nobody's.
        """
        application = self._application
        if application.started_at is None:
            rejects.tell("the event that starts the application is missing")
            done = [one for totals in self._totals.values() for one in totals.found.values()]
            if not done:
                return
            application.started_at = min(one.started_at for one in done)
        if self._is_dbt or is_dbt(application.name, (), ()):
            return
        if not self._executions and (alone := self._task(None)):
            self._ends[alone] = End()
        if not self._ends:
            name = f"the application is called {application.name!r}, which names no task"
            rejects.tell(f"{name}: set spark.app.name to the task's name")
            return
        if self._nameless:
            rejects.tell(f"{self._nameless} executions name no task: `task_from` finds none")
        self._place_loose()
        rejects.join(self._rejects)
        if left_out := sum(totals.left_out for totals in self._totals.values()):
            rejects.tell(f"{left_out} statements are left out: no task does so much differently")
        places = self.known.reads.places
        places.warehouse = application.warehouse
        for task in sorted(self._ends):
            yield Done(task, self._ends[task], self._totals[task].settled(places))

    def _place_loose(self) -> None:
        """Give what no execution tells of to the task of its stream, or to the only one."""
        alone = next(iter(self._ends)) if len(self._ends) == 1 else None
        for run, totals in self._loose.items():
            told = self._of_stream.get(run)
            for statement in totals.found.values():
                # What a stream without a sink reads its executions tell, if it has any.
                task = told or alone
                if task and (statement.writes or told is None):
                    self._totals[task].add(statement)
        if alone:
            for statement in outside(self._application, self.known.reads.places):
                if self._is_new(statement.ended_at):
                    self._totals[alone].add(statement)
