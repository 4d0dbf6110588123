"""`sparkPlanInfo`: the tree of physical operators with their metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
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
