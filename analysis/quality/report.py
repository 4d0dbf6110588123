"""Faults downstream and deadlines as an answer, with data of `docs/schemas/quality.schema.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from dbt_graft.analysis.answer import Answer, Table
from dbt_graft.analysis.finding import Finding
from dbt_graft.analysis.history.data_age import WriteHistory
from dbt_graft.analysis.quality.deadlines import DeadlineForecast, DeadlineStatus
from dbt_graft.analysis.quality.downstream import Faults, ReachedFault, nearest
from dbt_graft.analysis.quality.faults import QualityFault
from dbt_graft.analysis.quality.words import HARM, fault_text, forecast_text, not_run_text
from dbt_graft.analysis.render.json import iso
from dbt_graft.analysis.render.phrases import count, time_text
from dbt_graft.analysis.rule import (
    CHECK_NOT_RUN,
    DATA_TOO_OLD,
    DEADLINE_AT_RISK,
    DEADLINE_MISSED,
    FAULT_REACHES_CONSUMER,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer
from dbt_graft.lineage.frozen import frozen

_RULES = {
    DeadlineStatus.MISSED: DEADLINE_MISSED,
    DeadlineStatus.WILL_MISS: DEADLINE_AT_RISK,
    DeadlineStatus.STALE: DATA_TOO_OLD,
}


@frozen
class Quality:
    """The faults at a moment, what they reach, and the forecasts of consumers.

    Attributes:
        not_run: The tests and freshness checks that could not run the last time.
        tested: The tests and freshness checks of which a result is known, and all that there are.
        writers: Dataset -> the tasks that write it.
    """

    at: datetime
    faults: Sequence[QualityFault]
    not_run: Sequence[QualityFault]
    downstream: Faults
    consumers: Sequence[Consumer]
    deadlines: Sequence[DeadlineForecast]
    tested: tuple[int, int]
    writers: Mapping[DatasetId, Sequence[str]]
    history: WriteHistory


def quality_answer(quality: Quality) -> Answer:
    """The faults and deadlines, with a finding for each consumer that should know of them."""
    at, (tested, tests) = quality.at, quality.tested
    reached = list(_consumer_faults(quality))
    with_result = f"{tested:,} of {count(tests, 'test')} have" if tests else "no test has"
    source = "`graft collect` reads dbt's run_results.json, and events"
    return Answer(
        f"data quality at {time_text(at)} UTC",
        f"{count(len(quality.faults), 'fault')}, {count(len(quality.downstream), 'dataset')} below"
        + (
            f", {count(not_run, 'check')} could not run"
            if (not_run := len(quality.not_run))
            else ""
        ),
        tables=(
            Table(
                "faults",
                ("fault", "does to readers"),
                [(fault_text(fault, at), HARM[fault.kind]) for fault in quality.faults],
            ),
            Table(
                "deadlines",
                ("consumer", "forecast"),
                [
                    (forecast.consumer.name, forecast_text(forecast, quality.writers))
                    for forecast in quality.deadlines
                ],
            ),
        ),
        notes=[f"{with_result} a result: {source}"] if tested < tests or not tests else [],
        findings=[
            *(_fault_finding(consumer, fault, at) for consumer, fault in reached),
            *(
                CHECK_NOT_RUN.finding(
                    str(check.dataset),
                    f"{not_run_text(check, at)}: whether its data is good is not known",
                    "look at its error in dbt, mend it and run it again",
                )
                for check in quality.not_run
            ),
            *_deadline_findings(quality),
        ],
        data={
            "at": iso(at),
            "tests": {"with_result": tested, "of": tests},
            "faults": [{**_fault(fault), "rows": fault.rows} for fault in quality.faults],
            "not_run": [_fault(check) for check in quality.not_run],
            "datasets": {
                str(dataset): [{**_fault(fault.fault), "path": _path(fault)} for fault in faults]
                for dataset, faults in sorted(quality.downstream.items())
            },
            "consumers": [
                {
                    "consumer": consumer.name,
                    "kind": consumer.kind,
                    "owner": consumer.owner or None,
                    "fault": _fault(fault.fault),
                    "path": _path(fault),
                }
                for consumer, fault in reached
            ],
            "deadlines": [_deadline(forecast, quality) for forecast in quality.deadlines],
        },
    )


def _consumer_faults(quality: Quality) -> Iterator[tuple[Consumer, ReachedFault]]:
    """The faults that consumers have by what they read, each once for a consumer."""
    faults_by_dataset: dict[DatasetId, list[ReachedFault]] = {}
    for fault in quality.faults:
        faults_by_dataset.setdefault(fault.dataset, []).append(
            ReachedFault(fault, (fault.dataset,))
        )
    for consumer in sorted(quality.consumers, key=lambda consumer: consumer.name):
        reached = [
            reached_fault
            for dataset in sorted(consumer.reads)
            for reached_fault in faults_by_dataset.get(dataset, ())
        ]
        for dataset in sorted(consumer.reads):
            reached += quality.downstream.get(dataset, ())
        seen: set[QualityFault] = set()
        for reached_fault in nearest(reached):
            if reached_fault.fault not in seen:
                seen.add(reached_fault.fault)
                yield consumer, reached_fault


def _fault_finding(consumer: Consumer, reached: ReachedFault, at: datetime) -> Finding:
    return FAULT_REACHES_CONSUMER.finding(
        consumer.name,
        f"{fault_text(reached.fault, at)}: {HARM[reached.fault.kind]}",
        "correct the data, and run again what has it; until then its owner should know",
        consumer.owner,
        path=_path(reached),
    )


def _deadline_findings(quality: Quality) -> Iterator[Finding]:
    for forecast in quality.deadlines:
        if rule := _RULES.get(forecast.status):
            tasks = _tasks(forecast, quality)
            yield rule.finding(
                forecast.consumer.name,
                forecast_text(forecast, quality.writers),
                f"run {' and '.join(tasks)}" if tasks else "its owner should know",
                forecast.consumer.owner,
            )


def _tasks(forecast: DeadlineForecast, quality: Quality) -> list[str]:
    """The tasks that write what is not there."""
    return list(quality.writers.get(forecast.waits_for, ())) if forecast.waits_for else []


def _path(reached: ReachedFault) -> list[str]:
    return [str(step) for step in reached.path]


def _fault(fault: QualityFault) -> dict[str, Any]:
    return {
        "dataset": str(fault.dataset),
        "kind": fault.kind.value,
        "test": fault.name or None,
        "column": fault.column or None,
        "failed_at": iso(fault.failed_at),
    }


def _deadline(forecast: DeadlineForecast, quality: Quality) -> dict[str, Any]:
    return {
        "consumer": forecast.consumer.name,
        "owner": forecast.consumer.owner or None,
        "status": forecast.status.value,
        "deadline": iso(forecast.deadline),
        "expected": iso(forecast.expected),
        "dataset": str(forecast.dataset) if forecast.dataset else None,
        "waits_for": str(forecast.waits_for) if forecast.waits_for else None,
        "tasks": _tasks(forecast, quality),
        "text": forecast_text(forecast, quality.writers),
    }
