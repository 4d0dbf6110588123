"""Dates of a dataset: each unit with its states, what it needs, and what is not known.

The page of a dataset, `graft show` and its JSON are made of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import groupby

from dbt_graft.analysis.dates.access_effects import removes_rows
from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.dates.entity_states import (
    EntityState,
    EntityStates,
    entity_states,
    unmapped_inputs,
)
from dbt_graft.analysis.dates.recorded_states import TaintsNow
from dbt_graft.analysis.dates.write_gaps import WriteGaps, write_gaps
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import (
    ALL_DATES,
    NO_DATES,
    Dates,
    dates_between,
    hour_of,
    moment_of,
    unit_dates,
    unit_of,
    unit_start,
)
from dbt_graft.lineage.dates.dataset_kind import DatasetKind
from dbt_graft.lineage.dates.date_text import dates_text
from dbt_graft.lineage.dates.partition_mapping import PartitionMapping
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Access

_RANGES = 12  # of dates in a note


@frozen
class Entity:
    """A unit of a dataset's dates, with its states and the last run that wrote it."""

    dates: Dates
    states: tuple[EntityState, ...]
    run: tuple[str, str] | None


@frozen
class DatesNeed:
    """The dates of an input that a date of the dataset needs, by a task."""

    task: str
    source: DatasetId
    mapping: PartitionMapping


@frozen
class DatasetDates:
    """The dates of a dataset in a window.

    Attributes:
        grain: The unit of an entity here, which may be coarser than that of its writes.
        entities: Oldest first; empty where nothing is known of any date.
        unmapped: The inputs with dates that nothing maps to its own.
    """

    kind: DatasetKind | None
    states: EntityStates
    gaps: WriteGaps
    grain: Grain
    entities: tuple[Entity, ...]
    needs: tuple[DatesNeed, ...]
    unmapped: tuple[DatasetId, ...]

    def groups(self) -> Iterator[tuple[Dates, tuple[EntityState, ...]]]:
        """Dates that follow each other with the same states, the newest first."""
        for states, group in groupby(reversed(self.entities), key=lambda entity: entity.states):
            yield _union(entity.dates for entity in group), states

    def notes(self) -> Iterator[str]:
        """Doubts, the units without a write, and the usual time of one."""
        gaps = self.gaps
        if not self.states.is_dated:
            yield "no log shows dates of its data"
        if any(EntityState.UNSURE in entity.states for entity in self.entities):
            names = ", ".join(source.short for source in self.unmapped)
            why = (
                f"nothing maps the dates of {names}; `reads` can declare it"
                if names
                else "no log shows how a run ended"
            )
            yield f"unsure: it may be partial, as {why}"
        if gaps.missing:
            text = dates_text(self.gap_dates(gaps.missing), gaps.grain, _RANGES)
            yield f"no write for {len(gaps.missing)} of the last {gaps.of} {gaps.grain}s: {text}"
        if gaps.usual is not None and gaps.usual.total_seconds() > 0:
            late = [start for start in gaps.late if start not in gaps.missing]
            listed = dates_text(self.gap_dates(late), gaps.grain, _RANGES) if late else ""
            text = f"; late: {listed}" if late else ""
            yield f"usually written {_length(gaps.usual)} after the end of its {gaps.grain}{text}"

    def gap_dates(self, starts: Iterable[datetime]) -> Dates:
        """The units of gaps that begin at these times."""
        grain = self.gaps.grain
        return _union(
            dates_between(start, moment_of(unit_start(unit_of(hour_of(start), grain) + 1, grain)))
            for start in starts
        )


def _length(time: timedelta) -> str:
    """`1 hour`, `2.5 hours`; from two days on `21.4 days`."""
    unit = "day" if time >= timedelta(days=2) else "hour"
    number = f"{time / timedelta(**{f'{unit}s': 1}):.1f}".removesuffix(".0")
    return f"{number} {unit}{'' if number == '1' else 's'}"


def dataset_dates(
    history: AccessHistory,
    states: EntityStates,
    gaps: WriteGaps,
    dates: Dates,
    grain: Grain,
) -> DatasetDates:
    """The dates of a dataset.

    Args:
        dates: Those that are wanted, with two ends.
        grain: The unit of an entity.
    """
    dataset = states.dataset
    return DatasetDates(
        dataset_kind(history, dataset),
        states,
        gaps,
        grain,
        tuple(
            Entity(of_unit, states.of_unit(unit, grain), states.run_of(of_unit))
            for unit in dates.units(grain)
            for of_unit in (unit_dates(unit, grain),)
        ),
        tuple(
            DatesNeed(edge[0], edge[1], history.mapping(edge))
            for edge in history.upstream.get(dataset, ())
        ),
        tuple(sorted({source for source, _ in unmapped_inputs(history, dataset)})),
    )


def states_now(history: AccessHistory, dataset: DatasetId, taints: TaintsNow) -> EntityStates:
    """The states of a dataset, with the taints on record."""
    return entity_states(history, dataset, *taints.parts(dataset))


def gaps_now(states: EntityStates, newest: datetime | None) -> WriteGaps:
    """The gaps of a dataset at the time of the newest access in the logs."""
    return write_gaps(states, newest) if newest else WriteGaps(states.grain)


def _union(members: Iterable[Dates]) -> Dates:
    dates = NO_DATES
    for member in members:
        dates |= member
    return dates


def dataset_kind(history: AccessHistory, dataset: DatasetId) -> DatasetKind | None:
    """The declared kind of a dataset, or the one that its runs show; None where nothing does."""
    declared = history.lineage.history.declared_dates.get(dataset)
    if declared and declared.kind:
        return declared.kind
    writes = [write for write in history.writes(dataset) if not removes_rows(write)]
    if not writes:
        is_read = bool(history.reads(dataset)) and not history.upstream.get(dataset)
        return DatasetKind.STATIC if is_read else None
    mappings = [history.mapping(edge) for edge in history.upstream.get(dataset, ())]
    rules = [mapping for mapping in mappings if mapping.period is not None]
    if any(mapping.is_cumulative for mapping in rules):
        return DatasetKind.CUMULATIVE
    if any((mapping.first or 0) < (mapping.last or 0) for mapping in rules):
        return DatasetKind.SLIDING
    if any(write.periods for write in writes):
        return DatasetKind.TIME_SERIES
    if all(_replaces_all(history, write) for write in writes):
        return DatasetKind.SNAPSHOT
    if any(
        history.written_dates(write) is not None and not write.operation.replaces
        for write in writes
    ):
        return DatasetKind.TIME_SERIES
    appended = not any(write.operation.replaces for write in writes)
    return DatasetKind.CUMULATIVE if appended else None


def _replaces_all(history: AccessHistory, write: Access) -> bool:
    """Whether nothing is left of what was there: also by a TRUNCATE before an INSERT."""
    return ALL_DATES in (history.written_dates(write), history.removed_before(write))
