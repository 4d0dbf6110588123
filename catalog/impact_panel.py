"""“If this changes” on the page of a dataset: what each kind of change reaches, in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dbt_graft.analysis.impact.answer import ProposedChange
from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.impact.reach import ImpactReach, ReachOfChange
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.grouping import group_by_key

# Changes of a dataset and of a column, in words; a renamed one is gone under its old name.
OF_DATASET: Mapping[ChangeType, str] = {
    ChangeType.REMOVE: "is removed or renamed",
    ChangeType.ROWS: "has other rows",
    ChangeType.DATA_INCORRECT: "has wrong data",
    ChangeType.FRESHNESS: "comes late",
}
OF_COLUMN: Mapping[ChangeType, str] = {
    ChangeType.REMOVE: "is removed or renamed",
    ChangeType.TYPE: "has another type",
    ChangeType.SEMANTICS: "has another meaning",
    ChangeType.UNIT: "has another unit",
    ChangeType.DATA_INCORRECT: "is wrong",
    ChangeType.PRIVACY: "is sensitive",
}
# Groups of columns listed for a dataset.
_MOST = 60


@dataclass(frozen=True, slots=True)
class ColumnImpact:
    """Columns whose changes reach equally far.

    Attributes:
        names: As they are spelled.
        reaches: For each kind of change, in the order of the panel's.
    """

    names: Sequence[str]
    reaches: Sequence[ReachOfChange]

    @property
    def known(self) -> str:
        """The share of the flows on the way whose columns are known: `3 of 4`."""
        widest = max(self.reaches, key=lambda reach: reach.flows)
        return f"{widest.known:,} of {widest.flows:,}"


@dataclass(frozen=True, slots=True)
class ImpactPanel:
    """The impact of changes of a dataset and of its columns.

    Attributes:
        of_columns: Only columns that a change of reaches anything.
        kinds: The changes of columns.
        omitted: The number of columns that are not listed.
    """

    of_dataset: Mapping[ChangeType, ReachOfChange]
    of_columns: Sequence[ColumnImpact]
    kinds: Sequence[ChangeType] = tuple(OF_COLUMN)
    omitted: int = 0


def impact_panel(
    reach: ImpactReach, dataset: DatasetId, columns: Sequence[str]
) -> ImpactPanel | None:
    """The panel of a dataset; None if nothing downstream of it is known.

    Args:
        columns: The columns that its page lists.
    """
    of_dataset = {kind: reach.measure(ProposedChange(dataset, kind)) for kind in OF_DATASET}
    if not any(of_dataset.values()):
        return None
    groups = group_by_key(
        (reaches, name) for name, reaches in _column_reaches(reach, dataset, columns)
    )
    listed = [ColumnImpact(names, reaches) for reaches, names in groups.items()]
    return ImpactPanel(
        of_dataset,
        listed[:_MOST],
        omitted=sum(len(impact.names) for impact in listed[_MOST:]),
    )


def _column_reaches(
    reach: ImpactReach, dataset: DatasetId, columns: Sequence[str]
) -> Iterator[tuple[str, tuple[ReachOfChange, ...]]]:
    for name in columns:
        if reach.knows(dataset, name):
            reaches = tuple(
                reach.measure(ProposedChange(dataset, kind, name)) for kind in OF_COLUMN
            )
            if any(reaches):
                yield name, reaches
