"""Datasets that events name: their columns, other names, and when they were seen or dropped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from dbt_graft.collectors.openlineage.datasets import (
    MOST_COLUMNS,
    columns_of,
    dataset_of,
    kind_of,
    named_dataset,
    symlinks_of,
)
from dbt_graft.collectors.openlineage.event import Event, EventKind, Facets, NamedDataset
from dbt_graft.collectors.openlineage.facets import GRAFT, is_deleted, mapping, objects, text
from dbt_graft.collectors.openlineage.jobs import AIRFLOW, Job
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import Column, ColumnMetadata, Dataset, DatasetMetadata, TaskMetadata
from dbt_graft.lineage.redaction import redact_text

_LONGEST, _MOST_TAGS, _LONGEST_TAG = 2_000, 20, 60
# What Airflow has where nobody has set anything.
_NO_OWNER, _NO_SCHEDULE = "airflow", frozenset({"None", "null", "@once"})
_DESCRIBING = frozenset({"documentation", "ownership", "tags", "schema"})


_R = TypeVar("_R", TaskMetadata, DatasetMetadata)
_Newness: TypeAlias = tuple[datetime, tuple[object, ...]]


class FacetTexts(Generic[_R]):
    """Metadata in the facets of one part of a log: each facet before and after its changes.

    Args:
        newness: A key by which the records are sorted, the time of the event first.
    """

    def __init__(self, newness: Callable[[_R], _Newness]) -> None:
        self._newness: Callable[[_R], _Newness] = newness
        self._changes: dict[tuple[DatasetId | str, str], list[_R]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, key: DatasetId | str, record: _R) -> None:
        """Take a facet of a task or dataset; of several at one time the last one counts."""
        changes = self._changes.setdefault((key, record.facet), [])
        if changes and (changes[-1].at == record.at or self._goes_on(changes, record)):
            changes[-1] = record
        else:
            changes.append(record)
            self._count += 1

    def _goes_on(self, changes: Sequence[_R], record: _R) -> bool:
        """Whether the facet has been the same for two times already, before this one."""
        if len(changes) < 2 or not changes[-2].at <= changes[-1].at < record.at:
            return False
        text = self._newness(record)[1]
        return self._newness(changes[-1])[1] == self._newness(changes[-2])[1] == text

    def take_metadata(self) -> Iterator[_R]:
        """The metadata since the last call, sorted."""
        for _, changes in sorted(self._changes.items()):
            # Another log may have what came in between: the first and the last of equal ones stay.
            ordered: list[_R] = []
            for record in sorted(changes, key=self._newness):
                if self._goes_on(ordered, record):
                    ordered.pop()
                ordered.append(record)
            yield from ordered
        self._changes.clear()
        self._count = 0


def task_metadata(event: Event, job: Job, origin: str) -> Iterator[TaskMetadata]:
    """The metadata of an event's task.

    Airflow's documentation is left out: dag-factory writes a DAG's commands there.
    """
    if not job.task or job.is_dbt:
        return
    record = TaskMetadata(job.task, event.at, origin=origin)
    facets = event.job_facets
    description = None if job.engine == AIRFLOW else _documentation(facets)
    if description is not None:
        yield replace(record, facet="documentation", description=description)
    if (owners := _listed(facets, "ownership", "owners")) is not None:
        owner = _owner(owners)
        owner = "" if job.engine == AIRFLOW and owner == _NO_OWNER else owner
        yield replace(record, facet="ownership", owner=owner)
    if (tags := _listed(facets, "tags", "tags")) is not None:
        yield replace(record, facet="tags", tags=_tags(tags))
    if schedule := text(event.run_facets, "airflow", "dag", "timetable_summary"):
        schedule = "" if schedule in _NO_SCHEDULE else _short_text(schedule)
        yield replace(record, facet="airflow", schedule=schedule)


def dataset_metadata(event: Event, origin: str) -> Iterator[DatasetMetadata]:
    """The metadata of an event's datasets."""
    for event_dataset in (*event.inputs, *event.outputs):
        facets = event_dataset.facets
        if facets.keys().isdisjoint(_DESCRIBING):
            continue
        dataset = named_dataset(event_dataset.namespace, event_dataset.name)
        if dataset is None:
            continue
        record = DatasetMetadata(dataset, event.at, origin=origin)
        if (description := _documentation(facets)) is not None:
            yield replace(record, facet="documentation", description=description)
        if (owners := _listed(facets, "ownership", "owners")) is not None:
            yield replace(record, facet="ownership", owner=_owner(owners))
        if (tags := _listed(facets, "tags", "tags")) is not None:
            by_field: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
            for tag in tags[:MOST_COLUMNS]:
                by_field[text(tag, "field")].append(tag)
            names = {field: _tags(field_tags) for field, field_tags in by_field.items()}
            own_tags = names.pop("", ())
            columns = tuple(
                ColumnMetadata(field, tags=tags) for field, tags in names.items() if tags
            )
            yield replace(record, facet="tags", tags=own_tags, columns=columns)
        if (fields := _listed(facets, "schema", "fields")) is not None:
            columns = tuple(_described_columns(fields))
            # Engines know no descriptions: a schema without any says nothing of them.
            if columns or is_deleted(facets, "schema"):
                yield replace(record, facet="schema", columns=columns)


def _described_columns(fields: Sequence[Mapping[str, Any]]) -> Iterator[ColumnMetadata]:
    # Most schemas have no descriptions, and every event may have a schema.
    described = [column for column in fields if "description" in column]
    for column in described[:MOST_COLUMNS]:
        description, name = _description(text(column, "description")), text(column, "name")
        if description and name:
            yield ColumnMetadata(name, description)


def _documentation(facets: Facets) -> str | None:
    """The description in a facet, empty in one that is deleted; None where there is none.

    Engines write an empty one for a table without a comment.
    """
    if is_deleted(facets, "documentation"):
        return ""
    return _description(text(facets, "documentation", "description")) or None


def _listed(facets: Facets, name: str, key: str) -> list[Mapping[str, Any]] | None:
    """The objects in a facet's list, none in one that is deleted; None where it is no facet."""
    facet = facets.get(name)
    if not isinstance(facet, dict):
        return None
    if is_deleted(facets, name) or facet.get(key) is None:
        return []
    return [*objects(facet, key)] if isinstance(facet[key], list) else None


def _owner(owners: Iterable[Mapping[str, Any]]) -> str:
    """The first of the owners that has a name."""
    return _short_text(next(filter(None, (text(owner, "name").strip() for owner in owners)), ""))


def _description(text: str) -> str:
    # First the secrets: half of one would not look like it.
    return redact_text(text.strip())[:_LONGEST]


def _short_text(text: str) -> str:
    return redact_text(text)[:_LONGEST_TAG]


def _tags(tags: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The names of tags, sorted: `nightly`, or `team:finance` where a tag has a value."""
    names = set()
    for tag in tags:
        if tag.get("source") == GRAFT:
            continue
        key, value = redact_text(text(tag, "key")), redact_text(text(tag, "value"))
        written = key if value in ("", key, "true") else f"{key}:{value}"
        if key and written.isprintable() and len(written) <= _LONGEST_TAG:
            names.add(written)
    return tuple(sorted(names)[:_MOST_TAGS])


class _SeenColumn(NamedTuple):
    """A column, with the place in the schema that named it first."""

    column: Column
    first: tuple[datetime, int]
    last_at: datetime


@dataclass(slots=True)
class _Seen:
    kind: Kind
    first_seen: datetime
    last_seen: datetime
    columns: dict[str, _SeenColumn] = field(default_factory=dict)
    defined: tuple[Column, ...] = ()
    defined_at: datetime | None = None
    symlinks: frozenset[DatasetId] = frozenset()
    dropped_at: datetime | None = None
    made_at: datetime | None = None
    typed_at: datetime | None = None


class Catalogue:
    """The datasets of one part of a log, in whatever order its events come."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._seen: dict[DatasetId, _Seen] = {}

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, event: Event) -> None:
        """Take what an event says about its datasets."""
        for dataset in event.inputs:
            self._add_dataset(dataset, event, is_output=False)
        for dataset in event.outputs:
            self._add_dataset(dataset, event, is_output=True)

    def _add_dataset(self, event_dataset: NamedDataset, event: Event, *, is_output: bool) -> None:
        dataset = named_dataset(event_dataset.namespace, event_dataset.name)
        if dataset is None:
            return
        at = event.at
        seen = self._seen.get(dataset)
        if seen is None:
            seen = self._seen[dataset] = _Seen(kind_of(dataset, event_dataset.facets), at, at)
        seen.first_seen, seen.last_seen = min(seen.first_seen, at), max(seen.last_seen, at)
        if not event_dataset.facets:
            return
        if columns := columns_of(event_dataset.facets):
            is_defined = event.kind is EventKind.DATASET or (
                is_output and _is_defined(event, event_dataset)
            )
            self._add_columns(seen, columns, at, is_defined=is_defined)
        if "datasetType" in event_dataset.facets and (seen.typed_at is None or at >= seen.typed_at):
            seen.kind, seen.typed_at = kind_of(dataset, event_dataset.facets), at
        if "symlinks" in event_dataset.facets:
            seen.symlinks |= {*symlinks_of(dataset, event_dataset.facets)}
        is_described = event.kind is EventKind.DATASET
        if is_output and (event.is_done or is_described):
            if "lifecycleStateChange" not in event_dataset.facets:
                seen.made_at = seen.made_at if is_described else max(seen.made_at or at, at)
                return
            self._change(dataset, seen, event_dataset, at)

    @staticmethod
    def _add_columns(
        seen: _Seen, columns: tuple[Column, ...], at: datetime, *, is_defined: bool
    ) -> None:
        """Take a schema: one that is not a definition may lack some, as what a query reads."""
        if is_defined and (seen.defined_at is None or at >= seen.defined_at):
            seen.defined, seen.defined_at = columns, at
        for number, column in enumerate(columns):
            key, new = column.name.casefold(), _SeenColumn(column, (at, number), at)
            earlier = seen.columns.get(key, new)
            last, other = (new, earlier) if at >= earlier.last_at else (earlier, new)
            named = last.column if last.column.type else other.column
            seen.columns[key] = _SeenColumn(named, min(earlier.first, new.first), last.last_at)

    def _change(
        self, dataset: DatasetId, seen: _Seen, event_dataset: NamedDataset, at: datetime
    ) -> None:
        """Note that a dataset was made, dropped, or has another name now."""
        change = text(event_dataset.facets, "lifecycleStateChange", "lifecycleStateChange").upper()
        if change == "DROP":
            seen.dropped_at = max(seen.dropped_at or at, at)
            return
        seen.made_at = max(seen.made_at or at, at)
        old = dataset_of(
            mapping(event_dataset.facets, "lifecycleStateChange", "previousIdentifier")
        )
        if change == "RENAME" and old and old != dataset:
            before = self._seen.setdefault(old, _Seen(seen.kind, at, at))
            before.dropped_at = max(before.dropped_at or at, at)

    def take_datasets(self) -> Iterator[Dataset]:
        """The datasets since the last call, sorted."""
        for dataset, seen in sorted(self._seen.items()):
            dropped_at, made_at = seen.dropped_at, seen.made_at
            yield Dataset(
                dataset,
                seen.kind,
                _last_columns(seen),
                tuple(sorted(seen.symlinks)),
                seen.first_seen,
                seen.last_seen,
                dropped_at if dropped_at and (made_at is None or dropped_at >= made_at) else None,
                self._origin,
                has_all_columns=seen.defined_at is not None,
            )
        self._seen.clear()


def _is_defined(event: Event, event_dataset: NamedDataset) -> bool:
    """Whether an output was made with the columns of its schema."""
    change = text(event_dataset.facets, "lifecycleStateChange", "lifecycleStateChange").upper()
    return event.is_done and change in ("CREATE", "OVERWRITE")


def _last_columns(seen: _Seen) -> tuple[Column, ...]:
    """The columns of the last definition, and those that were named since."""
    names = {column.name.casefold() for column in seen.defined}
    later = sorted(
        (
            each
            for key, each in seen.columns.items()
            if key not in names and (seen.defined_at is None or each.last_at > seen.defined_at)
        ),
        key=attrgetter("first"),
    )
    return (*seen.defined, *(each.column for each in later))
