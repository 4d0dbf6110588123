"""Sites for audiences: no file of them has what its readers may not see."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.collectors.openlineage.events import event, written
from tests.graft.audience_project import HIDDEN, audience_project, graft
from tests.graft.small_project import declare, small_project
from tests.injector.index.index_of_dbt import write_index
from tests.injector.page_of_dbt_2 import write_page

Json = dict[str, Any]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audience")
    audience_project(folder)
    return folder


def contents(site: Path) -> Iterator[tuple[str, str]]:
    """Each file: its path, and all text in it, packed or not."""
    for path in sorted(site.rglob("*")):
        if not path.is_file():
            continue
        name = str(path.relative_to(site))
        if path.suffix == ".parquet":
            yield name, f"{pq.read_table(path).to_pylist()} {pq.read_schema(path)}"
            continue
        content = path.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        yield name, content.decode("utf-8", "replace")


def naming(site: Path, word: str) -> list[str]:
    return [name for name, text in contents(site) if word in f"{name} {text}".casefold()]


def test_no_file_of_the_public_site_names_what_is_hidden(project: Path) -> None:
    assert naming(project / "public", "zqxhid") == []


def test_no_file_of_the_public_site_has_a_digest_of_what_is_hidden(project: Path) -> None:
    """Digests of hidden names, by which a guess at them could be checked."""
    guesses = [
        *HIDDEN,
        *(text for name, _ in contents(project / "build/site") for text in (name, f"/{name}")),
        *shown_statements(project),
    ]
    guesses = [text for text in guesses if "zqxhid" in text.casefold()]
    assert len(guesses) > 20
    public = "".join(f"{name} {text}" for name, text in contents(project / "public"))
    digests = (hashlib.md5, hashlib.sha1, hashlib.sha256, hashlib.blake2b)
    found = [
        text
        for text in guesses
        for digest in digests
        if digest(text.encode()).hexdigest()[:8] in public
    ]
    assert found == []


def shown_statements(project: Path) -> Iterator[str]:
    manifest = json.loads((project / "target/manifest.json").read_text())
    for node in manifest["nodes"].values():
        yield node.get("raw_code") or ""


def test_the_team_s_own_site_has_it_in_pages_search_data_and_dbt_docs(project: Path) -> None:
    found = naming(project / "build/site", "zqxhid")
    for start in ("datasets/", "tasks/", "search/", "data/", "dbt/", "explore/", "task_metadata"):
        assert any(name.startswith(start) for name in found), start
    kinds = {Path(name).suffix for name in found}
    assert kinds >= {".html", ".json", ".js", ".parquet", ".pf_fragment", ".pf_index"}


def test_readers_who_may_see_more_see_more(project: Path) -> None:
    assert naming(project / "pii", "zqxhidupper")
    assert naming(project / "pii", "zqxhidpay") == []


def test_what_is_visible_stays(project: Path) -> None:
    pages = {name for name, _ in contents(project / "public")}
    for name in ("raw/orders", "db/orders_x", "db/mart", "db/after"):
        assert f"datasets/spark/{name}/index.html" in pages
    assert {"tasks/load/index.html", "tasks/pay_to_bank/index.html"} <= pages


def test_lineage_goes_around_a_hidden_table(project: Path) -> None:
    flows = pq.read_table(project / "public/data/edges.parquet").to_pylist()
    assert ("spark/db.orders_x", "spark/db.after") in {
        (flow["from_dataset"], flow["to_dataset"]) for flow in flows
    }


def rows(project: Path, site: str, table: str) -> list[dict[str, object]]:
    """The rows of a table that the page of dbt 2 reads."""
    return pq.read_table(project / site / f"dbt/index/{table}.parquet").to_pylist()


def test_the_index_of_dbt_2_has_the_visible_nodes_and_goes_around_hidden_ones(
    project: Path,
) -> None:
    nodes = {row["unique_id"] for row in rows(project, "public", "dbt.nodes")}
    assert {"model.shop.orders_x", "model.shop.mart", "model.shop.after"} <= nodes
    assert {"test.shop.unique_n"} == {key for key in nodes if str(key).startswith("test.")}
    edges = {
        (row["parent_unique_id"], row["child_unique_id"])
        for row in rows(project, "public", "dbt.edges")
    }
    assert ("model.shop.orders_x", "model.shop.after") in edges
    assert ("model.shop.mart", "exposure.shop.board") in edges


def test_the_index_of_dbt_2_has_the_visible_columns_and_their_lineage(project: Path) -> None:
    def columns(site: str) -> set[object]:
        return {
            row["column_name"]
            for row in rows(project, site, "dbt.node_columns")
            if row["unique_id"] == "model.shop.mart"
        }

    assert columns("pii") - columns("public") == {"zqxhidupper"}
    assert "n" in columns("public")
    ways = {
        (row["from_column_name"], row["to_node_unique_id"], row["to_column_name"])
        for row in rows(project, "public", "dbt.column_lineage")
    }
    assert ("id", "model.shop.orders_x", "id") in ways


def test_the_index_of_dbt_2_has_no_words_of_dbt_itself(project: Path) -> None:
    assert "doc.dbt.__overview__" not in {
        row["unique_id"] for row in rows(project, "public", "dbt.docs")
    }


def test_the_start_page_of_dbt_2_says_that_something_is_left_out(project: Path) -> None:
    def start(site: str) -> str:
        texts = [row["block_contents"] for row in rows(project, site, "dbt.docs")]
        return "\n".join(map(str, filter(None, texts)))

    assert "8 columns and 2 tables are left out" in start("public")
    assert "are left out" not in start("build/site")


def test_a_picture_of_the_project_is_not_for_an_audience(project: Path) -> None:
    assert (project / "build/site/dbt/assets/plan.svg").exists()
    assert not (project / "public/dbt/assets/plan.svg").exists()
    assert (project / "public/dbt/assets/app.js").exists()


def test_each_page_says_that_something_is_left_out(project: Path) -> None:
    page = (project / "public/datasets/spark/raw/orders/index.html").read_text()
    assert "8 columns and 2 tables are left out" in page
    assert "are left out" not in (project / "build/site/index.html").read_text()


def test_tables_that_graft_yml_labels_are_left_out_with_their_names(tmp_path: Path) -> None:
    small_project(tmp_path)
    declare(tmp_path, "raw.orders", "hr.zqxhid")
    with (tmp_path / "graft.yml").open("a") as config:
        config.write("privacy: {tables: [{tables: 'HR.*', is: secret}]}\n")
        config.write("site: {audience: internal, unlabelled: show, data: true}\n")
    assert graft(tmp_path, "collect").exit_code == 0
    done = graft(tmp_path, "site")
    assert done.exit_code == 0, done.output
    assert naming(tmp_path / "build/site", "zqxhid") == []
    assert "to internal: 1 table is left out" in (tmp_path / "build/site/index.html").read_text()


def described(folder: Path, kind: str, schema: str, columns: Json, **more: Any) -> None:
    """Add a public node for the table `orders` of a schema, with a catalog of strings."""
    node_id = f"{kind}.shop.{schema}.{more.get('name', 'orders')}"
    node = {
        "resource_type": kind,
        "unique_id": node_id,
        "source_name": schema,
        "schema": schema,
        "name": "orders",
        "alias": "orders",
        "identifier": "orders",
        "package_name": "shop",
        "config": {},
        "tags": [],
        "meta": {"classification": "public"},
        "description": "",
        "depends_on": {"nodes": [], "macros": []},
        "columns": columns,
        **more,
    }
    structs = {"address": "struct<street:string,zqxhid:string>"}
    types = {name: {"name": name, "type": structs.get(name, "string")} for name in columns}
    metadata = {"type": "table", "schema": schema, "name": "orders"}
    entry = {"unique_id": node_id, "metadata": metadata, "columns": types, "stats": {}}
    for file, value in (("manifest", node), ("catalog", entry)):
        path = folder / f"target/{file}.json"
        content = json.loads(path.read_text())
        content[f"{'node' if kind == 'model' else kind}s"][node_id] = value
        path.write_text(json.dumps(content))


SECRET = {"meta": {"classification": "secret"}}


def _field_of_a_struct(folder: Path) -> None:
    described(folder, "source", "raw", {"address": {}, "address.zqxhid": SECRET})


def _second_source(folder: Path) -> None:
    described(folder, "source", "raw", {"zqxhid": {"description": "a mail"}})
    described(folder, "source", "raw", {"zqxhid": SECRET}, name="same", meta={})


def _model_that_is_a_source(folder: Path) -> None:
    described(folder, "model", "zqxhid", {"id": {}})
    described(folder, "source", "zqxhid", {"id": {}}, **SECRET)


def _second_model(folder: Path) -> None:
    described(folder, "model", "zqxhid", {"id": {}})
    described(folder, "model", "zqxhid", {"id": {}}, name="same", alias="ORDERS", **SECRET)


def _model_beside_one_that_is_hidden(folder: Path) -> None:
    described(folder, "model", "zqxhid", {"id": {}}, **SECRET)
    described(folder, "model", "zqxhid", {"id": {}}, name="same", alias="ORDERS")


def _second_model_that_reads_it(folder: Path) -> None:
    described(folder, "source", "hr", {"id": {}}, **SECRET)
    described(folder, "model", "raw", {"zqxhid": {}})
    inputs = {"nodes": ["source.shop.hr.orders"], "macros": []}
    described(folder, "model", "raw", {}, name="same", alias="ORDERS", depends_on=inputs)


def _country_of_orders(folder: Path) -> None:
    """A hidden column whose name another table shows."""
    described(folder, "source", "raw", {"id": {}, "country": SECRET})
    described(folder, "model", "db", {"country": {}})


def _added(folder: Path, part: str, *nodes: Json) -> None:
    path = folder / "target/manifest.json"
    manifest = json.loads(path.read_text())
    manifest[part] |= {node["unique_id"]: node for node in nodes}
    path.write_text(json.dumps(manifest))


def _part_of_dbt(kind: str, name: str, reads: str, **more: Any) -> Json:
    depends_on = {"nodes": [reads], "macros": []}
    node = {"resource_type": kind, "unique_id": f"{kind}.shop.{name}", "name": name}
    return {**node, "package_name": "shop", "depends_on": depends_on, **more}


def _metric_of_a_hidden_column(folder: Path) -> None:
    _country_of_orders(folder)
    of_orders = _part_of_dbt("semantic_model", "orders", "source.shop.raw.orders")
    _added(folder, "semantic_models", of_orders)
    metric = _part_of_dbt("metric", "zqxhid", of_orders["unique_id"], filter="country = 'DE'")
    _added(folder, "metrics", metric)
    query = _part_of_dbt("saved_query", "zqxhid_2", "metric.shop.zqxhid", group_by=["country"])
    _added(folder, "saved_queries", query)


def _test_that_reads_a_hidden_column(folder: Path) -> None:
    _country_of_orders(folder)
    code = "select 1 from raw.orders where country = 'DE'"
    _, node = _test_of_dbt("zqxhid", {}, attached_node=None, compiled_code=code)
    node["depends_on"]["nodes"] = ["source.shop.raw.orders"]
    _added(folder, "nodes", node)


def _source_of_another_name_than_its_schema(folder: Path) -> None:
    described(folder, "source", "hr", {"id": {}}, **SECRET, source_name="zqxhid", name="pay")
    described(folder, "model", "raw", {"id": {}}, description="Not of zqxhid.")


def _model_without_a_relation(folder: Path) -> None:
    """A pattern names it by its schema; what comes from it is hidden, too."""
    ephemeral = {"config": {"materialized": "ephemeral"}, "meta": {}, "name": "zqxhid"}
    described(folder, "source", "raw", {"id": {}})
    described(folder, "model", "hr_zqxhid", {"id": {}}, **ephemeral)
    inputs = {"nodes": ["model.shop.hr_zqxhid.zqxhid"], "macros": []}
    described(folder, "model", "db", {"zqxhid_2": {}}, depends_on=inputs)
    with (folder / "graft.yml").open("a") as config:
        config.write("privacy: {tables: [{tables: 'hr_*', is: secret}]}\n")


def _doc_block_of_a_hidden_column(folder: Path) -> None:
    text = "The zqxhid of a person, from the form."
    described(folder, "source", "raw", {"id": {}, "pay": {**SECRET, "description": text}})
    block = {"resource_type": "doc", "unique_id": "doc.shop.pay", "name": "pay"}
    _added(folder, "docs", {**block, "package_name": "shop", "block_contents": f"{text}\n"})
    manifest, catalog = (
        json.loads((folder / f"target/{name}.json").read_text()) for name in ("manifest", "catalog")
    )
    write_index(folder / "target", manifest, catalog)
    write_page(folder / "target")


def _task_between_visible_tables(folder: Path) -> None:
    described(folder, "source", "raw", {"id": {}})
    described(folder, "model", "db", {"id": {}})
    flow = "{from: [spark/raw.orders], to: [spark/db.orders]}"
    (folder / "lineage.yml").write_text(
        f"version: 1\ntasks: {{zqxhid: {{tags: [secret], flows: [{flow}]}}}}\n"
    )


@pytest.mark.parametrize(
    "write",
    [
        _field_of_a_struct,
        _second_source,
        _model_that_is_a_source,
        _second_model,
        _model_beside_one_that_is_hidden,
        _second_model_that_reads_it,
        _metric_of_a_hidden_column,
        _test_that_reads_a_hidden_column,
        _source_of_another_name_than_its_schema,
        _model_without_a_relation,
        _doc_block_of_a_hidden_column,
        _task_between_visible_tables,
    ],
)
def test_a_label_hides_what_others_call_public(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    small_project(tmp_path)
    write(tmp_path)
    with (tmp_path / "graft.yml").open("a") as config:
        config.write("site: {audience: public, unlabelled: show, data: true}\n")
    assert graft(tmp_path, "collect").exit_code == 0
    done = graft(tmp_path, "site")
    assert done.exit_code == 0, done.output
    assert naming(tmp_path / "build/site", "zqxhid") == []


@pytest.mark.parametrize("label", ["public", "secret"])
@pytest.mark.parametrize("is_written", [True, False])
def test_the_newest_row_of_a_source_is_a_value_of_its_column(
    tmp_path: Path, label: str, *, is_written: bool
) -> None:
    """A source that a task writes is a model on the pages of dbt."""
    small_project(tmp_path)
    if not is_written:
        declare(tmp_path, "db.other")
    loaded = {"meta": {"classification": label}}
    described(tmp_path, "source", "raw", {"loaded": loaded}, loaded_at_field="loaded")
    checked = {"unique_id": "source.shop.raw.orders", "status": "pass"}
    checked |= {"max_loaded_at": "2023-03-07T05:00:00Z", "snapshotted_at": "2026-11-20T04:00:00Z"}
    metadata = {"generated_at": "2026-11-20T04:00:00Z", "invocation_id": "i"}
    metadata["dbt_schema_version"] = "https://schemas.getdbt.com/dbt/sources/v3.json"
    (tmp_path / "target/sources.json").write_text(
        json.dumps({"metadata": metadata, "results": [checked]})
    )
    with (tmp_path / "graft.yml").open("a") as config:
        config.write("site: {audience: public, unlabelled: show, data: true}\n")
    assert graft(tmp_path, "collect").exit_code == 0
    done = graft(tmp_path, "site")
    assert done.exit_code == 0, done.output
    assert bool(naming(tmp_path / "build/site", "2023-03-07")) == (label == "public")


def _test_of_dbt(key: str, kwargs: Json, **more: Any) -> tuple[str, Json]:
    node_id = f"test.shop.{key}"
    metadata = {"name": key, "kwargs": kwargs} if kwargs else None
    return node_id, {
        "resource_type": "test",
        "unique_id": node_id,
        "name": key,
        "package_name": "shop",
        "attached_node": "model.shop.db.orders",
        "test_metadata": metadata,
        "column_name": kwargs.get("column_name"),
        "depends_on": {"nodes": ["model.shop.db.orders"], "macros": []},
        **more,
    }


def test_columns_that_only_code_names_are_hidden_where_columns_have_labels(tmp_path: Path) -> None:
    """The table is visible by the label of `id`: all other columns are hidden, known or not."""
    small_project(tmp_path)
    code = {"raw_code": "select id from x where zqxhid > 1"}
    code["compiled_code"] = code["raw_code"]
    described(
        tmp_path, "model", "db", {"id": {"meta": {"classification": "public"}}}, meta={}, **code
    )
    path = tmp_path / "target/manifest.json"
    manifest = json.loads(path.read_text())
    manifest["nodes"] |= [
        _test_of_dbt("not_null_id", {"column_name": "id"}, **code),
        _test_of_dbt("between", {"column_name": "id", "row_condition": "zqxhid > 1"}),
        _test_of_dbt("singular", {}, **code),
    ]
    for part, kind in (("metrics", "metric"), ("unit_tests", "unit_test")):
        manifest[part][f"{kind}.shop.one"] = {
            "resource_type": kind,
            "unique_id": f"{kind}.shop.one",
            "name": "one",
            "package_name": "shop",
            "given": [{"rows": [{"zqxhid": 1}]}],
            "filter": "zqxhid > 1",
            "depends_on": {"nodes": ["model.shop.db.orders"], "macros": []},
        }
    path.write_text(json.dumps(manifest))
    with (tmp_path / "graft.yml").open("a") as config:
        config.write("site: {audience: public, data: true}\n")
    assert graft(tmp_path, "collect").exit_code == 0
    done = graft(tmp_path, "site")
    assert done.exit_code == 0, done.output
    assert naming(tmp_path / "build/site", "zqxhid") == []
    assert "not_null_id" in (tmp_path / "build/site/dbt/index.html").read_text()


@pytest.mark.parametrize(("unlabelled", "shows_file"), [("show", True), ("hide", False)])
def test_the_file_of_a_task_is_shown_where_what_nobody_labels_is(
    tmp_path: Path, unlabelled: str, *, shows_file: bool
) -> None:
    small_project(tmp_path)
    (tmp_path / "load.py").write_text("copy('files', 'zqxtable')\n")
    with (tmp_path / "graft.yml").open("a") as config:
        config.write("tasks: {load: {path: load.py}}\n")
        config.write("privacy: {tables: [{tables: '*', is: public}]}\n")
        config.write(f"site: {{audience: public, unlabelled: {unlabelled}}}\n")
    assert graft(tmp_path, "collect").exit_code == 0
    done = graft(tmp_path, "site")
    assert done.exit_code == 0, done.output
    assert bool(naming(tmp_path / "build/site", "zqxtable")) == shows_file


def test_a_smaller_docs_page_is_there_where_it_has_a_visible_node(tmp_path: Path) -> None:
    small_project(tmp_path)
    described(tmp_path, "source", "raw", {"id": {}}, tags=["shop"])
    described(tmp_path, "model", "zqxhid", {"id": {}}, tags=["zqxpay"], **SECRET)
    with (tmp_path / "graft.yml").open("a") as config:
        config.write("docs: {pages: {shop: 'tag:shop', hr: 'tag:zqxpay', zqxhid: '*'}}\n")
        config.write("site: {audiences: {public: {out: build/public, unlabelled: show}}}\n")
    assert graft(tmp_path, "collect").exit_code == 0
    done = graft(tmp_path, "site")
    assert done.exit_code == 0, done.output

    def pages(site: str) -> set[str]:
        folder = tmp_path / "build" / site / "dbt"
        return {path.parent.name for path in folder.glob("*/index.html")}

    assert (pages("site"), pages("public")) == ({"shop", "hr", "zqxhid"}, {"shop"})
    assert naming(tmp_path / "build/public", "zqxpay") == []


def publish(folder: Path, settings: str = "") -> None:
    """Build the site of a project of declared lineage and events, for all and for an audience."""
    (folder / "graft.yml").write_text(
        "collect: [{declared: {path: lineage.yml}}, {openlineage: {path: events.jsonl}}]\n"
        f"{settings}"
        "privacy: {tables: [{tables: 'spark/*', is: public}]}\nengine: local\n"
        "site: {audiences: {public: {out: build/public}}}\n"
    )
    assert graft(folder, "collect").exit_code == 0
    done = graft(folder, "site")
    assert done.exit_code == 0, done.output


def test_a_server_in_another_name_of_a_visible_table_is_visible(tmp_path: Path) -> None:
    small_project(tmp_path)
    server = "mssql://crm01:1433"
    orders, hidden = f"{server} Crm.dbo.Orders", f"{server} Crm.dbo.zqxhidpay"
    written(tmp_path / "events.jsonl", event(outputs=[orders]), event("", "pay", outputs=[hidden]))
    publish(tmp_path, f"names: [{{from: '{server}/Crm.dbo.Orders', to: 'spark/raw.orders'}}]\n")
    assert naming(tmp_path / "build/public", "crm01")
    assert naming(tmp_path / "build/public", "zqxhid") == []


@pytest.mark.parametrize("project_name", ["zqxhid", "zqxhid_shop"])
def test_the_project_may_be_called_as_a_database_of_hidden_tables_alone(
    tmp_path: Path, project_name: str
) -> None:
    small_project(tmp_path)
    declare(tmp_path, "zqxhid.raw.pay")
    manifest = json.loads((tmp_path / "target/manifest.json").read_text())
    manifest["metadata"]["project_name"] = project_name
    (tmp_path / "target/manifest.json").write_text(json.dumps(manifest))
    write_index(tmp_path / "target", manifest, {"nodes": {}, "sources": {}})
    write_page(tmp_path / "target")
    with (tmp_path / "graft.yml").open("a") as config:
        config.write("privacy: {tables: [{tables: 'spark/*', is: secret}]}\n")
        config.write("site: {audience: public}\n")
    assert graft(tmp_path, "collect").exit_code == 0
    done = graft(tmp_path, "site")
    assert done.exit_code == 0, done.output
    assert naming(tmp_path / "build/site", "raw.pay") == []


def test_servers_and_dags_of_nothing_visible_are_hidden(tmp_path: Path) -> None:
    small_project(tmp_path)
    tasks = "".join(
        f"  load_{number}:\n    description: From {name}, at night.\n    owner: data team\n"
        "    flows: [{from: [sftp/files], to: [spark/raw.orders]}]\n"
        for number, name in enumerate(("zqxhidhost", "zqxhidbucket", "zqxhiddag", "ZqxHid_Dag"))
    )
    (tmp_path / "lineage.yml").write_text(f"version: 1\ntasks:\n{tasks}")
    dag = {"dag": {"dag_id": "zqxhiddag"}, "dagRun": {"dag_id": "zqxhiddag", "run_id": "manual__1"}}
    facets = {"airflow": {**dag, "task": {"task_id": "pay"}, "taskInstance": {"try_number": 1}}}
    hidden = ["postgres://zqxhidhost:5432 hr.pay", "s3://zqxhidbucket pay"]
    events = [
        event(state, "zqxhiddag.pay", by="airflow", inputs=hidden, run_facets=facets)
        for state in ("START", "COMPLETE")
    ]
    written(tmp_path / "events.jsonl", *events)
    publish(tmp_path)
    assert naming(tmp_path / "build/site", "zqxhid")
    assert naming(tmp_path / "build/public", "zqxhid") == []
    assert naming(tmp_path / "build/public", "data team")


def test_statements_without_hidden_names_are_shown(project: Path) -> None:
    assert "left out for this audience" in (project / "public/tasks/fix/index.html").read_text()
    assert "left out for this audience" not in (project / "pii/tasks/fix/index.html").read_text()


@pytest.mark.parametrize(
    ("site", "message"),
    [
        ("{audience: friends}", "is not a classification"),
        ("{audiences: {public: {out: build/site}}}", "site.audiences.public.out"),
        ("{audiences: {public: {out: target}}}", "site.audiences.public.out"),
    ],
)
def test_an_audience_that_cannot_be_is_refused(tmp_path: Path, site: str, message: str) -> None:
    small_project(tmp_path)
    with (tmp_path / "graft.yml").open("a") as config:
        config.write(f"site: {site}\n")
    assert graft(tmp_path, "collect").exit_code in (0, 2)
    done = graft(tmp_path, "site")
    assert done.exit_code != 0
    assert message in done.output


def test_a_site_of_the_past_is_for_no_audience(tmp_path: Path) -> None:
    """Labels that came later would hide nothing."""
    small_project(tmp_path)
    with (tmp_path / "graft.yml").open("a") as config:
        config.write("site: {audience: public, out: build/public}\n")
    assert graft(tmp_path, "collect").exit_code == 0
    done = graft(tmp_path, "site", "--as-of", "2026-11-20")
    assert done.exit_code == 1
    assert "is for no audience" in done.output
    assert not [*tmp_path.glob("build/*")]


def test_the_pages_of_an_audience_promise_nothing_of_the_rest(tmp_path: Path) -> None:
    small_project(tmp_path)
    (tmp_path / "lineage.yml").write_text(
        """\
version: 1
tasks:
  load:
    flows:
      - from: [sftp/files]
        to: [spark/raw.orders]
        columns: {spark/raw.orders: {id: [sftp/files.id], n: [sftp/files.n]}}
      - from: [spark/raw.orders]
        to: [spark/db.mart]
        columns: {spark/db.mart: {n: [spark/raw.orders.n]}}
      - {from: [spark/db.mart], to: [sftp/mail]}
"""
    )
    with (tmp_path / "graft.yml").open("a") as config:
        config.write("site: {impact: true, audiences: ")
        config.write("{public: {out: build/public, unlabelled: show}}}\n")
    assert graft(tmp_path, "collect").exit_code == 0
    assert graft(tmp_path, "site").exit_code == 0
    promises = [
        ("index.html", "and all logs were read"),
        ("attention/index.html", "and all logs were read"),
        ("datasets/sftp/files/index.html", "No writer found"),
        ("datasets/sftp/mail/index.html", "No reader found"),
        ("datasets/sftp/mail/index.html", "No columns found"),
        ("datasets/spark/raw/orders/index.html", "reaches nothing that is known"),
        ("datasets/spark/raw/orders/index.html", "by the lineage that is known"),
    ]
    for page, promise in promises:
        assert promise in (tmp_path / "build/site" / page).read_text(), promise
        assert promise not in (tmp_path / "build/public" / page).read_text()
