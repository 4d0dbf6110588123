"""Followed queries -> column edges between datasets; ephemeral models are seen through.

Columns of a query's result are columns of the relation that dbt builds from it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.dbt.column_cache import ColumnCache, ModelSummary
from dbt_graft.collectors.dbt.followed_query import FollowedQuery, QueryInput, QueryInputs
from dbt_graft.collectors.dbt.models import DbtModel, RelationNames
from dbt_graft.collectors.statements.columns.outside_names import is_place
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinedColumns, DefinitionColumns, DefinitionEdges
from dbt_graft.lineage.records import ANY_COLUMN, Masking, Subtype

if TYPE_CHECKING:
    from dbt_graft.collectors.statements.text.names import Name

_ORIGIN = "dbt:manifest.json"
# A look-up is faster than the enumeration, and a project has hundreds of thousands.
_SUBTYPES = {str(subtype): subtype for subtype in Subtype}
_MASKINGS = {str(masking): masking for masking in Masking}
_COPIED = Subtype.IDENTITY
_ANY = "it selects * from a relation whose columns are not known"
_NO_NAME = "a column has no name"
_SHOWN = 5
# Each once: most columns have one alone.
ColumnEnds = tuple[ColumnInput[DatasetId], ...]
# To the end of the line, unless it may be inside of quotes or of another comment, which ends there.
_COMMENT = re.compile(r"--[ \t][^\n'\"`\[\]/]*$", re.MULTILINE)
_WORD = re.compile(r"\w+")
# Where all columns decide on rows, or must be as many as those of another query.
_COUNTING = frozenset(
    {"union", "intersect", "except", "minus", "distinct", "natural", "pivot", "unpivot", "all"}
)
# The same words in an aggregate, `count(distinct x)`, and before the columns that `*` leaves out.
_ASIDE = re.compile(
    r"\(\s*distinct\b|\bexcept\s*\((?!\s*(?:\(|(?:select|with|from|table|values)\b))"
)


def _ends_of_column(ends: Iterable[ColumnInput[DatasetId]], column: str) -> ColumnEnds:
    """The ends of one column among all those that `*` stands for."""
    return _distinct(
        [end._replace(column=column) if end.column == ANY_COLUMN else end for end in ends]
    )


Column = tuple[str, ColumnEnds]


class _Ephemeral(NamedTuple):
    """An ephemeral model: the relations that a query of it reads from."""

    identity: str
    columns: Mapping[str, ColumnEnds]
    row_ends: ColumnEnds
    reads: frozenset[DatasetId]

    def __str__(self) -> str:
        return self.identity

    def find(self, name: str) -> ColumnEnds:
        """The ends behind a column, or behind all for `*`."""
        if name == ANY_COLUMN:
            return _distinct([*chain.from_iterable(self.columns.values())])
        ends = _field_ends(name, self.columns)
        if ends is not None:
            return ends
        return _ends_of_column(self.columns.get(ANY_COLUMN, ()), name)


Source = DatasetId | _Ephemeral | None


class _TracedQuery:
    """The followed query of a model, with what the tables in it stand for."""

    def __init__(self, model: DbtModel, query: FollowedQuery, sources: Sequence[Source]) -> None:
        self.model, self.query, self.sources = model, query, sources

    @cached_property
    def _inputs(self) -> QueryInputs:
        return self.query.inputs

    def identity(self, digests: Sequence[str]) -> str:
        """A digest of all that the columns are made of.

        Args:
            digests: Of the model's queries, and of the columns of what these read.
        """
        model, query = self.model, self.query
        parts = (
            *(model.unique_id, str(model.dataset), model.columns, sorted(model.added)),
            *(model.is_complete, digests, query.tables, [*query.gaps], [*map(str, self.sources)]),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]

    def reads(self) -> set[DatasetId]:
        """The datasets that it reads, those behind ephemeral models too."""
        reads = {source for source in self.sources if isinstance(source, DatasetId)}
        for source in self.sources:
            if isinstance(source, _Ephemeral):
                reads |= source.reads
        return reads

    def result(self) -> list[Column]:
        """The columns of its result, as it names them."""
        return [(name, _ends(inputs, self.sources)) for name, inputs in self._inputs.columns]

    def row_ends(self) -> ColumnEnds:
        """The columns that decide on rows."""
        row_ends = _ends(self._inputs.rows, self.sources)
        for source in self.sources:
            if isinstance(source, _Ephemeral):
                row_ends = _distinct([*row_ends, *source.row_ends])
        return row_ends

    def columns(self) -> DefinedColumns:
        """The columns of the relation, `*` for what decides on rows."""
        return self._relation[0]

    def summary(self) -> ModelSummary:
        """The reason why some of its columns are missing, and those taken by `*` alone."""
        columns, missing = self._relation
        gaps = [*self.query.gaps, *_unknown_sources(self.query.tables, self.sources)]
        if missing and not gaps:
            gaps.append(missing)
        # A contract that is enforced names all columns.
        if self.model.is_complete:
            return ModelSummary("; ".join(gaps), ())
        copied = (
            column for _, ends in columns for _, column, subtype, _ in ends if subtype is _COPIED
        )
        return ModelSummary("; ".join(gaps), starred_columns(self.model.sql, copied))

    @cached_property
    def _relation(self) -> tuple[DefinedColumns, str | None]:
        """The columns of the relation, and why some have no source."""
        fields = [(name, _ends(inputs, self.sources)) for name, inputs in self._inputs.fields]
        named_columns, missing = _result_columns(self.result(), fields, self.model)
        columns: list[tuple[str, Sequence[ColumnInput[DatasetId]]]] = [
            (name, sorted(ends) if len(ends) > 1 else ends)
            for name, ends in (*named_columns, (ANY_COLUMN, self.row_ends()))
        ]
        # A model that reads itself takes no data from elsewhere.
        if self.model.dataset in self.reads():
            columns = [
                (name, [end for end in ends if end.source != self.model.dataset])
                for name, ends in columns
            ]
        return columns, missing


class ColumnTracer:
    """The column edges of a project while its models are followed, upstream first.

    Args:
        cache: What the last build knew of models.
    """

    def __init__(self, names: RelationNames, cache: ColumnCache) -> None:
        self._names, self._cache = names, cache
        self._ephemeral: dict[str, _Ephemeral] = {}
        self._edges: dict[str, DefinitionEdges] = {}
        self._gaps: dict[str, str] = {}
        self._reads: dict[str, tuple[DatasetId, ...]] = {}
        self._starred: dict[str, tuple[str, ...]] = {}

    def add(self, model: DbtModel, query: FollowedQuery, digests: Sequence[str]) -> None:
        """Add a model, and what its query was found to do.

        Args:
            digests: See `_TracedQuery.identity`.
        """
        traced = _TracedQuery(model, query, [self._source(name, model) for name in query.tables])
        identity, reads, key = traced.identity(digests), traced.reads(), model.unique_id
        if model.dataset is None:
            folded = {name.casefold(): ends for name, ends in reversed(traced.result()) if name}
            self._ephemeral[key] = _Ephemeral(identity, folded, traced.row_ends(), frozenset(reads))
            return
        self._reads[key] = tuple(sorted(reads - {model.dataset}))
        self._edges[key] = DefinitionEdges(
            *(key, model.dataset, traced.columns, partial(_shape_id, model.sql), _ORIGIN, identity)
        )
        gap, starred = self._cache.summary(identity, traced.summary)
        if gap:
            self._gaps[key] = gap
        if starred:
            self._starred[key] = tuple(starred)

    def result(self) -> DefinitionColumns:
        """The edges and gaps of all models, sorted."""
        return DefinitionColumns(
            {key: self._edges[key] for key in sorted(self._edges)},
            {key: self._gaps[key] for key in sorted(self._gaps)},
            reads=self._reads,
            starred=self._starred,
        )

    def _source(self, name: Name, reader: DbtModel) -> Source:
        model = self._names.find(name, reader)
        if model:
            return model.dataset or self._ephemeral.get(model.unique_id)
        return self._names.dataset(name, reader)


def _ends(inputs: Iterable[QueryInput], sources: Sequence[Source]) -> ColumnEnds:
    ends: list[ColumnInput[DatasetId]] = []
    for table, column, subtype_value, masking_value in inputs:
        source = sources[table]
        subtype, masking = _SUBTYPES[subtype_value], _MASKINGS[masking_value]
        if isinstance(source, DatasetId):
            ends.append(ColumnInput(source, column, subtype, masking))
        elif source:
            ends += [end.then(subtype, masking) for end in source.find(column)]
    return _distinct(ends)


def _distinct(ends: Sequence[ColumnInput[DatasetId]]) -> ColumnEnds:
    return tuple(dict.fromkeys(ends) if len(ends) > 1 else ends)


def _unknown_sources(names: Sequence[Name], sources: Sequence[object]) -> Iterator[str]:
    """The reasons why names of a query stand for no source."""
    unknown = [name for name, source in zip(names, sources, strict=True) if source is None]
    models = [".".join(name) for name in unknown if not is_place(name)]
    functions = dict.fromkeys(name[1] for name in unknown if is_place(name))
    if models:
        yield f"it reads models that are not known: {', '.join(models)}"
    if functions:
        yield f"it is not known where the files of a table function are: {', '.join(functions)}"


def _shape_id(sql: str) -> str:
    return f"dbt-{hashlib.sha256(sql.encode('utf-8', 'replace')).hexdigest()[:20]}"


def _result_columns(
    result: Sequence[Column], fields: Sequence[Column], model: DbtModel
) -> tuple[list[Column], str | None]:
    """The columns under the names of the relation, and why some of these have no source.

    Names are those of the catalog, compared without case; a column without a name is the one at
    its place, where the numbers of columns agree. `*` stands for what is left of the catalog's.
    Where the catalog has fields of structs (`address.city`), they are columns too.
    """
    stars = [ends for name, ends in result if name == ANY_COLUMN]
    if not model.columns:
        unnamed = any(ends for name, ends in result if not name)
        gap = _ANY if stars else _NO_NAME if unnamed else None
        return [column for column in result if column[0]], gap
    folded = [name.casefold() for name, _ in result]
    if (
        not stars
        and folded == [name.casefold() for name in model.columns]
        and len({*folded}) == len(folded)
    ):
        # As most are, with nothing to look for.
        return [(name, ends) for name, (_, ends) in zip(model.columns, result, strict=True)], None
    if len({*folded}) < len(folded) and len(result) != len(model.columns):
        result = _merged(result)
    places = _by_name(result, model.columns)
    if not stars and len(result) == len(model.columns):
        taken = set(places.values())
        for index in range(len(result)):
            if index not in places and index not in taken:
                places[index] = index
    columns = [
        (model.columns[position], result[index][1]) for index, position in sorted(places.items())
    ]
    at_known = set(places.values())
    missing = [name for position, name in enumerate(model.columns) if position not in at_known]
    missing = [name for name in missing if name.casefold() not in model.added]
    known_fields = {name.casefold(): ends for name, ends in (*result, *fields) if name}
    struct_fields = [
        (name, ends) for name in missing if (ends := _field_ends(name, known_fields)) is not None
    ]
    columns += struct_fields
    missing = [name for name in missing if name not in dict(struct_fields)]
    if len(stars) == 1:
        return [*columns, *((name, _ends_of_column(stars[0], name)) for name in missing)], None
    if stars:
        return [*columns, *((ANY_COLUMN, ends) for ends in stars)], _ANY if missing else None
    return columns, _missing_columns(missing) if missing else None


def _merged(result: Sequence[Column]) -> list[Column]:
    """Columns of one name, which a view may have and the catalog has once, as one."""
    merged: dict[str | int, tuple[str, list[ColumnInput[DatasetId]]]] = {}
    for at, (name, ends) in enumerate(result):
        key = at if name in ("", ANY_COLUMN) else name.casefold()
        merged.setdefault(key, (name, []))[1].extend(ends)
    return [(name, _distinct(ends)) for name, ends in merged.values()]


def _field_ends(name: str, columns: Mapping[str, ColumnEnds]) -> ColumnEnds | None:
    """The ends of a field by those of its struct; None for a column that is no field.

    A struct that is copied brings its fields along.
    """
    parts = name.casefold().split(".")
    for at in range(len(parts), 0, -1):
        ends = columns.get(".".join(parts[:at]))
        if ends is not None:
            path = "".join(f".{part}" for part in name.split(".")[at:])
            return _distinct(
                [
                    end._replace(column=f"{end.column}{path}")
                    if end.subtype is Subtype.IDENTITY and end.column != ANY_COLUMN
                    else end
                    for end in ends
                ]
            )
    return None


def _by_name(result: Sequence[Column], columns: Sequence[str]) -> dict[int, int]:
    """Place in the result -> place in the relation, each once, the same case first."""
    places: dict[int, int] = {}
    exact = {name: position for position, name in reversed([*enumerate(columns)])}
    folded = {name.casefold(): position for position, name in reversed([*enumerate(columns)])}
    for spelled, indexes in ((str, exact), (str.casefold, folded)):
        taken = set(places.values())
        for index, (name, _) in enumerate(result):
            position = indexes.get(spelled(name))
            if position is not None and position not in taken and index not in places:
                places[index] = position
                taken.add(position)
    return places


def _missing_columns(names: Sequence[str]) -> str:
    return f"columns that its query does not have: {join_names(names, _SHOWN)}"


def starred_columns(sql: str, columns: Iterable[str]) -> tuple[str, ...]:
    """The columns of those that a query reads, folded, in order, that no word of its SQL means."""
    if "*" not in sql or not (folded := {column.casefold() for column in columns}):
        return ()
    code = _COMMENT.sub("", sql) if "--" in sql else sql
    words = {*_WORD.findall(_ASIDE.sub("(", code.casefold()))}
    if not words.isdisjoint(_COUNTING):
        return ()
    return tuple(sorted(column for column in folded if not words.issuperset(_WORD.findall(column))))
