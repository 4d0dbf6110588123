"""The columns of a query's result as columns of the relation that dbt builds from it."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_graft.collectors.dbt.column_end import ColumnEnds, ends_of_column
from dbt_graft.collectors.dbt.models import DbtModel
from dbt_graft.lineage.records import ANY_COLUMN

Column = tuple[str, ColumnEnds]

_ANY = "it selects * from a relation whose columns are not known"
_NO_NAME = "a column has no name"
_SHOWN = 5


def result_columns(result: Sequence[Column], model: DbtModel) -> tuple[list[Column], str | None]:
    """The columns under the names of the relation, and why some of these have no source.

    Names are those of the catalog, compared without case; a column without a name is the one at
    its place, where the numbers of columns agree. `*` stands for what is left of the catalog's.
    """
    stars = [ends for name, ends in result if name == ANY_COLUMN]
    if not model.columns:
        unnamed = any(ends for name, ends in result if not name)
        gap = _ANY if stars else _NO_NAME if unnamed else None
        return [column for column in result if column[0]], gap
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
    if len(stars) == 1:
        return [*columns, *((name, ends_of_column(stars[0], name)) for name in missing)], None
    if stars:
        return [*columns, *((ANY_COLUMN, ends) for ends in stars)], _ANY if missing else None
    return columns, _missing_columns(missing) if missing else None


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
    rest = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"columns that its query does not have: {', '.join(names[:_SHOWN])}{rest}"
