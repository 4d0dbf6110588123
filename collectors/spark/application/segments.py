"""Segments of an execution's plan: its query and its commands, each with the scans below it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from dbt_graft.collectors.spark.application.execution import Execution
from dbt_graft.collectors.spark.gap_reasons import RDD_COLUMNS, RDD_FILES
from dbt_graft.collectors.spark.plans.arguments import Attribute, attributes, identifier
from dbt_graft.collectors.spark.plans.tree import Operator, PlanNode
from dbt_graft.collectors.spark.sources.commands import (
    Command,
    CommandRole,
    find_command,
    read_target,
    unread_procedure,
)
from dbt_graft.collectors.spark.sources.connectors import Target, write_target
from dbt_graft.collectors.spark.sources.periods import mapped_partitions
from dbt_graft.collectors.spark.sources.plan_text import cached_scans, plan_text, with_location
from dbt_graft.collectors.spark.sources.relations import (
    Rdds,
    hides_files,
    labelled_scan,
    relation_scan,
    scanned_rdd,
)
from dbt_graft.collectors.spark.sources.scans import Scan, is_schema_inference, read_scan
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Status

# `format("noop")`, which people save to so that a query runs.
_NOWHERE = re.compile(r"\b(?:NoopWrite|NoopTable|noop-table)\b")
# The target of a write that a `CREATE TABLE AS` of Delta runs, and names itself.
_STAGED = "$StagedDeltaTableV2@"
_STREAMED_WRITE = "WriteToDataSourceV2"
_SCANS_RDD, _RDD = "Scan ExistingRDD", "RDD["
_RDD_SCANS = (_SCANS_RDD, "RDDScan", "Scan RDD", "ExternalRDDScan", "Scan[")
_CACHED = "InMemoryTableScan"
# Commands that change single rows, and the columns with the places of these rows.
_ROW_LEVEL = ("ReplaceData", "WriteDelta")
_ROW_PLACES = frozenset({"_file", "_pos", "_spec_id", "_partition"})
# Commands on the partitions that they name, beside those called so.
_ON_PARTITIONS = ("TruncateTableCommand", "LoadDataCommand")
# Spark 2 calls every command so; the plan's text has the name.
_UNNAMED_COMMAND = "ExecutedCommand"


# An execution, and the reason why a piece of it could not be used.
Problem = tuple[int, str]


@dataclass(slots=True)
class PlanSegment:
    """A command of an execution's plan with the scans below it; without a command, a query.

    Attributes:
        node: The command in `sparkPlanInfo`.
        operator: The command in the plan's text.
        sources: The tables and views that the logical plan in the command names.
        around: The executions that it is nested in and that name its target.
        feeds: The queries nested in its execution, whose rows it writes.
        infers_schema: It is Spark's own query for the columns of files.
        gaps: What the log does not tell of the RDDs that it begins with.
    """

    execution: Execution
    name: str = ""
    command: Command | None = None
    target: Target | None = None
    node: PlanNode | None = None
    scans: list[Scan] = field(default_factory=list)
    sources: list[Scan] = field(default_factory=list)
    inputs: list[Attribute] = field(default_factory=list)
    operator: Operator | None = None
    operation: Operation = Operation.SELECT
    around: list[Execution] = field(default_factory=list)
    feeds: list[PlanSegment] = field(default_factory=list)
    infers_schema: bool = False
    gaps: set[str] = field(default_factory=set)

    @property
    def role(self) -> CommandRole | None:
        return self.command.role if self.command else None

    @property
    def status(self) -> Status:
        """The worst status of its execution and those around it: a failed save wrote nothing."""
        ends = {execution.status for execution in (self.execution, *self.around)}
        return next(s for s in (Status.FAILED, Status.UNKNOWN, Status.OK) if s in ends)


def plan_segments(execution: Execution, problems: list[Problem]) -> list[PlanSegment]:
    """The segments of an execution; scans that adaptive execution optimised away count as read.

    Args:
        problems: Takes a reason for each operator without a rule.
    """
    if execution.plan is None:
        return []
    infers_schema = is_schema_inference(execution.plan)
    if infers_schema and execution.id != execution.root:
        return []
    unknown: set[str] = set()
    started = _split_plan(execution, execution.plan, unknown)
    if execution.final is None:
        segments = started
    else:
        segments = []
        for first, last in zip_longest(started, _split_plan(execution, execution.final, unknown)):
            segment = last or first
            if first and last:
                seen = {(scan.table, scan.paths) for scan in last.scans}
                segment.scans += [s for s in first.scans if (s.table, s.paths) not in seen]
            segments.append(segment)
    problems += [(execution.id, f"there is no rule for {name}") for name in unknown]
    alone = len(segments) == 1 and _SCANS_RDD in execution.text
    for segment in segments:
        segment.infers_schema = infers_schema
    return [segment for segment in segments if segment.command or segment.scans or alone]


def add_rdd_scans(segment: PlanSegment, rdds: Rdds) -> None:
    """Add the scans behind the RDDs that a segment's plan begins with."""
    if not rdds:
        return
    labels: dict[str, tuple[int, ...]] = {}
    numbered = 0
    for top in _operators_below(segment) if _RDD in segment.execution.text else ():
        for operator in top.walk():
            if (number := scanned_rdd(operator)) is not None:
                numbered += 1
                columns = attributes(operator.fields.get("Output", ""))
                ids = tuple(column.id for column in columns)
                labels |= dict.fromkeys(rdds.get(number, ()), ids)
    is_hidden = any(map(hides_files, labels))
    plan = segment.node or segment.execution.plan
    begun = sum(_is_rdd(node) for node in plan.walk()) if plan else 0
    if begun > numbered and not segment.execution.stream:
        # In the extended layout, or where the text is cut, it has no numbers.
        others, is_ambiguous = _labels_of_jobs(segment)
        labels |= dict.fromkeys(others, ())
        is_hidden |= is_ambiguous
        segment.gaps |= {RDD_COLUMNS} if others else set()
    # The sources of a stream are in its progress.
    segment.gaps |= {RDD_FILES} if is_hidden and not segment.execution.stream else set()
    seen = {(scan.table, scan.paths) for scan in segment.scans}
    scans = (labelled_scan(label, ids) for label, ids in labels.items())
    segment.scans += [s for s in scans if s and (s.table, s.paths) not in seen]


def _labels_of_jobs(segment: PlanSegment) -> tuple[list[str], bool]:
    """The sources of the RDDs of an execution's jobs beside those of its plan, and whether that may
    not be all, or another command's.
    """
    execution = segment.execution
    plan = execution.final or execution.plan
    if plan and sum(node.name.startswith("Execute ") for node in plan.walk()) > 1:
        return [], bool(execution.sources)
    tables = {scan.table for scan in segment.scans if scan.table}
    reads_files = any(scan.paths and not scan.table for scan in segment.scans)
    scans = {label: labelled_scan(label) for label in execution.sources}
    labels = [label for label, scan in scans.items() if scan and scan.table not in tables]
    return labels, not reads_files and any(map(hides_files, scans))


def _is_rdd(node: PlanNode) -> bool:
    return node.name == "Scan" or node.name.startswith(_RDD_SCANS)


def use_planned_sink(segment: PlanSegment) -> None:
    """Make a streaming batch, the progress of which the log lacks, a write into the table that its
    plan names: `WriteToDataSourceV2 MicroBatchWrite[…IcebergStreamingWrite(table=lake.raw.t, …`.
    """
    plan, root = segment.execution.plan, plan_text(segment.execution.text).root
    if segment.command or not plan or plan.name != _STREAMED_WRITE or root is None:
        return
    if target := write_target([plan.text]):
        segment.command = Command(CommandRole.SAVE, write_target, Operation.INSERT)
        segment.target, segment.node, segment.operator = target, plan, root
        segment.operation, segment.inputs = Operation.INSERT, written_columns(root)


def _operators_below(segment: PlanSegment) -> list[Operator]:
    """The operators of the plan's text that a segment takes rows from."""
    if segment.operator:
        return segment.operator.children
    root = plan_text(segment.execution.text).root
    return [root] if root else []


def _split_plan(execution: Execution, plan: PlanNode, unknown: set[str]) -> list[PlanSegment]:
    query = PlanSegment(execution)
    segments = [query]
    stack = [(plan, query)]
    hides = False  # a cached_scans relation whose plan is in the text only
    while stack:
        node, segment = stack.pop()
        if node.name == "CommandResult":
            continue  # The rows of a command that has an execution of its own.
        try:
            if command := find_command(_command_name(node, execution)):
                segment = PlanSegment(execution, command[0], command[1], node=node)
                segments.append(segment)
            elif scan := read_scan(with_location(node, execution.text)):
                segment.scans.append(scan)
        except LookupError as error:
            unknown.add(str(error.args[0]))
        stack.extend((child, segment) for child in reversed(node.children))
        hides = hides or (node.name.endswith(_CACHED) and not node.children)
    if len(segments) > 1:
        _read_commands(segments[1:], unknown)
    if hides:
        for segment in segments:
            segment.scans += cached_scans(_operators_below(segment), unknown)
    return segments


def _command_name(node: PlanNode, execution: Execution) -> str:
    if node.name == _UNNAMED_COMMAND and (root := plan_text(execution.text).root):
        return next((f"Execute {inner.name}" for inner in root.inside), node.name)
    return node.name


def _read_commands(segments: list[PlanSegment], unknown: set[str]) -> None:
    """Set targets and operations, from the plan's text where `sparkPlanInfo` has only a name."""
    procedures = (unread_procedure(s.name, s.node.text if s.node else "") for s in segments)
    unknown |= {f"the procedure {name}" for name in procedures if name}
    if all(segment.role is CommandRole.MAINTENANCE for segment in segments):
        return
    root = plan_text(segments[0].execution.text).root
    operators: dict[str, list[Operator]] = defaultdict(list)
    for operator in root.walk() if root else ():
        operators[operator.name].append(operator)
    for segment in segments:
        assert segment.command
        assert segment.node
        if segment.role is CommandRole.MAINTENANCE:
            continue
        outer = operators[segment.node.name]
        segment.operator = outer.pop(0) if outer else None
        inner = next(iter(segment.operator.inside), None) if segment.operator else None
        inner = inner if inner and inner.kind == segment.name else None
        segment.target = _target(segment, inner)
        if segment.target:
            segment.operation = _operation(segment)
        elif segment.role is CommandRole.SAVE and _NOWHERE.search(segment.node.text):
            segment.command = None  # A query whose rows are discarded.
        elif segment.role is CommandRole.SAVE and _STAGED not in segment.node.text:
            unknown.add(f"the target of {segment.name}")
        if segment.role in (CommandRole.VIEW, CommandRole.SAVE) and inner:
            segment.sources = list(_logical_sources(inner))
        if segment.role in (CommandRole.INSERT, CommandRole.WRAPPER) and segment.operator:
            segment.inputs = written_columns(segment.operator)


def _target(segment: PlanSegment, inner: Operator | None) -> Target | None:
    """The target of a command; `inner` is the logical command inside its operator."""
    assert segment.command
    assert segment.node
    arguments = segment.node.text.removeprefix(segment.node.name).strip()
    if not arguments and (inner or segment.operator):
        arguments = (inner or segment.operator or Operator("")).arguments
    target = read_target(segment.command, arguments.removeprefix(segment.name).strip())
    if target and ("Partition" in segment.name or segment.name in _ON_PARTITIONS):
        target = replace(target, partitions=mapped_partitions(arguments))
    return (
        _changed_table(segment.scans) if target is None and segment.name in _ROW_LEVEL else target
    )


def _operation(segment: PlanSegment) -> Operation:
    assert segment.command
    assert segment.target
    assert segment.node
    if segment.name not in _ROW_LEVEL:
        return segment.command.operation_of(segment.target)
    below = list(segment.node.walk())
    if any(node.name.endswith("MergeRows") for node in below):
        return Operation.MERGE
    if segment.name == "WriteDelta":
        # Each row becomes two, one to delete and one to insert, or is marked as changed.
        makes = next((node for node in below if node.name.endswith(("Project", "Expand"))), None)
        changes = makes is not None and (
            makes.name.endswith("Expand") or "2 AS __row_operation" in makes.text
        )
    else:
        changes = any(node.name.endswith("Project") and "if (" in node.text for node in below)
    return Operation.UPDATE if changes else Operation.DELETE


def _changed_table(scans: list[Scan]) -> Target | None:
    """The target of a command that does not name it: the table that is read with the places of
    its rows, or the only one.
    """
    tables = dict.fromkeys(
        scan.table for scan in scans if scan.table and _ROW_PLACES & {c.name for c in scan.columns}
    ) or dict.fromkeys(scan.table for scan in scans if scan.table)
    return Target(next(iter(tables))) if len(tables) == 1 else None


def written_columns(command: Operator) -> list[Attribute]:
    """The columns that a command takes from the plan below it."""
    below = command.children[0] if command.children else command
    text = below.fields.get("Input", "") if below.kind == "WriteFiles" else ""
    return attributes(text or command.fields.get("Input", ""))


def _logical_sources(command: Operator) -> Iterator[Scan]:
    """The tables and views that the query of a view or save names."""
    stack = [*command.inside, *command.children]
    while stack:
        operator = stack.pop()
        view = identifier(operator.arguments.lstrip("(")) if operator.kind == "View" else ()
        if len(view) > 1:
            yield Scan(view)
            continue
        if scan := relation_scan(operator):
            yield scan
        stack.extend([*operator.inside, *operator.children])
