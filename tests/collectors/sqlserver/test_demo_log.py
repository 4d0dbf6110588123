"""The demo's log, collected as `make docs` does: the lineage in its README, and no literal."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.collectors.engines.engine import Engine
from dbt_graft.collectors.files import LogPath
from dbt_graft.collectors.sqlserver.collect import collect
from dbt_graft.collectors.sqlserver.listing import Server
from dbt_graft.collectors.store import door as store
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.records import Evidence, Records, Subtype

SERVER = Server("mssql://sql01:1433")
LITERALS = ["Dotted notebook", "ruler", "11.60", "Oak letter tray", "2026-11-18", "STAT", "1.02"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "store"


@pytest.fixture(scope="module")
def source(root: Path) -> LogPath:
    return LogPath(str(root / "dbt_project" / "logs"), "logs")


@pytest.fixture(scope="module")
def records(engine: Engine, source: LogPath, folder: Path) -> Records:
    found = collect(engine, source, SERVER, store.positions(str(folder)))
    assert found is not None
    done = store.commit(str(folder), [found])
    assert done is not None
    assert (done.origins, done.events) == (1, 21)
    return store.read(str(folder))


def test_accesses_are_those_of_the_readme(records: Records) -> None:
    second = [a for a in records.accesses if a.first_at and a.first_at.day == 20]
    found = {
        f"{a.task}: {a.direction} {a.dataset.name.split('~')[0]} {a.kind} {a.operation} "
        f"x{a.statements} rows={a.rows} {a.status}"
        for a in second
    }
    assert found == {
        "load_suppliers: read Crm.dbo.SupplierFeed TABLE CREATE VIEW x1 rows=None ok",
        "load_suppliers: write Crm.dbo.vw_active_suppliers VIEW CREATE VIEW x1 rows=None ok",
        "load_suppliers: read Crm.dbo.vw_active_suppliers TABLE SELECT INTO x1 rows=None ok",
        "load_suppliers: write #incoming TEMPORARY SELECT INTO x1 rows=4 ok",
        "load_suppliers: read #incoming TEMPORARY MERGE x1 rows=None ok",
        "load_suppliers: write ShopDW.dbo.suppliers TABLE MERGE x1 rows=4 ok",
        "load_products: read Crm.dbo.PriceList TABLE SELECT x1 rows=None ok",
        "load_products: write ShopDW.dbo.products TABLE INSERT x1 rows=0 failed",
        "load_products: write ShopDW.dbo.products TABLE INSERT x2 rows=2 ok",
        "load_products: read ShopDW.dbo.products TABLE UPDATE x1 rows=None ok",
        "load_products: read ShopDW.dbo.suppliers TABLE UPDATE x1 rows=None ok",
        "load_products: write ShopDW.dbo.products TABLE UPDATE x1 rows=33 ok",
    }
    assert len(records.accesses) == len(second) + 11


def test_each_task_ran_on_two_nights(records: Records) -> None:
    days = sorted(
        (run.task, run.started_at.day, run.status) for run in records.runs if run.started_at
    )
    assert days == [
        ("load_products", 19, "ok"),
        ("load_products", 20, "ok"),
        ("load_suppliers", 19, "ok"),
        ("load_suppliers", 20, "ok"),
    ]
    assert len({run.run_id for run in records.runs}) == 4
    assert {run.engine for run in records.runs} == {"sqlserver"}


def test_flows_are_those_of_the_readme(records: Records) -> None:
    flows = build(records).flows
    assert {(f.source.name, f.target.name, f.task, f.through_memory) for f in flows} == {
        ("Crm.dbo.SupplierFeed", "Crm.dbo.vw_active_suppliers", "load_suppliers", False),
        ("Crm.dbo.vw_active_suppliers", "ShopDW.dbo.suppliers", "load_suppliers", False),
        ("Crm.dbo.PriceList", "ShopDW.dbo.products", "load_products", True),
        ("ShopDW.dbo.suppliers", "ShopDW.dbo.products", "load_products", False),
    }


def test_columns_go_through_pandas_where_their_names_are_equal(records: Records) -> None:
    prices = [e for e in build(records).column_edges if e.from_dataset.name == "Crm.dbo.PriceList"]
    assert {(e.to_column, e.from_column, e.subtype, e.evidence) for e in prices} == {
        ("product_id", "ProductNo", Subtype.TRANSFORMATION, Evidence.INFERRED),
        ("product_name", "Title", Subtype.TRANSFORMATION, Evidence.INFERRED),
        ("supplier_id", "SupplierNo", Subtype.TRANSFORMATION, Evidence.INFERRED),
        ("purchase_price", "Price", Subtype.TRANSFORMATION, Evidence.INFERRED),
        ("*", "Price", Subtype.FILTER, Evidence.INFERRED),
        ("*", "ValidFrom", Subtype.FILTER, Evidence.INFERRED),
    }


def test_datasets_know_their_kind_and_the_columns_that_were_named(records: Records) -> None:
    datasets = {d.id.name: (d.kind, [c.name for c in d.columns]) for d in records.datasets}
    suppliers = ["supplier_id", "supplier_name", "country", "lead_time_days", "rating"]
    products = ["product_id", "product_name", "category_code", "supplier_id", "purchase_price"]
    assert datasets == {
        "Crm.dbo.PriceList": ("TABLE", []),
        "Crm.dbo.SupplierFeed": ("TABLE", []),
        "Crm.dbo.vw_active_suppliers": ("VIEW", [*suppliers, "changed_at"]),
        "ShopDW.dbo.products": ("TABLE", products),
        "ShopDW.dbo.suppliers": ("TABLE", suppliers),
    }


def test_the_damaged_event_can_be_found_and_shows_no_statement(records: Records) -> None:
    (reject,) = records.rejects
    assert reject.origin == "logs/shop_lineage.xml"
    assert reject.position == "event at byte 19690"
    assert reject.reason == "the event has no end"
    assert 'timestamp="2026-11-20T02:30:01.244Z"' in reject.excerpt


def test_collecting_again_adds_nothing(
    engine: Engine, source: LogPath, folder: Path, records: Records
) -> None:
    found = collect(engine, source, SERVER, store.positions(str(folder)))
    assert found is None
    assert store.commit(str(folder), []) is None
    assert store.read(str(folder)) == records


def test_no_literal_is_in_any_file_of_the_store(root: Path, records: Records, folder: Path) -> None:
    log = (root / "dbt_project" / "logs" / "shop_lineage.xml").read_text()
    written = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    everything = repr(records)
    for literal in LITERALS:
        assert literal in log
        assert literal.encode() not in written
        assert literal not in everything
    assert b"load_products" in written
