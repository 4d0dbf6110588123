"""“If this changes” on the page of a dataset: what each kind of change does, in words."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from dbt_graft.analysis.impact.answer import ProposedChange
from dbt_graft.analysis.impact.change import ChangeType
from dbt_graft.analysis.impact.reach import ImpactReach, ReachOfChange
from dbt_graft.analysis.render.phrases import count
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.grouping import group_by_key

# Changes of a dataset, and what others get of a changed column; a renamed one is gone under its old
# name.
OF_DATASET: Mapping[ChangeType, str] = {
    ChangeType.REMOVE: "is removed or renamed",
    ChangeType.ROWS: "has other rows",
    ChangeType.DATA_INCORRECT: "has wrong data",
    ChangeType.FRESHNESS: "comes late",
}
OF_COLUMN: Mapping[ChangeType, str] = {
    ChangeType.REMOVE: "",
    ChangeType.TYPE: "another type",
    ChangeType.SEMANTICS: "another meaning",
    ChangeType.UNIT: "another unit",
    ChangeType.DATA_INCORRECT: "wrong values",
    ChangeType.PRIVACY: "sensitive values",
}
# Rows of columns.
_MOST = 60

Reaches = Mapping[ChangeType, ReachOfChange]


@frozen
class Verdict:
    """The outcome of a change, or of several that come to the same.

    Attributes:
        subjects: The changes in words, or the columns that are removed.
        breaks: What is certain to fail; empty if nothing is.
        datasets: How many others it reaches.
        is_all: As much depends on the columns as on the dataset.
        others: What other changes of the columns do, in a sentence.
    """

    subjects: tuple[str, ...]
    breaks: str
    datasets: int
    consumers: tuple[Consumer, ...]
    is_removal: bool = True
    is_all: bool = False
    others: str = ""


@frozen
class ImpactPanel:
    """The impact of changes of a dataset and of its columns.

    Attributes:
        of_columns: Only columns that a change of reaches anything.
        unread: The other columns.
    """

    of_dataset: Reaches
    of_columns: Mapping[str, Reaches]
    unread: Sequence[str]

    @property
    def dataset_verdicts(self) -> list[Verdict]:
        """A verdict for each kind of change; those that do the same are one."""
        groups = group_by_key(
            ((_reached(reach), kind is ChangeType.REMOVE), OF_DATASET[kind])
            for kind, reach in self.of_dataset.items()
        )
        return [
            Verdict(tuple(changes), *reached, is_removal)
            for (reached, is_removal), changes in groups.items()
        ]

    @property
    def column_verdicts(self) -> list[Verdict]:
        """A verdict for each column; those of which it is the same are one."""
        groups = group_by_key(
            ((_reached(reaches[ChangeType.REMOVE]), _other_changes(reaches)), name)
            for name, reaches in self.of_columns.items()
        )
        _, *most = _reached(self.of_dataset[ChangeType.REMOVE])
        return [
            Verdict(tuple(names), *reached, is_all=[*reached[1:]] == most, others=others)
            for (reached, others), names in list(groups.items())[:_MOST]
        ]

    @property
    def omitted(self) -> int:
        """The number of columns that are in no verdict."""
        return len(self.of_columns) - sum(len(row.subjects) for row in self.column_verdicts)


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
    reaches_of: dict[Hashable, Reaches] = {}
    of_columns: dict[str, Reaches] = {}
    for name in columns:
        states = reach.states_of(dataset, name)
        if states is None:
            continue
        # Most columns of a table reach the same.
        if states not in reaches_of:
            reaches_of[states] = {
                kind: reach.measure(ProposedChange(dataset, kind, name)) for kind in OF_COLUMN
            }
        of_columns[name] = reaches_of[states]
    read = {name: reaches for name, reaches in of_columns.items() if any(reaches.values())}
    return ImpactPanel(of_dataset, read, [name for name in columns if name not in read])


def _reached(reach: ReachOfChange) -> tuple[str, int, tuple[Consumer, ...]]:
    parts = ((reach.broken, "writer"), (reach.tests, "test"))
    breaks = " and ".join(count(number, noun) for number, noun in parts if number)
    by_name = sorted(reach.consumers, key=lambda one: (not one.is_critical, one.name))
    return breaks, reach.datasets, tuple(by_name)


def _other_changes(reaches: Reaches) -> str:
    """`7 datasets may get another type or wrong values; 3 may get sensitive values.`"""
    groups = group_by_key(
        (reach.datasets, OF_COLUMN[kind])
        for kind, reach in reaches.items()
        if kind is not ChangeType.REMOVE and reach.datasets
    )
    widest = max(reaches.values(), key=lambda reach: reach.flows)
    unknown = widest.flows - widest.known
    notes = (
        [f"On {count(unknown, 'flow')} of {widest.flows:,} no columns are known: all counts there."]
        if unknown
        else []
    )
    if [*groups] == [reaches[ChangeType.REMOVE].datasets]:
        return " ".join(["Other changes reach as many.", *notes])
    parts = list[str]()
    for number, changes in groups.items():
        *first, last = changes
        words = f"{', '.join(first)} or {last}" if first else last
        subject = f"{number:,}" if parts else count(number, "dataset")
        parts.append(f"{subject} may get {words}")
    return " ".join([*(["; ".join(parts) + "."] if parts else []), *notes])
