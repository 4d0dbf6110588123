"""Segments of a run -> its statements, each once, with their datasets, columns and times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, TypeAlias
from zlib import crc32

from dbt_graft.collectors.sqlserver.access_periods import dated_accesses
from dbt_graft.collectors.sqlserver.resolution.resolve import ResolvedText
from dbt_graft.collectors.sqlserver.resolution.statement import ResolvedStatement
from dbt_graft.collectors.sqlserver.runs import temporaries
from dbt_graft.collectors.sqlserver.runs.captured import Level
from dbt_graft.collectors.sqlserver.runs.requests import ALONE
from dbt_graft.collectors.sqlserver.runs.segment import SegmentKind, time
from dbt_graft.collectors.sqlserver.runs.sessions import RunSegment
from dbt_graft.collectors.statement import Statement
from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dates.date_columns import DateColumns
from dbt_graft.lineage.records import Run, Status

# A segment of a run, and its text resolved; None where no log shows the text.
ResolvedSegment: TypeAlias = tuple[RunSegment, ResolvedText | None]


class ShownStatement(NamedTuple):
    """A statement, and the segment of a run that shows it."""

    segment: RunSegment
    statement: ResolvedStatement


def distinct_statements(segments: Iterable[ResolvedSegment]) -> list[ShownStatement]:
    """Each statement of a run once, however many events of its request show it.

    Where a request's own statements were recorded as they ended, they show what it did; its text
    may hold more (the other branch of an IF). A request of which only a part was seen counts where
    no other shows its statements. The statements of a procedure are inferred from its text where
    the run shows the inside of none.
    """
    statements = [
        (segment, text)
        for segment, text in segments
        if segment.key.kind is SegmentKind.STATEMENT and text is not None
    ]
    keys = [segment.key for segment, _ in statements]
    explained = {key.request for key in keys if key.level is Level.STATEMENT} - {""}
    seen_inside = any(key.level is Level.INSIDE and key.procedure for key in keys)
    shown = [
        ShownStatement(segment, statement)
        for segment, text in statements
        if not (_is_successful_request(segment) and segment.key.request in explained)
        for statement in (*text.statements, *(() if seen_inside else text.inferred))
    ]
    nearest: dict[tuple[str, str], Level] = {}
    complete: set[str] = set()
    for segment, statement in shown:
        level, request, shape = segment.key.level, segment.key.request, statement.shape.shape_id
        assert level is not None
        nearest[shape, request] = min(level, nearest.get((shape, request), level))
        if request:
            complete.add(shape)
    return [
        statement
        for statement in shown
        if statement.segment.key.level == nearest[_shape(statement), statement.segment.key.request]
        and (statement.segment.key.request or _shape(statement) not in complete)
    ]


def _is_successful_request(segment: RunSegment) -> bool:
    return segment.key.level is Level.REQUEST and segment.status is Status.OK


def _shape(shown: ShownStatement) -> str:
    return shown.statement.shape.shape_id


def run_statements(
    statements: Sequence[ShownStatement], runs: Mapping[str, Run], columns: DateColumns
) -> Iterator[Statement]:
    """The distinct statements of a run, each as its segment shows it.

    Times in the log are cut to milliseconds; below these, `first_at` and `last_at` carry the order
    in which statements came. A query counts from its beginning, because its rows arrive while it
    runs, anything else from its end. A statement that a rollback took back has failed.

    Args:
        runs: The run as each log shows it.
        columns: The columns whose values are dates of data.
    """
    counted = [(segment.counts, resolved) for segment, resolved in statements]
    firsts = _times(
        (c.first_ended if r.writes else c.first_started, c.first_sequence, r.ordinal)
        for c, r in counted
    )
    lasts = _times((c.last_ended, c.last_sequence, r.ordinal) for c, r in counted)
    for (segment, resolved), first_at, last_at in zip(statements, firsts, lasts, strict=True):
        key, counts = segment.key, segment.counts
        reads, writes = dated_accesses(resolved, counts, columns)
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
