"""A plain model of taint and states: every day and every run expanded, walked one by one.

It is slow on purpose, and shares nothing with `lineage.taint` and `lineage.entity_states` but the
records: days are dates in sets, and rules are read off each run again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache

from dbt_graft.analysis.dates.bad_writes import BadWrite
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import Dates, hour_of
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Status, Subtype

DOMAIN = [date(2026, 5, 1) + timedelta(n) for n in range(300)]
EVERYTHING = frozenset(DOMAIN)
# Far enough from the ends of the domain that no offset of a history reaches them.
COMPARED = frozenset(day for day in DOMAIN if date(2026, 8, 1) <= day < date(2026, 12, 1))
Days = frozenset[date]
NOTHING: Days = frozenset()
Edge = tuple[str, DatasetId, DatasetId]


_HOURS = [(day, hour_of(datetime(day.year, day.month, day.day, tzinfo=UTC))) for day in DOMAIN]


def days_of(dates: Dates) -> Days:
    """The days of the domain in dates of ours."""
    return frozenset(
        day for day, hour in _HOURS if any(start <= hour < end for start, end in dates.ranges)
    )


def unit(day: date, grain: Grain) -> int:
    if grain is Grain.MONTH:
        return day.year * 12 + day.month
    return day.toordinal()


@cache
def period_days_of(periods: tuple[Period, ...]) -> Days:
    found = set()
    for period in periods:
        units = {
            unit(day, period.grain)
            for day in DOMAIN
            if (period.start is None or period.start.date() <= day)
            and (period.end is None or day < period.end.date())
        }
        found |= {day for day in DOMAIN if unit(day, period.grain) in units}
    return frozenset(found)


def period_days(access: Access) -> Days:
    return period_days_of(access.periods)


def entire_days(access: Access) -> Days:
    """The days of which all is meant: a part of a day is never all of it."""
    return period_days_of(tuple(period for period in access.periods if not period.in_part))


@dataclass
class PlainMapping:
    period: Grain
    first: int
    last: int
    input_grain: Grain
    exceptions: list[str] = field(default_factory=list)
    known: dict[tuple[Days, bool], Days] = field(default_factory=dict)

    def affected(self, hit: Days) -> Days:
        key = (hit, False)
        if key not in self.known:
            self.known[key] = self._affected(hit)
        return self.known[key]

    def needed(self, output: Days) -> Days:
        key = (output, True)
        if key not in self.known:
            self.known[key] = self._needed(output)
        return self.known[key]

    def _affected(self, hit: Days) -> Days:
        bad = {unit(day, self.input_grain) for day in hit}
        wide = {day for day in DOMAIN if unit(day, self.input_grain) in bad}
        units = {unit(day, self.period) for day in wide}
        return frozenset(
            day
            for day in DOMAIN
            if any(unit(day, self.period) + n in units for n in range(self.first, self.last + 1))
        )

    def _needed(self, output: Days) -> Days:
        units = {
            unit(day, self.period) + n for day in output for n in range(self.first, self.last + 1)
        }
        found = {day for day in DOMAIN if unit(day, self.period) in units}
        wide = {unit(day, self.input_grain) for day in found}
        return frozenset(day for day in DOMAIN if unit(day, self.input_grain) in wide)


class Plain:
    """Rules of taint and states, read off the accesses again for each question."""

    def __init__(self, lineage: Lineage) -> None:
        self.lineage = lineage
        self.done = sorted(
            (a for a in lineage.history.accesses if a.status is not Status.FAILED and a.last_at),
            key=lambda a: (a.last_at, a.task, a.run_id, a.shape_id),
        )
        self.edges = sorted(
            {(f.task, f.source, f.target) for f in lineage.flows if f.definition is None}
        )
        self._dates: dict[int, Days | None] = {}
        self._found: dict[tuple[DatasetId, Direction], list[Access]] = {}
        self._rules: dict[Edge, PlainMapping | None] = {}

    def reads(self, dataset: DatasetId) -> list[Access]:
        return self._of(dataset, Direction.READ)

    def writes(self, dataset: DatasetId) -> list[Access]:
        return self._of(dataset, Direction.WRITE)

    def _of(self, dataset: DatasetId, direction: Direction) -> list[Access]:
        if not self._found:
            for access in self.done:
                self._found.setdefault((access.dataset, access.direction), []).append(access)
        return self._found.get((dataset, direction), [])

    def grain(self, dataset: DatasetId) -> Grain | None:
        if dataset in self.lineage.history.declared_dates:
            return self.lineage.history.declared_dates[dataset].period
        for found in (self.writes(dataset), self.reads(dataset)):
            counted = Counter(p.grain for a in found for p in a.periods)
            if counted:
                return max(counted, key=lambda grain: (counted[grain], grain))
        return None

    def rule(self, edge: Edge) -> PlainMapping | None:
        if edge not in self._rules:
            self._rules[edge] = self._rule(edge)
        return self._rules[edge]

    def _rule(self, edge: Edge) -> PlainMapping | None:
        _, source, target = edge
        grain, input_grain = self.grain(target), self.grain(source)
        declared = self.lineage.history.declared_dates.get(target)
        if declared and source in declared.reads:
            offsets = declared.reads[source]
            assert not isinstance(offsets, Grain)
            first, last = offsets
            mapping = self._agreed(edge, grain, input_grain)
            wide = mapping.input_grain if mapping else None
            return PlainMapping(declared.period, first or 0, last or 0, wide or declared.period)
        return self._agreed(edge, grain, input_grain)

    def _agreed(
        self, edge: Edge, grain: Grain | None, input_grain: Grain | None
    ) -> PlainMapping | None:
        task, source, target = edge
        runs: dict[str, Days] = {}
        for write in self.writes(target):
            is_removal = write.operation in (Operation.DELETE, Operation.TRUNCATE, Operation.DROP)
            if write.task == task and write.periods and not is_removal:
                runs[write.run_id] = runs.get(write.run_id, NOTHING) | period_days(write)
        observed: list[tuple[str, Days | None, Days]] = []
        for run_id, written in runs.items():
            reads = [a for a in self.reads(source) if (a.task, a.run_id) == (task, run_id)]
            if not reads:
                continue
            undated = any(not a.periods for a in reads)
            read = None if undated else frozenset().union(*map(period_days, reads))
            observed.append((run_id, read, written))
        observed.reverse()
        if grain is None or input_grain is None or not observed:
            return None
        for period in [grain] + ([Grain.MONTH] if grain is Grain.DAY else []):
            offsets = [
                None
                if read is None
                else (
                    unit(min(read), period) - unit(min(written), period),
                    unit(max(read), period) - unit(max(written), period),
                )
                for _, read, written in observed
            ]
            counted = Counter(offsets)
            most = max(counted, key=lambda one: (counted[one], -offsets.index(one)))
            if most and counted[most] >= 3 and counted[most] * 2 > len(observed):
                others = [
                    run_id
                    for (run_id, _, _), offset in zip(observed, offsets, strict=True)
                    if offset != most
                ]
                return PlainMapping(period, *most, input_grain, others)
        return None

    def written(self, access: Access) -> Days | None:
        if id(access) not in self._dates:
            self._dates[id(access)] = self._written(access)
        return self._dates[id(access)]

    def _written(self, access: Access) -> Days | None:
        if access.periods:
            return period_days(access)
        pruned = {p.evidence for a in self.reads(access.dataset) for p in a.periods}
        dated = any(a.periods for a in self.writes(access.dataset)) or bool(
            pruned & {PeriodEvidence.PARTITION, PeriodEvidence.LOCATION}
        )
        if access.operation is Operation.CREATE_TABLE_AS:
            return EVERYTHING
        if (
            access.operation is Operation.INSERT_OVERWRITE
            and access.partitions is None
            and not dated
        ):
            return EVERYTHING
        found: Days | None = None
        for edge in self.edges:
            if edge[0] != access.task or edge[2] != access.dataset:
                continue
            reads = [
                a for a in self.reads(edge[1]) if (a.task, a.run_id) == (access.task, access.run_id)
            ]
            rule = self.rule(edge)
            if reads and all(a.periods for a in reads) and rule:
                days = rule.affected(frozenset().union(*map(period_days, reads)))
                found = days if found is None else found & days
        return found

    def is_removal(self, access: Access) -> bool:
        return access.operation in (Operation.DELETE, Operation.TRUNCATE, Operation.DROP)

    def replaced(self, access: Access, *, perhaps: bool = False) -> Days:
        """The days whose rows a write takes the place of, or may take the place of."""
        written = self.written(access) or NOTHING
        if access.operation in (
            Operation.INSERT_OVERWRITE,
            Operation.CREATE_TABLE_AS,
            Operation.MERGE,
        ):
            return entire_days(access) if access.periods and not perhaps else written
        removed: Days = NOTHING
        for write in self.writes(access.dataset):
            same = (write.task, write.run_id) == (access.task, access.run_id)
            if same and self.is_removal(write) and write.last_at <= access.last_at:  # type: ignore[operator]
                removed |= self.removed(write, perhaps=perhaps)
        return removed & written

    def may_be_all(self, access: Access) -> bool:
        """Whether an overwrite names no partition, and its dates, if any, are those of its run."""
        if access.operation is not Operation.INSERT_OVERWRITE or access.partitions is not None:
            return False
        beside = [*self.writes(access.dataset), *self.reads(access.dataset)]
        named = {period.evidence for one in beside for period in one.periods}
        by_rows = any(one.partitions is not None for one in beside)
        return not access.periods or not (named - {PeriodEvidence.INTERVAL} or by_rows)

    def removed(self, access: Access, *, perhaps: bool = False) -> Days:
        if access.periods:
            return period_days(access) if perhaps else entire_days(access)
        return NOTHING if access.operation is Operation.DELETE else EVERYTHING

    def steps(self, start: datetime | None) -> list[tuple[datetime, int, bool, Access]]:
        """All accesses since a start in the order of time.

        At one time reads begin, then others end, then rows are removed, then written.
        """
        found = []
        for dataset in sorted(self.lineage.datasets):
            for access in self.reads(dataset):
                assert access.last_at
                begin = max(access.first_at or access.last_at, start or access.last_at)
                if start is None:
                    begin = access.first_at or access.last_at
                if begin < access.last_at:
                    found.append((begin, -1, False, access))
                found.append((access.last_at, 0, True, access))
            for access in self.writes(dataset):
                order = 1 if self.is_removal(access) else 2
                found += [(at, order, at == access.last_at, access) for at in _times(access)]
        return sorted(found, key=lambda one: one[:2])

    def taint(  # noqa: C901 (one plain walk)
        self, bad: Iterable[BadWrite], *, certain: bool = False
    ) -> dict[tuple[str, DatasetId], Days]:
        """The days of each output that may still be bad at the end.

        Args:
            certain: Only what is bad whenever a read took place between its beginning and its end.
        """
        bad = list(bad)
        state: dict[tuple[str, DatasetId], set[date]] = {}
        for write in bad:
            if write.at is None:
                state.setdefault((write.task, write.dataset), set()).update(days_of(write.dates))
        touched: dict[tuple[str, str, DatasetId], set[date]] = {}
        start = min((one.at for one in bad if one.at), default=None)
        if any(one.at is None for one in bad):
            start = None
        going_on: dict[int, tuple[Access, list[Days]]] = {}

        def meet(access: Access) -> Days:
            hit = self._bad_now(state, access.dataset, certain=certain)
            if not access.periods:
                is_sure = not self.may_choose(access, hit)
                return hit if is_sure or not certain else NOTHING
            return hit & (entire_days(access) if certain else period_days(access))

        for at, order, is_last, access in self.steps(start):
            if start and at < start:
                continue
            for other, met in going_on.values():
                met.append(meet(other))
                if not certain:
                    key = (other.task, other.run_id, other.dataset)
                    touched.setdefault(key, set()).update(met[-1])
            if order == -1:
                going_on[id(access)] = (access, [meet(access)])
                if not certain:
                    key = (access.task, access.run_id, access.dataset)
                    touched.setdefault(key, set()).update(meet(access))
            elif order == 0:
                _, met = going_on.pop(id(access), (access, []))
                met.append(meet(access))
                hits = frozenset.intersection(*met) if certain else frozenset().union(*met)
                key = (access.task, access.run_id, access.dataset)
                touched.setdefault(key, set()).update(hits)
            elif order == 1:
                if access.operation is not Operation.DELETE:
                    for (_, dataset), days in state.items():
                        if dataset == access.dataset:
                            days -= self.removed(access, perhaps=certain)
            else:
                found = self._spread(access, touched, state, bad, certain=certain)
                if is_last:
                    replaced = self.replaced(access, perhaps=certain)
                    if certain and self.may_be_all(access):
                        replaced = EVERYTHING
                    for (_, dataset), days in state.items():
                        if dataset == access.dataset:
                            days -= replaced
                state.setdefault((access.task, access.dataset), set()).update(found)
        for task, source, target in self.edges:
            if self._passes((task, source, target), certain=certain):
                hit = self._bad_now(state, source, certain=certain)
                rule = self.rule((task, source, target))
                if hit:
                    days = rule.affected(hit) if rule else EVERYTHING
                    state.setdefault((task, target), set()).update(days)
        return {output: frozenset(days) for output, days in state.items() if days}

    def _spread(
        self,
        access: Access,
        touched: dict[tuple[str, str, DatasetId], set[date]],
        state: dict[tuple[str, DatasetId], set[date]],
        bad: Iterable[BadWrite],
        *,
        certain: bool,
    ) -> Days:
        written = self.written(access)
        limit = EVERYTHING if written is None else written
        days: set[date] = set()
        for write in bad:
            if write.at and (write.task, write.run, write.dataset) == (
                access.task,
                access.run_id,
                access.dataset,
            ):
                days |= days_of(write.dates)
        for edge in self.edges:
            if edge[0] != access.task or edge[2] != access.dataset:
                continue
            if any(a.task == access.task for a in self.reads(edge[1])):
                hit = frozenset(touched.get((access.task, access.run_id, edge[1]), ()))
            else:
                hit = self._bad_now(state, edge[1], certain=certain)
            if not hit:
                continue
            rule = self.rule(edge)
            if rule and access.run_id not in rule.exceptions:
                days |= rule.affected(hit) & limit
            elif not certain or self._is_one_unit(access, limit):
                days |= limit
        return frozenset(days)

    def may_choose(self, access: Access, bad: Days) -> bool:
        """Whether a read that names no dates may be of other rows than the bad ones."""
        edges = [
            edge
            for edge in self.lineage.column_edges
            if (edge.task, edge.from_dataset) == (access.task, access.dataset)
        ]
        is_choice = not edges or any(edge.subtype is Subtype.FILTER for edge in edges)
        added = [
            write
            for write in self.writes(access.dataset)
            if not self.is_removal(write)
            and write.operation not in (Operation.INSERT_OVERWRITE, Operation.CREATE_TABLE_AS)
        ]
        is_mixed = bool(added) if bad == EVERYTHING else self.grain(access.dataset) is not None
        return is_choice and is_mixed

    def _is_one_unit(self, access: Access, days: Days) -> bool:
        grain = self.grain(access.dataset)
        return grain is None or len({unit(day, grain) for day in days}) == 1

    def _passes(self, edge: tuple[str, DatasetId, DatasetId], *, certain: bool) -> bool:
        """Whether bad data goes over an edge by itself: no log shows that its task wrote."""
        definition = self.lineage.definitions.get(edge[0])
        is_view = definition is not None and definition.kind is DefinitionKind.VIEW
        is_seen = any(access.task == edge[0] for access in self.writes(edge[2]))
        return not is_seen and (is_view or not certain)

    def _bad_now(
        self,
        state: dict[tuple[str, DatasetId], set[date]],
        dataset: DatasetId,
        *,
        certain: bool,
    ) -> Days:
        found = {day for (_, one), days in state.items() if one == dataset for day in days}
        for edge in self.edges:
            if edge[2] == dataset and self._passes(edge, certain=certain):
                hit = self._bad_now(state, edge[1], certain=certain)
                rule = self.rule(edge)
                if hit:
                    found |= rule.affected(hit) if rule else EVERYTHING
        return frozenset(found)

    def states(self, dataset: DatasetId) -> dict[str, Days]:  # noqa: C901 (one plain walk)
        """The days of a dataset that are written, partial and superseded at the end."""
        dated = {
            id(a): days
            for a in self.writes(dataset)
            if not self.is_removal(a) and (days := self.written(a)) and days != EVERYTHING
        }
        then: dict[DatasetId, list[tuple[datetime, Days]]] = {}
        needs = []
        for edge in self.edges if dated else ():
            rule = self.rule(edge)
            if edge[2] == dataset and rule and any(a.periods for a in self.writes(edge[1])):
                needs.append((edge, rule))
        there: dict[DatasetId, set[date]] = {edge[1]: set() for edge, _ in needs}
        held: dict[date, set[str]] = {}
        partial: set[date] = set()
        superseded: set[date] = set()
        listed = [*((a, False) for one in sorted(there) for a in self.writes(one))]
        listed += [(a, True) for a in self.writes(dataset)]
        for access, is_own in sorted(listed, key=lambda one: one[0].last_at):  # type: ignore[arg-type, return-value]
            assert access.last_at
            if self.is_removal(access):
                gone = NOTHING if access.operation is Operation.DELETE else self.removed(access)
                if not is_own:
                    there[access.dataset] -= gone
                    known = frozenset(there[access.dataset])
                    then.setdefault(access.dataset, []).append((access.last_at, known))
                elif dated:
                    partial -= gone
                    for day in gone:
                        held.pop(day, None)
                continue
            days = self.written(access) or NOTHING
            if not is_own:
                there[access.dataset] |= days
                known = frozenset(there[access.dataset])
                then.setdefault(access.dataset, []).append((access.last_at, known))
                continue
            if not dated:
                at = access.last_at
                assert at
                declared = self.lineage.history.declared_dates.get(dataset)
                grain = declared.period if declared else Grain.DAY
                days = frozenset(d for d in DOMAIN if unit(d, grain) == unit(at.date(), grain))
            elif days == EVERYTHING:
                continue
            for day in days:
                others = held.get(day, set()) - {access.run_id}
                if dated and day in self.replaced(access):
                    if others:
                        superseded.add(day)
                    held[day] = set()
                held.setdefault(day, set()).add(access.run_id)
            partial -= days if not access.periods or not dated else entire_days(access)
            for edge, rule in needs:
                if edge[0] != access.task:
                    continue
                first = min(
                    min(known)
                    for a in self.writes(edge[1])
                    if not self.is_removal(a) and (known := self.written(a)) and known != EVERYTHING
                )
                begun = min(
                    (
                        a.first_at or a.last_at
                        for a in self.reads(edge[1])
                        if (a.task, a.run_id) == (access.task, access.run_id)
                    ),
                    default=access.last_at,
                )
                there_then: Days = NOTHING
                for at, known in then.get(edge[1], ()):
                    if at <= min(begun, access.last_at):
                        there_then = known
                missing = {d for d in rule.needed(days) if d >= first} - there_then
                partial |= rule.affected(frozenset(missing)) & days
                if access.run_id in rule.exceptions:
                    reads = [
                        a
                        for a in self.reads(edge[1])
                        if (a.task, a.run_id) == (access.task, access.run_id)
                    ]
                    if all(a.periods for a in reads):
                        read = frozenset().union(*map(period_days, reads))
                        if {d for d in read if d >= first} - there_then:
                            partial |= days
        return {
            "written": frozenset(held),
            "partial": frozenset(partial),
            "superseded": frozenset(superseded),
        }


def _times(access: Access) -> list[datetime]:
    assert access.last_at
    first = access.first_at or access.last_at
    return (
        [first, access.last_at]
        if access.statements > 1 and first < access.last_at
        else [access.last_at]
    )
