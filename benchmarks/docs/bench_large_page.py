"""The docs page of 30,000 models and smaller ones beside it, in headless Chromium.

Each page is opened at one model in a browser of its own: seconds to the rendered model, and the
most memory that the page's process had. dbt's page is measured as dbt offers it, served beside its
JSON: its single file is larger than a text may be in Chromium.
"""

from __future__ import annotations

import functools
import json
import multiprocessing
import sys
import tempfile
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from http.server import ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Error

from dbt_graft.lineage.frozen import frozen

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from bench_page import SilentFileHandler, grafted  # noqa: E402
from project import COLUMNS, FOLDER, artifacts  # noqa: E402

from benchmarks.report import Report  # noqa: E402
from dbt_graft.injector import docs, stock  # noqa: E402
from tests.site.conftest import chromium  # noqa: E402

MODELS, SECONDS = 30_000, 300
SHOWN = "orders_by_customer_00042"
# Folders have 50 models each.
PARTS = {
    "thousand": "path:models/area_00* path:models/area_01*",
    "hundred": "path:models/area_00[01]",
}
RENDERED = f"""() => {{
  const shown = [...document.querySelectorAll("h1")].some(h => h.textContent.includes("{SHOWN}"));
  return shown && document.querySelectorAll(".section-content tbody tr.column-row").length
    === {COLUMNS} && performance.now();
}}"""


@frozen
class Opened:
    """A page that was opened; no seconds if it did not come to the model."""

    seconds: float | None
    megabytes: float


def write_pages(folder: Path, models: int) -> dict[str, Path]:
    """Write the pages of one project: dbt's own, ours, and the smaller ones."""
    manifest, catalog = artifacts(models)
    found = {"dbt, served": folder / "dbt" / "index.html"}
    (folder / "dbt").mkdir()
    found["dbt, served"].write_text(stock.read(), "utf-8")
    for name, document in (("manifest", manifest), ("catalog", catalog)):
        with (folder / "dbt" / f"{name}.json").open("w", encoding="utf-8") as file:
            json.dump(document, file)
    settings = docs.DocsPageSettings("Benchmark")
    names = iter((f"all {models:,}", *PARTS))
    for path, content in docs.pages(grafted(manifest, catalog), settings, PARTS):
        name = next(names)
        found[name] = folder / "ours" / path
        found[name].parent.mkdir(parents=True, exist_ok=True)
        found[name].write_bytes(content)
    return found


def opened(address: str) -> Opened:
    """Open a page in a new browser."""
    with chromium() as browser:
        seconds = None
        page = browser.new_page()
        with suppress(Error):  # too slow, or out of memory
            page.goto(f"{address}#!/model/model.big.{SHOWN}", wait_until="commit")
            shown = page.wait_for_function(RENDERED, timeout=SECONDS * 1000, polling=100)
            seconds = float(shown.json_value()) / 1000
        processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")
        ids = [one["id"] for one in processes["processInfo"] if one["type"] == "renderer"]
        most = max(map(_most_megabytes, ids), default=0.0)
    return Opened(seconds, most)


def _most_megabytes(process: int) -> float:
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0


def main() -> int:
    """Report the figures; return 1 if a page of ours does not come to the model."""
    models = int(sys.argv[1]) if len(sys.argv) > 1 else MODELS
    report = Report("The docs page of a large project", "benchmarks/docs/bench_large_page.py")
    report.say(
        f"A project of {models:,} models, opened at one of them in headless Chromium; memory is "
        f"the most that the page's process had. Smaller pages show {20 * FOLDER:,} and "
        f"{2 * FOLDER} models."
    )
    report.table("", "MB", "s to a model", "MB of memory")
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        # In a process of its own, whose memory is free again when the browser needs it.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            pages = pool.submit(write_pages, folder, models).result()
        handler = functools.partial(SilentFileHandler, directory=str(folder))
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
            threading.Thread(target=http.serve_forever, daemon=True).start()
            for name, file in pages.items():
                path = file.relative_to(folder).as_posix()
                found = opened(f"http://127.0.0.1:{http.server_port}/{path}")
                size = sum(one.stat().st_size for one in file.parent.glob("*.*"))
                report.row(
                    name,
                    f"{size / 1e6:.1f}",
                    "not shown" if found.seconds is None else f"{found.seconds:.1f}",
                    f"{found.megabytes:,.0f}",
                )
                failed = failed or (found.seconds is None and not name.startswith("dbt"))
            http.shutdown()
    if models == MODELS:
        report.write()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
