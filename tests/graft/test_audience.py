"""Sites for audiences: no file of them has what its readers may not see.

Everything hidden has `zqxhid` in its name, and everything that can name it does.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from dbt_graft.collectors.store import commit
from dbt_graft.collectors.store.arrow_tables import table, tables
from dbt_graft.collectors.store.tables import ReadLog
from dbt_graft.graft.cli import main
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Direction,
    NodeResult,
    Outcome,
    Records,
    Reject,
    Run,
    Shape,
    Status,
)
from tests.graft.small_project import small_project
from tests.graft.test_impact import board, everything, node

# raw.orders -> orders_x -> mart -> mail, and orders_x -> zqxhidpay -> after.
LINEAGE = """\
version: 1
tasks:
  load:
    description: Loads zqxhidnote, and zqxhidpay.
    flows:
      - from: [sftp/files]
        to: [spark/raw.orders]
        columns: {spark/raw.orders: {zqxhidnote: [sftp/files.zqxhidfirst], id: [sftp/files.id]}}
  pay_to_bank:
    description: Pays zqxhidamount.
    flows: [{from: [spark/db.zqxhidpay], to: [sftp/bank]}]
  mart_to_mail:
    flows: [{from: [spark/db.mart], to: [sftp/mail]}]
consumers:
  zqxhidboard: {type: dashboard, reads: [spark/db.zqxhidpay]}
"""
MODELS = {
    "orders_x": ("raw.orders", "select id, upper(zqxhidnote) as zqxhidupper from raw.orders"),
    "mart": (
        "db.orders_x",
        "select zqxhidupper, count(*) as n from db.orders_x group by zqxhidupper",
    ),
    "zqxhidpay": ("db.orders_x", "select id, id as zqxhidamount from db.orders_x"),
    "after": ("db.zqxhidpay", "select id from db.zqxhidpay"),
}
COLUMNS = {
    "raw.orders": "id zqxhidnote",
    "db.orders_x": "id zqxhidupper",
    "db.mart": "zqxhidupper n",
    "db.zqxhidpay": "id zqxhidamount",
    "db.after": "id",
}
ORDERS, AT = DatasetId("spark", "raw.orders"), datetime(2026, 11, 20, 4, tzinfo=UTC)


def a_test(name: str, model: str, column: str = "", **kwargs: str) -> dict[str, Any]:
    return {
        "resource_type": "test",
        "unique_id": f"test.shop.{name}",
        "name": name,
        "package_name": "shop",
        "attached_node": model,
        "column_name": column or None,
        "test_metadata": {"name": name.partition("_zqxhid")[0], "kwargs": kwargs},
        "depends_on": {"nodes": [model], "macros": []},
        "columns": {},
        "config": {},
    }


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audience")
    small_project(folder)
    (folder / "lineage.yml").write_text(LINEAGE)
    (folder / "graft.yml").write_text(
        "collect: [{declared: {path: lineage.yml}}]\n"
        "site: {data: true, impact: true, audiences: {public: {out: public}, pii: {out: pii}}}\n"
    )
    manifest = json.loads((folder / "target/manifest.json").read_text())
    catalog = json.loads((folder / "target/catalog.json").read_text())
    orders = manifest["sources"]["source.shop.raw.orders"] = node("source", "raw.orders")
    orders["columns"] = {
        "zqxhidnote": {
            "name": "zqxhidnote",
            "meta": {"pii": True},
            "description": "zqxhidnote it is.",
        },
        "id": {"name": "id", "description": "Not zqxhidnote.", "meta": {}},
    }
    for name, (parent, sql) in MODELS.items():
        parents = [key for key, known in everything(manifest) if known["graft_name"] == parent]
        manifest["nodes"][f"model.shop.{name}"] = node("model", f"db.{name}") | {
            "compiled_code": sql,
            "raw_code": sql,
            "description": f"{name} is made with zqxhidnote.",
            "refs": [{"name": parent.partition(".")[2]}],
            "depends_on": {"nodes": parents, "macros": ["macro.shop.clean"]},
            "config": {
                "materialized": "table",
                "unique_key": "zqxhidnote",
                "meta": {"zqxhidnote": 1},
            },
        }
    manifest["nodes"]["model.shop.zqxhidpay"]["meta"] = {"classification": "secret"}
    for one in (
        a_test("not_null_zqxhidupper", "model.shop.orders_x", "zqxhidupper"),
        a_test("combination", "model.shop.mart", columns="n, zqxhidupper"),
        a_test("unique_id_of_zqxhidpay", "model.shop.zqxhidpay", "id"),
        a_test("unique_n", "model.shop.mart", "n"),
    ):
        manifest["nodes"][one["unique_id"]] = one
    manifest["exposures"]["exposure.shop.board"] = board("model.shop.mart") | {
        "description": "Shows zqxhidupper.",
        "label": "Board",
        "depends_on": {"nodes": ["model.shop.mart", "model.shop.zqxhidpay"], "macros": []},
    }
    macro = {"name": "clean", "unique_id": "macro.shop.clean", "resource_type": "macro"}
    macro |= {
        "package_name": "shop",
        "macro_sql": "upper(zqxhidnote)",
        "description": "",
        "path": "x",
    }
    manifest["macros"]["macro.shop.clean"] = macro
    for part, kind in (("metrics", "metric"), ("unit_tests", "unit_test")):
        manifest[part][f"{kind}.shop.one"] = {
            "resource_type": kind,
            "unique_id": f"{kind}.shop.one",
            "name": "one",
            "package_name": "shop",
            "given": [{"rows": [{"zqxhidnote": "x"}]}],
            "depends_on": {"nodes": ["model.shop.mart"], "macros": []},
        }
    manifest["docs"]["doc.shop.d"] = {
        "name": "d",
        "block_contents": "Of zqxhidnote.",
        "unique_id": "doc.shop.d",
    }
    manifest["disabled"] = {"model.shop.zqxhidold": [{"unique_id": "model.shop.zqxhidold"}]}
    for key, one in everything(manifest):
        part = "sources" if key.startswith("source") else "nodes"
        if "graft_name" in one:
            name = one.pop("graft_name")
            schema, _, short = name.partition(".")
            catalog[part][key] = {
                "unique_id": key,
                "metadata": {"type": "table", "schema": schema, "name": short},
                "columns": {
                    column: {
                        "name": column,
                        "type": "string",
                        "index": at,
                        "comment": "no zqxhidnote",
                    }
                    for at, column in enumerate(COLUMNS[name].split(), 1)
                },
                "stats": {},
            }
        parents = one["depends_on"]["nodes"]
        manifest["parent_map"][key] = parents
        for parent in parents:
            manifest["child_map"].setdefault(parent, []).append(key)
    (folder / "target/manifest.json").write_text(json.dumps(manifest))
    (folder / "target/catalog.json").write_text(json.dumps(catalog))
    assert graft(folder, "collect").exit_code == 0
    commit(str(folder / ".graft/store"), [runs()])
    done = graft(folder, "site")
    assert done.exit_code == 0, done.output
    return folder


def runs() -> Any:
    """A run of `fix`, whose statement, message and reject name what is hidden."""
    shape = Shape("s1", "spark", "UPDATE raw.orders SET zqxhidnote = ?", "1", Outcome.PARSED)
    access = Access(
        *("fix", "fix-1", ORDERS, Kind.TABLE, Direction.WRITE, Operation.UPDATE, "s1"),
        first_at=AT,
        last_at=AT,
        origin="log",
    )
    run = Run(
        "fix-1", "fix", "spark", AT, AT, Status.FAILED, error="no column zqxhidnote", origin="log"
    )
    result = NodeResult(
        *("test.shop.unique_n", "1", "build", "fail", Status.FAILED, AT, AT),
        error="zqxhidupper is not there",
        origin="dbt:shop#1",
    )
    return tables(
        Records(
            accesses=(access,),
            runs=(run,),
            shapes={"s1": shape},
            rejects=(Reject("log", "1", "cannot be read", "select zqxhidnote"),),
        ),
        {},
        node_results=table(NodeResult, [result]),
        origins=table(ReadLog, [ReadLog("log", "1"), ReadLog("dbt:shop#1", "1", events=1)]),
    )


def graft(folder: Path, *arguments: str) -> Result:
    command, *more = arguments
    return CliRunner().invoke(main, [command, "-c", str(folder / "graft.yml"), *more])


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


def test_the_team_s_own_site_has_it_in_pages_search_data_and_dbt_docs(project: Path) -> None:
    found = naming(project / "build/site", "zqxhid")
    for start in ("datasets/", "tasks/", "search/", "data/", "dbt/", "explore/", "task_metadata"):
        assert any(name.startswith(start) for name in found), start


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
        (one["from_dataset"], one["to_dataset"]) for one in flows
    }


def test_each_page_says_that_something_is_left_out(project: Path) -> None:
    page = (project / "public/datasets/spark/raw/orders/index.html").read_text()
    assert "4 columns and 1 table are left out" in page
    assert "are left out" not in (project / "build/site/index.html").read_text()


def test_statements_without_hidden_names_are_shown(project: Path) -> None:
    assert "left out for this audience" in (project / "public/tasks/fix/index.html").read_text()
    assert "left out for this audience" not in (project / "pii/tasks/fix/index.html").read_text()


@pytest.mark.parametrize(
    ("site", "message"),
    [
        ("{audience: friends}", "is no classification"),
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
