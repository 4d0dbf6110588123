"""Taint: which dates of which datasets hold bad data, from bad writes downstream to the ends.

The accesses are gone through once, in the order of time:

- a run that reads bad dates taints what it writes afterwards: the dates that need them, by the
  partition mapping of the edge, of those that it wrote;
- a read lies anywhere between its beginning and its end: what was bad for a part of that time may
  have been read, what was bad for all of it was;
- a run that ended before the bad write, or began after a clean one, taints nothing;
- a write that takes the place of all that was there for its dates ends their taint; where it may
  have taken the place of all dates, the others are no longer bad in any case;
- where nothing maps the dates of a run, all that it wrote may be bad, and is if that is one unit;
- a read of a dataset with dates that names none may have been one of others, unless its statement
  takes all rows;
- a date that is read in part may have been read, one that is replaced in part may still be bad;
- what failed wrote nothing, and what has no end in the logs may have;
- views hold no data, and are as bad as what they select from; what a task makes that no log shows
  may be.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import itemgetter

from dbt_graft.analysis.dates.access_effects import is_in_part, removed_dates, removes_rows, times
from dbt_graft.analysis.dates.access_history import AccessHistory, Edge
from dbt_graft.analysis.dates.access_index import Execution
from dbt_graft.analysis.dates.bad_writes import BadWrite
from dbt_graft.analysis.dates.dbt_accesses import is_view
from dbt_graft.analysis.dates.taint_bounds import taint_bounds
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES, NO_DATES, Dates, dates_of, entire_dates
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Status

_BEGINNING = datetime.min.replace(tzinfo=UTC)
# Of accesses at one time reads come first, then what removes rows, then writes.
_BEGIN, _READ, _REMOVAL, _WRITE = range(4)
# A task or definition, and the dataset that it writes.
Output = tuple[str, DatasetId]


@frozen
class CleanRewrite:
    """A clean write took the place of bad data.

    Attributes:
        output: The task that had written the bad data, and the dataset.
        task, run, at: The clean write.
    """

    output: Output
    dates: Dates
    task: str
    run: str
    at: datetime


@frozen
class BadRead:
    """A run read bad data.

    Attributes:
        at: The last time.
    """

    task: str
    run: str
    dataset: DatasetId
    dates: Dates
    at: datetime


@dataclass(slots=True)
class Taint:
    """The taint that bad writes leave.

    Attributes:
        tainted: The dates of each output that are still bad, or may be.
        certain: Of them those that are bad in any case.
        causes: For each output that ever was bad the edge through which it became so first; None
            where it is a bad write itself.
        runs: The runs that wrote bad data into an output, oldest first.
        unmapped: The edges along which all dates count, as nothing maps them.
        superseded: What was bad and was written again, oldest first.
        reads: Task and dataset -> the last read of bad data.
    """

    tainted: dict[Output, Dates] = field(default_factory=dict)
    certain: dict[Output, Dates] = field(default_factory=dict)
    causes: dict[Output, Edge | None] = field(default_factory=dict)
    runs: dict[Output, dict[str, datetime]] = field(default_factory=lambda: defaultdict(dict))
    unmapped: set[Edge] = field(default_factory=set)
    superseded: list[CleanRewrite] = field(default_factory=list)
    reads: dict[tuple[str, DatasetId], BadRead] = field(default_factory=dict)

    def of_dataset(self, dataset: DatasetId, *, is_certain: bool = False) -> Dates:
        """The bad dates of a dataset now, whoever wrote them.

        Args:
            is_certain: Only those that are bad in any case.
        """
        bad = NO_DATES
        for (_, output_dataset), dates in (self.certain if is_certain else self.tainted).items():
            if output_dataset == dataset:
                bad |= dates
        return bad


def spread(
    history: AccessHistory,
    bad: Iterable[BadWrite],
    before: Mapping[Output, Dates] | None = None,
    since: datetime | None = None,
) -> Taint:
    """The taint of bad writes, downstream to the ends.

    Args:
        before: What was bad at a time; `bad` are the writes after it.
        since: That time.
    """
    bad, before = tuple(bad), before or {}
    walk = _Spread(history, bad, before, since)
    taint = walk.run()
    taint.certain = taint.tainted
    if walk.has_doubts:
        taint.certain = _Spread(history, bad, before, since, is_certain=True).run().tainted
    return taint


@dataclass(slots=True)
class _OpenRead:
    """A read that has begun.

    Attributes:
        always: What was bad all the time since, of the dates that it reads.
        ever: What was bad at any time since.
    """

    access: Access
    always: Dates
    ever: Dates


class _Spread:
    """The state while accesses are gone through.

    Args:
        is_certain: Only what was bad as long as a read went on counts as read.
    """

    def __init__(
        self,
        history: AccessHistory,
        bad: Iterable[BadWrite],
        before: Mapping[Output, Dates],
        since: datetime | None,
        *,
        is_certain: bool = False,
    ) -> None:
        self.history, self.taint = history, Taint()
        self.is_certain, self.has_doubts = is_certain, False
        self.open: dict[DatasetId, dict[int, _OpenRead]] = defaultdict(dict)
        self.reading: Counter[Execution] = Counter()
        self.state: dict[DatasetId, dict[str, Dates]] = defaultdict(dict)
        self.touched: dict[Execution, dict[DatasetId, Dates]] = {}
        self.bad: dict[tuple[Execution, DatasetId], Dates] = {}
        for (task, dataset), dates in before.items():
            self._add_dates((task, dataset), dates, None)
        starts = [since] if since else []
        for bad_write in bad:
            if bad_write.at is None:
                self._add_dates((bad_write.task, bad_write.dataset), bad_write.dates, None)
                starts.append(_BEGINNING)
            else:
                key = bad_write.execution, bad_write.dataset
                self.bad[key] = self.bad.get(key, NO_DATES) | bad_write.dates
                starts.append(bad_write.at)
        self.start = min(starts, default=_BEGINNING)
        seeds = {dataset: self._held_dates(dataset) for dataset in self.state}
        for (_, dataset), dates in self.bad.items():
            seeds[dataset] = seeds.get(dataset, NO_DATES) | dates
        self.bounds = taint_bounds(history, seeds)
        self.reached = sorted(self.bounds)
        # With each edge whether its task was seen to read the input.
        self.inputs: dict[Output, list[tuple[Edge, bool]]] = defaultdict(list)
        self.passing: dict[DatasetId, list[Edge]] = defaultdict(list)
        self.orders: dict[DatasetId, list[Edge]] = {}
        for dataset in self.reached:
            for edge in history.upstream.get(dataset, ()):
                if edge[1] not in self.bounds:
                    continue
                if edge[0] in history.writes_by_task(dataset):
                    is_seen = edge[0] in history.reads_by_task(edge[1])
                    self.inputs[edge[0], dataset].append((edge, is_seen))
                else:
                    self.passing[dataset].append(edge)

    def run(self) -> Taint:
        """Go through all accesses."""
        for at, order, is_last, access in sorted(self._events(), key=itemgetter(0, 1)):
            self.has_doubts |= is_in_part(access)
            if order == _BEGIN:
                self._begin_read(access, at)
            elif order == _READ:
                self._end_read(access, at)
            elif order == _WRITE:
                self._write(access, at, is_last=is_last)
            elif access.operation is not Operation.DELETE:
                self._remove(access, at)
        passed = [
            (edge, self._passed_dates(edge, self._current(edge[1])))
            for dataset in self.reached
            for edge in self.passing.get(dataset, ())
        ]
        for edge, dates in passed:
            if dates:
                self._add_dates((edge[0], edge[2]), dates, edge)
        self.taint.tainted = {
            (task, dataset): dates
            for dataset, by in sorted(self.state.items())
            for task, dates in sorted(by.items())
            if dates
        }
        return self.taint

    def _events(self) -> Iterator[tuple[datetime, int, bool, Access]]:
        for dataset in self.reached:
            bound = self.bounds[dataset]
            for access, dates in self.history.dated_reads(dataset):
                end = access.last_at
                if end and end >= self.start and (dates is None or dates.meets(bound)):
                    begin = max(access.first_at or end, self.start)
                    if begin < end:
                        yield begin, _BEGIN, False, access
                    yield end, _READ, True, access
            for access, dates in self.history.dated_writes(dataset):
                is_removal = removes_rows(access)
                is_met = dates is None or is_removal or dates.meets(bound)
                if is_met or self.history.may_replace_all(access):
                    for at in times(access):
                        if at >= self.start:
                            order = _REMOVAL if is_removal else _WRITE
                            yield at, order, at == access.last_at, access

    def _begin_read(self, access: Access, at: datetime) -> None:
        hit = self._hit(access)
        self.open[access.dataset][id(access)] = _OpenRead(access, hit, hit)
        self.reading[self.history.execution(access)] += 1
        if hit and not self.is_certain:
            self._touch(access, hit, at)

    def _end_read(self, access: Access, at: datetime) -> None:
        hit = self._hit(access)
        if begun := self.open[access.dataset].pop(id(access), None):
            self.reading[self.history.execution(access)] -= 1
            ever, hit = begun.ever | hit, begun.always & hit
            self.has_doubts |= ever != hit
            hit = hit if self.is_certain else ever
        if hit:
            self._touch(access, hit, at)

    def _read_on(self, dataset: DatasetId, at: datetime) -> None:
        """Go on with the reads of a dataset whose bad dates are others now, and of its views."""
        datasets = [dataset, *self.passing] if self.passing else [dataset]
        for read_dataset in datasets:
            for begun in self.open.get(read_dataset, {}).values():
                hit = self._hit(begun.access)
                begun.always &= hit
                begun.ever |= hit
                if hit and not self.is_certain:
                    self._touch(begun.access, hit, at)

    def _hit(self, access: Access) -> Dates:
        """The bad dates that a read meets at this time."""
        if not self.passing and not self.state.get(access.dataset):
            return NO_DATES
        current = self._current(access.dataset)
        if not current:
            return current
        if not access.periods:
            # Of a dataset with dates it may have read others.
            is_sure = not self.history.may_choose_rows(access, all_dates=current.is_all)
            self.has_doubts |= not is_sure
            return current if is_sure or not self.is_certain else NO_DATES
        # Of a date that is read in part the bad rows may be others.
        dates = entire_dates if self.is_certain else dates_of
        return current & dates(access.periods)

    def _touch(self, access: Access, hit: Dates, at: datetime) -> None:
        run = self.history.execution(access)
        touched = self.touched.setdefault(run, {})
        touched[access.dataset] = touched.get(access.dataset, NO_DATES) | hit
        self.taint.reads[access.task, access.dataset] = BadRead(*run, access.dataset, hit, at)

    def _remove(self, access: Access, at: datetime) -> None:
        is_sure = access.status is not Status.UNKNOWN
        self.has_doubts |= not is_sure
        if is_sure or self.is_certain:
            removed = removed_dates(access, perhaps=self.is_certain)
            self._clean(access, removed, at, NO_DATES)
            self._read_on(access.dataset, at)

    def _write(self, access: Access, at: datetime, *, is_last: bool) -> None:
        run, dataset = self.history.execution(access), access.dataset
        bad, cause = self.bad.get((run, dataset), NO_DATES), None
        touched = self.touched.get(run)
        # What it writes before a read ends may be of before that read.
        self.has_doubts |= bool(touched) and self.reading[run] > 0
        for edge, is_seen in self.inputs.get((access.task, dataset), ()):
            if is_seen:
                hit = touched.get(edge[1], NO_DATES) if touched else NO_DATES
            else:
                hit = self._current(edge[1])
            if hit and (added := self._spread_to(access, edge, hit)):
                cause = cause if bad else edge
                bad |= added
        if not bad and not self.state.get(dataset):
            return
        is_sure = access.status is not Status.UNKNOWN
        self.has_doubts |= not is_sure
        if is_last:
            dates = self.history.replaced_dates(access, perhaps=self.is_certain)
            if self.history.may_replace_all(access):
                # Then what was bad before for other dates may be gone, or may not.
                self.has_doubts |= not dates.covers(self._held_dates(dataset))
                dates = ALL_DATES if self.is_certain else dates
            self._clean(access, dates, at, bad)
        if bad and (is_sure or not self.is_certain):
            self._add_dates((access.task, dataset), bad, cause)
            self.taint.runs[access.task, dataset].setdefault(run[1], at)
        self._read_on(dataset, at)

    def _spread_to(self, access: Access, edge: Edge, hit: Dates) -> Dates:
        """The dates that a write taints, as it needs these bad ones of an input."""
        mapping, written = self.history.mapping(edge), self.history.written_dates(access)
        limit = ALL_DATES if written is None else written
        if mapping.is_rule and self.history.execution(access)[1] not in mapping.exceptions:
            return mapping.affected_dates(hit) & limit
        if mapping.period is None or written is None:
            self.taint.unmapped.add(edge)
        # Of several units some are bad, and nothing tells which.
        grain = self.history.grain(access.dataset)
        is_several = grain is not None and (limit.is_all or limit.count(grain) > 1)
        self.has_doubts |= is_several
        return NO_DATES if is_several and self.is_certain else limit

    def _clean(self, access: Access, dates: Dates, at: datetime, still_bad: Dates) -> None:
        by = self.state.get(access.dataset, {})
        for task, bad in by.items():
            if not bad & dates:
                continue
            if ended := (bad & dates) - still_bad:
                output = task, access.dataset
                run = self.history.execution(access)
                self.taint.superseded.append(CleanRewrite(output, ended, *run, at))
            by[task] = bad - dates

    def _add_dates(self, output: Output, dates: Dates, cause: Edge | None) -> None:
        by = self.state[output[1]]
        by[output[0]] = by.get(output[0], NO_DATES) | dates
        self.taint.causes.setdefault(output, cause)

    def _current(self, dataset: DatasetId) -> Dates:
        """The bad dates of a dataset at this time, through views."""
        edges = self._passing_to(dataset)
        if not edges:
            return self._held_dates(dataset)
        bad: dict[DatasetId, Dates] = {}
        for _ in range(len(edges) + 1):
            changed = False
            for edge in edges:
                held = bad[edge[2]] if edge[2] in bad else self._held_dates(edge[2])
                source = bad[edge[1]] if edge[1] in bad else self._held_dates(edge[1])
                now = held | self._passed_dates(edge, source)
                changed |= now != held
                bad[edge[2]] = now
            if not changed:
                return bad[dataset]
        return ALL_DATES  # a cycle that shifts dates has no end

    def _held_dates(self, dataset: DatasetId) -> Dates:
        bad = NO_DATES
        for dates in self.state.get(dataset, {}).values():
            bad |= dates
        return bad

    def _passed_dates(self, edge: Edge, hit: Dates) -> Dates:
        """The bad dates that a view, or a task that no log shows, has from an input."""
        if not hit:
            return hit
        definition = self.history.lineage.definitions.get(edge[0])
        if not (definition and is_view(definition)):
            # It holds data of its own, and may have none of the bad ones yet.
            self.has_doubts = True
            if self.is_certain:
                return NO_DATES
        mapping = self.history.mapping(edge)
        if mapping.is_rule:
            return mapping.affected_dates(hit)
        self.taint.unmapped.add(edge)
        return ALL_DATES

    def _passing_to(self, dataset: DatasetId) -> list[Edge]:
        """The edges without data of their own that lead to a dataset, in processing order."""
        if dataset not in self.orders:
            edges: list[Edge] = []
            seen: set[DatasetId] = set()
            waiting = [(dataset, False)]
            while waiting:
                current, is_done = waiting.pop()
                if is_done:
                    edges += self.passing[current]
                elif current in self.passing and current not in seen:
                    seen.add(current)
                    waiting.append((current, True))
                    waiting += ((edge[1], False) for edge in self.passing[current])
            self.orders[dataset] = edges
        return self.orders[dataset]
