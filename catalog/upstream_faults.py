"""Faults upstream of a dataset, and which of them concern the dataset itself.

A failed write and a source without new rows leave old data upstream, so what comes from there is
no newer. A failed test says that data is wrong, which matters to those alone that took the data
over: a table that was last written before its parent was has not got it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dbt_graft.catalog.index import Index
from dbt_graft.catalog.node_results import node_results
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.records import Direction, Status

WRITE, TESTS, STALE = "write", "tests", "stale"
FAULT_WORDS = {WRITE: "last write failed", TESTS: "tests failed", STALE: "no new rows"}
# Faults of a kind that a dataset's page names: the nearest.
_MOST = 3


@dataclass(frozen=True, slots=True)
class UpstreamFault:
    """A fault of a dataset upstream.

    Attributes:
        kind: `write`: its last write or dbt run failed; `tests`: it failed tests; `stale`.
    """

    dataset: DatasetId
    kind: str


Faults = Mapping[DatasetId, Sequence[UpstreamFault]]


def last_write_failed(index: Index, dataset: DatasetId) -> bool:
    """Whether the newest run of all that write it, or tried to, failed."""
    runs = map(index.last_run, index.lineage.usages_of(dataset, Direction.WRITE))
    dated = [(run.started_at, run.status) for run in runs if run and run.started_at]
    return bool(dated) and max(dated)[1] is Status.FAILED


@lru_cache(maxsize=1)
def upstream_faults(index: Index) -> Faults:
    """For each dataset the faults upstream of it, the nearest first, a few of each kind."""
    found: dict[DatasetId, list[UpstreamFault]] = defaultdict(list)
    waiting: deque[tuple[DatasetId, UpstreamFault]] = deque()
    for dataset in index.datasets:
        waiting += [(dataset, UpstreamFault(dataset, kind)) for kind in _faults(index, dataset)]
    while waiting:
        dataset, fault = waiting.popleft()
        for child in index.graph.children(dataset):
            known = found[child]
            alike = sum(one.kind == fault.kind for one in known)
            if child == fault.dataset or fault in known or alike >= _MOST:
                continue
            if fault.kind == TESTS and not _has_taken_over(index, dataset, child):
                continue
            known.append(fault)
            waiting.append((child, fault))
    return {dataset: tuple(faults) for dataset, faults in found.items() if faults}


def _faults(index: Index, dataset: DatasetId) -> list[str]:
    results = node_results(index, dataset)
    found = []
    if results.last_run_failed or last_write_failed(index, dataset):
        found.append(WRITE)
    if results.failed_tests:
        found.append(TESTS)
    if results.is_stale:
        found.append(STALE)
    return found


def _has_taken_over(index: Index, parent: DatasetId, child: DatasetId) -> bool:
    """Whether the child has what the parent was last written with; yes where no log shows it."""
    if index.datasets[child].kind is Kind.VIEW:
        return True
    written, since = index.written_at(child), index.written_at(parent)
    return written is None or since is None or written >= since
