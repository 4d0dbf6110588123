"""Plans as trees of operators: of their text, and of `sparkPlanInfo`, physical with metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt_graft.lineage.frozen import frozen

# Spark's name and that of RAPIDS.
_ROWS = ("number of output rows", "output rows")


@frozen
class PlanNode:
    """A physical operator; `metrics` are accumulator ids by metric name."""

    name: str
    text: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, int] = field(default_factory=dict)
    children: tuple[PlanNode, ...] = ()

    @property
    def rows_metric_id(self) -> int | None:
        """The accumulator of the rows that it puts out; None where it has no such metric."""
        return next((self.metrics[name] for name in _ROWS if name in self.metrics), None)

    def walk(self) -> Iterator[PlanNode]:
        """The node and all below it, each before its children."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


def from_info(info: Mapping[str, Any]) -> PlanNode:
    """Build the tree of a `sparkPlanInfo`, without recursion because plans can be deep."""
    order: list[Mapping[str, Any]] = [info]
    for at in order:
        order.extend(at.get("children", ()))
    built: dict[int, PlanNode] = {}
    for at in reversed(order):
        built[id(at)] = PlanNode(
            name=at["nodeName"].strip(),
            text=at.get("simpleString", ""),
            metadata=at.get("metadata") or {},
            metrics={m["name"]: m["accumulatorId"] for m in at.get("metrics", ())},
            children=tuple(built[id(child)] for child in at.get("children", ())),
        )
    return built[id(info)]


_WORD = re.compile(r"[\w$.]+")
# Prefixes and suffixes that other engines add to Spark's names of operators.
_BRANDS = re.compile(
    r"^(?:GpuFile)?(?:Gpu|Photon|Comet|Native)(?=[A-Z])|(?<=\w)(?:Exec)?Transformer$"
)


@dataclass(slots=True, eq=False)
class Operator:
    """An operator of a plan.

    Attributes:
        name: Its name in the text: `Scan parquet raw.orders`, `Project`.
        text: The rest of its line; empty in the formatted layout.
        fields: Its section in the formatted layout: `Arguments`, `Input`…
        sizes: The length of those of its fields that are lists.
        inside: Subqueries, the plan of a cached relation, a command's logical plan.
    """

    name: str
    text: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    children: list[Operator] = field(default_factory=list)
    inside: list[Operator] = field(default_factory=list)
    reuses: Operator | None = None

    @property
    def kind(self) -> str:
        """The operator's class without an engine's prefix: `Project` for `GpuProject [a#1]`."""
        match = _WORD.match(self.name)
        return _BRANDS.sub("", match.group()) if match else ""

    @property
    def arguments(self) -> str:
        """Its arguments, as text."""
        return self.fields.get("Arguments", self.text)

    def walk(self) -> Iterator[Operator]:
        """The operator and all below and inside it, each before its inputs."""
        stack = [self]
        while stack:
            operator = stack.pop()
            yield operator
            stack.extend(reversed(operator.children))
            stack.extend(reversed(operator.inside))


@dataclass(slots=True)
class PlanText:
    """The plans of a text.

    Attributes:
        optimised: The optimised logical plan, where the text has one.
        subqueries: The plans of subqueries with trees of their own, by id.
        is_formatted: The text has a section for each operator.
        is_cut: An operator lacks its section.
    """

    root: Operator | None = None
    optimised: Operator | None = None
    subqueries: dict[int, Operator] = field(default_factory=dict)
    is_formatted: bool = False
    is_cut: bool = False
