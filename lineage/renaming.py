"""Records with other names for their datasets, wherever the types of their fields have one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import chain, compress, count
from operator import attrgetter, is_
from types import UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from dbt_graft.lineage.column_edges import ColumnEdges
from dbt_graft.lineage.dataset import DatasetId, LoggedName
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.records import ColumnEdge

_Record = TypeVar("_Record")
_Mapper = Callable[[Any, Rename], Any]


class _LeftOutError(Exception):
    """A dataset is left out, and with it what cannot be without it."""


def map_datasets(record: _Record, rename: Rename) -> _Record:
    """A record with each of its datasets renamed, at any depth; itself where no name changes."""
    kind: Any = type(record)
    names: dict[int, DatasetId] = {}

    def rename_once(dataset: DatasetId) -> DatasetId:
        # Most ids of many records are the same objects, whose hashes take long.
        if (name := names.get(id(dataset))) is None:
            name = names[id(dataset)] = _rename(dataset, rename)
        return name

    mapped: _Record = _mapper(kind)(record, rename_once)
    return mapped


def drop_datasets(record: _Record, hidden: Collection[DatasetId]) -> _Record:
    """A record without some datasets, and without the items and entries that have one of them."""

    def check(dataset: DatasetId) -> DatasetId:
        if dataset in hidden:
            raise _LeftOutError
        return dataset

    return map_datasets(record, check)


def dataset_ids(record: object) -> Collection[DatasetId]:
    """All datasets that a record names."""
    datasets: dict[DatasetId, None] = {}

    def note(dataset: DatasetId) -> DatasetId:
        datasets[dataset] = None
        return dataset

    map_datasets(record, note)
    return datasets.keys()


def spelling(names: Iterable[DatasetId] = ()) -> Rename:
    """One spelling for each dataset: that of the first of `names` which is equal to it.

    Logs, name rules and dbt may write a name in different case. Ids of all spellings are equal, so
    look-ups find any; what is shown would depend on which of them comes first. Of a dataset that
    `names` lacks the first spelling met counts.
    """
    spelled: dict[DatasetId, DatasetId] = {}
    for name in names:
        spelled.setdefault(name, name)
    return lambda dataset: spelled.setdefault(dataset, dataset)


@cache
def _mapper(hint: Any) -> _Mapper:
    """The function that maps values of a type: `_keep` for a type without datasets."""
    if hint is DatasetId:
        return lambda dataset, rename: rename(dataset)
    if hint == LoggedName:
        return lambda name, rename: (rename(name), name)[1]
    if is_dataclass(hint):
        return _record_mapper(hint)
    origin, parts = get_origin(hint), tuple(map(_mapper, get_args(hint)))
    mappers = [part for part in parts if part is not _keep]
    if not mappers:
        return _keep
    if origin is tuple:
        if Ellipsis in get_args(hint):
            return _item_mapper(mappers[0], _direct_datasets(get_args(hint)[0]))
        return _pair_mapper(parts)
    if origin is Sequence and get_args(hint) == (ColumnEdge,):
        return _edges_mapper(_item_mapper(mappers[0], _direct_datasets(ColumnEdge)))
    if origin is Mapping:
        return _entry_mapper(_item_mapper(_pair_mapper(parts), ()))
    if origin is UnionType and len(mappers) == 1:
        return lambda value, rename: None if value is None else mappers[0](value, rename)
    raise TypeError(f"no rule for the datasets of {hint}")


def _keep(value: Any, _rename: Rename) -> Any:
    return value


def _rename(dataset: DatasetId, rename: Rename) -> DatasetId:
    name = rename(dataset)
    same = name is dataset or (name.name, name.namespace) == (dataset.name, dataset.namespace)
    # Most keep their name, and a copy of each record would be most of the work.
    return dataset if same else name


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _record_mapper(kind: Any) -> _Mapper:
    hints = _hints(kind)
    mappers = [(field.name, _mapper(hints[field.name])) for field in fields(kind) if field.init]
    mappers = [(name, mapper) for name, mapper in mappers if mapper is not _keep]

    def map_fields(record: Any, rename: Rename) -> Any:
        changes = {}
        for name, mapper in mappers:
            before = getattr(record, name)
            after = mapper(before, rename)
            if after is not before:
                changes[name] = after
        return replace(record, **changes) if changes else record

    return map_fields if mappers else _keep


def _direct_datasets(hint: Any) -> Sequence[Callable[[Any], DatasetId]]:
    """The getters of the datasets of a record; empty where one may lie deeper."""
    if not is_dataclass(hint) or hint is DatasetId:
        return ()
    hints = _hints(cast("Any", hint))
    named = [each.name for each in fields(hint) if _mapper(hints[each.name]) is not _keep]
    is_direct = all(hints[name] is DatasetId for name in named)
    return [attrgetter(name) for name in named] if is_direct else ()


def _item_mapper(mapper: _Mapper, direct: Sequence[Callable[[Any], DatasetId]]) -> _Mapper:
    """The mapper of items, whose datasets are all taken by `direct` if that is not empty."""

    def touched_places(items: tuple[Any, ...], rename: Rename) -> Iterable[int]:
        """The places of items that have a dataset of another name, or one that is left out."""
        if not direct:
            return range(len(items))
        ends = [[*map(get, items)] for get in direct]
        datasets = dict(chain.from_iterable(zip(map(id, end), end, strict=True) for end in ends))
        changed = {key for key, dataset in datasets.items() if is_changed(dataset, rename)}
        return {
            place
            for end in (ends if changed else ())
            for place in compress(count(), map(changed.__contains__, map(id, end)))
        }

    def is_changed(dataset: DatasetId, rename: Rename) -> bool:
        try:
            return rename(dataset) is not dataset
        except _LeftOutError:
            return True

    def map_items(items: tuple[Any, ...], rename: Rename) -> tuple[Any, ...]:
        mapped: list[Any] = [*items]
        # Of a million records few datasets are asked for, and most of these keep their names.
        for place in touched_places(items, rename):
            try:
                mapped[place] = mapper(items[place], rename)
            except _LeftOutError:
                mapped[place] = _LeftOutError
        return _unless_same(items, [item for item in mapped if item is not _LeftOutError])

    return map_items


def _pair_mapper(mappers: tuple[_Mapper, ...]) -> _Mapper:
    return lambda pair, rename: _unless_same(
        pair, [mapper(part, rename) for mapper, part in zip(mappers, pair, strict=True)]
    )


def _entry_mapper(map_entries: _Mapper) -> _Mapper:
    def map_mapping(mapping: Mapping[Any, Any], rename: Rename) -> Mapping[Any, Any]:
        entries = tuple(mapping.items())
        mapped = map_entries(entries, rename)
        return mapping if mapped is entries else dict(mapped)

    return map_mapping


def _edges_mapper(map_items: _Mapper) -> _Mapper:
    def map_edges(edges: Sequence[ColumnEdge], rename: Rename) -> Sequence[ColumnEdge]:
        def rename_or_leave_out(dataset: DatasetId) -> DatasetId | None:
            try:
                return rename(dataset)
            except _LeftOutError:
                return None

        if isinstance(edges, ColumnEdges):
            return edges.map_datasets(rename_or_leave_out)
        mapped: Sequence[ColumnEdge] = map_items(tuple(edges), rename)
        return mapped

    return map_edges


def _unless_same(before: tuple[Any, ...], after: list[Any]) -> tuple[Any, ...]:
    same = len(before) == len(after) and all(map(is_, before, after))
    return before if same else tuple(after)
