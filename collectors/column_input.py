"""An input of a value: a column, and what happens to it on the way."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from dbt_graft.lineage.graphs.columns import compose
from dbt_graft.lineage.records import Masking, Subtype

Source = TypeVar("Source")


class ColumnInput(NamedTuple, Generic[Source]):
    """A column that has a part in a value.

    Attributes:
        source: Its dataset, or its table as a statement names it.
        masking: The operation that hides the column's own value.
    """

    source: Source
    column: str
    subtype: Subtype = Subtype.IDENTITY
    masking: Masking = Masking.NONE

    def then(self, subtype: Subtype, masking: Masking = Masking.NONE) -> ColumnInput[Source]:
        """The same input of a value that is made of this one."""
        composed = compose(subtype, self.subtype)
        return ColumnInput(self.source, self.column, composed, self.masking.then(masking))
