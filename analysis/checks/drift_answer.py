"""Drift as an answer: edges and columns on which people, dbt and logs do not agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.checks.column_drift import ColumnDrift, ColumnDriftStatus
from dbt_graft.analysis.checks.drift import DriftEdge, DriftStatus
from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.render.json import iso
from dbt_graft.analysis.render.phrases import count, join_names, time_text
from dbt_graft.analysis.rule import COLUMN_DRIFT, PHANTOM_EDGE, UNDECLARED_EDGE

_ORDER = [
    DriftStatus.PHANTOM,
    DriftStatus.UNDECLARED,
    DriftStatus.UNVERIFIED,
    DriftStatus.VERIFIED,
]
_RULES = {DriftStatus.PHANTOM: PHANTOM_EDGE, DriftStatus.UNDECLARED: UNDECLARED_EDGE}
_NAMED = 5  # columns in a line


def drift_answer(
    edges: Sequence[DriftEdge],
    columns: Sequence[ColumnDrift],
    owners: Mapping[str, str],
    models: Collection[str] = (),
    since: datetime | None = None,
) -> Answer:
    """The findings, and the edges that are as declared, or of which too little is known.

    Args:
        owners: Task or dataset -> its owner.
        models: The names of dbt's models.
        since: The begin of the runs that were looked at.
    """
    counts = Counter(edge.status for edge in edges)
    notes = []
    if not edges:
        notes.append("nothing is declared of any task or dbt model that could be compared")
    return Answer(
        "declared lineage and what runs do",
        ", ".join(f"{counts[status]:,} {status.value.lower()}" for status in _ORDER),
        tables=[
            Table(
                f"{status.value.lower()} edges",
                (),
                [_row(edge) for edge in edges if edge.status is status],
            )
            for status in _ORDER
            if status not in _RULES
        ],
        notes=notes,
        findings=[*_edge_findings(edges, owners, models), *_column_findings(columns, owners)],
        data={
            "since": iso(since),
            "counts": {status.value: counts[status] for status in _ORDER},
            "edges": [_edge_json(edge) for edge in edges],
            "columns": [_column_json(column) for column in columns],
        },
    )


def _edge_findings(
    edges: Iterable[DriftEdge], owners: Mapping[str, str], models: Collection[str]
) -> Iterator[Finding]:
    for edge in edges:
        if rule := _RULES.get(edge.status):
            problem = f"{edge.direction.value}s {edge.dataset}: {_reason(edge)}"
            remedy = "run `graft export declared`, which prints the YAML that settles it"
            if edge.task in models:
                remedy = "name tables by `ref` and `source`, and only those that the model reads"
            yield rule.finding(edge.task, problem, remedy, owners.get(edge.task, ""))


def _column_findings(
    columns: Iterable[ColumnDrift], owners: Mapping[str, str]
) -> Iterator[Finding]:
    for dataset, group in groupby(columns, lambda drift: str(drift.dataset)):
        for text in _column_texts(list(group)):
            remedy = "run `dbt docs generate`, and correct the columns in YAML"
            yield COLUMN_DRIFT.finding(dataset, text, remedy, owners.get(dataset, ""))


def _column_texts(columns: Iterable[ColumnDrift]) -> Iterator[str]:
    """A sentence for each status; columns that are retyped have one each."""
    for status, group in groupby(columns, lambda drift: drift.status):
        drifts = list(group)
        if status is ColumnDriftStatus.RETYPED:
            yield from (f"{drift.column} is {_column_reason(drift)}" for drift in drifts)
        else:
            last = max(drifts, key=lambda drift: (drift.seen_at is not None, drift.seen_at))
            names = join_names([drift.column for drift in drifts], _NAMED)
            yield f"{names}: {_column_reason(last)}"


def _column_reason(drift: ColumnDrift) -> str:
    seen = f"seen last at {time_text(drift.seen_at)}" if drift.seen_at else "seen"
    if drift.status is ColumnDriftStatus.UNDECLARED:
        return f"{seen}, not in the catalog"
    if drift.status is ColumnDriftStatus.RETYPED:
        return f"{drift.in_catalog} in the catalog, {drift.seen} {seen}"
    return "described in YAML, and neither in the catalog nor in a log"


def _row(edge: DriftEdge) -> tuple[str, ...]:
    return edge.task, f"{edge.direction.value}s", str(edge.dataset), _reason(edge)


def _reason(edge: DriftEdge) -> str:
    since = f" since {edge.runs_from:%Y-%m-%d}" if edge.runs_from else ""
    runs = count(edge.runs, "run")
    if edge.status is DriftStatus.PHANTOM:
        return f"declared, and in none of {runs}{since}"
    if edge.status is DriftStatus.UNVERIFIED:
        return f"declared; {runs} known" if edge.runs else "declared; no log shows what it does"
    seen = f"seen last at {time_text(edge.last_at)}" if edge.last_at else "seen"
    by = f" by run {edge.run_id}" if edge.run_id else ""
    if edge.status is DriftStatus.VERIFIED:
        return f"{seen}{by}; {runs}{since}"
    return f"{seen}{by}, not declared"


def _edge_json(edge: DriftEdge) -> dict[str, object]:
    return {
        "task": edge.task,
        "dataset": str(edge.dataset),
        "direction": edge.direction.value,
        "status": edge.status.value,
        "runs": edge.runs,
        "runs_from": iso(edge.runs_from),
        "run_id": edge.run_id or None,
        "sources": list(edge.sources),
        "first_at": iso(edge.first_at),
        "last_at": iso(edge.last_at),
    }


def _column_json(column: ColumnDrift) -> dict[str, object]:
    return {
        "dataset": str(column.dataset),
        "column": column.column,
        "status": column.status.value,
        "catalog_type": column.in_catalog or None,
        "seen_type": column.seen or None,
        "seen_at": iso(column.seen_at),
    }
