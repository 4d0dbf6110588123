"""Groups: what an event connects. Each input of a group goes into each of its outputs.

The inputs and outputs of an event are a group. So what Airflow announces at the start of a task
(its inlets and outlets) and what an extractor finds at its end are two groups, and no input of the
one goes into an output of the other. Groups of their own are:

- the entries of the facet `lineage`, which name the inputs of each output: such an output is left
  out of the event's group. Where a job has the facet, no input goes into an output without an
  entry;
- a rename: the old name and the new one;
- what is dropped, emptied or altered: no input goes there.

Column edges of the facets `columnLineage` and `lineage`, of all their versions.

Version 1-0 of `columnLineage` had one `transformationType` for a column, `IDENTITY` or `MASKED`;
since 1-1 each input has `transformations`, since 1-2 inputs that decide on all rows stand in
`dataset`. dbt-ol leaves `transformations` empty, also where a function changes the value: so
without one an edge is a TRANSFORMATION, which claims less than IDENTITY.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from typing import Any, NamedTuple, TypeAlias

from dbt_graft.collectors.openlineage.datasets import dataset_of, is_job, kind_of, named_dataset
from dbt_graft.collectors.openlineage.event import Event, EventKind, Facets, NamedDataset
from dbt_graft.collectors.openlineage.facets import graft_tag, mapping, number, objects, text
from dbt_graft.collectors.openlineage.jobs import AIRFLOW, Job
from dbt_graft.collectors.openlineage.periods import event_periods, event_positions
from dbt_graft.collectors.statement import DatasetAccess, StatementEdge
from dbt_graft.lineage.building.event_runs import COLUMNS_SHAPE, EVENT_SHAPE, EXPLAINED_SHAPE
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.dates.period_union import join_positions, known_union
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import ANY_COLUMN, EdgeType, Evidence, Subtype

_SUBTYPES = {subtype.value: subtype for subtype in Subtype}
# Names that producers have for some of them.
_SUBTYPES |= {"GROUPBY": Subtype.GROUP_BY, "CONDITION": Subtype.CONDITIONAL}


def column_lineage(output: DatasetId, facets: Facets) -> Iterator[StatementEdge]:
    """The edges of an output's facet `columnLineage`."""
    facet = mapping(facets, "columnLineage")
    for column, field in mapping(facet, "fields").items():
        old = text(field, "transformationType").upper()
        for input_field in objects(field, "inputFields"):
            yield from _edges(output, column, input_field, EdgeType.DIRECT, old)
    for input_field in objects(facet, "dataset"):
        yield from _edges(output, ANY_COLUMN, input_field, EdgeType.INDIRECT)


def entry_columns(target: DatasetId, entry: Mapping[str, Any]) -> Iterator[StatementEdge]:
    """The edges of an entry of the facet `lineage`."""
    for column, field in mapping(entry, "fields").items():
        for input_field in objects(field, "inputs"):
            yield from _edges(target, column, input_field, EdgeType.DIRECT)
    for input_field in objects(entry, "inputs"):
        # An input without a column says no more than that data came from its dataset.
        if text(input_field, "field"):
            yield from _edges(target, ANY_COLUMN, input_field, EdgeType.INDIRECT)


def _edges(
    output: DatasetId, column: str, input_field: Mapping[str, Any], default: EdgeType, old: str = ""
) -> Iterator[StatementEdge]:
    source, field = dataset_of(input_field), text(input_field, "field") or ANY_COLUMN
    if source is None or not column:
        return
    transformations = list(objects(input_field, "transformations")) or [
        {"type": default.value, "subtype": old}
    ]
    for transformation in transformations:
        subtype = _subtype(
            text(transformation, "type").upper(), text(transformation, "subtype").upper(), default
        )
        masking = transformation.get("masking") is True or old == "MASKED"
        yield StatementEdge(output, column, source, field, subtype, masking)


def _subtype(type_: str, subtype: str, default: EdgeType) -> Subtype:
    """The subtype; where it is not known, the one of its type that claims least."""
    member = _SUBTYPES.get(subtype)
    wanted = EdgeType(type_) if type_ in EdgeType.__members__ else default
    if member and (member.type is wanted or not type_):
        return member
    return Subtype.TRANSFORMATION if wanted is EdgeType.DIRECT else Subtype.CONDITIONAL


_OPERATIONS = {
    "ALTER": Operation.ALTER,
    "CREATE": Operation.CREATE_TABLE,
    "DROP": Operation.DROP,
    "OVERWRITE": Operation.INSERT_OVERWRITE,
    "RENAME": Operation.RENAME,
    "TRUNCATE": Operation.TRUNCATE,
}
_EVIDENCES = frozenset(Evidence)
_NO_DATA = frozenset({Operation.ALTER, Operation.DROP, Operation.TRUNCATE})


_Side: TypeAlias = dict[tuple[DatasetId, Operation], DatasetAccess]


class Group(NamedTuple):
    """Reads and writes that an event connects, by dataset and operation, and their columns.

    Attributes:
        is_explained: The event says that just these inputs go into just these outputs.
        gap: Why a JobEvent may not name all.
    """

    reads: Mapping[tuple[DatasetId, Operation], DatasetAccess]
    writes: Mapping[tuple[DatasetId, Operation], DatasetAccess]
    edges: tuple[StatementEdge, ...]
    evidence: Evidence
    is_explained: bool = False
    is_done: bool = False
    gap: str = ""

    def shape_id(self, job: Job) -> str:
        """The same for the same datasets and columns, whichever run or event connects them."""
        sides = (sorted((d.key, o.value) for d, o in side) for side in (self.reads, self.writes))
        rest = filter(None, (_columns_text(self.edges), self.gap))
        text = "\n".join((job.name, job.task, *map(repr, sides), *rest))
        prefix = EXPLAINED_SHAPE if self.is_explained else EVENT_SHAPE
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        return f"{prefix}{digest}{COLUMNS_SHAPE if self.edges else ''}"


@lru_cache(maxsize=1_000)
def _columns_text(edges: tuple[StatementEdge, ...]) -> str:
    """The same for the same columns; most runs of a job have those of the one before."""
    return "\n".join(sorted("\t".join(map(str, edge)) for edge in edges))


def groups(event: Event, job: Job, columns: DateColumns) -> Iterator[Group]:
    """The groups of an event; one that connects nothing is left out."""
    evidence = _evidence(event, job)
    reads = _merge_accesses(_reads(event, columns))
    entries = list(_entries(event))
    explained = {target for target, _ in entries if target}
    # Where both facets have columns, those of `columnLineage` do not count.
    with_columns = {target for target, entry in entries if mapping(entry, "fields")}
    writes: _Side = {}
    edges: list[StatementEdge] = []
    for event_dataset in _distinct(event.outputs):
        dataset = named_dataset(event_dataset.namespace, event_dataset.name)
        if dataset is None:
            continue
        access = _write(event_dataset, dataset, job, columns)
        if access.operation is Operation.RENAME:
            previous = mapping(event_dataset.facets, "lifecycleStateChange", "previousIdentifier")
            if old := dataset_of(previous):
                yield _rename(old, access, evidence)
            continue
        if access.operation in _NO_DATA:
            yield Group({}, {(dataset, access.operation): access}, (), evidence)
            continue
        if dataset not in with_columns:
            edges += column_lineage(dataset, event_dataset.facets)
        if dataset not in explained:
            key = (dataset, access.operation)
            writes[key] = _join_parts(writes[key], access) if key in writes else access
    explained_groups = [
        _entry_group(target, entry, reads, _target_write(target, event, job, columns), evidence)
        for target, entry in entries
    ]
    if any(objects(event.job_facets, "lineage", "entries")):
        own_groups = _unexplained_groups(reads, writes, edges, explained_groups, evidence)
    else:
        if not writes:
            reads = _unexplained_reads(reads, explained_groups)
        reads |= _unnamed_reads(edges, reads, writes)
        own_groups = [Group(reads, writes, tuple(edges), evidence)]
    yield from (group for group in own_groups if group.reads or group.writes or group.edges)
    yield from explained_groups


def _unexplained_groups(
    reads: _Side,
    writes: _Side,
    edges: Iterable[StatementEdge],
    explained_groups: Sequence[Group],
    evidence: Evidence,
) -> list[Group]:
    """The reads, and the writes, of a job beside its facet `lineage`, which has all flows."""
    flows = {
        (source, target)
        for group in explained_groups
        for source, _ in group.reads
        for target, _ in group.writes
    }
    edges = (edge for edge in edges if (edge.from_dataset, edge.to_dataset) in flows)
    reads = _unexplained_reads(reads, explained_groups)
    return [
        Group(reads, {}, (), evidence, is_explained=True),
        Group({}, writes, tuple(edges), evidence, is_explained=True),
    ]


def _unexplained_reads(reads: _Side, explained_groups: Iterable[Group]) -> _Side:
    explained = {key for group in explained_groups for key in group.reads}
    return {key: access for key, access in reads.items() if key not in explained}


def _unnamed_reads(
    edges: Iterable[StatementEdge], reads: _Side, writes: _Side
) -> dict[tuple[DatasetId, Operation], DatasetAccess]:
    """Reads of what columns of an event's only output come from, and the event does not name.

    Of several outputs the others would come from it, too.
    """
    outputs = {dataset for dataset, _ in writes}
    sources = {edge.from_dataset for edge in edges if outputs == {edge.to_dataset}}
    return {
        (source, Operation.SELECT): DatasetAccess(source, kind_of(source, {}), Operation.SELECT)
        for source in sorted(sources - outputs - {dataset for dataset, _ in reads})
    }


def _reads(
    event: Event, columns: DateColumns
) -> Iterator[tuple[tuple[DatasetId, Operation], DatasetAccess]]:
    for event_dataset in _distinct(event.inputs):
        if dataset := named_dataset(event_dataset.namespace, event_dataset.name):
            counted = mapping(event_dataset.counts, "inputStatistics")
            access = DatasetAccess(
                dataset,
                kind_of(dataset, event_dataset.facets),
                Operation.SELECT,
                periods=event_periods(event_dataset, is_output=False, columns=columns),
                positions=event_positions(event_dataset),
            )
            yield (dataset, Operation.SELECT), _add_counts(access, counted)


def _merge_accesses(
    accesses: Iterable[tuple[tuple[DatasetId, Operation], DatasetAccess]],
) -> dict[tuple[DatasetId, Operation], DatasetAccess]:
    """Each dataset once: an event may name each of its partitions."""
    accesses_by_key: dict[tuple[DatasetId, Operation], DatasetAccess] = {}
    for key, access in accesses:
        accesses_by_key[key] = (
            _join_parts(accesses_by_key[key], access) if key in accesses_by_key else access
        )
    return accesses_by_key


def _distinct(datasets: Iterable[NamedDataset]) -> Iterator[NamedDataset]:
    """The datasets of an event without those that it names again with the same counts."""
    datasets_by_name: dict[tuple[str, str], NamedDataset] = {}
    for dataset in datasets:
        name = (dataset.namespace, dataset.name)
        earlier = datasets_by_name.get(name)
        if earlier is None or (dataset != earlier and dataset.counts != (earlier.counts or None)):
            datasets_by_name[name] = dataset
            yield dataset


def _join_parts(first: DatasetAccess, last: DatasetAccess) -> DatasetAccess:
    """One access of two to parts of a dataset; a count that one of them lacks is not known."""

    def total(a: int | None, b: int | None) -> int | None:
        return None if a is None or b is None else a + b

    return last._replace(
        rows=total(first.rows, last.rows),
        bytes=total(first.bytes, last.bytes),
        files=total(first.files, last.files),
        periods=known_union(first.periods, last.periods),
        positions=join_positions(first.positions, last.positions),
    )


def _write(
    event_dataset: NamedDataset, dataset: DatasetId, job: Job, columns: DateColumns
) -> DatasetAccess:
    operation = Operation.INSERT
    if "lifecycleStateChange" in event_dataset.facets:
        change = text(event_dataset.facets, "lifecycleStateChange", "lifecycleStateChange").upper()
        operation = _OPERATIONS.get(change, operation)
    if job.engine == DefinitionKind.VIEW:
        operation = Operation.CREATE_VIEW
    counted = mapping(event_dataset.counts, "outputStatistics") or mapping(
        event_dataset.facets, "outputStatistics"
    )
    if operation is Operation.CREATE_TABLE and counted:
        operation = Operation.CREATE_TABLE_AS
    access = DatasetAccess(
        dataset,
        kind_of(dataset, event_dataset.facets),
        operation,
        periods=event_periods(event_dataset, is_output=True, columns=columns),
        positions=event_positions(event_dataset),
    )
    return _add_counts(access, counted)


def _add_counts(access: DatasetAccess, counted: Mapping[str, Any]) -> DatasetAccess:
    """An access with what a facet of statistics counts."""
    if not counted:
        return access
    return access._replace(
        rows=number(counted, "rowCount"),
        bytes=number(counted, "size"),
        files=number(counted, "fileCount"),
    )


def _rename(old: DatasetId, new: DatasetAccess, evidence: Evidence) -> Group:
    read = DatasetAccess(old, new.kind, Operation.RENAME)
    return Group(
        {(old, Operation.RENAME): read},
        {(new.dataset, Operation.RENAME): new},
        (),
        evidence,
    )


def _entries(event: Event) -> Iterator[tuple[DatasetId | None, Mapping[str, Any]]]:
    """The targets of the facet `lineage` with what goes into them; None for a job as the target.

    What goes into another job than the event's is not known to be of a task.
    """
    own = ("", ""), (event.namespace, event.job)
    for entry in objects(event.job_facets, "lineage", "entries"):
        if is_job(entry):
            if (text(entry, "namespace"), text(entry, "name")) in own:
                yield None, entry
        elif target := dataset_of(entry):
            yield target, entry
    for event_dataset in event.outputs:
        target = named_dataset(event_dataset.namespace, event_dataset.name)
        if target and (entry := mapping(event_dataset.facets, "lineage")):
            yield target, entry


def names_other_job(event: Event) -> bool:
    """Whether the facet `lineage` has data that come from another job, or go into one.

    It does not say of which dataset they are.
    """
    named = {("", ""), (event.namespace, event.job)}
    return any(
        is_job(part) and (text(part, "namespace"), text(part, "name")) not in named
        for entry in objects(event.job_facets, "lineage", "entries")
        for part in (entry, *_sources(entry))
    )


def _sources(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The sources of an entry of the facet `lineage`, and of its columns."""
    yield from objects(entry, "inputs")
    for field in mapping(entry, "fields").values():
        yield from objects(field, "inputs")


def _target_write(
    target: DatasetId | None, event: Event, job: Job, columns: DateColumns
) -> DatasetAccess | None:
    """The write of what an entry names as its target; None of a job."""
    if target is None:
        return None
    outputs = [
        output
        for output in _distinct(event.outputs)
        if named_dataset(output.namespace, output.name) == target
    ] or [NamedDataset(target.namespace, target.name, {}, {})]
    return reduce(_join_parts, (_write(output, target, job, columns) for output in outputs))


def _entry_group(
    target: DatasetId | None,
    entry: Mapping[str, Any],
    event_reads: _Side,
    write: DatasetAccess | None,
    evidence: Evidence,
) -> Group:
    edges = tuple(entry_columns(target, entry)) if target else ()
    sources = {
        source for input_entry in objects(entry, "inputs") if (source := dataset_of(input_entry))
    }
    if not entry.get("inputs"):
        sources = {edge.from_dataset for edge in edges}
    reads = {
        (dataset, Operation.SELECT): event_reads.get((dataset, Operation.SELECT))
        or DatasetAccess(dataset, kind_of(dataset, {}), Operation.SELECT)
        for dataset in sources
    }
    writes: _Side = {}
    if write and write.operation is not Operation.RENAME:
        writes[write.dataset, write.operation] = write
    return Group(reads, writes, edges, evidence, is_explained=True)


def _evidence(event: Event, job: Job) -> Evidence:
    """DECLARED for a JobEvent, and for inlets and outlets of Airflow.

    Airflow does not say where the datasets of a task come from. Those of an operator that it has
    no extractor for (`unknownSourceAttribute`), without any facet, are what people wrote as inlets
    and outlets, or what a hook noted; an extractor of one's own gives columns or a schema. A
    subset may be written by people, too.
    """
    if event.kind is not EventKind.RUN:
        return Evidence.DECLARED
    if (exported := graft_tag(event.run_facets, "evidence")) in _EVIDENCES:
        return Evidence(exported)
    if job.engine == AIRFLOW and "unknownSourceAttribute" in event.run_facets:
        datasets = (*event.inputs, *event.outputs)
        if not any(dataset.facets or dataset.counts.keys() - {"subset"} for dataset in datasets):
            return Evidence.DECLARED
    return Evidence.OBSERVED
