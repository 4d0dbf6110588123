"""The plan behind a taint: what must run again, in which order and why, and who should know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from dbt_graft.analysis.dates.access_history import AccessHistory, Edge
from dbt_graft.analysis.dates.bad_writes import BadWrite, last_good_run
from dbt_graft.analysis.dates.dbt_accesses import is_view
from dbt_graft.analysis.dates.taint import CleanRewrite, Output, Taint
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import NO_DATES, Dates
from dbt_graft.lineage.dates.partition_mapping import PartitionMapping
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.graph import Graph
from dbt_graft.lineage.records import Run, TaskInfo

# Dataset -> the outputs that are bad, or were.
_Writers = Mapping[DatasetId, Sequence[Output]]


@frozen
class TaintedOutput:
    """The bad dates of a dataset that a task must write again.

    Attributes:
        certain: Of the dates those that are bad in any case; the others may be.
        runs: The runs that wrote them, oldest first, with their times.
        path: From the bad write to here: datasets and tasks in turn.
    """

    dataset: DatasetId
    dates: Dates
    certain: Dates
    grain: Grain
    runs: Mapping[str, datetime]
    path: tuple[str, ...]


@frozen
class Rerun:
    """A task, or a dbt model, that must run again.

    Attributes:
        name: The task's name, or dbt's unique_id; empty where no log shows who wrote the data.
        outputs: Sorted by dataset.
        dates: Those of all outputs, in ranges.
        info: What is known of the task.
        first_run: Its first bad run, if a log shows one.
        is_definition: It is a dbt model.
        is_incremental: An ordinary build of it leaves what is there.
    """

    name: str
    outputs: tuple[TaintedOutput, ...]
    dates: Dates
    grain: Grain
    info: TaskInfo
    runs: tuple[Run, ...] = ()
    is_definition: bool = False
    is_incremental: bool = False

    @property
    def is_certain(self) -> bool:
        """Whether something that it wrote is bad in any case."""
        return any(output.certain for output in self.outputs)


@frozen
class RerunStep:
    """A task of the plan with its commands.

    Attributes:
        commands: For a shell, in order; none where it is not known how it runs.
        url: The page from which people start it.
        note: A trap of the commands, or the reason why there are none.
        is_clearing: The commands are Airflow's, which clear runs of its tasks.
    """

    rerun: Rerun
    commands: tuple[str, ...] = ()
    url: str = ""
    note: str = ""
    is_clearing: bool = False


@frozen
class BadReport:
    """A reader without outputs that has, or had, bad data: a dashboard, a report.

    Attributes:
        datasets: The datasets that it reads -> their bad dates; empty dates where all of them were
            written again since.
        read_at: Its last read of bad data; None where no log shows its reads.
    """

    name: str
    kind: str
    owner: str
    url: str
    datasets: Mapping[DatasetId, Dates]
    read_at: datetime | None = None


@frozen
class TaintPlan:
    """The plan behind a taint.

    Attributes:
        bad: The bad writes, oldest first.
        last_good: Task, run and time of the last good write before them.
        reruns: In processing order.
        cycles: Tasks that need each other, which no order serves.
        unmapped: The edges along which all dates count.
        superseded: Bad data that was written again already.
    """

    bad: tuple[BadWrite, ...]
    last_good: tuple[str, str, datetime] | None
    reruns: tuple[Rerun, ...]
    cycles: tuple[tuple[str, ...], ...]
    reports: tuple[BadReport, ...]
    unmapped: tuple[tuple[Edge, PartitionMapping], ...]
    superseded: tuple[CleanRewrite, ...]


def taint_plan(
    history: AccessHistory,
    bad: Sequence[BadWrite],
    taint: Taint,
    consumers: Iterable[Consumer] = (),
    owners: Mapping[DatasetId, str] | None = None,
) -> TaintPlan:
    """The plan behind a taint.

    Args:
        consumers: dbt's exposures and the tasks that only read.
        owners: Those of datasets that dbt knows.
    """
    outputs: dict[str, list[Output]] = defaultdict(list)
    for output in taint.tainted:
        if not _is_view(history, output[0]):
            outputs[output[0]].append(output)
    names, cycles = _order_tasks(history, outputs)
    good, writers = last_good_run(history, bad), _writers(taint)
    return TaintPlan(
        tuple(bad),
        (good.task, history.execution(good)[1], good.last_at) if good and good.last_at else None,
        tuple(_rerun(history, taint, name, outputs[name], owners or {}, writers) for name in names),
        cycles,
        tuple(_reports(history, taint, consumers)),
        tuple((edge, history.mapping(edge)) for edge in sorted(taint.unmapped)),
        tuple(taint.superseded),
    )


def _is_view(history: AccessHistory, name: str) -> bool:
    definition = history.lineage.definitions.get(name)
    return definition is not None and is_view(definition)


def _order_tasks(
    history: AccessHistory, names: Collection[str]
) -> tuple[list[str], tuple[tuple[str, ...], ...]]:
    """The tasks in processing order, through views and tasks that need not run, and the cycles."""
    # Every task and dataset of the edges: what lies between two of them keeps their order.
    steps = [
        step
        for edges in history.upstream.values()
        for task, source, target in edges
        for step in ((("d", str(source)), ("t", task)), (("t", task), ("d", str(target))))
    ]
    graph = Graph(steps, [("t", name) for name in names])
    parts = list(graph.parts())
    ordered = [
        name for part in reversed(parts) for kind, name in part if kind == "t" and name in names
    ]
    knots = [
        tuple(name for kind, name in cycle if kind == "t")
        for cycle in Graph(steps).cycles()
        if any(kind == "t" and name in names for kind, name in cycle)
    ]
    return ordered, tuple(knot for knot in knots if len(knot) > 1)


def _rerun(
    history: AccessHistory,
    taint: Taint,
    name: str,
    outputs: Iterable[Output],
    owners: Mapping[DatasetId, str],
    writers: _Writers,
) -> Rerun:
    lineage = history.lineage
    task, definition = lineage.tasks.get(name), lineage.definitions.get(name)
    tainted = tuple(
        TaintedOutput(
            dataset,
            taint.tainted[name, dataset],
            taint.certain.get((name, dataset), NO_DATES),
            history.grain(dataset) or Grain.DAY,
            dict(taint.runs.get((name, dataset), {})),
            tuple(_path(history, taint, (name, dataset), writers)),
        )
        for _, dataset in sorted(outputs)
    )
    dates = NO_DATES
    for output in tainted:
        dates |= output.dates
    bad = {run for output in tainted for run in output.runs}
    info = task.info if task else TaskInfo()
    if definition and not info.owner:
        info = TaskInfo(owner=owners.get(definition.dataset, ""))
    return Rerun(
        name,
        tainted,
        dates,
        tainted[0].grain,
        info,
        tuple(
            run
            for run in reversed(task.runs if task else ())
            if (run.parent_run_id or run.run_id) in bad
        ),
        definition is not None and definition.kind is DefinitionKind.DBT,
        definition is not None and not definition.operation.replaces,
    )


def _path(history: AccessHistory, taint: Taint, output: Output, writers: _Writers) -> list[str]:
    """From the bad write to an output: the first way that the taint took."""
    path, seen = [_short(history, output[1])], {output}
    while edge := taint.causes.get(output):
        path += [edge[0], _short(history, edge[1])]
        before = [writer for writer in writers.get(edge[1], ()) if writer not in seen]
        if not before:
            break
        # Of several, the bad write itself.
        output = min(before, key=lambda writer: taint.causes[writer] is not None)
        seen.add(output)
    return path[::-1]


def _writers(taint: Taint) -> _Writers:
    writers: dict[DatasetId, list[Output]] = defaultdict(list)
    for output in sorted(taint.causes):
        writers[output[1]].append(output)
    return writers


def _short(history: AccessHistory, dataset: DatasetId) -> str:
    facts = history.lineage.datasets.get(dataset)
    return (facts.id if facts else dataset).short


def _reports(
    history: AccessHistory, taint: Taint, consumers: Iterable[Consumer]
) -> Iterator[BadReport]:
    now: dict[DatasetId, Dates] = defaultdict(lambda: NO_DATES)
    for (_, dataset), dates in taint.tainted.items():
        now[dataset] |= dates
    once = {*now, *(rewrite.output[1] for rewrite in taint.superseded)}
    reads = {(task, dataset): read for (task, dataset), read in taint.reads.items()}
    tasks = history.lineage.tasks
    consumers_by_name = {consumer.name: consumer for consumer in consumers}
    readers: dict[str, tuple[str, str, str, Collection[DatasetId]]] = {
        task.name: (task.info.type or "task", task.info.owner, task.info.url, task.reads)
        for task in tasks.values()
        if task.only_reads
    }
    for consumer in consumers_by_name.values():
        readers[consumer.name] = (consumer.kind, consumer.owner, consumer.url, {*consumer.reads})
    for name, (kind, owner, url, datasets) in sorted(readers.items()):
        seen = any(name in history.reads_by_task(dataset) for dataset in datasets)
        touched = {
            dataset: now[dataset]
            for dataset in sorted(datasets)
            if ((name, dataset) in reads if seen else dataset in once)
        }
        if touched:
            times = [reads[name, dataset].at for dataset in touched if (name, dataset) in reads]
            yield BadReport(name, kind, owner, url, touched, max(times, default=None))
