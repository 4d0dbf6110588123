"""The kind of a dataset from its history: how its dates grow."""

from __future__ import annotations

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.dataset_kind import DatasetKind
from dbt_graft.lineage.states.access_effects import removes_rows
from dbt_graft.lineage.states.access_history import AccessHistory


def dataset_kind(history: AccessHistory, dataset: DatasetId) -> DatasetKind | None:
    """The declared kind of a dataset, or the one that its runs show; None where nothing does."""
    declared = history.lineage.declared_dates.get(dataset)
    if declared and declared.kind:
        return declared.kind
    writes = [one for one in history.writes(dataset) if not removes_rows(one)]
    if not writes:
        is_read = bool(history.reads(dataset)) and not history.upstream.get(dataset)
        return DatasetKind.STATIC if is_read else None
    mappings = [history.mapping(edge) for edge in history.upstream.get(dataset, ())]
    rules = [one for one in mappings if one.period is not None]
    if any(one.first is None for one in rules):
        return DatasetKind.CUMULATIVE
    if any((one.first or 0) < (one.last or 0) for one in rules):
        return DatasetKind.SLIDING
    if any(one.periods for one in writes):
        return DatasetKind.TIME_SERIES
    if all(one.operation.replaces and one.partitions is None for one in writes):
        return DatasetKind.SNAPSHOT
    if any(history.written(one) is not None and not one.operation.replaces for one in writes):
        return DatasetKind.TIME_SERIES
    appended = not any(one.operation.replaces for one in writes)
    return DatasetKind.CUMULATIVE if appended else None
