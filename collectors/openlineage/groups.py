"""Groups: what an event connects. Each input of a group goes into each of its outputs.

The inputs and outputs of an event are a group. So what Airflow announces at the start of a task
(its inlets and outlets) and what an extractor finds at its end are two groups, and no input of the
one goes into an output of the other. Groups of their own are:

- the entries of the facet `lineage`, which name the inputs of each output: such an output is left
  out of the event's group;
- a rename: the old name and the new one;
- what is dropped, emptied or altered: no input goes there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from dbt_graft.collectors.openlineage.columns import (
    EventColumnEdge,
    column_lineage,
    entry_columns,
)
from dbt_graft.collectors.openlineage.datasets import dataset_of, kind_of, named_dataset
from dbt_graft.collectors.openlineage.event import Event, EventKind, NamedDataset
from dbt_graft.collectors.openlineage.facets import mapping, number, objects, text
from dbt_graft.collectors.openlineage.jobs import AIRFLOW, Job
from dbt_graft.collectors.openlineage.periods import event_periods, event_positions
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.dates.period import DataPosition, Period
from dbt_graft.lineage.dates.period_union import joined_positions, known_union
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.event_runs import EVENT_SHAPE
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Evidence

_OPERATIONS = {
    "ALTER": Operation.ALTER,
    "CREATE": Operation.CREATE_TABLE,
    "DROP": Operation.DROP,
    "OVERWRITE": Operation.INSERT_OVERWRITE,
    "RENAME": Operation.RENAME,
    "TRUNCATE": Operation.TRUNCATE,
}
_NO_DATA = frozenset({Operation.ALTER, Operation.DROP, Operation.TRUNCATE})


class EventAccess(NamedTuple):
    """A dataset that an event reads or writes, with what its statistics count, and its dates."""

    dataset: DatasetId
    kind: Kind
    operation: Operation
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    periods: tuple[Period, ...] = ()
    positions: tuple[DataPosition, ...] = ()


_Side: TypeAlias = dict[tuple[DatasetId, Operation], EventAccess]


class Group(NamedTuple):
    """Reads and writes that an event connects, by dataset and operation, and their columns."""

    reads: Mapping[tuple[DatasetId, Operation], EventAccess]
    writes: Mapping[tuple[DatasetId, Operation], EventAccess]
    edges: tuple[EventColumnEdge, ...]
    evidence: Evidence

    def shape_id(self, job: Job) -> str:
        """The same for the same datasets, whichever run or event of the job connects them."""
        sides = (sorted((d.key, o.value) for d, o in side) for side in (self.reads, self.writes))
        text = "\n".join((job.name, job.task, *map(repr, sides)))
        return EVENT_SHAPE + hashlib.sha256(text.encode()).hexdigest()[:16]


def groups(event: Event, job: Job, columns: DateColumns) -> Iterator[Group]:
    """The groups of an event; one that connects nothing is left out.

    Args:
        columns: The columns whose values are dates of data.
    """
    evidence = _evidence(event, job)
    reads = _joined(_reads(event, columns))
    entries = list(_entries(event))
    explained = {target for target, _ in entries if target}
    writes: _Side = {}
    edges: list[EventColumnEdge] = []
    for one in event.outputs:
        dataset = named_dataset(one.namespace, one.name)
        if dataset is None:
            continue
        edges += column_lineage(dataset, one.facets)
        access = _write(one, dataset, job, columns)
        if access.operation is Operation.RENAME:
            previous = mapping(one.facets, "lifecycleStateChange", "previousIdentifier")
            if old := dataset_of(previous):
                yield _rename(old, access, evidence)
            continue
        if access.operation in _NO_DATA:
            yield Group({}, {(dataset, access.operation): access}, (), evidence)
        elif dataset not in explained:
            key = (dataset, access.operation)
            writes[key] = _with_dates(writes[key], access) if key in writes else access
    if reads or writes or edges:
        yield Group(reads, writes, tuple(edges), evidence)
    for target, entry in entries:
        yield _entry_group(target, entry, event, job, evidence, columns)


def _reads(
    event: Event, columns: DateColumns
) -> Iterator[tuple[tuple[DatasetId, Operation], EventAccess]]:
    for one in event.inputs:
        if dataset := named_dataset(one.namespace, one.name):
            counted = mapping(one.counts, "inputStatistics")
            access = EventAccess(
                dataset,
                kind_of(dataset, one.facets),
                Operation.SELECT,
                periods=event_periods(one, is_output=False, columns=columns),
                positions=event_positions(one),
            )
            yield (dataset, Operation.SELECT), _counted(access, counted)


def _joined(
    accesses: Iterable[tuple[tuple[DatasetId, Operation], EventAccess]],
) -> dict[tuple[DatasetId, Operation], EventAccess]:
    """Each dataset once: an event may name each of its partitions."""
    found: dict[tuple[DatasetId, Operation], EventAccess] = {}
    for key, access in accesses:
        found[key] = _with_dates(found[key], access) if key in found else access
    return found


def _with_dates(first: EventAccess, last: EventAccess) -> EventAccess:
    return last._replace(
        periods=known_union(first.periods, last.periods),
        positions=joined_positions(first.positions, last.positions),
    )


def _write(one: NamedDataset, dataset: DatasetId, job: Job, columns: DateColumns) -> EventAccess:
    operation = Operation.INSERT
    if "lifecycleStateChange" in one.facets:
        change = text(one.facets, "lifecycleStateChange", "lifecycleStateChange").upper()
        operation = _OPERATIONS.get(change, operation)
    if job.engine == DefinitionKind.VIEW:
        operation = Operation.CREATE_VIEW
    counted = mapping(one.counts, "outputStatistics") or mapping(one.facets, "outputStatistics")
    access = EventAccess(
        dataset,
        kind_of(dataset, one.facets),
        operation,
        periods=event_periods(one, is_output=True, columns=columns),
        positions=event_positions(one),
    )
    return _counted(access, counted)


def _counted(access: EventAccess, counted: Mapping[str, Any]) -> EventAccess:
    """An access with what a facet of statistics counts."""
    if not counted:
        return access
    return access._replace(
        rows=number(counted, "rowCount"),
        bytes=number(counted, "size"),
        files=number(counted, "fileCount"),
    )


def _rename(old: DatasetId, new: EventAccess, evidence: Evidence) -> Group:
    read = EventAccess(old, new.kind, Operation.RENAME)
    return Group(
        {(old, Operation.RENAME): read},
        {(new.dataset, Operation.RENAME): new._replace(rows=None, bytes=None, files=None)},
        (),
        evidence,
    )


def _entries(event: Event) -> Iterator[tuple[DatasetId | None, Mapping[str, Any]]]:
    """The targets of the facet `lineage` with what goes into them; None for a job as the target."""
    for entry in objects(event.job_facets, "lineage", "entries"):
        if text(entry, "type").upper() == "JOB":
            yield None, entry
        elif target := dataset_of(entry):
            yield target, entry
    for one in event.outputs:
        target = named_dataset(one.namespace, one.name)
        if target and (entry := mapping(one.facets, "lineage")):
            yield target, entry


def _entry_group(
    target: DatasetId | None,
    entry: Mapping[str, Any],
    event: Event,
    job: Job,
    evidence: Evidence,
    columns: DateColumns,
) -> Group:
    edges = tuple(entry_columns(target, entry)) if target else ()
    sources = {source for one in objects(entry, "inputs") if (source := dataset_of(one))}
    if not entry.get("inputs"):
        sources = {edge.from_dataset for edge in edges}
    known = {dataset: access for (dataset, _), access in _reads(event, columns)}
    reads = {
        (one, Operation.SELECT): known.get(one)
        or EventAccess(one, kind_of(one, {}), Operation.SELECT)
        for one in sources
    }
    writes: _Side = {}
    if target:
        named = (o for o in event.outputs if named_dataset(o.namespace, o.name) == target)
        output = next(named, NamedDataset(target.namespace, target.name, {}, {}))
        access = _write(output, target, job, columns)
        if access.operation is not Operation.RENAME:
            writes[target, access.operation] = access
    return Group(reads, writes, edges, evidence)


def _evidence(event: Event, job: Job) -> Evidence:
    """DECLARED for a JobEvent, and for inlets and outlets of Airflow.

    Airflow does not say where the datasets of a task come from. Those of an operator that it has
    no extractor for (`unknownSourceAttribute`), without any facet, are what people wrote as inlets
    and outlets, or what a hook noted; an extractor of one's own gives columns or a schema.
    """
    if event.kind is not EventKind.RUN:
        return Evidence.DECLARED
    if job.engine == AIRFLOW and "unknownSourceAttribute" in event.run_facets:
        datasets = (*event.inputs, *event.outputs)
        if not any(one.facets or one.counts for one in datasets):
            return Evidence.DECLARED
    return Evidence.OBSERVED
