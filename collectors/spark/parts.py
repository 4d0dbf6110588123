"""An execution's plan taken apart: its commands and its query, each with what is read below it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from collectors.spark.commands import Command, Role, Target, find_command, read_target
from collectors.spark.history import Execution
from collectors.spark.plans.arguments import Attribute, attributes, identifier, split_arguments
from collectors.spark.plans.info import Node
from collectors.spark.plans.text import Operator, parse_text
from collectors.spark.scans import Scan, is_schema_inference, read_scan
from lineage.records import Status


@dataclass(slots=True)
class Part:
    """A command of an execution's plan with what is read below it; without a command, a query."""

    execution: Execution
    name: str = ""
    command: Command | None = None
    target: Target | None = None
    node: Node | None = None
    scans: list[Scan] = field(default_factory=list)
    sources: list[tuple[str, ...]] = field(default_factory=list)
    inputs: list[Attribute] = field(default_factory=list)
    operation: str = "SELECT"
    around: list[Execution] = field(default_factory=list)

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
    return [part for part in parts if part.command or part.scans]


def _split(execution: Execution, plan: Node, unknown: set[str]) -> list[Part]:
    query = Part(execution)
    parts = [query]
    stack = [(plan, query)]
    while stack:
        node, part = stack.pop()
        if node.name == "CommandResult":
            continue  # The rows of a command that has an execution of its own.
        try:
            if found := find_command(node.name):
                part = Part(execution, found[0], found[1], node=node)
                parts.append(part)
            elif scan := read_scan(node):
                part.scans.append(scan)
        except LookupError as error:
            unknown.add(str(error.args[0]))
        stack.extend((child, part) for child in reversed(node.children))
    if len(parts) > 1:
        _read_commands(parts[1:])
    return parts


def _read_commands(parts: list[Part]) -> None:
    """Fill in the targets; the text tells them where `sparkPlanInfo` has the bare name only."""
    root = parse_text(parts[0].execution.text).root
    operators: dict[str, list[Operator]] = defaultdict(list)
    for operator in root.walk() if root else ():
        operators[operator.name].append(operator)
    for part in parts:
        assert part.command
        assert part.node
        if part.role is Role.MAINTENANCE:
            continue
        arguments = part.node.text.removeprefix(part.node.name).strip()
        inner = operators[part.name][0] if operators[part.name] else None
        if not arguments and inner:
            arguments = inner.arguments
        part.target = read_target(part.command, arguments)
        if part.target:
            part.operation = part.command.operation_of(part.target)
        if part.role is Role.VIEW and inner:
            part.sources = list(_logical_sources(inner))
        outer = operators[part.node.name]
        if part.role is Role.INSERT and outer:
            files = outer.pop(0).children
            part.inputs = attributes(files[0].fields.get("Input", "")) if files else []


def _logical_sources(view: Operator) -> Iterator[tuple[str, ...]]:
    """The tables and views that a view's query names, nothing below the latter."""
    stack = [*view.inside, *view.children]
    while stack:
        operator = stack.pop()
        arguments = split_arguments(operator.arguments)
        named = [identifier(arg) for arg in arguments if arg.startswith("`")]
        is_view = operator.name == "View" and bool(named) and len(named[0]) > 1
        if named and (is_view or operator.name in ("LogicalRelation", "HiveTableRelation")):
            yield named[0]
        if not is_view:
            stack.extend([*operator.inside, *operator.children])
