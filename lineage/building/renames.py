"""Renames: what a table got under a former name belongs to the name it ends up with.

`SELECT … INTO stage` and `sp_rename stage, final` load `final`: the accesses and column edges of
`stage` become those of `final`, and `stage` is a former name of it and no dataset. The same holds
over several runs and tasks (`ALTER TABLE … RENAME`, `ALTER SCHEMA … TRANSFER`).

A name that another table takes over stays a dataset of its own: where a run renames `t` to `t_old`
and `new` to `t`, what was loaded into `new` is loaded into `t`, and `t_old` has the rows that `t`
had. Where two tables exchange their names, the one that was loaded is loaded under its new name.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise

from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.history import RunKey
from dbt_graft.lineage.records import Access, ColumnEdge, Direction, Status

_BEGINNING = datetime.min.replace(tzinfo=UTC)


@frozen
class FollowedRenames:
    """Accesses and column edges under the names that tables end up with.

    Attributes:
        former_names: For each dataset the names that it had before, sorted.
        dead: Former names that nothing has any more.
    """

    accesses: tuple[Access, ...]
    column_edges: Sequence[ColumnEdge]
    former_names: Mapping[DatasetId, tuple[DatasetId, ...]] = field(default_factory=dict)
    dead: Mapping[DatasetId, DatasetId] = field(default_factory=dict)


@frozen
class _Event:
    """A table is created, renamed or dropped.

    Attributes:
        name: The table that is there before, or that is created.
        new: What it is renamed to.
    """

    at: datetime
    name: DatasetId
    new: DatasetId | None = None
    created: bool = False


@dataclass(slots=True)
class _Table:
    """A table in a run: the names that it had, each with the time at which it got it.

    Attributes:
        existed: It was there before the run.
        dropped: The run dropped it.
    """

    names: list[tuple[DatasetId, datetime]]
    existed: bool
    dropped: bool = False

    @property
    def start(self) -> DatasetId:
        """The first of its names."""
        return self.names[0][0]

    @property
    def end(self) -> DatasetId:
        """The last of its names."""
        return self.names[-1][0]

    @property
    def since(self) -> datetime:
        """The time at which it got the last of its names."""
        return self.names[-1][1]


@frozen
class _Period:
    """From when to when a name stood for a table that was renamed to `target` then."""

    until: datetime
    since: datetime
    target: DatasetId


_Periods = dict[DatasetId, list[_Period]]


def follow_renames(
    accesses: Sequence[Access], column_edges: Sequence[ColumnEdge]
) -> FollowedRenames:
    """Accesses and column edges with former names replaced by the names of today."""
    lasting = [a for a in accesses if a.kind is not Kind.TEMPORARY and a.first_at is not None]
    renamed = {a.dataset for a in lasting if a.operation.renames}
    if not renamed:
        return FollowedRenames(tuple(accesses), column_edges)
    involved = [a for a in lasting if a.dataset in renamed]
    runs = {
        run: _tables(events) for run, events in _events(involved).items() if _any_renamed(events)
    }
    ended = _end_times(involved)
    periods, exchanged = _periods(runs, _loads_by_run(involved), ended)
    present: list[Access] = []
    targets: dict[tuple[str, str, DatasetId], list[DatasetId]] = defaultdict(list)
    for access in accesses:
        key = (access.task, access.shape_id, access.dataset)
        for now in _rename_access(access, periods, exchanged):
            present.append(now)
            if now.dataset not in targets[key]:
                targets[key].append(now.dataset)
    alive = {a.dataset for a in present if a.dataset in periods and _is_alive(a, ended)}
    dead = {
        name: _today(name, group[-1].until, periods)
        for name, group in periods.items()
        if name not in alive
    }
    former: dict[DatasetId, set[DatasetId]] = defaultdict(set)
    for name, group in periods.items():
        for period in group:
            former[_today(name, period.until, periods)].add(name)
    return FollowedRenames(
        accesses=tuple(
            replace(a, dataset=dead[a.dataset]) if a.dataset in dead else a
            for a in present
            if a.dataset not in dead or a.first_at is None
        ),
        column_edges=tuple(
            replace(edge, to_dataset=to, from_dataset=source)
            for edge in column_edges
            for to in targets.get((edge.task, edge.shape_id, edge.to_dataset), [edge.to_dataset])
            for source in targets.get(
                (edge.task, edge.shape_id, edge.from_dataset), [edge.from_dataset]
            )
        ),
        former_names={
            name: tuple(sorted(before - {name})) for name, before in sorted(former.items())
        },
        dead=dead,
    )


def _events(accesses: Iterable[Access]) -> dict[RunKey, list[_Event]]:
    """The tables that each run creates, renames and drops, in order, without failed attempts."""
    by_run: dict[RunKey, list[_Event]] = defaultdict(list)
    renames: dict[tuple[str, str, str], dict[Direction, Access]] = defaultdict(dict)
    for access in accesses:
        if access.status is Status.FAILED:
            continue
        run = (access.task, access.run_id)
        if access.operation.renames:
            renames[*run, access.shape_id][access.direction] = access
        elif access.direction is Direction.WRITE:
            creates, removes = access.operation.creates, access.operation.removes
            if creates or removes:
                by_run[run] += [
                    _Event(at, access.dataset, created=creates) for at in _times(access)
                ]
    for (task, run_id, _), sides in renames.items():
        if len(sides) == len(Direction):
            old, new = sides[Direction.READ], sides[Direction.WRITE]
            by_run[task, run_id] += [_Event(at, old.dataset, new.dataset) for at in _times(new)]
    return {run: sorted(events, key=lambda event: event.at) for run, events in by_run.items()}


def _times(access: Access) -> list[datetime]:
    times = [access.first_at] if access.statements == 1 else [access.first_at, access.last_at]
    return sorted({at for at in times if at})


def _any_renamed(events: Iterable[_Event]) -> bool:
    return any(event.new for event in events)


def _tables(events: Iterable[_Event]) -> list[_Table]:
    """The tables of a run, each with all names that it had."""
    tables: list[_Table] = []
    named: dict[DatasetId, _Table] = {}

    def add_table(name: DatasetId, *, existed: bool, at: datetime) -> _Table:
        tables.append(_Table([(name, at)], existed))
        return tables[-1]

    for event in events:
        if event.created:
            named[event.name] = add_table(event.name, existed=False, at=event.at)
            continue
        table = named.pop(event.name, None)
        table = table or add_table(event.name, existed=True, at=_BEGINNING)
        if event.new:
            table.names.append((event.new, event.at))
            named[event.new] = table
        else:
            table.dropped = True
    return tables


def _periods(
    runs: Mapping[RunKey, Sequence[_Table]],
    loaded: Mapping[RunKey, set[DatasetId]],
    ended: Mapping[DatasetId, list[datetime]],
) -> tuple[_Periods, set[tuple[RunKey, DatasetId]]]:
    """The periods in which a name stood for a table renamed later, and the exchanged tables.

    The second are the names under which the table that was not loaded went, by run.
    """
    taken = _taken_by_rename(runs)
    periods: _Periods = defaultdict(list)
    exchanged = set()
    for run, tables in runs.items():
        ends = {table.end: table for table in tables if not table.dropped}
        for table in tables:
            if table.dropped or table.start == table.end:
                continue
            successor = ends.get(table.start) if table.existed else None
            if successor and successor.existed and successor.start == table.end:
                loads = table.start in loaded[run], table.end in loaded[run]
                published, swapped_back = loads == (True, False), loads == (False, True)
            else:
                later = table.existed and any(at > table.since for at in taken[table.start])
                published, swapped_back = not (successor or later), False
            if swapped_back:
                exchanged |= {(run, name) for name, _ in table.names}
            if published:
                _add_periods(periods, table, ended)
    for group in periods.values():
        group.sort(key=lambda period: period.until)
    return dict(periods), exchanged


def _add_periods(
    periods: _Periods, table: _Table, ended: Mapping[DatasetId, list[datetime]]
) -> None:
    for (name, since), (_, until) in pairwise(table.names):
        if since == _BEGINNING:
            since = max((at for at in ended[name] if at < until), default=_BEGINNING)
        periods[name].append(_Period(until, since, table.end))


def _loads_by_run(accesses: Iterable[Access]) -> dict[RunKey, set[DatasetId]]:
    """The names into which each run put data."""
    loaded: dict[RunKey, set[DatasetId]] = defaultdict(set)
    for access in accesses:
        if access.direction is Direction.WRITE and access.operation.brings_data:
            loaded[access.task, access.run_id].add(access.dataset)
    return loaded


def _taken_by_rename(runs: Mapping[RunKey, Sequence[_Table]]) -> dict[DatasetId, list[datetime]]:
    """The times at which each name was given to a table that had another one before."""
    taken: dict[DatasetId, list[datetime]] = defaultdict(list)
    for tables in runs.values():
        for table in tables:
            for name, at in table.names[1:]:
                taken[name].append(at)
    return taken


def _end_times(accesses: Iterable[Access]) -> defaultdict[DatasetId, list[datetime]]:
    """The times at which each name stopped standing for a table: it was dropped or renamed."""
    ended: defaultdict[DatasetId, list[datetime]] = defaultdict(list)
    for access in accesses:
        away = access.direction is Direction.READ and access.operation.renames
        if access.status is not Status.FAILED and (away or access.operation.removes):
            ended[access.dataset] += _times(access)
    return ended


def _rename_access(
    access: Access, periods: _Periods, exchanged: set[tuple[RunKey, DatasetId]]
) -> list[Access]:
    """An access under the names that its table got: one, or one each where it touched several."""
    if access.kind is Kind.TEMPORARY or access.first_at is None:
        return [access]
    run = (access.task, access.run_id)
    if access.operation.renames and (run, access.dataset) in exchanged:
        return []
    if access.dataset not in periods:
        return [access]
    names = dict.fromkeys(_today(access.dataset, at, periods) for at in _times(access))
    if access.operation.renames and access.direction is Direction.READ:
        return [] if list(names) != [access.dataset] else [access]
    if len(names) == 1:
        return [replace(access, dataset=next(iter(names)))]
    return [replace(access, dataset=name, rows=None, bytes=None) for name in names]


def _today(name: DatasetId, at: datetime, periods: _Periods) -> DatasetId:
    """The name that a table has at the end which had this one at a time."""
    group = periods.get(name, [])
    index = bisect_left(group, at, key=_until)
    while index < len(group) and group[index].since <= at:
        name, at = group[index].target, group[index].until
        group = periods.get(name, [])
        index = bisect_right(group, at, key=_until)
    return name


def _until(period: _Period) -> datetime:
    return period.until


def _is_alive(access: Access, ended: Mapping[DatasetId, list[datetime]]) -> bool:
    """Whether it used a table that still has this name, or may have."""
    if access.direction is Direction.READ:
        uses = not access.operation.renames
    else:
        uses = access.operation.brings_data
    at = access.last_at or access.first_at
    return uses and at is not None and all(end <= at for end in ended[access.dataset])
