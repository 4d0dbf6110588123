"""Faults downstream and deadlines, as JSON of the schema `docs/quality.schema.json` and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dbt_graft import __version__
from dbt_graft.analysis.quality.deadlines import DeadlineForecast
from dbt_graft.analysis.quality.downstream import Faults, ReachedFault, nearest
from dbt_graft.analysis.quality.faults import QualityFault
from dbt_graft.analysis.quality.words import HARM, fault_text, forecast_text, in_words
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer

VERSION = 1
SCHEMA_URL = "https://raw.githubusercontent.com/dbt-graft/dbt-graft/main/docs/quality.schema.json"


@dataclass(frozen=True, slots=True)
class QualityReport:
    """The faults now, what they reach, and the forecasts of consumers.

    Attributes:
        at: The moment that it is about.
        tested: The tests and freshness checks of which a result is known, and all that there are.
        writers: Dataset -> the tasks that write it.
    """

    at: datetime
    faults: Sequence[QualityFault]
    downstream: Faults
    consumers: Sequence[Consumer]
    deadlines: Sequence[DeadlineForecast]
    tested: tuple[int, int] = (0, 0)
    writers: Mapping[DatasetId, Sequence[str]] = field(default_factory=dict)

    def consumer_faults(self) -> Iterator[tuple[Consumer, ReachedFault]]:
        """The faults that consumers have by what they read, each once for a consumer."""
        faults_by_dataset: dict[DatasetId, list[ReachedFault]] = {}
        for fault in self.faults:
            faults_by_dataset.setdefault(fault.dataset, []).append(
                ReachedFault(fault, (fault.dataset,))
            )
        for consumer in sorted(self.consumers, key=lambda consumer: consumer.name):
            reached = [
                reached_fault
                for dataset in sorted(consumer.reads)
                for reached_fault in faults_by_dataset.get(dataset, ())
            ]
            for dataset in sorted(consumer.reads):
                reached += self.downstream.get(dataset, ())
            seen: set[QualityFault] = set()
            for reached_fault in nearest(reached):
                if reached_fault.fault not in seen:
                    seen.add(reached_fault.fault)
                    yield consumer, reached_fault

    @property
    def is_bad(self) -> bool:
        """A fault reaches a consumer, or a deadline is or will be missed."""
        return any(True for _ in self.consumer_faults()) or any(
            forecast.status.is_bad for forecast in self.deadlines
        )


def quality_json(report: QualityReport) -> dict[str, Any]:
    """The document."""
    return {
        "$schema": SCHEMA_URL,
        "version": VERSION,
        "producer": f"dbt-graft {__version__}",
        "at": report.at.isoformat(),
        "tests": {"with_result": report.tested[0], "of": report.tested[1]},
        "faults": [
            {
                "dataset": str(fault.dataset),
                "kind": fault.kind.value,
                "test": fault.name or None,
                "column": fault.column or None,
                "failed_at": _iso(fault.failed_at),
                "rows": fault.rows,
            }
            for fault in report.faults
        ],
        "datasets": {
            str(dataset): [
                {**_fault(reached_fault.fault), "path": [str(step) for step in reached_fault.path]}
                for reached_fault in reached
            ]
            for dataset, reached in sorted(report.downstream.items())
        },
        "consumers": [
            {
                "consumer": consumer.name,
                "kind": consumer.kind,
                "owner": consumer.owner or None,
                "fault": _fault(reached_fault.fault),
                "path": [str(step) for step in reached_fault.path],
            }
            for consumer, reached_fault in report.consumer_faults()
        ],
        "deadlines": [
            {
                "consumer": forecast.consumer.name,
                "owner": forecast.consumer.owner or None,
                "status": forecast.status.value,
                "deadline": _iso(forecast.deadline),
                "expected": _iso(forecast.expected),
                "dataset": str(forecast.dataset) if forecast.dataset else None,
                "waits_for": str(forecast.waits_for) if forecast.waits_for else None,
                "tasks": list(report.writers.get(forecast.waits_for, ()))
                if forecast.waits_for
                else [],
                "text": forecast_text(forecast, report.writers),
            }
            for forecast in report.deadlines
        ],
    }


def quality_lines(report: QualityReport, most: int | None) -> Iterator[str]:
    """The report for people.

    Args:
        most: Lines of each part; None for all.
    """
    downstream = in_words(len(report.downstream), "dataset")
    yield f"{in_words(len(report.faults), 'fault')}, {downstream} below"
    tested, total = report.tested
    if tested < total or not total:
        coverage = f"{tested:,} of {in_words(total, 'test')} have" if total else "no test has"
        yield f"{coverage} a result: `graft collect` reads dbt's run_results.json, and events"
    faults = [f"{fault_text(fault, report.at)}: {HARM[fault.kind]}" for fault in report.faults]
    consumers = [
        f"{consumer.name}{f' ({consumer.owner})' if consumer.owner else ''}: "
        f"{fault_text(reached.fault, report.at)}, "
        f"by {' > '.join(step.name for step in reached.path)}"
        for consumer, reached in report.consumer_faults()
    ]
    deadlines = [
        f"{forecast.consumer.name}: {forecast_text(forecast, report.writers)}"
        for forecast in report.deadlines
    ]
    for title, lines in (("faults", faults), ("consumers", consumers), ("deadlines", deadlines)):
        if lines:
            yield ""
            yield f"{title} ({len(lines):,})"
            yield from (f"  {line}" for line in lines[:most])
            if most and len(lines) > most:
                yield f"  and {len(lines) - most:,} more: --all shows them"


def _fault(fault: QualityFault) -> dict[str, Any]:
    return {
        "dataset": str(fault.dataset),
        "kind": fault.kind.value,
        "test": fault.name or None,
        "column": fault.column or None,
        "failed_at": _iso(fault.failed_at),
    }


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
