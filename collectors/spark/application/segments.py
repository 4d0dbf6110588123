"""An execution's plan taken apart: its commands and its query, each with what is read below it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from dbt_graft.collectors.spark.application.execution import Execution
from dbt_graft.collectors.spark.plans.arguments import Attribute, attributes, identifier
from dbt_graft.collectors.spark.plans.info import Node
from dbt_graft.collectors.spark.plans.text import Operator
from dbt_graft.collectors.spark.sources.commands import Command, Role, find_command, read_target
from dbt_graft.collectors.spark.sources.connectors import Target
from dbt_graft.collectors.spark.sources.plan_text import cached, plan_text, whole
from dbt_graft.collectors.spark.sources.rdds import Rdds, rdd_scans
from dbt_graft.collectors.spark.sources.relations import relation_scan
from dbt_graft.collectors.spark.sources.scans import Scan, is_schema_inference, read_scan
from dbt_graft.lineage.records import Status

# `format("noop")`, which people save to so that a query runs.
_NOWHERE = re.compile(r"\b(?:NoopWrite|NoopTable|noop-table)\b")
_SCANS_RDD, _RDD = "Scan ExistingRDD", "RDD["
_CACHED = "InMemoryTableScan"
# Commands that change single rows, and the columns that say where these are.
_ROW_LEVEL = ("ReplaceData", "WriteDelta")
_ROW_PLACES = frozenset({"_file", "_pos", "_spec_id", "_partition"})
# What Spark 2 calls every command that its text then names.
_NAMELESS_COMMAND = "ExecutedCommand"


@dataclass(slots=True)
class Part:
    """A command of an execution's plan with what is read below it; without a command, a query.

    Attributes:
        operator: The command in the plan's text.
        sources: What the logical plan in it names: tables, views, other databases' tables.
        inputs: The columns that it writes.
        around: The executions that it is nested in and that name its target.
        feeds: The queries nested in its execution: what it writes is what they give.
    """

    execution: Execution
    name: str = ""
    command: Command | None = None
    target: Target | None = None
    node: Node | None = None
    scans: list[Scan] = field(default_factory=list)
    sources: list[Scan] = field(default_factory=list)
    inputs: list[Attribute] = field(default_factory=list)
    operator: Operator | None = None
    operation: str = "SELECT"
    around: list[Execution] = field(default_factory=list)
    feeds: list[Part] = field(default_factory=list)

    @property
    def role(self) -> Role | None:
        return self.command.role if self.command else None

    @property
    def status(self) -> Status:
        """As its execution and those around it ended: data of a failed save does not count."""
        ends = {execution.status for execution in (self.execution, *self.around)}
        return next(s for s in (Status.FAILED, Status.UNKNOWN, Status.OK) if s in ends)


def parts_of(execution: Execution, problems: list[str]) -> list[Part]:
    """An execution's query and commands; what adaptive execution optimised away counts as read."""
    if execution.plan is None or is_schema_inference(execution.plan):
        return []
    unknown: set[str] = set()
    started = _split(execution, execution.plan, unknown)
    if execution.final is None:
        parts = started
    else:
        parts = []
        for first, last in zip_longest(started, _split(execution, execution.final, unknown)):
            part = last or first
            if first and last:
                seen = {(scan.table, scan.paths) for scan in last.scans}
                part.scans += [s for s in first.scans if (s.table, s.paths) not in seen]
            parts.append(part)
    problems += [f"execution {execution.id}: there is no rule for {name}" for name in unknown]
    alone = len(parts) == 1 and _SCANS_RDD in execution.text
    return [part for part in parts if part.command or part.scans or alone]


def bridge(part: Part, rdds: Rdds) -> None:
    """Take what the RDDs were made of that a part's plan begins with."""
    if not rdds or _RDD not in part.execution.text:
        return
    for top in _below(part):
        for operator in top.walk():
            seen = {(scan.table, scan.paths) for scan in part.scans}
            part.scans += [
                scan for scan in rdd_scans(operator, rdds) if (scan.table, scan.paths) not in seen
            ]


def _below(part: Part) -> list[Operator]:
    """What a part takes rows from, in the plan's text."""
    if part.operator:
        return part.operator.children
    root = plan_text(part.execution.text).root
    return [root] if root else []


def _split(execution: Execution, plan: Node, unknown: set[str]) -> list[Part]:
    query = Part(execution)
    parts = [query]
    stack = [(plan, query)]
    hides = False  # a cached relation whose plan is in the text alone
    while stack:
        node, part = stack.pop()
        if node.name == "CommandResult":
            continue  # The rows of a command that has an execution of its own.
        try:
            if found := find_command(_command_name(node, execution)):
                part = Part(execution, found[0], found[1], node=node)
                parts.append(part)
            elif scan := read_scan(whole(node, execution.text)):
                part.scans.append(scan)
        except LookupError as error:
            unknown.add(str(error.args[0]))
        stack.extend((child, part) for child in reversed(node.children))
        hides = hides or (node.name.endswith(_CACHED) and not node.children)
    if len(parts) > 1:
        _read_commands(parts[1:], unknown)
    if hides:
        for part in parts:
            part.scans += cached(_below(part), unknown)
    return parts


def _command_name(node: Node, execution: Execution) -> str:
    if node.name == _NAMELESS_COMMAND and (root := plan_text(execution.text).root):
        return next((f"Execute {inner.name}" for inner in root.inside), node.name)
    return node.name


def _read_commands(parts: list[Part], unknown: set[str]) -> None:
    """Fill in the targets; the text tells them where `sparkPlanInfo` has the bare name only."""
    if all(part.role is Role.MAINTENANCE for part in parts):
        return
    root = plan_text(parts[0].execution.text).root
    operators: dict[str, list[Operator]] = defaultdict(list)
    for operator in root.walk() if root else ():
        operators[operator.name].append(operator)
    for part in parts:
        assert part.command
        assert part.node
        if part.role is Role.MAINTENANCE:
            continue
        outer = operators[part.node.name]
        part.operator = outer.pop(0) if outer else None
        inner = next(iter(part.operator.inside), None) if part.operator else None
        inner = inner if inner and inner.kind == part.name else None
        part.target = _target(part, inner)
        if part.target:
            part.operation = _operation(part)
        elif part.role is Role.SAVE and _NOWHERE.search(part.node.text):
            part.command = None  # A query whose rows are thrown away.
        elif part.role is Role.SAVE:
            unknown.add(f"the target of {part.name}")
        if part.role in (Role.VIEW, Role.SAVE) and inner:
            part.sources = list(_logical_sources(inner))
        if part.role in (Role.INSERT, Role.WRAPPER) and part.operator:
            part.inputs = written_columns(part.operator)


def _target(part: Part, inner: Operator | None) -> Target | None:
    """Where a command writes; `inner` is the command in the text of what executes it."""
    assert part.command
    assert part.node
    arguments = part.node.text.removeprefix(part.node.name).strip()
    if not arguments and (inner or part.operator):
        arguments = (inner or part.operator or Operator("")).arguments
    target = read_target(part.command, arguments.removeprefix(part.name).strip())
    return _changed(part.scans) if target is None and part.name in _ROW_LEVEL else target


def _operation(part: Part) -> str:
    assert part.command
    assert part.target
    assert part.node
    if part.name not in _ROW_LEVEL:
        return part.command.operation_of(part.target)
    below = list(part.node.walk())
    if any(node.name.endswith("MergeRows") for node in below):
        return "MERGE"
    changes = any(node.name.endswith("Project") and "if (" in node.text for node in below)
    return "UPDATE" if changes else "DELETE"


def _changed(scans: list[Scan]) -> Target | None:
    """The table whose rows a command changes that does not name it: the one that is read with
    the places of its rows, or the only one.
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
    """What the query of a view or save names, nothing below the views in it."""
    stack = [*command.inside, *command.children]
    while stack:
        operator = stack.pop()
        view = identifier(operator.arguments.lstrip("(")) if operator.kind == "View" else ()
        if len(view) > 1:
            yield Scan(view)
            continue
        if found := relation_scan(operator):
            yield found
        stack.extend([*operator.inside, *operator.children])
