"""A script that was followed, with the SQL of its statements -> the code of a task.

The columns that a query returns are followed back to its tables by the parser that reads the
statements of logs, so that a query in the code and the same query in a log say the same.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from dbt_graft.collectors.python_code.language.attributes import get_attribute
from dbt_graft.collectors.python_code.language.calls import invoke
from dbt_graft.collectors.python_code.language.expressions import evaluate
from dbt_graft.collectors.python_code.language.modules import (
    UnreadableScriptError,
    read_syntax,
    run_file,
)
from dbt_graft.collectors.python_code.language.statements import execute
from dbt_graft.collectors.python_code.script import (
    NUMBER_OF_ROWS,
    Medium,
    ReadFile,
    Script,
    ScriptEdge,
    ScriptGap,
    ScriptSource,
    ScriptTarget,
)
from dbt_graft.collectors.python_code.values.limits import BudgetError
from dbt_graft.collectors.python_code.values.machine import Arguments, Language, Machine
from dbt_graft.collectors.python_code.values.record import ScriptRecord
from dbt_graft.collectors.python_code.values.values import Class, Function, LineGap, ObjectCell, Ref
from dbt_graft.collectors.statements.columns.edges import ParsedColumnEdge
from dbt_graft.collectors.statements.parse import parse
from dbt_graft.collectors.statements.shape import ParsedShape
from dbt_graft.collectors.statements.tables.scan_state import TableAccess
from dbt_graft.collectors.statements.text.dialect import Dialect
from dbt_graft.collectors.statements.text.names import name_at
from dbt_graft.collectors.statements.text.tokens import tokenise
from dbt_graft.lineage.code import (
    MADE_AT_RUN_TIME,
    UNKNOWN_PART,
    CodeEdge,
    CodeGap,
    CodePlace,
    CodeRead,
    CodeWrite,
    TableName,
    TaskCode,
    code_of_task,
    is_made_at_run_time,
)
from dbt_graft.lineage.errors import exception_summary
from dbt_graft.lineage.graphs.columns import compose
from dbt_graft.lineage.records import ANY_COLUMN, Direction, EdgeType, Masking, Outcome, Subtype
from dbt_graft.lineage.redaction import redact_name

_LANGUAGE = Language(evaluate, execute, invoke, run_file)


def follow_script(file: str, read_file: ReadFile) -> Script:
    """Follow the columns of a script, without running any of it.

    Args:
        file: The script, as a POSIX path below the project's root.
        read_file: A file by such a path -> its content; None if there is none.

    Never raises: code that cannot be followed is a gap with its line.
    """
    record = ScriptRecord()
    machine = Machine(record, read_file, file, _LANGUAGE)
    content = machine.read(file)
    try:
        if content is None:
            raise UnreadableScriptError("there is no such file in the checkout of graft.yml")
        tree = read_syntax(content)
        scope = machine.new(ObjectCell())
        machine.modules[file] = scope, {}
        machine.execute(tree.body, scope)
        for value in [*machine.names(scope).values()]:
            if isinstance(value, Function) and value.task and value.node not in machine.called:
                machine.invoke(value, Arguments())  # by Airflow, as `load.expand(…)`
        if not record.has_targets:
            _call_functions(machine, tree, scope)
    except UnreadableScriptError as error:
        record.add_gap(LineGap(CodePlace(file, error.line), str(error)))
    except BudgetError as error:
        record.add_gap(LineGap(machine.place, str(error)))
    except RecursionError:
        record.add_gap(LineGap(machine.place, "the code is nested too deeply"))
    except Exception as error:  # a fault of ours: what was followed so far stays, with a gap
        reason = f"not followed to its end ({exception_summary(error)})"
        record.add_gap(LineGap(machine.place, reason))
    return record.script()


def _call_functions(machine: Machine, tree: ast.Module, scope: Ref) -> None:
    """Follow the functions and methods that the script leaves for others to call."""
    for node in tree.body:
        value = machine.names(scope).get(getattr(node, "name", ""))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node not in machine.called and isinstance(value, Function):
                machine.invoke(value, Arguments())
        elif isinstance(value, Class) and node is value.node:
            _call_methods(machine, value)


def _call_methods(machine: Machine, of: Class) -> None:
    instance = machine.invoke(of, Arguments())
    for name, method in machine.names(of.scope).items():
        is_new = isinstance(method, Function) and method.node not in machine.called
        if is_new and not name.startswith("__"):
            machine.invoke(get_attribute(machine, instance, name), Arguments())


_NAMED_AT_RUN_TIME = "the names of columns that are written are made at run time"


@dataclass(slots=True)
class _ReadColumns:
    """The columns that a script reads, with what is behind its columns.

    Attributes:
        columns: The inputs of a column, by its name, folded.
        names: The names of these columns as written.
        starred: The tables of which it returns all columns, or of which one has the column.
    """

    place: CodePlace
    tables: tuple[TableName, ...] = ()
    shape_id: str = ""
    columns: dict[str, list[ParsedColumnEdge]] = field(default_factory=lambda: defaultdict(list))
    names: dict[str, str] = field(default_factory=dict)
    starred: list[TableName] = field(default_factory=list)
    rows: list[ParsedColumnEdge] = field(default_factory=list)
    gap: str = ""


def task_codes(file: str, read_file: ReadFile) -> dict[str, TaskCode]:
    """The code of a script, and of each task of Airflow in it by its id; see `follow_script`.

    Never raises: what cannot be read is a gap with its line.
    """
    script = follow_script(file, read_file)
    return {task: compose_code(file, script, task) for task in ("", *script.tasks)}


def task_code(file: str, read_file: ReadFile, task: str = "") -> TaskCode:
    """The code of a task: of a file with tasks of Airflow that one's, if it has it."""
    return code_of_task(task_codes(file, read_file), task)


def compose_code(file: str, script: Script, task: str = "") -> TaskCode:
    """The code of a script that was followed, or of a task of Airflow in it."""
    return _Composition(script, task).task_code(file)


class _Composition:
    """The reads, writes, edges and gaps of a script while its SQL is added."""

    def __init__(self, script: Script, task: str = "") -> None:
        self._script, self._task = script, task
        self._gaps: dict[CodeGap, None] = {}
        self._edges: dict[CodeEdge, None] = {}
        self._sources: list[_ReadColumns] = []
        for source in script.sources:
            gaps = self._gaps
            if not self._is_own(source):
                self._gaps = {}
            self._sources.append(self._source(source))
            self._gaps = gaps
        self._tables: list[tuple[TableName, ...]] = []
        # Targets, each with a source whose values go into it or decide on its rows.
        self._deciding = {
            (edge.target, edge.source)
            for edge in script.edges
            if edge.subtype.type is EdgeType.DIRECT or edge.column == ANY_COLUMN
        }

    def task_code(self, file: str) -> TaskCode:
        writes = [write for target in self._script.targets for write in self._target_writes(target)]
        for edge in self._script.edges:
            for table in self._tables[edge.target]:
                self._add_edge(edge, table)
        for gap in filter(self._is_own, self._script.gaps):
            tables = self._tables[gap.target] if gap.target is not None else ()
            for table in tables or ((),):
                self._add_gap(gap.place, gap.reason, table, gap.column)
        reads = (
            CodeRead(source.place, source.tables, source.shape_id)
            for source, of_script in zip(self._sources, self._script.sources, strict=True)
            if source.tables and self._is_own(of_script)
        )
        return TaskCode(
            file,
            reads=tuple(dict.fromkeys((*reads, *self._statement_reads))),
            writes=tuple(dict.fromkeys(writes)),
            edges=tuple(self._edges),
            gaps=tuple(self._gaps),
            elsewhere=(*self._files_elsewhere(), *self._functions_elsewhere()),
        )

    def _files_elsewhere(self) -> Iterator[CodePlace]:
        """The files that other tasks alone use."""
        for file, tasks in sorted(self._script.files.items()):
            if self._task and not tasks & {"", self._task}:
                yield CodePlace(file, 0)

    def _functions_elsewhere(self) -> Iterator[CodePlace]:
        """The functions that other tasks alone call, and that none of the task's own mentions."""
        functions = self._script.functions
        own = [function for function in functions.values() if self._task in function.tasks]
        mentions = {name for function in own for name in function.mentions}
        for place, function in sorted(functions.items()):
            is_own = bool(function.tasks & {"", self._task}) or function.name in mentions
            if self._task and not is_own:
                yield place

    def _is_own(self, item: ScriptSource | ScriptTarget | ScriptGap) -> bool:
        """Whether a part of the script is not the work of another task in it."""
        return not self._task or item.task in ("", self._task)

    def _add_gap(
        self, place: CodePlace, reason: str, table: TableName = (), column: str = ""
    ) -> None:
        self._gaps[CodeGap(place, reason, table, column)] = None

    def _choice(self, source: ScriptSource) -> _ReadColumns:
        """One of several sources, each of which returns all columns of tables."""
        members = [self._sources[number] for number in source.choices]
        choice = _ReadColumns(source.place)
        choice.gap = next(filter(None, (member.gap for member in members)), "")
        for member in members:
            choice.starred += member.starred
            choice.rows += member.rows
            choice.names.update(member.names)
            for column, inputs in member.columns.items():
                choice.columns[column] += inputs
        return choice

    def _source(self, source: ScriptSource) -> _ReadColumns:
        if source.medium is Medium.CHOICE:
            return self._choice(source)
        if source.medium is not Medium.STATEMENT:
            table = _table_name(source.text, source.medium, source.dialect)
            if _is_unknown(table, source):
                self._add_gap(source.place, MADE_AT_RUN_TIME)
                return _ReadColumns(source.place, gap=MADE_AT_RUN_TIME)
            return _ReadColumns(source.place, (table,), starred=[table])
        composed = _ReadColumns(source.place)
        tables: dict[TableName, None] = {}
        for shape in _shapes(source.text, source.dialect):
            composed.gap = composed.gap or self._add_shape_gaps(shape, source)
            tables.update(dict.fromkeys(_tables(shape, Direction.READ)))
            if any(edge.table == () for edge in shape.column_edges):
                composed.shape_id = _logged_shape(shape)
            for edge in shape.column_edges:
                if edge.table == ():
                    self._add_output(composed, edge, source)
        composed.tables = tuple(table for table in tables if not _is_unknown(table, source))
        return composed

    def _add_output(
        self, source: _ReadColumns, edge: ParsedColumnEdge, statement: ScriptSource
    ) -> None:
        if UNKNOWN_PART in (edge.column, edge.from_column):
            if edge.subtype.type is EdgeType.DIRECT:
                source.gap = "columns of its query are made at run time"
                self._add_gap(source.place, source.gap)
        elif edge.from_table == () or _is_unknown(edge.from_table, statement):
            pass  # a parameter; a table without a name, of which a gap tells
        elif edge.column != ANY_COLUMN:
            source.columns[edge.column.casefold()].append(edge)
            source.names.setdefault(edge.column.casefold(), edge.column)
        elif edge.subtype.type is EdgeType.INDIRECT:
            source.rows.append(edge)
        elif edge.from_column == ANY_COLUMN:
            source.starred.append(edge.from_table)
        else:
            source.gap = "a column of its query has no name"
            self._add_gap(source.place, source.gap)

    def _add_shape_gaps(self, shape: ParsedShape, statement: ScriptSource | ScriptTarget) -> str:
        """Note why a statement is not known in full; the reason, if there is one."""
        names = (*_tables(shape, Direction.READ), *_tables(shape, Direction.WRITE))
        reason = ""
        if any(_is_unknown(name, statement) for name in names):
            reason = MADE_AT_RUN_TIME
        elif shape.outcome is not Outcome.PARSED:
            reason = shape.reason or "its statement could not be read"
        if reason:
            self._add_gap(statement.place, reason)
        return reason

    @property
    def _statement_reads(self) -> Iterator[CodeRead]:
        """The reads of the statements by which a script writes."""
        for target in self._script.targets:
            if target.medium is Medium.STATEMENT and self._is_own(target):
                for shape in _shapes(target.text, target.dialect):
                    names = _tables(shape, Direction.READ)
                    if tables := tuple(name for name in names if not _is_unknown(name, target)):
                        yield CodeRead(target.place, tables, _logged_shape(shape))

    def _target_writes(self, target: ScriptTarget) -> Iterator[CodeWrite]:
        """The writes of a target; the tables that its edges lead to are noted."""
        if not self._is_own(target):
            self._tables.append(())
            return
        if target.medium is not Medium.STATEMENT:
            table = _table_name(target.text, target.medium, target.dialect)
            if _is_unknown(table, target):
                self._add_gap(target.place, MADE_AT_RUN_TIME)
                self._tables.append(())
                return
            self._tables.append((table,))
            yield CodeWrite(target.place, table, target.columns, target.is_open, task=target.task)
            return
        written: dict[TableName, None] = {}
        for shape in _shapes(target.text, target.dialect):
            reason = self._add_shape_gaps(shape, target)
            self._add_statement_edges(shape, target)
            for access in shape.accesses:
                is_write = access.direction is Direction.WRITE and access.operation.brings_data
                if is_write and not _is_unknown(access.name, target):
                    written[access.name] = None
                    if reason:
                        self._add_gap(target.place, reason, access.name, ANY_COLUMN)
                    columns = (*target.columns, *_columns_written(shape, access))
                    named = tuple(
                        name
                        for name in dict.fromkeys(filter(None, columns))
                        if UNKNOWN_PART not in name
                    )
                    if any(UNKNOWN_PART in name for name in columns):
                        self._add_gap(target.place, _NAMED_AT_RUN_TIME, access.name, ANY_COLUMN)
                    shape_id = _logged_shape(shape)
                    yield CodeWrite(target.place, access.name, named, False, shape_id, target.task)
        self._tables.append(tuple(written))

    def _add_statement_edges(self, shape: ParsedShape, statement: ScriptTarget) -> None:
        """The columns that a statement itself carries from table to table."""
        for edge in shape.column_edges:
            names = (edge.table, edge.from_table)
            is_known = all(names) and not any(_is_unknown(name, statement) for name in names)
            if is_known and edge.from_column != UNKNOWN_PART and not edge.is_of_own_rows:
                ends = edge.table, edge.column, edge.from_table, edge.from_column
                self._edges[CodeEdge(*ends, edge.subtype, statement.place, edge.masking)] = None

    def _add_edge(self, edge: ScriptEdge, table: TableName) -> None:
        source = self._sources[edge.source]
        if source.gap and edge.subtype.type is EdgeType.DIRECT:
            self._add_gap(edge.place, source.gap, table, edge.column)
        decides_on_rows = (edge.target, edge.source) in self._deciding
        for row in source.rows:
            # The query decides, at its own line, on the rows that its values go into; where these
            # only decide themselves, on what they decide, for which their order is nothing.
            at_query = replace(edge, place=source.place, masked_by=Masking.NONE)
            if decides_on_rows:
                self._add_code_edge(at_query, table, ANY_COLUMN, row, row.subtype)
            elif row.subtype is not Subtype.SORT:
                self._add_code_edge(at_query, table, edge.column, row, edge.subtype)
        if edge.from_column == NUMBER_OF_ROWS:
            return
        is_direct = edge.subtype.type is EdgeType.DIRECT
        if edge.from_column == ANY_COLUMN and edge.column == ANY_COLUMN and is_direct:
            self._add_open_columns(edge, table, source)
            return
        is_named = edge.from_column == ANY_COLUMN or edge.from_column.casefold() in source.columns
        others = () if is_named else source.starred[1:]
        for first in self._inputs(edge, table, source):
            subtype = compose(edge.subtype, first.subtype)
            self._add_code_edge(edge, table, edge.column, first, subtype, others)

    def _add_open_columns(self, edge: ScriptEdge, table: TableName, source: _ReadColumns) -> None:
        """The columns of a source that the code does not name."""
        named = {column.casefold() for column in edge.without}
        for column, inputs in source.columns.items():
            if column not in named:
                for first in inputs:
                    subtype = compose(edge.subtype, first.subtype)
                    self._add_code_edge(edge, table, source.names[column], first, subtype)
        without = tuple(dict.fromkeys((*edge.without, *source.names.values())))
        for starred in source.starred:
            ends = table, ANY_COLUMN, starred, ANY_COLUMN
            passed_on = CodeEdge(*ends, edge.subtype, edge.place, edge.masked_by, without)
            self._edges[passed_on] = None

    def _inputs(
        self, edge: ScriptEdge, table: TableName, source: _ReadColumns
    ) -> Sequence[ParsedColumnEdge]:
        """The columns of tables behind a column of a source."""
        column = edge.from_column
        if column == ANY_COLUMN:
            inputs = [first for inputs in source.columns.values() for first in inputs]
            return [*inputs, *(_passed_on(starred, ANY_COLUMN) for starred in source.starred)]
        if inputs := source.columns.get(column.casefold(), []):
            return inputs
        if source.starred:
            return [_passed_on(source.starred[0], column)]
        if source.gap:
            self._add_gap(edge.place, source.gap, table, edge.column)
        return ()  # It comes from no column: a literal, or the number of rows.

    def _add_code_edge(
        self,
        edge: ScriptEdge,
        table: TableName,
        column: str,
        first: ParsedColumnEdge,
        subtype: Subtype,
        others: Sequence[TableName] = (),
    ) -> None:
        ends = table, column, first.from_table, first.from_column
        masked_by = first.masking.then(edge.masked_by)
        code_edge = CodeEdge(*ends, subtype, edge.place, masked_by, (), tuple(others))
        self._edges[code_edge] = None


def _passed_on(table: TableName, column: str) -> ParsedColumnEdge:
    return ParsedColumnEdge((), column, table, column, Subtype.IDENTITY)


@lru_cache(maxsize=2_000)  # each task of a file has the statements of all
def _shapes(text: str, dialect: Dialect) -> Iterable[ParsedShape]:
    """The statements of a text; parts that are values, not names, are literals."""
    shapes = parse(text, dialect)
    if UNKNOWN_PART not in text or any(map(_has_unknown_names, shapes)):
        return shapes
    with_values = parse(text.replace(UNKNOWN_PART, "0"), dialect)
    return with_values if len(with_values) == len(shapes) else shapes


def _columns_written(shape: ParsedShape, access: TableAccess) -> Iterator[str]:
    """The columns that a statement writes, those too that come from no other."""
    yield from (name for name, _ in access.columns)
    yield from shape.result
    for edge in shape.column_edges:
        if edge.table == access.name and edge.column != ANY_COLUMN:
            yield edge.column


def _has_unknown_names(shape: ParsedShape) -> bool:
    return (
        any(is_made_at_run_time(access.name) for access in shape.accesses)
        or any(
            UNKNOWN_PART in (edge.column, edge.from_column)
            for edge in shape.column_edges
            if edge.subtype.type is EdgeType.DIRECT
        )
        or any(
            UNKNOWN_PART in name
            for access in shape.accesses
            if access.direction is Direction.WRITE
            for name in _columns_written(shape, access)
        )
    )


def _logged_shape(shape: ParsedShape) -> str:
    """The shape of a statement, if a log has its text: Spark's has plans."""
    is_logged = shape.dialect is Dialect.TSQL and shape.outcome is Outcome.PARSED
    return shape.shape_id if is_logged and UNKNOWN_PART not in shape.text else ""


def _tables(shape: ParsedShape, direction: Direction) -> Iterator[TableName]:
    for access in shape.accesses:
        if (
            access.direction is direction
            and access.operation.reads_data | access.operation.brings_data
        ):
            yield access.name


def _table_name(text: str, medium: Medium, dialect: Dialect) -> TableName:
    """A name as its parts; a path is one, with a slash."""
    if medium is Medium.FILE:
        name = redact_name(text)
        return (name if "/" in name else f"./{name}",)
    named = name_at(tokenise(text, dialect), 0, dialect)
    return named.name if named else tuple(text.split("."))


def _is_unknown(table: TableName, source: ScriptSource | ScriptTarget) -> bool:
    """Whether runs do not show which table it is either.

    One word in a statement may be a query; what a line makes several times may be several.
    """
    if not is_made_at_run_time(table):
        return False
    if UNKNOWN_PART not in table[-1]:
        return False
    return source.is_repeated or (source.medium is Medium.STATEMENT and len(table) == 1)
