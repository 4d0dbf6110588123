"""Drift of dbt's manifest: what models depend on, against what their runs on Spark read.

A model that names a table by hand, without `ref` or `source`, reads what no manifest has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from dbt_graft.analysis.checks.drift import ENOUGH, DriftEdge, DriftStatus
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.dbt_runs import ModelReads
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Direction

_Key = tuple[str, str]
_SOURCES = ("dbt manifest", "dbt's runs")


def model_drift(
    lineage: Lineage, enough: int = ENOUGH, since: datetime | None = None
) -> list[DriftEdge]:
    """The edges into dbt's models of which runs on Spark are known, sorted.

    Spark's plans show the tables behind a view, so what a view reads stands for it.

    Args:
        enough, since: As in `drift`.
    """
    models = {
        definition.dataset.key: definition
        for definition in lineage.definitions.values()
        if definition.kind is DefinitionKind.DBT
    }
    drift_edges: list[DriftEdge] = []
    for dataset, reads in lineage.dbt.reads.items():
        model = models.get(dataset.key)
        if model and (since is None or (reads.last_at and reads.last_at >= since)):
            drift_edges += _edges(lineage, models, model, reads, enough, since)
    return sorted(drift_edges, key=lambda edge: (edge.task, edge.dataset))


def _edges(
    lineage: Lineage,
    models: Mapping[_Key, Definition],
    model: Definition,
    reads: ModelReads,
    enough: int,
    since: datetime | None,
) -> Iterator[DriftEdge]:
    seen = {
        source.key: (source, at)
        for source, at in reads.sources
        if since is None or (at and at >= since)
    }
    explained: set[_Key] = set()
    for parent in model.reads:
        behind = _tables_behind(lineage, models, parent, seen)
        shown = [seen[key] for key in behind if key in seen]
        explained |= behind
        times = [at for _, at in shown if at]
        status = DriftStatus.VERIFIED
        if not shown:
            status = DriftStatus.PHANTOM if reads.runs >= enough else DriftStatus.UNVERIFIED
        yield DriftEdge(
            *(model.name, parent, Direction.READ, status, _SOURCES[: 2 if shown else 1]),
            runs=reads.runs,
            last_at=max(times, default=None),
        )
    for key, (source, at) in seen.items():
        if key not in explained and key != model.dataset.key:
            yield DriftEdge(
                *(model.name, source, Direction.READ, DriftStatus.UNDECLARED, _SOURCES[1:]),
                runs=reads.runs,
                last_at=at,
            )


def _tables_behind(
    lineage: Lineage,
    models: Mapping[_Key, Definition],
    parent: DatasetId,
    seen: Mapping[_Key, object],
) -> set[_Key]:
    """A parent, and the tables behind it where it is a view, or was one when the model ran."""
    keys, waiting = set[_Key](), [parent]
    while waiting:
        dataset = waiting.pop()
        if dataset.key in keys:
            continue
        keys.add(dataset.key)
        facts = lineage.datasets.get(dataset)
        if (facts and facts.kind is Kind.VIEW) or dataset.key not in seen:
            definition = models.get(dataset.key) or lineage.definition(dataset, DefinitionKind.VIEW)
            waiting += definition.reads if definition else ()
    return keys
