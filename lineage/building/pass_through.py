"""Views that only pass a table on: `CREATE VIEW v AS SELECT * FROM t`, as another name of it.

A view counts where all of its definitions in the logs say so, of one and the same table. What is
left out, limited, computed or renamed makes it a dataset of its own. A synonym of T-SQL is another
name, too, `CREATE SYNONYM s FOR t`: what is written to it is in the table.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Container, Mapping
from dataclasses import field, replace

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.names import Rename
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Column, Direction, Records, Status

_WORD = r'(?:\[(?:[^\]]|\]\])+\]|"(?:[^"]|"")+"|`(?:[^`]|``)+`|[^\W\d][\w$#@]*)'
_NAME = rf"{_WORD}(?:\s*\.+\s*{_WORD}){{0,3}}"
_VIEW = re.compile(
    rf"CREATE\s+(?:OR\s+(?:ALTER|REPLACE)\s+)?VIEW\s+(?:IF\s+NOT\s+EXISTS\s+)?{_NAME}\s+"
    r"(?:WITH\s+(?:SCHEMABINDING|VIEW_METADATA)\s+)?AS\s+(?P<query>.+)",
    re.IGNORECASE | re.DOTALL,
)
_DEFINES = frozenset({Operation.CREATE_VIEW, Operation.CREATE_SYNONYM})
_QUERY = re.compile(
    r"SELECT\s+(?:ALL\s+)?(?P<columns>[^()]+?)\s+"
    rf"FROM\s+{_NAME}(?:\s+AS\s+{_WORD}|\s+(?!WITH\b|WHERE\b|LIMIT\b){_WORD})?"
    r"(?:\s+WITH\s*\(\s*NOLOCK\s*\))?\s*;?\s*",
    re.IGNORECASE,
)
_ALL = re.compile(rf"(?:{_NAME}\s*\.\s*)?\*")
_COLUMN = re.compile(_NAME)
_LAST = re.compile(rf"(?P<name>{_WORD})\Z")


@frozen
class PassThroughViews:
    """The views among some records that only pass a table on.

    Attributes:
        tables: View -> the table; where that is such a view too, the one behind it.
        shapes: The statements that define them.
        kinds: Table -> its kind.
    """

    tables: Mapping[DatasetId, DatasetId] = field(default_factory=dict)
    shapes: frozenset[str] = frozenset()
    kinds: Mapping[DatasetId, Kind] = field(default_factory=dict)

    def records(self, records: Records, rename: Rename) -> Records:
        """Records without the definitions of the views; what is done to them is done to tables.

        To drop or alter such a view does nothing to its table.
        """
        accesses = []
        for access in records.accesses:
            table = self.tables.get(rename(access.dataset))
            if access.operation in _DEFINES and access.shape_id in self.shapes:
                continue
            if table is None:
                accesses.append(access)
            elif not access.operation.removes and access.operation is not Operation.ALTER:
                accesses.append(replace(access, kind=self.kinds.get(table, Kind.TABLE)))
        return replace(
            records,
            accesses=tuple(accesses),
            datasets=tuple(
                dataset for dataset in records.datasets if rename(dataset.id) not in self.tables
            ),
            column_edges=tuple(e for e in records.column_edges if e.shape_id not in self.shapes),
        )


def pass_through_views(
    records: Records, rename: Rename, apart: Container[DatasetId] = ()
) -> PassThroughViews:
    """The views that only pass a table on.

    Args:
        rename: The rules for names.
        apart: Datasets that stay by themselves.
    """
    definitions = [
        access
        for access in records.accesses
        if access.operation in _DEFINES and access.status is not Status.FAILED
    ]
    if not definitions:
        return PassThroughViews()
    inputs: dict[tuple[str, str, str], set[DatasetId]] = defaultdict(set)
    for access in definitions:
        if access.direction is Direction.READ:
            inputs[_statement(access)].add(rename(access.dataset))
    columns = {rename(dataset.id): dataset.columns for dataset in records.datasets}
    kinds = {rename(access.dataset): access.kind for access in records.accesses}
    tables_by_view: dict[DatasetId, set[DatasetId | None]] = defaultdict(set)
    shapes: dict[DatasetId, set[str]] = defaultdict(set)
    for access in definitions:
        if access.direction is not Direction.WRITE or access.kind is Kind.TEMPORARY:
            continue
        view, reads = rename(access.dataset), inputs[_statement(access)]
        shape = records.shapes.get(access.shape_id)
        table = next(iter(reads)) if len(reads) == 1 else None
        passes = table is not None and kinds.get(table) is not Kind.TEMPORARY
        if passes and access.operation is Operation.CREATE_VIEW:
            text = shape.text if shape else ""
            passes = passes_on(text, columns.get(table, ()) if table else ())
        tables_by_view[view].add(table if passes else None)
        shapes[view].add(access.shape_id)
    tables = {
        view: table for view, (table, *others) in tables_by_view.items() if table and not others
    }
    if not tables:
        return PassThroughViews()
    for access in records.accesses:
        made_otherwise = access.direction is Direction.WRITE and access.operation.creates
        if access.operation.renames or (
            made_otherwise and access.operation is not Operation.CREATE_VIEW
        ):
            tables.pop(rename(access.dataset), None)
    tables = {view: table for view, table in tables.items() if view not in apart}
    ends = {view: end for view in tables if (end := _end(view, tables))}
    used = frozenset(shape for view in ends for shape in shapes[view])
    return PassThroughViews(ends, used, {end: kinds[end] for end in ends.values()})


def passes_on(text: str, columns: Collection[Column] = ()) -> bool:
    """Whether a statement defines a view as all rows and columns of one table.

    Args:
        columns: Those of the table. A list of names counts only where a catalog has their types,
            as a log may show some of the columns.
    """
    view = _VIEW.fullmatch(text.strip())
    query = _QUERY.fullmatch(view["query"]) if view else None
    if query is None:
        return False
    listed = [name.strip() for name in query["columns"].split(",")]
    if len(listed) == 1 and _ALL.fullmatch(listed[0]):
        return True
    if not columns or not all(column.type for column in columns):
        return False
    if not all(map(_COLUMN.fullmatch, listed)):
        return False
    names = [match["name"] for text in listed if (match := _LAST.search(text))]
    wanted = {column.name.casefold() for column in columns}
    return {name.strip('`[]"').casefold() for name in names} == wanted


def _statement(access: Access) -> tuple[str, str, str]:
    return access.task, access.run_id, access.shape_id


def _end(view: DatasetId, tables: Mapping[DatasetId, DatasetId]) -> DatasetId | None:
    """The table behind a view and the views that it passes on; None where they go in circles."""
    met = {view}
    while (view := tables[view]) in tables:
        if view in met:
            return None
        met.add(view)
    return view if view not in met else None
