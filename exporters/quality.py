"""Faults downstream and deadlines, as JSON of the schema `docs/quality.schema.json` and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dbt_graft import __version__
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.quality.deadlines import DeadlineForecast
from dbt_graft.lineage.quality.downstream import Faults, ReachedFault, nearest
from dbt_graft.lineage.quality.faults import QualityFault
from dbt_graft.lineage.quality.words import HARM, fault_text, forecast_text, in_words

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

    def of_consumers(self) -> Iterator[tuple[Consumer, ReachedFault]]:
        """The faults that consumers have by what they read, each once for a consumer."""
        own: dict[DatasetId, list[ReachedFault]] = {}
        for fault in self.faults:
            own.setdefault(fault.dataset, []).append(ReachedFault(fault, (fault.dataset,)))
        for consumer in sorted(self.consumers, key=lambda one: one.name):
            found = [one for dataset in sorted(consumer.reads) for one in own.get(dataset, ())]
            for dataset in sorted(consumer.reads):
                found += self.downstream.get(dataset, ())
            seen: set[QualityFault] = set()
            for one in nearest(found):
                if one.fault not in seen:
                    seen.add(one.fault)
                    yield consumer, one

    @property
    def is_bad(self) -> bool:
        """A fault reaches a consumer, or a deadline is or will be missed."""
        return any(True for _ in self.of_consumers()) or any(
            one.status.is_bad for one in self.deadlines
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
                "dataset": str(one.dataset),
                "kind": one.kind.value,
                "test": one.name or None,
                "column": one.column or None,
                "failed_at": _iso(one.failed_at),
                "rows": one.rows,
            }
            for one in report.faults
        ],
        "datasets": {
            str(dataset): [
                {**_fault(one.fault), "path": [str(step) for step in one.path]} for one in reached
            ]
            for dataset, reached in sorted(report.downstream.items())
        },
        "consumers": [
            {
                "consumer": consumer.name,
                "kind": consumer.kind,
                "owner": consumer.owner or None,
                "fault": _fault(one.fault),
                "path": [str(step) for step in one.path],
            }
            for consumer, one in report.of_consumers()
        ],
        "deadlines": [
            {
                "consumer": one.consumer.name,
                "owner": one.consumer.owner or None,
                "status": one.status.value,
                "deadline": _iso(one.deadline),
                "expected": _iso(one.expected),
                "dataset": str(one.dataset) if one.dataset else None,
                "waits_for": str(one.waits_for) if one.waits_for else None,
                "tasks": list(report.writers.get(one.waits_for, ())) if one.waits_for else [],
                "text": forecast_text(one, report.writers),
            }
            for one in report.deadlines
        ],
    }


def quality_lines(report: QualityReport, most: int | None) -> Iterator[str]:
    """The report for people.

    Args:
        most: Lines of each part; None for all.
    """
    below = in_words(len(report.downstream), "dataset")
    yield f"{in_words(len(report.faults), 'fault')}, {below} below"
    known, every = report.tested
    if known < every or not every:
        of = f"{known:,} of {in_words(every, 'test')} have" if every else "no test has"
        yield f"{of} a result: `graft collect` reads dbt's run_results.json, and events"
    faults = [f"{fault_text(one, report.at)}: {HARM[one.kind]}" for one in report.faults]
    consumers = [
        f"{consumer.name}{f' ({consumer.owner})' if consumer.owner else ''}: "
        f"{fault_text(one.fault, report.at)}, by {' > '.join(step.name for step in one.path)}"
        for consumer, one in report.of_consumers()
    ]
    deadlines = [
        f"{one.consumer.name}: {forecast_text(one, report.writers)}" for one in report.deadlines
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
