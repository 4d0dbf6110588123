"""Scans from a plan's text, where `sparkPlanInfo` has less.

There, operators of other engines and of data source V2 have no metadata and their arguments are cut
at a hundred characters; and before Spark 3.5 a scan of a cached relation hides the plan behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from dbt_graft.collectors.spark.plans.arguments import attributes
from dbt_graft.collectors.spark.plans.text import parse_text
from dbt_graft.collectors.spark.plans.tree import Operator, PlanNode, PlanText
from dbt_graft.collectors.spark.sources.scans import Scan, is_complete, read_scan, scan_output

_LOCATION = "\nLocation: "
_QUALIFIED = re.compile(r"(?:[\w$-]+|`[^`]+`)(?:\.(?:[\w$-]+|`[^`]+`))+")


@lru_cache(maxsize=32)  # The plans of a statement are used several times.
def plan_text(text: str) -> PlanText:
    """The plans of a text; relations without a name get that of the alias above them.

    Before Spark 3.2 the table `raw.t` is a relation without a name below `SubqueryAlias raw.t`.
    """
    plan = parse_text(text)
    for root in filter(None, (plan.root, plan.optimised)):
        for operator in root.walk():
            named = operator.kind == "SubqueryAlias" and _QUALIFIED.fullmatch(operator.text)
            for below in operator.children if named else ():
                if below.kind == "Relation" and below.text.startswith("["):
                    below.text = operator.text + below.text
    return plan


def scan_node(operator: Operator) -> PlanNode:
    """Return an operator of a plan's text as a node of `sparkPlanInfo`."""
    if operator.fields:
        line = f"{operator.fields.get('Output', '')} {operator.fields.get('Arguments', '')}"
        return PlanNode(operator.name, line.strip(), operator.fields)
    # `FileScan parquet raw.t[a#1] Batched: true, …`: the table is part of the name.
    dataset, bracket, rest = operator.text.partition("[")
    name = f"{operator.name} {dataset}".strip()
    return PlanNode(name, f"{name}{bracket}{rest}")


def with_location(node: PlanNode, text: str) -> PlanNode:
    """Add a scan's files, which only the text has, found by the ids of its columns."""
    if "Scan" not in node.name or is_complete(node) or _LOCATION not in text:
        return node
    fields_by_id = _by_column(text)
    fields = next(
        (fields_by_id[column.id] for column in scan_output(node) if column.id in fields_by_id), {}
    )
    return replace(node, metadata={**fields, **node.metadata})


@lru_cache(maxsize=8)
def _by_column(text: str) -> dict[int, dict[str, str]]:
    """The fields of scans of files, by the ids of their columns."""
    root = plan_text(text).root
    return {
        column.id: operator.fields
        for operator in (root.walk() if root else ())
        if "Location" in operator.fields
        for column in attributes(operator.fields.get("Output", ""))
    }


def cached_scans(plans: Iterable[Operator], unknown: set[str]) -> Iterator[Scan]:
    """The scans behind the cached relations of plans.

    Args:
        unknown: Takes the names of operators without a rule.
    """
    for relation in (
        relation for top in plans for relation in top.walk() if relation.kind == "InMemoryRelation"
    ):
        for operator in relation.walk():
            try:
                if scan := read_scan(scan_node(operator)):
                    yield scan
            except LookupError as error:
                unknown.add(str(error.args[0]))
