"""The docs page of 3,000 models beside dbt's own, in one run: time to a rendered model, and size.

dbt's page is measured as dbt offers it: served beside manifest.json and catalog.json, and as the
single file of `dbt docs generate --static`. In ours a task writes each source, and each column says
where it comes from, which dbt's do not. The limits: half the time of the faster of the two, and
half the size of the file.
"""

from __future__ import annotations

import functools
import json
import statistics
import sys
import tempfile
import threading
from datetime import UTC, datetime
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from project import COLUMNS, Document, artifacts  # noqa: E402

from benchmarks.report import Report  # noqa: E402
from dbt_graft.collectors.dbt.columns import dbt_columns  # noqa: E402
from dbt_graft.injector import docs, stock  # noqa: E402
from dbt_graft.injector.artifacts import Artifacts  # noqa: E402
from dbt_graft.injector.graft import GraftOptions, graft  # noqa: E402
from dbt_graft.injector.relations import relations  # noqa: E402
from dbt_graft.lineage.building.build import build  # noqa: E402
from dbt_graft.lineage.dataset import DatasetId, Kind  # noqa: E402
from dbt_graft.lineage.operations import Operation  # noqa: E402
from dbt_graft.lineage.records import Access, Direction, Records, Run, Status  # noqa: E402
from tests.site.conftest import chromium  # noqa: E402

MODELS, ROUNDS = 3_000, 3
SHOWN = f"orders_by_customer_{MODELS * 2 // 3:05}"
AT = datetime(2026, 11, 20, tzinfo=UTC)
SERVED, STATIC, OURS = "dbt, served", "dbt, --static", "dbt-graft"
FILES = {SERVED: "served/index.html", STATIC: "static.html", OURS: "ours.html"}
# The model's name is the heading, and the browser has drawn all columns.
RENDERED = f"""(() => {{
  const look = () => {{
    const heading = [...document.querySelectorAll("h1")];
    const rows = document.querySelectorAll(".section-content tbody tr.column-row");
    if (heading.some((h) => h.textContent.includes("{SHOWN}")) && rows.length === {COLUMNS}) {{
      requestAnimationFrame(() => setTimeout(() => {{ window.rendered = performance.now(); }}));
    }} else {{
      requestAnimationFrame(look);
    }}
  }};
  requestAnimationFrame(look);
}})()"""


class SilentFileHandler(SimpleHTTPRequestHandler):
    """A file server that logs nothing."""

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def write_pages(folder: Path) -> None:
    """Write the three pages of one project."""
    manifest, catalog = artifacts(MODELS)
    page = docs.page(ours := grafted(manifest, catalog), docs.DocsPageSettings("Benchmark"))
    assert len(ours.report.promoted) == len(manifest["sources"])
    (folder / FILES[OURS]).write_bytes(page)
    # dbt writes JSON with blanks, and inlines it unchanged.
    texts = {"manifest": json.dumps(manifest), "catalog": json.dumps(catalog)}
    static = stock.read()
    (folder / "served").mkdir()
    (folder / FILES[SERVED]).write_text(static, "utf-8")
    for name, text in texts.items():
        (folder / "served" / f"{name}.json").write_text(text, "utf-8")
        static = static.replace(f'"{name.upper()}.JSON INLINE DATA"', text)
    (folder / FILES[STATIC]).write_text(static, "utf-8")


def grafted(manifest: Document, catalog: Document) -> docs.Grafted:
    accesses, runs = [], []
    for node in manifest["sources"].values():
        task = f"load_{node['name']}"
        runs.append(Run(task, task, "spark", AT, AT, Status.OK))
        accesses += [
            Access(
                task, task, dataset, kind, direction, Operation.INSERT, "", first_at=AT, last_at=AT
            )
            for dataset, kind, direction in (
                (DatasetId("file", f"/landing/{node['name']}"), Kind.PATH, Direction.READ),
                (DatasetId("spark", f"raw.{node['name']}"), Kind.TABLE, Direction.WRITE),
            )
        ]
    lineage = build(Records(accesses=tuple(accesses), runs=tuple(runs)))
    known = relations(manifest, "spark")
    return graft(
        Artifacts(manifest, catalog, "spark", "1.11"),
        lineage,
        GraftOptions("spark"),
        known,
        dbt_columns(manifest, catalog, known.datasets),
    )


def seconds(browser: Browser, address: str) -> float:
    """From the start of the navigation to the rendered model, in a new tab."""
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(RENDERED)
    page.goto(f"{address}#!/model/model.big.{SHOWN}", wait_until="commit")
    page.wait_for_function("() => window.rendered", timeout=300_000)
    taken = float(page.evaluate("() => window.rendered")) / 1000
    context.close()
    return taken


def measure(folder: Path) -> dict[str, float]:
    """Median seconds of each page; the pages take turns, so that noise affects all of them."""
    handler = functools.partial(SilentFileHandler, directory=str(folder))
    taken: dict[str, list[float]] = {name: [] for name in FILES}
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as http,
        chromium() as browser,
    ):
        threading.Thread(target=http.serve_forever, daemon=True).start()
        for _ in range(ROUNDS):
            for name, file in FILES.items():
                taken[name].append(seconds(browser, f"http://127.0.0.1:{http.server_port}/{file}"))
        http.shutdown()
    return {name: statistics.median(times) for name, times in taken.items()}


def main() -> int:
    """Report the figures; return 1 if a limit is exceeded."""
    report = Report("The docs page", "benchmarks/docs/bench_page.py")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_pages(folder)
        taken = measure(folder)
        sizes = {name: (folder / FILES[name]).stat().st_size / 1e6 for name in (STATIC, OURS)}
    faster = min(taken[SERVED], taken[STATIC])
    report.say(
        f"Of {MODELS:,} models, to a rendered model; the limits are half of dbt's time and size. "
        "In ours each column says where it comes from."
    )
    report.table("", "s", "MB")
    for name, took in taken.items():
        report.row(name, f"{took:.2f}", f"{sizes[name]:.1f}" if name in sizes else "")
    time, size = taken[OURS] / faster, sizes[OURS] / sizes[STATIC]
    report.row("ours / dbt's", f"{time:.2f}", f"{size:.2f}")
    report.write()
    return int(time > 0.5 or size > 0.5)


if __name__ == "__main__":
    sys.exit(main())
