"""Which segments of nested executions are statements, and how these name their targets.

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


def paired(group: list[PlanSegment], application: Application) -> list[PlanSegment]:
    """The segments of one root that are statements, inserts under the name their wrappers give."""
    namers = [
        segment for segment in group if segment.role in (CommandRole.WRAPPER, CommandRole.SAVE)
    ]
    queries = [segment for segment in group if segment.command is None]
    nested = [segment for segment in queries if segment.execution.id != segment.execution.root]
    commanded = any(
        segment.command and segment.execution.id == segment.execution.root for segment in group
    )
    # The rows of a streaming batch go into its sink, or into what foreachBatch writes.
    runs = [(segment, run) for segment in group if (run := segment.execution.stream)]
    sinks = [stream.sink for _, run in runs if (stream := application.streams.get(run))]
    streamed = any(map(streams.parse_place, sinks)) or any(segment.command for segment, _ in runs)
    used: set[int] = set()
    for segment in group:
        if segment.role is CommandRole.INSERT:
            around = [w for w in namers if w.execution.encloses(segment.execution)]
            used.update(wrapper.execution.id for wrapper in around)
            _take_name(segment, around)

    def counts(segment: PlanSegment) -> bool:
        if segment.command is None:
            # What a command asks for itself (its statistics, say) is no query of the user.
            outermost = segment.execution.id == segment.execution.root
            # A streaming batch and what its sink does with it are both executions.
            again = outermost and any(segment.scans == one.scans for one in nested)
            return bool(segment.scans) and not (streamed or again) and (not commanded or outermost)
        if segment.role not in (CommandRole.WRAPPER, CommandRole.SAVE):
            return segment.target is not None and not _found_nothing(segment)
        if segment.execution.id in used:
            return False
        if any(w.execution.encloses(segment.execution) for w in namers):
            return False
        # A wrapper alone wrote nothing (the table was there, and the mode is Ignore) or it failed;
        # before Spark 3.4 it writes itself what is below it.
        failed = segment.execution.status is Status.FAILED
        writes = segment.target is not None and (
            failed or bool(segment.node and segment.node.children)
        )
        return segment.role is CommandRole.SAVE or writes

    kept = [segment for segment in group if counts(segment)]
    for segment in kept:
        if segment.role is CommandRole.SAVE:
            segment.feeds = [
                query for query in queries if segment.execution.encloses(query.execution)
            ]
            _take_place(segment, [w for w in namers if segment.execution.encloses(w.execution)])
            _take_path(segment)
    return kept


def _take_place(save: PlanSegment, inner: list[PlanSegment]) -> None:
    """Say where the data went: a table that stands for one of a database is that one."""
    for segment in inner:
        save.inputs = save.inputs or segment.inputs
        if segment.target and segment.target.external and save.target and not save.target.catalog:
            save.target = segment.target


def _take_path(save: PlanSegment) -> None:
    """Say the whole of a path that Delta shows the end of: where it changes rows, it reads too."""
    target = save.target
    if target and target.path.startswith(CUT_PATH):
        end = target.path.removeprefix(CUT_PATH)
        scans = [scan for one in (save, *save.feeds) for scan in one.scans]
        whole = {path for scan in scans for path in scan.paths if path.endswith(end)}
        save.target = replace(target, path=whole.pop()) if len(whole) == 1 else None


def _take_name(insert: PlanSegment, wrappers: list[PlanSegment]) -> None:
    """Say what the user said: `saveAsTable("t")`, where the insert itself knows a path only."""
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
        # The innermost says the catalog too.
        insert.target = replace(target, table=named[-1][1].table)


def _found_nothing(segment: PlanSegment) -> bool:
    """`DROP … IF EXISTS` of a table of Spark's own catalog that was not there."""
    target = segment.target
    assert target
    name = ".".join(("default", *target.table)[-2:]).casefold()
    own = target.catalog in ("", "V2SessionCatalog")
    return own and target.if_exists and name not in segment.execution.dropped
