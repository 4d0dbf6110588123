"""Trace of a plan's columns: the input columns behind each column of the plan, by its id.

Ids are unique in an application, so one table of ids serves the plan, filled from the leaves up.
Influences on rows (JOIN, FILTER, GROUP_BY, SORT) belong to the plan, not to a column, as in the
`dataset` list of OpenLineage's column lineage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from dbt_graft.collectors.column_input import ColumnInput
from dbt_graft.collectors.spark.gap_reasons import PLAN_CUT
from dbt_graft.collectors.spark.plans.arguments import (
    Attribute,
    attribute,
    attributes,
    expressions,
    is_cut,
    named_column,
    split_alias,
    split_arguments,
)
from dbt_graft.collectors.spark.plans.expressions import ColumnReference, column_references
from dbt_graft.collectors.spark.plans.tree import Operator
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ANY_COLUMN, Masking, Subtype

# A column with more inputs than this gets the datasets instead.
_MOST_INPUTS = 1_000
NAMES, HIDDEN, OPAQUE, UNKNOWN, UNSEEN, BY_PLACE, LITERAL = (
    "columns with brackets or commas in their names cannot be told apart",
    "the plan does not show all columns: set spark.sql.ui.explainMode to formatted",
    "a user function takes and returns all columns at once",
    "the plan has an unsupported operator",
    "the log does not show the query",
    "those of a file go by their places",
    "a column's name may hold a value: give it another",
)


ColumnInputs = frozenset[ColumnInput[DatasetId]]
NOTHING: ColumnInputs = frozenset()


def transform_inputs(
    inputs: Iterable[ColumnInput[DatasetId]], subtype: Subtype, *, masking: Masking = Masking.NONE
) -> ColumnInputs:
    """The inputs of a value that is computed from one with these inputs."""
    return frozenset(column_input.then(subtype, masking) for column_input in inputs)


# Columns of an operator; of a join, of both sides.
Outputs = list[Attribute] | tuple["Outputs", "Outputs"]


@frozen
class PlanSource:
    """The datasets and columns that a leaf of a plan reads.

    Attributes:
        columns: The inputs of its columns, by name, for a query that a database ran; empty where
            the columns are the dataset's own.
        is_known: Whether its columns are the dataset's, under their names.
        added: The names of columns that are not the dataset's.
    """

    datasets: tuple[DatasetId, ...] = ()
    columns: dict[str, ColumnInputs] = field(default_factory=dict)
    influences: ColumnInputs = NOTHING
    is_known: bool = True
    added: frozenset[str] = frozenset()

    def inputs(self, name: str) -> ColumnInputs:
        """The inputs of a column of the leaf."""
        if name in self.added:
            return NOTHING
        if self.columns:
            return self.columns.get(name.casefold(), NOTHING)
        if not self.is_known:
            return frozenset(
                ColumnInput(d, ANY_COLUMN, Subtype.TRANSFORMATION) for d in self.datasets
            )
        return frozenset(ColumnInput(dataset, name) for dataset in self.datasets)


# Resolves what a leaf with these columns reads; None for an operator that reads no dataset.
ResolveLeaf = Callable[[Operator, list[Attribute]], PlanSource | None]


@dataclass(slots=True)
class ColumnTrace:
    """The inputs of a plan's columns.

    Attributes:
        gaps: Reasons why columns are missing or not exact.
        null_tested: Columns that are tested for NULL. Spark adds such tests for columns that are
            joined, compared or exploded (`explained`); those are no filters of the user.
        stages: Partial aggregations, by their identity.
        filtered: The inputs of `FILTER (WHERE …)`, in order, by the aggregate's text.
        definitions: Common table expressions, by their number.
        merged: Ids for the columns of a subquery that Spark merged from several, by the
            subquery's number and the column's name.
    """

    resolve_leaf: ResolveLeaf
    inputs_by_id: dict[int, ColumnInputs] = field(default_factory=dict)
    outputs: dict[int, Outputs] = field(default_factory=dict)
    influences: set[ColumnInput[DatasetId]] = field(default_factory=set)
    gaps: dict[str, None] = field(default_factory=dict)
    null_tested: set[int] = field(default_factory=set)
    explained: set[int] = field(default_factory=set)
    stages: set[int] = field(default_factory=set)
    filtered: dict[str, list[ColumnInputs]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    definitions: dict[str, Operator] = field(default_factory=dict)
    merged: dict[tuple[int, str], int] = field(default_factory=dict)

    def inputs_of(self, text: str, *, subtype: Subtype = Subtype.IDENTITY) -> ColumnInputs:
        """The inputs of an expression, whose value is used as in `subtype`."""
        if is_cut(text):
            self.gaps[PLAN_CUT] = None
        inputs = {
            column_input
            for reference in self._references(text)
            for column_input in transform_inputs(
                self.inputs_by_id[reference.id], reference.subtype, masking=reference.masking
            )
        }
        return _limit_inputs(
            inputs if subtype is Subtype.IDENTITY else transform_inputs(inputs, subtype)
        )

    def _references(self, text: str) -> set[ColumnReference]:
        column = named_column(split_alias(text)[0])
        if column and column.id in self.inputs_by_id and self.names.get(column.id) == column.name:
            return {ColumnReference(column.id, Subtype.IDENTITY)}
        return column_references(self._resolve_merged(text), self.inputs_by_id)

    def name_columns(self, columns: Sequence[Attribute], size: int, text: str) -> None:
        """Remember the names of an operator's columns.

        Args:
            size: The number of its columns; 0 where the plan does not tell it.
            text: Its list of them. Where that cannot be split into as many, their inputs are
                forgotten.
        """
        if size and size != len(columns) and not is_cut(text):
            self.gaps[NAMES] = None
            for column in columns:
                self.inputs_by_id.pop(column.id, None)
        self.names.update((column.id, column.name) for column in columns)

    def inputs_of_all(self, columns: Iterable[Attribute], subtype: Subtype) -> ColumnInputs:
        """The inputs of any of these columns."""
        inputs = {
            column_input
            for column in columns
            for column_input in self.inputs_by_id.get(column.id, NOTHING)
        }
        return _limit_inputs(transform_inputs(inputs, subtype))

    def add_influences(self, text: str, subtype: Subtype) -> None:
        """Add an expression that decides on rows to the influences."""
        self.explained.update(
            reference.id
            for reference in column_references(self._resolve_merged(text), self.inputs_by_id)
        )
        self.influences |= self.inputs_of(text, subtype=subtype)

    def _resolve_merged(self, text: str) -> str:
        """An expression with ids in place of the columns of merged subqueries."""
        for (number, name), id_ in self.merged.items():
            if f"subquery#{number}" in text:
                used = rf"subquery#{number}(?:, \[id=#\d{{1,18}}\]| \[\])?\.{re.escape(name)}"
                text = re.sub(used, f"subquery#{id_}", text)
        return text

    def columns_of(self, operator: Operator) -> list[Attribute]:
        """The columns of a traced operator."""
        return flatten(self.outputs.get(id(operator), []))

    def finish(self) -> None:
        """Add the tests for NULL that nothing else explains to the influences."""
        for id_ in self.null_tested - self.explained:
            self.influences |= transform_inputs(self.inputs_by_id.get(id_, NOTHING), Subtype.FILTER)


def flatten(outputs: Outputs) -> list[Attribute]:
    """Columns in order."""
    if isinstance(outputs, list):
        return outputs
    columns: list[Attribute] = []
    stack: list[Outputs] = [outputs]
    while stack:
        at = stack.pop()
        if isinstance(at, list):
            columns += at
        else:
            stack += [at[1], at[0]]
    return columns


def leaves_first(
    root: Operator, is_leaf: Callable[[Operator], bool] = lambda _: False
) -> Iterator[Operator]:
    """All operators below and inside one, each once and after its inputs."""
    stack = [(root, False)]
    done: set[int] = set()
    while stack:
        operator, ready = stack.pop()
        if ready:
            yield operator
        elif id(operator) not in done:
            done.add(id(operator))
            stack.append((operator, True))
            if not is_leaf(operator):
                stack += [(child, False) for child in reversed(operator.inside)]
                stack += [(child, False) for child in reversed(operator.children)]


def _limit_inputs(inputs: Iterable[ColumnInput[DatasetId]]) -> ColumnInputs:
    distinct = frozenset(inputs)
    if len(distinct) <= _MOST_INPUTS:
        return distinct
    return frozenset(column_input._replace(column=ANY_COLUMN) for column_input in distinct)


def input_columns(operator: Operator, trace: ColumnTrace) -> Outputs:
    """The columns that an operator takes from its first child."""
    if text := operator.fields.get("Input"):
        return attributes(text)
    for child in operator.children:
        return trace.outputs.get(id(child), [])
    return []


def all_input_columns(operator: Operator, trace: ColumnTrace) -> list[Attribute]:
    """The columns of all children."""
    if text := operator.fields.get("Input"):
        return attributes(text)
    return [column for child in operator.children for column in trace.columns_of(child)]


def make_columns(items: str, trace: ColumnTrace, size: int = 0) -> list[Attribute]:
    """Add the columns of a list of named expressions to the trace."""
    if is_cut(items):
        trace.gaps[PLAN_CUT] = None
    columns = []
    for item in expressions(items):
        if column := attribute(item):
            columns.append(column)
            inputs = trace.inputs_of(item)
            if inputs or column.id not in trace.inputs_by_id:
                trace.inputs_by_id[column.id] = inputs
    trace.name_columns(columns, size, items)
    return columns


def first_argument(operator: Operator) -> str:
    """The first argument of an operator."""
    return split_arguments(operator.arguments)[0]
