"""Abstract values of a script: what is known of a value without running it.

Values are immutable; what code changes in place (frames, lists, objects) is a `Ref` to a cell of
the heap, see `state`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from typing import Any, NamedTuple

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.python_code.script import NUMBER_OF_ROWS
from dbt_graft.lineage.code import CodePlace
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Masking, Subtype

# A column of a source, by the source's number.
Input = ColumnInput[int]
Inputs = frozenset[Input]
NOTHING: Inputs = frozenset()
# The source of a column of the frame that an expression will be used with: `pl.col("a")`.
PENDING = -1
# The name of a column or the key of a dictionary: text, a number, None; of levels, a tuple.
Key = Any


class LineGap(NamedTuple):
    """A line that could not be followed, and why."""

    place: CodePlace
    reason: str


Gaps = frozenset[LineGap]
NO_GAPS: Gaps = frozenset()


class Value:
    """A value of a script."""

    __slots__ = ()


@frozen
class Const(Value):
    """A value that the source states; of text, all of it is known."""

    value: str | int | float | bool | bytes | complex | None


@frozen
class Text(Value):
    """A text with parts that only a run knows.

    Attributes:
        text: It holds `UNKNOWN_PART` once for each of the parts.
    """

    text: str
    parts: tuple[Data, ...]


class Form(Enum):
    """The form of values of columns: a value alone, a column, an expression for columns."""

    VALUE = 0
    SERIES = 1
    EXPRESSION = 2


@frozen
class Data(Value):
    """A value that is made of columns, or of what only a run knows.

    Attributes:
        rows: What decides on which values of a column there are.
        index: The columns of a series' index.
        gaps: Lines for which inputs are missing.
        origin: The call that made it, if its structure is not known.
        place: The line that made it of other columns.
        is_aggregate: An expression that makes one row of many.
        makes_rows: An expression that makes any number of rows of one: `explode`.
        library: That of a series' frames, or of an expression, where it is not pandas.
    """

    inputs: Inputs = NOTHING
    name: Key = None
    rows: Inputs = NOTHING
    order: Inputs = NOTHING
    index: tuple[tuple[Key, Data], ...] = ()
    gaps: Gaps = NO_GAPS
    origin: LineGap | None = None
    place: CodePlace | None = None
    form: Form = Form.VALUE
    is_aggregate: bool = False
    makes_rows: bool = False
    library: str = ""

    def with_gap(self, gap: LineGap) -> Data:
        """The value with a gap of its inputs."""
        return replace(self, gaps=self.gaps | {gap})


UNKNOWN = Data()


@frozen
class OneOf(Value):
    """One of several values: branches of the code differ."""

    values: tuple[Value, ...]


def alternatives(value: Value | None) -> tuple[Value, ...]:
    """The values that a value may be; none of None."""
    if isinstance(value, OneOf):
        return value.values
    return () if value is None else (value,)


@frozen
class Items(Value):
    """A tuple, or the items of what can be iterated; in a cell a list, a set, or what is yielded.

    Attributes:
        rest: Any item after those; None where there are no others.
        rows: What decides on which items there are.
        names: Of a row that has names: `row.price`.
        open: The columns of a row that are not named.
    """

    items: tuple[Value, ...] = ()
    rest: Value | None = None
    rows: Inputs = NOTHING
    names: tuple[Key, ...] = ()
    open: tuple[frozenset[OpenPart], ...] = ()

    @property
    def values(self) -> list[Value]:
        """The items, with any other."""
        return [*self.items, *([self.rest] if self.rest is not None else [])]


@frozen
class Ref(Value):
    """A value that can change in place: a cell of the heap."""

    cell: int


@frozen
class Function(Value):
    """A function of the script, or a lambda; bound to an object if it is its method.

    Attributes:
        task: The task of Airflow that it is.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Ref
    file: str
    defaults: tuple[Value, ...] = ()
    keyword_defaults: tuple[Value | None, ...] = ()
    bound_to: Value | None = None
    is_property: bool = False
    task: str = ""


@frozen
class Class(Value):
    """A class of the script."""

    node: ast.ClassDef
    scope: Ref
    bases: tuple[Value, ...] = ()
    is_dataclass: bool = False


@frozen
class Library(Value):
    """A name of a library: `pandas.read_sql`."""

    name: str


@frozen
class Method(Value):
    """A method of a value of a library's, not called yet."""

    owner: Value
    name: str


@frozen
class Thing(Value):
    """An object of a library's with a role: a connection, a group of rows, a writer."""

    role: str
    traits: Mapping[str, Value] = field(default_factory=dict, hash=False)
    owner: Value | None = None


# -- what cells of the heap hold


class OpenPart(NamedTuple):
    """The columns of a source that the code does not name, under their own names."""

    source: int
    without: frozenset[str] = frozenset()
    subtype: Subtype = Subtype.IDENTITY


@frozen
class Frame:
    """A data frame, or the result of a query.

    Attributes:
        open: Further columns: of each group, sources that have them all alike (rows of several);
            a column of a frame with several groups is of one of them.
        rest: Any further column, where their names are not known.
        aliases: The frames that were joined, by the names that columns can have in front, and
            by an empty one those whose columns can have one name.
    """

    columns: Mapping[Key, Data] = field(default_factory=dict)
    open: tuple[frozenset[OpenPart], ...] = ()
    rest: Data | None = None
    rows: Inputs = NOTHING
    order: Inputs = NOTHING
    index: tuple[tuple[Key, Data], ...] = ()
    gaps: Gaps = NO_GAPS
    library: str = "pandas"
    aliases: tuple[tuple[str, Frame], ...] = ()

    @property
    def values(self) -> list[Data]:
        """The columns, with any further one."""
        return [*self.columns.values(), *([self.rest] if self.rest is not None else [])]

    def with_column(self, name: Key, data: Data) -> Frame:
        """The frame with a column added or replaced."""
        return replace(self, columns={**self.columns, name: data})

    def with_gap(self, gap: LineGap) -> Frame:
        """The frame with a gap of its columns."""
        return replace(self, gaps=self.gaps | {gap})

    def with_more(self, gap: LineGap) -> Frame:
        """The frame with a gap, and with any further columns, which it leaves unknown."""
        return replace(self.with_gap(gap), rest=Data(origin=gap))


@frozen
class DictCell:
    """A dictionary.

    Attributes:
        open: The columns of a row that are not named, as of a frame.
        rest: The value of any other key.
        keys: Any other key.
        factory: Makes the value of a key that is not there, of a `defaultdict`.
    """

    entries: Mapping[Key, Value] = field(default_factory=dict)
    rest: Value | None = None
    keys: Value | None = None
    open: tuple[frozenset[OpenPart], ...] = ()
    rows: Inputs = NOTHING
    factory: Value | None = None

    @property
    def values(self) -> list[Value]:
        """The values, with that of any other key."""
        return [*self.entries.values(), *([self.rest] if self.rest is not None else [])]


@frozen
class ObjectCell:
    """An object of a class, a scope of names, or a cursor: names -> values."""

    names: Mapping[str, Value] = field(default_factory=dict)
    of: Class | None = None
    parent: Ref | None = None


Cell = Frame | Items | DictCell | ObjectCell


def count_of(rows: Inputs, parts: Iterable[Data] = ()) -> Thing:
    """The number of rows, or of items that any rows make, that inputs decide on.

    Args:
        parts: Values of such a row, whose sources decide as well.
    """
    return Thing("count", {"rows": Data(rows=rows | counted(all_inputs(parts)))})


def counted(inputs: Inputs) -> Inputs:
    """The numbers of rows of the sources that there are."""
    sources = {item.source for item in inputs if item.source != PENDING}
    return frozenset(ColumnInput(source, NUMBER_OF_ROWS, Subtype.FILTER) for source in sources)


def is_count(value: Value | None) -> bool:
    """Whether a value is a number of rows."""
    return isinstance(value, Thing) and value.role == "count"


def change(
    inputs: Inputs, subtype: Subtype = Subtype.TRANSFORMATION, masking: Masking = Masking.NONE
) -> Inputs:
    """The inputs of what is made of a value with these inputs."""
    if not inputs:
        return inputs
    return frozenset(item.then(subtype, masking) for item in inputs)


def all_gaps(data: Data) -> Gaps:
    """The gaps of a value that is made of it."""
    return data.gaps | {data.origin} if data.origin else data.gaps


def combine(values: Sequence[Data], place: CodePlace | None = None) -> Data:
    """A value made of others, their inputs as they are: for one that is any of them."""
    if len(values) == 1 and place is None:
        return values[0]
    forms = [data.form for data in values]
    return Data(
        inputs=NOTHING.union(*(data.inputs for data in values)),
        rows=NOTHING.union(*(data.rows for data in values)),
        order=NOTHING.union(*(data.order for data in values)),
        gaps=NO_GAPS.union(*(data.gaps for data in values)),
        origin=next((data.origin for data in values if data.origin), None),
        name=next((data.name for data in values if data.name is not None), None),
        index=next((data.index for data in values if data.index), ()),
        place=place or next((data.place for data in values if data.place), None),
        form=max(forms, key=lambda form: form.value) if forms else Form.VALUE,
        library=next((data.library for data in values if data.library), ""),
        is_aggregate=bool(values)
        and all(data.is_aggregate for data in values if data.form is Form.EXPRESSION),
    )


def derive(
    values: Sequence[Data],
    place: CodePlace,
    subtype: Subtype = Subtype.TRANSFORMATION,
    masking: Masking = Masking.NONE,
) -> Data:
    """A value that is made of others by an operation."""
    if not values:
        return UNKNOWN
    data = combine(values, place)
    indexes = [data.index for data in values if data.form is Form.SERIES and data.index]
    labels = {all_inputs(level for _, level in index) for index in indexes}
    if len(labels) > 1:  # series whose values find each other by their labels
        levels = zip(*indexes, strict=False)
        index = tuple((pairs[0][0], combine([level for _, level in pairs])) for pairs in levels)
        rows = data.rows | change(NOTHING.union(*labels), Subtype.JOIN)
        data = replace(data, index=index, rows=rows)
    return replace(
        data,
        name=None if is_of_spark(data) else data.name,
        inputs=change(data.inputs, subtype, masking),
        gaps=NO_GAPS.union(*map(all_gaps, values)),
        origin=None,
    )


def is_of_spark(data: Data) -> bool:
    """Whether it is an expression of Spark, which names what is made of it by its text."""
    return data.form is Form.EXPRESSION and data.library == "spark"


def decided(data: Data, by: Inputs) -> Data:
    """A value beside others, with what decides on it and not, as `by` does, on all of them.

    A series finds its rows by their labels, so that their order is none of its own; of an array
    (`.values`), which has no `order`, it is.
    """
    there = {(item.source, item.column) for item in by}
    is_aligned = data.form is Form.SERIES and data.order
    own = frozenset(
        item
        for item in data.rows
        if (item.source, item.column) not in there
        and not (is_aligned and item.subtype is Subtype.SORT)
    )
    return replace(data, inputs=data.inputs | change(own, Subtype.CONDITIONAL), rows=NOTHING)


def all_inputs(values: Iterable[Data]) -> Inputs:
    """The inputs of several values."""
    return NOTHING.union(*(data.inputs for data in values))


Resolve = Callable[[str], Data]


def resolve_pending(data: Data, column: Resolve) -> Data:
    """An expression's value in a frame, whose columns stand for those it names."""
    if not any(item.source == PENDING for item in data.inputs | data.rows):
        return data
    gaps = set(data.gaps)
    place = data.place
    made: list[Inputs] = []
    for items in (data.inputs, data.rows):
        inputs: set[Input] = set()
        for item in items:
            if item.source != PENDING:
                inputs.add(item)
                continue
            of_frame = column(item.column)
            inputs.update(change(of_frame.inputs, item.subtype, item.masking))
            gaps |= all_gaps(of_frame)
            if item.subtype is Subtype.IDENTITY:
                place = place or of_frame.place
        made.append(frozenset(inputs))
    return replace(data, inputs=made[0], rows=made[1], gaps=frozenset(gaps), place=place)
