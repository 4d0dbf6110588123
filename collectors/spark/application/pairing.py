"""Pairing of nested executions: the segments that are statements, with their targets' names.

`df.write.saveAsTable("t")` is a save around a create around an insert: one statement, with the name
that the save has and the rows that the insert counts.
"""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.collectors.spark.application import streams
from dbt_graft.collectors.spark.application.execution import Application
from dbt_graft.collectors.spark.application.segments import PlanSegment
from dbt_graft.collectors.spark.sources.commands import CommandRole
from dbt_graft.collectors.spark.sources.connectors import CUT_PATH
from dbt_graft.lineage.records import Status

# Commands that name the target of what is nested in them.
_NAMERS = (CommandRole.WRAPPER, CommandRole.SAVE)


def pair_segments(group: list[PlanSegment], application: Application) -> list[PlanSegment]:
    """Return the segments of an outermost execution that are statements.

    Inserts get the target that their wrappers name.
    """
    group = _without_maintenance(group)
    namers = [segment for segment in group if segment.role in _NAMERS]
    queries = [segment for segment in group if segment.command is None]
    nested = [segment for segment in queries if segment.execution.id != segment.execution.root]
    commanded = any(
        segment.command and segment.execution.id == segment.execution.root for segment in group
    )
    streamed = _is_streamed(group, application)
    used: set[int] = set()
    for segment in group:
        if segment.role is CommandRole.INSERT:
            around = [w for w in namers if w.execution.encloses(segment.execution)]
            used.update(wrapper.execution.id for wrapper in around)
            _use_wrapper_name(segment, around)

    def is_statement(segment: PlanSegment) -> bool:
        if segment.command is None:
            # Queries that a command runs for itself (for statistics, say) are not the user's.
            outermost = segment.execution.id == segment.execution.root
            # A streaming batch and the write of its sink are both executions.
            again = outermost and any(segment.scans == query.scans for query in nested)
            return bool(segment.scans) and not (streamed or again) and (not commanded or outermost)
        if segment.role not in _NAMERS:
            return segment.target is not None and not _dropped_nothing(segment)
        if segment.execution.id in used:
            return False
        if any(w.execution.encloses(segment.execution) for w in namers):
            return False
        # A wrapper without an insert wrote nothing (the table was there, and the mode is Ignore) or
        # failed; before Spark 3.4 it writes the rows of its children itself.
        failed = segment.execution.status is Status.FAILED
        writes = segment.target is not None and (
            failed or bool(segment.node and segment.node.children)
        )
        return segment.role is CommandRole.SAVE or writes

    chosen = [segment for segment in group if is_statement(segment)]
    for segment in chosen:
        if segment.role is CommandRole.SAVE:
            _complete_save(segment, group)
    return chosen


def _without_maintenance(group: list[PlanSegment]) -> list[PlanSegment]:
    """Leave out what is nested in maintenance: it reads and writes one table, as it was before."""
    tuning = [part.execution for part in group if part.role is CommandRole.MAINTENANCE]
    return [part for part in group if not any(e.encloses(part.execution) for e in tuning)]


def _complete_save(save: PlanSegment, group: list[PlanSegment]) -> None:
    """Add to a save what is nested in it."""
    inside = [part for part in group if save.execution.encloses(part.execution)]
    writes: list[PlanSegment] = []
    if not (save.scans or save.sources):  # the plan of its rows is that of the write that it runs
        writes = [p for p in inside if p.role is CommandRole.SAVE and p.node and p.node.children]
    save.feeds = writes or [part for part in inside if part.command is None]
    _use_external_target(save, [part for part in inside if part.role in _NAMERS])
    _complete_path(save)


def _is_streamed(group: list[PlanSegment], application: Application) -> bool:
    """Whether rows are those of a streaming batch, which go into its sink, or to the targets of
    foreachBatch.
    """
    runs = [(segment, run) for segment in group if (run := segment.execution.stream)]
    sinks = [stream.sink for _, run in runs if (stream := application.streams.get(run))]
    return any(map(streams.parse_place, sinks)) or any(segment.command for segment, _ in runs)


def _use_external_target(save: PlanSegment, inner: list[PlanSegment]) -> None:
    """Use the target of a nested save into a database, which is the real one."""
    for segment in inner:
        save.inputs = save.inputs or segment.inputs
        if segment.target and segment.target.external and save.target and not save.target.catalog:
            save.target = segment.target


def _complete_path(save: PlanSegment) -> None:
    """Complete a path of which Delta shows only the end, by the scans of the same save."""
    target = save.target
    if target and target.path.startswith(CUT_PATH):
        end = target.path.removeprefix(CUT_PATH)
        scans = [scan for part in (save, *save.feeds) for scan in part.scans]
        complete = {path for scan in scans for path in scan.paths if path.endswith(end)}
        save.target = replace(target, path=complete.pop()) if len(complete) == 1 else None


def _use_wrapper_name(insert: PlanSegment, wrappers: list[PlanSegment]) -> None:
    """Use the name of `saveAsTable("t")`, where the insert itself has only a path."""
    target = insert.target
    assert target
    insert.around = [wrapper.execution for wrapper in wrappers]
    named = [
        (wrapper, wrapper.target)
        for wrapper in sorted(wrappers, key=lambda w: (w.execution.started_at, w.execution.id))
        if wrapper.target and target.table[-1:] in ((), wrapper.target.table[-1:])
    ]
    if named:
        insert.operation = named[0][0].operation
        # The innermost has the catalog too.
        insert.target = replace(target, table=named[-1][1].table)


def _dropped_nothing(segment: PlanSegment) -> bool:
    """Whether it is `DROP … IF EXISTS` of a table of Spark's own catalog that was not there."""
    target = segment.target
    assert target
    name = ".".join(("default", *target.table)[-2:]).casefold()
    in_own_catalog = target.catalog in ("", "V2SessionCatalog")
    return in_own_catalog and target.if_exists and name not in segment.execution.dropped
