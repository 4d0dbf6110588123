"""The datasets that dbt's own runs read for each table that they write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from dbt_graft.lineage.building.memory import MEMORY
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dbt_runs import ModelReads
from dbt_graft.lineage.records import Access, Direction, Status


def model_reads(accesses: Iterable[Access]) -> dict[DatasetId, ModelReads]:
    """The reads of dbt's statements that succeeded, by the table that they write.

    Only what one statement reads and writes belongs together: one application runs many models.
    """
    statements: dict[tuple[str, str, str], list[Access]] = defaultdict(list)
    for access in accesses:
        if access.status is not Status.FAILED and access.dataset != MEMORY:
            statements[access.origin, access.run_id, access.shape_id].append(access)
    runs: dict[DatasetId, set[tuple[str, str]]] = defaultdict(set)
    times: dict[DatasetId, list[datetime]] = defaultdict(list)
    sources: dict[DatasetId, dict[DatasetId, datetime | None]] = defaultdict(dict)
    for (origin, run_id, _), statement in statements.items():
        reads = [access for access in statement if access.direction is Direction.READ]
        for write in statement:
            if write.direction is not Direction.WRITE:
                continue
            runs[write.dataset].add((origin, run_id))
            times[write.dataset] += [write.last_at] if write.last_at else []
            for read in reads:
                if read.dataset != write.dataset:
                    earlier = sources[write.dataset].get(read.dataset)
                    last = max((at for at in (earlier, read.last_at) if at), default=None)
                    sources[write.dataset][read.dataset] = last
    return {
        dataset: ModelReads(
            len(runs[dataset]),
            max(times[dataset], default=None),
            tuple(sorted(sources[dataset].items(), key=lambda pair: pair[0])),
        )
        for dataset in sorted(runs)
    }
