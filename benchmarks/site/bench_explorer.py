"""The explorer on 10,000 datasets and 150,000 column edges: its data, and a browser that walks it.

The limits: first view 1 s, a step outward 200 ms, 500 boxes on the screen moved at 30 frames a
second; a shard has 64 kB at most. The times are the browser's own: the first view counts from the
request of the page to the frame that has the boxes, a step from the click to such a frame.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from playwright.sync_api import Page

from benchmarks.report import Report
from dbt_graft.catalog.build import build
from dbt_graft.catalog.explorer.write import FOLDER, MOST, opening_view, write_explorer
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.settings import SiteSettings
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.definition import DefinitionKind
from dbt_graft.lineage.described import DescribedLineage
from dbt_graft.lineage.flow import Flow
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Column, ColumnEdge, Dataset, Evidence, Subtype
from tests.site.conftest import chromium, served

DATASETS, COLUMNS, SCHEMAS, LAYERS, EDGES = 10_000, 15, 80, 8, 150_000
FIRST_MS, STEP_MS, FRAMES = 1000, 200, 30
BOXES = 500

_FRAMES = """async (milliseconds) => {
    const svg = document.querySelector(".graft-canvas"), frame = svg.getBoundingClientRect()
    const at = (name, x, y) => svg.dispatchEvent(new PointerEvent(name, {
        pointerId: 1, button: 0, clientX: x, clientY: y, bubbles: true, pointerType: "mouse"}))
    svg.setPointerCapture = () => {}
    const x = frame.left + frame.width / 2, y = frame.top + frame.height / 2
    const times = []
    at("pointerdown", x, y)
    const begin = performance.now()
    for (let n = 0; performance.now() - begin < milliseconds; n++) {
        at("pointermove", x + 120 * Math.sin(n / 9), y + 60 * Math.cos(n / 7))
        times.push(await new Promise(requestAnimationFrame))
    }
    at("pointerup", x, y)
    return times
}"""
_STEP = """async id => {
    const handle = [...document.querySelectorAll('.graft-step[data-act="down"]')]
        .find(one => one.dataset.id === id)
    const before = document.querySelectorAll(".graft-box").length, begin = performance.now()
    handle.dispatchEvent(new MouseEvent("click", {bubbles: true}))
    while (document.querySelectorAll(".graft-box").length === before) {
        await new Promise(requestAnimationFrame)
    }
    await new Promise(requestAnimationFrame)
    return performance.now() - begin
}"""
_FIRST = """async () => {
    while (!document.querySelector(".graft-box")) await new Promise(requestAnimationFrame)
    await new Promise(requestAnimationFrame)
    return performance.now()
}"""


def main() -> int:
    """Report the figures; return 1 if a limit is exceeded."""
    report = Report("The explorer", "benchmarks/site/bench_explorer.py")
    lineage = _lineage()
    with tempfile.TemporaryDirectory() as folder:
        data = _data_cost(lineage, Path(folder) / "data")
        site = Path(folder) / "site"
        # The pages themselves are not measured here: a few stand for all.
        build(DescribedLineage(Lineage()), SiteSettings(), site)
        _write_explorer_into(site, lineage)
        with served(site) as address, chromium() as browser:
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            figures = _walk(page, address, lineage)
    sizes = data["sizes"]
    report.say(
        f"{DATASETS:,} datasets in {SCHEMAS} schemas, {len(lineage.column_edges):,} column edges: "
        f"written in {data['seconds']:.1f} s with {data['megabytes']:.0f} MB more, as {len(sizes)} "
        f"files of {sum(sizes) / 1e6:.1f} MB, the largest {max(sizes) / 1000:.0f} kB. In headless "
        f"Chromium, without a graphics card:"
    )
    report.table("", "median", "worst", "limit")
    report.row("first view, overview", *_times(figures["overview"]), f"{FIRST_MS} ms")
    report.row("first view, from a link", *_times(figures["link"]), f"{FIRST_MS} ms")
    report.row("a step outward", *_times(figures["step"]), f"{STEP_MS} ms")
    frames = figures["frames"]
    report.row(
        f"frames a second, {figures['boxes'][0]:.0f} boxes in motion",
        f"{1000 / statistics.median(frames):.0f}",
        f"{1000 / sorted(frames)[int(len(frames) * 0.95)]:.0f} (1 in 20)",
        f"{FRAMES}",
    )
    report.write()
    return int(
        max(sizes) > MOST
        or statistics.median(figures["overview"] + figures["link"]) > FIRST_MS
        or statistics.median(figures["step"]) > STEP_MS
        or 1000 / statistics.median(frames) < FRAMES
    )


def _times(found: list[float]) -> tuple[str, str]:
    return f"{statistics.median(found):.0f} ms", f"{max(found):.0f} ms"


def _data_cost(lineage: Lineage, out: Path) -> dict[str, Any]:
    index = Index(DescribedLineage(lineage))
    for dataset in index.datasets:
        index.columns(dataset)  # pages need them anyway
    begin = time.perf_counter()
    write_explorer(index, opening_view(index), out)
    seconds = time.perf_counter() - begin
    tracemalloc.start()
    write_explorer(index, opening_view(index), out)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    sizes = [file.stat().st_size for file in (out / FOLDER).rglob("*.js")]
    return {"seconds": seconds, "megabytes": most / 1e6, "sizes": sizes}


def _write_explorer_into(site: Path, lineage: Lineage) -> None:
    """The explorer of a lineage, with the page of a small one: a browser sees no difference."""
    small = Lineage(datasets=dict(list(lineage.datasets.items())[:5]))
    with tempfile.TemporaryDirectory(dir=site.parent) as folder:
        build(DescribedLineage(small), SiteSettings(), Path(folder))
        (site / "explore/index.html").write_bytes(
            (Path(folder) / "explore/index.html").read_bytes()
        )
    index = Index(DescribedLineage(lineage))
    write_explorer(index, opening_view(index), site)


def _walk(page: Page, address: str, lineage: Lineage) -> dict[str, list[float]]:
    draw = random.Random(3)
    explore = f"{address}explore/index.html"
    middle = [id_ for id_ in _ids(lineage) if "layer_3" in id_ or "layer_4" in id_]
    found: dict[str, list[float]] = {"overview": [], "link": [], "step": [], "frames": []}
    for _ in range(5):
        page.goto("about:blank")
        page.goto(explore, wait_until="commit")
        found["overview"].append(page.evaluate(_FIRST))
    for start in draw.sample(middle, 8):
        page.goto("about:blank")
        page.goto(f"{explore}#dataset={start}&up=2&down=2", wait_until="commit")
        found["link"].append(page.evaluate(_FIRST))
        page.evaluate("graft.explore.running.idle()")
        ends = page.evaluate(
            "[...document.querySelectorAll('.graft-step[data-act=down]')].map(e => e.dataset.id)"
        )
        for end in ends[:3]:
            found["step"].append(page.evaluate(_STEP, end))
            page.evaluate("graft.explore.running.idle()")
    found |= _motion(page, explore, middle)
    return found


def _motion(page: Page, explore: str, middle: list[str]) -> dict[str, list[float]]:
    """The time of each frame while a drawing with some 500 boxes is dragged, all of it in sight."""
    for depth in range(3, 20):
        page.goto("about:blank")
        page.goto(f"{explore}#dataset={middle[0]}&up={depth}&down={depth}")
        page.evaluate(_FIRST)
        page.evaluate("graft.explore.running.idle()")
        boxes = page.locator(".graft-box").count()
        if boxes >= BOXES:
            break
    page.get_by_role("button", name="All in sight").click()
    page.wait_for_timeout(500)
    times = page.evaluate(_FRAMES, 4000)
    return {"frames": [b - a for a, b in pairwise(times)], "boxes": [boxes]}


def _ids(lineage: Lineage) -> list[str]:
    return [f"spark/{'/'.join(dataset.parts)}" for dataset in lineage.datasets]


def _lineage() -> Lineage:
    """Datasets in layers; each is made from two or three of the layer before, mostly near ones."""
    draw = random.Random(7)
    per_layer = DATASETS // LAYERS
    layers = [
        [
            DatasetId(
                "spark",
                f"layer_{layer}_area_{n * SCHEMAS // LAYERS // per_layer:02}.table_{n:05}_daily",
            )
            for n in range(per_layer)
        ]
        for layer in range(LAYERS)
    ]
    columns = tuple(Column(f"column_{n:02}", "string") for n in range(COLUMNS))
    datasets = {one: Dataset(one, columns=columns) for layer in layers for one in layer}
    flows: list[Flow] = []
    for before, layer in pairwise(layers):
        for at, target in enumerate(layer):
            near = [min(max(at + draw.randint(-40, 40), 0), per_layer - 1) for _ in range(2)]
            chosen = {before[n] for n in (*near, draw.randrange(per_layer))}
            flows += [
                Flow(
                    source,
                    target,
                    f"model.shop.{target.parts[-1]}",
                    evidence=Evidence.DECLARED,
                    definition=DefinitionKind.DBT,
                )
                for source in sorted(chosen)
            ]
    return Lineage(
        datasets=dict(sorted(datasets.items())),
        flows=tuple(flows),
        column_edges=tuple(_edges(flows)),
    )


def _edges(flows: list[Flow]) -> Iterator[ColumnEdge]:
    each = -(-EDGES // len(flows))
    for flow in flows:
        for n in range(each):
            yield ColumnEdge(
                task=flow.task,
                to_dataset=flow.target,
                to_column=f"column_{n:02}",
                from_dataset=flow.source,
                from_column=f"column_{n:02}",
                type=Subtype.IDENTITY.type,
                subtype=Subtype.IDENTITY,
                masking=False,
                shape_id="",
                evidence=Evidence.DECLARED,
            )


if __name__ == "__main__":
    sys.exit(main())
