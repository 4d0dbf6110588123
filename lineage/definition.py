"""Definitions: dbt models and views, which build datasets without a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from functools import cached_property
from typing import Any, overload

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import ColumnEdge, Evidence, Masking, Subtype

# A column that has a part in another: its dataset, its name, what it does, and what hides it.
ColumnEnd = tuple[DatasetId, str, Subtype, Masking]
# Columns and their ends, `*` for what decides on rows.
DefinedColumns = Sequence[tuple[str, Sequence[ColumnEnd]]]
_TYPES = {subtype: subtype.type for subtype in Subtype}


class DefinitionKind(StrEnum):
    """Owner of a definition: dbt, or the database of the view.

    In the lineage store it is the engine of the runs that show definitions. HIDDEN: a task that the
    audience may not see; only flows have it.
    """

    DBT = "dbt"
    VIEW = "view"
    HIDDEN = "hidden"


@frozen
class Definition:
    """A dbt model, seed or snapshot, or a view, with its inputs and its output.

    Attributes:
        name: dbt's unique_id, or the view's identity.
        reads: Its input datasets, sorted.
        operation: The operation that builds it: CREATE VIEW, CREATE TABLE AS, MERGE…
        shapes: The statements that define a view.
        gap: The reason why some of its columns could not be followed; None where all were.
        starred: Columns, folded, that its SQL takes by `*` alone, so that it does not fail without
            them; `*` among them stands for such of a table whose columns are not known.
        by_event_time: dbt builds it in batches of its event time: it is a microbatch model.
    """

    name: str
    kind: DefinitionKind
    dataset: DatasetId
    reads: tuple[DatasetId, ...] = ()
    operation: Operation = Operation.CREATE_VIEW
    shapes: tuple[str, ...] = ()
    gap: str | None = None
    starred: tuple[str, ...] = ()
    by_event_time: bool = False


class DefinitionEdges(Sequence[ColumnEdge]):
    """The declared column edges of a definition, made when one is asked for.

    A project has hundreds of thousands, and few of its models have to do with a task.

    Args:
        columns, shape_id: Functions that make them.

    Attributes:
        name: Of the definition, as `ColumnEdge.task`.
        identity: A digest of all that its columns are made of: equal ones have equal columns.
    """

    def __init__(
        self,
        name: str,
        dataset: DatasetId,
        columns: Callable[[], DefinedColumns],
        shape_id: Callable[[], str],
        origin: str,
        identity: str,
    ) -> None:
        self.name, self.identity = name, identity
        self._dataset, self._columns = dataset, columns
        self._shape_id, self._origin = shape_id, origin

    @cached_property
    def columns(self) -> DefinedColumns:
        """The columns of its dataset and their ends."""
        return self._columns()

    @cached_property
    def _edges(self) -> tuple[ColumnEdge, ...]:
        task, to, shape_id, origin = self.name, self._dataset, self._shape_id(), self._origin
        declared = Evidence.DECLARED
        return tuple(
            [
                ColumnEdge(
                    task,
                    to,
                    name,
                    source,
                    column,
                    _TYPES[subtype],
                    subtype,
                    bool(masking),
                    shape_id,
                    origin,
                    declared,
                    masking,
                )
                for name, ends in self.columns
                for source, column, subtype, masking in ends
            ]
        )

    @overload
    def __getitem__(self, index: int) -> ColumnEdge: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ColumnEdge, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        return self._edges[index]

    def __iter__(self) -> Iterator[ColumnEdge]:
        return iter(self._edges)  # in a third of the time

    def __len__(self) -> int:
        return sum(len(ends) for _, ends in self.columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._edges == tuple(other)

    __hash__ = None  # type: ignore[assignment]


@frozen
class DefinitionColumns:
    """The column edges of definitions, by name.

    Attributes:
        edges: Sorted; those of a definition end in its dataset.
        gaps: The reasons why some are missing, see `Definition.gap`.
        notices: Messages about what is missing everywhere.
        reads: All that the SQL of a definition reads, also where it takes no column of it.
        starred: The columns that are only taken by `*`, see `Definition.starred`.
    """

    edges: Mapping[str, Sequence[ColumnEdge]] = field(default_factory=dict)
    gaps: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    reads: Mapping[str, tuple[DatasetId, ...]] = field(default_factory=dict)
    starred: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def coverage(self) -> ColumnCoverage | None:
        """The numbers of definitions that were followed; None where there are none."""
        of = len({*self.edges, *self.gaps})
        if not of:
            return None
        reasons = Counter(map(gap_reason, self.gaps.values()))
        ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        return ColumnCoverage(of - len(self.gaps), of, dict(ordered))


NO_COLUMNS = DefinitionColumns()


@frozen
class ColumnCoverage:
    """The number of definitions whose columns were all followed, and of all definitions.

    Attributes:
        reasons: Why the others were not -> their number, most first.
    """

    followed: int
    of: int
    reasons: Mapping[str, int]


def gap_reason(gap: str) -> str:
    """The reason in a gap without the names that it lists."""
    return gap.partition(": ")[0]
