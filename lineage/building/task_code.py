"""The code of tasks, matched with what logs show of their runs.

A log shows that a task read `x.a` into its memory and wrote `y.c` from there; the code says that it
made `c` of `a`. Where both ends stand in the log, the edge is *verified*: its evidence is CODE, and
the edges that equal names would give go. So it is where a log shows a write without its columns, as
most events do: the code has them. A write that no run was seen to do is *declared* by the code.
What a log shows and the code does not have is a difference: that code is not what runs.

Tables in code have the names that the code writes. They are the datasets that the task used whose
names end so; for code that no run was seen to do, those of all tasks.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbt_graft.lineage.building.bound_names import bind_names, bound_names
from dbt_graft.lineage.building.code_names import DatasetFinder, table_key
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.code import (
    CodeDifference,
    CodeEdge,
    CodeMatch,
    CodePlace,
    CodeWrite,
    TableName,
    TaskCode,
    name_text,
)
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    ANY_COLUMN,
    Access,
    ColumnEdge,
    Dataset,
    Direction,
    EdgeType,
    Evidence,
    Masking,
    Records,
    Shape,
    Status,
)

_TSQL = "tsql"


def with_task_code(
    records: Records, codes: Mapping[str, TaskCode]
) -> tuple[Records, dict[str, CodeMatch]]:
    """Records with what the code of tasks says of them, and how both agree, by task.

    Args:
        codes: The code of tasks, by name; tasks without runs too.
    """
    if not codes:
        return records, {}
    everywhere = DatasetFinder(access.dataset for access in records.accesses)
    columns = _columns(records.datasets)
    accesses: dict[str, list[Access]] = defaultdict(list)
    for access in records.accesses:
        if access.task in codes and access.status is not Status.FAILED:
            accesses[access.task].append(access)
    edges: dict[str, list[ColumnEdge]] = defaultdict(list)
    for edge in records.column_edges:
        if edge.task in codes:
            edges[edge.task].append(edge)
    replaced: set[ColumnEdge] = set()
    new_edges: list[ColumnEdge] = []
    new_accesses: list[Access] = []
    matches = {}
    for task, code in sorted(codes.items()):
        code = bind_names(code, accesses[task], columns)
        matching = _Matching(task, code, accesses[task], edges[task], everywhere)
        matching.compare_statements(records.shapes)
        matches[task] = matching.match()
        replaced |= matching.replaced
        new_edges += matching.edges
        new_accesses += matching.accesses
    other_edges = [edge for edge in records.column_edges if edge not in replaced]
    return (
        replace(
            records,
            accesses=(*records.accesses, *new_accesses),
            column_edges=(*other_edges, *new_edges),
        ),
        matches,
    )


def records_of_code(records: Records, codes: Mapping[str, TaskCode]) -> Records:
    """The work of tasks by their code alone, without what their runs did.

    Args:
        records: The records of the store, whose datasets the tables of the code are.
    """
    everywhere = DatasetFinder(access.dataset for access in records.accesses)
    columns = _columns(records.datasets)
    accesses: dict[str, list[Access]] = defaultdict(list)
    for access in records.accesses:
        if access.task in codes:
            accesses[access.task].append(access)
    matchings = []
    for task, code in sorted(codes.items()):
        bound = bind_names(code, accesses[task], columns)
        matchings.append(_Matching(task, bound, accesses[task], (), everywhere))
    for matching in matchings:
        matching.declare()
    return Records(
        accesses=tuple(access for matching in matchings for access in matching.accesses),
        column_edges=tuple(edge for matching in matchings for edge in matching.edges),
    )


def _columns(datasets: Iterable[Dataset]) -> dict[DatasetId, set[str]]:
    columns: dict[DatasetId, set[str]] = defaultdict(set)
    for dataset in datasets:
        columns[dataset.id].update(column.name.casefold() for column in dataset.columns)
    return columns


def written_datasets(records: Records, task: str, code: TaskCode) -> dict[TableName, DatasetId]:
    """The datasets of the tables that the code of a task writes, where their names are clear."""
    accesses = [access for access in records.accesses if access.task == task]
    used = DatasetFinder(access.dataset for access in accesses)
    everywhere = DatasetFinder(access.dataset for access in records.accesses)
    bound = bound_names(code, accesses)[Direction.WRITE]
    datasets = {}
    for write in code.writes:
        table = bound.get(write.table, write.table)
        matches = used.find(table) or everywhere.find(table)
        if len(matches) == 1:
            datasets[write.table] = matches[0]
    return datasets


@dataclass(slots=True)
class _WrittenColumns:
    """The columns of a dataset as the code writes them, by their names, folded.

    Attributes:
        named: Those that it names.
        inputs: Their edges, with the datasets that they come from.
        gaps: Those that it does not tell; `*` for any.
    """

    named: set[str]
    inputs: dict[str, list[tuple[CodeEdge, DatasetId]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    gaps: set[str] = field(default_factory=set)

    def is_unknown(self, column: str) -> bool:
        return column in self.gaps or (ANY_COLUMN in self.gaps and column not in self.inputs)

    def column_inputs(
        self, column: str, read_columns: Mapping[DatasetId, Collection[str]]
    ) -> Sequence[tuple[CodeEdge, DatasetId]] | None:
        """The edges into a column; None where the code does not write it, or not clearly.

        Args:
            read_columns: The columns of datasets, folded, that runs were seen to read.
        """
        if column in self.named or column in self.inputs:
            return self.inputs.get(column, ())
        passed_on = [
            (edge, source)
            for edge, source in self.inputs.get(ANY_COLUMN, ())
            if edge.from_column == ANY_COLUMN and edge.subtype.type is EdgeType.DIRECT
            if column not in {name.casefold() for name in edge.without}
        ]
        if len(passed_on) > 1:
            read = [pair for pair in passed_on if column in read_columns.get(pair[1], ())]
            passed_on = read or passed_on
        return passed_on if len({source for _, source in passed_on}) == 1 else None


@dataclass(slots=True)
class _Tally:
    verified: int = 0
    declared: int = 0
    unexplained: int = 0


class _Matching:
    """One task while its code is matched with its log.

    Attributes:
        replaced: Edges from the task's memory that the code explains.
        edges, accesses: The code's own.
    """

    def __init__(
        self,
        task: str,
        code: TaskCode,
        accesses: Sequence[Access],
        edges: Sequence[ColumnEdge],
        everywhere: DatasetFinder,
    ) -> None:
        self._task, self._code, self._everywhere = task, code, everywhere
        self._used = DatasetFinder(access.dataset for access in accesses)
        self._observed = accesses
        # The shapes that brought data, by dataset.
        self._filled: dict[DatasetId, set[str]] = defaultdict(set)
        for access in accesses:
            if access.direction is Direction.WRITE and access.operation.brings_data:
                self._filled[access.dataset].add(access.shape_id)
        # The datasets of which the log shows what went into their columns.
        self._shown = {
            edge.to_dataset
            for edge in edges
            if edge.type is EdgeType.DIRECT and edge.to_column != ANY_COLUMN
        }
        self._sent: dict[DatasetId, list[ColumnEdge]] = defaultdict(list)
        self._seen: set[tuple[object, ...]] = set()
        self._read_columns: dict[DatasetId, set[str]] = defaultdict(set)
        for edge in edges:
            if edge.from_dataset == MEMORY:
                self._sent[edge.to_dataset].append(edge)
            else:
                self._seen.add(_way(edge))
                self._read_columns[edge.from_dataset].add(edge.from_column.casefold())
        self._differences: dict[CodeDifference, None] = {}
        self._tally = _Tally()
        # The datasets that are explained in full, with those that they come from.
        self._sources: dict[DatasetId, set[DatasetId]] = {}
        self.replaced: set[ColumnEdge] = set()
        self.edges: list[ColumnEdge] = []
        self.accesses: list[Access] = []

    def declare(self) -> None:
        """Take the code's word for all that it writes."""
        for dataset, writes in sorted(self._writes().items()):
            self._declare(dataset, writes)

    def compare_statements(self, shapes: Mapping[str, Shape]) -> None:
        """Note the statements of the code that no run sent, though it used their tables.

        Args:
            shapes: Those of all tasks; only texts in T-SQL are what the code sent.
        """
        sent: dict[DatasetId, set[str]] = defaultdict(set)
        for access in self._observed:
            shape = shapes.get(access.shape_id)
            if shape and shape.dialect == _TSQL:
                sent[access.dataset].add(access.shape_id)
        statements = [
            *((read.shape_id, read.tables, read.place) for read in self._code.reads),
            *((write.shape_id, (write.table,), write.place) for write in self._code.writes),
        ]
        for shape_id, tables, place in statements:
            matches = [self._used.find(table) for table in tables]
            used = [datasets[0] for datasets in matches if len(datasets) == 1]
            if shape_id and used and all(sent[t] and shape_id not in sent[t] for t in used):
                problem = "no run was seen to send this statement as it is here"
                self._differences[CodeDifference(place, problem, used[0])] = None

    def match(self) -> CodeMatch:
        """Compare the code with the log."""
        writes = self._writes()
        for dataset, of_dataset in sorted(writes.items()):
            if dataset not in self._filled:
                self._declare(dataset, of_dataset)
                continue
            if dataset not in self._shown:
                self._add_columns(dataset, of_dataset)
            elif dataset in self._sent:
                self._explain(dataset, of_dataset)
            else:
                continue
            self._declare_handed_on(dataset, of_dataset)
        for dataset, edges in sorted(self._sent.items()):
            if dataset in self._filled and dataset not in writes:
                self._note_unknown_write(dataset, edges)
        return CodeMatch(
            self._code,
            verified=self._tally.verified,
            declared=self._tally.declared,
            unexplained=self._tally.unexplained,
            apart=tuple(self._pairs_apart()),
            differences=tuple(self._differences),
        )

    def _pairs_apart(self) -> Iterator[tuple[DatasetId, DatasetId]]:
        """The pairs of an input and an output that have nothing to do with each other.

        Only inputs that are known to go elsewhere: of others the code may decide by what it read.
        """
        if any(not gap.to_table for gap in self._code.gaps):
            return
        used = set().union(*self._sources.values())
        for dataset, sources in sorted(self._sources.items()):
            yield from ((other, dataset) for other in sorted(used - sources) if other != dataset)

    def _writes(self) -> dict[DatasetId, list[CodeWrite]]:
        writes: dict[DatasetId, list[CodeWrite]] = defaultdict(list)
        for write in self._code.writes:
            if dataset := self._find(write.table, write.place):
                writes[dataset].append(write)
        return writes

    def _find(self, table: TableName, place: CodePlace) -> DatasetId | None:
        """The dataset of a table, if its name is clear; if not, a difference says so."""
        for names in (self._used, self._everywhere):
            matches = names.find(table)
            if len(matches) == 1:
                return matches[0]
            if matches:
                break
        name = name_text(table)
        problem = f"{name} may be one of {len(matches)} tables" if matches else f"no log has {name}"
        self._differences[CodeDifference(place, problem)] = None
        return None

    def _code_edges(
        self, writes: Sequence[CodeWrite]
    ) -> Iterator[tuple[CodeEdge, DatasetId | None]]:
        """The edges into these tables, with the datasets that they come from."""
        tables = {table_key(write.table) for write in writes}
        for edge in self._code.edges:
            if table_key(edge.to_table) in tables:
                yield edge, self._find(edge.from_table, edge.place)

    def _written(self, writes: Sequence[CodeWrite]) -> _WrittenColumns:
        written = _WrittenColumns(
            {column.casefold() for write in writes for column in write.columns}
        )
        for edge, source in self._code_edges(writes):
            if source is None:
                written.gaps.add(edge.to_column.casefold())
            else:
                written.inputs[edge.to_column.casefold()].append((edge, source))
        tables = {table_key(write.table) for write in writes}
        written.gaps.update(
            gap.column.casefold() or ANY_COLUMN
            for gap in self._code.gaps
            if table_key(gap.to_table) in tables
        )
        return written

    def _explain(self, dataset: DatasetId, writes: Sequence[CodeWrite]) -> None:
        """Put the code's edges in the place of those from memory, column by column."""
        written = self._written(writes)
        sent_by_column: dict[str, list[ColumnEdge]] = defaultdict(list)
        for sent in self._sent[dataset]:
            if sent.type is EdgeType.DIRECT and sent.to_column != ANY_COLUMN:
                sent_by_column[sent.to_column.casefold()].append(sent)
        explained = [
            column
            for column, sent_edges in sorted(sent_by_column.items())
            if self._explain_column(column, sent_edges, written, writes[0].place)
        ]
        self._tally.verified += len(explained)
        self._tally.unexplained += len(sent_by_column) - len(explained)
        if explained:
            first = sent_by_column[explained[0]][0]
            for edge, source in written.inputs.get(ANY_COLUMN, ()):
                if edge.subtype.type is EdgeType.INDIRECT:
                    self._add_edge(first, edge, source, ANY_COLUMN, edge.from_column)
            if len(explained) == len(sent_by_column):
                # Nothing of unknown columns is left.
                self.replaced.update(e for e in self._sent[dataset] if e.to_column == ANY_COLUMN)
                inputs = written.inputs.values()
                self._sources[dataset] = {source for pairs in inputs for _, source in pairs}
        self._note_missing_columns(dataset, writes, sent_by_column)

    def _explain_column(
        self,
        column: str,
        sent_edges: Sequence[ColumnEdge],
        written: _WrittenColumns,
        place: CodePlace,
    ) -> bool:
        """Put the code's edges in the place of those into one column; whether it tells them.

        Args:
            place: Where the code writes the table.
        """
        if written.is_unknown(column):
            return False
        name, dataset = sent_edges[0].to_column, sent_edges[0].to_dataset
        inputs = written.column_inputs(column, self._read_columns)
        if inputs is None:
            problem = f"runs write {name}, and this code does not"
            self._differences[CodeDifference(place, problem, dataset, is_seen=True)] = None
            return False
        self.replaced.update(sent_edges)
        for sent in {edge.shape_id: edge for edge in sent_edges}.values():
            for edge, source in inputs:
                from_column = name if edge.to_column == ANY_COLUMN else edge.from_column
                self._add_edge(sent, edge, source, name, from_column)
        return True

    def _add_edge(
        self,
        sent: ColumnEdge,
        edge: CodeEdge,
        source: DatasetId,
        to_column: str,
        from_column: str,
    ) -> None:
        column_edge = self._column_edge(
            # The statement that sends it may hide it, too.
            replace(edge, masked_by=edge.masked_by.then(sent.masked_by)),
            sent.to_dataset,
            to_column,
            source,
            from_column,
            sent.shape_id,
            Evidence.CODE if self._is_read(source, from_column) else Evidence.DECLARED,
        )
        if _way(column_edge) not in self._seen:
            self.edges.append(column_edge)

    def _is_read(self, source: DatasetId, column: str) -> bool:
        """Whether the log shows that the task read a column; a table, where no columns are seen."""
        columns = self._read_columns.get(source)
        if columns:
            return bool({column.casefold(), ANY_COLUMN} & columns) or column == ANY_COLUMN
        return any(a.dataset == source and a.direction is Direction.READ for a in self._observed)

    def _add_columns(self, dataset: DatasetId, writes: Sequence[CodeWrite]) -> None:
        """Add the code's columns to a write of which the log shows none."""
        columns = set()
        for edge, source in self._code_edges(writes):
            if source is None:
                continue
            columns.add(edge.to_column.casefold())
            is_read = self._is_read(source, edge.from_column)
            evidence = Evidence.CODE if is_read else Evidence.DECLARED
            for shape_id in sorted(self._filled[dataset]):
                self.edges.append(
                    self._column_edge(
                        edge, dataset, edge.to_column, source, edge.from_column, shape_id, evidence
                    )
                )
        self._tally.verified += len(columns - {ANY_COLUMN})

    def _column_edge(
        self,
        edge: CodeEdge,
        target: DatasetId,
        to_column: str,
        source: DatasetId,
        from_column: str,
        shape_id: str,
        evidence: Evidence,
    ) -> ColumnEdge:
        return ColumnEdge(
            task=self._task,
            to_dataset=target,
            to_column=to_column,
            from_dataset=source,
            from_column=from_column,
            type=edge.subtype.type,
            subtype=edge.subtype,
            masking=edge.masked_by is not Masking.NONE,
            shape_id=shape_id,
            evidence=evidence,
            masked_by=edge.masked_by,
            place=str(edge.place),
            without=edge.without if to_column == ANY_COLUMN else (),
        )

    def _declare(self, dataset: DatasetId, writes: Sequence[CodeWrite]) -> None:
        """Note what the code writes and no run was seen to write, as declared by the code."""
        code_edges = [(edge, source) for edge, source in self._code_edges(writes) if source]
        sources = [source for _, source in code_edges if source != dataset]
        shape_id = self._declare_accesses(dataset, writes[0].place, sources)
        columns = set()
        for edge, source in code_edges:
            columns.add(edge.to_column.casefold())
            self.edges.append(
                self._column_edge(
                    edge,
                    dataset,
                    edge.to_column,
                    source,
                    edge.from_column,
                    shape_id,
                    Evidence.DECLARED,
                )
            )
        self._tally.declared += len(columns - {ANY_COLUMN})

    def _declare_handed_on(self, dataset: DatasetId, writes: Sequence[CodeWrite]) -> None:
        """Note the tables that another task of the same code reads, and hands on to this one."""
        own = {table_key(table) for read in self._code.reads for table in read.tables}
        handed_on = {
            source
            for edge, source in self._code_edges(writes)
            if source and source != dataset and table_key(edge.from_table) not in own
        }
        if handed_on:
            self._declare_accesses(dataset, writes[0].place, sorted(handed_on))

    def _declare_accesses(
        self, dataset: DatasetId, place: CodePlace, sources: Iterable[DatasetId]
    ) -> str:
        """Note that the code writes a table of others; the id of the shape that does it."""
        name = f"{place.file}#{dataset.key}"
        shape_id = hashlib.sha256(name.encode()).hexdigest()[:32]
        for used, direction in (
            *((source, Direction.READ) for source in dict.fromkeys(sources)),
            (dataset, Direction.WRITE),
        ):
            self.accesses.append(
                Access(
                    task=self._task,
                    run_id=f"{place.file}/{shape_id[:8]}",
                    dataset=used,
                    kind=Kind.PATH if used.is_path else Kind.TABLE,
                    direction=direction,
                    operation=Operation.INSERT,
                    shape_id=shape_id,
                    status=Status.UNKNOWN,
                    evidence=Evidence.CODE,
                    origin=f"code#{place.file}",
                )
            )
        return shape_id

    def _note_unknown_write(self, dataset: DatasetId, edges: Sequence[ColumnEdge]) -> None:
        """Say that runs write a table from memory that the code does not write."""
        columns = {edge.to_column for edge in edges if edge.to_column != ANY_COLUMN}
        self._tally.unexplained += len(columns)
        if any(gap.to_table == () and not gap.column for gap in self._code.gaps):
            return  # It may be in a line that could not be followed, which the gap names.
        place = CodePlace(self._code.file, 1)
        problem = "runs write it, and this code does not"
        self._differences[CodeDifference(place, problem, dataset, is_seen=True)] = None

    def _note_missing_columns(
        self,
        dataset: DatasetId,
        writes: Sequence[CodeWrite],
        sent: Collection[str],
    ) -> None:
        """Say which columns the code writes and no run was seen to write."""
        for write in writes:
            for column in write.columns:
                if column.casefold() not in sent:
                    problem = f"this code writes {column}, and no run was seen to"
                    self._differences[CodeDifference(write.place, problem, dataset)] = None


def _way(edge: ColumnEdge) -> tuple[object, ...]:
    """An edge as a log and the code may both have it."""
    names = edge.to_column.casefold(), edge.from_column.casefold()
    return edge.to_dataset, edge.from_dataset, *names, edge.type
