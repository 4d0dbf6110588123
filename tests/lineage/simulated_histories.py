"""Weeks of a small warehouse, run minute by minute: what is bad in it at the end is known.

Nothing here knows the rules of taint. Each table holds its units, each unit whether it is bad and
whether it was made of all that it needs. A run reads at a moment between its beginning and its end
that no log shows, and writes at its end. The logs are what an engine would have told of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.period import Grain, Period, PeriodEvidence
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Records, Run, Status

# Over the change of the month, and the day on which clocks go back.
FIRST, DAYS = date(2026, 10, 17), 24
BERLIN = ZoneInfo("Europe/Berlin")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
# The beginning of a unit, and the beginning of the next one.
Unit = tuple[datetime, datetime]
ALWAYS: Unit = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))


def midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def day_unit(day: date) -> Unit:
    return midnight(day), midnight(day) + DAY


def hour_units(start: datetime, end: datetime) -> list[Unit]:
    hours = int((end - start) / HOUR)
    return [(start + n * HOUR, start + (n + 1) * HOUR) for n in range(hours)]


@dataclass
class Content:
    """The content of a unit of a table: whether the rows of its two halves are bad."""

    morning: bool
    evening: bool
    complete: bool

    @property
    def bad(self) -> bool:
        return self.morning or self.evening


@dataclass(frozen=True)
class Job:
    """A task of the warehouse.

    Attributes:
        needs: For a unit of the output the units of the input; None where it reads all there is.
        units: The units of the output that belong to a day.
        interval: Only the orchestrator tells the dates that it writes.
        timezone: The zone of its days; empty for UTC.
        from_noon: It reads, deletes and writes its first day from noon on.
    """

    name: str
    source: str
    target: str
    needs: Callable[[Unit], list[Unit]] | None
    units: Callable[[date], list[Unit]]
    grain: Grain = Grain.DAY
    operation: Operation = Operation.INSERT_OVERWRITE
    interval: bool = False
    timezone: str = ""
    reads_dates: bool = True
    from_noon: bool = False


@dataclass(frozen=True)
class Planned:
    """A run: when it begins, reads and ends; of one that is cut no log shows how it ended."""

    job: Job
    run_id: str
    units: tuple[Unit, ...]
    begin: datetime
    read: datetime
    end: datetime
    failed: bool = False
    is_cut: bool = False

    def from_noon(self, unit: Unit) -> bool:
        return self.job.from_noon and unit == min(self.units)


@dataclass
class Warehouse:
    """The tables with their content, and the logs of their runs."""

    tables: dict[str, dict[Unit, Content]] = field(default_factory=dict)
    plan: list[Planned] = field(default_factory=list)

    def records(self) -> Records:
        accesses = [access for planned in self.plan for access in _accesses(planned)]
        runs = tuple(run for planned in self.plan for run in _runs(planned))
        return Records(accesses=tuple(accesses), runs=runs)

    def run(self, bad_runs: set[str], bad_units: Set[tuple[str, Unit]] = frozenset()) -> None:
        """Run all that is planned; what bad runs write is bad, and bad units of a table always."""
        self.tables = {planned.job.target: {} for planned in self.plan}
        moments = [(planned.read, 0, planned) for planned in self.plan]
        moments += [(planned.end, 1, planned) for planned in self.plan]
        begun: dict[str, dict[Unit, Content]] = {}
        for _, is_end, planned in sorted(moments, key=lambda moment: moment[:2]):
            if planned.failed:
                continue
            if not is_end:
                begun[planned.run_id] = {unit: self._made(planned, unit) for unit in planned.units}
                continue
            table = self.tables[planned.job.target]
            if planned.job.target == "snap":
                table.clear()
            for unit, content in begun[planned.run_id].items():
                bad = planned.run_id in bad_runs or (planned.job.target, unit) in bad_units
                before = table.get(unit, Content(morning=False, evening=False, complete=False))
                made = replace(
                    content, morning=content.morning or bad, evening=content.evening or bad
                )
                if planned.from_noon(unit):
                    made = replace(
                        made, morning=before.morning, complete=made.complete and before.complete
                    )
                elif planned.job.operation is Operation.INSERT and not planned.job.from_noon:
                    made = replace(
                        made,
                        morning=made.morning or before.morning,
                        evening=made.evening or before.evening,
                    )
                table[unit] = made

    def _made(self, planned: Planned, unit: Unit) -> Content:
        """The content that a run makes of its input, as that is now."""
        source = self.tables.get(planned.job.source)
        if source is None:
            return _content(bad=False, complete=True)
        if planned.job.needs is None:
            return _content(bad=any(content.bad for content in source.values()), complete=True)
        first = min((start for start, _ in self._ever(planned.job.source)), default=None)
        needed = [need for need in planned.job.needs(unit) if first and need[0] >= first]
        read = [source[need] for need in needed if need in source]
        is_bad = [one.evening if planned.from_noon(unit) else one.bad for one in read]
        return _content(bad=any(is_bad), complete=all(need in source for need in needed))

    def _ever(self, table: str) -> Iterator[Unit]:
        """The units that are written at any time: what was before the logs is no gap."""
        for planned in self.plan:
            if planned.job.target == table and not planned.failed:
                yield from planned.units


def _content(*, bad: bool, complete: bool) -> Content:
    return Content(bad, bad, complete)


def warehouse(random: Random) -> Warehouse:
    """A warehouse with its plan."""
    built = Warehouse()
    jobs = _jobs(random)
    for job in jobs:
        built.plan += _plan(random, job)
    return built


def _jobs(random: Random) -> list[Job]:
    zone = random.choice(["", "Europe/Berlin"])
    days = Job(
        *("load", "outside", "days", lambda unit: [unit], lambda day: [day_unit(day)]),
        operation=random.choice([Operation.INSERT_OVERWRITE, Operation.INSERT]),
        interval=False,
        timezone=zone,
    )
    if days.operation is Operation.INSERT:
        days = Job(**{**_fields(days), "interval": random.random() < 0.5})
    hours = Job(
        *("hourly", "outside", "hours", lambda unit: [unit]),
        lambda day: hour_units(*day_unit(day)),
        Grain.HOUR,
    )
    choices = {
        "copy": lambda: Job(
            *("copy", "days", "copies", lambda unit: [unit], lambda day: [day_unit(day)]),
            operation=random.choice(
                [Operation.INSERT_OVERWRITE, Operation.INSERT, Operation.MERGE]
            ),
        ),
        "second": lambda: Job(
            *("second", "days", "copies", lambda unit: [unit], lambda day: [day_unit(day)])
        ),
        "evening": lambda: Job(
            *("evening", "days", "copies", lambda unit: [unit], lambda day: [day_unit(day)]),
            operation=Operation.INSERT,
            from_noon=True,
        ),
        "to_date": lambda: Job(
            *("to_date", "days", "totals", _month_to_date, lambda day: [day_unit(day)])
        ),
        "week": lambda: Job(*("week", "days", "weeks", _week, lambda day: [day_unit(day)])),
        "local": lambda: Job(
            *("local", "hours", "locals", _local_day, lambda day: [day_unit(day)])
        ),
        "utc": lambda: Job(
            *("utc", "hours", "utcs", lambda unit: hour_units(*unit), lambda day: [day_unit(day)])
        ),
        "snap": lambda: Job(
            *("snap", "days", "snap", None, lambda day: [ALWAYS]),
            interval=random.random() < 0.5,
            reads_dates=False,
        ),
        "report": lambda: Job(
            *("report", "snap", "reports", None, lambda day: [day_unit(day)]), reads_dates=False
        ),
    }
    names = random.sample(sorted(choices), random.randint(2, 5))
    if "report" in names and "snap" not in names:
        names.append("snap")
    jobs = [choices[name]() for name in names]
    sources = {job.source for job in jobs}
    return [*([days] if "days" in sources else []), *([hours] if "hours" in sources else []), *jobs]


def _fields(job: Job) -> dict[str, object]:
    return {name: getattr(job, name) for name in Job.__dataclass_fields__}


def _month_to_date(unit: Unit) -> list[Unit]:
    day = unit[0].date()
    return [day_unit(day.replace(day=n)) for n in range(1, day.day + 1)]


def _week(unit: Unit) -> list[Unit]:
    return [day_unit(unit[0].date() - n * DAY) for n in range(6, -1, -1)]


def _local_day(unit: Unit) -> list[Unit]:
    day = unit[0].date()
    start = datetime(day.year, day.month, day.day, tzinfo=BERLIN).astimezone(UTC)
    next_day = day + DAY
    end = datetime(next_day.year, next_day.month, next_day.day, tzinfo=BERLIN).astimezone(UTC)
    return hour_units(start, end)


def _plan(random: Random, job: Job) -> Iterator[Planned]:
    delay = timedelta(minutes=random.randint(30, 600))
    slow = random.choice([5, 30, 240])
    number = 0
    for n in range(DAYS):
        day = FIRST + n * DAY
        if job.grain is Grain.HOUR:
            for unit in job.units(day):
                if random.random() > 0.01:
                    number += 1
                    at = unit[1] + timedelta(minutes=2)
                    yield _planned(random, job, number, (unit,), at, 5)
            if random.random() < 0.1:  # late data
                number += 1
                unit = random.choice(job.units(day))
                at = unit[1] + timedelta(hours=random.randint(1, 60))
                yield _planned(random, job, number, (unit,), at, 5)
            continue
        if random.random() < 0.06:
            continue
        tries = 1 + (random.random() < 0.12) + (random.random() < 0.04)
        for attempt in range(tries):
            length = random.randint(2, 4) if attempt and random.random() < 0.4 else 1
            units = [
                unit for back in range(min(length, n + 1)) for unit in job.units(day - back * DAY)
            ]
            late = random.choice([0, 1, 4]) * DAY + attempt * HOUR if attempt else timedelta(0)
            number += 1
            at = midnight(day) + DAY + delay + late
            yield _planned(random, job, number, tuple(dict.fromkeys(units)), at, slow)


def _planned(
    random: Random, job: Job, number: int, units: tuple[Unit, ...], at: datetime, slow: int
) -> Planned:
    took = timedelta(minutes=random.randint(1, slow))
    read = at + timedelta(seconds=random.randint(0, int(took.total_seconds())))
    failed = random.random() < 0.04
    cut = random.random() < 0.02
    return Planned(job, f"{job.name}-{number}", units, at, read, at + took, failed, cut)


def _status(planned: Planned) -> Status:
    if planned.is_cut:
        return Status.UNKNOWN
    return Status.FAILED if planned.failed else Status.OK


def _runs(planned: Planned) -> Iterator[Run]:
    job = planned.job
    day = min(start for start, _ in planned.units)
    end = max(end for _, end in planned.units)
    if job.target == "snap":
        day = midnight(planned.begin.date() - DAY)
        end = day + DAY
    nominal = job.interval
    if nominal and job.timezone:
        zone = ZoneInfo(job.timezone)
        day, end = (at.replace(tzinfo=zone).astimezone(UTC) for at in (day, end))
    yield Run(
        *(planned.run_id, job.name, "spark", planned.begin, planned.end, _status(planned)),
        nominal_start=day if nominal else None,
        nominal_end=end if nominal else None,
        timezone=job.timezone or None,
    )


def _accesses(planned: Planned) -> Iterator[Access]:
    job = planned.job
    needed = [unit for target in planned.units for unit in (job.needs(target) if job.needs else ())]
    if job.source != "outside":
        grain = Grain.HOUR if job.source == "hours" else Grain.DAY
        dated = job.reads_dates and job.needs is not None
        yield _access(
            planned,
            job.source,
            Direction.READ,
            Operation.SELECT,
            _periods(needed, grain, from_noon=job.from_noon) if dated else (),
        )
    is_dated = not job.interval and job.target != "snap"
    written = _periods(planned.units, job.grain, from_noon=job.from_noon) if is_dated else ()
    if job.from_noon:
        yield _access(planned, job.target, Direction.WRITE, Operation.DELETE, written)
    yield _access(planned, job.target, Direction.WRITE, job.operation, written)


def _periods(
    units: tuple[Unit, ...] | list[Unit], grain: Grain, *, from_noon: bool
) -> tuple[Period, ...]:
    """The units, joined where one follows upon the other; the first in part from noon on."""
    if from_noon:
        first = min(units)
        [half] = _periods([first], grain, from_noon=False)
        rest = _periods([unit for unit in units if unit != first], grain, from_noon=False)
        return replace(half, in_part=True), *rest
    merged: list[Unit] = []
    for start, end in sorted(set(units)):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(Period(start, end, grain, PeriodEvidence.PARTITION, "ds") for start, end in merged)


def _access(
    planned: Planned,
    table: str,
    direction: Direction,
    operation: Operation,
    periods: tuple[Period, ...],
) -> Access:
    return Access(
        *(planned.job.name, planned.run_id, DatasetId("wh", table), Kind.TABLE, direction),
        operation,
        planned.job.name,
        first_at=planned.begin,
        last_at=planned.end,
        status=_status(planned),
        periods=periods,
    )
