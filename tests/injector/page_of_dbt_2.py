"""A docs page as dbt 2 writes it into a target folder, with a program of our own."""

from __future__ import annotations

import json
from pathlib import Path

CDN = "https://cdn.jsdelivr.net/npm/@duckdb/duckdb-wasm@1.32.0"
SETTINGS = {
    "schema_version": 1,
    "generated_at": "2026-11-20T00:00:00Z",
    "dbt_version": "2.0.9",
    "distribution": "oss",
    "is_logged_in": False,
    "duckdb_cdn_base": CDN,
    "data_dir": "index/",
    "telemetry": {"enabled": True, "dbt_cloud_account_identifier": ""},
}
_HTML = """\
<!doctype html>
<html lang="en">
  <head>
    <meta charset="UTF-8" />
    <title>dbt docs v2</title>
    <!-- Replaced by `dbt docs generate` with the site's build scalars. -->
    <script>window.__DBT_DOCS__ = {settings};</script>
  <script type="module" crossorigin src="./assets/app.js"></script>
</head>
  <body>
    <div id="root"></div>
  </body>
</html>
"""
# As the router of dbt's page: it reads the address when it starts and when the browser goes back.
_PROGRAM = """\
const show = () => {
  document.getElementById("root").textContent = location.hash;
};
addEventListener("popstate", show);
show();
"""
# What npm has, without the database: a connection keeps what it was asked.
_DUCKDB = """\
export class AsyncDuckDB {
  async connect() {
    return { asked: [], async query(sql) { this.asked.push(sql); } };
  }
}
export const selectBundle = (bundles) => bundles.eh;
"""


def write_page(target: Path, **settings: object) -> None:
    """Write the page.

    Args:
        settings: Other settings than dbt's usual ones.
    """
    (target / "assets").mkdir(parents=True, exist_ok=True)
    text = json.dumps(SETTINGS | settings)
    (target / "index.html").write_text(_HTML.replace("{settings}", text))
    (target / "assets/app.js").write_text(_PROGRAM)
    (target / "assets/plan.svg").write_text("<svg><title>A picture of the project</title></svg>")


def write_duckdb(folder: Path) -> None:
    """Write the files of DuckDB-WASM, as the command in docs/dbt-versions.md does."""
    folder.mkdir(exist_ok=True)
    (folder / "duckdb-browser.js").write_text(_DUCKDB)
    for kind in ("eh", "mvp"):
        (folder / f"duckdb-{kind}.wasm").write_bytes(b"\0asm")
        (folder / f"duckdb-browser-{kind}.worker.js").write_text("// works\n")
