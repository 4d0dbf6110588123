"""The manifest of a run: what it read and wrote, by which code, and what tests found then.

Its document is described in `docs/schemas/run-manifest.schema.json`. It holds what logs know of a
run; a field that no log told is null.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from dbt_graft.analysis.dates.access_history import AccessHistory
from dbt_graft.analysis.quality.faults import tests_of
from dbt_graft.analysis.render.json import envelope, exact_iso
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.period import DataPosition, Period
from dbt_graft.lineage.describe import Description
from dbt_graft.lineage.grouping import group_by_key
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Access, Direction, NodeResult, Run, Status

Section = dict[str, Any]


def run_manifest(
    history: AccessHistory, descriptions: Mapping[DatasetId, Description], task: Task, run: Run
) -> Section:
    """The manifest of a run of a task.

    Args:
        history: With the accesses of all runs.
    """
    lineage = history.lineage
    accesses = [access for access in lineage.history.accesses if _is_of_run(access, run)]
    inputs = _group_by_dataset(accesses, Direction.READ)
    outputs = _group_by_dataset(accesses, Direction.WRITE)
    checks = list(_checks(lineage, descriptions, run, outputs))
    return {
        **envelope("run-manifest"),
        "run_id": run.run_id,
        "task": run.task,
        "status": run.status.value,
        "error": run.error,
        "started_at": exact_iso(run.started_at),
        "finished_at": exact_iso(run.ended_at),
        "attempt": run.attempt,
        "data_interval": _interval(run),
        "parent_run_id": run.parent_run_id,
        "url": run.url,
        "engine": {
            "name": run.engine,
            "version": run.engine_version,
            "application_id": run.application_id,
        },
        "code": {
            "version": run.code_version,
            "repo": task.info.repo or None,
            "path": task.info.path or None,
        },
        "owner": task.info.owner or None,
        "inputs": [
            _dataset(lineage, dataset, dataset_accesses)
            for dataset, dataset_accesses in inputs.items()
        ],
        "outputs": [
            {
                **_dataset(lineage, dataset, dataset_accesses),
                "needs": [*_needs(history, run.task, dataset, inputs)],
            }
            for dataset, dataset_accesses in outputs.items()
        ],
        "metrics": {
            "input_rows": _sum(
                access.rows for dataset_accesses in inputs.values() for access in dataset_accesses
            ),
            "output_rows": _sum(
                access.rows for dataset_accesses in outputs.values() for access in dataset_accesses
            ),
        },
        "quality": {
            "status": _quality(checks),
            "failed": sum(check["status"] == Status.FAILED.value for check in checks),
            "checks": checks,
        },
        "superseded_by": [
            {
                "task": write.task,
                "run_id": write.run_id,
                "at": exact_iso(write.at),
                "dataset": str(write.dataset) if write.dataset else None,
            }
            for write in lineage.history.superseded.get((run.task, run.run_id), ())
        ],
    }


def _is_of_run(access: Access, run: Run) -> bool:
    return access.run_id == run.run_id and access.task == run.task


def _group_by_dataset(
    accesses: Iterable[Access], direction: Direction
) -> dict[DatasetId, list[Access]]:
    """The accesses of one direction that moved data, or tried to, by dataset."""
    accesses_by_dataset = group_by_key(
        (access.dataset, access) for access in accesses if access.direction is direction
    )
    return dict(sorted(accesses_by_dataset.items()))


def _dataset(lineage: Lineage, dataset: DatasetId, accesses: Sequence[Access]) -> Section:
    details = lineage.datasets.get(dataset)
    return {
        "dataset": str(dataset),
        "operations": sorted({access.operation.value for access in accesses}),
        "status": _status(accesses),
        "statements": sum(access.statements for access in accesses),
        "rows": _sum(access.rows for access in accesses),
        "bytes": _sum(access.bytes for access in accesses),
        "files": _sum(access.files for access in accesses),
        "first_at": exact_iso(
            min((access.first_at for access in accesses if access.first_at), default=None)
        ),
        "last_at": exact_iso(
            max((access.last_at for access in accesses if access.last_at), default=None)
        ),
        "evidence": sorted({access.evidence.value for access in accesses}),
        "periods": [
            _period(period)
            for period in dict.fromkeys(p for access in accesses for p in access.periods)
        ],
        "positions": [
            _position(position)
            for position in dict.fromkeys(p for access in accesses for p in access.positions)
        ],
        "columns": [
            {"name": column.name, "type": column.type or None}
            for column in (details.columns if details else ())
        ],
    }


def _needs(
    history: AccessHistory, task: str, output: DatasetId, inputs: Collection[DatasetId]
) -> Iterator[Section]:
    """The partition mapping of each input that an output comes from."""
    for edge in history.upstream.get(output, ()):
        if edge[0] == task and edge[1] in inputs:
            mapping = history.mapping(edge)
            yield {
                "dataset": str(edge[1]),
                "period": mapping.period.value if mapping.period else None,
                "first": mapping.first,
                "last": mapping.last,
                "evidence": mapping.evidence.value,
            }


def _status(accesses: Sequence[Access]) -> str:
    """That of its last statement: a failed one after others that went well is a failure."""
    last = max(
        accesses, key=lambda access: (access.last_at is not None, access.last_at, access.shape_id)
    )
    return last.status.value


def _checks(
    lineage: Lineage,
    descriptions: Mapping[DatasetId, Description],
    run: Run,
    outputs: Mapping[DatasetId, Sequence[Access]],
) -> Iterator[Section]:
    """The first result of each test of an output after the run, and before its next write."""
    for dataset, accesses in outputs.items():
        written = max(
            (access.last_at for access in accesses if access.last_at), default=run.ended_at
        )
        description = descriptions.get(dataset)
        if not written:
            continue
        rewritten = _next_write(lineage, dataset, written)
        for test in tests_of(lineage, dataset, description):
            results = lineage.dbt.node_results.get(test.node_id, ())
            if result := _first(results, written, rewritten):
                yield {
                    "dataset": str(dataset),
                    "test": test.name,
                    "id": test.node_id,
                    "column": test.column or None,
                    "status": result.status.value,
                    "failures": result.failures,
                    "at": exact_iso(result.started_at),
                }


def _next_write(lineage: Lineage, dataset: DatasetId, after: datetime) -> datetime | None:
    return min(
        (
            access.first_at
            for access in lineage.history.accesses
            if access.dataset == dataset
            and access.direction is Direction.WRITE
            and access.status is not Status.FAILED
            and access.first_at
            and access.first_at > after
        ),
        default=None,
    )


def _first(
    results: Iterable[NodeResult], after: datetime, before: datetime | None
) -> NodeResult | None:
    def fits(at: datetime | None) -> bool:
        return at is not None and at >= after and (before is None or at < before)

    candidates = [r for r in results if r.is_verdict and fits(r.started_at)]
    return min(candidates, key=lambda result: result.started_at or after, default=None)


def _quality(checks: Sequence[Section]) -> str:
    if not checks:
        return "unchecked"
    return "failed" if any(check["status"] == Status.FAILED.value for check in checks) else "passed"


def _period(period: Period) -> Section:
    return {
        "column": period.column or None,
        "from": exact_iso(period.start),
        "to": exact_iso(period.end),
        "grain": period.grain.value,
        "evidence": period.evidence.value,
        "in_part": period.in_part,
    }


def _position(position: DataPosition) -> Section:
    return {"kind": position.kind, "from": position.start, "to": position.end}


def _interval(run: Run) -> Section | None:
    if not (run.nominal_start or run.nominal_end):
        return None
    return {"from": exact_iso(run.nominal_start), "to": exact_iso(run.nominal_end)}


def _sum(values: Iterable[int | None]) -> int | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) if numbers else None
