"""Tables that code alone does not tell, bound to what the task's runs used.

`{schema}.orders` is the one dataset called `orders` that the task reads. A name of which nothing is
known, as that of `read_csv(arguments.input)`, is the dataset that is left over: the only one that
the task reads and no other name of its code is. A column of joined tables, `orders.merge(items)
["price"]`, is of the only one that has it. What stays open is a gap.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from dbt_graft.lineage.building.code_names import DatasetFinder, folder_paths, path_pattern
from dbt_graft.lineage.code import (
    MADE_AT_RUN_TIME,
    UNKNOWN_PART,
    CodeEdge,
    CodeGap,
    TableName,
    TaskCode,
    is_made_at_run_time,
    is_path_name,
    name_text,
)
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.paths import dataset_path
from dbt_graft.lineage.records import Access, Direction, Status

# Names made at run time by direction, with those of their datasets; empty where it is not clear.
BoundNames = Mapping[Direction, Mapping[TableName, TableName]]
_NO_COLUMNS: Mapping[DatasetId, Collection[str]] = {}


def bound_names(code: TaskCode, accesses: Iterable[Access]) -> BoundNames:
    """The names in the code that are made at run time.

    Args:
        accesses: Those of the task.
    """
    places = {
        Direction.READ: Counter(table for read in code.reads for table in read.tables),
        Direction.WRITE: Counter(write.table for write in code.writes),
    }
    if not any(map(is_made_at_run_time, (*places[Direction.READ], *places[Direction.WRITE]))):
        return {direction: {} for direction in places}
    datasets: dict[Direction, set[DatasetId]] = defaultdict(set)
    for access in accesses:
        moves = access.operation.reads_data or access.operation.brings_data
        if moves and access.status is not Status.FAILED and access.kind is not Kind.TEMPORARY:
            datasets[access.direction].add(access.dataset)
    is_followed = not any(gap.to_table == () and not gap.column for gap in code.gaps)
    return {
        direction: _bind(of_direction, datasets[direction], is_followed=is_followed)
        for direction, of_direction in places.items()
    }


def _bind(
    places: Mapping[TableName, int], datasets: Collection[DatasetId], *, is_followed: bool
) -> dict[TableName, TableName]:
    """The names of one direction that are made at run time.

    Args:
        places: In how many places the code has each name.
        is_followed: No line of the code may use further tables.
    """
    finder = DatasetFinder(datasets)
    names = [table for table in places if is_made_at_run_time(table)]
    taken = {dataset for table in places.keys() - names for dataset in finder.find(table)}
    matches = {
        table: {dataset for dataset in datasets if _may_be(table, dataset)} - taken
        for table in names
    }
    clear = {table for table in names if UNKNOWN_PART not in table[-1]}
    taken = {dataset for table in clear if len(matches[table]) == 1 for dataset in matches[table]}
    left = {table: matches[table] - taken for table in names if table not in clear}
    rivals = Counter(dataset for of_table in left.values() for dataset in of_table)
    bound: dict[TableName, TableName] = dict.fromkeys(names, ())
    for table in names:
        candidates = matches[table] if table in clear else left[table]
        if len(candidates) == 1:
            (dataset,) = candidates
            if table in clear or (is_followed and places[table] == rivals[dataset] == 1):
                path = (dataset_path(dataset),)
                bound[table] = path if dataset.is_path else dataset.parts
    return bound


def _may_be(table: TableName, dataset: DatasetId) -> bool:
    if is_path_name(table):
        return dataset.is_path and any(
            path_pattern(path).fullmatch(dataset_path(dataset)) for path in folder_paths(table[0])
        )
    patterns = [re.escape(part).replace(UNKNOWN_PART, ".+") for part in table if part]
    while len(patterns) > len(dataset.parts) and patterns[0] == ".+":
        patterns.pop(0)
    parts = dataset.parts[-len(patterns) :]
    if dataset.is_path or len(parts) < len(patterns):
        return False
    return re.fullmatch(r"\0".join(patterns), "\0".join(parts), re.IGNORECASE) is not None


def bind_names(
    code: TaskCode,
    accesses: Sequence[Access] = (),
    columns: Mapping[DatasetId, Collection[str]] = _NO_COLUMNS,
) -> TaskCode:
    """The code with the names that its runs had; what has a name that is not clear is a gap.

    Args:
        accesses: Those of the task.
        columns: Those that datasets have, folded.
    """
    return _choose_tables(_bind_tables(code, bound_names(code, accesses)), accesses, columns)


def _choose_tables(
    code: TaskCode, accesses: Iterable[Access], columns: Mapping[DatasetId, Collection[str]]
) -> TaskCode:
    """The code with each edge from one table: of several the only one that has the column."""
    if not any(edge.others for edge in code.edges):
        return code
    finder = DatasetFinder(access.dataset for access in accesses)
    gaps = dict.fromkeys(code.gaps)
    edges: dict[CodeEdge, None] = {}
    for edge in code.edges:
        tables = dict.fromkeys((edge.from_table, *edge.others))
        if len(tables) == 1:
            edges[replace(edge, others=())] = None
            continue
        matches = {table: finder.find(table) for table in tables}
        of_tables = {
            table: columns.get(datasets[0], ())
            for table, datasets in matches.items()
            if len(datasets) == 1
        }
        having = [table for table in of_tables if edge.from_column.casefold() in of_tables[table]]
        if len(having) == 1 and len(of_tables) == len(tables) and all(of_tables.values()):
            edges[replace(edge, from_table=having[0], others=())] = None
        else:
            names = ", ".join(sorted(map(name_text, tables)))
            reason = f"which table has {edge.from_column} is not known: {names}"
            gaps[CodeGap(edge.place, reason, edge.to_table, edge.to_column)] = None
    return replace(code, edges=tuple(edges), gaps=tuple(gaps))


def _bind_tables(code: TaskCode, names: BoundNames) -> TaskCode:
    reads, writes = names[Direction.READ], names[Direction.WRITE]
    if not (reads or writes):
        return code
    unclear = (
        *(r.place for r in code.reads if any(reads.get(table) == () for table in r.tables)),
        *(write.place for write in code.writes if writes.get(write.table) == ()),
    )
    gaps = {CodeGap(place, MADE_AT_RUN_TIME): None for place in unclear}
    edges: dict[CodeEdge, None] = {}
    for gap in code.gaps:
        gaps[replace(gap, to_table=writes.get(gap.to_table, gap.to_table))] = None
    for edge in code.edges:
        target = writes.get(edge.to_table, edge.to_table)
        source, *others = (reads.get(name, name) for name in (edge.from_table, *edge.others))
        if target and source and all(others):
            changed = replace(edge, to_table=target, from_table=source, others=tuple(others))
            edges[changed] = None
        elif target:
            gaps[CodeGap(edge.place, MADE_AT_RUN_TIME, target, edge.to_column)] = None
    bound_reads = []
    for read in code.reads:
        tables = (reads.get(table, table) for table in read.tables)
        bound_reads.append(replace(read, tables=tuple(filter(None, tables))))
    bound_writes = [
        replace(write, table=writes.get(write.table, write.table)) for write in code.writes
    ]
    return replace(
        code,
        reads=tuple(read for read in bound_reads if read.tables),
        writes=tuple(write for write in bound_writes if write.table),
        edges=tuple(edges),
        gaps=tuple(gaps),
    )
