"""The docs page of dbt 2 in a browser: old addresses, and no host but the site's own.

The page is one of ours with the settings that dbt writes, and a router that reads addresses as
dbt's does. dbt's own page is tested where `DBT_DOCS_BUNDLE` names a folder with its program
(crates/dbt-docs-server/web/dist of dbt-core).
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect

from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.project.config import load
from dbt_graft.graft.project.progress import Progress
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.steps.sites import publish_site
from tests.graft.dbt_2_project import dbt_2_project
from tests.injector.page_of_dbt_2 import SETTINGS, write_duckdb
from tests.site.conftest import Visit, served, visiting, watching

pytestmark = pytest.mark.browser
MODEL = "model.python_tasks.raw_orders"
SAMPLE = Path(__file__).parents[3] / "shared/samples/dbt-v2/demo"
SCORES = "model.python_tasks.ml_customer_scores"


def published(folder: Path) -> Path:
    """The site of the project in a folder."""
    config = load(folder / "graft.yml")
    return publish_site(config, Progress(quiet=True), Project(config).grafted()).index.parent


@pytest.fixture(scope="module")
def small_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dbt2")
    dbt_2_project(folder)
    write_duckdb(folder / "duckdb")
    with (folder / "graft.yml").open("a") as config:
        config.write("docs: {duckdb: duckdb}\n")
    done = CliRunner().invoke(main, ["collect", "--config", str(folder / "graft.yml")])
    assert done.exit_code == 0, done.output
    return published(folder)


@pytest.fixture
def visit(shared_tab: Page, small_site: Path) -> Iterator[Visit]:
    """A visit of the site of a small project."""
    with served(small_site) as address, watching(shared_tab, address) as visit:
        yield visit


def shows(page: Page, address: str) -> None:
    """The page's own router sees an address, and so does the reader."""
    expect(page.locator("#root")).to_have_text(address)
    assert page.evaluate("location.hash") == address


@pytest.mark.parametrize(
    ("address", "seen"),
    [
        ("#/details/source.shop.raw.orders/", f"#/details/{MODEL}/"),
        (f"#/details/{MODEL}/?view=files", f"#/details/{MODEL}/?view=files"),
        (
            "#/lineage/?panel=a&uniqueId=source.shop.raw.orders",
            f"#/lineage/?panel=a&uniqueId={MODEL}",
        ),
        ("#/details/source.shop.raw.others/", "#/details/source.shop.raw.others/"),
        ("#/search/", "#/search/"),
        ("", ""),
    ],
)
def test_the_address_of_a_source_that_became_a_model_leads_to_the_model(
    visit: Visit, address: str, seen: str
) -> None:
    shows(visit.open(f"dbt/index.html{address}"), seen)


def test_a_link_inside_of_the_page_does_so_too(visit: Visit) -> None:
    page = visit.open("dbt/index.html#/")
    page.evaluate("location.hash = '#/details/source.shop.raw.orders/'")
    shows(page, f"#/details/{MODEL}/")
    page.go_back()
    shows(page, "#/")


def test_addresses_of_the_page_of_dbt_1_lead_to_it(visit: Visit) -> None:
    page = visit.open("dbt/index.html#!/source/source.shop.raw.orders")
    page.wait_for_url(f"**/dbt/classic/index.html#!/model/{MODEL}*")
    expect(page.get_by_role("heading", name="raw_orders").first).to_be_visible()
    page.get_by_role("link", name="Catalog page").first.click()
    page.wait_for_url("**/datasets/spark/raw/orders/")


@pytest.mark.parametrize(
    ("address", "seen"),
    [
        ("#!/source/source.shop.raw.orders?g_v=1", f"#/details/{MODEL}/"),
        (f"#!/model/{MODEL}", f"#/details/{MODEL}/"),
        ("#!/overview", "#/"),
    ],
)
def test_without_the_page_of_dbt_1_they_lead_to_the_nodes_of_dbt_2(
    shared_tab: Page, small_site: Path, tmp_path: Path, address: str, seen: str
) -> None:
    site = shutil.copytree(small_site, tmp_path / "site")
    page = site / "dbt/index.html"
    page.write_text(page.read_text().replace('"classic":"classic/index.html"', '"classic":""'))
    with served(site) as server, watching(shared_tab, server) as visit:
        shows(visit.open(f"dbt/index.html{address}"), seen)


def test_the_page_tells_nobody_that_it_is_read(visit: Visit) -> None:
    page = visit.open("dbt/index.html")
    assert page.evaluate("window.__DBT_DOCS__.telemetry.enabled") is False


def test_duckdb_comes_from_the_site_and_knows_what_the_page_asks_for(visit: Visit) -> None:
    page = visit.open("dbt/index.html")
    asked = page.evaluate(
        """async () => {
          const { AsyncDuckDB, selectBundle } = await import(
            `${window.__DBT_DOCS__.duckdb_cdn_base}/+esm`
          );
          const connection = await new AsyncDuckDB().connect();
          return [typeof selectBundle, ...connection.asked];
        }"""
    )
    assert asked[0] == "function"
    assert [text.split("(")[0] for text in asked[1:]] == [
        "CREATE OR REPLACE MACRO json_extract",
        "CREATE OR REPLACE MACRO json_extract_string",
    ]


@pytest.fixture(scope="module")
def duckdb(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """DuckDB, made with the command in the documentation."""
    command = re.findall(
        r"```bash\n(.*?)```", (root / "docs/dbt-versions.md").read_text(), re.DOTALL
    )
    folder = tmp_path_factory.mktemp("npm")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    if not shutil.which("npm", path=path):
        pytest.skip("npm is not installed")
    done = subprocess.run(
        ["bash", "-euc", command[0]],
        cwd=folder,
        env={**os.environ, "PATH": path, "NODE_OPTIONS": "--use-system-ca"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        pytest.skip(f"npm has no DuckDB: {done.stderr[-200:]}")
    return folder / "duckdb"


def test_duckdb_reads_the_index_and_asks_no_other_host(
    browser: Browser, small_site: Path, duckdb: Path, tmp_path: Path
) -> None:
    site = shutil.copytree(small_site, tmp_path / "site")
    for file in duckdb.iterdir():
        shutil.copyfile(file, site / "dbt/duckdb/dist" / file.name)
    with served(site) as server, visiting(browser, server) as visit:
        found = visit.open("dbt/index.html").evaluate(
            """async () => {
              const { data_dir, duckdb_cdn_base: base } = window.__DBT_DOCS__;
              const duckdb = await import(`${base}/+esm`);
              const bundle = (kind) => ({
                mainModule: `${base}/dist/duckdb-${kind}.wasm`,
                mainWorker: `${base}/dist/duckdb-browser-${kind}.worker.js`,
              });
              const chosen = await duckdb.selectBundle({ mvp: bundle("mvp"), eh: bundle("eh") });
              const script = `importScripts("${chosen.mainWorker}");`;
              const worker = new Worker(URL.createObjectURL(new Blob([script])));
              const database = new duckdb.AsyncDuckDB(new duckdb.VoidLogger(), worker);
              await database.instantiate(chosen.mainModule, chosen.pthreadWorker);
              const nodes = new URL(`${data_dir}dbt.nodes.parquet`, document.baseURI);
              const bytes = await (await fetch(nodes)).arrayBuffer();
              await database.registerFileBuffer("nodes.parquet", new Uint8Array(bytes));
              const connection = await database.connect();
              const answer = await connection.query(`
                SELECT name,
                       len(list_intersect(tags, ['declared'])) > 0 AS is_tagged,
                       CAST(json_extract('{"a":1,"tags":["x y","z"]}', '$.tags')
                         AS VARCHAR[])[1] AS tag,
                       json_extract_string('{"owner":{"slack":"#data"}}', '$.owner.slack') AS slack
                FROM read_parquet('nodes.parquet') WHERE resource_type = 'model'`);
              return answer.toArray().map((row) => ({ ...row.toJSON() }));
            }"""
        )
    assert found == [{"name": "raw_orders", "is_tagged": True, "tag": "x y", "slack": "#data"}]


@pytest.fixture(scope="module")
def real(root: Path, duckdb: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the demo as dbt 2 compiled it, with dbt's own page."""
    bundle = os.environ.get("DBT_DOCS_BUNDLE")
    if not bundle:
        pytest.skip("DBT_DOCS_BUNDLE names no folder with the program of dbt's page")
    store = root / "build/demo/store"
    if not SAMPLE.is_dir() or not store.is_dir():
        pytest.skip("there is no index of the demo, or no build/demo/store: run `make docs`")
    folder = tmp_path_factory.mktemp("real")
    target = folder / "target"
    shutil.copytree(bundle, target)
    shutil.copytree(SAMPLE, target / "index")
    manifest = gzip.decompress((target / "index/manifest.json.gz").read_bytes())
    (target / "manifest.json").write_bytes(manifest)
    settings = f"<script>window.__DBT_DOCS__ = {json.dumps(SETTINGS)};</script>"
    page = (target / "index.html").read_text()
    (target / "index.html").write_text(page.replace("<!--dbt-docs-bootstrap-->", settings))
    shutil.copytree(store, folder / "store")
    (folder / "graft.yml").write_text(f"docs: {{duckdb: {duckdb}}}\nstore: store\n")
    return published(folder)


@pytest.fixture
def real_visit(browser: Browser, real: Path) -> Iterator[Visit]:
    """A new tab on that site."""
    with served(real) as address, visiting(browser, address) as visit:
        yield visit
        # Tables without rows have no file, which dbt's page knows.
        visit.faults[:] = [fault for fault in visit.faults if "404" not in fault]


def test_dbts_page_shows_a_python_task_between_models(real_visit: Visit) -> None:
    page = real_visit.open("dbt/index.html#/details/source.shop.ml.customer_scores/")
    expect(page.get_by_role("heading", name="ml_customer_scores")).to_be_visible()
    for name in ("customers", "customer_segments"):
        expect(page.locator(".react-flow__node", has_text=name).first).to_be_visible()
    expect(page.get_by_role("link", name="Catalog page")).to_have_attribute(
        "href", "../datasets/spark/ml/customer_scores/"
    )


def test_dbts_page_shows_where_a_column_of_a_task_comes_from(real_visit: Visit) -> None:
    page = real_visit.open(f"dbt/index.html#/details/{SCORES}/")
    page.get_by_role("tab", name="Columns").click()
    page.get_by_test_id("toggle-column-card-value_score").click()
    expect(page.get_by_text("lifetime_value_eur", exact=True).first).to_be_visible()


def test_dbts_page_lists_the_last_run_and_the_rows_of_a_task(real_visit: Visit) -> None:
    page = real_visit.open("dbt/index.html#/resource/model/")
    row = page.get_by_role("row", name="ml_customer_scores")
    expect(row).to_contain_text("UTC")
    expect(row).to_contain_text("45")


def search(page: Page, words: str) -> None:
    box = page.get_by_role("searchbox", name="Search shop")  # there when the page is loaded
    box.fill(words)
    box.press("Enter")


def test_dbts_page_finds_tasks_by_their_tag(real_visit: Visit) -> None:
    page = real_visit.open("dbt/index.html")
    search(page, "data_science")
    expect(page.get_by_text("Tag (1)")).to_be_visible()
    expect(page.get_by_role("main").get_by_text("ml_customer_scores")).to_be_visible()


def test_dbts_page_filters_by_tag(real_visit: Visit) -> None:
    page = real_visit.open("dbt/index.html")
    search(page, "customer_scores")
    main = page.get_by_role("main")
    expect(main.get_by_text("source_unique_ml_customer_scores_customer_id")).to_be_visible()
    page.get_by_text("python_task", exact=True).first.click()
    expect(main.get_by_text("source_unique_ml_customer_scores_customer_id")).to_be_hidden()
    expect(main.get_by_text("ml_customer_scores", exact=True)).to_be_visible()
