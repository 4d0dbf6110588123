"""A second build of a site of 10,000 models: nothing changed, and one table changed.

Each build is a process of its own, as `graft build` is, and is measured from the lineage to the
published folder: keys, pages, record, and moving files into place. The limit is 10 seconds for the
build after one table changed, which must also equal a fresh one, byte for byte.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from dbt_graft.lineage.frozen import frozen

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "docs"), str(HERE.parents[1])]

from bench_site import MODELS, _edges, _processor  # noqa: E402
from project import COLUMNS, artifacts  # noqa: E402

from benchmarks.report import Report  # noqa: E402
from dbt_graft.catalog.build import build  # noqa: E402
from dbt_graft.catalog.previous import (  # noqa: E402
    EarlierBuilds,
    PreviousSite,
    read_previous,
    write_record,
)
from dbt_graft.catalog.settings import SiteSettings  # noqa: E402
from dbt_graft.graft.project.output_folder import OutputFolder  # noqa: E402
from dbt_graft.injector.artifacts import Artifacts  # noqa: E402
from dbt_graft.injector.graft import Grafted, GraftOptions, graft  # noqa: E402
from dbt_graft.lineage.described import DescribedLineage  # noqa: E402
from dbt_graft.lineage.garbage import without_garbage_collection  # noqa: E402
from dbt_graft.lineage.model import Lineage  # noqa: E402

SECONDS = 10
T = TypeVar("T")


@frozen
class Cost:
    """The cost of a build, by the clock and of the processor."""

    pages: int
    changed: int
    seconds: float
    processor: float


def main() -> int:
    """Report the figures; return 1 if the limit is exceeded or a file differs."""
    models = int(sys.argv[1]) if len(sys.argv) > 1 else MODELS
    report = Report("The second build of a site", "benchmarks/site/bench_second_build.py")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _in_process(partial(_write_inputs, models, folder))
        runs = {
            "first": ("before", "site"),
            "second, nothing changed": ("before", "site"),
            "one table changed": ("after", "site"),
            "the same, fresh": ("after", "fresh"),
        }
        costs = {
            run: _in_process(partial(_built, folder / lineage, folder / site))
            for run, (lineage, site) in runs.items()
        }
        same = _files(folder / "site") == _files(folder / "fresh")
    report.say(
        f"{models:,} models with {COLUMNS} columns and their edges, from lineage to published "
        f"folder. The limit is {SECONDS} s after one table changed. "
        f"That site {'equals' if same else 'DIFFERS FROM'} a fresh one."
    )
    report.table("build", "pages", "changed", "s", "CPU s")
    for run, cost in costs.items():
        report.row(
            run,
            f"{cost.pages:,}",
            f"{cost.changed:,}",
            f"{cost.seconds:.1f}",
            f"{cost.processor:.1f}",
        )
    if models == MODELS:
        report.write()
    return int(costs["one table changed"].seconds > SECONDS or not same)


def _write_inputs(models: int, folder: Path) -> None:
    """The lineage before a change, and after: one model has another description and column edge."""
    manifest, catalog = artifacts(models)
    grafted = graft(Artifacts(manifest, catalog, "spark", "1.11"), Lineage(), GraftOptions("spark"))
    edges = tuple(_edges(grafted.lineage))
    _write(folder / "before", grafted, replace(grafted.lineage, column_edges=edges))
    changed = sorted(grafted.descriptions)[models // 2]
    gone = next(edge for edge in edges if edge.to_dataset == changed)
    grafted.descriptions[changed] = replace(grafted.descriptions[changed], text="Another text.")
    rest = tuple(edge for edge in edges if edge is not gone)
    _write(folder / "after", grafted, replace(grafted.lineage, column_edges=rest))


def _write(path: Path, grafted: Grafted, lineage: Lineage) -> None:
    path.write_bytes(pickle.dumps((lineage, grafted.descriptions)))


def _built(inputs: Path, site: Path) -> Cost:
    lineage, descriptions = pickle.loads(inputs.read_bytes())  # noqa: S301  # written above
    record, output = site.with_suffix(".json"), OutputFolder("site.out", site)
    start, processor = perf_counter(), _processor()
    previous: PreviousSite = read_previous(record, site)
    unchanged: set[str] = set()
    previous = replace(previous, keep=unchanged.add)
    with output.replaced(unchanged) as new, without_garbage_collection():
        built = build(
            DescribedLineage(lineage, descriptions),
            SiteSettings(),
            new,
            earlier=EarlierBuilds(site=previous),
        )
        write_record(record, built.record)
    seconds, processor = perf_counter() - start, _processor() - processor
    return Cost(built.pages, built.changed, seconds, processor)


def _in_process(work: Callable[[], T]) -> T:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work).result()


def _files(site: Path) -> dict[str, bytes]:
    files = (file for file in site.rglob("*") if file.is_file())
    return {file.relative_to(site).as_posix(): file.read_bytes() for file in files}


if __name__ == "__main__":
    sys.exit(main())
