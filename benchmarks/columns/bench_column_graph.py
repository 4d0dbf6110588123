"""Questions to the graph of columns: 100,000 datasets and 1,000,000 column edges.

Twelve layers as of a warehouse: a dataset takes its ten columns from two of the layer before, and
a filter or a join decides on its rows. Each question is asked of columns picked at random, and of
columns of the first and the last layer; the limit is for the slowest, in time of the processor.
"""

from __future__ import annotations

import gc
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sized
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report  # noqa: E402
from dbt_graft.lineage.dataset import DatasetId  # noqa: E402
from dbt_graft.lineage.graphs.column_graph import ColumnGraph  # noqa: E402
from dbt_graft.lineage.graphs.column_path import ColumnId  # noqa: E402
from dbt_graft.lineage.records import Column, ColumnEdge, Dataset, Subtype  # noqa: E402

DATASETS, COLUMNS, LAYERS, LIMIT_MS, ASKED = 100_000, 10, 12, 50, 300
DIRECT = (Subtype.IDENTITY, Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.AGGREGATION)
DECIDING = (Subtype.FILTER, Subtype.JOIN)


def warehouse(pick: random.Random) -> tuple[list[ColumnEdge], list[Dataset]]:
    """Edges and datasets: `s3.t000123` is in layer 3."""
    names = [f"column_{number}" for number in range(COLUMNS)]
    schema = tuple(map(Column, names))
    datasets = [
        Dataset(DatasetId("warehouse", f"s{n * LAYERS // DATASETS}.t{n:06}"), columns=schema)
        for n in range(DATASETS)
    ]
    layer = DATASETS // LAYERS
    edges = []
    for n in range(layer, DATASETS):
        begin = (n // layer - 1) * layer
        parents = [datasets[pick.randrange(begin, begin + layer)].id for _ in range(2)]
        edges += [_edge(pick, datasets[n].id, to, pick.choice(parents), DIRECT) for to in names]
        edges.append(_edge(pick, datasets[n].id, "*", pick.choice(parents), DECIDING))
    return edges, datasets


def _edge(
    pick: random.Random, to: DatasetId, column: str, parent: DatasetId, of: tuple[Subtype, ...]
) -> ColumnEdge:
    subtype = pick.choice(of)
    source = f"column_{pick.randrange(COLUMNS)}"
    return ColumnEdge(
        f"model.{to.name}", to, column, parent, source, subtype.type, subtype, False, "shape"
    )


def memory() -> float:
    """MB that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def milliseconds(ask: Callable[[], object]) -> float:
    """The processor's milliseconds that a question takes."""
    began = time.process_time()
    ask()
    return (time.process_time() - began) * 1000


def main() -> int:
    """Report the figures; return 1 if a limit is exceeded."""
    report = Report("Questions to the graph of columns", "benchmarks/columns/bench_column_graph.py")
    pick = random.Random(13)
    edges, datasets = warehouse(pick)
    gc.collect()
    before, began = memory(), time.process_time()
    graph = ColumnGraph(edges, datasets)
    seconds = time.process_time() - began
    gc.collect()
    held = memory() - before
    gc.freeze()  # as `graft` does: the pauses are of millions of objects that stay
    report.say(
        f"{len(edges):,} column edges of {len(datasets):,} datasets are a graph in "
        f"{seconds:.1f} s of the processor and {held:,.0f} MB beside the edges. "
        f"{ASKED} columns picked at random, and those at both ends of the longest lines."
    )
    layer = DATASETS // LAYERS
    asked = [graph.columns(pick.choice(datasets).id)[pick.randrange(COLUMNS)] for _ in range(ASKED)]
    asked += [
        graph.columns(dataset.id)[0] for dataset in (*datasets[:layer:97], *datasets[-layer::97])
    ]
    questions: dict[str, Callable[[ColumnId, bool], Sized]] = {
        "upstream to the ends": lambda one, all_: graph.upstream(one, indirect=all_),
        "downstream to the ends": lambda one, all_: graph.downstream(one, indirect=all_),
        "last columns": lambda one, all_: graph.ends(one, indirect=all_),
        "consumers": lambda one, all_: graph.consumers(one, indirect=all_),
        "paths from the first column": lambda one, all_: _paths(graph, one, all_),
    }
    report.table("question", "median ms", f"slowest ms (limit {LIMIT_MS})", "largest answer")
    slowest = 0.0
    for name, ask in questions.items():
        for all_ in (False, True):
            answers: list[int] = []
            times = [milliseconds(lambda: answers.append(len(ask(one, all_)))) for one in asked]  # noqa: B023
            slowest = max(slowest, *times)
            report.row(
                f"{name}, {'all' if all_ else 'direct'}",
                f"{statistics.median(times):.2f}",
                f"{max(times):.1f}",
                f"{max(answers):,}",
            )
    report.write()
    return int(slowest > LIMIT_MS)


def _paths(graph: ColumnGraph, column: ColumnId, indirect: bool) -> Sized:
    first = graph.upstream(column, indirect=indirect)
    return graph.paths(first[-1].column, column, indirect=indirect).paths if first else ()


if __name__ == "__main__":
    sys.exit(main())
