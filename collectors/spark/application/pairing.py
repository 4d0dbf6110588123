"""Which parts of executions nested in one another are statements, and how these name their targets.

`df.write.saveAsTable("t")` is a save around a create around an insert: one statement, with the name
that the save has and the rows that the insert counts.
"""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.collectors.spark.application import streams
from dbt_graft.collectors.spark.application.execution import Application
from dbt_graft.collectors.spark.application.segments import Part
from dbt_graft.collectors.spark.sources.commands import Role
from dbt_graft.collectors.spark.sources.connectors import CUT_PATH
from dbt_graft.lineage.records import Status


def paired(group: list[Part], application: Application) -> list[Part]:
    """The parts of one root that are statements, inserts under the name their wrappers give."""
    namers = [part for part in group if part.role in (Role.WRAPPER, Role.SAVE)]
    queries = [part for part in group if part.command is None]
    nested = [part for part in queries if part.execution.id != part.execution.root]
    commanded = any(part.command and part.execution.id == part.execution.root for part in group)
    # The rows of a streaming batch go into its sink, or into what foreachBatch writes.
    runs = [(part, run) for part in group if (run := part.execution.stream)]
    sinks = [stream.sink for _, run in runs if (stream := application.streams.get(run))]
    streamed = any(map(streams.place, sinks)) or any(part.command for part, _ in runs)
    used: set[int] = set()
    for part in group:
        if part.role is Role.INSERT:
            around = [w for w in namers if w.execution.encloses(part.execution)]
            used.update(wrapper.execution.id for wrapper in around)
            _take_name(part, around)

    def counts(part: Part) -> bool:
        if part.command is None:
            # What a command asks for itself (its statistics, say) is no query of the user.
            outermost = part.execution.id == part.execution.root
            # A streaming batch and what its sink does with it are both executions.
            again = outermost and any(part.scans == one.scans for one in nested)
            return bool(part.scans) and not (streamed or again) and (not commanded or outermost)
        if part.role not in (Role.WRAPPER, Role.SAVE):
            return part.target is not None and not _found_nothing(part)
        if part.execution.id in used:
            return False
        if any(w.execution.encloses(part.execution) for w in namers):
            return False
        # A wrapper alone wrote nothing (the table was there, and the mode is Ignore) or it failed;
        # before Spark 3.4 it writes itself what is below it.
        failed = part.execution.status is Status.FAILED
        writes = part.target is not None and (failed or bool(part.node and part.node.children))
        return part.role is Role.SAVE or writes

    kept = [part for part in group if counts(part)]
    for part in kept:
        if part.role is Role.SAVE:
            part.feeds = [query for query in queries if part.execution.encloses(query.execution)]
            _take_place(part, [w for w in namers if part.execution.encloses(w.execution)])
            _take_path(part)
    return kept


def _take_place(save: Part, inner: list[Part]) -> None:
    """Say where the data went: a table that stands for one of a database is that one."""
    for part in inner:
        save.inputs = save.inputs or part.inputs
        if part.target and part.target.external and save.target and not save.target.catalog:
            save.target = part.target


def _take_path(save: Part) -> None:
    """Say the whole of a path that Delta shows the end of: where it changes rows, it reads too."""
    target = save.target
    if target and target.path.startswith(CUT_PATH):
        end = target.path.removeprefix(CUT_PATH)
        scans = [scan for one in (save, *save.feeds) for scan in one.scans]
        whole = {path for scan in scans for path in scan.paths if path.endswith(end)}
        save.target = replace(target, path=whole.pop()) if len(whole) == 1 else None


def _take_name(insert: Part, wrappers: list[Part]) -> None:
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


def _found_nothing(part: Part) -> bool:
    """`DROP … IF EXISTS` of a table of Spark's own catalog that was not there."""
    target = part.target
    assert target
    name = ".".join(("default", *target.table)[-2:]).casefold()
    own = target.catalog in ("", "V2SessionCatalog")
    return own and target.if_exists and name not in part.execution.dropped
