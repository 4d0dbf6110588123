"""The site of 10,000 models beside MkDocs, which renders 2,000 of the same pages, in one run.

Each model has 15 columns, each from one of its parents, and each second one with a filter. Each
site is built in a process of its own. The limits: 45 seconds, 300 MB beside the lineage, which are
those of one process and its children together, and 20 kB a page, the median of the tables' pages.
`bench_site.py 100000` measures ten times as many in a section of its own: 8 minutes and 1 GB; its
lineage is made without dbt's artifacts, which would fill the memory.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config

from dbt_graft.lineage.frozen import frozen

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "docs"), str(HERE.parents[1])]

from project import COLUMNS, LAYERS, TYPES, artifacts  # noqa: E402

from benchmarks.report import Report  # noqa: E402
from dbt_graft.catalog.build import build, design_folder  # noqa: E402
from dbt_graft.catalog.settings import SiteSettings  # noqa: E402
from dbt_graft.injector.artifacts import Artifacts  # noqa: E402
from dbt_graft.injector.graft import GraftOptions, graft  # noqa: E402
from dbt_graft.lineage.dataset import DatasetId  # noqa: E402
from dbt_graft.lineage.definition import Definition, DefinitionKind  # noqa: E402
from dbt_graft.lineage.describe import Description, Role  # noqa: E402
from dbt_graft.lineage.described import DescribedLineage  # noqa: E402
from dbt_graft.lineage.flow import Flow  # noqa: E402
from dbt_graft.lineage.garbage import without_garbage_collection  # noqa: E402
from dbt_graft.lineage.model import Lineage, flow_order  # noqa: E402
from dbt_graft.lineage.records import (  # noqa: E402
    Column,
    ColumnEdge,
    Dataset,
    Evidence,
    Subtype,
)

MODELS, OF_MKDOCS = 10_000, 2_000
# By the number of models: the heading in the report, seconds, megabytes.
LIMITS = {MODELS: ("The site", 45, 300), 100_000: ("The site of 100,000 models", 480, 1000)}
KILOBYTES = 20
# Memory is read each so many seconds. A reading walks all of it, so it is read less often where
# the readings would take more than this share of a processor.
_OFTEN, _WATCHING = 0.2, 0.03


@frozen
class SiteCost:
    """The cost of a site: seconds by the clock, and the most memory that all processes had.

    Attributes:
        before: The memory before the site was begun: the lineage.
        kilobytes_a_page: The median of the pages of tables.
    """

    pages: int
    seconds: float
    processor: float
    before: float
    megabytes: float
    kilobytes_a_page: float


def main() -> int:
    """Report the figures; return 1 if a limit is exceeded."""
    models = int(sys.argv[1]) if len(sys.argv) > 1 else MODELS
    heading, seconds, megabytes = LIMITS.get(models, LIMITS[MODELS])
    report = Report(heading, "benchmarks/site/bench_site.py")
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        ours = _measured(partial(_ours, models, site))
        peer = _measured(partial(_mkdocs, site, Path(folder), OF_MKDOCS))
    report.say(
        f"{models:,} models with {COLUMNS} columns and their edges; MkDocs renders {peer.pages:,} "
        f"of the same pages without search. The limits are {seconds} s and {megabytes} MB beside "
        f"the lineage for {models if models in LIMITS else MODELS:,}, and {KILOBYTES} kB a page."
    )
    report.table("", "pages", "s", "pages/s", "CPU s", "MB more", "kB a page")
    for name, cost in (("dbt-graft", ours), ("MkDocs, Material", peer)):
        report.row(
            name,
            f"{cost.pages:,}",
            f"{cost.seconds:.1f}",
            f"{cost.pages / cost.seconds:.0f}",
            f"{cost.processor:.1f}",
            f"{cost.megabytes - cost.before:.0f}",
            f"{cost.kilobytes_a_page:.1f}",
        )
    if models in LIMITS:
        report.write()
    return int(
        ours.seconds > seconds
        or ours.megabytes - ours.before > megabytes
        or ours.kilobytes_a_page > KILOBYTES
    )


def _measured(work: Callable[[], SiteCost]) -> SiteCost:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work).result()


def _ours(models: int, site: Path) -> SiteCost:
    if models > MODELS:
        lineage, descriptions = large_lineage(models)
        return _cost(partial(_built, lineage, descriptions, site), site)
    manifest, catalog = artifacts(models)
    grafted = graft(Artifacts(manifest, catalog, "spark", "1.11"), Lineage(), GraftOptions("spark"))
    lineage = replace(grafted.lineage, column_edges=tuple(_edges(grafted.lineage)))
    return _cost(partial(_built, lineage, grafted.descriptions, site), site)


def _built(lineage: Lineage, descriptions: Mapping[DatasetId, Description], site: Path) -> int:
    with without_garbage_collection():  # as `graft build`
        return build(DescribedLineage(lineage, descriptions), SiteSettings(), site).pages


def large_lineage(models: int) -> tuple[Lineage, dict[DatasetId, Description]]:
    """The lineage of such a project and its descriptions: the same names, layers and texts."""
    columns = tuple(Column(f"column_{n:02}", TYPES[n % len(TYPES)]) for n in range(COLUMNS))
    texts = {
        column.name: f"Column {n} of this table, as finance counts it at the month's end."
        for n, column in enumerate(columns)
    }
    tables = [DatasetId("spark", f"raw.exported_table_{n:05}") for n in range(-(-models // 10))]
    made = [DatasetId("spark", f"analytics.orders_by_customer_{n:05}") for n in range(models)]
    draw, size = random.Random(7), -(-models // LAYERS)
    definitions, flows, descriptions = {}, [], {}
    for n, model in enumerate(made):
        layer = n // size
        before = range((layer - 1) * size, layer * size)
        parents = [made[at] for at in draw.sample(before, 2)] if layer else [tables[n // 10]]
        name = f"model.big.orders_by_customer_{n:05}"
        reads = tuple(sorted(parents))
        definitions[name] = Definition(name, DefinitionKind.DBT, model, reads)
        flows += [
            Flow(read, model, name, evidence=Evidence.DECLARED, definition=DefinitionKind.DBT)
            for read in reads
        ]
    for role, prefix, some in (
        (Role.SOURCE, "source.big.raw", tables),
        (Role.MODEL, "model.big", made),
    ):
        for one in some:
            name = one.name.partition(".")[2]
            text = f"All orders of `{name}`, one row for each customer and day."
            descriptions[one] = Description(
                one, f"{prefix}.{name}", name, role, text, columns=texts
            )
    lineage = Lineage(
        {table: Dataset(table, columns=columns) for table in sorted((*tables, *made))},
        flows=tuple(sorted(flows, key=flow_order)),
        definitions=definitions,
    )
    return replace(lineage, column_edges=tuple(_edges(lineage))), descriptions


def _mkdocs(site: Path, folder: Path, pages: int) -> SiteCost:
    """MkDocs with the content of our pages as its Markdown."""
    sources, out = folder / "sources", folder / "mkdocs"
    files = sorted((site / "datasets").rglob("index.html"))[-pages:]
    for file in files:
        content = file.read_text("utf-8").partition("<article")[2].partition(">")[2]
        target = sources / file.relative_to(site).with_suffix(".md")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(re.sub(r"\n\s*\n", "\n", content.partition("</article>")[0]), "utf-8")
    (sources / "index.md").write_text("# Home")
    for name in ("styles", "scripts", "images"):
        (sources / name).symlink_to(design_folder() / name)
    config = load_config(
        str(design_folder() / "mkdocs.yml"),
        docs_dir=str(sources),
        site_dir=str(out),
        nav=[{"Home": "index.md"}],
        plugins=[],
    )

    def run() -> int:
        mkdocs_build(config)
        return len(files)

    return _cost(run, out)


def _cost(work: Callable[[], int], site: Path) -> SiteCost:
    before = most = _megabytes()
    done = threading.Event()

    def watch() -> None:
        nonlocal most
        pause = _OFTEN
        while not done.wait(pause):
            begin = time.thread_time()
            most = max(most, _megabytes())
            pause = max(_OFTEN, (time.thread_time() - begin) / _WATCHING)

    watcher = threading.Thread(target=watch)
    watcher.start()
    start, processor = time.perf_counter(), _processor()
    pages = work()
    seconds, processor = time.perf_counter() - start, _processor() - processor
    done.set()
    watcher.join()
    # Those of tables, not the lists of folders.
    pages_of_tables = (site / "datasets").rglob("*_[0-9]*/index.html")
    sizes = [page.stat().st_size for page in pages_of_tables]
    return SiteCost(pages, seconds, processor, before, most, median(sizes) / 1e3)


def _processor() -> float:
    """Seconds of the processor, those of children too."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _megabytes() -> float:
    """The memory of this process and of all below it; what they share counts once.

    Processes are read one after another. Where one began or ended in between, what it shares with
    those read before was counted twice, or not at all: all are read again.
    """
    while True:
        processes = list(_with_children(str(os.getpid())))
        total = sum(map(_kilobytes, processes))
        if processes == list(_with_children(str(os.getpid()))):
            return total / 1024


def _kilobytes(process: str) -> int:
    """The memory of a process, with its part of what others share; 0 if it has ended."""
    try:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0
    match = re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)
    return int(match[1]) if match else 0


def _with_children(process: str) -> Iterator[str]:
    """A process and all below it: each thread has its own children, such as Pagefind."""
    yield process
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # it has ended
            for child in children.read_text().split():
                yield from _with_children(child)


def _edges(lineage: Lineage) -> Iterator[ColumnEdge]:
    parents: dict[DatasetId, list[Flow]] = {}
    for flow in lineage.flows:
        parents.setdefault(flow.target, []).append(flow)
    for flows in parents.values():
        for n in range(COLUMNS):
            flow = flows[n % len(flows)]
            for kind in (Subtype.TRANSFORMATION, Subtype.FILTER)[: 1 + n % 2]:
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
