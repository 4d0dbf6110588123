"""Datasets that events name: their columns, other names, and when they were seen or dropped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from dbt_graft.collectors.openlineage.datasets import (
    MOST_COLUMNS,
    columns_of,
    dataset_of,
    kind_of,
    named_dataset,
    symlinks_of,
)
from dbt_graft.collectors.openlineage.event import Event, EventKind, Facets, NamedDataset
from dbt_graft.collectors.openlineage.facets import GRAFT, mapping, objects, text
from dbt_graft.collectors.openlineage.jobs import AIRFLOW, Job
from dbt_graft.lineage.building.metadata import dataset_newness
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import Column, ColumnMetadata, Dataset, DatasetMetadata, TaskMetadata
from dbt_graft.lineage.redaction import redact_text

_LONGEST, _MOST_TAGS, _LONGEST_TAG = 2_000, 20, 60
# What Airflow has where nobody has set anything.
_NO_OWNER, _NO_SCHEDULE = "airflow", frozenset({"None", "null", "@once"})
_DESCRIBING = frozenset({"documentation", "ownership", "tags", "schema"})


def task_metadata(event: Event, job: Job, origin: str) -> TaskMetadata | None:
    """The metadata of an event's task; None where it has none.

    Airflow's documentation is left out: dag-factory writes a DAG's commands there.
    """
    if not job.task or job.is_dbt:
        return None
    facets = event.job_facets
    owner = next((text(entry, "name") for entry in objects(facets, "ownership", "owners")), "")
    schedule = text(event.run_facets, "airflow", "dag", "timetable_summary")
    description = "" if job.engine == AIRFLOW else text(facets, "documentation", "description")
    metadata = TaskMetadata(
        job.task,
        event.at,
        description=_description(description),
        owner="" if job.engine == AIRFLOW and owner == _NO_OWNER else _short_text(owner),
        schedule="" if schedule in _NO_SCHEDULE else _short_text(schedule),
        tags=_tags(objects(event.job_facets, "tags", "tags")),
        origin=origin,
    )
    is_any = metadata.description or metadata.owner or metadata.schedule or metadata.tags
    return metadata if is_any else None


class DatasetTexts:
    """Metadata of datasets in the events of one part of a log: of each facet the newest."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._newest: dict[tuple[DatasetId, str], DatasetMetadata] = {}

    def __len__(self) -> int:
        return len(self._newest)

    def add(self, event: Event) -> None:
        """Take what an event says about its datasets."""
        for event_dataset in (*event.inputs, *event.outputs):
            if event_dataset.facets.keys().isdisjoint(_DESCRIBING):
                continue
            dataset = named_dataset(event_dataset.namespace, event_dataset.name)
            if dataset is None:
                continue
            for name, values in _parts(event_dataset.facets):
                metadata = DatasetMetadata(dataset, event.at, origin=self._origin, **values)
                earlier = self._newest.get((dataset, name), metadata)
                self._newest[dataset, name] = max(earlier, metadata, key=dataset_newness)

    def take_metadata(self) -> Iterator[DatasetMetadata]:
        """The metadata since the last call, sorted by dataset."""
        yield from (metadata for _, metadata in sorted(self._newest.items()))
        self._newest.clear()


def _parts(facets: Facets) -> Iterator[tuple[str, dict[str, Any]]]:
    """The facets of a dataset that say something about it: name -> fields of its metadata."""
    if "documentation" in facets:
        description = _description(text(facets, "documentation", "description"))
        if description:
            yield "documentation", {"description": description}
    if "ownership" in facets:
        owners = (text(entry, "name").strip() for entry in objects(facets, "ownership", "owners"))
        if owner := next(filter(None, owners), ""):
            yield "ownership", {"owner": _short_text(owner)}
    if "tags" in facets:
        by_field: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for tag in islice(objects(facets, "tags", "tags"), MOST_COLUMNS):
            by_field[text(tag, "field")].append(tag)
        tags = {
            field: names for field, field_tags in by_field.items() if (names := _tags(field_tags))
        }
        if tags:
            dataset_tags = tags.pop("", ())
            columns = tuple(ColumnMetadata(field, tags=names) for field, names in tags.items())
            yield "tags", {"tags": dataset_tags, "columns": columns}
    if "schema" in facets:
        # Most schemas have no descriptions, and every event may have a schema.
        described = [
            field for field in objects(facets, "schema", "fields") if "description" in field
        ]
        columns = tuple(
            ColumnMetadata(name, description)
            for field in described[:MOST_COLUMNS]
            if (description := _description(text(field, "description")))
            and (name := text(field, "name"))
        )
        if columns:
            yield "schema", {"columns": columns}


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


@dataclass(slots=True)
class _Seen:
    kind: Kind
    first_seen: datetime
    last_seen: datetime
    columns: tuple[Column, ...] = ()
    columns_at: datetime | None = None
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
        if seen.columns_at is None or at >= seen.columns_at:
            columns = columns_of(event_dataset.facets)
            if columns:
                seen.columns, seen.columns_at = columns, at
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
                seen.columns,
                tuple(sorted(seen.symlinks)),
                seen.first_seen,
                seen.last_seen,
                dropped_at if dropped_at and (made_at is None or dropped_at >= made_at) else None,
                self._origin,
            )
        self._seen.clear()
