"""Impact over 100,000 datasets and a million column edges, beside one pass over all of them.

The layered lineage has changes with a few, some thousand and very many affected columns. The limit
is 50 ms for an answer of some thousand columns; the graph is made once.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.report import Report
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.impact.answer import Impact, ProposedChange, Surroundings, impact
from dbt_graft.lineage.impact.change import ChangeType
from dbt_graft.lineage.impact.graph import ImpactGraph
from dbt_graft.lineage.records import ColumnEdge, Subtype

T = TypeVar("T")
LAYERS, PARENTS, COLUMNS = 20, 2, 5
WARM_SECONDS, SOME_THOUSAND = 0.05, 5_000


def main() -> int:
    """Report the figures; return 1 where an answer of some thousand columns takes too long."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--datasets", type=int, default=100_000)
    count = asked.parse_args().datasets
    report = Report("Impact", "benchmarks/impact/bench_impact.py")
    datasets, flows, edges = _lineage(count)
    gc.freeze()
    once, _ = _timed(lambda: sum(edge.masking for edge in edges))
    making, graph = _timed(lambda: ImpactGraph(edges, flows))
    report.say(
        f"{count:,} datasets, {len(flows):,} flows and {len(edges):,} column edges: the graph is "
        f"made in {making:.1f} s, while one pass over the edges takes {once:.2f} s. The limit is "
        f"{1000 * WARM_SECONDS:.0f} ms for an answer of up to {SOME_THOUSAND:,} columns."
    )
    report.table("change of a column", "datasets", "columns", "ms")
    missed = False
    for name, layer, kind in (
        ("near the ends", LAYERS - 3, ChangeType.REMOVE),
        ("in the last half", LAYERS // 2, ChangeType.REMOVE),
        ("in the first third", LAYERS // 3, ChangeType.SEMANTICS),
        ("at the sources", 0, ChangeType.REMOVE),
    ):
        change = ProposedChange(datasets[layer * count // LAYERS], kind, "column_1")
        seconds, answer = _often(partial(impact, graph, change, Surroundings()))
        columns = sum(len(one.columns) for one in answer.datasets)
        report.row(name, f"{len(answer.datasets):,}", f"{columns:,}", f"{1000 * seconds:.1f}")
        missed |= columns <= SOME_THOUSAND and seconds > WARM_SECONDS
    report.write()
    return int(missed)


def _lineage(count: int) -> tuple[list[DatasetId], list[Flow], list[ColumnEdge]]:
    """Each dataset has columns from two of the layer before; one in four has a filter."""
    chance, size = random.Random(1), count // LAYERS
    datasets = [DatasetId("spark", f"db.table_{n}") for n in range(count)]
    flows, edges = [], []
    for n in range(size, count):
        layer = n // size
        task = f"task_{n}"
        for parent in chance.sample(range((layer - 1) * size, layer * size), PARENTS):
            flows.append(Flow(datasets[parent], datasets[n], task))
            for column in range(COLUMNS):
                is_filter = column == COLUMNS - 1 and n % 4 == 0
                kind = Subtype.FILTER if is_filter else Subtype.IDENTITY
                edges.append(
                    ColumnEdge(
                        task=task,
                        to_dataset=datasets[n],
                        to_column="*" if is_filter else f"column_{column}",
                        from_dataset=datasets[parent],
                        from_column=f"column_{column}",
                        type=kind.type,
                        subtype=kind,
                        masking=False,
                        shape_id="",
                    )
                )
    return datasets, flows, edges


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def _often(work: Callable[[], Impact]) -> tuple[float, Impact]:
    found = [_timed(work) for _ in range(5)]
    return median(seconds for seconds, _ in found), found[0][1]


if __name__ == "__main__":
    sys.exit(main())
