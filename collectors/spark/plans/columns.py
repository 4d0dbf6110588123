"""A plan -> the columns of datasets that have a part in each column (by its id) of it.

Ids are unique in an application, so one table of ids serves the whole plan, filled from the leaves
up. What decides on rows (JOIN, FILTER, GROUP_BY, SORT) is kept for the plan as a whole, as in the
`dataset` list of OpenLineage's column lineage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from dbt_graft.collectors.spark.plans.arguments import Attribute, is_cut
from dbt_graft.collectors.spark.plans.expressions import column_references
from dbt_graft.collectors.spark.plans.tree import Operator
from dbt_graft.lineage.columns import compose
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ANY_COLUMN, Subtype

# A column with more parts than this is given the datasets instead.
_MOST_USES = 1_000
CUT, OPAQUE, UNKNOWN = (
    "Spark cut its text: raise spark.sql.debug.maxToStringFields",
    "a function of the task takes and gives all columns at once",
    "an operator is not known",
)


class ColumnInput(NamedTuple):
    """A column of a dataset has a part in a value."""

    dataset: DatasetId
    column: str
    subtype: Subtype = Subtype.IDENTITY
    masking: bool = False


ColumnInputs = frozenset[ColumnInput]
NOTHING: ColumnInputs = frozenset()


def transformed(
    uses: Iterable[ColumnInput], subtype: Subtype, *, masking: bool = False
) -> ColumnInputs:
    """What has a part in a value that is made from one which these have a part in."""
    return frozenset(
        use._replace(subtype=compose(subtype, use.subtype), masking=use.masking or masking)
        for use in uses
    )


# Columns of an operator; of a join, those of both sides.
Outputs = list[Attribute] | tuple["Outputs", "Outputs"]


@dataclass(frozen=True, slots=True)
class PlanSource:
    """What a leaf of a plan reads.

    Attributes:
        datasets: Where the rows come from.
        columns: What has a part in a column, for a query that a database runs; empty where the
            columns are the dataset's own.
        influences: What decides on the rows that the leaf gives.
        is_known: Whether the columns have the dataset's names.
    """

    datasets: tuple[DatasetId, ...] = ()
    columns: dict[str, ColumnInputs] = field(default_factory=dict)
    influences: ColumnInputs = NOTHING
    is_known: bool = True

    def uses(self, name: str) -> ColumnInputs:
        """What has a part in a column of the leaf."""
        if self.columns:
            return self.columns.get(name.casefold(), NOTHING)
        if not self.is_known:
            return frozenset(
                ColumnInput(d, ANY_COLUMN, Subtype.TRANSFORMATION) for d in self.datasets
            )
        return frozenset(ColumnInput(dataset, name) for dataset in self.datasets)


# What a leaf with these columns reads; None for an operator that is no source.
ResolveLeaf = Callable[[Operator, list[Attribute]], PlanSource | None]


@dataclass(slots=True)
class ColumnTrace:
    """What is known of a plan's columns.

    Attributes:
        known: For each column of the plan what has a part in it.
        outputs: The columns of each operator, by its identity.
        influences: What decides on rows.
        gaps: Why columns are missing or not exact.
        unsure: Columns that are tested for NULL: Spark adds such tests for what is joined,
            compared or exploded (`explained`), and then they say nothing.
        stages: Aggregations that only prepare the one above, by their identity.
        filtered: What `FILTER (WHERE …)` takes, for each use of an aggregate's text in order.
        definitions: Common table expressions by their number.
        merged: Of a subquery that Spark made of several, the columns that these gave: each by
            the subquery's number and its own name has an id of ours.
    """

    sources: ResolveLeaf
    known: dict[int, ColumnInputs] = field(default_factory=dict)
    outputs: dict[int, Outputs] = field(default_factory=dict)
    influences: set[ColumnInput] = field(default_factory=set)
    gaps: dict[str, None] = field(default_factory=dict)
    null_tested: set[int] = field(default_factory=set)
    explained: set[int] = field(default_factory=set)
    stages: set[int] = field(default_factory=set)
    filtered: dict[str, list[ColumnInputs]] = field(default_factory=dict)
    definitions: dict[str, Operator] = field(default_factory=dict)
    merged: dict[tuple[int, str], int] = field(default_factory=dict)

    def of(self, text: str, *, subtype: Subtype = Subtype.IDENTITY) -> ColumnInputs:
        """What has a part in an expression, changed further by what is made of it."""
        if is_cut(text):
            self.gaps[CUT] = None
        found = {
            use
            for reference in column_references(self._resolved(text), self.known)
            for use in transformed(
                self.known[reference.id], reference.subtype, masking=reference.masking
            )
        }
        return _limited(found if subtype is Subtype.IDENTITY else transformed(found, subtype))

    def all_of(self, columns: Iterable[Attribute], subtype: Subtype) -> ColumnInputs:
        """What has a part in any of these columns."""
        found = {use for one in columns for use in self.known.get(one.id, NOTHING)}
        return _limited(transformed(found, subtype))

    def decides(self, text: str, subtype: Subtype) -> None:
        """Take an expression that decides on rows."""
        self.explained.update(
            reference.id for reference in column_references(self._resolved(text), self.known)
        )
        self.influences |= self.of(text, subtype=subtype)

    def _resolved(self, text: str) -> str:
        """An expression in which a column of a merged subquery stands under its own id."""
        for (number, name), id_ in self.merged.items():
            if f"subquery#{number}" in text:
                used = rf"subquery#{number}(?:, \[id=#\d{{1,18}}\]| \[\])?\.{re.escape(name)}"
                text = re.sub(used, f"subquery#{id_}", text)
        return text

    def columns_of(self, operator: Operator) -> list[Attribute]:
        """The columns of an operator that was followed."""
        return flat(self.outputs.get(id(operator), []))

    def finish(self) -> None:
        """Take the tests for NULL that nothing else explains."""
        for id_ in self.null_tested - self.explained:
            self.influences |= transformed(self.known.get(id_, NOTHING), Subtype.FILTER)


def flat(outputs: Outputs) -> list[Attribute]:
    """Columns in their order."""
    if isinstance(outputs, list):
        return outputs
    found: list[Attribute] = []
    stack: list[Outputs] = [outputs]
    while stack:
        at = stack.pop()
        if isinstance(at, list):
            found += at
        else:
            stack += [at[1], at[0]]
    return found


def leaves_first(
    root: Operator, is_leaf: Callable[[Operator], bool] = lambda _: False
) -> Iterator[Operator]:
    """All operators below and inside one, each behind what it takes from, and once."""
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
                stack += [(one, False) for one in reversed(operator.inside)]
                stack += [(one, False) for one in reversed(operator.children)]


def _limited(uses: Iterable[ColumnInput]) -> ColumnInputs:
    found = frozenset(uses)
    if len(found) <= _MOST_USES:
        return found
    return frozenset(use._replace(column=ANY_COLUMN) for use in found)
