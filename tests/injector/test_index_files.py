"""The grafted index as a site has it: what dbt's page shows, and no secrets."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbt_graft.injector import artifacts
from dbt_graft.injector.graft import graft
from dbt_graft.injector.index_files import published_files, redact_table
from dbt_graft.injector.options import GraftOptions
from dbt_graft.injector.report import name_all
from tests.injector.conftest import Log, Project
from tests.injector.index.index_of_dbt import ask, write_index

OVERVIEW = "SELECT block_contents FROM dbt.docs WHERE package_name <> 'dbt'"


@pytest.fixture
def target(project: Project, tmp_path: Path) -> Path:
    write_index(tmp_path / "target", project.manifest, project.catalog)
    return tmp_path / "target"


def published(target: Path, log: Log, head: str = "") -> Path:
    """The folder with the files."""
    grafted = graft(artifacts.read(target), log.lineage(), GraftOptions("spark"))
    assert grafted.index
    folder = target.parent / "published"
    folder.mkdir()
    for name, content in published_files(
        grafted.index, grafted, grafted.linked_to("../", name_all), head
    ).items():
        (folder / name).write_bytes(content)
    return folder


def test_descriptions_lead_into_the_catalog(target: Path, log: Log) -> None:
    question = "SELECT description FROM dbt.nodes WHERE name = 'raw_orders'"
    [(text,)] = ask(published(target, log), question)
    assert "](../datasets/spark/raw/orders/)" in text


def test_tables_that_the_page_does_not_show_stay_out(target: Path, log: Log) -> None:
    row = [{"unique_id": "model.shop.orders", "invocation_id": "1", "value": "4711"}]
    hidden = ("dbt.project_vars", "dbt.sample_data", "dbt_rt.adapter_queries", "dbt_rt.invocations")
    for name in (*hidden, "dbt.macros", "dbt.new_in_the_next_version"):
        pq.write_table(pa.Table.from_pylist(row), target / f"index/{name}.parquet")

    names = {path.stem for path in published(target, log).glob("*")}

    assert not names & {*hidden}
    assert {"dbt.macros", "dbt.new_in_the_next_version", "dbt_rt.run_results"} <= names


@pytest.mark.parametrize(
    ("column", "text", "redacted"),
    [
        ("description", "password=hunter2 for all", "password=redacted for all"),
        ("meta", '{"password":"hunter2","n":1}', '{"password":"redacted","n":1}'),
        ("config", r'"{\"password\":\"hunter2\"}"', r'"{\"password\":\"redacted\"}"'),
        ("description", '{ "n": 1 }', '{ "n": 1 }'),
        ("description", "[not JSON", "[not JSON"),
    ],
)
def test_secrets_are_redacted_in_texts_and_in_json(column: str, text: str, redacted: str) -> None:
    table = redact_table(pa.table({column: [text, None], "tags": [[text], []]}))
    assert table.to_pylist() == [
        {column: redacted, "tags": [redacted]},
        {column: None, "tags": []},
    ]


def test_a_table_without_secrets_is_the_same() -> None:
    table = pa.table({"name": ["orders", None], "n": [1, 2], "tags": [["a"], None]})
    assert redact_table(table).equals(table)


def test_the_start_page_leads_to_the_catalog(target: Path, log: Log) -> None:
    [(text,)] = ask(published(target, log, "[Catalog](../index.html)"), OVERVIEW)
    assert text.startswith("[Catalog](../index.html)\n\n### Python tasks")


def test_the_start_page_of_the_project_does_too(project: Project, tmp_path: Path, log: Log) -> None:
    own = {"unique_id": "doc.shop.__overview__", "name": "__overview__", "package_name": "shop"}
    rows = [own | {"block_contents": "# Our shop"}]
    write_index(tmp_path / "target", project.manifest, project.catalog, dbt__docs=rows)

    texts = ask(published(tmp_path / "target", log, "[Catalog](../index.html)"), OVERVIEW)

    assert texts == [("[Catalog](../index.html)\n\n# Our shop",)]


def test_the_same_inputs_give_the_same_bytes(target: Path, log: Log) -> None:
    def files() -> dict[str, bytes]:
        grafted = graft(artifacts.read(target), log.lineage(), GraftOptions("spark"))
        assert grafted.index
        return published_files(grafted.index, grafted, grafted.linked_to("../", name_all), "")

    assert files() == files()


def test_an_emptied_index_has_the_schemas_and_nothing_of_the_project(
    target: Path,
) -> None:
    described = pa.schema([pa.field("name", pa.string(), metadata={"of": "secret"})])
    table = pa.Table.from_pylist([{"name": "secret"}], schema=described)
    pq.write_table(table, target / "index/dbt.macros.parquet")
    index = artifacts.read(target).index
    assert index

    emptied = index.emptied()

    assert {*emptied.tables} == {*index.tables, *index.others}
    kept = {name: table for name, table in emptied.tables.items() if table.num_rows}
    assert {*kept} == {"dbt.generation", "dbt.project"}
    assert kept["dbt.project"].to_pylist()[0]["project_name"] == "shop"
    assert all("secret" not in str(table.schema) for table in emptied.tables.values())
    assert emptied.tables["dbt.nodes"].column_names == index.tables["dbt.nodes"].column_names
