"""The datasets of a lineage: what logs say of each, under its name of today."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import reduce
from operator import attrgetter

from dbt_graft.lineage.building.drops import Drops
from dbt_graft.lineage.building.schemas import Schema
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.model import joint_kind, merge_datasets
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import Access, Dataset, Records

_KIND, _FIRST, _LAST = attrgetter("kind"), attrgetter("first_at"), attrgetter("last_at")
_NO_SCHEMA = Schema((), None)


def locate_names(rename: Rename, datasets: Iterable[Dataset]) -> Rename:
    """Rules under which a path that a log names as the place of one table is that table.

    Events name the table as another name of the path. An engine's own log knows it better. Names
    of one place that differ only in the server or catalog before them are one table.
    """
    owners: dict[DatasetId, set[DatasetId]] = defaultdict(set)
    in_events: dict[DatasetId, set[DatasetId]] = defaultdict(set)
    for dataset in datasets:
        for other in dataset.symlinks:
            if other.is_path and not dataset.id.is_path:
                owners[other].add(dataset.id)
            elif dataset.id.is_path and not other.is_path:
                in_events[dataset.id].add(other)
    tables: dict[DatasetId, DatasetId] = {}
    for path, names in {**in_events, **owners}.items():
        if len({_table_name(name) for name in names}) == 1:
            # A name without a server is the engine's own.
            table = min(names, key=lambda name: ("://" in name.namespace, name))
            others = {
                name
                for name in names | in_events[path]
                if name != table and _table_name(name) == _table_name(table)
            }
            tables.update(dict.fromkeys((path, *others), table))

    def locate(dataset: DatasetId) -> DatasetId:
        name = rename(dataset)
        if name != dataset or dataset not in tables:
            return name
        table = tables[dataset]
        return rename(tables.get(table, table))

    return locate


def _table_name(dataset: DatasetId) -> tuple[str, ...]:
    """The schema and the table of a name."""
    return tuple(part.casefold() for part in dataset.parts[-2:])


def present_dataset(
    dataset: Dataset, rename: Rename, dead: Mapping[DatasetId, DatasetId]
) -> Dataset:
    """A dataset as the records have it under its name of today.

    Of one that got another name only the columns count.
    """
    name = rename(dataset.id)
    if name in dead:
        return Dataset(dead[name], columns=dataset.columns)
    if name is dataset.id and not dataset.symlinks:
        return dataset
    symlinks = {
        other
        for symlink in dataset.symlinks
        # The place of its own files goes by the path.
        if (other := symlink if rename(symlink) == name else rename(symlink)) != name
    }
    kind = dataset.kind
    if dataset.id.is_path and any(rename(link) == name != dataset.id for link in dataset.symlinks):
        # Its place, by which events name the table.
        symlinks.add(dataset.id)
        kind = Kind.TABLE if kind is Kind.PATH else kind
    return replace(dataset, id=name, kind=kind, symlinks=tuple(sorted(symlinks)))


def join_datasets(
    recorded: Iterable[Dataset],
    accesses: Collection[Access],
    schemas: Mapping[DatasetId, Schema],
) -> dict[DatasetId, Dataset]:
    datasets: dict[DatasetId, Dataset] = {}
    for dataset in recorded:
        if dataset.kind is not Kind.TEMPORARY:
            earlier = datasets.get(dataset.id)
            datasets[dataset.id] = merge_datasets(earlier, dataset) if earlier else dataset
    used = group_by_key((access.dataset.key, access) for access in accesses)
    for first, *_ in used.values():
        datasets.setdefault(first.dataset, Dataset(first.dataset, first.kind))
    drops = Drops(accesses)

    def describe(dataset: Dataset) -> Dataset:
        schema, group = schemas.get(dataset.id, _NO_SCHEMA), used.get(dataset.id.key, ())
        first, last = (
            (dataset.first_seen, *map(_FIRST, group)),
            (dataset.last_seen, *map(_LAST, group)),
        )
        return Dataset(
            dataset.id,
            kind=reduce(joint_kind, map(_KIND, group), dataset.kind),
            columns=schema.columns,
            symlinks=dataset.symlinks,
            first_seen=min(filter(None, first), default=None),
            last_seen=max(filter(None, last), default=None),
            dropped_at=drops.drop_time(dataset),
            origin=dataset.origin,
            has_all_columns=schema.defined_at is not None,
        )

    by_name = sorted(datasets.items(), key=lambda item: item[0].key)
    return {key: describe(dataset) for key, dataset in by_name}


def find_aliases(
    records: Records, rename: Rename, datasets: Mapping[DatasetId, Dataset]
) -> dict[DatasetId, tuple[DatasetId, ...]]:
    """For each dataset the names in logs that a rule replaces; the place of its files is none."""
    used = {access.dataset for access in records.accesses if access.kind is not Kind.TEMPORARY}
    renamed = sorted(
        (dataset, name)
        for name in used
        if (dataset := rename(name)) is not name and dataset != name
    )
    aliases = group_by_key(
        (dataset, name)
        for dataset, name in renamed
        if dataset in datasets and name not in datasets[dataset].symlinks
    )
    return {dataset: tuple(names) for dataset, names in aliases.items()}
