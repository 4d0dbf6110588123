"""Drift for people, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from dbt_graft.analysis.checks.column_drift import ColumnDrift, ColumnDriftStatus
from dbt_graft.analysis.checks.drift import DriftEdge, DriftStatus
from dbt_graft.analysis.render.phrases import count
from dbt_graft.graft.questions.checks.dag_check import finding_line
from dbt_graft.graft.questions.checks.drift_report import DriftReport
from dbt_graft.lineage.dataset import DatasetId

_ORDER = [
    DriftStatus.PHANTOM,
    DriftStatus.UNDECLARED,
    DriftStatus.UNVERIFIED,
    DriftStatus.VERIFIED,
]
_NAMED = 5  # columns in a line


def drift_lines(report: DriftReport, *, everything: bool) -> Iterator[str]:
    """The report.

    Args:
        everything: Whether edges that are verified have a line, too.
    """
    yield from _edge_lines(report.edges, everything=everything)
    if report.columns:
        counts = Counter(column.status for column in report.columns)
        named = (f"{number:,} {status.value.lower()}" for status, number in sorted(counts.items()))
        yield f"columns: {', '.join(named)}"
        for status, dataset, text in _group_by_dataset(report.columns):
            yield f"  {status.value:<10} {dataset}: {text}"
    if report.dags is not None:
        outcome = "" if report.orders else ": in the order that lineage demands"
        yield f"{count(report.dags, 'DAG')}{outcome}"
        yield from (f"  {finding_line(order)}" for order in report.orders)


def status_counts(edges: Sequence[DriftEdge]) -> Mapping[DriftStatus, int]:
    """The number of edges of each status, the worst first."""
    counts = Counter(edge.status for edge in edges)
    return {status: counts[status] for status in _ORDER}


def column_lines(columns: Sequence[ColumnDrift]) -> Iterator[tuple[DatasetId, str]]:
    """A sentence for each dataset and status; columns that are retyped have one each."""
    for _, dataset, text in _group_by_dataset(columns):
        yield dataset, text


def _edge_lines(edges: Sequence[DriftEdge], *, everything: bool) -> Iterator[str]:
    if not edges:
        yield "nothing is declared of any task or dbt model that could be compared"
        return
    counts = status_counts(edges)
    yield ", ".join(f"{number:,} {status.value.lower()}" for status, number in counts.items())
    for status in _ORDER if everything else _ORDER[:-1]:
        for edge in edges:
            if edge.status is status:
                relation = f"{edge.task} {edge.direction.value}s {edge.dataset}"
                yield f"  {status.value:<10} {relation}  {_reason_text(edge)}"


def _group_by_dataset(
    columns: Iterable[ColumnDrift],
) -> Iterator[tuple[ColumnDriftStatus, DatasetId, str]]:
    for (dataset, status), group in groupby(columns, lambda drift: (drift.dataset, drift.status)):
        drifts = list(group)
        if status is ColumnDriftStatus.RETYPED:
            yield from (
                (status, dataset, f"{drift.column} is {_column_text(drift)}") for drift in drifts
            )
            continue
        named = [drift.column for drift in drifts]
        if len(named) > _NAMED:
            named[_NAMED:] = [f"{len(named) - _NAMED:,} more"]
        last = max(drifts, key=lambda drift: (drift.seen_at is not None, drift.seen_at))
        listed = " and ".join(filter(None, [", ".join(named[:-1]), named[-1]]))
        yield status, dataset, f"{listed}: {_column_text(last)}"


def _column_text(drift: ColumnDrift) -> str:
    """The reason, in a few words."""
    seen = f"seen last at {drift.seen_at:%Y-%m-%d %H:%M}" if drift.seen_at else "seen"
    if drift.status is ColumnDriftStatus.UNDECLARED:
        return f"{seen}, not in the catalog"
    if drift.status is ColumnDriftStatus.RETYPED:
        return f"{drift.in_catalog} in the catalog, {drift.seen} {seen}"
    return "described in YAML, and neither in the catalog nor in a log"


def _reason_text(edge: DriftEdge) -> str:
    since = f" since {edge.runs_from:%Y-%m-%d}" if edge.runs_from else ""
    runs = f"{edge.runs:,} run{'' if edge.runs == 1 else 's'}"
    if edge.status is DriftStatus.PHANTOM:
        return f"declared, and in none of {runs}{since}"
    if edge.status is DriftStatus.UNVERIFIED:
        return f"declared; {runs} known" if edge.runs else "declared; no log shows what it does"
    seen = f"seen last at {edge.last_at:%Y-%m-%d %H:%M}" if edge.last_at else "seen"
    by = f" by run {edge.run_id}" if edge.run_id else ""
    if edge.status is DriftStatus.VERIFIED:
        return f"{seen}{by}; {runs}{since}"
    return f"{seen}{by}, not declared"
