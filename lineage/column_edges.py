"""Column edges field by field: a million of them have few datasets, tasks and columns.

A question about one field looks at each of its values once, and objects are made of those edges
alone that are looked at one by one.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, field, fields
from itertools import chain, compress, count, groupby, repeat
from operator import eq, mul
from typing import Any, overload

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key, picker
from dbt_graft.lineage.records import ColumnEdge

_DATASETS = ("to_dataset", "from_dataset")
_NAMES = tuple(each.name for each in fields(ColumnEdge))
_TARGET = "to_dataset"
# The order of a target's edges; what it leaves open, the other fields decide.
_ORDER = tuple(
    dict.fromkeys(
        (
            *("to_column", "from_dataset", "from_column", "task", "subtype", "shape_id"),
            *("masking", "masked_by", "evidence"),
            *(each.name for each in fields(ColumnEdge) if each.compare and each.name != _TARGET),
        )
    )
)


@frozen
class EdgeField:
    """A field of column edges.

    Attributes:
        values: Each value that an edge has, once; of a dataset each spelling.
        places: The place of each edge's value among them; empty where all edges have the first.
    """

    values: Sequence[Any]
    places: array[int]

    def get(self, edge: int) -> Any:
        """The value of an edge, by the edge's place."""
        return self.values[self.places[edge] if self.places else 0]

    def of_edges(self, size: int, values: Sequence[Any] | None = None) -> Iterable[Any]:
        """The values of so many edges.

        Args:
            values: Others, in the places of those of the field.
        """
        values = self.values if values is None else values
        return map(values.__getitem__, self.places) if self.places else repeat(values[0], size)

    def take(self, pick: Callable[[Sequence[int]], Sequence[int]]) -> EdgeField:
        """The field of the edges that a function picks, each of them once."""
        if not self.places:
            return self
        picked = pick([*self.places])
        if len(picked) == len(self.places):
            return EdgeField(self.values, array("i", picked))
        return _used(self.values, picked)

    def mapped(self, change: Callable[[Any], Any]) -> EdgeField:
        """The field with other values."""
        return edge_field([*map(change, self.values)], self.places)


@frozen
class ColumnEdges(Sequence[ColumnEdge]):
    """Many column edges, as a sequence of them; `of` makes one.

    Attributes:
        size: Their number.
        fields: By name; empty where there are no edges.
    """

    size: int
    fields: Mapping[str, EdgeField]
    _edges: list[ColumnEdge] = field(default_factory=list, init=False, repr=False, compare=False)

    @staticmethod
    def of(edges: Iterable[ColumnEdge]) -> ColumnEdges:
        """The same edges in this form."""
        if isinstance(edges, ColumnEdges):
            return edges
        listed = [*edges]
        made = ColumnEdges(
            len(listed),
            {name: _read_field(name, listed) for name in _NAMES} if listed else {},
        )
        made._edges.extend(listed)
        return made

    @staticmethod
    def join(parts: Iterable[ColumnEdges]) -> ColumnEdges:
        """The edges of all parts."""
        filled = [part for part in parts if part.size]
        if len(filled) == 1:
            return filled[0]
        names = _NAMES if filled else ()
        joined = {name: _join_fields([(p.fields[name], p.size) for p in filled]) for name in names}
        return ColumnEdges(sum(part.size for part in filled), joined)

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, index: int) -> ColumnEdge: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[ColumnEdge]: ...

    def __getitem__(self, index: int | slice) -> ColumnEdge | Sequence[ColumnEdge]:
        if self._edges or isinstance(index, slice):
            return self._listed()[index]
        place = range(self.size)[index]
        return ColumnEdge(*(self.fields[name].get(place) for name in _NAMES))

    def __iter__(self) -> Iterator[ColumnEdge]:
        return iter(self._listed())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __repr__(self) -> str:
        return repr(tuple(self))

    def _listed(self) -> list[ColumnEdge]:
        """The edges as objects, made once."""
        if not self._edges and self.size:
            self._edges[:] = map(ColumnEdge, *map(self.values, _NAMES))  # at once: of any thread
        return self._edges

    def values(self, name: str) -> Iterable[Any]:
        """The value of each edge in a field."""
        return self.fields[name].of_edges(self.size) if self.size else ()

    def distinct(self, name: str) -> Sequence[Any]:
        """The values of a field, each once; of a dataset each spelling."""
        return self.fields[name].values if self.size else ()

    def numbers(self, name: str, number_of: Callable[[Any], int]) -> list[int]:
        """A number for each edge by its value in a field."""
        if not self.size:
            return []
        of_field = self.fields[name]
        return [*of_field.of_edges(self.size, [*map(number_of, of_field.values)])]

    def where(self, name: str, is_wanted: Callable[[Any], bool]) -> ColumnEdges:
        """The edges whose value in a field is wanted."""
        wanted = [bool(is_wanted(value)) for value in self.distinct(name)]
        if all(wanted):
            return self
        return self.select([*self.fields[name].of_edges(self.size, wanted)] if any(wanted) else ())

    def select(self, is_wanted: Sequence[int]) -> ColumnEdges:
        """The edges that are wanted, each with 1 or 0."""
        if 1 not in is_wanted:
            return ColumnEdges(0, {})
        if 0 not in is_wanted:
            return self
        chosen = {
            name: _used(each.values, compress(each.places, is_wanted))
            for name, each in self.fields.items()
        }
        return ColumnEdges(sum(is_wanted), chosen)

    def without(self, places: Iterable[int]) -> ColumnEdges:
        """The edges but those at some places."""
        is_wanted = bytearray(b"\1") * self.size
        for place in places:
            is_wanted[place] = 0
        return self.select(is_wanted)

    def once(self, *names: str) -> ColumnEdges:
        """The edges, of those that are alike in some fields the first."""
        each_of = (self.fields[name] for name in (names if self.size else ()))
        places = (of_field.places for of_field in each_of if of_field.places)
        rows = [*zip(*places, strict=True)] or [()] * self.size
        # Later entries replace earlier ones, so the first of its like is the last here.
        first = dict(zip(reversed(rows), range(self.size - 1, -1, -1), strict=True))
        if len(first) == self.size:
            return self
        is_first = bytearray(self.size)
        for place in first.values():
            is_first[place] = 1
        return self.select(is_first)

    def loops(self) -> list[int]:
        """The places of the edges from a dataset to itself."""
        if not self.size:
            return []
        source, target = (self.fields[name] for name in _DATASETS)
        places = {dataset.key: place for place, dataset in enumerate(target.values)}
        ends = (
            each.of_edges(self.size, [places.get(dataset.key, -1) for dataset in each.values])
            for each in (source, target)
        )
        return [*compress(count(), map(eq, *ends))]

    def in_order(self) -> ColumnEdges:
        """The edges by their targets, of equal ones the first: logs repeat them.

        These differ by origin.
        """
        names = [name for name in _ORDER if self.size and len(self.fields[name].values) > 1]
        columns = (self.keys(name) if name in _DATASETS else self.values(name) for name in names)
        rows = [*zip(*columns, strict=True)] or [()] * self.size
        places_by_target = group_by_key(zip(self.keys(_TARGET), count(), strict=False))
        order: list[int] = []
        # The edges of each target are sorted alone, as these are few.
        for target in sorted(places_by_target):
            places = sorted(places_by_target[target], key=rows.__getitem__)
            if len({*map(rows.__getitem__, places)}) < len(places):
                places = [first for _, (first, *_) in groupby(places, rows.__getitem__)]
            order += places
        pick = picker(order)
        return ColumnEdges(
            len(order), {name: each.take(pick) for name, each in self.fields.items()}
        )

    def keys(self, end: str) -> Iterable[tuple[str, str]]:
        """The key of each edge's dataset at an end."""
        if not self.size:
            return ()
        of_field = self.fields[end]
        return of_field.of_edges(self.size, [dataset.key for dataset in of_field.values])

    def map_datasets(self, rename: Callable[[DatasetId], DatasetId | None]) -> ColumnEdges:
        """The edges with other datasets, without those of which one is none: themselves if so."""
        names: dict[int, DatasetId | None] = {}
        for dataset in chain.from_iterable(map(self.distinct, _DATASETS)):
            if id(dataset) not in names:
                names[id(dataset)] = rename(dataset)
        if None in names.values():
            left_out = {key for key, name in names.items() if name is None}
            ends = (self.numbers(end, lambda d: id(d) not in left_out) for end in _DATASETS)
            return self.select([*map(mul, *ends)]).map_datasets(rename)
        if all(names[id(d)] is d for end in _DATASETS for d in self.distinct(end)):
            return self
        changed = {
            end: self.fields[end].mapped(lambda dataset: names[id(dataset)]) for end in _DATASETS
        }
        return ColumnEdges(self.size, {**self.fields, **changed})


def constant_fields() -> dict[str, EdgeField]:
    """The fields that an edge may lack, as one that lacks them has them."""
    defaults = {each.name: each.default for each in fields(ColumnEdge)}
    return {
        name: EdgeField([default], array("i"))
        for name, default in defaults.items()
        if default is not MISSING
    }


def _read_field(name: str, edges: Sequence[ColumnEdge]) -> EdgeField:
    values = [getattr(edge, name) for edge in edges]
    if name not in _DATASETS:
        return edge_field(values, array("i"))
    # Most ids are the same objects, which are compared at once.
    distinct = {id(dataset): dataset for dataset in values}
    places = dict(zip(distinct, count(), strict=False))
    return edge_field([*distinct.values()], array("i", map(places.__getitem__, map(id, values))))


def edge_field(values: Sequence[Any], places: array[int]) -> EdgeField:
    """A field of edges.

    Args:
        values: An equal value may be there twice.
        places: The place of each edge's value; without any, each edge has its own.
    """
    exact = [*map(_exact, values)] if isinstance(values[0], DatasetId) else values
    distinct = dict(zip(exact, values, strict=True))
    if len(distinct) == len(values) and places:
        return _edge_field(values, places)
    place_of = dict(zip(distinct, count(), strict=False))
    of_value = [*map(place_of.__getitem__, exact)]
    of_edge = map(of_value.__getitem__, places) if places else of_value
    return _edge_field([*distinct.values()], array("i", of_edge))


def _edge_field(values: Sequence[Any], places: array[int]) -> EdgeField:
    return EdgeField(values, places if len(values) > 1 else array("i"))


def _used(values: Sequence[Any], places: Iterable[int]) -> EdgeField:
    """A field with the values alone that an edge has."""
    if not values[1:]:
        return EdgeField(values, array("i"))
    taken = array("i", places)
    used = sorted({*taken})
    if len(used) == len(values):
        return EdgeField(values, taken)
    place_of = dict(zip(used, count(), strict=False))
    return _edge_field(
        [values[place] for place in used], array("i", map(place_of.__getitem__, taken))
    )


def _join_fields(parts: Sequence[tuple[EdgeField, int]]) -> EdgeField:
    """The fields of some edges after each other, each with the number of its edges."""
    distinct: dict[Any, Any] = {}
    place_of: dict[Any, int] = {}
    places = array("i")
    for each, size in parts:
        of_value = []
        for value in each.values:
            exact = _exact(value) if isinstance(value, DatasetId) else value
            of_value.append(place_of.setdefault(exact, len(place_of)))
            distinct.setdefault(exact, value)
        places.extend(each.of_edges(size, of_value))
    return _edge_field([*distinct.values()], places)


def _exact(dataset: DatasetId) -> tuple[str, str]:
    return dataset.namespace, dataset.name
