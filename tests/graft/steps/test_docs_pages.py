"""dbt's docs pages in the site: that of dbt 2, that of dbt 1, both, or none."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from dbt_graft.graft.commands.cli import main
from dbt_graft.injector import stock
from tests.graft.conftest import Graft
from tests.graft.dbt_2_project import dbt_2_project
from tests.injector.page_of_dbt_2 import write_duckdb

CLASSIC = b'id="graft-manifest"'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of dbt 2, collected."""
    dbt_2_project(tmp_path)
    run(tmp_path, "collect")
    return tmp_path


@pytest.fixture
def without_dbt(monkeypatch: pytest.MonkeyPatch) -> None:
    """No dbt-core is installed."""

    files = resources.files

    def find(package: str) -> Traversable:
        if package == "dbt":
            raise ModuleNotFoundError
        return files(package)

    monkeypatch.setattr(resources, "files", find)


def run(project: Path, *command: str) -> None:
    done = CliRunner().invoke(main, [*command, "--config", str(project / "graft.yml")])
    assert done.exit_code == 0, done.output


def configure(project: Path, text: str) -> None:
    with (project / "graft.yml").open("a") as config:
        config.write(f"{text}\n")


def page(project: Path, path: str) -> bytes:
    return (project / "build/site" / path).read_bytes()


def test_the_page_of_dbt_2_reads_the_grafted_index(project: Path) -> None:
    run(project, "site")
    assert b"__DBT_DOCS__" in page(project, "dbt/index.html")
    nodes = pq.read_table(project / "build/site/dbt/index/dbt.nodes.parquet").to_pylist()
    descriptions = {row["unique_id"]: row["description"] for row in nodes}
    assert "](../datasets/spark/raw/orders/)" in descriptions["model.python_tasks.raw_orders"]
    assert "source.shop.raw.orders" not in descriptions


def test_the_page_of_dbt_1_lies_below_it(project: Path) -> None:
    run(project, "site")
    assert CLASSIC in page(project, "dbt/classic/index.html")
    assert b'"classic":"classic/index.html"' in page(project, "dbt/index.html")


@pytest.mark.usefixtures("without_dbt")
def test_without_dbt_core_the_page_of_dbt_2_is_alone(project: Path, graft: Graft) -> None:
    done = graft("site", "--config", str(project / "graft.yml"))
    assert "warning" not in done.err
    assert not (project / "build/site/dbt/classic").exists()
    assert b'"classic":""' in page(project, "dbt/index.html")


def test_with_dbt_1_its_page_is_at_the_same_address(project: Path) -> None:
    (project / "target/index.html").write_text(stock.read())
    run(project, "site")
    assert CLASSIC in page(project, "dbt/index.html")
    assert not (project / "build/site/dbt/index").exists()


@pytest.mark.usefixtures("without_dbt")
def test_without_any_page_the_catalog_is_complete_and_a_sentence_says_so(
    project: Path, graft: Graft
) -> None:
    (project / "target/index.html").unlink()
    done = graft("site", "--config", str(project / "graft.yml"))
    [warning] = [line for line in done.err.splitlines() if line.startswith("warning")]
    assert warning.startswith("warning  the site is published without dbt docs: there is no docs")
    assert not (project / "build/site/dbt").exists()
    assert b"dbt/index.html" not in page(project, "datasets/spark/raw/orders/index.html")


def test_the_catalog_and_its_search_use_the_addresses_of_the_page(project: Path) -> None:
    manifest = json.loads((project / "target/manifest.json").read_text())
    manifest["macros"]["macro.shop.cents"] = {"name": "cents", "package_name": "shop"}
    (project / "target/manifest.json").write_text(json.dumps(manifest))

    run(project, "site")

    address = b"dbt/index.html#/details/model.python_tasks.raw_orders/"
    assert address in page(project, "datasets/spark/raw/orders/index.html")
    names = page(project, "search/names/n-.js")
    assert b'"dbt/index.html#/details/macro.shop.cents/"' in names


def test_a_source_that_became_a_model_is_redirected(project: Path) -> None:
    run(project, "site")
    redirect = b'{"source.shop.raw.orders":"model.python_tasks.raw_orders"}'
    assert redirect in page(project, "dbt/index.html")


def test_a_second_build_writes_none_of_it_again(project: Path) -> None:
    write_duckdb(project / "duckdb")
    configure(project, "docs: {duckdb: duckdb}")
    run(project, "site")
    files = [file for file in (project / "build/site/dbt").rglob("*") if file.is_file()]
    assert len(files) > 10
    before = {file: file.stat().st_mtime_ns for file in files}
    run(project, "site")
    assert {file: file.stat().st_mtime_ns for file in files} == before


def test_a_site_of_the_past_says_so_on_the_start_page(project: Path) -> None:
    run(project, "site", "--as-of", datetime.now(UTC).isoformat())
    [docs_file] = project.glob("build/*/dbt/index/dbt.docs.parquet")
    docs = pq.read_table(docs_file).to_pylist()
    assert any("Lineage as of " in (row["block_contents"] or "") for row in docs)


@pytest.mark.usefixtures("without_dbt")
def test_smaller_pages_without_the_page_of_dbt_1_are_no_silent_loss(
    project: Path, graft: Graft
) -> None:
    configure(project, "docs: {pages: {orders: 'raw_orders'}}")
    done = graft("site", "--config", str(project / "graft.yml"))
    assert "`docs.pages` are parts of the page of dbt 1" in done.err
