"""The machine that follows a script: its heap, what decides where it is, its record and budget."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dbt_graft.collectors.python_code.script import ReadFile
from dbt_graft.collectors.python_code.values.joins import (
    Heap,
    join,
    join_all,
    join_cells,
    next_cell,
)
from dbt_graft.collectors.python_code.values.limits import Budget
from dbt_graft.collectors.python_code.values.record import ScriptRecord
from dbt_graft.collectors.python_code.values.values import (
    NOTHING,
    UNKNOWN,
    Cell,
    Const,
    Data,
    DictCell,
    Frame,
    Inputs,
    Items,
    Key,
    Library,
    LineGap,
    Method,
    ObjectCell,
    OneOf,
    Ref,
    Text,
    Thing,
    Value,
    alternatives,
    change,
    combine,
    counted,
    derive,
    is_count,
)
from dbt_graft.lineage.code import UNKNOWN_PART, CodePlace
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Subtype


def _folders_up(path: str) -> int:
    return path.split("/").count("..")


@frozen
class Arguments:
    """The arguments of a call.

    Attributes:
        more: Values of arguments whose places or names are not known.
    """

    positional: tuple[Value, ...] = ()
    named: Mapping[str, Value] | None = None
    more: tuple[Value, ...] = ()

    def get(self, name: str, at: int | None = None) -> Value | None:
        """An argument by its name, or by its place."""
        if self.named and name in self.named:
            return self.named[name]
        if at is not None and at < len(self.positional):
            return self.positional[at]
        return None

    def values(self) -> list[Value]:
        """All of them."""
        return [*self.positional, *(self.named or {}).values(), *self.more]


@frozen
class Language:
    """The rules of Python: they use each other, and libraries use them, so they are passed on."""

    evaluate: Callable[[Machine, ast.expr, Ref], Value]
    execute: Callable[[Machine, Sequence[ast.stmt], Ref], bool]
    invoke: Callable[[Machine, Value, Arguments], Value]
    run: Callable[[Machine, str, Ref | None], None]


@dataclass(slots=True)
class Machine:
    """The state of following a script.

    Attributes:
        heap: Cell -> its content.
        control: What decides how often the line is reached: conditions, rows that are looped over.
        conditions: Of these, the conditions.
        ended: The heaps of branches that left the loop's iteration or the function.
        loop_mark: The first cell that was made in the iteration of a loop that stands for several.
        running: The files that run as programs, each started by the one before.
        search_paths: The folders in which Airflow looks for files of SQL.
        import_paths: The folders that the script adds to those of modules.
        contents: Texts of files that were read, and their files.
    """

    record: ScriptRecord
    read_file: ReadFile
    file: str
    language: Language
    heap: Heap = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    control: Inputs = NOTHING
    conditions: Inputs = NOTHING
    ended: list[Heap] = field(default_factory=list)
    loop_mark: int = 0
    stack: list[ast.AST] = field(default_factory=list)
    line: int = 1
    views: dict[str, Ref] = field(default_factory=dict)
    modules: dict[str, tuple[Ref, Heap]] = field(default_factory=dict)
    running: list[str] = field(default_factory=list)
    search_paths: list[str] = field(default_factory=list)
    import_paths: list[str] = field(default_factory=list)
    contents: dict[str, str] = field(default_factory=dict)
    called: set[ast.AST] = field(default_factory=set)
    last_result: Value | None = None

    @property
    def place(self) -> CodePlace:
        """The line that is followed now."""
        return CodePlace(self.file, self.line)

    def gap(self, reason: str) -> LineGap:
        """A gap at this line."""
        return LineGap(self.place, reason)

    def missing(self, reason: str) -> Data:
        """A value with a gap at this line."""
        return Data(gaps=frozenset({self.gap(reason)}))

    def unknown(self, reason: str) -> Data:
        """A value whose structure is not known, with the gap for it."""
        data = self.missing(reason)
        return replace(data, origin=next(iter(data.gaps)))

    def read(self, file: str) -> bytes | None:
        """The content of a file of the project: below its root, or below that of the script."""
        path = posixpath.normpath(file)
        if path.startswith("/") or _folders_up(path) > _folders_up(self.file):
            return None
        self.record.add_file(path)
        return self.read_file(path)

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders from which a script may name files: its own, and each that holds it."""
        folder = posixpath.dirname(self.file)
        folders = [folder]
        while folder and posixpath.basename(folder) != "..":
            folder = posixpath.dirname(folder)
            folders.append(folder)
        return tuple(dict.fromkeys((*folders, "")))

    def named_file(self, path: str, folders: Sequence[str] = ()) -> str:
        """The file of the project that a path means; empty if there is none.

        A path from the root of another machine, `/opt/airflow/include/a.sql`, means the file here
        whose path ends like it, with a folder at least.

        Args:
            folders: Where it may be too, before the script's own folders.
        """
        parts = posixpath.normpath(path).strip("/").split("/")
        if UNKNOWN_PART in path or not path:
            return ""
        ends = [parts[at:] for at in range(max(1, len(parts) - 1))] if path[0] == "/" else [parts]
        for end in ends:
            for folder in dict.fromkeys((*folders, *self.roots)):
                file = posixpath.normpath(posixpath.join(folder, *end))
                if self.read(file) is not None:
                    return file
        return ""

    # -- cells

    def new(self, cell: Cell) -> Ref:
        """A new cell."""
        ref = Ref(next_cell())
        self.put(ref, cell)
        return ref

    def copied(self, heap: Heap) -> Heap:
        """A copy of a heap, for one of several ways; large ones take steps."""
        self.budget.spend(len(heap) // 64)
        return dict(heap)

    def new_list(self, values: Iterable[Value]) -> Ref:
        """A new list."""
        return self.new(Items(tuple(values)))

    def cell(self, value: Value | None) -> Cell | None:
        """The content of a cell; None if it is no reference."""
        return self.heap.get(value.cell) if isinstance(value, Ref) else None

    def names(self, scope: Ref) -> Mapping[str, Value]:
        """The names of a scope, and their values."""
        cell = self.heap[scope.cell]
        return cell.names if isinstance(cell, ObjectCell) else {}

    def put(self, ref: Ref, cell: Cell) -> None:
        """Change a cell in place.

        Large ones take steps: what doubles with each line comes to an end.
        """
        if isinstance(cell, Items):
            self.budget.spend(len(cell.items) // 4)
        elif isinstance(cell, Frame):
            self.budget.spend(len(cell.columns) // 4)
        self.heap[ref.cell] = cell

    def is_repeated(self, ref: Ref) -> bool:
        """Whether the line changes the cell once for each item of a loop."""
        return ref.cell < self.loop_mark

    def join(self, left: Value | None, right: Value | None) -> Value:
        """A value that is one of the two."""
        return join(self.heap, left, right)

    def join_all(self, values: Iterable[Value | None]) -> Value | None:
        """A value that is one of those that there are; None if there are none."""
        return join_all(self.heap, values)

    def join_ended(self) -> None:
        """Join what the branches left that ended."""
        for heap in self.ended:
            self.join_heaps(heap, self.heap)
        self.ended = []

    def join_heaps(self, left: Heap, right: Heap, deciding: Inputs = NOTHING) -> None:
        """Make the heap that of two branches; what differs is decided on by the condition."""
        self.heap = {**left, **right}
        for at, cell in right.items():
            before = left.get(at)
            if before is not None and before is not cell:
                if deciding:
                    self.heap[at] = self._decided(before, cell, deciding)
                else:
                    self.heap[at] = join_cells(self.heap, before, cell)

    def _decided(self, left: Cell, right: Cell, deciding: Inputs) -> Cell:
        if isinstance(left, ObjectCell) and isinstance(right, ObjectCell):
            return replace(left, names=self._decided_each(left.names, right.names, deciding))
        if isinstance(left, DictCell) and isinstance(right, DictCell):
            joined = join_cells(self.heap, left, right)
            assert isinstance(joined, DictCell)
            entries = self._decided_each(left.entries, right.entries, deciding)
            return replace(joined, entries=entries)
        if isinstance(left, Frame) and isinstance(right, Frame):
            stacked = join_cells(self.heap, left, right)
            assert isinstance(stacked, Frame)
            columns = self._decided_each(left.columns, right.columns, deciding)
            named = {name: self.data(value) for name, value in columns.items()}
            return replace(stacked, columns=named)
        return join_cells(self.heap, left, right)

    def _decided_each(
        self, left: Mapping[Key, Value], right: Mapping[Key, Value], deciding: Inputs
    ) -> dict[Key, Value]:
        names = dict(left)
        for name, value in right.items():
            before = names.get(name)
            # In a loop a value like the one before is of another row.
            is_other = before != value or (self.loop_mark and self.parts(value))
            if before is not value and is_other:
                names[name] = self.decide(self.join(before, value), deciding)
        for name, value in left.items():
            if name not in right:
                names[name] = self.decide(value, deciding)
        return names

    def decide(self, value: Value, deciding: Inputs) -> Value:
        """A value that a condition on data decides on."""
        if not deciding:
            return value
        conditional = change(deciding, Subtype.CONDITIONAL)
        cell = self.cell(value)
        if isinstance(cell, Frame):
            return self.new(replace(cell, rows=cell.rows | change(deciding, Subtype.FILTER)))
        if isinstance(value, Const | Text | Data) or (
            isinstance(value, OneOf)
            and all(isinstance(v, Const | Text | Data) for v in value.values)
        ):
            data = self.data(value)
            return replace(data, inputs=change(data.inputs) | conditional)
        return self.each_part(value, lambda part: self.look_up(part, deciding)) or value

    def look_up(self, value: Value, deciding: Inputs) -> Value:
        """A value as it is, that others decide on."""
        if not deciding:
            return value
        if isinstance(value, Data):
            chosen = change(deciding, Subtype.CONDITIONAL)
            return replace(value, inputs=value.inputs | chosen)
        return self.decide(value, deciding)

    def chosen(self, value: Value, rows: Inputs) -> Value:
        """A value out of many, or a row: with what decides on which."""
        if isinstance(value, Const) or not rows:
            return value
        if isinstance(value, Data):
            return replace(value, rows=value.rows | rows)
        if isinstance(value, Items) and value.open:  # of the columns that are not named as well
            value = replace(value, rows=value.rows | rows)
        return self.each_part(value, lambda part: self.chosen(part, rows)) or value

    def each_part(self, value: Value, rule: Callable[[Value], Value]) -> Value | None:
        """A row, after a rule for each of its values; None for what is none."""
        if isinstance(value, Items):
            rest = None if value.rest is None else rule(value.rest)
            return replace(value, items=tuple(map(rule, value.items)), rest=rest)
        cell = self.cell(value)
        if isinstance(cell, DictCell):
            entries = {key: rule(item) for key, item in cell.entries.items()}
            rest = None if cell.rest is None else rule(cell.rest)
            return self.new(replace(cell, entries=entries, rest=rest))
        return None

    def condition(self, value: Value) -> Inputs:
        """The inputs of a condition; whether there are rows at all is none of their values."""
        if isinstance(value, OneOf):
            return NOTHING.union(*map(self.condition, value.values))
        if isinstance(value, Data):
            return value.inputs | value.rows
        parts, items = self.parts(value), self.items(value)
        if not parts:
            return items.rows if items is not None else NOTHING
        # A row that is looked up by a key, or that a query may not have.
        if may_be_none(value):
            return frozenset.intersection(*(part.rows | counted(part.inputs) for part in parts))
        return frozenset.intersection(
            *(
                frozenset(i for i in part.inputs if i.subtype is Subtype.CONDITIONAL)
                for part in parts
            )
        )

    # -- views of values

    def data(self, value: Value | None) -> Data:
        """A value as one of columns: the inputs of all that it holds."""
        if isinstance(value, Data):
            return value
        if value is None or isinstance(value, Const):
            return UNKNOWN
        if isinstance(value, Text):
            return derive(value.parts, self.place)
        data = combine(self.parts(value))
        items = self.items(value)
        return replace(data, rows=data.rows | items.rows) if items is not None else data

    def derived(self, values: Iterable[Value | None]) -> Data:
        """A value that this line makes of others."""
        return derive([self.data(value) for value in values], self.place)

    def all_parts(self, values: Iterable[Value | None]) -> list[Data]:
        """The values of columns that several values hold."""
        return [part for value in values for part in self.parts(value)]

    def parts(self, value: Value | None, depth: int = 0) -> list[Data]:
        """The values of columns that a value holds."""
        if isinstance(value, Data):
            return [value]
        if isinstance(value, Method) and value.name == "values" and self.items(value.owner):
            return self.parts(value.owner, depth + 1)  # of a row
        if isinstance(value, Method) and depth < 6:  # `(end - start).days`, `np.array(rows).T`
            inner = self.parts(value.owner, depth + 1)
            return [derive(inner, self.place)] if inner else []
        if isinstance(value, Text) and value.parts:
            return [derive(value.parts, self.place)]
        return self._inner_parts(value, depth)

    def _inner_parts(self, value: Value | None, depth: int) -> list[Data]:
        if depth > 6 or value is None:
            return []
        inner: list[Value | None] = []
        if isinstance(value, OneOf):
            inner = list(value.values)
        if isinstance(value, Items):
            inner = [*value.items, value.rest]
        if isinstance(value, Thing):
            inner = [*value.traits.values(), value.owner]
        cell = self.cell(value)
        if isinstance(cell, Items):
            inner = [*cell.items, cell.rest]
        elif isinstance(cell, DictCell):
            inner = [*cell.entries.values(), cell.rest, cell.keys]
        elif isinstance(cell, Frame):
            return cell.values
        return [data for item in inner for data in self.parts(item, depth + 1)]

    def frame(self, value: Value | None) -> Frame | None:
        """The content of a frame."""
        cell = self.cell(value)
        return cell if isinstance(cell, Frame) else None

    def text(self, value: Value | None) -> str | None:
        """A text, with `UNKNOWN_PART` for what is not known of it."""
        if isinstance(value, Const) and isinstance(value.value, str):
            return value.value
        return value.text if isinstance(value, Text) else None

    def texts(self, value: Value | None) -> list[str]:
        """The texts that a value may be."""
        return [text for item in alternatives(value) if (text := self.text(item)) is not None]

    def items(self, value: Value | None) -> Items | None:
        """The items of a list, a tuple or a dictionary's keys; None where it has none."""
        if isinstance(value, Items):
            return value
        if isinstance(value, Thing) and value.role == "array":
            return self.items(value.traits["items"])
        cell = self.cell(value)
        if isinstance(cell, ObjectCell) and cell.of and _NAMED_TUPLE in cell.of.bases:
            return Items(tuple(cell.names.values()), names=tuple(cell.names))
        if isinstance(cell, Items):
            return cell
        if isinstance(cell, DictCell):
            keys = tuple(to_value(key) for key in cell.entries)
            rest = cell.keys or (UNKNOWN if cell.rest or cell.open else None)
            return Items(keys, rest, cell.rows)
        return None

    def keys(self, value: Value | None) -> list[object] | None:
        """Names of columns: one, or a list of them; None where one is not known."""
        if isinstance(value, Const):
            return [value.value]
        items = self.items(value)
        if items is None or items.rest is not None:
            return None
        keys = [self.key(item) for item in items.items]
        return None if any(key is NOT_KNOWN for key in keys) else keys

    def key(self, value: Value | None) -> object:
        """A value as a key: a constant, or a tuple of constants; else `NOT_KNOWN`."""
        if isinstance(value, Const):
            return value.value
        if isinstance(value, Library):
            return value
        if isinstance(value, Items) and value.rest is None:
            parts = tuple(self.key(item) for item in value.items)
            return NOT_KNOWN if NOT_KNOWN in parts else parts
        return NOT_KNOWN

    def is_true(self, value: Value | None) -> bool | None:
        """Whether a value is true; None where it is not known."""
        if isinstance(value, Const):
            return bool(value.value)
        items = self.items(value)
        has_items = items is not None and (bool(items.items) or items.rest is not None)
        is_sure = items is not None and bool(items.items) and not self.parts(value)
        if has_items and not is_sure and (may_be_none(value) or self.condition(value or UNKNOWN)):
            return None
        # Lineage is that of rows, so there are some.
        return True if has_items or is_count(value) else None

    # -- the rules of Python

    def run(self, file: str, scope: Ref | None = None) -> None:
        """Follow a file as a program, or as code that runs in a scope."""
        self.language.run(self, file, scope)

    def evaluate(self, node: ast.expr, scope: Ref) -> Value:
        """The value of an expression."""
        return self.language.evaluate(self, node, scope)

    def execute(self, body: Sequence[ast.stmt], scope: Ref) -> bool:
        """Follow statements; False if they leave the function or the loop."""
        return self.language.execute(self, body, scope)

    def invoke(self, function: Value, arguments: Arguments) -> Value:
        """The result of calling a value."""
        return self.language.invoke(self, function, arguments)

    def call(self, function: Value, *arguments: Value) -> Value:
        """The result of calling a value with values."""
        return self.language.invoke(self, function, Arguments(arguments))


@frozen
class Call:
    """A call of a library's function, or of a method.

    Attributes:
        name: The last part of the function's name.
    """

    machine: Machine
    owner: Value
    name: str
    arguments: Arguments

    def get(self, name: str, at: int | None = None) -> Value | None:
        """An argument by its name, or by its place."""
        return self.arguments.get(name, at)

    def flag(self, name: str, default: bool | None = None) -> bool | None:
        """An argument that is true or false; None where it is not known."""
        value = self.get(name)
        return default if value is None else self.machine.is_true(value)

    def text(self, name: str, at: int | None = None) -> str | None:
        """An argument that is a text."""
        return self.machine.text(self.get(name, at))

    def keys(self, name: str, at: int | None = None) -> list[object] | None:
        """An argument that names columns; None where it names none or is not known."""
        names = self.machine.keys(self.get(name, at))
        return None if names == [None] else names

    def gap(self, reason: str) -> LineGap:
        """A gap at the line of the call."""
        return self.machine.gap(reason)

    def missing(self, reason: str) -> Data:
        """A value with a gap at the line of the call."""
        return self.machine.missing(reason)

    @property
    def frame(self) -> Frame:
        """The frame whose method is called."""
        frame = self.machine.frame(self.owner)
        assert frame is not None
        return frame

    def result(self, frame: Frame) -> Value:
        """The frame that a method makes: a new one, or with `inplace=True` the same."""
        if self.flag("inplace") and isinstance(self.owner, Ref):
            self.machine.put(self.owner, frame)
            return Const(None)
        return self.machine.new(frame)

    def data(self) -> list[Data]:
        """The columns in all arguments."""
        return self.machine.all_parts(self.arguments.values())

    @property
    def place(self) -> CodePlace:
        """The line of the call."""
        return self.machine.place


_NAMED_TUPLE = Library("typing.NamedTuple")
Handler = Callable[[Call], Value]
NOT_KNOWN = object()


def may_be_none(value: Value | None) -> bool:
    """Whether a value is a row of a result, of which there may be none."""
    return isinstance(value, Items) and bool(value.names or value.open)


def owner_of(call: Call) -> Value:
    """A method whose result is what it is called on, or a part that makes no difference."""
    return call.owner


def nothing(call: Call) -> Value:
    """A call whose result says nothing of data."""
    return UNKNOWN


def to_value(key: object) -> Value:
    """A key as a value."""
    if isinstance(key, tuple):
        return Items(tuple(map(to_value, key)))
    if isinstance(key, Value):
        return key
    assert key is None or isinstance(key, str | int | float | bool | bytes | complex)
    return Const(key)
