"""The site of 3,000 models with column edges beside the same site without them, in one run.

Each of a model's 15 columns has an edge from every parent, and each second one a filter. The limit:
twice the time. Seconds are those of the processor: the build is one process.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "docs"), str(HERE.parents[1])]

from project import COLUMNS, artifacts  # noqa: E402

from benchmarks.report import Report  # noqa: E402
from dbt_graft.catalog.build import SiteSettings, build  # noqa: E402
from dbt_graft.injector.artifacts import Artifacts  # noqa: E402
from dbt_graft.injector.graft import Grafted, GraftOptions, graft  # noqa: E402
from dbt_graft.lineage.model import Lineage  # noqa: E402
from dbt_graft.lineage.records import ColumnEdge, Evidence, Subtype  # noqa: E402

MODELS = 3_000
LIMIT = 2.0


def main() -> int:
    """Report the figures; return 1 if the limit is exceeded."""
    models = int(sys.argv[1]) if len(sys.argv) > 1 else MODELS
    report = Report("The site", "benchmarks/site/bench_site.py")
    manifest, catalog = artifacts(models)
    grafted = graft(Artifacts(manifest, catalog, "spark", "1.11"), Lineage(), GraftOptions("spark"))
    without = replace(grafted.lineage, column_edges=())
    lineages = {
        "without column edges": without,
        "with column edges": replace(without, column_edges=tuple(_edges(without))),
    }
    report.say(f"Of {models:,} models with {COLUMNS} columns each; the limit is {LIMIT}.")
    report.table("", "column edges", "CPU s", "pages/s", "kB a page")
    taken = [_row(report, name, lineage, grafted) for name, lineage in lineages.items()]
    ratio = taken[1] / taken[0]
    report.row("with / without", "", f"{ratio:.2f}", "", "")
    if models == MODELS:
        report.write()
    return int(ratio > LIMIT)


def _row(report: Report, name: str, lineage: Lineage, grafted: Grafted) -> float:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "site"
        start = time.process_time()
        built = build(lineage, grafted.descriptions, (), SiteSettings(), out)
        seconds = time.process_time() - start
        size = sum(page.stat().st_size for page in out.rglob("index.html")) / built.pages / 1e3
    edges = f"{len(lineage.column_edges):,}"
    report.row(name, edges, f"{seconds:.1f}", f"{built.pages / seconds:.0f}", f"{size:.1f}")
    return seconds


def _edges(lineage: Lineage) -> Iterator[ColumnEdge]:
    for flow in lineage.flows:
        for n in range(COLUMNS):
            kinds = (Subtype.TRANSFORMATION, Subtype.FILTER)[: 1 + n % 2]
            for kind in kinds:
                yield ColumnEdge(
                    task=flow.task,
                    to_dataset=flow.target,
                    to_column=f"column_{n:02}",
                    from_dataset=flow.source,
                    from_column=f"column_{n:02}",
                    type=kind.type,
                    subtype=kind,
                    masking=False,
                    shape_id="",
                    evidence=Evidence.DECLARED,
                )


if __name__ == "__main__":
    sys.exit(main())
