"""Segments of a run -> its statements, each once, with their datasets, columns and times.

Dates in the conditions of a text -> the dates of data that its statement reads or changes.

Only dates on date columns stay: by configuration, by name, or by the type that the server's catalog
has. What other columns were compared with goes no further. Partitions that a text switches or
truncates are named by their numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, TypeAlias
from zlib import crc32

from dbt_graft.collectors.sqlserver.resolution.resolve import ResolvedText
from dbt_graft.collectors.sqlserver.resolution.statement import ResolvedStatement
from dbt_graft.collectors.sqlserver.runs import temporaries
from dbt_graft.collectors.sqlserver.runs.captured import Level
from dbt_graft.collectors.sqlserver.runs.requests import ALONE
from dbt_graft.collectors.sqlserver.runs.segment import SegmentCounts, SegmentKind, time
from dbt_graft.collectors.sqlserver.runs.sessions import RunSegment
from dbt_graft.collectors.statement import DatasetAccess, Statement
from dbt_graft.collectors.statements.periods.shape import TextDate
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.building.period_flow import derive_periods
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.date_columns import DateColumns, DateRank, has_time
from dbt_graft.lineage.dates.date_conditions import known_extents
from dbt_graft.lineage.dates.period import DataPosition, Period
from dbt_graft.lineage.dates.period_union import PARTITIONS, condition_periods
from dbt_graft.lineage.records import Evidence, Run, Status

Periods = tuple[Period, ...]
Accesses = tuple[DatasetAccess, ...]
# Table as a text names it -> columns, folded.
ChangedColumns = Mapping[str, set[str]]


def dated_accesses(
    statement: ResolvedStatement,
    counts: SegmentCounts,
    columns: DateColumns,
    changed: ChangedColumns,
) -> tuple[Accesses, Accesses]:
    """The reads and writes of a statement, with the dates and partitions that its text tells.

    Args:
        changed: The columns by whose dates the run changes rows, by table.
    """
    is_shown = statement.procedure is None and statement.evidence is Evidence.OBSERVED
    # The text of another statement is that of the call.
    if not is_shown or not (counts.dates or counts.partitions):
        return statement.reads, statement.writes
    reads = tuple(
        access._replace(
            periods=_table_periods(access, counts, columns, changes=False),
            positions=_positions(access, counts, changes=False),
        )
        for access in statement.reads
    )
    read = {access.dataset: access.periods for access in reads}
    writes = tuple(
        access._replace(
            periods=_table_periods(access, counts, columns, changes=True)
            if access.operation.is_in_place
            else _inserted_periods(access, counts, columns, changed)
            or _derived_periods(access, statement, read),
            positions=_positions(access, counts, changes=True),
        )
        for access in statement.writes
    )
    return reads, writes


def _derived_periods(
    access: DatasetAccess, statement: ResolvedStatement, read: Mapping[DatasetId, Periods]
) -> Periods:
    inputs = (
        (edge.to_column, edge.from_dataset, edge.from_column, edge.subtype)
        for edge in statement.edges
        if edge.to_dataset == access.dataset
    )
    return derive_periods(inputs, read) if any(read.values()) else ()


def _table_periods(
    access: DatasetAccess, counts: SegmentCounts, columns: DateColumns, *, changes: bool
) -> Periods:
    types = {column.name.casefold(): column.type for column in access.columns}
    by_column = _dates_by_column(
        access, (date for date in counts.dates if date.changes is changes and not date.adds), types
    )
    ranks = _ranks(by_column, types, columns)
    for column in sorted(ranks, key=lambda name: (-ranks[name], name)):
        if periods := _periods(column, by_column[column], types):
            return periods
    return ()


def _inserted_periods(
    access: DatasetAccess, counts: SegmentCounts, columns: DateColumns, changed: ChangedColumns
) -> Periods:
    """The dates of new rows that are constants in their statement.

    Of several date columns that counts by which the run changes rows of the table, too: it deletes
    a day, and inserts it. Without one it is not known which of them is the date of the data.
    """
    added = [date for date in counts.dates if date.adds]
    if not added:
        return ()
    types = {column.name.casefold(): column.type for column in access.columns}
    by_column = _dates_by_column(access, added, types)
    folded = {column.casefold() for column in by_column}
    ranks = _ranks([*by_column, *types.keys() - folded], types, columns)
    cleared = {
        column for table, names in changed.items() if _is_named(access, table) for column in names
    }
    candidates = [column for column in ranks if column.casefold() in cleared] or [*ranks]
    best = max((ranks[column] for column in candidates), default=DateRank.NONE)
    if best >= DateRank.CONTRACT:
        candidates = [column for column in candidates if ranks[column] is best]
    dates = by_column.get(candidates[0], ()) if len(candidates) == 1 else ()
    is_known = all(date.start or date.end for date in dates)
    return _periods(candidates[0], dates, types) if dates and is_known else ()


def _dates_by_column(
    access: DatasetAccess, dates: Iterable[TextDate], types: Mapping[str, str]
) -> dict[str, list[TextDate]]:
    """Those of a table, by its columns, folded."""
    by_column: dict[str, list[TextDate]] = defaultdict(list)
    for date in dates:
        is_column = date.sure or date.column.casefold() in types
        if is_column and _is_named(access, date.table):
            by_column[date.column].append(date)
    return by_column


def _ranks(
    names: Iterable[str], types: Mapping[str, str], columns: DateColumns
) -> dict[str, DateRank]:
    ranks = {name: columns.rank(name, types.get(name.casefold(), "")) for name in names}
    return {name: rank for name, rank in ranks.items() if rank is not DateRank.NONE}


def _periods(column: str, dates: Iterable[TextDate], types: Mapping[str, str]) -> Periods:
    has_times = has_time(types.get(column.casefold(), ""))
    return condition_periods(
        known_extents((date.range for date in dates), has_time=has_times), column
    )


def _positions(
    access: DatasetAccess, counts: SegmentCounts, *, changes: bool
) -> tuple[DataPosition, ...]:
    """The partitions that an access is about; empty where it is about the table.

    A position without numbers is about some partitions, and the text does not tell which.
    """
    ranges = [
        (partitions.first, partitions.last)
        for partitions in counts.partitions
        if partitions.operation == access.operation.value
        and partitions.changes is changes
        and _is_named(access, partitions.table)
    ]
    if any(first is None for first, _ in ranges):
        return ()
    return tuple(DataPosition(PARTITIONS, _text(first), _text(last)) for first, last in ranges)


def _text(number: int | None) -> str:
    return str(number) if number else ""


def _is_named(access: DatasetAccess, written: str) -> bool:
    """Whether a dataset's name ends as a table is written: `Shop.dbo.orders`, `dbo.orders`."""
    names = (access.dataset.name, access.alias.name if access.alias else "")
    folded = (name.casefold() for name in names if name)
    return any(name == written or name.endswith(f".{written}") for name in folded)


# A segment of a run, and its text resolved; None where no log shows the text.
ResolvedSegment: TypeAlias = tuple[RunSegment, ResolvedText | None]


class ShownStatement(NamedTuple):
    """A statement, and the segment of a run that shows it."""

    segment: RunSegment
    statement: ResolvedStatement


class _Insides(NamedTuple):
    """The insides of procedures and of dynamic SQL that a run shows.

    Attributes:
        ended: The procedures whose statements were recorded as they ended, folded.
        begun: Those that only began, too.
        dynamic: The requests that show statements of what no statement calls by name; empty for
            those of which only a part was seen.
    """

    ended: frozenset[str]
    begun: frozenset[str]
    dynamic: frozenset[str]

    @classmethod
    def of(cls, statements: Sequence[tuple[RunSegment, ResolvedText]]) -> _Insides:
        """The insides that the segments of a run show."""
        keys = [segment.key for segment, _ in statements]
        inside = [
            (key, key.procedure.rpartition(".")[2].casefold())
            for key in keys
            if key.level in (Level.INSIDE, Level.INSIDE_BEGUN)
        ]
        called = frozenset[str]().union(*(text.calls for _, text in statements))
        return cls(
            frozenset(name for key, name in inside if key.level is Level.INSIDE),
            frozenset(name for _, name in inside),
            frozenset(key.request for key, name in inside if name not in called),
        )

    def show(self, segment: RunSegment, statement: ResolvedStatement) -> bool:
        """Whether other segments show what a statement does: its text, or no text at all, counts
        where none does.
        """
        if statement.evidence is Evidence.INFERRED:
            return statement.inside <= self.ended
        if not statement.hides:
            return False
        if statement.inside:
            return statement.inside <= self.begun
        request = segment.key.request
        return bool(self.dynamic) and (not request or not self.dynamic.isdisjoint({request, ""}))


def distinct_statements(segments: Iterable[ResolvedSegment]) -> list[ShownStatement]:
    """Each statement of a run once, however many events of its request show it.

    Where a request's own statements were recorded as they ended, they show what it did; its text
    may hold more (the other branch of an IF). A request of which only a part was seen counts where
    no other shows its statements. What a procedure does is inferred from its text, or is a gap,
    where the run does not show its inside.
    """
    statements = [
        (segment, text)
        for segment, text in segments
        if segment.key.kind is SegmentKind.STATEMENT and text is not None
    ]
    keys = [segment.key for segment, _ in statements]
    explained = {key.request for key in keys if key.level is Level.STATEMENT} - {""}
    insides = _Insides.of(statements)
    shown = [
        ShownStatement(segment, statement)
        for segment, text in statements
        if not (_is_successful_request(segment) and segment.key.request in explained)
        for statement in (*text.statements, *text.inferred)
        if not insides.show(segment, statement)
    ]
    nearest: dict[tuple[str, str], Level] = {}
    complete: set[str] = set()
    for segment, statement in shown:
        level, request, text = segment.key.level, segment.key.request, statement.shape.text
        assert level is not None
        nearest[text, request] = min(level, nearest.get((text, request), level))
        if request:
            complete.add(text)
    return [
        statement
        for statement in shown
        if statement.segment.key.level == nearest[_sql(statement), statement.segment.key.request]
        and (statement.segment.key.request or _sql(statement) not in complete)
    ]


def _is_successful_request(segment: RunSegment) -> bool:
    return segment.key.level is Level.REQUEST and segment.status is Status.OK


def _sql(shown: ShownStatement) -> str:
    return shown.statement.shape.text


def run_statements(
    statements: Sequence[ShownStatement], runs: Mapping[str, Run], columns: DateColumns
) -> Iterator[Statement]:
    """The distinct statements of a run, each as its segment shows it.

    Times in the log are cut to milliseconds; below these, `first_at` and `last_at` carry the order
    in which statements came. A query counts from its beginning, because its rows arrive while it
    runs, anything else from its end. A statement that a rollback took back has failed.

    Args:
        runs: The run as each log shows it.
    """
    counted = [(segment.counts, resolved) for segment, resolved in statements]
    firsts = _times(
        (c.first_ended if r.writes else c.first_started, c.first_sequence, r.ordinal)
        for c, r in counted
    )
    lasts = _times((c.last_ended, c.last_sequence, r.ordinal) for c, r in counted)
    changed: dict[str, set[str]] = defaultdict(set)
    for counts, _ in counted:
        for date in counts.dates:
            if date.changes:
                changed[date.table].add(date.column.casefold())
    for (segment, resolved), first_at, last_at in zip(statements, firsts, lasts, strict=True):
        key, counts = segment.key, segment.counts
        reads, writes = dated_accesses(resolved, counts, columns, changed)
        edges = resolved.edges
        if key.procedure:  # its own constants are not sent
            edges = tuple(edge for edge in edges if edge.from_dataset != MEMORY)
        if resolved.alone and counts.rows is not None:
            writes = tuple(
                access._replace(rows=counts.rows) if access.operation.writes_rows else access
                for access in writes
            )
        if named := _temporaries(resolved, segment):
            reads, writes = (
                tuple(
                    access._replace(dataset=named.get(access.dataset.name, access.dataset))
                    for access in accesses
                )
                for accesses in (reads, writes)
            )
            edges = tuple(
                edge._replace(
                    to_dataset=named.get(edge.to_dataset.name, edge.to_dataset),
                    from_dataset=named.get(edge.from_dataset.name, edge.from_dataset),
                )
                for edge in edges
            )
        yield Statement(
            resolved.shape_id,
            reads,
            writes,
            edges,
            run=runs[segment.origin],
            status=Status.FAILED if key.undone and writes else segment.status,
            evidence=resolved.evidence,
            procedure=resolved.procedure or key.procedure or None,
            times=counts.times * resolved.times,
            first_at=time(first_at),
            last_at=time(max(first_at, last_at)),
        )


def _times(moments: Iterable[tuple[int, int, int]]) -> list[int]:
    """Times that keep the order of moments: a time, a number in the session, a place in a text."""
    listed = list(moments)
    ranks = {
        moment: rank
        for _, same in groupby(sorted({*listed}), key=itemgetter(0))
        for rank, moment in enumerate(same)
    }
    return [moment[0] + ranks[moment] for moment in listed]


def _temporaries(statement: ResolvedStatement, segment: RunSegment) -> dict[str, DatasetId]:
    """The temporary tables and table variables of a statement by names that no others have.

    A variable lives as long as the request that declares it.
    """
    names: dict[str, DatasetId] = {}
    for access in (*statement.reads, *statement.writes):
        (namespace, name), key = (access.dataset.namespace, access.dataset.name), segment.key
        if access.kind is not Kind.TEMPORARY or name.startswith("##"):
            continue
        if name.startswith("@"):
            request = key.request if key.request not in ("", ALONE) else key.text or ""
            suffix = str(crc32(request.encode()))
        else:
            suffix = temporaries.decode(key.temporaries).get(name.lower(), "0")
        names[name] = DatasetId(namespace, f"{name}~{suffix}")
    return names
