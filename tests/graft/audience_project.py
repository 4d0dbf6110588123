"""A project with much to hide: everything hidden has `zqxhid` in its name.

Everything that can name it does, in every spelling that people use.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from dbt_graft.collectors.store.arrow_tables import table, tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.collectors.store.tables import ReadLog
from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    Column,
    ColumnMetadata,
    Dataset,
    DatasetMetadata,
    Direction,
    NodeResult,
    Outcome,
    Records,
    Reject,
    Run,
    Shape,
    Status,
)
from tests.graft.commands.test_impact import board, everything, node
from tests.graft.small_project import small_project
from tests.injector.index.index_of_dbt import write_index
from tests.injector.page_of_dbt_2 import write_page

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
  copy_ZqxHidPay_daily:
    owner: zqxhidpay-team
    description: As of https://wiki.example.com/zqxhid%6Eote?column=Zqxhid%20Stra%C3%9Fe
    repo: https://git.example.com/zqxhidpay
    path: jobs/zqxhidpay/copy.py
    runbook: https://wiki.example.com/ZQXHIDPAY
    rerun: run copy --table zqxhidpay
    schedule: after zqxhidpay
    tags: [daily, zqxhidpay, "of:zqxhidnote"]
    flows: [{from: [spark/raw.orders], to: [spark/db.copied]}]
consumers:
  zqxhidboard: {type: dashboard, reads: [spark/db.zqxhidpay]}
  board_of_zqxhidnote:
    {type: dashboard, reads: [spark/db.mart, spark/db.zqxhidpay], owner: zqxhidpay-team,
     url: "https://bi.example.com/zqxhidpay", tags: [zqxhidnote]}
"""
CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: zqxhidnote-contract
name: contract_of_zqxhidnote
status: active
description: {purpose: For zqxhidnote.}
team: {members: [{username: zqxhidpay-team, role: Owner}]}
schema:
  - name: orders
    physicalName: raw.orders
    properties:
      - {name: id, classification: public}
      - {name: zqxhidday, classification: PII, partitioned: true, partitionKeyPosition: 1}
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
    "raw.orders": "id,zqxhidnote,zqxhidday,ZqxHidTown,Zqxhid Straße",
    "db.orders_x": "id zqxhidupper",
    "db.mart": "zqxhidupper n",
    "db.zqxhidpay": "id zqxhidamount",
    "db.after": "id",
}
HIDDEN = (
    *("zqxhidnote", "zqxhidupper", "zqxhidday", "ZqxHidTown", "Zqxhid Straße", "zqxhidamount"),
    *("zqxhidpay", "db.zqxhidpay", "spark/db.zqxhidpay", "model.shop.zqxhidpay", "zqxhidnode"),
    *("raw.orders.zqxhidnote", "spark/raw.orders.zqxhidnote", "datasets/spark/db/zqxhidpay/"),
    "copy_ZqxHidPay_daily",
)
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


def audience_project(folder: Path) -> None:
    """Write the project, collect and publish its sites."""
    small_project(folder)
    (folder / "lineage.yml").write_text(LINEAGE)
    (folder / "contract.yml").write_text(CONTRACT)
    (folder / "graft.yml").write_text(
        "collect: [{declared: {path: lineage.yml}}]\ncontracts: [contract.yml]\n"
        "site: {data: true, impact: true, audiences: {public: {out: public, unlabelled: show},\n"
        "  pii: {out: pii, unlabelled: show}, strict: {out: strict, sees: pii}}}\n"
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
    for name in ("ZqxHidTown", "Zqxhid Straße"):
        orders["columns"][name] = {"name": name, "tags": ["pii"], "description": ""}
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
                    for at, column in enumerate(
                        re.split("[ ,]" if "," not in COLUMNS[name] else ",", COLUMNS[name]), 1
                    )
                },
                "stats": {},
            }
        parents = one["depends_on"]["nodes"]
        manifest["parent_map"][key] = parents
        for parent in parents:
            manifest["child_map"].setdefault(parent, []).append(key)
    name_it_everywhere(manifest, catalog)
    write_index(folder / "target", manifest, catalog)
    (folder / "target/catalog.json").write_text(json.dumps(catalog))
    write_page(folder / "target")
    assert graft(folder, "collect").exit_code == 0
    commit(str(folder / ".graft/store"), [runs()])
    done = graft(folder, "site")
    assert done.exit_code == 0, done.output


def name_it_everywhere(manifest: dict[str, Any], catalog: dict[str, Any]) -> None:
    """Names of what is hidden, in fields of visible nodes that people forget."""
    for name in ("orders_x", "mart", "after"):
        model = manifest["nodes"][f"model.shop.{name}"]
        model |= {
            "tags": ["zqxhidnote", "nightly"],
            "fqn": ["shop", "zqxhidpay", name],
            "path": f"zqxhidpay/{name}.sql",
            "original_file_path": f"models/zqxhidpay/{name}.sql",
            "patch_path": "shop://models/zqxhidpay.yml",
            "build_path": f"target/run/zqxhidpay/{name}.sql",
            "checksum": {
                "name": "sha256",
                "checksum": sha256(model["raw_code"].encode()).hexdigest(),
            },
            "group": "zqxhidpay_group",
            "primary_key": ["zqxhidnote"],
            "loaded_at_field": "zqxhidnote",
            "meta": {"owner": "zqxhidpay-team", "ZQXHIDNOTE": ["zqxhidnote"]},
            "extra_ctes": [{"id": "model.shop.zqxhidpay", "sql": "select zqxhidnote"}],
            "constraints": [{"type": "check", "expression": "[ZqxHidNote] is not null"}],
            "unrendered_config": {"partition_by": "zqxhidnote"},
            "refs": [{"name": "zqxhidpay"}, {"name": "orders"}],
            "sources": [["raw", "zqxhidpay"]],
        }
        model["config"] |= {
            "tags": ["zqxhidnote"],
            "group": "zqxhidpay_group",
            "partition_by": ["zqxhidnote"],
            "grants": {"select": ["zqxhidpay_readers"]},
            "pre-hook": [{"sql": "delete from `zqxhidpay`"}],
        }
        model["depends_on"]["macros"] = ["macro.shop.clean", "macro.shop.mask_zqxhidnote"]
    code = 'select id, "ZqxHidTown", [Zqxhid Straße] as x, ZQXHID_STRASSE_2 from raw.orders'
    manifest["nodes"]["model.shop.after"] |= {"raw_code": code, "compiled_code": code}
    manifest["macros"]["macro.shop.mask_zqxhidnote"] = {
        **manifest["macros"]["macro.shop.clean"],
        "name": "mask_zqxhidnote",
        "unique_id": "macro.shop.mask_zqxhidnote",
        "depends_on": {"macros": ["macro.shop.clean"]},
    }
    manifest["docs"]["doc.shop.zqxhidnote"] = {
        "name": "zqxhidnote",
        "unique_id": "doc.shop.zqxhidnote",
        "block_contents": "x",
    }
    group = {"unique_id": "group.shop.zqxhidpay_group", "name": "zqxhidpay_group"}
    manifest["groups"]["group.shop.zqxhidpay_group"] = group | {"owner": {"name": "zqxhidpay"}}
    manifest["group_map"]["zqxhidpay_group"] = ["model.shop.mart"]
    manifest["selectors"]["zqxhidpay"] = {"definition": "tag:zqxhidnote"}
    manifest["metadata"]["env"] = {"zqxhidpay": "zqxhidnote"}
    manifest["exposures"]["exposure.shop.board"] |= {
        "url": "https://bi.example.com/zqxhid%70ay",
        "owner": {"name": "CFO", "email": "zqxhidpay@example.com"},
        "tags": ["zqxhidnote"],
        "refs": [{"name": "zqxhidpay"}],
    }
    board_of_note = {**manifest["exposures"]["exposure.shop.board"], "name": "zqxhidnote_board"}
    board_of_note["unique_id"] = "exposure.shop.zqxhidnote_board"
    manifest["exposures"]["exposure.shop.zqxhidnote_board"] = board_of_note
    alias = node("model", "db.zqxhidalias") | {"meta": {"classification": "secret"}}
    alias |= {"unique_id": "model.shop.zqxhidnode", "name": "zqxhidnode"}
    manifest["nodes"]["model.shop.zqxhidnode"] = {**alias, "graft_name": ""}
    del manifest["nodes"]["model.shop.zqxhidnode"]["graft_name"]
    manifest["nodes"]["model.shop.mart"]["columns"]["n"] = {
        "name": "n",
        "description": "Beside zqxhidnode's; `ref('zqxhidnode')`, of ZQXHIDPAYS.",
        "constraints": [{"type": "foreign_key", "to": "zqxhidpay", "to_columns": ["zqxhidamount"]}],
        "tags": ["zqxhidnote"],
    }
    # A column with the name of a field of dbt's.
    mart = manifest["nodes"]["model.shop.mart"]["columns"]
    mart["path"] = {"name": "path", "description": "zqxhidnote's", "meta": {"name": "zqxhidpay"}}
    for entry in catalog["nodes"].values():
        entry["metadata"] |= {"comment": "see zqxhidpay", "owner": "zqxhidpay-team"}
        entry["stats"] = {"zqxhidnote": {"id": "zqxhidnote", "label": "Zqxhidnote", "value": 1}}


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
    run_of_note = replace(
        run,
        run_id="zqxhidnote-2",
        parent_run_id="dag-zqxhidpay",
        job="airflow/dag.zqxhidpay",
        url="https://airflow.example.com/zqxhidpay",
        application_id="app-zqxhidpay",
        code_version="zqxhidpay-1",
        origin="/logs/zqxhidpay.json",
    )
    parent = Run("dag-zqxhidpay", "dag.zqxhidpay", "airflow", AT, AT, Status.OK, origin="log")
    metadata = DatasetMetadata(
        *(ORDERS, AT, "Has zqxhidnote.", "zqxhidpay-team", ("zqxhidnote",)),
        columns=(ColumnMetadata("zqxhidnote", "x"), ColumnMetadata("id", "", ("zqxhidnote",))),
        origin="log",
    )
    dataset = Dataset(
        *(ORDERS, Kind.TABLE, (Column("id"), Column("zqxhidnote"))),
        symlinks=(DatasetId("hive", "old.zqxhidnote_link"),),
        origin="log",
    )
    result = NodeResult(
        *("test.shop.unique_n", "1", "build", "fail", Status.FAILED, AT, AT),
        error="zqxhidupper is not there",
        origin="dbt:shop#1",
    )
    return tables(
        Records(
            accesses=(access, replace(access, run_id="zqxhidnote-2", procedure="db.fix_zqxhidpay")),
            runs=(run, run_of_note, parent),
            datasets=(dataset,),
            dataset_metadata=(metadata,),
            shapes={"s1": shape},
            rejects=(
                Reject("log", "1", "cannot be read", "select zqxhidnote"),
                Reject("/logs/zqxhidpay.json", "zqxhidpay", "no zqxhidnote", ""),
            ),
        ),
        {},
        node_results=table(NodeResult, [result]),
        origins=table(
            ReadLog,
            [
                ReadLog("log", "1"),
                ReadLog("/logs/zqxhidpay.json", "1"),
                ReadLog("dbt:shop#1", "1", events=1),
            ],
        ),
    )


def graft(folder: Path, *arguments: str) -> Result:
    command, *more = arguments
    return CliRunner().invoke(main, [command, "-c", str(folder / "graft.yml"), *more])
