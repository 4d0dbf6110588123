"""Changes of a graft that a team may not want in dbt's artifacts."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.rule import CYCLE_BROKEN, SECOND_WRITER, UNKNOWN_DATASET, matches_any
from dbt_graft.injector.report import BuiltDataset, NewSource, Report

REMEDY = "correct it, or list it below `check: {accept: […]}` in graft.yml"


def unwanted_changes(report: Report, accept: Collection[str] = ()) -> Iterator[Finding]:
    """The changes that are not accepted, rule by rule.

    Args:
        accept: Names of datasets, dbt nodes and tasks, with `*` as a wildcard; case is ignored.
    """
    for cycle in report.cycles:
        edge = cycle.left_out
        if not matches_any((edge.source, edge.target, *edge.tasks), accept):
            problem = f"{', '.join(edge.tasks)} closes {cycle.path}"
            yield CYCLE_BROKEN.finding(edge.source, problem, REMEDY)
    for node in report.second_writers:
        if not _is_accepted(node, accept):
            problem = f"{', '.join(node.tasks)} writes it, as dbt does"
            yield SECOND_WRITER.finding(str(node.dataset), problem, REMEDY)
    additions: tuple[BuiltDataset | NewSource, ...] = (*report.added, *report.new_sources)
    for addition in additions:
        if not _is_accepted(addition, accept):
            problem = f"dbt does not know it; it is used by {', '.join(addition.tasks)}"
            yield UNKNOWN_DATASET.finding(str(addition.dataset), problem, REMEDY)


def _is_accepted(node: BuiltDataset | NewSource, accept: Collection[str]) -> bool:
    return matches_any((str(node.dataset), node.node_id, *node.tasks), accept)
