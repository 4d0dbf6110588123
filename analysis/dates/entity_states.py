"""States of a dataset's entities: a dataset at a unit of its dates, such as raw.orders of 3 Oct.

A dataset without dates of data has an entity for each unit in which it is written: the refreshes
of a snapshot.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from dbt_graft.analysis.dates.access_effects import read_dates, removed_dates, removes_rows
from dbt_graft.analysis.dates.access_history import AccessHistory, Edge
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import (
    FIRST,
    LAST,
    NO_DATES,
    Dates,
    dates_in,
    hour_of,
    unit_dates,
    unit_of,
)
from dbt_graft.lineage.dates.partition_mapping import MappingEvidence, PartitionMapping
from dbt_graft.lineage.dates.period import Grain, PeriodEvidence
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import Access, Status


class EntityState(StrEnum):
    """State of an entity; some hold at the same time.

    MISSING: nothing was written for it. PARTIAL: some of it, or with fewer units of an input than
    it needs. UNSURE: it may be partial: nothing tells which dates of an input it needs, or whether
    the run that wrote it ended well, a part of it was written, or rows were deleted. ESTIMATED:
    what people declare for that was there, for completed not yet. TAINTED: bad data, on record.
    SUSPECT: it may be bad, on record. SUPERSEDED: a later run wrote it again.
    """

    MISSING = "missing"
    PARTIAL = "partial"
    UNSURE = "unsure"
    ESTIMATED = "estimated"
    COMPLETED = "completed"
    SUSPECT = "suspect"
    TAINTED = "tainted"
    SUPERSEDED = "superseded"


@frozen
class EntityStates:
    """The states of a dataset by dates.

    Attributes:
        grain: The unit of an entity.
        is_dated: Whether the dates are those of data; else they are those of writes.
        written: All dates with data.
        first_writes: Unit -> the end of the first write for it.
        last_runs: Task and run -> the dates that still have rows of theirs; by their last writes.
    """

    dataset: DatasetId
    grain: Grain
    is_dated: bool
    written: Dates
    partial: Dates
    unsure: Dates
    estimated: Dates
    superseded: Dates
    tainted: Dates = NO_DATES
    suspect: Dates = NO_DATES
    first_writes: Mapping[int, datetime] = field(default_factory=dict)
    last_runs: Mapping[tuple[str, str], Dates] = field(default_factory=dict)

    def dates_by_state(self, dates: Dates) -> dict[EntityState, Dates]:
        """The dates in each state, of these."""
        here = self.written & dates
        return {
            EntityState.MISSING: dates - self.written,
            EntityState.PARTIAL: here & self.partial,
            EntityState.UNSURE: here & self.unsure,
            EntityState.ESTIMATED: here & self.estimated,
            EntityState.COMPLETED: here - self.partial - self.unsure - self.estimated,
            EntityState.SUSPECT: dates & self.suspect,
            EntityState.TAINTED: dates & self.tainted,
            EntityState.SUPERSEDED: dates & self.superseded,
        }

    def of_unit(self, unit: int, grain: Grain) -> tuple[EntityState, ...]:
        """The states of one unit, which may be coarser than an entity.

        It is missing if all of it is, completed if all of it is, and partial if a part of it is
        written.
        """
        dates = unit_dates(unit, grain)
        dates_by_state = self.dates_by_state(dates)
        states = [state for state in EntityState if dates_by_state[state]]
        if EntityState.MISSING in states and len(states) > 1 and self.written & dates:
            states.remove(EntityState.MISSING)
            if EntityState.PARTIAL not in states:
                states.insert(0, EntityState.PARTIAL)
        if EntityState.COMPLETED in states and dates_by_state[EntityState.COMPLETED] != dates:
            states.remove(EntityState.COMPLETED)
        return tuple(states)

    def run_of(self, dates: Dates) -> tuple[str, str] | None:
        """Task and run of the last write of some of these dates."""
        runs = reversed([*self.last_runs.items()])
        return next((run for run, held in runs if held & dates), None)


def is_valid(states: tuple[EntityState, ...]) -> bool:
    """Whether data of these states may be used: completed and in no way bad."""
    is_bad = EntityState.TAINTED in states or EntityState.SUSPECT in states
    return EntityState.COMPLETED in states and not is_bad


def entity_states(
    history: AccessHistory,
    dataset: DatasetId,
    tainted: Dates = NO_DATES,
    suspect: Dates = NO_DATES,
) -> EntityStates:
    """The states of a dataset.

    Args:
        tainted: Its bad dates on record.
        suspect: Those that may be bad.
    """
    walk = _Walk(history, dataset)
    for access in walk.accesses():
        walk.step(access)
    return EntityStates(
        dataset,
        walk.grain,
        walk.is_dated,
        walk.written,
        walk.short_of_completed - walk.estimated,
        walk.unsure - walk.short_of_completed - walk.estimated,
        walk.estimated,
        walk.superseded,
        tainted,
        suspect,
        walk.first_writes,
        {run: dates for run, dates in walk.holders.items() if dates},
    )


@dataclass(slots=True)
class _Need:
    """An input that a state needs; `mapping` is None for whatever is the newest."""

    source: DatasetId
    mapping: PartitionMapping | None
    task: str = ""
    exceptions: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Available:
    """The dates of an input that are there, since when."""

    times: list[datetime] = field(default_factory=list)
    dates: list[Dates] = field(default_factory=list)

    @property
    def now(self) -> Dates:
        """The last ones."""
        return self.dates[-1] if self.dates else NO_DATES

    def change(self, access: Access, dates: Dates) -> None:
        """From the end of an access on these are there."""
        if dates != self.now:
            self.times.append(_end(access))
            self.dates.append(dates)

    def at(self, time: datetime) -> Dates:
        """The dates that were there at a time."""
        place = bisect_right(self.times, time)
        return self.dates[place - 1] if place else NO_DATES


class _Walk:
    """The state while the writes of a dataset and of its inputs are gone through."""

    def __init__(self, history: AccessHistory, dataset: DatasetId) -> None:
        self.history, self.dataset = history, dataset
        writes = history.writes(dataset)
        dates = [history.written_dates(write) for write in writes if not removes_rows(write)]
        self.is_dated = any(written is not None and not written.is_all for written in dates)
        declared = history.lineage.history.declared_dates.get(dataset)
        self.grain = history.grain(dataset) or Grain.DAY
        if not self.is_dated:
            self.grain = declared.period if declared else Grain.DAY
        self.written = self.superseded = NO_DATES
        self.short_of_completed = self.estimated = self.unsure = NO_DATES
        self.first_writes: dict[int, datetime] = {}
        self.holders: dict[tuple[str, str], Dates] = {}
        self.completed_needs = list(self._needs_completed())
        self.estimated_needs = list(self._declared_needs(estimated=True))
        self.unmapped = list(self._unmapped()) if self.is_dated else []
        needs = (*self.completed_needs, *self.estimated_needs, *self.unmapped)
        # What may be there, and what is there for certain.
        self.available = {need.source: _Available() for need in needs}
        self.certain = {need.source: _Available() for need in needs}
        self.has_doubts = False
        self.known = {source: _dates_from_first(history, source) for source in self.available}

    def accesses(self) -> Iterator[Access]:
        """The writes in the order of time; at one time those of inputs first."""
        names = (*sorted(self.available.keys() - {self.dataset}), self.dataset)
        listed = [write for name in names for write in self.history.writes(name)]
        return iter(sorted(listed, key=_end))

    def step(self, access: Access) -> None:
        """Go on to the next write."""
        if access.dataset == self.dataset:
            if removes_rows(access):
                self._remove(access)
            else:
                self._write(access)
        if access.dataset in self.available:
            self._input(access)

    def _input(self, access: Access) -> None:
        is_sure = access.status is not Status.UNKNOWN
        self.has_doubts |= not is_sure
        available, certain = self.available[access.dataset], self.certain[access.dataset]
        if not removes_rows(access):
            dates = self.history.written_dates(access) or NO_DATES
            available.change(access, available.now | dates)
            entire = self.history.entire_dates(access)
            if is_sure:
                certain.change(access, certain.now | entire)
            self.has_doubts |= entire != dates
        else:
            removed = removed_dates(access)
            if is_sure and access.operation.replaces:
                available.change(access, available.now - removed)
            certain.change(access, certain.now - removed_dates(access, perhaps=True))
            self.has_doubts |= available.now != certain.now

    def _remove(self, access: Access) -> None:
        if not self.is_dated:
            return
        if not access.operation.replaces:
            # What a run deletes of its own is its business.
            own = self.holders.get(self.history.execution(access), NO_DATES)
            self.unsure |= (removed_dates(access, perhaps=True) & self.written) - own
            return
        dates = removed_dates(access)
        self.written -= dates
        self.short_of_completed -= dates
        self.estimated -= dates
        self.unsure -= dates
        if self.holders:
            self.holders = {run: held - dates for run, held in self.holders.items()}

    def _write(self, access: Access) -> None:
        dates = self._dates(access)
        if not dates:
            return
        assert access.last_at
        new = dates - self.written
        if not new.is_all and new:
            for unit in _bounded_units(new, self.grain):
                self.first_writes.setdefault(unit, access.last_at)
        run = self.history.execution(access)
        again = self.history.replaced_dates(access) & dates & self.written
        if again and self.is_dated:
            for other, held in list(self.holders.items()):
                if other != run and (lost := held & again):
                    self.superseded |= lost
                    self.holders[other] = held - again
        self.holders[run] = self.holders.pop(run, NO_DATES) | dates
        self.written |= dates
        # What is written in part stays as it was, as to the rest.
        entire = self._entire_dates(access, dates)
        short = self._short(self.completed_needs, dates, access, self.available)
        self.short_of_completed = (self.short_of_completed - entire) | short
        perhaps_short = short
        if self.has_doubts:
            perhaps_short = self._short(self.completed_needs, dates, access, self.certain)
        unsure = dates if self._is_unsure(access) else (perhaps_short - short) | (new - entire)
        self.unsure = (self.unsure - entire) | unsure
        self.estimated -= entire
        if self.estimated_needs:
            self.estimated |= short - self._short(self.estimated_needs, dates, access, self.certain)

    def _entire_dates(self, access: Access, dates: Dates) -> Dates:
        return self.history.entire_dates(access) & dates if self.is_dated else dates

    def _dates(self, access: Access) -> Dates:
        if not self.is_dated:
            assert access.last_at
            return unit_dates(unit_of(hour_of(access.last_at), self.grain), self.grain)
        written = self.history.written_dates(access)
        # A table that is made anew holds the dates that its next writes name.
        return NO_DATES if written is None or written.is_all else written

    def _short(
        self,
        needs: list[_Need],
        dates: Dates,
        access: Access,
        there: Mapping[DatasetId, _Available],
    ) -> Dates:
        """The dates that need dates of an input which were not there when its run began to read.

        What came while it read may have been read or not.
        """
        short = NO_DATES
        for need in needs:
            if need.task not in ("", access.task):
                continue
            reads = self._reads(need.source, access)
            available = there[need.source].at(_begin(reads, access))
            if need.mapping is None:
                short |= NO_DATES if available else dates
                continue
            missing = (need.mapping.needed_dates(dates) & self.known[need.source]) - available
            if missing:
                short |= need.mapping.affected_dates(missing) & dates
            run = self.history.execution(access)[1]
            if run in need.exceptions and (read := read_dates(reads)):
                # It needs what it read, whatever the rule says.
                short |= dates if (read & self.known[need.source]) - available else NO_DATES
        return short

    def _is_unsure(self, access: Access) -> bool:
        """Whether a write may lack something: its end, or dates of an input that nothing maps.

        What a run asked for shows what it needed, if all of it was there. Partitions that a scan
        was pruned to do not: those that were not there are not among them.
        """
        if access.status is Status.UNKNOWN:
            return True
        for need in self.unmapped:
            is_seen = bool(self.history.reads_by_task(need.source).get(access.task))
            reads = self._reads(need.source, access)
            if need.task != access.task or (is_seen and not reads):
                continue
            is_pruned = any(
                period.evidence is PeriodEvidence.LOCATION
                for read in reads
                for period in read.periods
            )
            read = read_dates(reads) if reads and not is_pruned else None
            available = self.certain[need.source].at(_begin(reads, access))
            if read is None or not available.covers(read & self.known[need.source]):
                return True
        return False

    def _reads(self, source: DatasetId, access: Access) -> Sequence[Access]:
        """The reads of an input by the run of a write."""
        task, run = self.history.execution(access)
        return self.history.reads_by_run(task, source).get(run, ())

    def _needs_completed(self) -> Iterator[_Need]:
        declared = list(self._declared_needs(estimated=False))
        if declared or not self.is_dated:
            yield from declared
            return
        for edge in self.history.upstream.get(self.dataset, ()):
            mapping = self.history.mapping(edge)
            if mapping.is_rule and _is_dated(self.history, edge):
                yield _Need(edge[1], mapping, edge[0], frozenset(mapping.exceptions))

    def _unmapped(self) -> Iterator[_Need]:
        """The inputs with dates of which it is not known which ones are needed."""
        declared = self.history.lineage.history.declared_dates.get(self.dataset)
        if declared is None or not declared.completed:
            for source, task in unmapped_inputs(self.history, self.dataset):
                yield _Need(source, None, task)

    def _declared_needs(self, *, estimated: bool) -> Iterator[_Need]:
        declared = self.history.lineage.history.declared_dates.get(self.dataset)
        if declared is None:
            return
        needs = declared.estimated if estimated else declared.completed
        for source, offsets in needs.items():
            if offsets is None:
                yield _Need(source, None)
            else:
                grain = self.history.grain(source)
                evidence = MappingEvidence.DECLARED
                yield _Need(source, PartitionMapping(declared.period, *offsets, grain, evidence))


def unmapped_inputs(history: AccessHistory, dataset: DatasetId) -> list[tuple[DatasetId, str]]:
    """The inputs with dates that nothing maps to those of a dataset, each with the task."""
    return [
        (edge[1], edge[0])
        for edge in history.upstream.get(dataset, ())
        if not history.mapping(edge).is_rule and _is_dated(history, edge)
    ]


def _is_dated(history: AccessHistory, edge: Edge) -> bool:
    return any(write.periods for write in history.writes(edge[1]))


def _dates_from_first(history: AccessHistory, dataset: DatasetId) -> Dates:
    """The dates from the first that any log shows on: what was before is there, or was never."""
    starts = [
        written.span[0]
        for write in history.writes(dataset)
        if not removes_rows(write)
        and (written := history.written_dates(write))
        and not written.is_all
    ]
    return dates_in([(min(starts), LAST)]) if starts else NO_DATES


def _bounded_units(dates: Dates, grain: Grain) -> Iterator[int]:
    """The units of all ranges with two ends."""
    return Dates(
        tuple(hour_range for hour_range in dates.ranges if not _is_open(hour_range))
    ).units(grain)


def _is_open(hours: tuple[int, int]) -> bool:
    return hours[0] <= FIRST or hours[1] >= LAST


def _begin(reads: Iterable[Access], write: Access) -> datetime:
    """The beginning of a run's first read; the end of its write where no log tells."""
    begins = [begin for read in reads if (begin := read.first_at or read.last_at)]
    return min((*begins, _end(write)))


def _end(access: Access) -> datetime:
    assert access.last_at
    return access.last_at
