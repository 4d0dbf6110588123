"""Precedence of the sources of one task's lineage: logs, then what a run did, then declarations.

| source | evidence |
|---|---|
| the log of an engine: which input goes into which output, by statement | observed |
| an event of a run: all that it read and wrote; Airflow's extractors | observed |
| inlets, outlets and hooks of Airflow, where no extractor found anything | declared |
| an event of a job without a run | declared |

A better source does not hide what it cannot know: a log does not show the file that Python read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dbt_graft.lineage.building.event_runs import has_events, is_event
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Access, ColumnEdge, Direction, Evidence, Status


def flow_accesses(accesses: Iterable[Access]) -> list[Access]:
    """The accesses that make flows: of events those that say more than the logs of their tasks.

    A log tells which input goes into which output, an event only what a whole run read and wrote.
    Where a task's log knows an input and an output, no event connects them.
    """
    listed = list(accesses)
    if not has_events(listed):
        return listed
    logged = {
        (a.task, a.direction, a.dataset)
        for a in listed
        if not is_event(a) and a.evidence is Evidence.OBSERVED and a.status is not Status.FAILED
    }
    if not logged:
        return listed
    groups: dict[tuple[str, str, str], list[Access]] = defaultdict(list)
    selected = []
    for access in listed:
        if is_event(access):
            groups[access.task, access.run_id, access.shape_id].append(access)
        else:
            selected.append(access)
    for group in groups.values():
        selected += _beside_logs(group, logged)
    return selected


def _beside_logs(
    group: Sequence[Access], logged: set[tuple[str, Direction, DatasetId]]
) -> Iterator[Access]:
    new = [a for a in group if (a.task, a.direction, a.dataset) not in logged]
    if len(new) == len(group):
        yield from group
        return
    reads = [a for a in group if a.direction is Direction.READ]
    writes = [a for a in group if a.direction is Direction.WRITE]
    new_reads = [a for a in new if a.direction is Direction.READ]
    new_writes = [a for a in new if a.direction is Direction.WRITE]
    if new_writes:
        yield from (*reads, *new_writes)
    known_writes = [a for a in writes if a not in new_writes]
    if new_reads and (known_writes or not writes):
        yield from (replace(a, shape_id=f"{a.shape_id}+") for a in (*new_reads, *known_writes))


def observed_first(accesses: Iterable[Access]) -> list[Access]:
    """The accesses without those that events declare and a run was seen to do."""
    listed = list(accesses)
    if not has_events(listed):
        return listed
    done = {
        (a.task, a.dataset, a.direction)
        for a in listed
        if a.evidence is Evidence.OBSERVED and a.status is not Status.FAILED
    }
    return [
        a
        for a in listed
        if a.evidence is Evidence.OBSERVED
        or not is_event(a)
        or (a.task, a.dataset, a.direction) not in done
    ]


def edges_beside_logs(edges: Sequence[ColumnEdge]) -> Sequence[ColumnEdge]:
    """The column edges without those of events that are known better.

    A task's log follows the columns between two datasets, or a run was seen to do what is declared.
    """
    if not has_events(edges):
        return edges
    listed = list(edges)
    logged = {(e.task, e.to_dataset, e.from_dataset) for e in listed if not is_event(e)}
    seen = {_way(e) for e in listed if e.evidence is Evidence.OBSERVED}
    return [
        edge
        for edge in listed
        if not is_event(edge)
        or (
            (edge.task, edge.to_dataset, edge.from_dataset) not in logged
            and (edge.evidence is Evidence.OBSERVED or _way(edge) not in seen)
        )
    ]


def _way(edge: ColumnEdge) -> tuple[object, ...]:
    columns = edge.to_dataset, edge.to_column, edge.from_dataset, edge.from_column
    return edge.task, *columns, edge.subtype, edge.masking
