"""The end of a column's way through a query and the ephemeral models that it reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import ANY_COLUMN, Masking, Subtype


class ColumnEnd(NamedTuple):
    """A column of a dataset, and what happens to it on the way to a result."""

    dataset: DatasetId
    column: str
    subtype: Subtype
    masking: Masking


ColumnEnds = frozenset[ColumnEnd]


def ends_of_column(ends: Iterable[ColumnEnd], column: str) -> ColumnEnds:
    """The ends of one column among all those that `*` stands for."""
    return frozenset(
        end._replace(column=column) if end.column == ANY_COLUMN else end for end in ends
    )
